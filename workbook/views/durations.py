"""Durations on a scale that grows tenfold, with the limit as a line: the model that the text and the picture share.

Each series is a strip of its own below one scale, so that the builds of an extension, or a cold and a warm
start, are compared step by step. What is over the limit stands right of the line, is drawn in another form,
and is told in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from workbook.views.durations_page import figure
from workbook.views.plain import clean
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.timing.bins import Bin
    from workbook.timing.estimate import Estimate
    from workbook.timing.verdict import Judgement

MARKS = {"pass": "✓", "warn": "!", "fail": "✗"}
"""The sign of each verdict; the word stands beside it."""
LONGEST, SHORTEST = 3, -5
"""The decades that durations are counted in: from 10 µs to 1000 s."""
UNITS = {-5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s", 3: "1000 s"}
"""What stands at each power of ten of the scale."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Durations of one step that are all on the same side of the limit.

    Attributes:
        low: where the bar begins, in seconds.
        high: where it ends.
        share: how many of the series' durations are in it, from above 0 to 1.
        over: they took longer than the limit.
    """

    low: float
    high: float
    share: float
    over: bool


@dataclass(frozen=True, slots=True)
class Series:
    """One strip.

    Attributes:
        name: what was called, and when.
        verdict: pass, warn or fail.
        finding: how many were over, in words.
        took: how long the calls took, in words.
        limit: seconds.
        limit_text: the same with its unit.
        over_text: the share that is over, with its sign; "none" where there is none.
        bars: ascending.
    """

    name: str
    verdict: str
    finding: str
    took: str
    limit: float
    limit_text: str
    over_text: str
    bars: tuple[Bar, ...]

    @property
    def heading(self) -> str:
        """The verdict and the name."""
        return f"{MARKS[self.verdict]} {self.verdict}  {self.name}"

    @property
    def sentence(self) -> str:
        """The strip in words, for those who do not see the picture."""
        return f"{self.name}: {self.verdict}, {self.finding}; {self.took}."


@dataclass(frozen=True, slots=True, repr=False)
class Durations(View):
    """A picture of durations.

    Attributes:
        title: what is shown.
        series: the strips, from the top down.
    """

    title: str
    series: tuple[Series, ...]

    @property
    def decades(self) -> range:
        """The powers of ten on the scale: all bars and limits, and some room on both sides of each limit."""
        low = [bar.low for one in self.series for bar in one.bars] + [one.limit / 10 for one in self.series]
        high = [bar.high for one in self.series for bar in one.bars] + [one.limit * 2 for one in self.series]
        first = max(floor(log10(min(low, default=0.01)) + 1e-9), SHORTEST)
        return range(first, min(ceil(log10(max(high, default=1)) - 1e-9), LONGEST) + 1)

    @property
    def tallest(self) -> float:
        """The share of the fullest step of all strips."""
        return max((bar.share for one in self.series for bar in one.bars), default=1.0)

    def text(self) -> str:
        """The picture as a fixed-width drawing, at most 110 columns wide."""
        from workbook.views.durations_text import draw  # noqa: PLC0415  # a renderer reads the model, not the reverse

        return draw(self)

    def svg(self) -> str:
        """The picture as a self-contained SVG document, 1000 pixels wide."""
        from workbook.views.durations_svg import draw  # noqa: PLC0415  # a renderer reads the model, not the reverse

        return draw(self)

    def html(self) -> str:
        """The picture with the text form folded up below it."""
        return figure(f"Durations: {self.title}, {len(self.series)} series.", self.svg(), self.text())


def durations(title: str, judged: Iterable[Judgement | Estimate]) -> Durations:
    """The picture of these judgements or estimates, one strip each."""
    return Durations(clean(title), tuple(_series(one.judgement) for one in judged))


def _series(judgement: Judgement) -> Series:
    return Series(
        name=clean(judgement.name),
        verdict=str(judgement.verdict),
        finding=judgement.finding,
        took=judgement.took,
        limit=judgement.limit.seconds,
        limit_text=judgement.limit_text,
        over_text=judgement.share_text if judgement.over else "none",
        bars=tuple(bar for one in judgement.bins for bar in _bars(one, judgement)),
    )


def _bars(one: Bin, judgement: Judgement) -> Iterator[Bar]:
    """A step in which the limit lies is parted there."""
    limit, within = judgement.limit.seconds, one.count - one.over
    if within:
        yield Bar(one.low, min(one.high, limit) if one.low < limit else one.high, within / judgement.count, over=False)
    if one.over:
        yield Bar(max(one.low, limit) if one.high > limit else one.low, one.high, one.over / judgement.count, over=True)
