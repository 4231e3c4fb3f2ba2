"""What fails or takes long: every fault of the API, the wallet's 20 seconds (wallet), and calls at the same time."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from workbook.simulation.faults import FAULTS, Fault, FaultKind
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.cases.data import given_back, handed_on
from workbook.tools.conform.back_end.judging import (
    all_of,
    answered,
    describe_ending,
    in_time,
    no_success,
    not_again,
    recovers,
)
from workbook.tools.conform.back_end.model import GET, POST, AppCall, CaseScript, Order, Rest, Seen, SetOrders
from workbook.tools.harness.model import Miss, Root

# What a back end has to do about a fault depends on what it can know, which is the fault's kind.
_fault = partial(model.back_end_case, model.BackEndGroup.FAULTS)


def whole_or_refused(seen: Seen) -> Iterator[Miss]:
    """A success holds the very sdkInput that the API gave, where one can be read from the API's answer."""
    given = {arrived.given for arrived in seen.arrived if arrived.given}
    todo = "Hand the sdkInput on whole, or tell the app that the call failed."
    for call in seen.calls:
        whole = call.value and (not given or call.value in given)
        if judging.takes_for_success(call, seen) and not call.broke and not whole:
            yield Miss("the whole sdkInput or a failure", describe_ending(call), todo)


def of_fault(fault: Fault, operation: str) -> Iterator[model.BackEndCase]:
    """The cases of one fault on one operation."""
    does = fault.sentence if fault.source in fault.sentence else f"{fault.sentence.rstrip('.')} ({fault.source})."
    name, slug = operation.lower(), re.sub("[^a-z0-9]+", "-", fault.name.lower()).strip("-")
    order = Order(operation, fault=fault.name)
    # The last call, after the fault is over, shows whether the back end has kept anything of it: a dead connection in
    # its pool, an open circuit breaker, a cached failure.
    calls = (AppCall(operation), SetOrders(), Rest(), AppCall(operation))
    # after a 429 the outcome is unknown, as after any failure (GAP-1, GAP-2)
    not_then_either = (
        "Do not repeat a POST after a 429 either: the document shows no 429 (GAP-2), so the API may have carried it "
        "out. Tell the app that it failed; its next attempt has a new sdkOutput."
    )
    match fault.kind:
        case FaultKind.DELAY if fault.name == "latency":  # `dribble` is about time alone (group budget)
            yield _fault(f"{name}.slow-{slug}", f"{operation}: {does} The attempt succeeds all the same.", "REL-5",
                        all_of(judging.waits, in_time, not_again),
                        CaseScript(calls[:1], (replace(order, settings={"seconds": 0.3}),)))  # fmt: skip
        case FaultKind.NONE | FaultKind.DELAY:
            pass
        case FaultKind.ODD:
            yield _fault(f"{name}.odd-{slug}",
                        f"{operation}: {does} It is handed on whole or refused, and then everything works.",
                        "REL-6", all_of(judging.but_last(whole_or_refused), answered, in_time, few_tries, recovers,
                                      not_again),
                        CaseScript(calls, (order,)))  # fmt: skip
        case FaultKind.OPAQUE:
            yield _fault(f"{name}.opaque-{slug}",
                        f"{operation}: {does} A back end cannot know, so it hands on what it got.",
                        "API-11" if operation == POST else "API-10", given_back(operation),
                        CaseScript(calls[:1], (order,)))  # fmt: skip
        case FaultKind.STATUS | FaultKind.LIMIT | FaultKind.LOST | FaultKind.UNFRAMED | FaultKind.UNUSABLE:
            limited, unframed = operation == POST and fault.kind is FaultKind.LIMIT, fault.kind is FaultKind.UNFRAMED
            more = " The document shows no 429 (GAP-2), so the POST is not repeated then either." if limited else ""
            fails, works = (whole_all_the_same, spoils_no_other) if unframed else (no_success, recovers)
            judge = all_of(judging.but_last(fails), answered, in_time, few_tries, works,
                           judging.once(not_then_either) if limited else not_again)  # fmt: skip
            # A GET changes nothing. For a POST the moment after the API has done its work is the worse one: the
            # sdkOutput is used up, the answer is lost, and nothing in the answer tells a back end which moment it was.
            # That is why no POST is ever repeated.
            for moment in ("before", "after") if operation == POST else ("before",):
                yield _fault(f"{name}.fault-{slug}{'-after' if moment == 'after' else ''}",
                            f"{operation}, {moment} the API has done its work: {does}{more}",
                            "REL-1" if moment == "after" else "REL-6", judge,
                            CaseScript(calls, (replace(order, moment=moment),), alone=unframed))  # fmt: skip
        case _:
            assert_never(fault.kind)


def whole_all_the_same(seen: Seen) -> Iterator[Miss]:
    """An answer that does not say where it ends is a failure. A value that arrived whole all the same is noted."""
    given = {arrived.given for arrived in seen.arrived if arrived.given}
    todo = (
        "Let the HTTP client compare an answer's length with its content-length: it read on until the connection "
        "ended, so it takes an answer that is cut for a whole one."
    )
    for one in seen.calls:
        for miss in no_success(replace(seen, calls=(one,))):
            yield replace(miss, todo=todo, noted=True) if one.value in given else miss


