"""Which calls are retried and after which pause: two tables, full jitter, and a budget.

A GET changes nothing, so it is retried after every failure that may pass. A POST may be carried out even when its
answer is lost, so it is tried again only when it provably never left this machine (REL-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from random import Random
from threading import Lock

from workbook.values import number, whole

_MOST_ATTEMPTS = 10
_LONGEST_PAUSE = 3600.0
_LONGEST_NUMBER = 12  # digits; more is nonsense, and far beyond every cap


class Kind(Enum):
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


NEVER_SENT = frozenset({Kind.CONNECT, Kind.CONNECT_TIMEOUT, Kind.POOL_TIMEOUT, Kind.UNSENDABLE})

_WORTH_A_NEW_CONNECTION = NEVER_SENT - {Kind.UNSENDABLE}
_LOST = frozenset({Kind.WRITE, Kind.WRITE_TIMEOUT, Kind.READ, Kind.READ_TIMEOUT, Kind.PROTOCOL})
_TRANSIENT_KINDS: Mapping[str, frozenset[Kind]] = {
    "GET": _WORTH_A_NEW_CONNECTION | _LOST,
    "POST": _WORTH_A_NEW_CONNECTION,  # REL-1
}
_TRANSIENT_STATUSES: Mapping[str, frozenset[int]] = {
    "GET": frozenset({408, 425, 429, 500, 502, 503, 504}),
    "POST": frozenset(),  # an answer means that it arrived (REL-1)
}


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is retried, and the pauses between attempts.

    Attributes:
        attempts: most attempts of one call, the first included; 1 to 10.
        base: seconds; the first pause is drawn from 0 to this, and each further one from twice as much.
        cap: seconds; the longest pause drawn.
        retry_after_cap: seconds; the longest pause that an answer's Retry-After can ask for.

    Raises:
        ConfigurationError: a value is out of range.
    """

    attempts: int = 3
    base: float = 0.1
    cap: float = 2.0
    retry_after_cap: float = 5.0

    def __post_init__(self) -> None:
        whole("retries.attempts", self.attempts, least=1, most=_MOST_ATTEMPTS)
        for name in ("base", "cap", "retry_after_cap"):
            number(f"retries.{name}", getattr(self, name), most=_LONGEST_PAUSE, unit="seconds")


class RetryBudget:
    """Keeps a broken service from being flooded: a retry costs 1, a success gives 0.1 back, at most 10.

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


def is_transient(method: str, ending: Kind | int) -> bool:
    """Whether this method may be tried again after this kind of failure or this status (REL-1)."""
    if isinstance(ending, Kind):
        return ending in _TRANSIENT_KINDS[method]
    return ending in _TRANSIENT_STATUSES[method]


def delay(policy: RetryPolicy, attempt: int, random: Random, retry_after: float | None = None) -> float:
    """Seconds to wait after attempt 1, 2, ...: full jitter, but at least a capped Retry-After."""
    drawn = random.random() * min(policy.cap, policy.base * 2.0 ** (attempt - 1))
    asked = min(retry_after or 0.0, policy.retry_after_cap)
    return max(drawn, asked)


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
        return float(text[:_LONGEST_NUMBER]) if len(text) > _LONGEST_NUMBER else float(text)
    then = http_date(text)
    return max(0.0, (then - now).total_seconds()) if then and now else None


def http_date(text: str | None) -> datetime | None:
    """An HTTP date as an aware time, or None when it is none."""
    try:
        parsed = parsedate_to_datetime(text or "")
        return parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
