"""Chances that need no simulation, because they can be written down.

With q the chance that one attempt is given up, a GET ends after j given up attempts and one that is not, or
after all attempts were given up. So the chance that one card is in time is a short sum; cards fetched at the
same time are independent, so theirs is its power. Only cards fetched one by one have no such form, unless even
their worst case fits or not even the best does.
"""

from __future__ import annotations

from math import inf, ulp
from typing import TYPE_CHECKING

from workbook.timing.totals import CONCURRENT

if TYPE_CHECKING:
    from workbook.timing.planner import Plan


def missed(plan: Plan) -> float | None:
    """The chance that a call takes longer than the limit; None when there is no closed form."""
    if plan.overhead > plan.limit:
        return 1.0
    if worst(plan) <= plan.limit:
        return 0.0
    if plan.gets == CONCURRENT or plan.cards == 1:
        return 1 - _card_in_time(plan) ** plan.cards
    return None


def lacking(plan: Plan) -> float:
    """The chance that at least one card is missing, because all attempts of its GET were given up."""
    lost = _given_up(plan) ** (plan.retries + 1)
    return 1 - (1 - lost) ** plan.cards


def worst(plan: Plan) -> float:
    """The longest that a call can take, in seconds; infinite without a timeout."""
    if plan.timeout is None:
        return inf
    rows = 1 if plan.gets == CONCURRENT else plan.cards
    total = plan.overhead
    for _ in range(rows * (plan.retries + 1)):
        total += plan.timeout  # added up as the simulation does, so that both round alike
    return total


def _given_up(plan: Plan) -> float:
    return 0.0 if plan.timeout is None else 1 - plan.latency.cdf(plan.timeout)


def _card_in_time(plan: Plan) -> float:
    """The chance for one card; where its worst case fits, nothing is asked here, so giving up all attempts is late."""
    if plan.timeout is None:
        return plan.latency.cdf(_room(plan.overhead, plan.limit))
    given_up, chance, spent = _given_up(plan), 0.0, plan.overhead
    for attempt in range(plan.retries + 1):
        chance += given_up**attempt * plan.latency.cdf(min(plan.timeout, _room(spent, plan.limit)))
        spent += plan.timeout
    return chance


def _room(spent: float, limit: float) -> float:
    """The longest latency that is still in time after `spent` seconds, as the rounded sum of both would say."""
    return limit - spent + ulp(limit) / 2
