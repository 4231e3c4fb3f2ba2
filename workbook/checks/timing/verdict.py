"""The verdict: whether a call keeps its limit, in one form for all four ways to know.

Measured, recorded, simulated and planned durations all end in a `Judgement`. It never claims more than the
data carry: it gives the share of calls over the limit, with the interval in which the true share lies with
95 % confidence. Where none was over, it gives the share that this many calls cannot exclude.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor, log10, sqrt
from statistics import NormalDist
from textwrap import wrap

from workbook.base.values import durations as checked_durations
from workbook.base.values import number, quoted
from workbook.errors import ParameterError
from workbook.flows.messages import Limit, limit_of
from workbook.flows.trace import Trace, handler_calls

# Durations counted in fixed steps, ten in each decade, so that the same data always give the same picture.
#
# The steps are the preferred numbers R10 (1, 1.25, 1.6, 2 ...). They are short to write, and both of the
# wallet's limits, 100 ms and 20 s, stand on one. A step holds its upper end, as a limit does: exactly 100 ms is
# in the step that ends there.

# From 10 µs to 1000 s. What is shorter counts in the first step, what is longer in the last.
EDGES = (
    *(float(f"{step}e{decade}") for decade in range(-5, 3) for step in (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)),
    1000.0,
)
# Where one step ends and the next begins.
INNER = EDGES[1:-1]


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


def count_by_step(durations: Iterable[float], seconds: float) -> tuple[Bin, ...]:
    """The steps that hold any duration, ascending; `seconds` is the limit."""
    within, over = [0] * (len(EDGES) - 1), [0] * (len(EDGES) - 1)
    for duration in durations:
        (over if duration > seconds else within)[bisect_left(INNER, duration)] += 1
    counts = zip(EDGES[:-1], EDGES[1:], within, over, strict=True)
    return tuple(Bin(low, high, inside + late, late) for low, high, inside, late in counts if inside + late)


CONFIDENCE = 0.95
# How many standard deviations from the middle that confidence reaches, on both sides.
_REACH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def interval(over: int, count: int) -> tuple[float, float]:
    """Between which shares the true one lies, with 95 % confidence, when `over` of `count` were seen (Wilson, 1927).

    `count` is 1 or more and `over` between 0 and it; both ends are between 0 and 1 and contain `over / count`.
    """
    share, weight = over / count, _REACH**2 / count
    middle = (share + weight / 2) / (1 + weight)
    reach = sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return max(0.0, min(middle - reach, share)), min(1.0, max(middle + reach, share))


# What to do about a limit that is missed or nearly missed: one sentence for each call.


def advice(call: str) -> str:
    """What to do when this call takes too long."""
    match call:
        case "status":
            return (
                "Read the sdkInput that the app put into secure storage (X-CACHE-1), make no network call in status(), "
                "and leave all other work to passEntries()."
            )
        case "pass_entries" | "remote_pass_entries":
            return (
                "Fetch the cards' sdkInputs at the same time instead of one by one, shorten the timeout of each GET, "
                "and repeat fewer of them; a list that lacks a card is better than none."
            )
        case "generate_add_payment_pass_request_for_pass_entry_with_identifier":
            return (
                "Post sdkOutput once, with a deadline well below the limit, over a connection that is open already, "
                "and give the back end a deadline that is shorter still; a POST is not sent again (REL-1)."
            )
        case "provision":
            return (
                "Post sdkOutput once, with a deadline well below the limit, and return nil while there is time: an "
                "answer that comes too late is ignored (B-DEL-3)."
            )
        case _:
            return "Do less in this call, or do it earlier."


# Durations and shares as a person says them: three digits that count, and the unit that fits.


def span(seconds: float) -> str:
    """A duration: 0.0123 is "12.3 ms"."""
    up = 0.9995  # what would be written as 1000 of a unit belongs to the next larger one
    per_second, sign = (1.0, "s") if seconds >= up else (1e3, "ms") if seconds >= up / 1e3 else (1e6, "µs")
    return f"{significant(seconds * per_second)} {sign}"


def percent(share: float) -> str:
    """A share from 0 to 1: 0.071 is "7.1 %"; what is not 0 never reads 0, what is not 1 never reads 100."""
    least = 1e-9  # a share nearer to 0 or 1 is written as "under" or "over" this bound
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    if share > 1 or share <= 1 / 2:
        return f"{significant(share * 100, 2)} %" if share >= least else f"under {significant(least * 100)} %"
    rest = max(1 - share, least)
    decimals = max(0, 1 - floor(log10(rest * 100)))
    text = f"{(1 - rest) * 100:.{decimals}f}"
    return f"{'' if rest > least else 'over '}{text.rstrip('0').rstrip('.') if decimals else text} %"


def times(count: int, noun: str) -> str:
    """A number of things: "1 call", "1,000,000 calls"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def significant(number: float, digits: int = 3) -> str:
    """A number of 0 or more in this many digits, without an exponent and without trailing zeros."""
    rounded = float(f"{number:.{digits}g}")
    if rounded >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    text = f"{rounded:.12f}".rstrip("0").rstrip(".")
    return text or "0"


def wrap_sentences(*sentences: str) -> str:
    """Sentences as lines of at most 110 characters, all but the first indented; an empty one is left out."""
    joint = "\N{NO-BREAK SPACE}"  # no line ends between a number and its unit
    together = (re.sub(r"(?<=\d) (?=(%|µs|ms|s)(\W|$))", joint, sentence) for sentence in sentences)
    return "\n      ".join(line for sentence in together for line in wrap(sentence, 104)).replace(joint, " ")


# The share of calls that may be over, unless a caller says otherwise: one in a thousand (assumed).
TARGET = 0.001


