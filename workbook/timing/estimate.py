"""What simulating a plan found: the chance to miss the limit, the chance that a card is missing, how long it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbook.timing import closed_form
from workbook.timing.bins import INNER, counted
from workbook.timing.checked import number, whole
from workbook.timing.interval import interval
from workbook.timing.totals import added, drawn
from workbook.timing.verdict import Judgement, Spread, rank
from workbook.timing.wording import INDENT, percent, wrapped

if TYPE_CHECKING:
    from workbook.timing.bins import Bin
    from workbook.timing.planner import Plan
    from workbook.timing.totals import Flags, Floats

CHUNK = 1 << 15
"""So many calls are simulated at once: their arrays stay in a processor's cache."""
MOST_CALLS = 10_000_000
"""Their totals take 80 MB."""
MOST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """What came of simulating a plan.

    Attributes:
        plan: what was simulated.
        seed: of all that was drawn.
        judgement: the verdict on the limit, with the chance to miss it (`share`), its interval (`low`, `high`), the
            quantiles (`spread`) and the steps of a picture (`bins`).
        lacking: how many calls lacked at least one card, whether they were in time or not.
    """

    plan: Plan
    seed: int
    judgement: Judgement
    lacking: int

    @property
    def calls(self) -> int:
        """How many calls were simulated."""
        return self.judgement.count

    @property
    def missed(self) -> float:
        """The chance to miss the limit, as it was simulated."""
        return self.judgement.share

    @property
    def missed_between(self) -> tuple[float, float]:
        """Where the true chance to miss lies, with 95 % confidence."""
        return interval(self.judgement.over, self.calls)

    @property
    def card_missing(self) -> float:
        """The chance that at least one card is missing, as it was simulated."""
        return self.lacking / self.calls

    @property
    def card_missing_between(self) -> tuple[float, float]:
        """Where the true chance that a card is missing lies, with 95 % confidence."""
        return interval(self.lacking, self.calls)

    @property
    def text(self) -> str:
        """The estimate in words."""
        exact = self.plan.exact()
        told = "" if exact is None else f"by its closed form, the chance to miss is {percent(exact)}"
        return f"{self.judgement.text}\n{INDENT}{wrapped(self._missing, told)}"

    @property
    def _missing(self) -> str:
        if self.plan.timeout is None:
            return "no card is ever missing: no GET is given up"
        low, high = map(percent, self.card_missing_between)
        exact = percent(closed_form.lacking(self.plan))
        told = f"at least one card missing: {percent(self.card_missing)} of calls"
        return f"{told} ({low} to {high}; by its closed form {exact})"

    def __repr__(self) -> str:
        return self.text


def simulate(plan: Plan, calls: int, seed: int, target: float) -> Estimate:
    """Simulate so many calls of a plan, in pieces that fit the cache.

    Raises:
        ParameterError: `calls` is not 1 to 10,000,000, `seed` no whole number of 0 or more, or `target` no share.
    """
    target, rng = number("target", target, most=1), generator(seed)
    total, lacking = np.empty(whole("calls", calls, least=1, most=MOST_CALLS)), 0
    for start in range(0, calls, CHUNK):
        piece = total[start : start + CHUNK]
        piece[:], cards = added(drawn(plan.latency, rng, len(piece)), len(piece), plan)
        lacking += int(np.count_nonzero(cards))
    return Estimate(plan, seed, _judged(plan, total, target), lacking)


def generator(seed: int) -> np.random.Generator:
    """A source of random numbers that is the same for the same seed.

    Raises:
        ParameterError: it is no whole number of 0 or more.
    """
    return np.random.default_rng(whole("seed", seed, least=0, most=MOST_SEED))


def _judged(plan: Plan, total: Floats, target: float) -> Judgement:
    late = total > plan.limit
    ranks = [rank(percentile, len(total)) for percentile in (50, 99, 100)]
    spread = Spread(*np.partition(total, ranks)[ranks].tolist())
    return Judgement(plan.bound, plan.words, len(total), int(late.sum()), spread, _binned(total, late), target=target)


def _binned(total: Floats, late: Flags) -> tuple[Bin, ...]:
    steps = np.searchsorted(INNER, total)  # to the left, as bisect_left does
    return counted(*({at: int(n) for at, n in enumerate(np.bincount(one)) if n} for one in (steps[~late], steps[late])))
