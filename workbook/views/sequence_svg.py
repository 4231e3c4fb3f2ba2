"""A sequence diagram as one self-contained SVG document: no script, no outside font, nothing to load.

Three layers, painted one over the other: the tints behind HTTP lines, the lifelines, and the lines
themselves. Words get a halo in the colour of what they stand on, so that a lifeline never cuts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.markup import joined, tag, trusted, void
from workbook.views.palette import DARK, LIGHT, variables
from workbook.views.plain import cut, width, wrap
from workbook.views.sequence import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Actor
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line, Sequence

WIDTH = 1000
LEFT, RIGHT = 84, 868
"""Between these stand the lifelines and all words about them: time is left of it, rule ids are right."""
BOX_WIDTH, BOX_HEIGHT = 108, 34
TOP = 64
"""Where the boxes with the actors' names begin."""
LABEL, DETAIL = 7.4, 6.5
"""How wide a character of a label and of a detail may be, in pixels: wider than in any common font."""
LEADING = 15
GROUNDS = {Shape.HTTP: "on-tint", Shape.NOTE: "on-box"}
"""What the words of a line stand on, where that is not the bare ground."""
STYLE = (
    f".wb-sequence{{{variables(LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.wb-sequence{{{variables(DARK)}}}}}"
    ".wb-sequence text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif;"
    "fill:var(--ink);paint-order:stroke;stroke:var(--ground);stroke-width:5px;stroke-linejoin:round}"
    ".wb-title{font-size:17px;font-weight:600}"
    ".wb-actor{font-size:13px;font-weight:600;text-anchor:middle}"
    ".wb-label{font-size:13px;font-weight:500}"
    ".wb-sequence .wb-detail,.wb-sequence .wb-time,.wb-sequence .wb-rules{font-size:11.5px;fill:var(--muted)}"
    ".wb-time{text-anchor:end;font-variant-numeric:tabular-nums}"
    ".wb-sequence .on-tint{stroke:var(--tint)}.wb-sequence .on-box{stroke:var(--box)}"
    ".wb-shaft{fill:none;stroke:var(--ink);stroke-width:1.5}.wb-head{fill:var(--ink)}"
    ".is-http .wb-shaft{stroke:var(--http);stroke-width:2.5}.is-http .wb-head,.wb-sequence .is-http .wb-label"
    "{fill:var(--http)}"
    ".is-refused .wb-shaft{stroke:var(--refused);stroke-dasharray:5 4}.is-refused .wb-cross{stroke:var(--refused);"
    "stroke-width:2.5;fill:none}.wb-sequence .is-refused .wb-label{fill:var(--refused)}"
    ".wb-sequence .wb-deprecated{fill:var(--deprecated)}"
    ".wb-box{fill:var(--box);stroke:var(--edge)}.wb-tint{fill:var(--tint)}"
    ".wb-ground{fill:var(--ground);stroke:var(--frame)}.wb-thread{stroke:var(--thread);stroke-dasharray:2 4}"
    ".wb-band{stroke:var(--edge)}.wb-shown{fill:var(--http);stroke:var(--http)}.wb-disabled{fill:var(--box);"
    "stroke:var(--edge)}.wb-hidden{fill:var(--ground);stroke:var(--edge);stroke-dasharray:3 3}"
    ".wb-sequence .wb-add{stroke:none;fill:var(--muted)}.wb-sequence .on-shown{fill:var(--ground)}"
    ".wb-sequence .on-hidden{text-decoration:line-through}"
)


def draw(sequence: Sequence) -> str:
    """The picture of a sequence as an SVG document, the same bytes on every run."""
    return str(Picture(sequence).finished())


