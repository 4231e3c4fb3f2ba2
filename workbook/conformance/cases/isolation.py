"""Whose data it is: nobody gets another's card, and nothing old is handed out as new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, outcome, works
from workbook.conformance.script import GET, POST, Ask, Order, Rest, Script, Together, both
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Seen

CROWD = 24
"""How many calls are made at the same time."""


def _own_only(seen: Seen) -> Iterator[Miss]:
    """Each card's data reaches the calls for that card and no others."""
    for call in seen.calls:
        if call.value is None:
            yield Miss("its own sdkInput", outcome(call), "Serve calls at the same time without mixing them up.")
            continue
        others = {one.given for one in seen.arrived if one.instrument != call.instrument}
        if call.value in others:
            todo = "Keep everything of a call in that call: no shared variable, no cache without the card in its key."
            yield Miss("its own card's sdkInput", "another card's", todo)


def _refused(seen: Seen) -> Iterator[Miss]:
    """A call that is not entitled is refused, and the API is not even asked."""
    for call in seen.calls:
        if call.reported_success:
            todo = "Check session and card before anything else, and refuse."
            yield Miss("a refusal", outcome(call), todo)
    for one in seen.arrived:
        observed = f"a {one.request.method} reached the API"
        yield Miss("no request at the API", observed, "Check session and card before the API is asked.")


def _fresh(seen: Seen) -> Iterator[Miss]:
    """Two attempts get two different answers of the API."""
    values = [call.value for call in seen.asked(GET)]
    if len(set(values)) < len(values):
        todo = "Fetch activation data for each attempt; keep none in the back end."
        yield Miss("new activation data for each attempt", "the same twice", todo)


def _crowd(operation: str) -> Script:
    asks = tuple(Ask(operation, card=number % 3) for number in range(CROWD))
    return Script((Together(asks),), cards=3)


def _strangers(operation: str, cardholder: int) -> Script:
    return Script((Ask(operation, cardholder=cardholder),), alone=True)


OPERATIONS = ((GET, "get"), (POST, "post"))
WHO = {
    "other-cardholder": ("another cardholder's session", 1, Need.TWO_CARDHOLDERS),
    "no-session": ("no session", -1, Need.SESSIONS),
    "forged-session": ("a session that does not exist", -2, Need.SESSIONS),
}
"""Who is not entitled to the first cardholder's card."""


def _not_entitled() -> Iterator[Case]:
    for operation, name in OPERATIONS:
        for who, (words, cardholder, need) in WHO.items():
            says = f"A {operation} with {words} is refused before the API is asked."
            script = _strangers(operation, cardholder)
            yield Case(f"relay.{name}.{who}", says, "REL-4", Group.ISOLATION, script, _refused, frozenset({need}))


def _case(name: str, says: str, rule: str, judge: Judge, script: Script, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, rule, Group.ISOLATION, script, judge, frozenset(needs))


CASES = (
    _case("get.crowd", "Many GETs at once each get their own card's data.", "REL-4", _own_only, _crowd(GET),
          Need.SEVERAL_CARDS),
    _case("post.crowd", "Many POSTs at once each get their own card's data.", "REL-4", _own_only, _crowd(POST),
          Need.SEVERAL_CARDS),
    *_not_entitled(),
    _case("get.fresh", "Each GET of the app gets new activation data.", "REL-7", all_of(works(GET), _fresh),
          Script((Ask(GET), Rest(0.05), Ask(GET)))),
    _case("get.fresh-after-failure", "After a failed attempt the app gets new data, not the last that worked.", "REL-7",
          _fresh, Script((Ask(GET), Ask(GET)), (Order(GET, fault="500", nth=2),))),
    _case("attempt.again", "A second attempt has data of its own, both times.", "REL-7",
          all_of(works(GET), works(POST), _fresh), Script((*both(), *both()))),
)  # fmt: skip
