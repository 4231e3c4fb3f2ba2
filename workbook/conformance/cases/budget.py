"""Time: the wallet waits 20 seconds, and status() a tenth of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, answered, in_time, no_success, outcome, works
from workbook.conformance.script import GET, POST, STATUS, Ask, Order, Script, Together
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.seen import Seen

SLOW = 0.2
"""How much of the wallet's time the API takes for each answer where a list of cards is fetched (assumed)."""
LIST = 6
"""How many cards the list has: one after the other they take longer than the wallet waits."""
LONG = 3.0
"""How many times the wallet's patience a stall lasts that nobody waits for."""


def _list_in_time(seen: Seen) -> Iterator[Miss]:
    """All cards of the list are there before the wallet gives up, though the API is slow."""
    took = max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)
    if took > seen.bound:
        todo = "Fetch the cards of a list at the same time, or at least without waiting in a queue."
        yield Miss(f"the whole list within {seen.bound:g} s", f"{took:.1f} s for {len(seen.calls)} cards", todo)
    yield from works(GET)(seen)


def _side_by_side(seen: Seen) -> Iterator[Miss]:
    """Calls for several cards do not wait for one another: together they take less than one after the other."""
    took = max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)
    if took > SLOW * seen.bound * len(seen.calls) / 2:
        todo = "Let calls run side by side: more than one worker, and no lock around the API."
        yield Miss("calls that run side by side", f"{len(seen.calls)} calls took {took:.1f} s", todo)


def _status_alone(seen: Seen) -> Iterator[Miss]:
    """status() is answered from what is there (X-STATUS-3)."""
    todo = "Answer from stored data: the network takes longer than the tenth of a second that there is."
    for call in seen.asked(STATUS):
        if not call.reported_success:
            yield Miss("an answer", outcome(call), todo)
    for one in (one for one in seen.arrived if one.operation):
        yield Miss("no request at the API", f"a {one.request.method} reached it", todo)


STALLS = {
    "headers": ("stalls before its headers", Order(GET, fault="stall before headers", share=LONG)),
    "body": ("stalls before its body", Order(GET, fault="stall after headers", share=LONG)),
    "trickle": ("comes byte by byte", Order(GET, fault="dribble")),
}
"""How an exchange outlasts a limit that is only set for a part of it."""


def _limits() -> Iterator[Case]:
    for operation, name in ((GET, "get"), (POST, "post")):
        for where, (words, order) in STALLS.items():
            says = f"A {operation} that {words} is given up before the wallet gives up."
            script = Script((Ask(operation),), (replace(order, operation=operation),))
            judge = all_of(in_time, answered) if where == "trickle" else all_of(in_time, no_success, answered)
            yield Case(f"relay.{name}.limit-{where}", says, "REL-5", Group.BUDGET, script, judge)


TOGETHER = Script(
    (Together(tuple(Ask(GET, card=number) for number in range(LIST))),),
    tuple(Order(GET, card=number, fault="latency", share=SLOW) for number in range(LIST)),
    cards=LIST,
)
CASES = (
    *_limits(),
    Case("relay.list.in-time", "A list of cards is there before the wallet gives up.", "X-ENTRIES-3", Group.BUDGET,
         TOGETHER, _list_in_time, frozenset({Need.SEVERAL_CARDS})),
    Case("relay.list.side-by-side", "Calls for several cards do not wait for one another.", "REL-5", Group.BUDGET,
         TOGETHER, all_of(works(GET), _side_by_side), frozenset({Need.SEVERAL_CARDS})),
    Case("relay.status.no-api-call", "status() is answered without the API.", "X-STATUS-3", Group.BUDGET,
         Script((Ask(STATUS),), alone=True), _status_alone, frozenset({Need.STATUS})),
)  # fmt: skip