class Picture:
    """The picture as it grows downwards.

    Attributes:
        y: where the next line begins, in pixels from the top.
    """

    def __init__(self, sequence: Sequence) -> None:
        self.sequence = sequence
        self.lanes = _lanes(sequence.columns)
        self.y = TOP + BOX_HEIGHT + 14
        self._behind: list[Markup] = []
        self._front: list[Markup] = []

    def finished(self) -> Markup:
        """The whole document."""
        for row in self.sequence.rows:
            self._band(row) if isinstance(row, str) else self._line(row)
        end = self.y + 6
        words = list(self._words(end))
        height = end + 26 + 18 * len(words)
        return tag(
            "svg",
            tag("title", f"Sequence diagram: {self.sequence.title}"),
            tag("desc", " ".join(line.sentence for line in self.sequence.lines) or "Nothing happened yet."),
            tag("style", trusted(STYLE)),
            void("rect", class_="wb-ground", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
            *self._behind, *self._threads(end), *self._heads(), *self._front, *words,
            xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-sequence",
            viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height,
        )  # fmt: skip

    def _threads(self, end: int) -> Iterator[Markup]:
        for x in self.lanes.values():
            yield void("line", class_="wb-thread", x1=x, y1=TOP + BOX_HEIGHT, x2=x, y2=end)

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
        if name := GROUNDS.get(line.shape):
            place = {"x": 12, "y": self.y, "width": WIDTH - 24, "height": drawing.height}
            self._behind.append(void("rect", class_=name.replace("on-", "wb-"), **place))
        self._front.append(tag("g", *drawing.parts(), class_=f"is-{line.shape.lower()}"))
        self.y += drawing.height


class Drawing:
    """One line of the picture: its words, its arrow below them, its detail below that.

    Attributes:
        height: how much of the page it takes, in pixels.
    """

    def __init__(self, line: Line, lanes: Mapping[Actor, int], top: int) -> None:
        self.line = line
        self.source, self.target = lanes[line.sender], lanes[line.receiver]
        self.labels = wrap(line.label, int((RIGHT - LEFT) / LABEL) - 14)
        self.details = wrap(line.detail, int((RIGHT - LEFT) / DETAIL))
        self.rules = wrap(" ".join(line.rules), 16)
        self.ground = GROUNDS.get(line.shape, "")
        self.top = top
        self.shaft = top + 6 + LEADING * len(self.labels) + (0 if line.shape is Shape.NOTE else 6)
        lowest = max(self.shaft + 8 + LEADING * len(self.details), top + 4 + LEADING * len(self.rules))
        self.height = lowest + 6 - top

    def parts(self) -> Iterator[Markup]:
        """Everything there is to paint."""
        first = self.top + 17
        yield tag("text", f"{self.line.at:.3f} s", class_=f"wb-time {self.ground}".strip(), x=LEFT - 14, y=first)
        yield from self._column("wb-rules", self.rules, RIGHT + 14, first)
        if self.line.shape is Shape.HTTP:
            yield tag("text", "HTTP", class_="wb-time on-tint", x=LEFT - 14, y=first + LEADING, font_weight=600)
        if self.line.shape is not Shape.NOTE:
            yield from self._arrow()
        yield from self._screen()
        yield from self._texts(first)

    def _column(self, name: str, texts: list[str], x: int, y: int, anchor: str | None = None) -> Iterator[Markup]:
        for number, text in enumerate(texts):
            place = {"x": x, "y": y + LEADING * number, "text_anchor": anchor}
            yield tag("text", text, class_=f"{name} {self.ground}".strip(), **place)

    def _texts(self, first: int) -> Iterator[Markup]:
        space = max(width(self.line.heading) * LABEL, *(width(one) * DETAIL for one in (self.line.detail, "")))
        x, anchor = self._place(space)
        *above, last = self.labels
        yield from self._column("wb-label", above, x, first, anchor)
        mark = tag("tspan", " [deprecated]", class_="wb-deprecated") if self.line.deprecated else ""
        place = {"x": x, "y": first + LEADING * len(above), "text_anchor": anchor}
        yield tag("text", last, mark, class_=f"wb-label {self.ground}".strip(), **place)
        yield from self._column("wb-detail", self.details, x, self.shaft + 17, anchor)

    def _place(self, space: float) -> tuple[int, str]:
        """Where words that take `space` pixels are anchored: over the arrow, else beside one of its ends."""
        left, right = sorted((self.source, self.target + (25 if self.line.button else 0)))
        if space <= right - left - 20:
            return (left + right) // 2, "middle"
        if left + 12 + space <= RIGHT:
            return left + 12, "start"
        return (right - 12, "end") if right - 12 - space >= LEFT else (LEFT + 4, "start")

    def _arrow(self) -> Iterator[Markup]:
        if self.source == self.target:
            yield from self._loop()
            return
        y, step = self.shaft, 1 if self.target > self.source else -1
        end = self.target - step * (28 if self.line.button else 3)
        yield void("line", class_="wb-shaft", x1=self.source, y1=y, x2=end - step * 8, y2=y)
        yield self._cross(end - step * 6, y) if self.line.shape is Shape.REFUSED else _head(end, y, step)

    def _loop(self) -> Iterator[Markup]:
        x, y = self.source, self.shaft
        yield void("path", class_="wb-shaft", d=f"M{x} {y - 6}h22v10h-12")
        yield self._cross(x + 8, y + 4) if self.line.shape is Shape.REFUSED else _head(x + 2, y + 4, -1)

    def _cross(self, x: int, y: int) -> Markup:
        return void("path", class_="wb-cross", d=f"M{x - 6} {y - 6}l12 12m0-12l-12 12")

    def _screen(self) -> Iterator[Markup]:
        """The add button as the cardholder now sees it."""
        if button := self.line.button:
            x, y = self.target, self.shaft
            place = {"x": x - 25, "y": y - 11, "width": 50, "height": 22, "rx": 11}
            yield void("rect", class_=f"wb-{button}", **place)
            yield tag("text", "Add", class_=f"wb-actor wb-add on-{button}", x=x, y=y + 4)


def _head(x: int, y: int, step: int) -> Markup:
    return void("path", class_="wb-head", d=f"M{x} {y}l{-step * 10}-5v10z")


def _lanes(columns: tuple[Actor, ...]) -> Mapping[Actor, int]:
    first, last = LEFT + BOX_WIDTH // 2, RIGHT - BOX_WIDTH // 2
    gap = (last - first) // max(len(columns) - 1, 1)
    return {actor: first + number * gap for number, actor in enumerate(columns)}
