"""Every fault of the service: on the GET, and on the POST before and after the API's work.

Whatever fails: the app never sees a success, it gets an answer in time, the back end does not send a POST again by
itself, and once the fault is over everything works.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from workbook.simulation.faults import FAULTS, Fault, FaultKind
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.cases.fidelity import given_back
from workbook.tools.conform.back_end.judging import (
    all_of,
    answered,
    but_last,
    in_time,
    no_success,
    not_again,
    once,
    outcome,
    recovers,
)
from workbook.tools.conform.back_end.model import (
    GET,
    POST,
    AppCall,
    CaseScript,
    Judge,
    Need,
    Order,
    RelayCase,
    Rest,
    Seen,
    SetOrders,
)
from workbook.tools.harness.model import Miss

# What a back end has to do about a fault depends on what it can know, which is the fault's kind.
_case = partial(model.relay_case, model.RelayGroup.FAULTS)


def whole_or_refused(seen: Seen) -> Iterator[Miss]:
    """A success holds the very sdkInput that the API gave, where one can be read from the API's answer."""
    given = {arrived.given for arrived in seen.arrived if arrived.given}
    for call in seen.calls:
        if (
            judging.takes_for_success(call, seen)
            and not call.broke
            and not (call.value and (not given or call.value in given))
        ):
            yield Miss(
                "the whole sdkInput or a failure",
                outcome(call),
                "Hand the sdkInput on whole, or tell the app that the call failed.",
            )


def of_fault(fault: Fault, operation: str) -> Iterator[RelayCase]:
    """The cases of one fault on one operation."""
    does = fault.sentence if fault.source in fault.sentence else f"{fault.sentence.rstrip('.')} ({fault.source})."
    name, slug = operation.lower(), re.sub("[^a-z0-9]+", "-", fault.name.lower()).strip("-")
    order = Order(operation, fault=fault.name)
    # The last call, after the fault is over, shows whether the back end has kept anything of it: a dead connection in
    # its pool, an open circuit breaker, a cached failure.
    calls = (AppCall(operation), SetOrders(), Rest(), AppCall(operation))
    # shorter than any limit, so the attempt succeeds; `dribble` is about time alone (group budget)
    delays: Mapping[str, Mapping[str, float]] = {
        "latency": {"seconds": 0.3},
        "uniform latency": {"least": 0.1, "most": 0.5},
        "log-normal latency": {"median": 0.3, "p99": 1.0},
    }
    # after a 429 the outcome is unknown, as after any failure (GAP-1, GAP-2)
    not_then_either = (
        "Do not repeat a POST after a 429 either: the document shows no 429 (GAP-2), so the API may have carried it "
        "out. Tell the app that it failed; its next attempt has a new sdkOutput."
    )
    match fault.kind:
        case FaultKind.DELAY if fault.name in delays:
            yield _case(f"{name}.slow-{slug}", f"{operation}: {does} The attempt succeeds all the same.", "REL-5",
                        all_of(judging.waits, in_time, not_again),
                        CaseScript(calls[:1], (replace(order, settings=delays[fault.name]),)))  # fmt: skip
        case FaultKind.NONE | FaultKind.DELAY:
            pass
        case FaultKind.ODD:
            yield _case(f"{name}.odd-{slug}",
                        f"{operation}: {does} It is handed on whole or refused, and then everything works.",
                        "REL-6", all_of(but_last(whole_or_refused), answered, in_time, few_tries, recovers,
                                      not_again),
                        CaseScript(calls, (order,)))  # fmt: skip
        case FaultKind.OPAQUE:
            yield _case(f"{name}.opaque-{slug}",
                        f"{operation}: {does} A back end cannot know, so it hands on what it got.",
                        "API-11" if operation == POST else "API-10", given_back(operation),
                        CaseScript(calls[:1], (order,)))  # fmt: skip
        case FaultKind.STATUS | FaultKind.LIMIT | FaultKind.LOST | FaultKind.UNFRAMED | FaultKind.UNUSABLE:
            limited, unframed = operation == POST and fault.kind is FaultKind.LIMIT, fault.kind is FaultKind.UNFRAMED
            more = " The document shows no 429 (GAP-2), so the POST is not repeated then either." if limited else ""
            judge = all_of(but_last(no_success), answered, in_time, few_tries,
                           spoils_no_other if unframed else recovers,
                           once(not_then_either) if limited else not_again)  # fmt: skip
            # A GET changes nothing. For a POST the moment after the API has done its work is the worse one: the
            # sdkOutput is used up, the answer is lost, and nothing in the answer tells a back end which moment it was.
            # That is why no POST is ever repeated.
            for moment in ("before", "after") if operation == POST else ("before",):
                yield _case(f"{name}.fault-{slug}{'-after' if moment == 'after' else ''}",
                            f"{operation}, {moment} the API has done its work: {does}{more}",
                            "REL-1" if moment == "after" else "REL-6", judge,
                            CaseScript(calls, (replace(order, moment=moment),), alone=unframed))  # fmt: skip
        case _:
            assert_never(fault.kind)


