"""The plan of a call that fetches one sdkInput for each card, and the chance that it takes too long.

passEntries() has 20 s for all its GETs (X-ENTRIES-3). Whether that is enough depends on how long one GET
takes, how many there are, whether they run at the same time, and when one is given up. A plan holds these
choices; simulating it a million times, or a closed form where there is one, gives the chance.

What a plan assumes: the GETs' latencies are independent, and a GET that runs beside nine others is as fast
as one that runs alone. A network that is down for all of them at once is worse than any figure here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, log, ulp
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbook.base.values import choice, durations, number, quoted, whole
from workbook.checks.timing.verdict import (
    EDGES,
    INNER,
    TARGET,
    Judgement,
    Spread,
    interval,
    make_bins,
    percent,
    rank,
    span,
    times,
    wrap_sentences,
)
from workbook.errors import ParameterError
from workbook.flows.messages import Limit, limit_of

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Where = NDArray[np.intp] | slice
# Takes a card's number, an attempt's number and the calls that make it; returns these attempts' latencies.
LatencySource = Callable[[int, int, Where], Floats]


# How long one GET takes: a distribution of latencies in seconds, from the reader's own numbers.
#
# A log-normal has the long tail that networks show and needs two numbers that every dashboard has. Resampling
# takes recorded latencies as they are and knows nothing that they do not hold: no GET is ever slower than the
# slowest recorded one.


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
                f"for a latency that never varies use Plan.measured([{median:g}])."
            )
        sigma = (log(p99) - log(median)) / NormalDist().inv_cdf(0.99)  # p99 is that many sigmas up
        for name, value in (("median", median), ("p99", p99), ("sigma", sigma)):
            object.__setattr__(self, name, value)

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> Floats:
        """An array of latencies in seconds."""
        seconds = rng.standard_normal(shape)
        seconds *= self.sigma
        np.exp(seconds, out=seconds)
        seconds *= self.median
        return seconds

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

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> Floats:
        """An array of latencies in seconds."""
        return np.asarray(self.durations)[rng.integers(len(self.durations), size=shape)]

    def cdf(self, seconds: float) -> float:
        """The chance that one GET takes at most this long."""
        return bisect_right(self.durations, seconds) / len(self.durations)


Latency: TypeAlias = LogNormal | Resampled
# The steps, in seconds, in which a timeout is advised.
STEP = 0.1
# How the cards' GETs are made.
GETS = ("one by one", "concurrent")


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """How a call fetches its cards' sdkInputs.

    Attributes:
        latency: how long one GET takes: a `LogNormal`; for measured durations use `Plan.measured`.
        cards: how many GETs there are, one for each card, 1 to 100.
        gets: "one by one" or "concurrent".
        timeout: seconds after which an attempt is given up; None waits for ever.
        retries: how often a GET that was given up is made again, 0 to 10; without a timeout none is given up.
        overhead: seconds that pass before the first GET.
        limit: seconds for the whole call; taking exactly that long is in time.
        call: which call it is, for the verdict.

    Raises:
        ParameterError: one of these is not what it may be.
    """

    latency: Latency
    cards: int = 10
    gets: str = "one by one"
    timeout: float | None = None
    retries: int = 0
    overhead: float = 0.0
    limit: float = 20.0
    call: str = "pass_entries"

    def __post_init__(self) -> None:
        if not isinstance(self.latency, LogNormal | Resampled):
            raise ParameterError(
                f"latency is {quoted(self.latency)}. Give LogNormal(median=…, p99=…), in seconds; "
                "for measured durations use Plan.measured([…])."
            )
        limit_of(self.call)
        checked = {
            "cards": whole("cards", self.cards, least=1, most=100),
            "gets": choice("gets", self.gets, GETS),
            "timeout": None if self.timeout is None else number("timeout", self.timeout, above=True),
            "retries": whole("retries", self.retries, least=0, most=10),
            "overhead": number("overhead", self.overhead),
            "limit": number("limit", self.limit, above=True),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def measured(cls, seconds: Iterable[float], **settings: Any) -> Plan:
        """A plan whose GETs take as long as measured ones did, each as likely as any other.

        Args:
            seconds: the measured durations.
            settings: those of `Plan`, such as `cards=5`.

        Raises:
            ParameterError: there is no duration, or one of these is not what it may be.
        """
        return cls(Resampled(seconds), **settings)

    @property
    def bound(self) -> Limit:
        """The limit that the verdict is about: the call's own, with this plan's seconds."""
        return replace(limit_of(self.call), seconds=self.limit)

    def __repr__(self) -> str:
        return f"Plan: {self.words}\nNext: .chance(), .simulate(), .advice()."

    @property
    def words(self) -> str:
        """The plan in words."""
        timeout = "without a timeout" if self.timeout is None else f"each given up after {span(self.timeout)}"
        retries = f", then made again up to {times(self.retries, 'time')}" if self.timeout and self.retries else ""
        overhead = f", {span(self.overhead)} beforehand" if self.overhead else ""
        return f"{times(self.cards, 'card')} {self.gets}, {timeout}{retries}{overhead}"

    def exact(self) -> float | None:
        """The chance to miss the limit where there is a closed form, else None."""
        if self.overhead > self.limit:
            return 1.0
        if longest_call(self) <= self.limit:
            return 0.0
        if self.gets == "concurrent" or self.cards == 1:
            return 1 - _card_in_time(self) ** self.cards
        return None

    def simulate(self, calls: int = 1_000_000, seed: int = 7, *, target: float = TARGET) -> Estimate:
        """Simulate this number of calls, in pieces that fit the cache; the same seed gives the same estimate.

        Raises:
            ParameterError: `calls` is not 1 to 10,000,000, `seed` no whole number of 0 or more, `target` no share.
        """
        share_allowed = number("target", target, most=1)
        rng = np.random.default_rng(whole("seed", seed, least=0, most=2**63 - 1))
        total = np.empty(whole("calls", calls, least=1, most=10_000_000))  # at most 80 MB
        lacking, at_once = 0, 1 << 15  # the arrays of so many calls stay in a processor's cache

        def draw(_card: int, _attempt: int, where: Where) -> Floats:
            return self.latency.draw(rng, len(piece) if isinstance(where, slice) else len(where))

        for start in range(0, calls, at_once):
            piece = total[start : start + at_once]
            piece[:], cards = add_up(self, len(piece), draw)
            lacking += int(np.count_nonzero(cards))
        late = total > self.limit
        ranks = [rank(percentile, calls) for percentile in (50, 99, 100)]
        spread = Spread(*np.partition(total, ranks)[ranks].tolist())
        steps = np.searchsorted(INNER, total)  # to the left, as bisect_left does
        within, over = (np.bincount(part, minlength=len(EDGES) - 1).tolist() for part in (steps[~late], steps[late]))
        bins = make_bins(within, over)
        missed = int(late.sum())
        share = missed / calls
        todo = " ".join(advice.text for advice in self.advice(share))
        if share <= TARGET:
            todo = "Nothing to do: at most one call in a thousand takes so long."
        elif not todo:
            todo = "No other choice in this plan helps: make each GET faster, or fetch for fewer cards."
        judgement = Judgement(self.bound, self.words, calls, missed, spread, bins, target=share_allowed, todo=todo)
        return Estimate(self, seed, judgement, lacking)

    def chance(self, calls: int = 50_000) -> float:
        """The chance to miss the limit: by its closed form where there is one, else simulated."""
        exact = self.exact()
        return self.simulate(calls).missed if exact is None else exact

    def advice(self, share: float | None = None) -> tuple[PlanAdvice, ...]:
        """Single changes that make fewer calls miss the limit; empty where at most one in a thousand does.

        A change is advised only where it cannot make the chance to miss larger, whatever the latencies are: GETs side
        by side end no later than one by one; fewer repetitions end no later; and with the advised timeout even the
        worst case is in time. Nor is a change advised that would leave out more than one card in ten, unless this plan
        does so already: a list in time that mostly lacks a card is no help.

        Args:
            share: the chance to miss the limit, where it is known already.
        """
        if (self.chance() if share is None else share) <= TARGET:
            return ()
        advised = []
        if self.overhead > self.limit:
            advised.append(
                PlanAdvice(f"Begin the GETs at once, not after {span(self.overhead)}.", replace(self, overhead=0.0))
            )
        if self.gets == "one by one" and self.cards > 1:
            at_once = "Fetch the cards' sdkInputs at the same time instead of one by one."
            advised.append(PlanAdvice(at_once, replace(self, gets="concurrent")))
        shorter = self._shorter()
        if shorter is not None and shorter.timeout is not None:
            advised.append(
                PlanAdvice(f"Give each GET up after {span(shorter.timeout)}; a list may then lack a card.", shorter)
            )
        if self.timeout is not None and self.retries:
            fewer = [replace(self, retries=retries) for retries in range(self.retries)]
            chosen = next((plan for plan in reversed(fewer) if longest_call(plan) <= self.limit), fewer[0])
            again = f"at most {times(chosen.retries, 'time')}" if chosen.retries else "not again"
            advised.append(PlanAdvice(f"Make a GET that was given up {again}.", chosen))
        return tuple(advice for advice in advised if _keeps_the_cards(advice.plan) or not _keeps_the_cards(self))

    def _shorter(self) -> Plan | None:
        """This plan with the largest timeout whose worst case is in time; None if that is no shorter than now.

        The timeout is at most the 9 s that an app waits for its back end (assumed): limits nest, from short to long
        (REL-5).
        """
        rows = (1 if self.gets == "concurrent" else self.cards) * (self.retries + 1)
        steps = int(min((self.limit - self.overhead) / rows, 9.0) / STEP + 1e-9)
        plans = (replace(self, timeout=round(number * STEP, 9)) for number in range(steps, max(steps - 2, 0), -1))
        # sums round, so where the first step does not fit the next one may
        fits = next((plan for plan in plans if longest_call(plan) <= self.limit), None)
        longer = fits is not None and (self.timeout is None or self.timeout > (fits.timeout or 0.0))
        return fits if longer else None


@dataclass(frozen=True, slots=True)
class PlanAdvice:
    """One change of a plan.

    Attributes:
        text: what to do, as a sentence.
        plan: the plan that follows it.
    """

    text: str
    plan: Plan


def _keeps_the_cards(plan: Plan) -> bool:
    """Whether at most one card in ten is left out (assumed); a list that seldom lacks a card is better than none."""
    return _share_given_up(plan) ** (plan.retries + 1) <= 0.1  # one in ten


# How long a call takes and which cards it lacks, given how long each attempt of each GET would take.
#
# This is the only place that knows what a timeout and a retry cost. An attempt that takes longer than the timeout is
# given up after exactly the timeout and made again, as often as the plan allows; when the last one is given up
# too, that card is missing from the list. The times are added up in the order in which they pass, so that an
# event-by-event simulation with the same latencies comes to the same total, to the last bit.


def add_up(plan: Plan, calls: int, latency: LatencySource) -> tuple[Floats, Counts]:
    """Each call's total in seconds, and how many cards it lacks; a latency is asked for where an attempt is made."""
    start = np.full(calls, plan.overhead)
    total, lacking = start.copy(), np.zeros(calls, dtype=np.int64)
    for card in range(plan.cards):
        end, lost = _fetch(total if plan.gets == "one by one" else start, partial(latency, card), plan)
        np.maximum(total, end, out=total)
        lacking += lost
    return total, lacking