def spoils_no_other(seen: Seen) -> Iterator[Miss]:
    """The call after a broken answer succeeds: nothing of that answer is left in a connection."""
    todo = "Close the connection of an answer that cannot be read: its rest may come before the next answer."
    yield from (replace(miss, todo=todo, noted=True) for miss in recovers(seen))


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
            yield Miss("a failure that is not about the cardholder's session", describe_ending(call), todo, harms=harms)


def of_copying(operation: str) -> Iterator[model.BackEndCase]:
    """A back end that copies the API's answer hands on a value of another type, or a status about its own key."""
    name = operation.lower()
    # neither platform's SDK takes an sdkInput that is no text, so an app that gets one can only fail later
    no_texts: Mapping[str, Any] = {"number": 7, "object": {"value": "x"}, "list": ["x"], "boolean": True}
    for kind, value in no_texts.items():
        yield _fault(f"{name}.sdk-input-{kind}", f"{operation}: an sdkInput that is a JSON {kind} is not handed on.",
                    "REL-6", all_of(judging.but_last(no_success), answered, in_time, few_tries, recovers, not_again),
                    CaseScript((AppCall(operation), SetOrders(), Rest(), AppCall(operation)),
                               (Order(operation, more={"sdkInput": value}),)))  # fmt: skip
    steps = [
        step for fault in ("401", "403") for step in (SetOrders((Order(operation, fault=fault),)), AppCall(operation))
    ]
    yield _fault(f"{name}.key-refused", f"{operation}: the API refuses the key, and the app's session stays valid.",
                "REL-9", all_of(session_not_lost, no_success, answered), CaseScript(tuple(steps)))  # fmt: skip


FAULTED = (
    *(case for operation in (GET, POST) for case in of_copying(operation)),
    *(case for fault in FAULTS.values() for operation in (GET, POST) for case in of_fault(fault, operation)),
)  # fmt: skip


# Every delay is a share of what the configuration allows the back end, never a number of seconds: a lesson with limits
# of 3.5 s and a real run with 20 s then ask for the same behaviour.


def _took(seen: Seen) -> float:
    """Seconds from the first call's beginning to the last one's end."""
    return max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)


def list_in_time(seen: Seen) -> Iterator[Miss]:
    """Every card of the list is answered before the wallet gives up, though the API is slow.

    A failure in time keeps the limit too: a back end may give up a slow API sooner.
    """
    if (took := _took(seen)) > seen.bound:
        observed = f"{took:.1f} s for {len(seen.calls)} cards"
        yield Miss(f"the whole list within {seen.bound:g} s", observed, judging.SIDE_BY_SIDE)
    yield from answered(seen)


def side_by_side(seen: Seen) -> Iterator[Miss]:
    """Calls do not wait for each other: a second one asks the API while the first is under way."""
    tempo = seen.tempo
    if tempo is None or not tempo.met:
        yield Miss("calls that meet at the API", "none reached it", judging.WORK, root=Root.FOLLOWS)
    elif tempo.finding:
        todo = judging.SIDE_BY_SIDE if tempo.one_lane else judging.UNLOCKED
        yield Miss("calls that run side by side", tempo.finding, todo, harms=True)


def room_for_the_phone(seen: Seen) -> Iterator[Miss]:
    """A call ends before the app gives it up, which is sooner than the wallet does."""
    for call in seen.calls:
        if seen.app_wait < seen.seconds(call) <= seen.bound and not call.broke:
            todo = f"End a call before the app gives it up, after {seen.app_wait:g} s (assumed; [app] wait)."
            expected = f"an answer within the {seen.app_wait:g} s that the app waits"
            yield Miss(expected, judging.describe_times(call, seen), todo, "REL-13")


def connections_end(seen: Seen) -> Iterator[Miss]:
    """Calls one after the other do not each leave a connection to the API open.

    A pool leaves open as many as there are calls at once, or as it has workers. The connections of a program are
    limited: where each call leaves one, none is left some day, and then no cardholder's attempt succeeds.
    """
    todo = (
        "Close each connection to the API, also where the API refuses, or give it back to a pool from which the next "
        "call takes it: read each answer to its end, and close it."
    )
    count = len(seen.calls)
    if seen.left_open >= count / 2:
        observed = f"{seen.left_open} connections to the API still open after {count} calls"
        yield Miss("connections that are closed or used again", observed, todo, harms=seen.left_open >= count)
    yield from judging.each_request(GET)(seen)


def own_answers(seen: Seen) -> Iterator[Miss]:
    """Two POSTs for one card at the same time: each gets the answer to its own sdkOutput."""
    answers = {arrived.sdk_output: arrived.given for arrived in seen.came(POST)}
    for call in seen.asked(POST):
        if call.succeeded and call.value != answers.get(call.sent):
            if call.value not in answers.values():  # it was changed; cases of fidelity say how
                yield Miss("the answer to its own sdkOutput", "another value", judging.HAND_ON, root=Root.FOLLOWS)
                continue
            todo = "Keep each answer with the request that it answers, also when the card is the same."
            yield Miss("the answer to its own sdkOutput", judging.source_of(call.value, seen), todo)


