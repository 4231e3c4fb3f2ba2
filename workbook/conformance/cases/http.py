"""What HTTP allows from the phone: a back end takes all of it, and none of it means anything else (REL-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.cases.fidelity import given_back, handed_on
from workbook.conformance.judging import all_of, outcome, recovers, works
from workbook.conformance.script import GET, POST, Ask, Manner, Script
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Seen


def _own(seen: Seen) -> Iterator[Miss]:
    """Of several calls on one connection each gets the answer for its own card."""
    for call in seen.calls:
        given = {one.given for one in seen.came(GET) if one.instrument == call.instrument}
        if call.value not in given:
            todo = "Keep nothing of a call in the connection that it came by."
            yield Miss("the call's own answer", outcome(call), todo, "REL-4" if call.value else "")


def _not_encoded(seen: Seen) -> Iterator[Miss]:
    """An answer is encoded for a phone that says so, and for no other."""
    for call in seen.calls:
        said = [value for name, value in call.headers if name.lower() == "content-encoding"]
        if said and said != ["identity"]:
            todo = "Compress for whoever says accept-encoding: gzip; without that an app may not be able to read it."
            yield Miss("an answer as it is", f"content-encoding {', '.join(said)[:40]!r}", todo)


def _attempt(manner: Manner) -> Script:
    return Script((Ask(GET, manner=manner), Ask(POST, manner=manner)))


def _case(name: str, says: str, judge: Judge, script: Script, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, "REL-8", Group.FORM, script, judge, frozenset({Need.HTTP, *needs}))


WORKS = all_of(works(GET), works(POST))
REFUSED_FIRST = Script((Ask(POST, cardholder=-1), Ask(GET)), alone=True)
"""A body that nobody read would stand before the next call on the same connection."""
CASES = (
    _case("post.chunked-body", "The phone may send its body in chunks, without a length.",
          all_of(works(POST), handed_on, given_back(POST)),
          Script((Ask(GET), Ask(POST, manner=Manner.CHUNKED)))),
    _case("attempt.header-case", "The phone may write header names in capitals.", WORKS, _attempt(Manner.UPPER_CASE)),
    _case("attempt.closed-connections", "The phone may use a new connection for each call.", WORKS,
          _attempt(Manner.CLOSING)),
    _case("attempt.no-encoding", "An answer is not compressed for a phone that asks for none of that.",
          all_of(WORKS, _not_encoded), _attempt(Manner.UNPACKED)),
    _case("list.kept-connection", "Several calls on one connection each get their own card's data.",
          all_of(works(GET), _own), Script(tuple(Ask(GET, card=number) for number in range(3)), cards=3),
          Need.SEVERAL_CARDS),
    _case("post.kept-connection", "After a refused POST the same connection serves the next call.", recovers,
          REFUSED_FIRST, Need.SESSIONS),
)  # fmt: skip
