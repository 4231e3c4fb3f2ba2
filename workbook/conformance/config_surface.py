"""What the configuration says of the two operations, and of what each platform has otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.target import CALLED, RAW, Operation, Surface

if TYPE_CHECKING:
    from workbook.conformance.config_part import Part
    from workbook.conformance.form import Clean

LETTERS = {"A": "platform A", "B": "platform B"}
METHODS = {"get": "GET", "post": "POST"}
"""The two operations, and the method that each has unless the file says otherwise."""


def surfaces(part: Part) -> dict[str, Surface]:
    """What the back end offers each platform."""
    letters = part.clean.get("platforms", list(LETTERS))
    for letter in sorted(LETTERS.keys() - set(letters)):
        if not part.clean.missing(key := f"platform_{letter.lower()}"):
            part.wrong(f"[{key}]", f'it is there, and platforms does not name "{letter}".')
    return {LETTERS[one]: _surface(part, part.clean.table(f"platform_{one.lower()}")) for one in sorted(set(letters))}


def status(part: Part) -> Operation | None:
    """What answers the extension's question for its status; None for nothing."""
    said = part.clean.get("status")
    return Operation(**{"method": "GET", "path": ""} | said.said) if said else None


def _surface(part: Part, platform: Clean) -> Surface:
    decoded = platform.get("encoding") == "bytes"
    if not part.clean.missing("adapter"):
        return Surface(CALLED.get, CALLED.post, decoded)
    made = {key: _operation(part, key, platform) for key in METHODS}
    _sdk_output(part, platform, made["post"])
    if decoded:
        _whole_bodies(part, platform, made)
    headers = dict(part.headers(part.clean.table("headers"))) | dict(part.headers(platform.table("headers")))
    return Surface(made["get"], made["post"], decoded, tuple(headers.items()))


def _operation(part: Part, key: str, platform: Clean) -> Operation:
    """An operation from the common table and what this platform has otherwise."""
    common, own = part.clean.table(key), platform.table(key)
    said = {"method": METHODS[key], "path": ""} | common.said | own.said
    if "{id}" in own.get("path", "") and "id" not in own.said:
        said.pop("id", None)  # it stood in the body only where the path was another
    if _says(part, platform, f"{common.label} path", "it is missing. Give the path below base_url."):
        _where_the_id_is(part, common, own, said)
    return Operation(**said)


def _where_the_id_is(part: Part, common: Clean, own: Clean, said: dict[str, str]) -> None:
    in_path, in_body = "{id}" in said["path"], "id" in said
    if in_path and in_body:
        part.wrong(common.label, "the instrument's id stands in the path and in the body. Choose one.")
    elif not in_path and not in_body and "id" not in common.wrong | own.wrong:
        what = "nothing says where the instrument's id stands. Write {id} in the path, or give id a JSON pointer."
        part.wrong(f"{common.label} path", what)


def _sdk_output(part: Part, platform: Clean, post: Operation) -> None:
    """It stands somewhere, and not where the id does."""
    what = 'it is missing. Give a JSON pointer such as "/sdkOutput", or "raw".'
    if not _says(part, platform, "[post] sdk_output", what) or post.id is None:
        return
    first, second = f"{post.id}/", f"{post.sdk_output}/"
    if post.sdk_output == RAW:
        part.wrong("[post] id", "the body is the sdkOutput itself, so the id stands in the path.")
    elif first.startswith(second) or second.startswith(first):
        part.wrong("[post] id", "it stands where sdk_output does. Give each its own place.")


def _says(part: Part, platform: Clean, label: str, what: str) -> bool:
    """Whether an operation has this key, in common or for this platform; that it has none at all is a mistake."""
    table, name = label.split()
    key = table[1:-1]
    tables = (part.clean.table(key), platform.table(key))
    if key not in part.clean.wrong | platform.wrong and all(one.missing(name) for one in tables):
        part.wrong(label, what)
    return any(name in one.said for one in tables)


def _whole_bodies(part: Part, platform: Clean, made: dict[str, Operation]) -> None:
    """Bytes have no place in JSON."""
    if {made["get"].sdk_input, made["post"].sdk_input, made["post"].sdk_output} != {RAW}:
        own = f"[{platform.label[1:-1]}.get] and [{platform.label[1:-1]}.post]"
        what = f'bytes have no place in JSON. Give "raw" for sdk_input and sdk_output, in {own}.'
        part.wrong(f"{platform.label} encoding", what)
