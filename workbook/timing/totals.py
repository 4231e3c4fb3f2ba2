"""How long a call takes and which cards it lacks, given how long each attempt of each GET would take.

The one place that knows what a timeout and a retry cost. An attempt that takes longer than the timeout is
given up after exactly the timeout and made again, as often as the plan allows; when the last one is given up
too, that card is missing from the list. The times are added up in the order in which they pass, so that an
event by event simulation with the same latencies comes to the same total, to the last bit.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbook.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from workbook.timing.distribution import Latency

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Where = NDArray[np.intp] | slice
    Source = Callable[[int, int, Where], Floats]
    """From the number of a card, that of an attempt, and which calls make it, to these attempts' latencies."""

ALL = slice(None)
ONE_BY_ONE = "one by one"
CONCURRENT = "concurrent"
GETS = (ONE_BY_ONE, CONCURRENT)
MOST_CARDS = 100


class Policy(Protocol):
    """What of a plan decides how latencies add up."""

    @property
    def cards(self) -> int:
        """How many GETs one call makes."""

    @property
    def gets(self) -> str:
        """One of `GETS`."""

    @property
    def timeout(self) -> float | None:
        """Seconds after which an attempt is given up."""

    @property
    def retries(self) -> int:
        """How often a GET that was given up is made again."""

    @property
    def overhead(self) -> float:
        """Seconds that pass before the first GET."""


def drawn(latency: Latency, rng: np.random.Generator, calls: int) -> Source:
    """Latencies for so many calls, drawn when they are asked for."""

    def source(_card: int, _attempt: int, where: Where) -> Floats:
        return latency.draw(rng, calls if isinstance(where, slice) else len(where))

    return source


def totals(latencies: Floats, plan: Policy) -> tuple[Floats, Counts]:
    """Each call's total in seconds, and how many cards it lacks.

    `latencies` holds seconds, shaped (calls, cards, attempts): the plan's cards and 1 + retries attempts.

    Raises:
        ParameterError: it has another shape.
    """
    wanted = (plan.cards, plan.retries + 1)
    if latencies.ndim != 3 or latencies.shape[1:] != wanted:  # noqa: PLR2004  # calls, cards, attempts
        raise ParameterError(f"latencies has the shape {latencies.shape}. Give (calls, {wanted[0]}, {wanted[1]}).")
    return added(lambda card, attempt, where: latencies[where, card, attempt], len(latencies), plan)


def added(latency: Source, calls: int, plan: Policy) -> tuple[Floats, Counts]:
    """The same for so many calls, with latencies that are asked for only where an attempt is made."""
    cards = list(after_each_card(latency, calls, plan))
    return cards[-1][0], np.sum([lost for _total, lost in cards], axis=0, dtype=np.int64)


def after_each_card(latency: Source, calls: int, plan: Policy) -> Iterator[tuple[Floats, Flags]]:
    """The calls' totals with one card, with two and so on, and which calls lack that card.

    The array of totals is the same one each time: look at it before asking for the next.
    """
    start = np.full(calls, plan.overhead)
    total = start.copy()
    for card in range(plan.cards):
        end, lost = _one_card(total if plan.gets == ONE_BY_ONE else start, partial(latency, card), plan)
        np.maximum(total, end, out=total)
        yield total, lost


def _one_card(began: Floats, latency: Callable[[int, Where], Floats], plan: Policy) -> tuple[Floats, Flags]:
    """When a card's GET is over, having begun then; and whether its last attempt was given up."""
    timeout = inf if plan.timeout is None else plan.timeout
    took = latency(0, ALL)
    end, late = began + np.minimum(took, timeout), took > timeout
    for attempt in range(1, plan.retries + 1):
        (where,) = late.nonzero()
        if not len(where):
            break
        took = latency(attempt, where)
        end[where] += np.minimum(took, timeout)
        late[where] = took > timeout
    return end, late
