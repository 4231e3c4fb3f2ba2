"""Virtual time: one clock for a run, its back end and the network behind it, and the calls of an extension."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class VirtualClock:
    """A run's clock, and the `clock` of a client in it: time passes only where it is spent, and nobody waits.

    It counts whole nanoseconds, so that parts whose sum is exactly a limit are in time.
    """

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds since it was made."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._now = self.after(seconds)

    async def asleep(self, seconds: float) -> None:
        """Let time pass, in the async client."""
        self.sleep(seconds)

    def after(self, seconds: float) -> float:
        """The time in so many seconds."""
        return round(self._now + seconds, 9)

    def move(self, to: float) -> None:
        """Make it this time, back or on: what two parties do at the same time is computed one after the other."""
        self._now = to

    @contextmanager
    def side_by_side(self) -> Iterator[Callable[[], None]]:
        """Do several things at once: call the yielded function before each; the slowest decides the time."""
        began = self._now
        ends = [began]

        def next_one() -> None:
            ends.append(self._now)
            self._now = began

        try:
            yield next_one
        finally:
            self._now = max(*ends, self._now)
