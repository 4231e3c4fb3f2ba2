"""A sequence diagram as one self-contained SVG document: no script, no outside font, nothing to load.

Two layers, painted one over the other: the lifelines, and the lines themselves. A line is one group with all that
belongs to it, so a player can show and hide it; where it has a tint behind it, its group repeats the lifelines over
the tint. Words get a halo in the colour of what they stand on, so that a lifeline never cuts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.markup import joined, tag, trusted, void
from workbook.views.palette import FONT, sheet
from workbook.views.plain import cut
from workbook.views.sequence_line_svg import LEFT, RIGHT, Drawing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Actor
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line, Sequence

WIDTH = 1000
BOX_WIDTH, BOX_HEIGHT = 108, 34
TOP = 64
"""Where the boxes with the actors' names begin."""
DASH = 6
"""How long a dash of a lifeline and the gap after it are together, in pixels."""
STYLE = sheet(
    "wb-sequence",
    {
        "text": f"font-family:{FONT};fill:var(--ink);"
        "paint-order:stroke;stroke:var(--ground);stroke-width:5px;stroke-linejoin:round",
        ".wb-title": "font-size:17px;font-weight:600",
        ".wb-actor": "font-size:13px;font-weight:600;text-anchor:middle",
        ".wb-label": "font-size:13px;font-weight:500",
        ".wb-detail,.wb-time,.wb-rules": "font-size:11.5px;fill:var(--muted)",
        ".wb-time": "text-anchor:end;font-variant-numeric:tabular-nums",
        ".on-tint": "stroke:var(--tint)",
        ".on-box": "stroke:var(--box)",
        ".wb-shaft": "fill:none;stroke:var(--ink);stroke-width:1.5",
        ".wb-head": "fill:var(--ink)",
        ".is-http .wb-shaft": "stroke:var(--http);stroke-width:2.5",
        ".is-http .wb-head,.is-http .wb-label": "fill:var(--http)",
        ".is-refused .wb-shaft": "stroke:var(--refused);stroke-dasharray:5 4",
        ".is-refused .wb-cross": "stroke:var(--refused);stroke-width:2.5;fill:none",
        ".is-refused .wb-label": "fill:var(--refused)",
        ".wb-deprecated": "fill:var(--deprecated)",
        ".wb-box": "fill:var(--box);stroke:var(--edge)",
        ".wb-tint": "fill:var(--tint)",
        ".wb-ground": "fill:var(--ground);stroke:var(--frame)",
        ".wb-thread": "stroke:var(--thread);stroke-dasharray:2 4",
        ".wb-band": "stroke:var(--edge)",
        ".wb-shown": "fill:var(--http);stroke:var(--http)",
        ".wb-disabled": "fill:var(--box);stroke:var(--edge)",
        ".wb-hidden": "fill:var(--ground);stroke:var(--edge);stroke-dasharray:3 3",
        ".wb-add": "stroke:none;fill:var(--muted)",
        ".on-shown": "fill:var(--ground)",
        ".on-hidden": "text-decoration:line-through",
    },
)


@dataclass(frozen=True, slots=True)
class Painted:
    """A picture of a sequence.

    Attributes:
        svg: a self-contained SVG document; line N of the sequence is the group with `data-line="N"`, from 0.
        width: in pixels.
        height: in pixels.
        rows: where each line begins from the top and how high it is, in pixels.
    """

    svg: str
    width: int
    height: int
    rows: tuple[tuple[int, int], ...]


def draw(sequence: Sequence) -> str:
    """The picture of a sequence as an SVG document, the same bytes on every run."""
    return paint(sequence).svg


def paint(sequence: Sequence) -> Painted:
    """The picture of a sequence, and where in it each line stands."""
    return Page(sequence).finished()


