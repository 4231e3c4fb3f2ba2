"""One call from its first attempt to its result: its limits, and a generator that does no I/O itself.

The generator yields what to do next (`Send`, `Sleep`) and receives the outcome (`Answer`, `Failure`, None). The sync
and the async client carry out the same steps, so the rules of retry and deadline exist once.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from random import Random
from threading import Lock
from typing import Protocol, TypeAlias

from workbook.api.protocol import ActivationData, Answer, ApiRequest, CallProblem, judge_answer
from workbook.base.secrecy import Secret
from workbook.base.values import number, whole
from workbook.errors import ConfigurationError, DeadlineError, MaybeSentError, NotSentError

# Which calls are retried and after which pause: full jitter, and a budget.
#
# A GET changes nothing, so it is retried where no answer came, and after a 429 or a 5xx (assumed). A POST may be
# carried out even when its answer is lost, so it is tried again only when it provably never left this machine (REL-1).


class FailureKind(Enum):
    """Why an attempt brought no answer; the value is the text for a message."""

    CONNECT = "no connection could be made"
    CONNECT_TIMEOUT = "connecting took too long"
    POOL_TIMEOUT = "no connection of the pool came free in time"
    UNSENDABLE = "the HTTP library refused to send the request"
    WRITE = "the connection broke while the request was being sent"
    WRITE_TIMEOUT = "sending took too long"
    READ = "the connection broke before the answer was complete"
    READ_TIMEOUT = "the answer took too long"
    PROTOCOL = "the peer closed early or did not speak HTTP"
    OTHER = "the exchange failed"
    DEADLINE = "the total deadline passed"


NEVER_SENT = frozenset(
    {FailureKind.CONNECT, FailureKind.CONNECT_TIMEOUT, FailureKind.POOL_TIMEOUT, FailureKind.UNSENDABLE}
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is retried, and the pauses between attempts.

    Attributes:
        attempts: most attempts of one call, the first included; 1 to 10.
        base: seconds; the first pause is drawn from 0 to this, and each further one from twice as much.
        cap: seconds; the longest pause drawn. A Retry-After that asks for more is obeyed, or the call given up.

    Raises:
        ConfigurationError: a value is out of range.

    Example:
        >>> wb.ActivationDataClient("https://api.example", "key", retries=wb.RetryPolicy(attempts=1)).close()
    """

    attempts: int = 3
    base: float = 0.1
    cap: float = 2.0

    def __post_init__(self) -> None:
        whole("retries.attempts", self.attempts, least=1, most=10)
        for name in ("base", "cap"):
            number(f"retries.{name}", getattr(self, name), most=3600.0, unit="seconds")


class RetryBudget:
    """Keeps a broken service from being flooded: a retry costs 1, a success gives 0.1 back, and it holds at most 10.

    One budget belongs to a client and all that were derived from it; it may be used from several threads.
    """

    __slots__ = ("_lock", "_tokens", "most", "refund")

    def __init__(self, most: float = 10.0, refund: float = 0.1) -> None:
        self.most = self._tokens = most
        self.refund = refund
        self._lock = Lock()

    def spend(self) -> bool:
        """Pay for one retry; False if too little is left."""
        with self._lock:
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True

    def earn(self) -> None:
        """Refund a part of a retry after a success."""
        if self._tokens < self.most:  # the usual call finds the budget full and needs no lock
            with self._lock:
                self._tokens = min(self.most, self._tokens + self.refund)

    def __repr__(self) -> str:
        return f"RetryBudget({self._tokens:.1f} of {self.most:.1f})"


def is_transient(method: str, ending: FailureKind | int) -> bool:
    """Whether this method may be tried again after this kind of failure or this status (REL-1)."""
    kind = FailureKind
    if method == "GET":
        lost = {kind.WRITE, kind.WRITE_TIMEOUT, kind.READ, kind.READ_TIMEOUT, kind.PROTOCOL}
        if ending in lost or (isinstance(ending, int) and (ending == 429 or 500 <= ending < 600)):
            return True
    return ending in NEVER_SENT and ending is not kind.UNSENDABLE  # a new connection may do


def delay(policy: RetryPolicy, attempt: int, random: Random, retry_after: float | None = None) -> float:
    """Seconds to wait after attempt 1, 2, ...: full jitter, but at least the Retry-After."""
    jitter = random.random() * min(policy.cap, policy.base * 2.0 ** (attempt - 1))
    return max(jitter, retry_after or 0.0)


