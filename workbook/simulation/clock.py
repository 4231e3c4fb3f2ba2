"""Virtual time: a heap of (time, ticket, item). The ticket breaks ties, so every run is the same run."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = TypeVar("Item")


class Clock(Generic[Item]):
    """Nobody sleeps: taking the next item moves `now` to that item's time, in seconds."""

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

    def __iter__(self) -> Iterator[Item]:
        """Each item when it is due, those put on the clock meanwhile included; `now` becomes its time."""
        heap = self._heap
        while heap:
            self.now, _ticket, item = heappop(heap)
            yield item
