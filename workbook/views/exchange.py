"""*Exchange*: the sequence between wallet, SDK, app, back end and API, and behind each line all there is to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.flows.messages import Actor
from workbook.views.exchange_detail import details
from workbook.views.markup import tag, trusted
from workbook.views.picture import Picture
from workbook.views.sequence import Shape
from workbook.views.sequence_svg import paint
from workbook.views.table import EDGE, INK, preformatted
from workbook.views.view import View

if TYPE_CHECKING:
    from workbook.views.exchange_detail import Detail
    from workbook.views.film import Film
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line


@dataclass(frozen=True, slots=True, repr=False)
class Exchange(View):
    """The exchange of a film.

    Attributes:
        film: what was played.
    """

    film: Film

    @property
    def lines(self) -> tuple[Line, ...]:
        """What happened, in order."""
        return self.film.sequence.lines

    @property
    def details(self) -> tuple[Detail, ...]:
        """What there is to know of each line."""
        return details(self.lines, self.film.machine)

    @property
    def picture(self) -> Picture:
        """The sequence diagram; line N is the group with `data-line="N"`."""
        painted = paint(self.film.sequence)
        told = f"Exchange: {self.film.title}, {len(self.lines)} lines. The same as text follows."
        return Picture(painted.svg, painted.width, painted.height, told)

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """Where each line begins in the picture, from the top, and how high it is."""
        return paint(self.film.sequence).rows

    def text(self) -> str:
        """The sequence as a fixed-width drawing, and below it each request over HTTP with its answer."""
        both = zip(self.lines, self.details, strict=True)
        asked = [detail.text() for line, detail in both if line.shape is Shape.HTTP and line.receiver is Actor.API]
        return "\n\n".join([self.film.sequence.text(), *asked])

    def html(self) -> str:
        """The picture, below it each line to be opened, and the drawing in characters folded up."""
        rows = (_opened(line, detail) for line, detail in zip(self.lines, self.details, strict=True))
        each = tag("details", tag("summary", "Each line with its request, its answer and its rules"), *rows)
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.film.sequence.text()))
        return tag("figure", self.picture.image(), each, folded, style=f"margin:0;color:{INK}")


def _opened(line: Line, detail: Detail) -> Markup:
    style = f"border-left:{EDGE};margin:0.3em 0 0.3em 1em;padding-left:0.8em"
    body = tag("div", trusted(detail.html()), style=style)
    return tag("details", tag("summary", line.sentence), body, style="margin-left:1em")
