"""What the configuration says of the API's side, of what is exported, and of how the back end is started."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from workbook.conformance.trust import trusted
from workbook.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from workbook.conformance.config_part import Part

SHORTEST_KEY = 16
"""Characters; a shorter key could stand in innocent text, and no case could say that it got out."""
HTTP_ONLY = ("base_url", "get", "post", "status", "headers", "ca_file", "failures")
"""What a Python adapter makes pointless."""
TARGETS = ("answer", "recovery")
"""Times that are the back end's."""
RESERVED = frozenset({"PATH", "HOME", "PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH"})
"""Variables that mean something to every program."""


def key(part: Part) -> str | None:
    """The API key that the file wants; None where a fresh one is made."""
    said = part.clean.table("api").get("key")
    found = None if said is None else part.secret(said)
    if found is not None and (len(found) < SHORTEST_KEY or " " in found):
        part.wrong("[api.key] env", f"a key has at least {SHORTEST_KEY} characters and no blank.")
    return found


def exports(part: Part) -> dict[str, str]:
    """The names of the exported values, as far as the file gives them."""
    names: dict[str, str] = part.clean.table("export").said
    both = ({"url": "API_URL", "key": "API_KEY"} | names).values()
    if len(set(both)) < len(both):
        part.wrong("[export]", "both values have the same name. Give each its own.")
    for name in sorted(set(both) & RESERVED):
        part.wrong("[export]", f"{name} means something else to every program. Choose another name.")
    return names


def start(part: Part) -> tuple[str | None, Path, str | None]:
    """The command, the folder where it runs, and the hook."""
    said = part.clean.table("start")
    command, hook, folder = said.get("command"), said.get("hook"), part.folder / said.get("folder", ".")
    if command and hook:
        part.wrong("[start]", "give a command or a hook, not both.")
    if not folder.is_dir():
        part.wrong("[start] folder", f"there is no folder {str(folder)!r:.100}.")
    return command, folder.absolute(), hook


def timeouts(part: Part) -> dict[str, float]:
    """How long is waited, in seconds, as far as the file says so; what the back end may take is the target's."""
    return {name: float(value) for name, value in part.clean.table("timeouts").said.items() if name not in TARGETS}


def logs(part: Part) -> tuple[Path, ...]:
    """The log files; one need not be there yet."""
    paths = tuple(part.folder / one for one in part.clean.get("logs", ()))
    for path in paths:
        if (path.exists() and not path.is_file()) or not path.parent.is_dir():
            part.wrong("logs", f"{str(path)!r:.100} is no file in a folder that is there.")
        elif path.exists() and not os.access(path, os.R_OK):
            part.wrong("logs", f"{str(path)!r:.100} cannot be read. Let the workbook's user read it, or leave it out.")
    return paths


def ca_file(part: Part) -> Path | None:
    """The file with certificates that are trusted besides; None for none."""
    if (name := part.clean.get("ca_file")) is None:
        return None
    path = part.folder.absolute() / str(name)
    if not part.clean.get("base_url", "https:").startswith("https:"):
        part.wrong("ca_file", "base_url is without TLS. Let it begin with https://, or leave ca_file out.")
    try:
        trusted(path)
    except ConfigurationError as error:
        part.wrong("ca_file", str(error).removeprefix("ca_file: "))
    return path


def one_way(part: Part) -> None:
    """The back end is reached over HTTP, or called through an adapter; not both, and not neither."""
    if part.clean.missing("adapter"):
        if part.clean.missing("base_url"):
            part.wrong("base_url", "it is missing. Give the address of your back end, or an adapter.")
        return
    for name in HTTP_ONLY:
        if not part.clean.missing(name):
            part.wrong(name, "it is for HTTP, and there is an adapter. Leave one of them out.")
    if not part.clean.missing("start"):
        part.wrong("[start]", "an adapter is called in this process, so nothing is started.")
    _module(part, part.clean.get("adapter", "").partition(":")[0].partition(".")[0])


def _module(part: Part, name: str) -> None:
    beside = (part.folder / f"{name}.py", part.folder / name)
    if name and not any(place.exists() for place in beside) and find_spec(name) is None:
        part.wrong("adapter", f"there is no module {name!r:.60} beside the file, and none is installed.")
