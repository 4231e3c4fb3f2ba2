"""One call of an extension's handler under way: how much time it has taken, and who listens.

The SDK, the storage and the network of a real phone find the process they run in by themselves. Here they find the
call: it stands in a context variable while the host calls a handler, and apart from that each stands alone.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from workbook.simulation.phone import Phone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.flows.messages import Event


class Call:
    """What one call has spent and seen.

    Attributes:
        phone: where it runs.
        later: the SDK is that of the later variant.
        spent: seconds that the call has taken so far.
        pace: called with each number of seconds as they are spent; by default nobody sleeps.
    """

    def __init__(
        self,
        phone: Phone,
        *,
        later: bool = True,
        tell: Callable[[float, Event], None] = lambda _at, _event: None,
        pace: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        self.phone = phone
        self.later = later
        self.spent = 0.0
        self.pace = pace
        self._tell = tell

    def spend(self, seconds: float) -> None:
        """Let time pass; counted in whole nanoseconds, so that parts which make up a limit exactly are in time."""
        self.spent = round(self.spent + seconds, 9)
        self.pace(seconds)

    def seen(self, event: Event) -> None:
        """Report what happens now."""
        self._tell(self.spent, event)

    @contextmanager
    def side_by_side(self) -> Iterator[Callable[[], None]]:
        """Several things at once: call what is given before each of them; the slowest decides how long it took."""
        began, ends, pace = self.spent, [self.spent], self.pace
        self.pace = lambda _seconds: None

        def next_one() -> None:
            ends.append(self.spent)
            self.spent = began

        try:
            yield next_one
        finally:
            self.spent, self.pace = max(*ends, self.spent), pace
            pace(self.spent - began)


CURRENT: ContextVar[Call | None] = ContextVar("call", default=None)


def current() -> Call:
    """The call under way, or one that stands alone on a new phone."""
    return CURRENT.get() or Call(Phone())


@contextmanager
def under_way(call: Call) -> Iterator[Call]:
    """Make `call` the current one."""
    token = CURRENT.set(call)
    try:
        yield call
    finally:
        CURRENT.reset(token)