class LimitVerdict(StrEnum):
    """Whether a limit is kept."""

    PASS = "pass"  # noqa: S105  # a verdict, no password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Spread:
    """How durations are spread, in seconds: each figure is one that occurred (nearest rank).

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
    """The index, from 0, of a percentile among `count` ascending values; whole numbers, so nothing is rounded."""
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

    @property
    def low(self) -> float | None:
        """The smallest true share that these calls allow, with 95 % confidence; None when exact."""
        return None if self.exact else interval(self.over, self.count)[0]

    @property
    def high(self) -> float | None:
        """The largest one; None when exact."""
        return None if self.exact else interval(self.over, self.count)[1]

    @property
    def share(self) -> float:
        """The share of the calls that were over, 0 to 1."""
        return self.over / self.count

    @property
    def measured(self) -> float:
        """What the call takes, as one figure in seconds: the worst of fewer than 100, else the 99th percentile."""
        return self.spread.p99 if self.has_percentile else self.spread.worst

    @property
    def has_percentile(self) -> bool:
        """Whether there are enough calls for the 99th percentile to be more than the worst of them."""
        return self.count >= 100

    @property
    def used(self) -> float:
        """How much of the limit the worst call used; 1 is all of it, more is too much."""
        return round(self.spread.worst / self.limit.seconds, 9)  # 0.08 of 0.1 is 0.8, whatever binary fractions say

    @property
    def verdict(self) -> LimitVerdict:
        """Fail: more than the target was over. Warn: some were, or the worst used 80 % of the limit (assumed).

        A single call that was measured warns too: it is too few to tell.
        """
        if self.over:
            return LimitVerdict.FAIL if self.share > self.target else LimitVerdict.WARN
        return LimitVerdict.WARN if self.used >= 0.8 or self.is_alone else LimitVerdict.PASS

    @property
    def is_alone(self) -> bool:
        """Whether a single call was measured, which is too few to tell."""
        return self.count == 1 and not self.exact

    @property
    def advice(self) -> str:
        """What to do, empty when the verdict is pass."""
        return "" if self.verdict is LimitVerdict.PASS else advice(self.limit.call)

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
        counted_over = f"{f'{self.over:,}' if self.over else 'none'} of {self.count:,} over {self.limit_text}"
        if self.exact:
            return f"{counted_over} (simulated: the same every time)"
        low, high = interval(self.over, self.count)
        if self.over:
            lowest, highest = percent(low), percent(high)
            between = f"{lowest} to {highest}" if lowest != highest else "to the digits shown"
            return f"{counted_over}: {self.share_text} ({between} with 95 % confidence)"
        text = f"{counted_over}; up to {percent(high)} cannot be excluded"
        if 0 < self.target < high:
            enough = ceil(_REACH**2 * (1 - self.target) / self.target)  # the least count whose `high` is the target
            text += f" ({percent(self.target)} takes {times(enough, 'call')} with none over)"
        return text

    @property
    def text(self) -> str:
        """The judgement in words, in lines of at most 110 characters."""
        basis = f"{self.limit.rule} ({self.limit.source})"
        sentences = [f"{self.verdict.upper()}  {self.name}: {self.finding}", f"{self.took}; {basis}"]
        if self.verdict is LimitVerdict.FAIL:
            sentences.append(f"missed means: {self.limit.missed}")
        elif self.used >= 0.8 and not self.over:
            sentences.append(f"little room: the worst used {self.used_text} of the limit")
        elif self.is_alone and not self.over:
            return wrap_sentences(*sentences, "one call is too few to tell: measure more")
        return wrap_sentences(*sentences, self.advice)

    @property
    def took(self) -> str:
        """How long the calls took; a 99th percentile only where there are enough calls for one."""
        if self.count == 1:
            return f"took {span(self.spread.worst)}"
        percentile = f"99th percentile {span(self.spread.p99)}, " if self.has_percentile else ""
        return f"median {span(self.spread.p50)}, {percentile}worst {span(self.spread.worst)}"

    def __repr__(self) -> str:
        return self.text


def judge_durations(
    durations: Iterable[float],
    limit: Limit | str,
    *,
    label: str = "",
    exact: bool = False,
    target: float = TARGET,
) -> Judgement:
    """Judge durations in seconds against a limit, or against the limit of the call of this name.

    `exact` is for durations that the virtual clock gave: they are the same every time, so there is no interval.

    Raises:
        ParameterError: there is no duration, one is not a finite number of 0 or more, or `limit` or `target` is wrong.
    """
    bound = find_limit(limit)
    ascending = sorted(checked_durations(durations))
    over = sum(duration > bound.seconds for duration in ascending)
    share = number("target", target, most=1)
    bins = count_by_step(ascending, bound.seconds)
    return Judgement(bound, label, len(ascending), over, Spread.of(ascending), bins, exact, share)


def find_limit(limit: Limit | str) -> Limit:
    """A limit, or the limit of the call of this name.

    Raises:
        ParameterError: it is neither.
    """
    if isinstance(limit, Limit):
        return limit
    if isinstance(limit, str):
        return limit_of(limit)
    raise ParameterError(f"The limit is {quoted(limit)}. Give a call's name such as 'status', or a Limit.")


# Simulated time: what the virtual clock says of each call of a handler; exact, and the same every time.


def judge_trace(trace: Trace) -> list[Judgement]:
    """Each call of a handler in this trace against its limit (X-STATUS-3, X-ENTRIES-3), in the order of the calls.

    A call that never answered is left out: no time is known for it.
    """
    return [
        judge_durations([call.seconds], limit_of(call.name), label="simulated", exact=True)
        for call in handler_calls(trace)
        if call.seconds is not None
    ]
