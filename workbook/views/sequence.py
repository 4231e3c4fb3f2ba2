"""A trace as a sequence diagram: a fixed-width drawing, and the picture of `sequence_svg`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from workbook.base.rules import sentence
from workbook.flows.messages import Actor
from workbook.flows.trace import Trace
from workbook.views.html import View, tag
from workbook.views.lines import FAILED, Lines, SequenceLine, Shape, lines_of
from workbook.views.paint import Picture
from workbook.views.sequence_svg import paint
from workbook.views.table import ONE_CELL, clean, cut, glyphs, width, wrap


@dataclass(frozen=True, repr=False)
class Sequence(View, Lines):
    """A sequence diagram."""

    def text(self) -> str:
        """The diagram as a fixed-width drawing, at most 110 columns wide."""
        return self._drawing

    @cached_property
    def _drawing(self) -> str:
        return draw(self)  # kept: a cell shows it as text, and again folded up below the picture

    @property
    def picture(self) -> Picture:
        """The diagram as a picture, at most 1000 pixels wide."""
        return paint(self).picture

    def svg(self) -> str:
        """The picture as a self-contained SVG document."""
        return self.picture.svg

    def html(self) -> str:
        """The picture, with the rules beside it as a footnote, and the text form, both folded up below it."""
        named = dict.fromkeys(rule_id for line in self.lines for rule_id in line.rules)
        rules = [tag("li", tag("b", rule_id), f" {text}") for rule_id in named if (text := sentence(rule_id))]
        footnote = tag("details", tag("summary", "The rules beside it"), tag("ul", *rules))
        return self.picture.figure(self.text(), *([footnote] if rules else []))


def sequence(trace: Trace) -> Sequence:
    """The sequence diagram of a trace."""
    lines = lines_of(trace)
    present = {actor for line in lines for actor in (line.sender, line.receiver)}
    return Sequence(clean(trace.title), tuple(actor for actor in Actor if actor in present), lines)


# A sequence diagram as a fixed-width drawing: time on the left, lifelines, rule ids on the right.
#
# Each line's words come first, with its arrow below them. Words may cross a lifeline but never other words, because
# every line has rows of its own.

WIDTH = 110
MARGIN = 10
"""Cells for the time on the left."""
RULES = 19
"""Cells for the rule ids on the right."""
EDGE = WIDTH - RULES - 1
"""Where the drawing ends and the rule ids begin."""
WIDEST_GAP = 22

SHAFTS = {Shape.HTTP: "═", Shape.LOST: "╌", Shape.REFUSED: "╌"}
NO_ARRIVAL = (Shape.LOST, Shape.REFUSED)
BUTTON_TEXTS = {"shown": "[ Add ]", "disabled": "[ Add ] greyed out", "hidden": "[     ] gone"}

Row = list[str]
"""A row of cells, each with one character, or with a wide character and then an empty text."""


def draw(sequence: Sequence) -> str:
    """The drawing of a sequence, without a closing newline."""
    title = cut(sequence.title, WIDTH)
    if not sequence.lines:
        return f"{title}\nNothing happened yet."
    page = TextPage(sequence.columns)
    rows = [*page.head()]
    for line in sequence.rows:
        rows += page.band(line) if isinstance(line, str) else page.line(line)
    rows.append(page.row("┴"))
    words = (f"{word:<{MARGIN + 2}}{meaning}" for word, meaning in sequence.glossary)
    return "\n".join([title, *("".join(row).rstrip() for row in rows), *words])


def write(row: Row, start: int, text: str) -> Row:
    """Put `text` into the cells from `start` on, over what they hold; a wide character takes two."""
    if ONE_CELL(text):
        row[start : start + len(text)] = text
        return row
    for glyph, cells in glyphs(text):
        row[start : start + cells] = [glyph, ""][:cells]  # a mark without a letter is lost
        start += cells
    return row


class TextPage:
    """The actors' lifelines, `lanes[actor]` cells from the left, and the rows between them."""

    def __init__(self, columns: tuple[Actor, ...]) -> None:
        halves = [len(actor.value) // 2 + 2 for actor in columns]
        first, last = MARGIN + halves[0], EDGE - 1 - halves[-1]
        self.gap = min(WIDEST_GAP, (last - first) // max(len(columns) - 1, 1))
        self.boxed = all(half + other < self.gap for half, other in pairwise(halves))
        self.lanes = {actor: first + number * self.gap for number, actor in enumerate(columns)}
        self.left, self.right = min(self.lanes.values()), max(self.lanes.values())
        self._empty = self.row("│")

    def row(self, cell: str) -> Row:
        """A row with this character on each lifeline."""
        row = [" "] * WIDTH
        for lane in self.lanes.values():
            row[lane] = cell
        return row

    def head(self) -> tuple[Row, ...]:
        """The actors' names, in boxes where there is room for boxes."""
        top, middle, bottom = ([" "] * WIDTH for _ in range(3))
        for actor, lane in self.lanes.items():
            if self.boxed:
                name = f" {actor.value} "
                start = lane - (len(name) + 2) // 2
                write(top, start, "┌" + "─" * len(name) + "┐")
                write(middle, start, f"│{name}│")
                write(write(bottom, start, "└" + "─" * len(name) + "┘"), lane, "┬")
            else:
                name = cut(actor.value, self.gap - 1)
                write(middle, lane - len(name) // 2, name)
        return (top, middle, bottom) if self.boxed else (middle, self.row("┬"))

    def band(self, title: str) -> tuple[Row, Row]:
        """A rule across the page with a word in it."""
        rule = f" {title} ".center(self.right - self.left + 1, "━")
        return [*self._empty], write([*self._empty], self.left, rule)

    def line(self, line: SequenceLine) -> list[Row]:
        """The rows of one line: its words, its arrow, the time and the rules beside them."""
        words, arrow = self._words(line), self._arrow(line)
        rules = wrap(" ".join(line.rules), RULES)
        spare = [[*self._empty] for _ in range(len(rules) - len(words) - len(arrow))]
        rows = [*words, *spare, *arrow]
        write(rows[0], 0, cut(f"{line.at:7.3f} s{line.mark}", MARGIN))
        for row, rule in zip(rows, rules, strict=False):
            write(row, WIDTH - RULES, rule)
        return rows

    def _words(self, line: SequenceLine) -> list[Row]:
        """Label and detail: on one row if that fits beside the arrow's left end, else each on rows of its own."""
        heading = f"{FAILED * line.failed}{line.heading}  {BUTTON_TEXTS.get(line.button, '')}".rstrip()
        if line.shape is Shape.NOTE:
            return self._block(heading, self.left + 2, "┃ ")
        detail = f"({line.detail})" if line.detail else ""
        start = min(self.lanes[line.sender], self.lanes[line.receiver]) + 2
        both = f"{heading}  {detail}"
        if detail and start + width(both) < EDGE:
            return self._block(both, start)
        return [*self._block(heading, start), *self._block(detail, start)]

    def _block(self, text: str, start: int, mark: str = "") -> list[Row]:
        """Rows of words from `start` on, or as far to the left as the widest of them needs."""
        room = EDGE - 1 - (start if mark else MARGIN) - width(mark)
        pieces = [mark + piece for piece in wrap(text, max(room, 20))]
        start = min(start, *(EDGE - 1 - width(piece) for piece in pieces), EDGE)
        return [write([*self._empty], start - 1, f" {piece} ") for piece in pieces]

    def _arrow(self, line: SequenceLine) -> list[Row]:
        if line.shape is Shape.NOTE:
            return []
        source, target = self.lanes[line.sender], self.lanes[line.receiver]
        left, right = sorted((source, target))
        head = "✗" if line.shape in NO_ARRIVAL else "►" if source < target else "◄"
        if left == right:
            return [write([*self._empty], left, "├──╮"), write([*self._empty], left, f"│{head}─╯")]
        shaft = SHAFTS.get(line.shape, "─") * (right - left - 2)
        return [write([*self._empty], left + 1, shaft + head if source < target else head + shaft)]
