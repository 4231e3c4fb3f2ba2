"""Durations as one self-contained SVG document: no script, no outside font, nothing to load.

In time is a filled bar; over the limit is an outlined bar with stripes, on tinted ground behind the limit's
line. All strips share one scale of time and one of height, so that they can be compared.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

from workbook.views.durations import UNITS
from workbook.views.durations_page import LEFT, RIGHT, TOP, document, verdict
from workbook.views.markup import tag, void
from workbook.views.plain import wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.durations import Bar, Durations, Series
    from workbook.views.markup import Markup

TALLEST = 66
"""The height of the fullest step, in pixels."""
LEAST = 3
"""No step that holds anything is lower."""
LEADING = 18
GAP = 48
WORDS = 24
"""What the limit's words take above the bars."""
STRIPE = 5
CHARACTERS = 145
"""So many characters of a small line fit between the edges."""


def draw(durations: Durations) -> str:
    """The picture as an SVG document, the same bytes on every run."""
    return str(Picture(durations).finished())


class Picture:
    """The picture as it grows downwards.

    Attributes:
        y: where the next strip begins, in pixels from the top.
    """

    def __init__(self, durations: Durations) -> None:
        self.durations = durations
        self.y = TOP
        decades = durations.decades
        self._first, self._decade = decades[0], (RIGHT - LEFT) / (len(decades) - 1)

    def finished(self) -> Markup:
        """The whole document."""
        strips = [part for one in self.durations.series for part in self._strip(one)]
        told = " ".join(one.sentence for one in self.durations.series)
        return document(f"Durations: {self.durations.title}", told, self.y + 14, *strips, *self._legend())

    def x(self, seconds: float) -> float:
        """Where a duration stands; those beyond the scale stand at its ends."""
        return round(min(max(LEFT + (log10(seconds) - self._first) * self._decade, LEFT), RIGHT), 1)

    def _strip(self, series: Series) -> Iterator[Markup]:
        yield verdict(series.verdict, series.name, self.y + 8)
        lines = wrap(f"{series.finding}; {series.took}", CHARACTERS)
        for number, line in enumerate(lines):
            yield tag("text", line, class_="wb-small", x=LEFT, y=self.y + 30 + LEADING * number)
        top = self.y + 22 + LEADING * len(lines)
        base = top + WORDS + TALLEST
        yield from self._ground(series, top, base)
        for bar in series.bars:
            yield from self._bar(bar, base)
        yield from self._scale(base)
        self.y = base + GAP

    def _ground(self, series: Series, top: int, base: int) -> Iterator[Markup]:
        """What lies beyond the limit, the powers of ten, and the limit's line with its words."""
        x = self.x(series.limit)
        yield void("rect", class_="wb-shade", x=x, y=top, width=round(RIGHT - x, 1), height=base - top)
        for power in self.durations.decades:
            place = self.x(10.0**power)
            yield void("line", class_="wb-tick", x1=place, y1=top + WORDS, x2=place, y2=base)
        yield void("line", class_="wb-limit", x1=x, y1=top, x2=x, y2=base)
        yield tag("text", f"limit {series.limit_text}", class_="wb-late wb-end wb-bold", x=x - 7, y=top + 15)
        yield tag("text", f"over: {series.over_text}", class_="wb-late", x=x + 8, y=top + 15)

    def _bar(self, bar: Bar, base: int) -> Iterator[Markup]:
        left, right = self.x(bar.low), self.x(bar.high)
        height = max(round(bar.share / self.durations.tallest * TALLEST, 1), LEAST)
        place = {"x": round(left + 1, 1), "width": round(max(right - left - 2, 1), 1), "height": height}
        yield void("rect", class_="wb-over" if bar.over else "wb-bar", y=round(base - height, 1), **place)
        stripes = "".join(
            f"M{left + 1:g} {base - up}H{right - 1:g}" for up in range(STRIPE, int(height), STRIPE) if bar.over
        )
        if stripes:
            yield void("path", class_="wb-hatch", d=stripes)

    def _scale(self, base: int) -> Iterator[Markup]:
        yield void("line", class_="wb-base", x1=LEFT, y1=base, x2=RIGHT, y2=base)
        for power in self.durations.decades:
            place = self.x(10.0**power)
            yield void("line", class_="wb-base", x1=place, y1=base, x2=place, y2=base + 5)
            yield tag("text", UNITS[power], class_="wb-small wb-middle", x=place, y=base + 18)

    def _legend(self) -> Iterator[Markup]:
        if not self.durations.series:
            yield tag("text", "Nothing was measured yet.", x=24, y=TOP)
            return
        y = self.y - 4
        yield void("rect", class_="wb-bar", x=LEFT, y=y - 10, width=12, height=11)
        yield tag("text", "in time", class_="wb-small", x=LEFT + 18, y=y)
        yield void("rect", class_="wb-over", x=LEFT + 72, y=y - 10, width=12, height=11)
        yield void("path", class_="wb-hatch", d=f"M{LEFT + 72} {y - 6}h12M{LEFT + 72} {y - 2}h12")
        told = "over the limit; each bar's height is the share of the calls that took so long, at least a thin line"
        yield tag("text", told, class_="wb-small", x=LEFT + 90, y=y)
