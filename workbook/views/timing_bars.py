"""*Timing*: the budgets of a run as bars that fill.

Each call of the wallet that has a limit is one bar: its whole length is the limit, what is filled was used. The
distributions of the timing lab are pictures of their own, see `durations`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.flows.limits import LIMITS
from workbook.views.durations_page import DISCS, SIGNS
from workbook.views.markup import tag, trusted, void
from workbook.views.palette import FONT, sheet
from workbook.views.picture import Picture
from workbook.views.plain import clean, cut
from workbook.views.table import paragraph, preformatted
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.film import Budget, Film
    from workbook.views.markup import Markup

NONE = "No limit runs in this run: nothing here has to be done within a given time."
WIDTH, LEFT, TRACK = 900, 24, 640
"""How wide the picture is, where its bars begin, and how long a whole limit is, in pixels."""
TOP, ROW = 56, 62
CELLS = 50
"""How many cells a whole limit takes in the text form."""
SHORT = 0.995
"""Limits below so many seconds are told in milliseconds."""
STYLE = sheet(
    "wb-timing",
    {
        "text": f"font-family:{FONT};font-size:12px;fill:var(--muted);font-variant-numeric:tabular-nums",
        ".wb-title": "font-size:17px;font-weight:600;fill:var(--ink)",
        ".wb-call": "font-size:13px;font-weight:600;fill:var(--ink)",
        ".wb-ground": "fill:var(--ground);stroke:var(--frame)",
        ".wb-track": "fill:var(--box);stroke:var(--edge)",
        ".wb-fill": "fill:var(--http)",
        ".wb-limit": "stroke:var(--ink);stroke-width:2",
        ".wb-sign": "fill:none;stroke:var(--ground);stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round",
        ".wb-disc": "fill:var(--http)",
        ".wb-word": "font-weight:600;fill:var(--http)",
        ".is-spent .wb-disc": "fill:var(--refused)",
        ".is-spent .wb-word": "fill:var(--refused)",
        ".wb-later": "visibility:hidden",
    },
)
MARKS = {"kept": "✓", "spent": "✗", "running": "…"}
SHAPES = {"kept": "pass", "spent": "fail"}
"""The signs of the timing lab that say the same: a circle with a tick, an octagon with a cross."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One budget.

    Attributes:
        budget: what was measured.
        until: how far the run went, in seconds since it began.
    """

    budget: Budget
    until: float

    @property
    def verdict(self) -> str:
        """kept, spent or running."""
        if self.budget.ended is None:
            return "running"
        return "kept" if self.budget.kept else "spent"

    @property
    def used(self) -> float:
        """The share of the limit that was used, from 0 to 1."""
        ended = self.until if self.budget.ended is None else self.budget.ended
        return max(0.0, min(1.0, (ended - self.budget.began) / self.budget.seconds))

    @property
    def words(self) -> str:
        """What became of it."""
        limit, used = span(self.budget.seconds), span(self.used * self.budget.seconds)
        return {
            "kept": f"answered after {used} of {limit}",
            "spent": f"no answer within {limit}",
            "running": f"no answer yet after {used} of {limit}",
        }[self.verdict]

    @property
    def sentence(self) -> str:
        """The bar in words."""
        return f"{self.budget.call}, from {self.budget.began:.3f} s: {self.verdict}, {self.words}."


@dataclass(frozen=True, slots=True, repr=False)
class Timing(View):
    """The budgets of a film.

    Attributes:
        film: what was played.
    """

    film: Film

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The limits that were running, in order; what came after the film's last frame is not told."""
        frames = self.film.frames
        until = frames[-1].at if frames else 0.0
        return tuple(Bar(_seen(one, until), until) for one in self.film.budgets if one.began <= until)

    @property
    def told(self) -> str:
        """All of it in words."""
        return " ".join(bar.sentence for bar in self.bars) or NONE

    @property
    def picture(self) -> Picture:
        """The bars; a player fills those with `data-budget` and shows those with `data-verdict` when it is due."""
        height = TOP + ROW * len(self.bars) + (0 if self.bars else 30)
        svg = tag(
            "svg",
            tag("title", f"Timing: {self.film.title}"),
            tag("desc", self.told),
            tag("style", trusted(STYLE)),
            void("rect", class_="wb-ground", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
            tag("text", cut(self.film.title, 90), class_="wb-title", x=LEFT, y=34),
            *(_row(number, bar) for number, bar in enumerate(self.bars)),
            *([] if self.bars else [tag("text", NONE, x=LEFT, y=TOP + 6)]),
            xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-timing",
            viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height,
        )  # fmt: skip
        return Picture(str(svg), WIDTH, height, f"Timing: {self.film.title}. {self.told}")

    def text(self) -> str:
        """A bar of characters for each budget, or one sentence where there is none."""
        lines = [line for bar in self.bars for line in _lines(bar)]
        return "\n".join([f"Timing: {self.film.title}", *(lines or [NONE])])

    def html(self) -> str:
        """The bars with the text form folded up below them, or one sentence where there is none."""
        if not self.bars:
            return paragraph(NONE)
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.text()))
        return tag("figure", self.picture.image(), folded, style="margin:0")


