"""Time: the wallet waits 20 seconds. Also calls that run at the same time, and calls that the phone gives up."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.cases.fidelity import handed_on
from workbook.tools.conform.back_end.judging import (
    HAND_ON,
    SIDE_BY_SIDE,
    all_of,
    answered,
    in_time,
    no_success,
    one_works,
    recovers,
)
from workbook.tools.conform.back_end.model import (
    GET,
    POST,
    AppCall,
    CaseScript,
    Order,
    RelayGroup,
    Rest,
    Seen,
    both,
    relay_case,
)
from workbook.tools.harness.model import Miss, Root

# Every delay is a share of what the configuration allows the back end, never a number of seconds: a lesson with limits
# of 3.5 s and a real run with 20 s then ask for the same behaviour.

# Share of the wallet's time that the API takes for each answer where only the order of the calls matters (assumed);
# less where the back end itself would not wait so long.
BRIEF = 0.1


def _took(seen: Seen) -> float:
    """Seconds from the first call's beginning to the last one's end."""
    return max(call.ended for call in seen.calls) - min(call.began for call in seen.calls)


def list_in_time(seen: Seen) -> Iterator[Miss]:
    """Every card of the list is answered before the wallet gives up, though the API is slow.

    A failure in time keeps the limit too: a back end may give up a slow API sooner.
    """
    if (took := _took(seen)) > seen.bound:
        yield Miss(f"the whole list within {seen.bound:g} s", f"{took:.1f} s for {len(seen.calls)} cards", SIDE_BY_SIDE)
    yield from answered(seen)


def side_by_side(seen: Seen) -> Iterator[Miss]:
    """Calls for several cards do not wait for each other: together they take less than one after the other."""
    delay = min(BRIEF * seen.bound, seen.limit / 2)  # of each answer of the API, see Order.within
    if not any(call.succeeded for call in seen.calls):
        observed = "no success, though each answer of the API came within the back end's own limit"
        yield Miss("a success among the calls", observed, judging.MORE_TIME)
    elif (took := _took(seen)) > delay * len(seen.calls) * 0.45:  # two workers for six cards take half
        # One lane for all calls: whoever comes last of a few cardholders waits longer than the wallet does.
        one_lane = took > delay * len(seen.calls) * 0.9
        observed = f"{len(seen.calls)} calls took {took:.1f} s, {'one after the other' if one_lane else 'in few lanes'}"
        yield Miss("calls that run side by side", observed, SIDE_BY_SIDE, harms=one_lane)


def room_for_the_phone(seen: Seen) -> Iterator[Miss]:
    """The wallet counts from the tap, so the phone's own network has its share of the same 20 seconds."""
    nearly = 0.9 * seen.bound  # later, little is left for that network, and after 95 % nothing (assumed)
    for call in seen.calls:
        if nearly < call.seconds <= seen.bound and not call.broke:
            todo = f"End a call after {nearly:g} s at the latest: the rest is for the phone's own network."
            lost = call.seconds > 0.95 * seen.bound
            yield Miss(f"an answer within {nearly:g} s", judging.outcome(call), todo, harms=lost)


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
                yield Miss("the answer to its own sdkOutput", "another value", HAND_ON, root=Root.FOLLOWS)
                continue
            todo = "Keep each answer with the request that it answers, also when the card is the same."
            yield Miss("the answer to its own sdkOutput", judging.source_of(call.value, seen), todo)


def fails_while_away(seen: Seen) -> Iterator[Miss]:
    """The middle one of three calls meets no API: it fails, and in time."""
    middle = replace(seen, calls=seen.calls[1:2])
    yield from all_of(no_success, answered, in_time)(middle)


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

_budget, _concurrency = partial(relay_case, RelayGroup.BUDGET), partial(relay_case, RelayGroup.CONCURRENCY)
_recovery = partial(relay_case, RelayGroup.RECOVERY)
CASES = (
    *(_budget(f"{operation.lower()}.limit-{part}",
              f"A {operation} whose answer {words} ends before the wallet gives up (wallet).", "REL-5",
              all_of(in_time, judge, answered, room_for_the_phone),
              CaseScript((AppCall(operation),), (replace(order, operation=operation),)))
      for operation in (GET, POST) for part, (words, order, judge) in STALLS.items()),
    _budget("list.in-time", "A list of cards is there within the wallet's 20 s (X-ENTRIES-3).", "X-ENTRIES-3",
            list_in_time, _list(0.2), model.Need.SEVERAL_CARDS),
    _concurrency("list.side-by-side", "Calls for several cards do not wait for one another.", "REL-5",
                 all_of(answered, side_by_side), _list(BRIEF), model.Need.SEVERAL_CARDS),
    *(_budget(f"get.connections-{name}", f"96 GETs, six at a time,{words} do not each leave a connection to the API "
              "open.", "REL-5", connections_end,
              # at the end, time for a library to close a connection
              CaseScript((*model.EACH_WORKER, Rest(0.3)), orders, alone=True))
      for name, words, orders in (("end", "", ()),
                                  ("end-on-failure", " which the API refuses,", (Order(GET, fault="422"),)))),
    _concurrency("post.double-tap", "Two POSTs of a double tap each get their own answer.", "REL-4",
                 all_of(one_works(POST), handed_on, own_answers), CaseScript(DOUBLE_TAP)),
    _concurrency("post.reordered", "Answers that come in another order reach the right call.", "REL-4",
                 all_of(one_works(POST), own_answers), CaseScript(DOUBLE_TAP, POST_LATE)),
    _concurrency("post.given-up", "A POST that the phone gives up is not sent again.", "REL-1", judging.not_again,
                 CaseScript((*both(cancel=0.2), Rest(1.0)), POST_LATE)),
    _recovery("attempt.after-given-up", "After a POST that was given up the next attempt works.", "API-11", recovers,
              CaseScript((*both(cancel=0.2), Rest(1.0), *both()), POST_LATE)),
    *(_recovery(f"{operation.lower()}.api-away",
                f"While the API is away a {operation} fails in time, and works when it is back.",
                rule, all_of(fails_while_away, recovers),
                CaseScript((AppCall(operation), model.AWAY, AppCall(operation), model.BACK, Rest(), AppCall(operation)),
                           alone=True))
      for operation, rule in ((GET, "API-10"), (POST, "API-11"))),
    # Gateways close what was idle for a while, and the next call is a cardholder's. Some pools look only after 2 s
    # whether a connection is still open (assumed), so that much time passes.
    _recovery("post.after-idle", "Once the API has closed its idle connections, the next POST works.", "API-11",
              recovers, CaseScript((AppCall(POST), model.AWAY, model.BACK, Rest(2.1), AppCall(POST)), alone=True)),
)  # fmt: skip
