"""Whose data it is: nobody gets another's card, and nothing old is handed out as new."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, answered, one_works, outcome, refuses, works
from workbook.conformance.script import GET, POST, Ask, Now, Order, Rest, Script, Together, both
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Seen

CROWD = 12
"""How many calls are made at the same time."""


def _own_only(seen: Seen) -> Iterator[Miss]:
    """Each card's data reaches the calls for that card and no others."""
    for call in seen.calls:
        own = {one.given for one in seen.came(call.operation) if one.instrument == call.instrument}
        if call.value and call.value not in own:
            todo = "Keep everything of a call in that call: no shared variable, no cache without the card in its key."
            yield Miss("its own card's sdkInput", "another one", todo)
    for one in seen.came(POST):
        if one.sdk_output not in {call.sent for call in seen.calls if call.instrument == one.instrument}:
            todo = "Keep everything of a call in that call: card and sdkOutput come from the same request."
            yield Miss("the sdkOutput of the card in the path", "another card's", todo)


def _refused(seen: Seen) -> Iterator[Miss]:
    """A call that is not entitled is refused, and the API is not even asked."""
    for call in seen.calls:
        if not refuses(call):
            todo = "Check session and card before anything else, and refuse."
            yield Miss("a refusal", outcome(call), todo)
    for one in (one for one in seen.arrived if one.operation):
        observed = f"a {one.request.method} reached the API"
        yield Miss("no request at the API", observed, "Check session and card before the API is asked.")


def _fresh(operation: str) -> Judge:
    """No answer of the API is handed out a second time."""
    todo = "Ask the API for each attempt; keep nothing of its answers in the back end."

    def judge(seen: Seen) -> Iterator[Miss]:
        values = [call.value for call in seen.asked(operation) if call.value]
        if len(set(values)) < len(values):
            yield Miss("a new sdkInput for each attempt", "the same twice", todo)
        if not values:
            yield Miss("a success", outcome(seen.calls[0]), "Make the plain case work first.")

    return judge


def _asked_each_time(seen: Seen) -> Iterator[Miss]:
    """The same sdkOutput once more is the API's to answer, or is refused; no old answer stands in for it."""
    lucky, came = [call for call in seen.asked(POST) if call.succeeded], seen.came(POST)
    if not lucky:
        yield Miss("a success", outcome(seen.asked(POST)[0]), "Make the plain case work first.")
    elif len(lucky) > len(came):
        todo = "Send each POST of the app on, or refuse it; keep nothing of the API's answers in the back end."
        yield Miss(f"{len(lucky)} POST requests at the API", f"{len(came)}, and the rest was answered without it", todo)


def _same_again(canary: str) -> str:
    """The same for every call of the case, and good for either platform."""
    return base64.b64encode(f"{canary.rpartition('-')[0]} of which there is one".encode()).decode()


def _not_cacheable(seen: Seen) -> Iterator[Miss]:
    """Nobody between back end and phone is told to keep an answer for a while."""
    for call in seen.asked(GET):
        said = {name.lower(): value.lower() for name, value in call.headers}
        if FRESH_FOR.search(said.get("cache-control", "")) and "no-store" not in said["cache-control"]:
            todo = "Say cache-control: no-store, or nothing about caching."
            yield Miss("an answer for one attempt", "an answer that may be kept for a while", todo)


def _crowd(operation: str) -> Script:
    asks = tuple(Ask(operation, card=number % 3) for number in range(CROWD))
    return Script((Together(asks),), cards=3, alone=True)


def _two_cardholders(operation: str) -> Script:
    """Calls of both for their own cards, mixed and at once."""
    asks = tuple(Ask(operation, cardholder=number % 2, own=True) for number in range(CROWD))
    return Script((Together(asks),), alone=True)


def _strangers(operation: str, cardholder: int) -> Script:
    return Script((Ask(operation, cardholder=cardholder),), alone=True)


SAME_TWICE = Script((Ask(GET), Ask(POST, output=_same_again), Ask(POST, output=_same_again)),
                    (Order(POST, value=_same_again),))  # fmt: skip
FRESH_FOR = re.compile(r"(?<![a-z-])(s-maxage|max-age)\s*=\s*[\"']?0*[1-9]")
"""How an answer says that it may be used again; only these do so by themselves."""
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
            needs = frozenset({Need.SESSIONS, need})
            judge = all_of(_refused, answered)
            yield Case(f"relay.{name}.{who}", says, "REL-4", Group.ISOLATION, script, judge, needs)


def _case(name: str, says: str, rule: str, judge: Judge, script: Script, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, rule, Group.ISOLATION, script, judge, frozenset(needs))


CASES = (
    _case("get.crowd", "Many GETs at once each get their own card's data.", "REL-4",
          all_of(one_works(GET), _own_only), _crowd(GET), Need.SEVERAL_CARDS),
    _case("post.crowd", "Many POSTs at once each get their own card's data.", "REL-4",
          all_of(one_works(POST), _own_only), _crowd(POST), Need.SEVERAL_CARDS),
    _case("get.two-cardholders", "Two cardholders at once each get their own card's data.", "REL-4",
          all_of(one_works(GET), _own_only), _two_cardholders(GET), Need.TWO_CARDHOLDERS),
    _case("post.two-cardholders", "Two cardholders' POSTs at once each get their own card's data.", "REL-4",
          all_of(one_works(POST), _own_only), _two_cardholders(POST), Need.TWO_CARDHOLDERS),
    *_not_entitled(),
    _case("get.fresh", "Each GET of the app gets new activation data.", "REL-7", all_of(works(GET), _fresh(GET)),
          Script((Ask(GET), Rest(0.05), Ask(GET)))),
    _case("get.not-cacheable", "No answer of the GET may be kept on its way to the phone.", "REL-7",
          all_of(works(GET), _not_cacheable), Script((Ask(GET),)), Need.HTTP),
    _case("get.fresh-after-failure", "After a failed attempt the app gets new data, not the last that worked.", "REL-7",
          _fresh(GET), Script((Ask(GET), Now((Order(GET, fault="500"),)), Ask(GET)))),
    _case("post.same-again", "The same sdkOutput once more is the API's to answer, not a store's.", "REL-7",
          _asked_each_time, SAME_TWICE),
    _case("attempt.again", "A second attempt has data of its own, both times.", "REL-7",
          all_of(works(GET), works(POST), _fresh(GET), _fresh(POST)), Script((*both(), *both()))),
)  # fmt: skip
