"""One call from its first attempt to its result, as a generator that does nothing itself.

It yields what is to be done (`Send`, `Sleep`) and is sent what came of it (`Answer`, `Failure`, None). The sync
and the async client carry out the same steps, so the rules of retry and deadline stand here, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from workbook.api.problem import Problem
from workbook.api.protocol import ActivationData, Answer, Request, judge
from workbook.api.retry import NEVER_SENT, Kind, RetryBudget, delay, http_date, is_transient, seconds_to_wait
from workbook.errors import DeadlineError, MaybeSentError, NotSentError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from random import Random

    from workbook.api.options import Options
    from workbook.api.secret import Secret

__all__ = ["Failure", "Outcome", "Send", "Sleep", "Step", "exchange"]


@dataclass(frozen=True, slots=True)
class Send:
    """Send the request once, and read the answer to its end.

    Attributes:
        request: what to send.
        remaining: seconds until the call's deadline.
        options: timeouts and the cap on the body.
    """

    request: Request
    remaining: float
    options: Options


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait.

    Attributes:
        seconds: how long.
    """

    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that brought no answer.

    Attributes:
        kind: how it ended.
        sent: False when no byte of the request can have left.
    """

    kind: Kind
    sent: bool


Step: TypeAlias = Send | Sleep
Outcome: TypeAlias = Answer | Failure | None


class _Call:
    """What is remembered from one attempt to the next."""

    __slots__ = ("attempts", "may_have_left", "now", "options", "request", "started")

    def __init__(self, request: Request, options: Options, now: Callable[[], float]) -> None:
        self.request, self.options, self.now = request, options, now
        self.started = now()
        self.attempts = 0
        self.may_have_left = False

    def elapsed(self) -> float:
        return self.now() - self.started

    def remaining(self) -> float:
        return self.options.deadline - self.elapsed()

    def note(self, outcome: Answer | Failure) -> None:
        self.attempts += 1
        self.may_have_left |= not isinstance(outcome, Failure) or outcome.sent

    def pause(self, outcome: Answer | Failure, random: Random) -> float | None:
        """Seconds before the next attempt, or None when there is to be none."""
        ending = outcome.kind if isinstance(outcome, Failure) else outcome.status
        if self.attempts >= self.options.retries.attempts or not is_transient(self.request.method, ending):
            return None
        seconds = delay(self.options.retries, self.attempts, random, _asked_for(outcome))
        return seconds if seconds < self.remaining() else None


def exchange(
    request: Request,
    options: Options,
    secret: Secret,
    *,
    now: Callable[[], float],
    random: Random,
    budget: RetryBudget,
) -> Generator[Step, Outcome, ActivationData]:
    """Drive one call.

    Args:
        request: what to send.
        options: timeouts, deadline, cap and retry policy.
        secret: the key, to be scrubbed from whatever comes back.
        now: the clock, in seconds.
        random: draws the jitter.
        budget: shared by all calls of a client.

    Yields:
        What is to be done next.

    Returns:
        The activation data.

    Raises:
        ActivationDataError: the call failed; the subclass says how.
    """
    call = _Call(request, options, now)
    remaining = options.deadline
    while remaining > 0:
        outcome = yield Send(request, remaining, options)
        assert outcome is not None  # noqa: S101 - the shells answer a Send with an outcome
        call.note(outcome)
        result = _problem(outcome, call) if isinstance(outcome, Failure) else judge(outcome, secret)
        if isinstance(result, ActivationData):
            budget.earn()
            return result
        pause = call.pause(outcome, random)
        if pause is None or not budget.spend():
            raise result.error(request.redacted(), call.elapsed(), call.attempts)
        yield Sleep(pause)
        remaining = call.remaining()
    raise _too_late(call).error(request.redacted(), call.elapsed(), call.attempts)


def _asked_for(outcome: Answer | Failure) -> float | None:
    """The seconds that an answer asks for; its own Date tells what its dates mean."""
    if isinstance(outcome, Failure):
        return None
    return seconds_to_wait(outcome.header("retry-after"), http_date(outcome.header("date")))


def _problem(failure: Failure, call: _Call) -> Problem:
    if failure.kind is Kind.DEADLINE or call.remaining() <= 0:
        return _too_late(call)
    if failure.kind in NEVER_SENT and not call.may_have_left:
        message = f"{failure.kind.value}. Nothing was sent: calling again is safe. Check base_url and the network."
        return Problem(NotSentError, message)
    advice = "Read again." if call.request.method == "GET" else "It is not sent again by itself (REL-1)."
    return Problem(MaybeSentError, f"{failure.kind.value}. The request may have arrived. {advice}")


def _too_late(call: _Call) -> Problem:
    fate = "The request may have arrived." if call.may_have_left else "Nothing was sent."
    message = f"the total deadline of {call.options.deadline:g} s passed. {fate}"
    return Problem(DeadlineError, message, {"sent": call.may_have_left})
