"""One line of a sequence's picture: its words, its arrow below them, its detail below that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.markup import tag, void
from workbook.views.plain import width, wrap
from workbook.views.sequence import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Actor
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line


@dataclass(frozen=True, slots=True)
class Measures:
    """How a picture is laid out across, in pixels.

    Attributes:
        width: of the whole.
        left: between this and `right` stand the lifelines and all words about them; time is left of it.
        right: rule ids are right of it, where there is room for them.
        box: how wide an actor's box is.
    """

    width: int
    left: int
    right: int
    box: int

    @property
    def rules(self) -> bool:
        """Whether there is room for the rule ids."""
        return self.width - self.right > self.box


WIDE = Measures(1000, 84, 868, 108)
LABEL, DETAIL = 7.4, 6.5
"""How wide a character of a label and of a detail may be, in pixels: wider than in any common font."""
LEADING = 15
GROUNDS = {Shape.HTTP: "on-tint", Shape.NOTE: "on-box"}
"""What the words of a line stand on, where that is not the bare ground."""


class Drawing:
    """One line of the picture: its words, its arrow below them, its detail below that.

    Attributes:
        height: how much of the page it takes, in pixels.
    """

    def __init__(self, line: Line, lanes: Mapping[Actor, int], top: int, measures: Measures = WIDE) -> None:
        self.line, self.measures = line, measures
        room = measures.right - measures.left
        self.source, self.target = lanes[line.sender], lanes[line.receiver]
        self.labels = wrap(line.label, int(room / LABEL) - 14)
        self.details = wrap(line.detail, int(room / DETAIL))
        self.rules = wrap(" ".join(line.rules), 16) if measures.rules else []
        self.ground = GROUNDS.get(line.shape, "")
        self.top = top
        self.shaft = top + 6 + LEADING * len(self.labels) + (0 if line.shape is Shape.NOTE else 6)
        lowest = max(self.shaft + 8 + LEADING * len(self.details), top + 4 + LEADING * len(self.rules))
        self.height = lowest + 6 - top

    def parts(self) -> Iterator[Markup]:
        """Everything there is to paint."""
        first = self.top + 17
        yield tag(
            "text", f"{self.line.at:.3f} s", class_=f"wb-time {self.ground}".strip(), x=self.measures.left - 14, y=first
        )
        yield from self._column("wb-rules", self.rules, self.measures.right + 14, first)
        if self.line.shape is Shape.HTTP:
            yield tag(
                "text", "HTTP", class_="wb-time on-tint", x=self.measures.left - 14, y=first + LEADING, font_weight=600
            )
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
        if left + 12 + space <= self.measures.right:
            return left + 12, "start"
        edge = self.measures.left
        return (right - 12, "end") if right - 12 - space >= edge else (edge + 4, "start")

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
