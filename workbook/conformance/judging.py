"""Questions to what was seen, each a generator of misses: small, pure, and put together by the cases.

A missing precondition is a miss and not a pass: a judge that found nothing to judge says so.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.conformance.script import POST
from workbook.conformance.seen import Broke
from workbook.conformance.target import IN_BODY
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Arrived, Call, Seen

    OfCall = Callable[[Call], Iterable[Miss]]
    OfRequest = Callable[[Arrived], Iterable[Miss]]

TELL = "Take anything but a 200 with an sdkInput that is not empty as a failure, and tell the app so."
WAYS = (
    f"{TELL} There are two ways to tell it: answer with a status that is no success, or, where your app reads the body "
    'of every answer and finds a field such as "error" or "ok" there, say failures = "body" in the configuration.'
)
HURRY = "Set a limit for the whole call, retries and body included, that ends well below the wallet's 20 seconds."
ONCE = "Never send a POST again by itself once it may have left: the API may have carried it out."
AFRESH = (
    "Keep nothing of a broken exchange: no dead connection, no kept failure. Where a circuit breaker opens on purpose, "
    "give the seconds until it lets a call through again as [timeouts] recovery."
)
UNANSWERED = frozenset({Broke.REFUSED, Broke.LOST, Broke.NO_HTTP, Broke.SPOILT, Broke.UNTRUSTED, Broke.NO_TLS})
"""How a call breaks that the back end dropped instead of answering it."""
SAYS_NO = ("error", "errors", "failure", "reason")
SAYS_YES = ("ok", "success", "successful")
"""Fields by which answers with a status of success tell a failure (assumed)."""


def but_last(judge: Judge) -> Judge:
    """The same question to all calls but the last, which shows whether everything works again."""
    return lambda seen: judge(replace(seen, calls=seen.calls[:-1]))


def recovers(seen: Seen) -> Iterator[Miss]:
    """The last call, made once everything is well again, succeeds."""
    last = seen.calls[-1]
    if not last.succeeded:
        rule = "API-11" if last.operation == POST else "API-10"
        yield Miss(f"a success {seen.recovery:g} s after everything is well again", outcome(last), AFRESH, rule)


def all_of(*judges: Judge) -> Judge:
    """Every miss of every judge, in their order."""

    def judge(seen: Seen) -> Iterator[Miss]:
        for one in judges:
            yield from one(seen)

    return judge


def each_request(operation: str, question: OfRequest) -> Judge:
    """Put a question to each request of this operation; that none came is a miss too."""

    def judge(seen: Seen) -> Iterator[Miss]:
        came = seen.came(operation)
        if not came:
            yield Miss(f"a {operation} at the API", _nothing(seen), "Let the back end ask the API for each attempt.")
        for one in came:
            yield from question(one)

    return judge


def each_call(operation: str, question: OfCall) -> Judge:
    """Put a question to each of the phone's calls of this operation."""

    def judge(seen: Seen) -> Iterator[Miss]:
        for one in seen.asked(operation):
            yield from question(one)

    return judge


def works(operation: str) -> Judge:
    """Each call of this operation succeeds: the precondition of everything else."""
    todo = "Make the plain case work first: the API answered with 200 and an sdkInput."
    return each_call(operation, lambda call: [] if call.succeeded else [Miss("a success", outcome(call), todo)])


def one_works(operation: str) -> Judge:
    """One call for each card succeeds at least: a back end may refuse what comes while it is busy with that card."""

    def judge(seen: Seen) -> Iterator[Miss]:
        asked = seen.asked(operation)
        lucky = {call.instrument for call in asked if call.succeeded}
        if unlucky := [call for call in asked if call.instrument not in lucky]:
            todo = "Serve several calls at once; of two for one card, one at least has to succeed."
            yield Miss("a success for each card", outcome(unlucky[0]), todo)

    return judge


def one_request(operation: str, todo: str, rule: str = "") -> Judge:
    """Exactly one request of this operation reaches the API; `rule` is what more of them break."""

    def judge(seen: Seen) -> Iterator[Miss]:
        if len(came := seen.came(operation)) > 1:
            yield Miss(_times(1, operation), _times(len(came), operation), todo, rule)

    return all_of(each_request(operation, lambda _one: []), judge)


def once(todo: str) -> Judge:
    """No sdkOutput reaches the API more often than the phone sent it (REL-1)."""

    def judge(seen: Seen) -> Iterator[Miss]:
        sent = Counter(call.sent for call in seen.asked(POST))
        came = Counter(one.sdk_output for one in seen.came(POST))
        again = max((came[output] for output in sent if came[output] > sent[output]), default=0)
        if again or came.total() > sent.total():
            told = f"{again} with the same sdkOutput" if again else _times(came.total(), POST)
            yield Miss(_one_each(sent.total()), told, todo, "REL-1")

    return judge


not_again = once(ONCE)


def no_success(seen: Seen) -> Iterator[Miss]:
    """No call is told that it succeeded, and none gets an sdkInput (REL-6)."""
    for call in seen.calls:
        if takes_for_success(call, seen):
            yield Miss("a failure that the app can tell", outcome(call), ways_to_tell(call), "REL-6")


def answered(seen: Seen) -> Iterator[Miss]:
    """No call is dropped without an answer (REL-9)."""
    for call in seen.calls:
        if call.broke in UNANSWERED:
            todo = "Answer each call: a connection that breaks tells the app nothing that it could do."
            yield Miss("an answer that says that it failed", outcome(call), todo, "REL-9")


def in_time(seen: Seen) -> Iterator[Miss]:
    """Each call that nobody cancelled is answered within the bound (REL-5)."""
    for call in seen.calls:
        if call.seconds > seen.bound or call.broke is Broke.LATE:
            yield Miss(f"an answer within {seen.bound:g} s", outcome(call), HURRY, "REL-5")


def takes_for_success(call: Call, seen: Seen) -> bool:
    """Whether the app would take the answer for a success.

    A status of success is one, unless the configuration says that failures are told in the body, and it tells one.
    """
    return call.reported_success and not (seen.failures == IN_BODY and refuses(call))


def refuses(call: Call) -> bool:
    """Whether an answer says no, by its status, or by a field of its body where no sdkInput stands in it."""
    return not call.reported_success or (call.value is None and _says_that_it_failed(call.body))


def ways_to_tell(call: Call) -> str:
    """What to do about an answer that is taken for a success; where its body says no, there are two ways out."""
    return WAYS if refuses(call) else TELL


def _says_that_it_failed(body: bytes) -> bool:
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(said, dict):
        return False
    return any(said.get(name) for name in SAYS_NO) or any(said.get(name) is False for name in SAYS_YES)


def outcome(call: Call) -> str:
    """How a call ended, in words without a value."""
    if call.broke:
        more = f" ({call.why})" if call.why else ""
        return f"{call.broke.value}{more}, after {call.seconds:.1f} s"
    told = "no sdkInput where the configuration says" if call.value is None else "an empty sdkInput"
    with_value = f"an sdkInput of {len(call.value)} characters" if call.value else told
    more = f" ({call.why})" if call.why else ""
    return f"status {call.status}{more}, {with_value}, after {call.seconds:.1f} s"


def _one_each(taps: int) -> str:
    return "at most one POST" if taps == 1 else f"one POST for each tap, {taps} in all"


def _times(count: int, operation: str) -> str:
    return f"no {operation}" if count == 0 else f"one {operation}" if count == 1 else f"{count} {operation} requests"


def _nothing(seen: Seen) -> str:
    strays = ", ".join(f"{one.request.method} to another path" for one in seen.strays[:3])
    return strays or "no request reached the API"