def _fetch(began: Floats, latency: Callable[[int, Where], Floats], plan: Plan) -> tuple[Floats, Flags]:
    """When a card's GET that started at `began` is over, and whether its last attempt was given up."""
    timeout = inf if plan.timeout is None else plan.timeout
    took = latency(0, slice(None))
    end, late = began + np.minimum(took, timeout), took > timeout
    for attempt in range(1, plan.retries + 1):
        (where,) = late.nonzero()
        if not len(where):
            break
        took = latency(attempt, where)
        end[where] += np.minimum(took, timeout)
        late[where] = took > timeout
    return end, late


# Chances that need no simulation, because they can be written down.
#
# With q the chance that one attempt is given up, a GET ends after j given up attempts and one that is not, or
# after all attempts were given up. So the chance that one card is in time is a short sum; cards fetched at the
# same time are independent, so theirs is its power. Only cards fetched one by one have no such form, unless even
# their worst case fits or not even the best does.


def chance_lacking(plan: Plan) -> float:
    """The chance that at least one card is missing, because all attempts of its GET were given up."""
    lost = _share_given_up(plan) ** (plan.retries + 1)
    return 1 - (1 - lost) ** plan.cards


def longest_call(plan: Plan) -> float:
    """The longest that a call can take, in seconds; infinite without a timeout."""
    if plan.timeout is None:
        return inf
    rows = 1 if plan.gets == "concurrent" else plan.cards
    total = plan.overhead
    for _ in range(rows * (plan.retries + 1)):
        total += plan.timeout  # added up as the simulation does, so that both round alike
    return total