def spoils_no_other(seen: Seen) -> Iterator[Miss]:
    """The call after a broken answer succeeds: nothing of that answer is left in a connection."""
    todo = "Close the connection of an answer that cannot be read: its rest may come before the next answer."
    yield from (replace(miss, todo=todo, noted=True) for miss in recovers(seen))


# A failure that platform A's SDK sees as an exception is nil to platform B's: one answer has to serve both.
def is_failure(seen: Seen) -> Iterator[Miss]:
    """A failed call is answered as a failure, and holds no sdkInput from another call."""
    given = {arrived.given for arrived in seen.arrived if arrived.given}
    for call in seen.calls:
        if judging.takes_for_success(call, seen) or call.value in given:
            yield Miss("a failure", outcome(call), judging.ways_to_tell(call, seen))


def is_nil(seen: Seen) -> Iterator[Miss]:
    """Empty bytes are not nil: an app that reads the field would hand them to the SDK."""
    yield from is_failure(seen)
    for call in seen.calls:
        if call.value == "" and call.body:
            todo = "Leave the field out where there is no sdkInput."
            yield Miss("no sdkInput, not even an empty one", outcome(call), todo)


def _mapped(name: str, says: str, rule: str, judge: Judge, need: Need) -> RelayCase:
    failures = ("422", "500", "sdkInput missing", "sdkInput null", "sdkInput empty", "close")
    steps = tuple(step for fault in failures for step in (SetOrders((Order(POST, fault=fault),)), AppCall(POST)))
    return _case(f"post.{name}", says, rule, all_of(judge, answered), CaseScript(steps), need)


def few_tries(seen: Seen) -> Iterator[Miss]:
    """A GET may be tried again; each further try delays the app and loads an API that fails already.

    More than 10 are too many (assumed: the document shows no rate limit, GAP-2).
    """
    for call in seen.calls:
        if (count := len(seen.during(call))) > 10:
            todo = "Try a GET two or three times at most, each time after a longer pause, and then tell that it failed."
            observed = f"{count} within {call.seconds:.1f} s"
            yield Miss("at most 10 requests for one call", observed, todo, "REL-5", harms=True)


def session_not_lost(seen: Seen) -> Iterator[Miss]:
    """The API's 401 and 403 are about the back end's key; an app reads them as the end of its session."""
    for call in seen.calls:
        if call.status in (401, 403):
            todo = "Answer with another status, such as 502: an app takes 401 and 403 for its session's end (assumed)."
            # after a 401 an app signs its cardholder out, and with a 403 it may refuse one card (assumed)
            harms = call.status == 401
            yield Miss("a failure that is not about the cardholder's session", outcome(call), todo, harms=harms)


def of_copying(operation: str) -> Iterator[RelayCase]:
    """A back end that copies the API's answer hands on a value of another type, or a status about its own key."""
    name = operation.lower()
    # neither platform's SDK takes an sdkInput that is no text, so an app that gets one can only fail later
    no_texts: Mapping[str, Any] = {"number": 7, "object": {"value": "x"}, "list": ["x"], "boolean": True}
    for kind, value in no_texts.items():
        yield _case(f"{name}.sdk-input-{kind}", f"{operation}: an sdkInput that is a JSON {kind} is not handed on.",
                    "REL-6", all_of(but_last(no_success), answered, in_time, few_tries, recovers, not_again),
                    CaseScript((AppCall(operation), SetOrders(), Rest(), AppCall(operation)),
                               (Order(operation, more={"sdkInput": value}),)))  # fmt: skip
    steps = (
        step for fault in ("401", "403") for step in (SetOrders((Order(operation, fault=fault),)), AppCall(operation))
    )
    yield _case(f"{name}.key-refused", f"{operation}: the API refuses the key, and the app's session stays valid.",
                "REL-9", all_of(session_not_lost, no_success, answered), CaseScript(tuple(steps)))  # fmt: skip


CASES = (
    *(case for operation in (GET, POST) for case in of_copying(operation)),
    _case("get.few-tries", "A GET that fails is not tried again and again.", "REL-5",
          all_of(few_tries, answered, judging.each_request(GET)),
          CaseScript((AppCall(GET),), (Order(GET, fault="500"),))),
    *(case for fault in FAULTS.values() for operation in (GET, POST) for case in of_fault(fault, operation)),
    _mapped("failure-is-exception", "A failed POST makes fetchOpc throw (sdk-a): it is not answered as a success.",
            "REL-6",
            is_failure, Need.PLATFORM_A),
    _mapped("failure-is-nil", "A failed POST makes provision return nil: its answer holds no sdkInput.", "B-DEL-3",
            is_nil, Need.PLATFORM_B),
)  # fmt: skip
