"""Durations as a fixed-width drawing: a column for each step of the scale, the limit as a line between columns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from workbook.views.durations import UNITS
from workbook.views.plain import cut, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.durations import Durations, Series

WIDTH = 110
MARGIN = 2
HEIGHT = 4
"""Rows of a strip."""
EIGHTHS = " ▁▂▃▄▅▆▇█"
OVER = {"█": "▓"}
"""Whole cells over the limit are drawn in another form."""
R10 = (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)


def draw(durations: Durations) -> str:
    """The drawing, without a closing newline."""
    return "\n".join(row.rstrip() for row in _rows(durations))


def _rows(durations: Durations) -> Iterator[str]:
    yield cut(durations.title, WIDTH)
    if not durations.series:
        yield "Nothing was measured yet."
        return
    scale = Scale(durations)
    for series in durations.series:
        yield ""
        yield cut(series.heading, WIDTH)
        for told in (series.finding, series.took):
            yield from (f"  {line}" for line in wrap(told, WIDTH - 2))
        yield from scale.strip(series)


class Scale:
    """Where each duration stands: the steps of the scale, parted at the limits.

    Attributes:
        steps: where each step begins and ends, in seconds.
        wide: how many cells a step takes.
    """

    def __init__(self, durations: Durations) -> None:
        self._decades, self._tallest = durations.decades, durations.tallest
        steps = {float(f"{step}e{power}") for power in self._decades[:-1] for step in R10}
        limits = {one.limit for one in durations.series if one.limit < 10.0 ** self._decades[-1]}
        self.steps = list(pairwise(sorted(steps | limits | {float(f"1e{self._decades[-1]}")})))
        self.wide = max((WIDTH - MARGIN - 1) // len(self.steps), 1)

    def strip(self, series: Series) -> Iterator[str]:
        """The rows of one series: the limit's words, the columns, and the scale."""
        at, eighths = self._cells(series.limit), self._eighths(series)
        yield self._label(series, MARGIN + at)
        for row in range(HEIGHT - 1, -1, -1):
            blocks = [_block(number - 8 * row, late=low >= series.limit) for (low, _high), number in eighths]
            yield _line("".join(block * self.wide for block in blocks), at, "┃")
        yield _line("".join(self._tick(low) for low, _high in self.steps), at, "┸")
        yield self._names(series.limit)

    def _label(self, series: Series, at: int) -> str:
        """The limit's words on both sides of its line, or on the one where there is room for them."""
        limit, over = f"limit {series.limit_text}", f"over: {series.over_text}"
        if at + len(over) + 4 > WIDTH:
            return f"{limit}, {over} ┃".rjust(at + 1)
        if len(limit) + 1 > at:
            return f"{' ' * at}┃ {limit} ▸ {over}"
        return f"{limit} ┃ ▸ {over}".rjust(at + len(over) + 4)

    def _cells(self, seconds: float) -> int:
        """How many cells stand before this duration."""
        return self.wide * sum(high <= seconds for _low, high in self.steps)

    def _eighths(self, series: Series) -> list[tuple[tuple[float, float], int]]:
        """For each step how high it is, in eighths of a row; 1 at least when it holds anything."""
        found = dict.fromkeys(self.steps, 0)
        for bar in series.bars:
            step = next(one for one in self.steps if one[1] >= bar.high or one == self.steps[-1])
            found[step] += max(round(bar.share / self._tallest * 8 * HEIGHT), 1)
        return list(found.items())

    def _tick(self, low: float) -> str:
        named = any(low == float(f"1e{power}") for power in self._decades)
        return ("┬" if named else "─") + "─" * (self.wide - 1)

    def _names(self, limit: float) -> str:
        row = ""
        for power in self._decades[:-1]:
            seconds = float(f"1e{power}")
            row = row.ljust(MARGIN + self._cells(seconds) + (seconds >= limit)) + UNITS[power]
        last = UNITS[self._decades[-1]]
        return f"{row} ".ljust(MARGIN + self.wide * len(self.steps) + 1 - len(last)) + last


def _block(eighths: int, *, late: bool) -> str:
    block = EIGHTHS[min(max(eighths, 0), 8)]
    return OVER.get(block, block) if late else block


def _line(cells: str, at: int, mark: str) -> str:
    return f"{' ' * MARGIN}{cells[:at]}{mark}{cells[at:]}"
