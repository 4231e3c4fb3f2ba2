"""What a client can be told: times in seconds, sizes in bytes, its clock. Checked when given."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from workbook.api.retry import RetryPolicy, check_seconds
from workbook.errors import ConfigurationError

__all__ = ["Clock", "Options", "SystemClock", "Timeouts"]

_SHORTEST, _LONGEST = 0.001, 3600.0
_LARGEST_BODY = 1 << 30


class Clock(Protocol):
    """The seam for time: only differences of `now` count."""

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
        await anyio.sleep(seconds)

    def __repr__(self) -> str:
        return "SystemClock()"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long single steps of an attempt may take, in seconds; the deadline bounds their sum.

    Attributes:
        connect: making a connection, TLS included.
        read: waiting for the next bytes.
        write: sending the next bytes.
        pool: waiting for a free connection.

    Raises:
        ConfigurationError: a value is out of range.
    """

    connect: float = 5.0
    read: float = 10.0
    write: float = 5.0
    pool: float = 5.0

    def __post_init__(self) -> None:
        for name in ("connect", "read", "write", "pool"):
            check_seconds(f"timeouts.{name}", getattr(self, name), least=_SHORTEST, most=_LONGEST)

    def within(self, remaining: float) -> dict[str, float]:
        """The same, none longer than what remains; by name."""
        return {
            "connect": min(self.connect, remaining),
            "read": min(self.read, remaining),
            "write": min(self.write, remaining),
            "pool": min(self.pool, remaining),
        }


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
    deadline: float = 15.0
    max_body: int = 1_048_576
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        check_seconds("deadline", self.deadline, least=_SHORTEST, most=_LONGEST)
        if type(self.max_body) is not int or not 1 <= self.max_body <= _LARGEST_BODY:
            message = f"max_body is {self.max_body!r:.40}. Allowed: a whole number of bytes, 1 to {_LARGEST_BODY}."
            raise ConfigurationError(message)
        for name, kind in (("timeouts", Timeouts), ("retries", RetryPolicy)):
            if not isinstance(getattr(self, name), kind):
                message = f"{name} is {getattr(self, name)!r:.40}. Allowed: {kind.__name__}(...)."
                raise ConfigurationError(message)
