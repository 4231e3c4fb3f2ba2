"""Several things at once, in another order, given up halfway, and after the API was away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group
from workbook.conformance.cases.fidelity import handed_on
from workbook.conformance.judging import all_of, answered, in_time, no_success, not_again, one_works, recovers
from workbook.conformance.script import GET, POST, Ask, Down, Order, Recover, Rest, Script, Together, Up, both
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.script import Step
    from workbook.conformance.seen import Seen

SLOW = {"seconds": 0.6}


def _own_answers(seen: Seen) -> Iterator[Miss]:
    """Two POSTs for one card at the same time: each gets the answer to its own sdkOutput."""
    answers = {one.sdk_output: one.given for one in seen.came(POST)}
    for call in seen.asked(POST):
        if call.succeeded and call.value != answers.get(call.sent):
            todo = "Keep each answer with the request that it answers, also when the card is the same."
            yield Miss("the answer to its own sdkOutput", "the answer to another one", todo)


def _fails_while_away(seen: Seen) -> Iterator[Miss]:
    """Of three calls the middle one met no API."""
    middle = replace(seen, calls=seen.calls[1:2])
    yield from all_of(no_success, answered, in_time)(middle)


def _away(operation: str) -> Script:
    steps: tuple[Step, ...] = (Ask(operation), Down(), Ask(operation), Up(), Recover(), Ask(operation))
    return Script(steps, alone=True)


AWAY = all_of(_fails_while_away, recovers)
TWICE = (Ask(GET), Together((Ask(POST), Ask(POST))))
LATE = (Order(POST, fault="latency", settings=SLOW, nth=1),)
GIVEN_UP = Script((Ask(GET), Ask(POST, cancel=0.2), Rest(1.0)), LATE)
AGAIN = Script((*both(cancel=0.2), Rest(1.0), *both()), LATE)
CASES = (
    Case("relay.post.double-tap", "Two POSTs of a double tap each get their own answer.", "REL-4", Group.CONCURRENCY,
         Script(TWICE), all_of(one_works(POST), handed_on, _own_answers)),
    Case("relay.post.reordered", "Answers that come in another order reach the right call.", "REL-4",
         Group.CONCURRENCY, Script(TWICE, LATE), all_of(one_works(POST), _own_answers)),
    Case("relay.post.given-up", "A POST that the phone gives up is not sent again.", "REL-1", Group.CONCURRENCY,
         GIVEN_UP, not_again),
    Case("relay.attempt.after-given-up", "After a POST that was given up the next attempt works.", "API-11",
         Group.RECOVERY, AGAIN, recovers),
    Case("relay.get.api-away", "While the API is away a GET fails in time, and works when it is back.", "API-10",
         Group.RECOVERY, _away(GET), AWAY),
    Case("relay.post.api-away", "While the API is away a POST fails in time, and works when it is back.", "API-11",
         Group.RECOVERY, _away(POST), AWAY),
)  # fmt: skip
