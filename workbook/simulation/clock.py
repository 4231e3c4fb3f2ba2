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

    @property
    def due(self) -> float | None:
        """The time of the next item, in seconds; None when there is none."""
        return self._heap[0][0] if self._heap else None

    def after(self, delay: float, item: Item) -> int:
        """Put `item` on the clock, due in `delay` seconds (0 or more); the ticket can cancel it."""
        self._ticket += 1
        heappush(self._heap, (self.now + delay, self._ticket, item))
        return self._ticket

    def cancel(self, ticket: int | None) -> None:
        """Take an item off the clock; nothing happens when it was due already."""
        self._heap = sorted(entry for entry in self._heap if entry[1] != ticket)

    def replace(self, ticket: int | None, item: Item) -> None:
        """Let another item come in its stead, at its time; nothing happens when it was due already."""
        self._heap = [(at, number, item if number == ticket else known) for at, number, known in self._heap]

    def __iter__(self) -> Iterator[Item]:
        """Each item when it is due, those put on the clock meanwhile included; `now` becomes its time."""
        while self._heap:
            self.now, _ticket, item = heappop(self._heap)
            yield item
