"""Questions to what was seen, each a generator of misses: small, pure, and put together by the cases.

A missing precondition is a miss and not a pass: a judge that found nothing to judge says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.conformance.seen import Broke
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.seen import Arrived, Call, Seen

    OfCall = Callable[[Call], Iterable[Miss]]
    OfRequest = Callable[[Arrived], Iterable[Miss]]


def but_last(judge: Judge) -> Judge:
    """The same question to all calls but the last, which shows whether everything works again."""
    return lambda seen: judge(replace(seen, calls=seen.calls[:-1]))


def recovers(seen: Seen) -> Iterator[Miss]:
    """The last call, made once everything is well again, succeeds."""
    if not seen.calls[-1].succeeded:
        todo = "Keep nothing of a broken exchange: no dead connection, no open breaker, no kept failure."
        yield Miss("a success once everything is well again", outcome(seen.calls[-1]), todo, "API-10")


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


def requests(operation: str, count: int, todo: str, rule: str = "") -> Judge:
    """Exactly so many requests of this operation reach the API."""

    def judge(seen: Seen) -> Iterator[Miss]:
        if len(came := seen.came(operation)) != count:
            yield Miss(_times(count, operation), _times(len(came), operation), todo, rule)

    return judge


def no_success(todo: str) -> Judge:
    """No call reports a success, and none hands over an sdkInput (REL-6)."""

    def judge(seen: Seen) -> Iterator[Miss]:
        for call in seen.calls:
            if call.reported_success:
                yield Miss("a failure that the app can tell", outcome(call), todo, "REL-6")

    return judge


def in_time(todo: str) -> Judge:
    """Each call that nobody cancelled is answered within the bound."""

    def judge(seen: Seen) -> Iterator[Miss]:
        for call in seen.calls:
            if call.seconds > seen.bound or call.broke is Broke.LATE:
                yield Miss(f"an answer within {seen.bound:g} s", outcome(call), todo, "REL-5")

    return judge


def outcome(call: Call) -> str:
    """How a call ended, in words without a value."""
    if call.broke:
        return f"{call.broke.value}, after {call.seconds:.1f} s"
    told = "no sdkInput where the configuration says" if call.value is None else "an empty sdkInput"
    with_value = f"an sdkInput of {len(call.value)} characters" if call.value else told
    return f"status {call.status}, {with_value}, after {call.seconds:.1f} s"


def _times(count: int, operation: str) -> str:
    return f"no {operation}" if count == 0 else f"one {operation}" if count == 1 else f"{count} {operation} requests"


def _nothing(seen: Seen) -> str:
    strays = ", ".join(f"{one.request.method} to another path" for one in seen.strays[:3])
    return strays or "no request reached the API"
