"""Durations counted in fixed steps, ten in each decade, so that the same data always give the same picture.

The steps are the preferred numbers R10 (1, 1.25, 1.6, 2 ...). They are short to write, and both of the
wallet's limits, 100 ms and 20 s, stand on one. A step holds its upper end, as a limit does: exactly 100 ms is
in the step that ends there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

R10 = ("1", "1.25", "1.6", "2", "2.5", "3.15", "4", "5", "6.3", "8")
EDGES = (*(float(f"{step}e{decade}") for decade in range(-5, 3) for step in R10), 1000.0)
"""From 10 µs to 1000 s. What is shorter counts in the first step, what is longer in the last."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One step.

    Attributes:
        low: seconds; durations of exactly this belong to the step before.
        high: seconds; durations of exactly this belong here.
        count: how many durations are in it.
        over: how many of those are longer than the limit.
    """

    low: float
    high: float
    count: int
    over: int


def binned(durations: Iterable[float], seconds: float) -> tuple[Bin, ...]:
    """The steps that hold any duration, ascending; `seconds` is the limit."""
    over, within = Counter[int](), Counter[int]()
    for one in durations:
        (over if one > seconds else within)[bisect_left(INNER, one)] += 1
    return counted(within, over)


INNER = EDGES[1:-1]
"""Where one step ends and the next begins."""


def counted(within: Mapping[int, int], over: Mapping[int, int]) -> tuple[Bin, ...]:
    """The steps from how many durations each number of a step has, in time and over it."""
    numbers = sorted({*within, *over})
    return tuple(Bin(EDGES[at], EDGES[at + 1], within.get(at, 0) + over.get(at, 0), over.get(at, 0)) for at in numbers)
