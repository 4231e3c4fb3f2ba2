"""Virtual time: a heap of (time, ticket, item). The ticket breaks ties, so every run is the same run."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Clock(Generic[Item]):
    """Nobody sleeps: asking for the next item moves `now` to that item's time, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self._ticket = 0
        self._heap: list[tuple[float, int, Item]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def after(self, delay: float, item: Item) -> None:
        """Put `item` on the clock, due in `delay` seconds (0 or more)."""
        self._ticket += 1
        heappush(self._heap, (self.now + delay, self._ticket, item))

    def next(self) -> Item:
        """The item due next; `now` becomes its time.

        Raises:
            IndexError: nothing is due any more.
        """
        self.now, _ticket, item = heappop(self._heap)
        return item
