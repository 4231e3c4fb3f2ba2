"""How long one GET takes: a distribution of latencies, from the reader's own numbers.

A log-normal has the long tail that networks show and needs two numbers that every dashboard has. Resampling
takes recorded latencies as they are and knows nothing that they do not hold: no GET is ever slower than the
slowest recorded one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbook.errors import ParameterError
from workbook.timing.checked import durations, number
from workbook.timing.wording import span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Z99 = NormalDist().inv_cdf(0.99)
"""How many standard deviations the 99th percentile is above the median."""


class Latency(Protocol):
    """A distribution of the seconds that one GET takes; each GET is drawn independently of all others."""

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        """An array of latencies in seconds."""
        ...

    def cdf(self, seconds: float) -> float:
        """The chance that one GET takes at most this long."""
        ...


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Latencies whose logarithm is normally distributed.

    Attributes:
        median: seconds; half of all GETs take at most this long.
        p99: seconds; 99 of 100 GETs take at most this long.

    Raises:
        ParameterError: a number is not finite and above 0, or `p99` is not above `median`.
    """

    median: float
    p99: float
    sigma: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        median, p99 = (number(name, getattr(self, name), above=True) for name in ("median", "p99"))
        if p99 <= median:
            raise ParameterError(
                f"p99 is {span(p99)} and median {span(median)}. Give a p99 above the median; "
                f"for a latency that never varies use Resampled([{median:g}])."
            )
        for name, value in (("median", median), ("p99", p99), ("sigma", (log(p99) - log(median)) / Z99)):
            object.__setattr__(self, name, value)

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        """An array of latencies in seconds."""
        drawn = rng.standard_normal(shape)
        drawn *= self.sigma
        np.exp(drawn, out=drawn)
        drawn *= self.median
        return drawn

    def cdf(self, seconds: float) -> float:
        """The chance that one GET takes at most this long."""
        return NormalDist(log(self.median), self.sigma).cdf(log(seconds)) if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Resampled:
    """Recorded latencies, each as likely as any other.

    Attributes:
        durations: seconds, ascending.

    Raises:
        ParameterError: there is none, or one is not a finite number of 0 or more.
    """

    durations: tuple[float, ...]

    def __init__(self, durations_in_seconds: Iterable[float]) -> None:
        object.__setattr__(self, "durations", tuple(sorted(durations(durations_in_seconds))))

    def __repr__(self) -> str:
        first, last = self.durations[0], self.durations[-1]
        return f"Resampled({len(self.durations)} durations from {span(first)} to {span(last)})"

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> NDArray[np.float64]:
        """An array of latencies in seconds."""
        return np.asarray(self.durations)[rng.integers(len(self.durations), size=shape)]

    def cdf(self, seconds: float) -> float:
        """The chance that one GET takes at most this long."""
        return bisect_right(self.durations, seconds) / len(self.durations)
