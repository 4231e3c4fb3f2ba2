"""A sequence diagram as a fixed-width drawing: time on the left, lifelines, rule ids on the right.

A line takes its words first and its arrow below them. Words may cross a lifeline but never other words,
because every line has rows of its own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from workbook.views.plain import cut, glyphs, width, wrap
from workbook.views.sequence import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Actor
    from workbook.views.sequence import Line, Sequence

WIDTH = 110
MARGIN = 10
"""Cells for the time on the left."""
RULES = 19
"""Cells for the rule ids on the right."""
EDGE = WIDTH - RULES - 1
"""Where the drawing ends and the rule ids begin."""
WIDEST_GAP = 22

SHAFTS = {Shape.HTTP: "═", Shape.REFUSED: "╌"}
BUTTONS = {"shown": "[ Add ]", "disabled": "[ Add ] greyed out", "hidden": "[     ] gone"}


def draw(sequence: Sequence) -> str:
    """The drawing of a sequence, without a closing newline."""
    return "\n".join(row.rstrip() for row in _rows(sequence))


def _rows(sequence: Sequence) -> Iterator[str]:
    yield cut(sequence.title, WIDTH)
    if not sequence.lines:
        yield "Nothing happened yet."
        return
    page = Page(sequence.columns)
    yield from page.head()
    for row in sequence.rows:
        yield from page.band(row) if isinstance(row, str) else page.line(row)
    yield from page.foot()
    for word, meaning in sequence.glossary:
        yield f"{word:<{MARGIN + 2}}{meaning}"


class Row:
    """One row of cells; what is written later covers what was written before. A mark without a letter is lost."""

    def __init__(self) -> None:
        self._cells = [" "] * WIDTH

    def __str__(self) -> str:
        return "".join(self._cells)

    def write(self, start: int, text: str) -> Row:
        """Put `text` into the cells from `start` on; a wide character takes two."""
        for glyph, cells in glyphs(text):
            self._cells[start : start + cells] = [glyph, ""][:cells]
            start += cells
        return self


class Page:
    """Where each actor's lifeline stands."""

    def __init__(self, columns: tuple[Actor, ...]) -> None:
        halves = [len(actor.value) // 2 + 2 for actor in columns]
        first, last = MARGIN + halves[0], EDGE - 1 - halves[-1]
        self.gap = min(WIDEST_GAP, (last - first) // max(len(columns) - 1, 1))
        self.boxed = all(one + other < self.gap for one, other in pairwise(halves))
        self.lanes: Mapping[Actor, int] = {actor: first + at * self.gap for at, actor in enumerate(columns)}

    def head(self) -> Iterator[str]:
        """The actors' names, in boxes where there is room for boxes."""
        yield from self._boxes() if self.boxed else self._names()

    def _names(self) -> Iterator[str]:
        row = Row()
        for actor, lane in self.lanes.items():
            name = cut(actor.value, self.gap - 1)
            row.write(lane - len(name) // 2, name)
        yield from (str(row), str(self._lifelines("┬")))

    def _boxes(self) -> Iterator[str]:
        top, middle, bottom = Row(), Row(), Row()
        for actor, lane in self.lanes.items():
            name = f" {actor.value} "
            start = lane - (len(name) + 2) // 2
            top.write(start, "┌" + "─" * len(name) + "┐")
            middle.write(start, f"│{name}│")
            bottom.write(start, "└" + "─" * len(name) + "┘").write(lane, "┬")
        yield from map(str, (top, middle, bottom))

    def foot(self) -> Iterator[str]:
        """The end of each lifeline."""
        yield str(self._lifelines("┴"))

    def _lifelines(self, cell: str = "│") -> Row:
        row = Row()
        for lane in self.lanes.values():
            row.write(lane, cell)
        return row

    def band(self, title: str) -> Iterator[str]:
        """A rule across the page with a word in it."""
        first, last = min(self.lanes.values()), max(self.lanes.values())
        yield str(self._lifelines())
        yield str(self._lifelines().write(first, f" {title} ".center(last - first + 1, "━")))

    def line(self, line: Line) -> Iterator[str]:
        """The rows of one line: its words, its arrow, the time and the rules beside them."""
        words, drawn = self._words(line), self._arrow(line)
        rules = wrap(" ".join(line.rules), RULES)
        spare = [self._lifelines() for _ in range(len(rules) - len(words) - len(drawn))]
        rows = [*words, *spare, *drawn]
        rows[0].write(0, cut(f"{line.at:7.3f} s", MARGIN))
        for row, told in zip(rows, [*rules, *[""] * len(rows)], strict=False):
            yield str(row.write(WIDTH - RULES, told))

    def _words(self, line: Line) -> list[Row]:
        """Label and detail: on one row if that fits beside the arrow's left end, else each on rows of its own."""
        heading = f"{line.heading}  {BUTTONS.get(line.button, '')}".rstrip()
        told = f"({line.detail})" if line.detail else ""
        if line.shape is Shape.NOTE:
            return self._block(heading, min(self.lanes.values()) + 2, "┃ ")
        start, both = self._ends(line)[0] + 2, f"{heading}  {told}"
        if told and start + width(both) < EDGE:
            return self._block(both, start)
        return [*self._block(heading, start), *self._block(told, start)]

    def _block(self, text: str, start: int, mark: str = "") -> list[Row]:
        """Rows of words from `start` on, or as far to the left as the widest of them needs."""
        room = EDGE - 1 - (start if mark else MARGIN) - width(mark)
        pieces = [mark + piece for piece in wrap(text, max(room, 20))]
        start = min(start, *(EDGE - 1 - width(piece) for piece in pieces), EDGE)
        return [self._lifelines().write(start - 1, f" {piece} ") for piece in pieces]

    def _ends(self, line: Line) -> tuple[int, int]:
        one, other = self.lanes[line.sender], self.lanes[line.receiver]
        return min(one, other), max(one, other)

    def _arrow(self, line: Line) -> list[Row]:
        row, (left, right) = self._lifelines(), self._ends(line)
        if line.shape is Shape.NOTE:
            return []
        rightwards = self.lanes[line.sender] == left != right
        head = "✗" if line.shape is Shape.REFUSED else "►" if rightwards else "◄"
        if left == right:
            return [row.write(left, "├──╮"), self._lifelines().write(left, f"│{head}─╯")]
        shaft = SHAFTS.get(line.shape, "─") * (right - left - 2)
        return [row.write(left + 1, shaft + head if rightwards else head + shaft)]
