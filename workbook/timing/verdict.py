"""The verdict: whether a call keeps its limit, in one form for all four ways to know.

Measured, recorded, simulated and planned durations all end in a `Judgement`. It never claims more than the
data carry: beside the share that was over stands the interval in which the true share lies with 95 %
confidence, and where none was over, the share that this many calls cannot exclude.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, log, log1p
from typing import TYPE_CHECKING

from workbook.errors import ParameterError
from workbook.flows.limits import Limit
from workbook.flows.limits import limit as limit_of
from workbook.timing.advice import advice
from workbook.timing.bins import Bin, binned
from workbook.timing.checked import durations as checked_durations
from workbook.timing.checked import number, shown
from workbook.timing.interval import CONFIDENCE, interval
from workbook.timing.wording import percent, span, times, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TARGET = 0.001
"""The share of calls that may be over, unless a caller says otherwise: one in a thousand (assumed)."""
LITTLE_ROOM = 0.8
"""From this share of the limit on, a call that is still in time has little room left (assumed)."""
MANY = 100
"""From as many calls on a 99th percentile is more than the worst of them."""


class Verdict(StrEnum):
    """What is to be said about a limit."""

    PASS = "pass"  # noqa: S105  # a verdict, no password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Spread:
    """How durations lie, in seconds: each is one that occurred (nearest rank).

    Attributes:
        p50: half of the calls took at most this long.
        p99: 99 of 100 calls took at most this long.
        worst: the longest.
    """

    p50: float
    p99: float
    worst: float

    @classmethod
    def of(cls, ascending: Sequence[float]) -> Spread:
        """The spread of one or more durations in ascending order."""
        return cls(*(ascending[rank(percentile, len(ascending))] for percentile in (50, 99, 100)))


def rank(percentile: int, count: int) -> int:
    """Where among `count` ascending values a percentile stands, from 0 on; whole numbers, so nothing is rounded."""
    return -(-percentile * count // 100) - 1


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """Whether a call keeps its limit.

    Attributes:
        limit: what was asked of it.
        label: which series of calls this is, in words; may be empty.
        count: how many calls there were.
        over: how many took longer than the limit; exactly the limit is in time (assumed).
        spread: median, 99th percentile and worst, in seconds.
        bins: the durations counted in fixed steps, for a picture.
        exact: the durations are simulated and come out the same every time, so there is no interval.
        target: the share that may be over.
    """

    limit: Limit
    label: str
    count: int
    over: int
    spread: Spread
    bins: tuple[Bin, ...] = ()
    exact: bool = False
    target: float = TARGET
    low: float | None = field(init=False)
    """The smallest true share that these calls allow, with 95 % confidence; None when exact."""
    high: float | None = field(init=False)
    """The largest one; None when exact."""

    def __post_init__(self) -> None:
        low, high = (None, None) if self.exact else interval(self.over, self.count, CONFIDENCE)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def judgement(self) -> Judgement:
        """Itself, so that whatever holds one judgement is read alike."""
        return self

    @property
    def share(self) -> float:
        """The share of the calls that were over, 0 to 1."""
        return self.over / self.count

    @property
    def measured(self) -> float:
        """What the call takes, as one figure in seconds: the worst of fewer than 100, else the 99th percentile."""
        return self.spread.p99 if self.count >= MANY else self.spread.worst

    @property
    def used(self) -> float:
        """How much of the limit the worst call used; 1 is all of it, more is too much."""
        return round(self.spread.worst / self.limit.seconds, 9)  # 0.08 of 0.1 is 0.8, whatever binary fractions say

    @property
    def verdict(self) -> Verdict:
        """Fail: more than the target was over. Warn: some were, or one came within a fifth of the limit."""
        if self.over:
            return Verdict.FAIL if self.share > self.target else Verdict.WARN
        return Verdict.WARN if self.used >= LITTLE_ROOM else Verdict.PASS

    @property
    def advice(self) -> str:
        """What to do, empty when the verdict is pass."""
        return "" if self.verdict is Verdict.PASS else advice(self.limit.call)

    @property
    def name(self) -> str:
        """The call, and which series of it."""
        return f"{self.limit.call}, {self.label}" if self.label else self.limit.call

    @property
    def limit_text(self) -> str:
        """The limit: "100 ms"."""
        return span(self.limit.seconds)

    @property
    def used_text(self) -> str:
        """How much of the limit the worst call used: "81 %"."""
        return percent(self.used)

    @property
    def share_text(self) -> str:
        """The share of the calls that were over: "1.5 %"."""
        return percent(self.share)

    @property
    def finding(self) -> str:
        """How many were over, and what these calls cannot tell."""
        if self.exact:
            return f"{_of(self.over, self.count)} over {self.limit_text} (simulated: the same every time)"
        if not self.over:
            return f"{_of(0, self.count)} over {self.limit_text}; {self._not_excluded}"
        return f"{_of(self.over, self.count)} over {self.limit_text}: {self.share_text} ({self._between})"

    @property
    def _between(self) -> str:
        low, high = percent(self.low or 0.0), percent(self.high or 0.0)
        return f"{f'{low} to {high}' if low != high else 'to the digits shown'} with 95 % confidence"

    @property
    def _not_excluded(self) -> str:
        told = f"up to {percent(self.high or 0.0)} cannot be excluded"
        if not 0 < self.target < (self.high or 0.0):
            return told
        enough = ceil(log((1 - CONFIDENCE) / 2) / log1p(-self.target))
        return f"{told} ({percent(self.target)} takes {times(enough, 'call')} with none over)"

    @property
    def text(self) -> str:
        """The judgement in words, in lines of at most 110 characters."""
        told = [f"{self.verdict.upper()}  {self.name}: {self.finding}", f"{self.took}; {self._basis}"]
        if self.verdict is Verdict.FAIL:
            told.append(f"missed means: {self.limit.missed}")
        elif self.verdict is Verdict.WARN and not self.over:
            told.append(f"little room: the worst used {self.used_text} of the limit")
        return wrapped(*told, self.advice)

    @property
    def took(self) -> str:
        """How long the calls took; a 99th percentile only where there are enough of them to have one."""
        if self.count == 1:
            return f"took {span(self.spread.worst)}"
        percentile = f"99th percentile {span(self.spread.p99)}, " if self.count >= MANY else ""
        return f"median {span(self.spread.p50)}, {percentile}worst {span(self.spread.worst)}"

    @property
    def _basis(self) -> str:
        return f"{self.limit.rule} ({self.limit.source})"

    def __repr__(self) -> str:
        return self.text


def judge(
    durations: Iterable[float],
    limit: Limit | str,
    *,
    label: str = "",
    exact: bool = False,
    target: float = TARGET,
) -> Judgement:
    """Judge durations in seconds against a limit, or against the limit of the call of this name.

    `exact` is for durations that the virtual clock gave: they are the same every time, so no interval is told.

    Raises:
        ParameterError: there is no duration, one is not a finite number of 0 or more, or the limit or target is none.
    """
    bound = limited(limit)
    ascending = sorted(checked_durations(durations))
    over = sum(one > bound.seconds for one in ascending)
    share = number("target", target, most=1)
    bins = binned(ascending, bound.seconds)
    return Judgement(bound, label, len(ascending), over, Spread.of(ascending), bins, exact, share)


def limited(limit: Limit | str) -> Limit:
    """A limit, or the limit of the call of this name.

    Raises:
        ParameterError: it is neither.
    """
    if isinstance(limit, Limit):
        return limit
    if isinstance(limit, str):
        return limit_of(limit)
    raise ParameterError(f"The limit is {shown(limit)}. Give a call's name such as 'status', or a Limit.")


def _of(over: int, count: int) -> str:
    return f"{f'{over:,}' if over else 'none'} of {count:,}"