class Page:
    """The picture as it grows downwards.

    Attributes:
        y: where the next line begins, in pixels from the top.
        rows: where each line stands that is painted already.
    """

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.lanes = _lanes(sequence.columns)
        self.y = TOP + BOX_HEIGHT + 14
        self.rows: list[tuple[int, int]] = []
        self._front: list[Markup] = []

    def finished(self) -> Painted:
        """The whole document."""
        for row in self.sequence.rows:
            self._band(row) if isinstance(row, str) else self._line(row)
        end = self.y + 6
        words = list(self._words(end))
        height = end + 26 + 18 * len(words)
        threads = self._threads(TOP + BOX_HEIGHT, end)
        return Painted(str(self._document(height, *threads, *words)), WIDTH, height, tuple(self.rows))

    def _document(self, height: int, *parts: Markup) -> Markup:
        return tag(
            "svg",
            tag("title", f"Sequence diagram: {self.sequence.title}"),
            tag("desc", " ".join(line.sentence for line in self.sequence.lines) or "Nothing happened yet."),
            tag("style", trusted(STYLE)),
            void("rect", class_="wb-ground", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
            *parts, *self._heads(), *self._front,
            xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-sequence",
            viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height,
        )  # fmt: skip

    def _threads(self, top: int, end: int) -> Iterator[Markup]:
        """The lifelines from `top` to `end`; their dashes go on where those above end."""
        offset = (top - TOP - BOX_HEIGHT) % DASH or None
        for x in self.lanes.values():
            yield void("line", class_="wb-thread", x1=x, y1=top, x2=x, y2=end, stroke_dashoffset=offset)

    def _heads(self) -> Iterator[Markup]:
        yield tag("text", cut(self.sequence.title, 100), class_="wb-title", x=24, y=36)
        yield tag("text", "time", class_="wb-time", x=LEFT - 14, y=TOP + 22)
        yield tag("text", "rules", class_="wb-rules", x=RIGHT + 14, y=TOP + 22)
        for actor, x in self.lanes.items():
            size = {"width": BOX_WIDTH, "height": BOX_HEIGHT, "rx": 9}
            yield void("rect", class_="wb-box", x=x - BOX_WIDTH // 2, y=TOP, **size)
            yield tag("text", cut(actor.value, 14), class_="wb-actor on-box", x=x, y=TOP + 22)

    def _words(self, y: int) -> Iterator[Markup]:
        """What the document's words mean, below the picture."""
        for number, (word, meaning) in enumerate(self.sequence.glossary):
            name = tag("tspan", word, font_weight=600, class_="wb-word")
            yield tag("text", joined(name, f": {meaning}"), class_="wb-detail", x=24, y=y + 28 + 18 * number)

    def _band(self, title: str) -> None:
        y, middle = self.y + 20, (LEFT + RIGHT) // 2
        self._front += [
            void("line", class_="wb-band", x1=24, y1=y, x2=WIDTH - 24, y2=y),
            void("rect", class_="wb-box", x=middle - 50, y=y - 12, width=100, height=24, rx=12),
            tag("text", title, class_="wb-actor on-box", x=middle, y=y + 5),
        ]
        self.y += 40

    def _line(self, line: Line) -> None:
        drawing = Drawing(line, self.lanes, self.y)
        parts = (*self._behind(drawing), *drawing.parts())
        number = len(self.rows)
        self._front.append(tag("g", *parts, class_=f"is-{line.shape.lower()}", data_line=number))
        self.rows.append((self.y, drawing.height))
        self.y += drawing.height

    def _behind(self, drawing: Drawing) -> Iterator[Markup]:
        if drawing.ground:
            place = {"x": 12, "y": self.y, "width": WIDTH - 24, "height": drawing.height}
            yield void("rect", class_=drawing.ground.replace("on-", "wb-"), **place)
            yield from self._threads(self.y, self.y + drawing.height)


def _lanes(columns: tuple[Actor, ...]) -> Mapping[Actor, int]:
    first, last = LEFT + BOX_WIDTH // 2, RIGHT - BOX_WIDTH // 2
    gap = (last - first) // max(len(columns) - 1, 1)
    return {actor: first + number * gap for number, actor in enumerate(columns)}
