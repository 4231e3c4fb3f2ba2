"""The plain attempt, before any case: does a call go through the back end at all, and if not, why not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.conformance import trust
from workbook.conformance.case import Case, Group
from workbook.conformance.judging import outcome
from workbook.conformance.script import GET, Ask, Script, both
from workbook.conformance.seen import SUCCESS, Broke

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.conformance.rig import Rig
    from workbook.conformance.seen import Call, Seen
    from workbook.conformance.target import Surface

SAYS = "One attempt, with nothing wrong anywhere."
ATTEMPT = Case("relay.plain.attempt", SAYS, "API-10", Group.FORM, Script(both(), alone=True), lambda _seen: iter(()))
FIRST_CALL = Case("relay.plain.call", SAYS, "API-10", Group.FORM, Script((Ask(GET),), alone=True),
                  lambda _seen: iter(()))  # fmt: skip
HINTS = {
    401: "Is the session in order?",
    403: "Is the session in order, and is the card that cardholder's?",
    404: "Is the path in order, and is the card known to the back end?",
    405: "Is the method in order?",
}
"""What to look at when a back end answers so and asks the API nothing."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
UNDERSTOOD = frozenset({"identity", "gzip", "deflate"})
NO_CONNECTION = {
    Broke.REFUSED: "Does the back end listen at {url}?",
    Broke.UNTRUSTED: trust.MEND,
    Broke.NO_TLS: trust.PLAIN,
}
"""What to look at where no connection was made."""
_AFTER = re.compile(r", after [0-9.]+ s\Z")
UPSTREAM = "A request reached the API: see the cases of the group form."
NOTHING = "No request reached the API."


async def tried(rig: Rig) -> tuple[str, bool]:
    """The plain attempt of each platform: what does not work, in words, and whether anything can be judged."""
    card, surfaces = rig.target.cardholders[0].cards[:1], rig.target.surfaces
    by_surface: dict[Surface, Seen] = {}
    for platform, surface in surfaces.items():
        if surface not in by_surface:
            by_surface[surface] = await rig.run(ATTEMPT, card, platform)
    seen = {platform: by_surface[surface] for platform, surface in surfaces.items()}
    return _trouble(seen, rig), any(_says_something(one) for one in seen.values())


def _trouble(seen: Mapping[str, Seen], rig: Rig) -> str:
    """What does not work, each reason once."""
    reasons: dict[str, list[str]] = {}
    for platform, one in seen.items():
        if why := wrong(one, rig):
            reasons.setdefault(why, []).append(platform)
    return " ".join(f"The app of {' and '.join(whose)}: {why}" for why, whose in reasons.items())


async def called(rig: Rig) -> Seen:
    """One GET of the first platform."""
    platform = next(iter(rig.target.surfaces))
    return await rig.run(FIRST_CALL, rig.target.cardholders[0].cards[:1], platform)


def wrong(seen: Seen, rig: Rig) -> str:
    """Why a plain call did not succeed, and what to look at; empty where every call did."""
    return next((" ".join(_said(call, seen, rig)) for call in seen.calls if not call.succeeded), "")


def _said(call: Call, seen: Seen, rig: Rig) -> Iterator[str]:
    yield f"the plain {call.operation} does not work: {_AFTER.sub('', outcome(call))}."
    if call.broke in NO_CONNECTION:
        yield NO_CONNECTION[call.broke].format(url=rig.target.base_url)
        return
    asked = any(call.began <= one.at <= call.ended for one in seen.arrived)
    yield UPSTREAM if asked else NOTHING
    yield from _hints(call, asked=asked, plain=rig.target.base_url.startswith("http:"))


def _hints(call: Call, *, asked: bool, plain: bool) -> Iterator[str]:
    """What to look at, by how the answer looks."""
    said = {name.lower(): value for name, value in call.headers}
    if not asked and call.status in HINTS:
        yield HINTS[call.status]
    if call.status in REDIRECTS:
        yield "The back end redirects, which is never followed. Configure the address to which it leads."
    if call.broke in (Broke.LOST, Broke.NO_HTTP) and plain and not asked:
        yield "Does something else listen there, or does it speak TLS? Then base_url begins with https://."
    if call.status in SUCCESS and call.value is None:
        yield f"Is sdk_input in order? The answer says content-type {said.get('content-type', 'nothing')[:40]!r}."
    if call.value is None and said.get("content-encoding", "identity") not in UNDERSTOOD:
        yield f"Its content-encoding {said['content-encoding'][:20]!r} is none that the phone asked for."


def hopeless(seen: Seen) -> bool:
    """Whether waiting changes nothing: somebody is there, and TLS with them does not come about."""
    return any(call.broke in (Broke.UNTRUSTED, Broke.NO_TLS) for call in seen.calls)


def _says_something(seen: Seen) -> bool:
    return bool(seen.arrived) or any(call.succeeded for call in seen.calls)
