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
from workbook.views.plain import cut, wrap
from workbook.views.sequence_line_svg import DETAIL, WIDE, Drawing, Measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Actor
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line, Sequence

BOX_HEIGHT = 34
TOP = 64
"""Where the boxes with the actors' names begin."""
AGAIN, REST = 560, 4
"""So many pixels below its boxes a long picture names the actors once more, where so many lines are still to come."""
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


def paint(sequence: Sequence, measures: Measures = WIDE) -> Painted:
    """The picture of a sequence, and where in it each line stands."""
    return Page(sequence, measures).finished()


def narrow(actors: int) -> Measures:
    """The measures for so many actors where room is scarce: they stand close, and there are no rule ids."""
    room = 87 * max(actors, 6)
    return Measures(66 + room + 6, 66, 66 + room, min(108, room // max(actors, 1) - 2))


class Page:
    """The picture as it grows downwards.

    Attributes:
        y: where the next line begins, in pixels from the top.
        rows: where each line stands that is painted already.
    """

    def __init__(self, sequence: Sequence, measures: Measures) -> None:
        self.sequence, self.measures = sequence, measures
        self.lanes = _lanes(sequence.columns, measures)
        self.y = TOP + BOX_HEIGHT + 14
        self._named = TOP
        self.rows: list[tuple[int, int]] = []
        self._front: list[Markup] = []

    def finished(self) -> Painted:
        """The whole document."""
        for row in self.sequence.rows:
            if isinstance(row, str):
                self._band(row)
                continue
            self._remind()
            self._line(row)
        end = self.y + 6
        words = list(self._words(end))
        height = end + 26 + 18 * len(words)
        threads = self._threads(TOP + BOX_HEIGHT, end)
        return Painted(str(self._document(height, *threads, *words)), self.measures.width, height, tuple(self.rows))

    def _document(self, height: int, *parts: Markup) -> Markup:
        width = self.measures.width
        return tag(
            "svg",
            tag("title", f"Sequence diagram: {self.sequence.title}"),
            tag("desc", " ".join(line.sentence for line in self.sequence.lines) or "Nothing happened yet."),
            tag("style", trusted(STYLE)),
            void("rect", class_="wb-ground", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12),
            *parts, *self._heads(), *self._front,
            xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-sequence",
            viewBox=f"0 0 {width} {height}", width=width, height=height,
        )  # fmt: skip

    def _threads(self, top: int, end: int) -> Iterator[Markup]:
        """The lifelines from `top` to `end`; their dashes go on where those above end."""
        offset = (top - TOP - BOX_HEIGHT) % DASH or None
        for x in self.lanes.values():
            yield void("line", class_="wb-thread", x1=x, y1=top, x2=x, y2=end, stroke_dashoffset=offset)

    def _heads(self) -> Iterator[Markup]:
        yield tag("text", cut(self.sequence.title, self.measures.width // 10), class_="wb-title", x=24, y=36)
        yield tag("text", "time", class_="wb-time", x=self.measures.left - 14, y=TOP + 22)
        if self.measures.rules:
            yield tag("text", "rules", class_="wb-rules", x=self.measures.right + 14, y=TOP + 22)
        yield from self._names(TOP)

    def _names(self, top: int) -> Iterator[Markup]:
        """Who is who, each over the own lifeline."""
        wide = self.measures.box
        for actor, x in self.lanes.items():
            yield void("rect", class_="wb-box", x=x - wide // 2, y=top, width=wide, height=BOX_HEIGHT, rx=9)
            yield tag("text", cut(actor.value, 14), class_="wb-actor on-box", x=x, y=top + 22)

    def _words(self, y: int) -> Iterator[Markup]:
        """What the document's words mean, below the picture."""
        room, at = int((self.measures.width - 48) / DETAIL), y + 28
        for word, meaning in self.sequence.glossary:
            first, *more = wrap(f"{word}: {meaning}", room)
            name = tag("tspan", word, font_weight=600, class_="wb-word")
            for text in (joined(name, first.removeprefix(word)), *more):
                yield tag("text", text, class_="wb-detail", x=24, y=at)
                at += 18

    def _band(self, title: str) -> None:
        y, middle = self.y + 20, (self.measures.left + self.measures.right) // 2
        self._front += [
            void("line", class_="wb-band", x1=24, y1=y, x2=self.measures.width - 24, y2=y),
            void("rect", class_="wb-box", x=middle - 66, y=y - 12, width=132, height=24, rx=12),
            tag("text", title, class_="wb-actor on-box", x=middle, y=y + 5),
        ]
        self.y += 40

    def _remind(self) -> None:
        """Who is who, for a reader who has scrolled; a narrow picture's owner keeps the names in sight."""
        to_come = len(self.sequence.lines) - len(self.rows)
        if self.measures.rules and self.y - self._named >= AGAIN and to_come >= REST:
            self._named = self.y + 8
            self._front += self._names(self._named)
            self.y = self._named + BOX_HEIGHT + 8

    def _line(self, line: Line) -> None:
        drawing = Drawing(line, self.lanes, self.y, self.measures)
        parts = (*self._behind(drawing), *drawing.parts())
        number = len(self.rows)
        self._front.append(tag("g", *parts, class_=f"is-{line.shape.lower()}", data_line=number))
        self.rows.append((self.y, drawing.height))
        self.y += drawing.height

    def _behind(self, drawing: Drawing) -> Iterator[Markup]:
        if drawing.ground:
            edge = 12 if self.measures.rules else 4
            place = {"x": edge, "y": self.y, "width": self.measures.width - 2 * edge, "height": drawing.height}
            yield void("rect", class_=drawing.ground.replace("on-", "wb-"), **place)
            yield from self._threads(self.y, self.y + drawing.height)


def _lanes(columns: tuple[Actor, ...], measures: Measures) -> Mapping[Actor, int]:
    first, last = measures.left + measures.box // 2, measures.right - measures.box // 2
    gap = (last - first) // max(len(columns) - 1, 1)
    return {actor: first + number * gap for number, actor in enumerate(columns)}
