"""What was understood of a configuration, in words, without a secret."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.conformance.config_surface import METHODS
from workbook.conformance.origin import Origin
from workbook.conformance.target import BY_STATUS, IN_BODY, RAW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from workbook.conformance.config import Config
    from workbook.conformance.target import Cardholder, Operation, Surface

SHELL = frozenset(
    "! . : [ [[ alias cd command eval exec export if for set source test time trap ulimit umask until while".split()  # noqa: SIM905
)
"""First words that the shell itself understands."""
FAILURES = {
    BY_STATUS: 'by a status that is no success; failures = "body" says that it may stand in the body of a 200',
    IN_BODY: (
        "by a status that is no success, or in the body of a 200: without sdkInput, and with error, errors, failure or "
        "reason, or with ok, success or successful being false"
    ),
}
"""How the back end tells the app of a failure."""
SHOWN = 3
"""How many cards of a cardholder are named."""


def understood(config: Config) -> str:
    """The whole configuration, a line for each thing that it says."""
    return "\n".join(_lines(config))


def _lines(config: Config) -> Iterator[str]:
    target = config.target
    yield f"The back end: {target.base_url}"
    if target.over_http and not Origin.of(target.base_url).is_local:
        yield "  It is not on this machine, so it reaches the API's side, which listens here, through a tunnel only."
    for platform, surface in target.surfaces.items():
        yield f"The app of {platform}:"
        form = _form(platform, surface)
        yield from (f"  {line}" for line in _surface(surface, form, adapter=bool(config.adapter)))
    if target.over_http and not config.adapter:
        yield f"A failure is told {FAILURES[target.failures]}."
    if target.status is not None:
        yield f"status() is answered by {target.status.method} {target.status.path}."
    yield from (_cardholder(one) for one in target.cardholders)
    if target.ca_file is not None:
        yield f"Its certificate may be signed by whoever stands in {target.ca_file}, too."
    yield f"An answer has to come within {target.bound:g} s."
    yield f"After a fault of the API it has {target.recovery:g} s until it has to work again."
    yield f"Log files to scan: {_listed(str(path) for path in target.logs) or 'none'}."
    yield f"Groups of cases left out: {_listed(sorted(target.without)) or 'none'}, of {_listed(Group)}."
    yield from _api(config)


def _form(platform: str, surface: Surface) -> str:
    """How opaque data travels between the app and the back end."""
    if surface.decoded:
        return "the bytes themselves"
    return "the API's text" if platform == "platform A" else "the API's base64 text"


def _surface(surface: Surface, form: str, *, adapter: bool) -> Iterator[str]:
    if adapter:
        yield f"get(card, session), post(card, session, sdk_output) and, if it is there, status(session), with {form}."
        return
    for name, operation in zip(METHODS.values(), (surface.get, surface.post), strict=True):
        yield f"{name}: {operation.method} {operation.path}, {_places(operation)}."
    yield f"Opaque data is {form}."
    if surface.headers:
        yield f"Headers of every call: {_listed(name for name, _value in surface.headers)}."


def _places(operation: Operation) -> str:
    into = [f"the id at {operation.id}"] if operation.id else []
    into += [f"the sdkOutput {_place(operation.sdk_output)}"] if operation.sdk_output else []
    return f"{' and '.join(into) or 'no body'}; the answer has the sdkInput {_place(operation.sdk_input)}"


def _place(pointer: str) -> str:
    return "as the whole body" if pointer == RAW else f"at {pointer}"


def _cardholder(one: Cardholder) -> str:
    cards = _listed(one.cards[:SHOWN]) + (" and more" if len(one.cards) > SHOWN else "")
    session = _listed(name for name, _value in one.session)
    told = f"a session in {session}" if session else "no session"
    return f"Cardholder {one.name!r}: {len(one.cards)} {'card' if len(one.cards) == 1 else 'cards'} ({cards}), {told}."


def _api(config: Config) -> Iterator[str]:
    api, start = config.api, config.start
    port = f"port {api.port}" if api.port else "any free port"
    yield f"The API's side: {port} on this machine, profile {api.profile}, seed {api.seed}, " + (
        "the key from the environment." if api.key else "a fresh key."
    )
    names = f"{config.exports.url} (address) and {config.exports.key} (key)"
    if config.adapter:
        yield f"The adapter finds them in its environment as {names} when it is imported."
    elif start.command:
        yield f"The back end is started with a command in {start.folder}, which finds them as {names}."
        if missing := no_program(start.command, start.folder):
            yield f"  There is no program {missing!r:.60} on the PATH: the shell may not find it either."
    elif start.hook:
        yield f"They are posted to {start.hook} as JSON, as {names}."
    else:
        yield f"You give them to the back end, as {names}; the first call is waited for."


def no_program(command: str, folder: Path | None) -> str:
    """The first word of a command where it is no program; empty where it is one, or where only a shell could say."""
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return ""
    if not first or first in SHELL or re.search(r"[=$`(){}*?~;&|<>]", first):
        return ""
    place = folder / first if "/" in first and folder is not None else first
    return "" if shutil.which(place) else first


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