def seconds_to_wait(retry_after: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After: seconds, or an HTTP date; any other value is ignored.

    Args:
        retry_after: the header's value.
        now: the server's own Date; without it a date cannot be turned into seconds.

    Returns:
        Seconds, 0 or more and finite, or None.
    """
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])  # more digits are nonsense, and far beyond every cap
    then = http_date(text)
    return max(0.0, (then - now).total_seconds()) if then and now else None


def http_date(text: str | None) -> datetime | None:
    """An HTTP date as an aware time, or None when it is none."""
    from email.utils import parsedate_to_datetime  # slow to import, and few answers hold a date

    try:
        parsed = parsedate_to_datetime(text or "")
        return parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


class Clock(Protocol):
    """A source of time; only differences of `now` count."""

    def now(self) -> float:
        """Seconds that never run backwards."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait, in the sync client."""
        ...

    async def asleep(self, seconds: float) -> None:
        """Wait, in the async client."""
        ...


class SystemClock:
    """Real time."""

    def now(self) -> float:
        """Seconds of the system's monotonic clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block the thread."""
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Wait without blocking the event loop."""
        import anyio  # takes 50 ms, and only the async client needs it

        await anyio.sleep(seconds)

    def __repr__(self) -> str:
        return "SystemClock()"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The longest duration of a GET and of each step of an attempt, in seconds; the deadline bounds their sum.

    Attributes:
        get: one GET with its whole answer: so short that it can be asked again (assumed). A POST has the deadline.
        connect: making a connection, TLS included.
        read: waiting for the next bytes.
        write: sending the next bytes.
        pool: waiting for a free connection.

    Raises:
        ConfigurationError: a value is out of range.

    Example:
        >>> wb.ActivationDataClient("https://api.example", "key", timeouts=wb.Timeouts(get=1.0)).close()
    """

    connect: float = 5.0
    read: float = 8.0
    write: float = 5.0
    pool: float = 5.0
    get: float = 2.5

    def __post_init__(self) -> None:
        for name in ("connect", "read", "write", "pool", "get"):
            number(f"timeouts.{name}", getattr(self, name), least=0.001, most=3600.0, unit="seconds")

    def within(self, remaining: float) -> dict[str, float]:
        """The timeouts of the steps by name, none longer than `remaining` seconds."""
        return {name: min(getattr(self, name), remaining) for name in ("connect", "read", "write", "pool")}


@dataclass(frozen=True, slots=True)
class Options:
    """The limits of a call.

    Attributes:
        timeouts: seconds per step.
        deadline: seconds for the whole call, retries and body included; less than the wallet's 20 (REL-5).
        max_body: most bytes of a decoded answer.
        retries: how often and how patiently a call is tried again.

    Raises:
        ConfigurationError: a value is out of range or of the wrong type.
    """

    timeouts: Timeouts = field(default_factory=Timeouts)
    deadline: float = 8.0
    max_body: int = 1_048_576
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        number("deadline", self.deadline, least=0.001, most=3600.0, unit="seconds")
        whole("max_body", self.max_body, least=1, most=1 << 30)
        for name, kind in (("timeouts", Timeouts), ("retries", RetryPolicy)):
            if not isinstance(getattr(self, name), kind):
                message = f"{name} is {getattr(self, name)!r:.40}. Give {kind.__name__}(...)."
                raise ConfigurationError(message)


@dataclass(frozen=True, slots=True)
class Send:
    """Send the request once, and read the answer to its end.

    Attributes:
        request: what to send.
        remaining: seconds that it may take.
        options: timeouts and the cap on the body.
    """

    request: ApiRequest
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
    """An attempt without an answer.

    Attributes:
        kind: how it ended.
        sent: False when no byte of the request can have left.
    """

    kind: FailureKind
    sent: bool


Action: TypeAlias = Send | Sleep
AttemptOutcome: TypeAlias = Answer | Failure | None


class _Call:
    """The state of a call between its attempts."""

    __slots__ = ("attempts", "may_have_left", "now", "options", "request", "started")

    def __init__(self, request: ApiRequest, options: Options, now: Callable[[], float]) -> None:
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
        """Seconds before the next attempt, or None if there is none."""
        ending = outcome.kind if isinstance(outcome, Failure) else outcome.status
        if self.attempts >= self.options.retries.attempts or not is_transient(self.request.method, ending):
            return None
        retry_after = None
        if isinstance(outcome, Answer):  # a date in Retry-After is relative to the answer's own Date
            retry_after = seconds_to_wait(outcome.header("retry-after"), http_date(outcome.header("date")))
        seconds = delay(self.options.retries, self.attempts, random, retry_after)
        return seconds if seconds < self.remaining() else None


def exchange(
    request: ApiRequest,
    options: Options,
    secret: Secret,
    *,
    now: Callable[[], float],
    random: Random,
    budget: RetryBudget,
) -> Generator[Action, AttemptOutcome, ActivationData]:
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
        limit = min(remaining, options.timeouts.get) if request.method == "GET" else remaining
        outcome = yield Send(request, limit, options)
        assert outcome is not None  # noqa: S101  # only a Sleep is answered with None
        if limit < remaining and isinstance(outcome, Failure) and outcome.kind is FailureKind.DEADLINE:
            outcome = replace(outcome, kind=FailureKind.READ_TIMEOUT if outcome.sent else FailureKind.CONNECT_TIMEOUT)
        call.note(outcome)
        pause = call.pause(outcome, random)
        if pause is None or not budget.spend():
            # only the last outcome is judged: the search for the key in a large body costs time before the deadline
            result = _problem(outcome, call) if isinstance(outcome, Failure) else judge_answer(outcome, secret)
            if isinstance(result, ActivationData):
                budget.earn()
                return result
            raise result.error(request.redacted(), call.elapsed(), call.attempts)
        yield Sleep(pause)
        remaining = call.remaining()
    raise _too_late(call).error(request.redacted(), call.elapsed(), call.attempts)


def _problem(failure: Failure, call: _Call) -> CallProblem:
    if failure.kind is FailureKind.DEADLINE or call.remaining() <= 0:
        return _too_late(call)
    if failure.kind in NEVER_SENT and not call.may_have_left:
        message = f"{failure.kind.value}. Nothing was sent: calling again is safe. Check base_url and the network."
        return CallProblem(NotSentError, message)
    advice = (
        "A GET changes nothing: call again."
        if call.request.method == "GET"
        else "The client never repeats such a POST (REL-1)."
    )
    return CallProblem(MaybeSentError, f"{failure.kind.value}. The request may have arrived. {advice}")


def _too_late(call: _Call) -> CallProblem:
    fate = "The request may have arrived." if call.may_have_left else "Nothing was sent."
    message = f"the total deadline of {call.options.deadline:g} s passed. {fate}"
    return CallProblem(DeadlineError, message, {"sent": call.may_have_left})
