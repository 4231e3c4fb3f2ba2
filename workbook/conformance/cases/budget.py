"""Time: the wallet waits 20 seconds, and status() a tenth of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, in_time, no_success, outcome, works
from workbook.conformance.script import GET, POST, STATUS, Ask, Order, Script, Together
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.seen import Seen

SLOW = 1.0
"""Seconds that the API takes for each answer where a list of cards is fetched: slow, and not unusually so (assumed)."""
LIST = 6
"""How many cards the list has."""
LONG = {"seconds": 60.0}
"""A stall that nobody waits for."""
SHORTER = "Set a limit for the whole call, retries and body included, well below the wallet's 20 seconds."


def _list_in_time(seen: Seen) -> Iterator[Miss]:
    """All cards of the list are there before the wallet gives up, though the API is slow."""
    took = max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)
    if took > seen.bound:
        todo = "Fetch the cards of a list at the same time, or at least without waiting in a queue."
        yield Miss(f"the whole list within {seen.bound:g} s", f"{took:.1f} s for {len(seen.calls)} cards", todo)


def _side_by_side(seen: Seen) -> Iterator[Miss]:
    """Calls for several cards do not wait for one another: together they take less than one after the other."""
    took = max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)
    if took > SLOW * len(seen.calls) / 2:
        todo = "Let calls run side by side: more than one worker, and no lock around the API."
        yield Miss("calls that run side by side", f"{len(seen.calls)} calls took {took:.1f} s", todo)


def _status_alone(seen: Seen) -> Iterator[Miss]:
    """status() is answered from what is there (X-STATUS-3)."""
    todo = "Answer from stored data: the network takes longer than the tenth of a second that there is."
    for call in seen.asked(STATUS):
        if not call.reported_success:
            yield Miss("an answer", outcome(call), todo)
    for one in seen.arrived:
        yield Miss("no request at the API", f"a {one.request.method} reached it", todo)


def _stalled(operation: str, fault: str) -> Script:
    return Script((Ask(operation),), (Order(operation, fault=fault, settings=LONG),))


def _limits() -> Iterator[Case]:
    for operation, name in ((GET, "get"), (POST, "post")):
        for fault, where in (("stall before headers", "headers"), ("stall after headers", "body")):
            says = f"A {operation} that stalls before its {where} is given up before the wallet gives up."
            judge = all_of(in_time(SHORTER), no_success(SHORTER))
            script = _stalled(operation, fault)
            yield Case(f"relay.{name}.limit-{where}", says, "REL-5", Group.BUDGET, script, judge)


TOGETHER = Script(
    (Together(tuple(Ask(GET, card=number) for number in range(LIST))),),
    tuple(Order(GET, card=number, fault="latency", settings={"seconds": SLOW}) for number in range(LIST)),
    cards=LIST,
)
CASES = (
    *_limits(),
    Case("relay.list.in-time", "A list of cards is there before the wallet gives up.", "X-ENTRIES-3", Group.BUDGET,
         TOGETHER, all_of(works(GET), _list_in_time), frozenset({Need.SEVERAL_CARDS})),
    Case("relay.list.side-by-side", "Calls for several cards do not wait for one another.", "REL-5", Group.BUDGET,
         TOGETHER, all_of(works(GET), _side_by_side), frozenset({Need.SEVERAL_CARDS})),
    Case("relay.status.no-api-call", "status() is answered without the API.", "X-STATUS-3", Group.BUDGET,
         Script((Ask(STATUS),), alone=True), _status_alone, frozenset({Need.STATUS})),
)  # fmt: skip
