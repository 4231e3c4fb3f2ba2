"""Every fault of the service, on both operations, before and after the API has done its work.

Whatever happens there: the app is never told of a success, it has an answer in time, a POST is not sent again by
itself, and once the fault is over everything works.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.cases.fidelity import given_back
from workbook.conformance.judging import (
    all_of,
    answered,
    but_last,
    in_time,
    no_success,
    not_again,
    once,
    outcome,
    recovers,
    takes_for_success,
    ways_to_tell,
)
from workbook.conformance.script import CALM, GET, POST, Ask, Now, Order, Recover, Script
from workbook.conformance.verdict import Miss
from workbook.simulation.faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Seen
    from workbook.simulation.fault import Fault

OPAQUE = ("sdkInput foreign", "sdkInput stale", "sdkInput damaged")
"""A back end cannot see these: the data is opaque to it, so it hands them on, and the SDK refuses them."""
LATE: Mapping[str, Mapping[str, float]] = {
    "latency": {"seconds": 0.3},
    "uniform latency": {"least": 0.1, "most": 0.5},
    "log-normal latency": {"median": 0.3, "p99": 1.0},
}
"""These cost time only, here less than any limit: the attempt succeeds."""
EITHER = ("JSON with duplicate keys", "huge body", "gzip bomb", "bad gzip")
"""Nothing says that these may not be: taking the sdkInput as it is and refusing it are both right."""
ELSEWHERE = ("200", "dribble")
"""No fault at all, and one that is about time alone (`budget`)."""


def _slug(fault: Fault) -> str:
    return re.sub("[^a-z0-9]+", "-", fault.name.lower()).strip("-")


def _moments(operation: str) -> tuple[str, ...]:
    """A GET changes nothing, so before and after are the same to it."""
    return ("before", "after") if operation == POST else ("before",)


TOO_MANY = "429"
NOT_THEN_EITHER = (
    "Send a POST no second time after a 429 either: the document shows no 429, so nothing says that the API did not "
    "carry it out. Tell the app that it failed; its next attempt has a new sdkOutput."
)
"""A 429 is as open as every other failure: no limit and no such status is shown (GAP-1, GAP-2)."""


def _case(fault: Fault, operation: str, moment: str) -> Case:
    steps = (Ask(operation), CALM, Recover(), Ask(operation))
    script = Script(steps, (Order(operation, fault=fault.name, moment=moment),))
    limited = operation == POST and fault.name.startswith(TOO_MANY)
    again = once(NOT_THEN_EITHER) if limited else not_again
    judge = all_of(but_last(no_success), answered, in_time, recovers, again)
    says = f"{operation}, {moment} the API has done its work: {fault.sentence}"
    if limited:
        says += " The document shows no 429, so the POST is not repeated then either."
    told = f"relay.{operation.lower()}.fault-{_slug(fault)}{'-after' if moment == 'after' else ''}"
    return Case(told, says, "REL-1" if moment == "after" else "REL-6", Group.FAULTS, script, judge)


def _late(fault: Fault, operation: str) -> Case:
    script = Script((Ask(operation),), (Order(operation, fault=fault.name, settings=LATE[fault.name]),))
    says = f"{operation}: {fault.sentence} The attempt succeeds all the same."
    told = f"relay.{operation.lower()}.slow-{_slug(fault)}"
    return Case(told, says, "REL-5", Group.FAULTS, script, all_of(recovers, in_time, not_again))


def _either(fault: Fault, operation: str) -> Case:
    script = Script((Ask(operation), CALM, Recover(), Ask(operation)), (Order(operation, fault=fault.name),))
    judge = all_of(but_last(_whole_or_refused), answered, in_time, recovers, not_again)
    says = f"{operation}: {fault.sentence} It is handed on whole or refused, and then everything works."
    return Case(f"relay.{operation.lower()}.odd-{_slug(fault)}", says, "REL-6", Group.FAULTS, script, judge)


def _whole_or_refused(seen: Seen) -> Iterator[Miss]:
    """What is told as a success is the very sdkInput that the API gave, where one can be read from its answer."""
    given = {one.given for one in seen.arrived if one.given}
    for call in seen.calls:
        if takes_for_success(call, seen) and not call.broke and not (call.value and (not given or call.value in given)):
            yield Miss("the whole sdkInput or a failure", outcome(call), "Hand it on whole, or tell that it failed.")


def _opaque(fault: Fault, operation: str) -> Case:
    script = Script((Ask(operation),), (Order(operation, fault=fault.name),))
    says = f"{operation}: {fault.sentence} A back end cannot know, so it hands on what it got."
    told = f"relay.{operation.lower()}.opaque-{_slug(fault)}"
    rule = "API-11" if operation == POST else "API-10"
    return Case(told, says, rule, Group.FAULTS, script, given_back(operation))


def _of(fault: Fault, operation: str) -> Iterator[Case]:
    if fault.name in LATE:
        yield _late(fault, operation)
    elif fault.name in EITHER:
        yield _either(fault, operation)
    elif fault.name in OPAQUE:
        yield _opaque(fault, operation)
    elif fault.name not in ELSEWHERE:
        yield from (_case(fault, operation, moment) for moment in _moments(operation))


TOLD = ("422", "500", "sdkInput missing", "sdkInput null", "sdkInput empty", "close")
"""Failures of every kind that the app has to turn into nil, or into an exception."""


def _is_failure(seen: Seen) -> Iterator[Miss]:
    """A failed call is told as one, and hands over no sdkInput from elsewhere."""
    given = {one.given for one in seen.arrived if one.given}
    for call in seen.calls:
        if takes_for_success(call, seen) or call.value in given:
            yield Miss("a failure", outcome(call), ways_to_tell(call))


def _is_nil(seen: Seen) -> Iterator[Miss]:
    """Empty bytes are not nil: an app that reads the field would hand them to the SDK."""
    yield from _is_failure(seen)
    for call in seen.calls:
        if call.value == "" and call.body:
            todo = "Leave the field out where there is no sdkInput."
            yield Miss("no sdkInput, not even an empty one", outcome(call), todo)


def _mapped(told: str, says: str, rule: str, need: Need, judge: Judge) -> Case:
    steps = (step for name in TOLD for step in (Now((Order(POST, fault=name),)), Ask(POST)))
    script = Script((*steps,))
    return Case(f"relay.post.{told}", says, rule, Group.FAULTS, script, all_of(judge, answered), frozenset({need}))


CASES = (
    *(case for fault in FAULTS.values() for operation in (GET, POST) for case in _of(fault, operation)),
    _mapped("failure-is-exception", "A failed POST lets fetchOpc throw: it is no success.", "A-OPC-1", Need.PLATFORM_A,
            _is_failure),
    _mapped("failure-is-nil", "A failed POST lets provision return nil: it holds no sdkInput.", "B-DEL-3",
            Need.PLATFORM_B, _is_nil),
)  # fmt: skip