def away(operation: str) -> model.Judge:
    """The middle one of three calls meets no API: it fails, and in time. The last one works."""

    def judge(seen: Seen) -> Iterator[Miss]:
        calls = seen.asked(operation)
        yield from all_of(no_success, answered, in_time)(replace(seen, calls=calls[1:2]))
        yield from recovers(replace(seen, calls=calls))

    return judge


# Libraries limit the connection, each read, or the silence between two bytes, and rarely the whole exchange. An answer
# that comes byte by byte breaks none of these limits, and still takes longer than a cardholder waits.

# How an exchange outlasts a limit that is set for a part of it only.
STALLS: Mapping[str, tuple[str, Order, model.Judge]] = {
    "headers": ("stalls before its headers", Order(GET, fault="stall before headers", share=3.0), no_success),
    "body": ("stalls before its body", Order(GET, fault="stall after headers", share=3.0), no_success),
    "trickle": ("comes byte by byte", Order(GET, fault="dribble"), all_of()),  # a success in time is right, too
}


# An API that takes a fifth of the wallet's time for each card is slow. Six cards still arrive in time if their calls do
# not wait for one another. One after the other they take longer than the wallet waits, and it shows no card at all.
def _list(share: float) -> CaseScript:
    """GETs for a list of cards at once, where the API takes this share of the wallet's time for each."""
    gets = model.Together(tuple(AppCall(GET, card=number) for number in range(6)))
    orders = tuple(Order(GET, card=number, fault="latency", share=share) for number in range(6))
    return CaseScript((gets,), orders, cards=6)


# A phone gives a call up while the back end waits for the API: the cardholder leaves the page, or the network is gone.
# Only the API sees what the back end does next, and the next attempt meets what this one left behind.
DOUBLE_TAP = (AppCall(GET), model.Together((AppCall(POST), AppCall(POST))))
POST_LATE = (Order(POST, fault="latency", settings={"seconds": 0.6}, nth=1),)

_budget = partial(model.back_end_case, model.BackEndGroup.BUDGET)
_concurrency = partial(model.back_end_case, model.BackEndGroup.CONCURRENCY)
_recovery = partial(model.back_end_case, model.BackEndGroup.RECOVERY)
TIMES = (
    *(_budget(f"{operation.lower()}.limit-{part}",
              f"A {operation} whose answer {words} ends before the wallet gives up (wallet).", "REL-5",
              all_of(in_time, judge, answered, room_for_the_phone),
              CaseScript((AppCall(operation),), (replace(order, operation=operation),)))
      for operation in (GET, POST) for part, (words, order, judge) in STALLS.items()),
    _budget("list.in-time", f"A list of cards is there within the wallet's {model.BOUND:g} s (X-ENTRIES-3).",
            "X-ENTRIES-3", list_in_time, _list(0.2), model.Need.SEVERAL_CARDS),
    _concurrency("list.side-by-side", "Calls for several cards do not wait for one another.", "REL-5",
                 side_by_side, CaseScript((), meets=True), model.Need.SEVERAL_CARDS),
    *(_budget(f"get.connections-{name}", f"96 GETs, 16 at a time,{words} do not each leave a connection to the API "
              "open.", "REL-5", connections_end,
              # at the end, time for a library to close a connection
              CaseScript((*model.EACH_WORKER, Rest(0.3)), orders, alone=True))
      for name, words, orders in (("end", "", ()),
                                  ("end-on-failure", " which the API refuses,", (Order(GET, fault="422"),)))),
    _concurrency("post.double-tap", "Two POSTs of a double tap, answered in another order, each get their own answer.",
                 "REL-4", all_of(judging.one_works(POST), handed_on, own_answers), CaseScript(DOUBLE_TAP, POST_LATE)),
    _concurrency("post.given-up", "A POST that the phone gives up is not sent again.", "REL-1",
                 all_of(judging.each_request(POST), judging.not_again),
                 CaseScript((*model.both(cancel=True), Rest(1.0)), POST_LATE)),
    _recovery("attempt.after-given-up", "After a POST that was given up the next attempt works.", "REL-12", recovers,
              CaseScript((*model.both(cancel=True), Rest(1.0), *model.both()), POST_LATE)),
    *(_recovery(f"{operation.lower()}.api-away",
                f"While the API is away a {operation} fails in time, and works when it is back.",
                "REL-12", away(operation), model.API_AWAY)
      for operation in (GET, POST)),
    # Gateways close what was idle for a while, and the next call is a cardholder's. Some pools look only after 2 s
    # whether a connection is still open (assumed), so that much time passes.
    _recovery("post.after-idle", "Once the API has closed its idle connections, the next POST works.", "REL-12",
              recovers, CaseScript((AppCall(POST), model.AWAY, model.BACK, Rest(2.1), AppCall(POST)), alone=True)),
)  # fmt: skip

CASES = (*FAULTED, *TIMES)