def _share_given_up(plan: Plan) -> float:
    return 0.0 if plan.timeout is None else 1 - plan.latency.cdf(plan.timeout)


def _card_in_time(plan: Plan) -> float:
    """The chance that one card is in time; it is asked only where the worst case, giving up all attempts, is late."""
    if plan.timeout is None:
        return plan.latency.cdf(_room(plan.overhead, plan.limit))
    given_up, chance, spent = _share_given_up(plan), 0.0, plan.overhead
    for attempt in range(plan.retries + 1):
        chance += given_up**attempt * plan.latency.cdf(min(plan.timeout, _room(spent, plan.limit)))
        spent += plan.timeout
    return chance


def _room(spent: float, limit: float) -> float:
    """The longest latency that is still in time after `spent` seconds, as the rounded sum of both would say."""
    return limit - spent + ulp(limit) / 2


# What simulating a plan found: the chance to miss the limit, the chance that a card is missing, how long it takes.


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
    def card_missing(self) -> float:
        """The chance that at least one card is missing, as it was simulated."""
        return self.lacking / self.calls

    @property
    def text(self) -> str:
        """The estimate in words."""
        exact = self.plan.exact()
        closed = "" if exact is None else f"by its closed form, the chance to miss is {percent(exact)}"
        missing = "no card is ever missing: no GET is given up"
        if self.plan.timeout is not None:
            low, high = map(percent, interval(self.lacking, self.calls))
            lacking = percent(chance_lacking(self.plan))
            share = f"at least one card missing: {percent(self.card_missing)} of calls"
            missing = f"{share} ({low} to {high}; by its closed form {lacking})"
        return f"{self.judgement.text}\n      {wrap_sentences(missing, closed)}"

    def __repr__(self) -> str:
        return self.text