def span(seconds: float) -> str:
    """A time in words: milliseconds where it is short."""
    return f"{seconds * 1000:.0f} ms" if seconds < SHORT else f"{round(seconds, 2):g} s"


def _seen(budget: Budget, until: float) -> Budget:
    """The budget as it stood at that time."""
    over = budget.ended is not None and budget.ended <= until
    return budget if over else replace(budget, ended=None, kept=False)


def _lines(bar: Bar) -> Iterator[str]:
    filled = round(bar.used * CELLS)
    yield ""
    yield f"{MARKS[bar.verdict]} {bar.verdict}  {cut(clean(bar.budget.call), 80)}, from {bar.budget.began:.3f} s"
    yield f"  {'█' * filled}{'·' * (CELLS - filled)}┃ {bar.words}{_source(bar)}"


def _row(number: int, bar: Bar) -> Markup:
    y = TOP + ROW * number
    call = f"{clean(bar.budget.call)}, from {bar.budget.began:.3f} s"
    track = {"x": LEFT, "y": y + 22, "height": 16, "rx": 4}
    filled = round(bar.used * TRACK, 1)
    return tag(
        "g",
        tag("text", cut(call, 90), class_="wb-call", x=LEFT, y=y + 14),
        void("rect", class_="wb-track", width=TRACK, **track),
        void("rect", class_="wb-fill", width=filled, **track, data_budget=number, data_width=TRACK),
        void("line", class_="wb-limit", x1=LEFT + TRACK, y1=y + 17, x2=LEFT + TRACK, y2=y + 43),
        tag("text", f"limit {span(bar.budget.seconds)}{_source(bar)}", x=LEFT + TRACK + 8, y=y + 15),
        tag("g", *_verdict(bar, y), data_verdict=number),
        class_=f"is-{bar.verdict}",
    )


def _verdict(bar: Bar, y: int) -> Iterator[Markup]:
    x = LEFT + TRACK + 8
    if shape := SHAPES.get(bar.verdict):
        sign = (void("path", class_="wb-disc", d=DISCS[shape]), void("path", class_="wb-sign", d=SIGNS[shape]))
        yield tag("g", *sign, transform=f"translate({x + 10} {y + 30})")
    yield tag("text", tag("tspan", bar.verdict, class_="wb-word"), f", {_brief(bar)}", x=x + 25, y=y + 34)


def _source(bar: Bar) -> str:
    """Where the limit is known from, as far as it is a known one."""
    known = LIMITS.get(bar.budget.call)
    return f" ({known.rule}, {known.source})" if known else ""


def _brief(bar: Bar) -> str:
    return "no answer" if bar.verdict == "spent" else f"{span(bar.used * bar.budget.seconds)} used"
