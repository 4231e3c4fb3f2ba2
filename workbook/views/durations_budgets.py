"""Budgets: each call as a bar that fills towards its limit, as far as its worst call went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.durations import MARKS
from workbook.views.durations_page import LEFT, RIGHT, TOP, document, figure, verdict
from workbook.views.markup import tag, void
from workbook.views.plain import clean, cut, wrap
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.timing.estimate import Estimate
    from workbook.timing.verdict import Judgement
    from workbook.views.markup import Markup

WIDTH = 110
CELLS = 60
"""How many cells of a text form's bar the whole limit takes."""
TRACK = 740
"""How many pixels of the picture's bar the whole limit takes."""
BEYOND = 0.1
"""So much of a bar is drawn past its limit when more was used than there is."""
ROW = 74
LEGEND = "█ used by the worst call   ╎ from here on there is little room   ┃ the limit   ▓ beyond it"
LITTLE_ROOM = 0.8
"""Where the mark stands from which on there is little room left."""


@dataclass(frozen=True, slots=True)
class Budget:
    """One call and its limit.

    Attributes:
        name: what was called, and when.
        verdict: pass, warn or fail.
        used: how much of the limit the worst call used; 1 is all of it.
        used_text: the same as a percentage.
        words: the same in words, with how many were over.
    """

    name: str
    verdict: str
    used: float
    used_text: str
    words: str

    @property
    def sentence(self) -> str:
        """The bar in words, for those who do not see the picture."""
        return f"{self.name}: {self.verdict}, {self.words}."


@dataclass(frozen=True, slots=True, repr=False)
class Budgets(View):
    """A picture of budgets.

    Attributes:
        title: what is shown.
        budgets: from the top down.
    """

    title: str
    budgets: tuple[Budget, ...]

    def text(self) -> str:
        """The bars as a fixed-width drawing, at most 110 columns wide."""
        lines = [cut(self.title, WIDTH)]
        for one in self.budgets:
            lines += ["", cut(f"{MARKS[one.verdict]} {one.verdict}  {one.name}", WIDTH), f"  {_bar(one.used)}"]
            lines += [f"  {line}" for line in wrap(one.words, WIDTH - 2)]
        end = ["", f"  {LEGEND}"] if self.budgets else ["Nothing was measured yet."]
        return "\n".join([*lines, *end])

    def svg(self) -> str:
        """The bars as a self-contained SVG document, 1000 pixels wide, the same bytes on every run."""
        parts = [part for at, one in enumerate(self.budgets) for part in _row(one, TOP + ROW * at)]
        end = TOP + ROW * len(self.budgets) + 8
        told = " ".join(one.sentence for one in self.budgets)
        return str(document(f"Budgets: {self.title}", told, end + 22, *parts, *_legend(end, empty=not self.budgets)))

    def html(self) -> str:
        """The picture with the text form folded up below it."""
        return figure(f"Budgets: {self.title}, {len(self.budgets)} calls.", self.svg(), self.text())


def budgets(title: str, judged: Iterable[Judgement | Estimate]) -> Budgets:
    """How much of its limit each of these used, one bar each."""
    return Budgets(clean(title), tuple(_budget(one.judgement) for one in judged))


def _budget(judgement: Judgement) -> Budget:
    words = f"the worst used {judgement.used_text} of {judgement.limit_text}; {judgement.finding}"
    texts = judgement.used_text, words
    return Budget(clean(judgement.name), str(judgement.verdict), judgement.used, *texts)


def _bar(used: float) -> str:
    """A bar with a mark at four fifths and the limit as its end; what is beyond stands right of it."""
    filled = min(round(used * CELLS), CELLS) if used <= 1 else CELLS
    room = int(LITTLE_ROOM * CELLS)
    track = "".join("█" if at < filled else "╎" if at == room else "·" for at in range(CELLS))
    return f"{track}┃{'▓▓▓▓▶' if used > 1 else ''}"


def _row(one: Budget, y: int) -> Iterator[Markup]:
    yield verdict(one.verdict, one.name, y + 8)
    top = y + 18
    yield void("rect", class_="wb-track", x=LEFT, y=top, width=TRACK, height=16, rx=4)
    if one.used > 0:
        yield void("rect", class_="wb-bar", x=LEFT, y=top, width=_width(min(one.used, 1)), height=16, rx=4)
    room, end = LEFT + round(LITTLE_ROOM * TRACK), LEFT + TRACK
    yield void("line", class_="wb-room", x1=room, y1=top - 4, x2=room, y2=top + 20)
    if one.used > 1:
        yield from _beyond(end, top, _width(min(one.used - 1, BEYOND)))
    yield void("line", class_="wb-limit", x1=end, y1=top - 5, x2=end, y2=top + 21)
    yield tag("text", one.used_text, class_="wb-name wb-end", x=RIGHT, y=top + 13)
    yield tag("text", cut(one.words, 145), class_="wb-small", x=LEFT, y=top + 34)


def _legend(y: int, *, empty: bool) -> Iterator[Markup]:
    if empty:
        yield tag("text", "Nothing was measured yet.", x=24, y=y)
        return
    yield void("rect", class_="wb-bar", x=LEFT, y=y - 10, width=12, height=11)
    yield tag("text", "used by the worst call", class_="wb-small", x=LEFT + 18, y=y)
    yield void("line", class_="wb-room", x1=LEFT + 160, y1=y - 11, x2=LEFT + 160, y2=y + 2)
    yield tag("text", "from here on there is little room", class_="wb-small", x=LEFT + 168, y=y)
    yield void("line", class_="wb-limit", x1=LEFT + 362, y1=y - 11, x2=LEFT + 362, y2=y + 2)
    yield tag("text", "the limit; stripes are beyond it", class_="wb-small", x=LEFT + 370, y=y)


def _width(share: float) -> float:
    return round(max(share * TRACK, 3), 1)


def _beyond(x: int, top: int, width: float) -> Iterator[Markup]:
    yield void("rect", class_="wb-over", x=x, y=top, width=width, height=16)
    stripes = "".join(f"M{x} {top + down}h{width:g}" for down in (4, 8, 12))
    yield void("path", class_="wb-hatch", d=stripes)
