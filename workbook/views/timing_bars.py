"""The time limits of a run as bars that fill.

Each call of the wallet that has a limit is one bar: its whole length is the limit, its filled part was used. For
measured or planned durations of many calls see `durations`.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbook.flows.messages import LIMITS
from workbook.views.durations import DISCS, SIGNS
from workbook.views.film import CallBudget, Film
from workbook.views.html import Markup, View, tag, void
from workbook.views.paint import FONT, Picture, document, ground, sheet
from workbook.views.table import clean, cut, paragraph

NONE = "No call in this run has a time limit."
WIDTH, LEFT, TRACK = 900, 24, 640
"""The width of the picture, where its bars begin, and the length of a whole limit, in pixels."""
TOP, ROW = 56, 62
CELLS = 50
"""The length of a whole limit in the text form, in characters."""
SHORT = 0.995
"""Times below so many seconds are shown in milliseconds."""
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
"""The signs of `durations` with the same meaning: a circle with a tick, an octagon with a cross."""


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """One call's limit at a moment of the run.

    Attributes:
        budget: the call and its limit.
        until: the moment, in seconds since the run began.
    """

    budget: CallBudget
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
        """The outcome as a phrase."""
        limit, used = span(self.budget.seconds), span(self.used * self.budget.seconds)
        return {
            "kept": f"answered after {used} of {limit}",
            "spent": f"no answer within {limit}",
            "running": f"no answer yet after {used} of {limit}",
        }[self.verdict]

    @property
    def source(self) -> str:
        """The rule and the source of the limit, where it is one of the wallet's."""
        known = LIMITS.get(self.budget.call)
        return f" ({known.rule}, {known.source})" if known else ""


@dataclass(frozen=True, slots=True, repr=False)
class Timing(View):
    """The time limits of a film."""

    film: Film

    @property
    def bars(self) -> tuple[BudgetBar, ...]:
        """The limits that were running, in order, as far as they are known at the film's last frame."""
        until = self.film.ends
        return tuple(BudgetBar(budget.seen_at(until), until) for budget in self.film.budgets if budget.began <= until)

    @property
    def picture(self) -> Picture:
        """The bars; a player fills those with `data-budget` and shows those with `data-verdict` when they are due."""
        height = TOP + ROW * len(self.bars) + (0 if self.bars else 30)
        sentences = " ".join(
            f"{bar.budget.call}, from {bar.budget.began:.3f} s: {bar.verdict}, {bar.words}." for bar in self.bars
        )
        name, words = f"Timing: {self.film.title}", sentences or NONE
        title = tag("text", cut(self.film.title, 90), class_="wb-title", x=LEFT, y=34)
        parts = [_row(number, bar) for number, bar in enumerate(self.bars)] or [tag("text", NONE, x=LEFT, y=TOP + 6)]
        shapes = (ground(WIDTH, height), title, *parts)
        return document("wb-timing", STYLE, name, words, (WIDTH, height), *shapes, alt=f"{name}. {words}")

    def text(self) -> str:
        """A bar of characters for each limit, or one sentence where there is none."""
        lines = []
        for bar in self.bars:
            call, filled = cut(clean(bar.budget.call), 80), round(bar.used * CELLS)
            lines += ["", f"{MARKS[bar.verdict]} {bar.verdict}  {call}, from {bar.budget.began:.3f} s"]
            lines.append(f"  {'█' * filled}{'·' * (CELLS - filled)}┃ {bar.words}{bar.source}")
        return "\n".join([f"Timing: {self.film.title}", *(lines or [NONE])])

    def html(self) -> str:
        """The bars with the text form folded up below them, or one sentence where there is none."""
        return self.picture.figure(self.text()) if self.bars else paragraph(NONE)


def span(seconds: float) -> str:
    """A time with its unit: milliseconds where it is short."""
    return f"{seconds * 1000:.0f} ms" if seconds < SHORT else f"{round(seconds, 2):g} s"


def _row(number: int, bar: BudgetBar) -> Markup:
    y, x = TOP + ROW * number, LEFT + TRACK + 8
    call = f"{clean(bar.budget.call)}, from {bar.budget.began:.3f} s"
    track = {"x": LEFT, "y": y + 22, "height": 16, "rx": 4}
    used = "no answer" if bar.verdict == "spent" else f"{span(bar.used * bar.budget.seconds)} used"
    verdict = [tag("text", tag("tspan", bar.verdict, class_="wb-word"), f", {used}", x=x + 25, y=y + 34)]
    if shape := SHAPES.get(bar.verdict):
        sign = (void("path", class_="wb-disc", d=DISCS[shape]), void("path", class_="wb-sign", d=SIGNS[shape]))
        verdict.insert(0, tag("g", *sign, transform=f"translate({x + 10} {y + 30})"))
    return tag(
        "g",
        tag("text", cut(call, 90), class_="wb-call", x=LEFT, y=y + 14),
        void("rect", class_="wb-track", width=TRACK, **track),
        void("rect", class_="wb-fill", width=round(bar.used * TRACK, 1), **track, data_budget=number, data_width=TRACK),
        void("line", class_="wb-limit", x1=LEFT + TRACK, y1=y + 17, x2=LEFT + TRACK, y2=y + 43),
        tag("text", f"limit {span(bar.budget.seconds)}{bar.source}", x=x, y=y + 15),
        tag("g", *verdict, data_verdict=number),
        class_=f"is-{bar.verdict}",
    )
