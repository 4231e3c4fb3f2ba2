"""Which timeout, and how many cards: the searches among plans.

A candidate is good when a closed form says so. Where there is none it is simulated, and good only when 95 %
confidence says so: an answer is then a little smaller than the truth, never larger by luck. All candidates
meet the same latencies, so that they differ by their plan alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbook.timing import closed_form
from workbook.timing.checked import number
from workbook.timing.estimate import generator
from workbook.timing.interval import CONFIDENCE, at_least
from workbook.timing.totals import MOST_CARDS, after_each_card, drawn, totals
from workbook.timing.wording import INDENT, percent, span, times, wrapped

if TYPE_CHECKING:
    from workbook.timing.planner import Plan
    from workbook.timing.totals import Floats

CALLS = 200_000
"""How many simulated calls an answer rests on."""
LOOKS = (5_000, 40_000)
"""So many of them are looked at first: most candidates are far off."""
ROOM = 20_000_000
"""How many latencies are kept, 8 bytes each; where that is not enough, an answer rests on fewer calls."""
STEP = 0.1
"""The grid on which timeouts are looked for, in seconds."""
TAIL = (1 - CONFIDENCE) / 2


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What a search found.

    Attributes:
        value: seconds of the timeout or the number of cards; None when no timeout will do.
        calls: how many simulated calls the answer rests on; 0 when closed forms were enough.
        text: the answer in words.
    """

    value: float | None
    calls: int
    text: str

    def __repr__(self) -> str:
        return wrapped(self.text).replace(f"\n{INDENT}", "\n")


def timeout_for(plan: Plan, target: float, seed: int) -> Answer:
    """The largest timeout on the grid, up to the limit, that keeps the chance to miss at or under the target.

    They are tried from the largest down: with retries a larger timeout can be the better one, so halving could
    pass by the largest good one.
    """
    target, trial = number("target", target, most=1), Trial(plan, seed)
    for steps in range(int(plan.limit / STEP + 1e-9), 0, -1):
        found = replace(plan, timeout=round(steps * STEP, 9))
        if trial.keeps(found, target):
            lacking = percent(closed_form.lacking(found))
            told = (
                f"{_seconds(found.timeout)} is the largest timeout for which {_kept(plan, target)}; at least one card"
            )
            return Answer(
                found.timeout, trial.calls, f"{told} is then missing in {lacking} of calls{_basis(trial.calls)}."
            )
    told = f"There is no timeout of {span(STEP)} or more for which {_kept(plan, target)}{_basis(trial.calls)}."
    return Answer(None, trial.calls, f"{told} {NEXT}")


NEXT = "Fetch the cards concurrently, or fewer of them, or with fewer retries."


class Trial:
    """Candidates that all meet the same latencies, which are drawn when the first candidate needs them.

    Attributes:
        calls: how many simulated calls have been used; 0 while closed forms are enough.
    """

    def __init__(self, plan: Plan, seed: int) -> None:
        self.calls = 0
        self._plan, self._rng = plan, generator(seed)
        self._latencies: Floats = np.empty(0)

    def keeps(self, plan: Plan, target: float) -> bool:
        """Whether the chance to miss is at or under the target."""
        if (exact := closed_form.missed(plan)) is not None:
            return exact <= target
        if not self.calls:
            self._draw()
        for look in LOOKS:
            if _surely_above(totals(self._latencies[:look], plan)[0], plan, target):
                return False
        return _surely_kept(totals(self._latencies, plan)[0], plan, target)

    def _draw(self) -> None:
        cards, attempts = self._plan.cards, self._plan.retries + 1
        self.calls = min(CALLS, ROOM // (cards * attempts))
        # Drawn with the calls last and then turned: what is added up lies side by side.
        self._latencies = np.moveaxis(self._plan.latency.draw(self._rng, (cards, attempts, self.calls)), 2, 0)


def cards_for(plan: Plan, target: float, seed: int) -> Answer:
    """How many cards fit, 0 to 100, with the chance to miss at or under the target."""
    target, most = number("target", target, most=1), replace(plan, cards=MOST_CARDS)
    calls, fits = 0, 0
    for cards, (total, _lost) in enumerate(
        after_each_card(drawn(plan.latency, generator(seed), CALLS), CALLS, most), start=1
    ):
        candidate = replace(plan, cards=cards)
        exact = closed_form.missed(candidate)
        calls = CALLS if exact is None else calls
        if not (_surely_kept(total, candidate, target) if exact is None else exact <= target):
            break
        fits = cards
    more = " or more" if fits == MOST_CARDS else ""
    fit = "fits" if fits == 1 else "fit"
    told = f"{times(fits, 'card')}{more} {fit}: with as many, {_kept(plan, target)}"
    if not fits:
        told = f"Not even one card fits: with one, the chance to miss {span(plan.limit)} is above {percent(target)}"
    return Answer(fits, calls, f"{told}{_basis(calls)}.")


def _surely_kept(total: Floats, plan: Plan, target: float) -> bool:
    """So few calls are over that a chance above the target has been excluded."""
    return 1 - at_least(_over(total, plan) + 1, len(total), target) <= TAIL


def _surely_above(total: Floats, plan: Plan, target: float) -> bool:
    """So many calls are over that a chance at or under the target has been excluded."""
    return at_least(_over(total, plan), len(total), target) < TAIL


def _over(total: Floats, plan: Plan) -> int:
    return int(np.count_nonzero(total > plan.limit))


def _seconds(timeout: float | None) -> str:
    return span(timeout or 0.0)


def _kept(plan: Plan, target: float) -> str:
    return f"the chance to miss {span(plan.limit)} is at most {percent(target)}"


def _basis(calls: int) -> str:
    return f" ({times(calls, 'simulated call')}, 95 % confidence)" if calls else " (without simulating)"
