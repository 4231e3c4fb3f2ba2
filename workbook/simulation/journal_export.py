"""The journal on its way out: plain values and JSON lines, with nothing that a log must not hold (REL-2, REL-3).

The rule is a list of what may be shown, not of what may not: nobody can know in which field a broken back end puts
card data. A string in a body leaves as a length and a digest, as everywhere in this package; data that the simulator
marked as its own is shown whole. The digests are salted, so they can be compared within one run only.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from workbook.api.layers import decode_strictly, json_object
from workbook.api.opaque import SdkOutput
from workbook.errors import OpaqueDataError
from workbook.simulation.kept_entry import KeptEntry, kept_entry, stand_in
from workbook.simulation.seal import MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbook.simulation.journal_entry import Entry, Headers

SHOWN_HEADERS = frozenset(
    """accept accept-encoding accept-language allow connection content-encoding content-length content-type date
    expect host idempotency-key retry-after server te traceparent transfer-encoding user-agent
    x-api-key x-correlation-id x-request-id""".split()  # noqa: SIM905  # a person reads and compares this list
)
"""Headers whose values may be shown. The key's own value is `[key]` before it is kept."""

SHOWN_FIELDS = frozenset({"type", "title", "status", "detail", "errorCode", "instance", "requestId"})
"""Fields of an answer whose values may be shown: those of its problem details, which the stand-in wrote (openapi)."""

LONGEST_VALUE = 300
"""Characters of a value that may be shown."""
LONGEST_SEGMENT = 64
"""Characters of a path's segment that are shown; an id is shorter, and opaque data in the wrong place is not."""
DEEPEST, MOST = 8, 100
"""How deep and how wide a body is shown."""
LARGEST_NUMBER = 999
"""The largest number that is shown, which is an HTTP status; a longer one may be a card's."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}\Z")
_PLAIN = re.compile(r"[\x20-\x7e]*\Z")


def as_dict(entry: Entry) -> dict[str, Any]:
    """One entry as plain JSON values, redacted; times in seconds, lengths in bytes."""
    if isinstance(entry, KeptEntry):
        return dict(json.loads(entry.told))
    return {
        "number": entry.number,
        "arrived": round(entry.arrived, 6),
        "answered": round(entry.answered, 6),
        "method": _short(entry.method),
        "target": shown_target(entry.target),
        "operation": entry.operation,
        "instrument": None if entry.instrument is None else _short(entry.instrument),
        "headers": _headers(entry.headers),
        "body": shown_body(entry.body),
        "bodyLength": len(entry.body),
        "status": entry.status,
        "responseHeaders": _headers(entry.response_headers),
        "responseBody": shown_body(entry.response_body, SHOWN_FIELDS),
        "responseLength": len(entry.response_body),
        "basis": entry.basis,
        "fault": entry.fault,
        "ending": entry.ending,
        "keyIn": list(entry.key_in),
    }


def to_jsonl(entries: Iterable[Entry]) -> str:
    """One JSON object a line, keys in a fixed order; pure ASCII, so that no terminal obeys it."""
    return "".join(f"{json.dumps(as_dict(entry))}\n" for entry in entries)


def shown_only(entry: Entry, salt: bytes) -> KeptEntry:
    """The entry with nothing in it but what may be shown, so that it may be written down."""
    if isinstance(entry, KeptEntry):
        return entry
    whole = is_shown_whole(entry.body)
    return kept_entry(json.dumps(as_dict(entry)), stand_in(entry.body, salt, shown_whole=whole))


def shown_target(target: str) -> str:
    """The target as it may be shown: no long segment, and a query by its names and lengths (API-5: there is none)."""
    path, mark, query = target.partition("?")
    return "/".join(map(_short, path.split("/"))) + mark + "&".join(map(_parameter, query.split("&")))


def shown_body(body: bytes, fields: frozenset[str] = frozenset()) -> Any:
    """A body as it may be shown, as a JSON value: its shape, its field names, and no string but what `fields` name."""
    if not body:
        return None
    try:
        document = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):  # bytes that are no UTF-8 raise a ValueError too
        return _opaque(body.decode("latin-1"))
    return _value(document, fields)


def is_shown_whole(body: bytes) -> bool:
    """Whether a body is one object of nothing but what the simulator made, so that showing it leaves nothing out."""
    shown = shown_body(body)
    fields = shown.items() if isinstance(shown, dict) else ()
    texts = {name: one.get("text") for name, one in fields if isinstance(one, dict)}
    return body.translate(None, b" \t\r\n") == json.dumps(texts, separators=(",", ":")).encode()


def _value(value: Any, fields: frozenset[str], name: str = "", depth: int = 0) -> Any:
    if isinstance(value, dict | list):
        return _inner(value, fields, depth) if depth < DEEPEST else "[nested deeper]"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _line(value) if name in fields else _opaque(value)
    small = isinstance(value, int) and abs(value) <= LARGEST_NUMBER
    return value if small and name in fields else "[a number]"


def _inner(value: dict[str, Any] | list[Any], fields: frozenset[str], depth: int) -> Any:
    """What stands in an object or a list; the problem's fields are those of the outermost object only."""
    here = fields if depth == 0 else frozenset()
    rest = [f"[{len(value) - MOST} more]"] if len(value) > MOST else []
    if isinstance(value, list):
        return [_value(one, frozenset(), depth=depth + 1) for one in value[:MOST]] + rest
    pairs = [(_name(name), _value(one, here, name, depth + 1)) for name, one in [*value.items()][:MOST]]
    return dict(pairs) | dict.fromkeys(rest, True)


def _opaque(text: str) -> Any:
    """A length and a digest, or what the simulator made; what cannot be opaque data at all by its length alone."""
    try:
        data = SdkOutput(text)
    except OpaqueDataError:
        return f"[{len(text)} characters]"
    whole = data.is_simulated and (json_object(decode_strictly(text) or b"") or {}).get("simulated") == MARK
    return data.summary() | ({"text": text} if whole else {})


def _headers(headers: Headers) -> list[list[str]]:
    return [[_name(name), _header(name, value)] for name, value in headers]


def _header(name: str, value: str) -> str:
    """Of a secret header nothing but `[key]` was kept, so that is all there is to show."""
    return _line(value) if name.lower() in SHOWN_HEADERS or value == "[key]" else f"[{len(value)} characters]"


def _parameter(parameter: str) -> str:
    name, mark, value = parameter.partition("=")
    if not mark:
        return f"[{len(name)} characters]" if name else ""
    return f"{_name(name)}={value if value == '[key]' else f'[{len(value)} characters]'}"


def _name(name: str) -> str:
    return name if _WORD.match(name) else f"[{len(name)} characters]"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SEGMENT and _PLAIN.match(text) else f"[{len(text)} characters]"


def _line(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"[{len(text)} characters]"


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON, and would not be in an export either
