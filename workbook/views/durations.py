"""Durations beside their limit: as histograms on a logarithmic scale, and as bars that fill towards the limit.

Each series is a strip of its own below one scale, so that two builds of an extension, or a cold and a warm start, can
be compared step by step. Durations over the limit are right of its line, have another form, and are counted in words.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

from workbook.checks.timing.verdict import Judgement
from workbook.flows.messages import LIMITS
from workbook.views.film import Film
from workbook.views.html import Markup, View, tag, void
from workbook.views.paint import Picture, document, ground, sheet
from workbook.views.table import TEXT_WIDTH, clean, cut, paragraph, wrap

# Everything is painted between these, in a picture that is 1000 pixels wide.
LEFT, RIGHT = 40, 960
# Each verdict's sign in text, and in a picture its disc (a circle, a triangle, an octagon) with the sign on it.
VERDICTS = {
    "pass": ("✓", "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z", "M-4 0.5l3 3l5.5-6.5"),
    "warn": ("!", "M0-9.5L10 8.5H-10z", "M0-3.5v5M0 5v0.2"),
    "fail": ("✗", "M-4-9h8l5 5v8l-5 5h-8l-5-5v-8z", "M-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4"),
    "running": ("…", "", ""),
}
NOT_MEASURED = "Nothing was measured yet."


class _Chart(View):
    """A view with one picture."""

    __slots__ = ()

    @abstractmethod
    def picture(self) -> Picture:
        """The picture, 1000 pixels wide, the same bytes on every run."""

    def svg(self) -> str:
        """The picture as a self-contained SVG document."""
        return self.picture().svg

    def html(self) -> str:
        """The picture with the text form folded up below it."""
        return self.picture().figure(self.text())


def _heading(verdict: str, name: str, y: int, *more: Markup) -> Markup:
    """A verdict's sign, its word and its subject on one line; three forms, so that colour is not needed.

    All but the subject is known only when the call has ended: a player hides the group with the number until then.
    """
    parts = [tag("text", verdict, class_="wb-word", x=LEFT + 25, y=y), *more]
    _mark, disc, sign = VERDICTS[verdict]
    if disc:
        shapes = void("path", class_="wb-disc", d=disc), void("path", class_="wb-sign", d=sign)
        parts.insert(0, tag("g", *shapes, transform=f"translate({LEFT + 9} {y - 4})"))
    words = tag("text", cut(name, 96), class_="wb-name", x=LEFT + 80, y=y)
    return tag("g", *parts, words, class_=f"is-{verdict}")


def _page(name: str, sentences: str, count: str, height: int, parts: list[Markup]) -> Picture:
    """The whole picture; `name` is its title and `count` says how much is in it."""
    title = tag("text", cut(name, 100), class_="wb-title", x=24, y=36)
    alt = f"{name}, {count}. The same as text follows."
    shapes = (ground(1000, height), title, *parts)
    return document(
        "wb-durations", sheet("durations"), name, sentences or NOT_MEASURED, (1000, height), *shapes, alt=alt
    )


# The powers of ten between which durations are counted, with their labels on the scale.
DECADES = {
    -5: "10 µs",
    -4: "100 µs",
    -3: "1 ms",
    -2: "10 ms",
    -1: "100 ms",
    0: "1 s",
    1: "10 s",
    2: "100 s",
    3: "1000 s",
}


class HistogramBar(NamedTuple):
    """Durations of one step that are all on the same side of the limit.

    Attributes:
        low: where the bar begins, in seconds.
        high: where it ends.
        share: its part of the judged durations, from above 0 to 1.
        over: they took longer than the limit.
    """

    low: float
    high: float
    share: float
    over: bool


def bars(judgement: Judgement) -> Iterator[HistogramBar]:
    """The bars in ascending order; a step in which the limit lies is parted there."""
    # A verdict counts exactly what is over the limit, while a histogram knows durations only by their step. Where the
    # limit is inside a step, both parts of it are drawn as bars that meet at the limit.
    limit = judgement.limit.seconds
    for step in judgement.bins:
        if within := step.count - step.over:
            end = min(step.high, limit) if step.low < limit else step.high
            yield HistogramBar(step.low, end, within / judgement.count, over=False)
        if step.over:
            begin = max(step.low, limit) if step.high > limit else step.low
            yield HistogramBar(begin, step.high, step.over / judgement.count, over=True)


@dataclass(frozen=True, slots=True, repr=False)
class Durations(_Chart):
    """Histograms of durations, from the top down."""

    title: str
    judgements: tuple[Judgement, ...]

    @property
    def decades(self) -> range:
        """The powers of ten on the scale: all bars and limits, and some room on both sides of each limit."""
        # Latencies spread over several powers of ten and are skewed to the slow side, about log-normally. Equal steps
        # of the logarithm show the fast bulk and the slow tail alike; the steps within a decade are the preferred
        # numbers R10 of ISO 3, each about 1.26 times the one before.
        # The small numbers undo rounding: log10 of an exact power of ten may be a hair off its whole number.
        limits = [judged.limit.seconds for judged in self.judgements]
        low = [bar.low for judged in self.judgements for bar in bars(judged)] + [limit / 10 for limit in limits]
        high = [bar.high for judged in self.judgements for bar in bars(judged)] + [limit * 2 for limit in limits]
        first = max(floor(log10(min(low, default=0.01)) + 1e-9), min(DECADES))
        return range(first, min(ceil(log10(max(high, default=1)) - 1e-9), max(DECADES)) + 1)

    @property
    def fullest(self) -> float:
        """The share of the fullest step of all strips."""
        return max((bar.share for judged in self.judgements for bar in bars(judged)), default=1.0)

    def text(self) -> str:
        """How many calls of each strip were over the limit, and how long they took; at most 110 columns wide."""
        rows = [cut(self.title, TEXT_WIDTH)]
        for judged in self.judgements:
            rows += ["", cut(f"{VERDICTS[judged.verdict][0]} {judged.verdict}  {clean(judged.name)}", TEXT_WIDTH)]
            rows += (f"  {line}" for words in (judged.finding, judged.took) for line in wrap(words, TEXT_WIDTH - 2))
        return "\n".join([row.rstrip() for row in rows] if self.judgements else [*rows, NOT_MEASURED])

    def picture(self) -> Picture:
        """The strips, 1000 pixels wide, the same bytes on every run.

        In time is a filled bar; over the limit is an outlined bar with stripes, on tinted ground behind the limit's
        line. All strips share one scale of time and one of height, so that they can be compared.
        """
        parts, sentences, y = [], [], 64
        for judged in self.judgements:
            name, words = clean(judged.name), f"{judged.finding}; {judged.took}"
            lines = wrap(words, 145)  # so many characters fit between the edges
            sentences.append(f"{name}: {judged.verdict}, {words}.")
            top = y + 22 + 18 * len(lines)
            parts.append(_heading(judged.verdict, name, y + 8))
            for number, line in enumerate(lines):
                parts.append(tag("text", line, class_="wb-small", x=LEFT, y=y + 30 + 18 * number))
            parts += self._strip(judged, top)
            y = top + 138
        parts += self._legend(y - 4)
        return _page(f"Durations: {self.title}", " ".join(sentences), f"{len(self.judgements)} series", y + 14, parts)

    def _strip(self, judged: Judgement, top: int) -> Iterator[Markup]:
        """The tinted ground and the limit's line, the bars, and the scale below them; the fullest is 66 pixels high."""
        decades, base, highest = self.decades, top + 90, top + 24

        def place(seconds: float) -> float:
            x = LEFT + (log10(seconds) - decades[0]) * (RIGHT - LEFT) / (len(decades) - 1)
            return round(min(max(x, LEFT), RIGHT), 1)

        limit = place(judged.limit.seconds)
        yield void("rect", class_="wb-shade", x=limit, y=top, width=round(RIGHT - limit, 1), height=base - top)
        for power in decades:
            x = place(10.0**power)
            yield void("line", class_="wb-tick", x1=x, y1=highest, x2=x, y2=base)
        yield void("line", class_="wb-limit", x1=limit, y1=top, x2=limit, y2=base)
        over = judged.share_text if judged.over else "none"
        yield tag("text", f"limit {judged.limit_text}", class_="wb-late wb-end wb-bold", x=limit - 7, y=top + 15)
        yield tag("text", f"over: {over}", class_="wb-late", x=limit + 8, y=top + 15)
        for bar in bars(judged):
            left, right = place(bar.low), place(bar.high)
            height = max(round(bar.share / self.fullest * (base - highest), 1), 3)
            box = {"x": round(left + 1, 1), "width": round(max(right - left - 2, 1), 1), "height": height}
            yield void("rect", class_="wb-over" if bar.over else "wb-bar", y=round(base - height, 1), **box)
            stripes = (f"M{left + 1:g} {base - up}H{right - 1:g}" for up in range(5, int(height), 5))
            if bar.over and (path := "".join(stripes)):
                yield void("path", class_="wb-hatch", d=path)
        yield void("line", class_="wb-base", x1=LEFT, y1=base, x2=RIGHT, y2=base)
        for power in decades:
            x = place(10.0**power)
            yield void("line", class_="wb-base", x1=x, y1=base, x2=x, y2=base + 5)
            yield tag("text", DECADES[power], class_="wb-small wb-middle", x=x, y=base + 18)

    def _legend(self, y: int) -> Iterator[Markup]:
        if not self.judgements:
            yield tag("text", NOT_MEASURED, x=24, y=y + 4)
            return
        yield void("rect", class_="wb-bar", x=LEFT, y=y - 10, width=12, height=11)
        yield tag("text", "in time", class_="wb-small", x=LEFT + 18, y=y)
        yield void("rect", class_="wb-over", x=LEFT + 72, y=y - 10, width=12, height=11)
        yield void("path", class_="wb-hatch", d=f"M{LEFT + 72} {y - 6}h12M{LEFT + 72} {y - 2}h12")
        words = "over the limit; each bar's height is the share of the calls that took so long, at least a thin line"
        yield tag("text", words, class_="wb-small", x=LEFT + 90, y=y)


def durations(title: str, judgements: Iterable[Judgement]) -> Durations:
    """The histograms of these judgements, one strip each."""
    return Durations(clean(title), tuple(judgements))


# Budgets: each call is a bar that fills towards its limit, as far as its worst call went.

# The length of a whole limit in the picture, in pixels.
TRACK = 740
# From this share of a limit on there is little room left.
LITTLE_LEFT = 0.8


@dataclass(frozen=True, slots=True)
class Budget:
    """One call and its limit.

    Attributes:
        name: the call, and when it was made.
        verdict: pass, warn or fail; running for a call that has not ended yet.
        used: the share of the limit that the worst call used; 1 is all of it.
        used_text: the same as a percentage.
        words: the same in words, with how many were over.
    """

    name: str
    verdict: str
    used: float
    used_text: str
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class Budgets(_Chart):
    """How much of its limit each call used, from the top down; `nothing` is said where there is no call."""

    title: str
    budgets: tuple[Budget, ...]
    nothing: str = NOT_MEASURED

    def text(self) -> str:
        """What each bar says, at most 110 columns wide."""
        lines = [cut(self.title, TEXT_WIDTH)]
        for budget in self.budgets:
            lines += ["", cut(f"{VERDICTS[budget.verdict][0]} {budget.verdict}  {budget.name}", TEXT_WIDTH)]
            lines += [f"  {line}" for line in wrap(budget.words, TEXT_WIDTH - 2)]
        return "\n".join([*lines, *([] if self.budgets else [self.nothing])])

    def picture(self) -> Picture:
        """The bars, 1000 pixels wide, the same bytes on every run."""
        parts = [part for number, budget in enumerate(self.budgets) for part in _track(budget, number)]
        y = 72 + 74 * len(self.budgets)
        if self.budgets:
            parts += (
                void("rect", class_="wb-bar", x=LEFT, y=y - 10, width=12, height=11),
                tag("text", "used by the worst call", class_="wb-small", x=LEFT + 18, y=y),
                void("line", class_="wb-room", x1=LEFT + 160, y1=y - 11, x2=LEFT + 160, y2=y + 2),
                tag("text", "from here on there is little room", class_="wb-small", x=LEFT + 168, y=y),
                void("line", class_="wb-limit", x1=LEFT + 362, y1=y - 11, x2=LEFT + 362, y2=y + 2),
                tag("text", "the limit; stripes are beyond it", class_="wb-small", x=LEFT + 370, y=y),
            )
        else:
            parts.append(tag("text", self.nothing, x=24, y=y))
        sentences = " ".join(f"{budget.name}: {budget.verdict}, {budget.words}." for budget in self.budgets)
        return _page(self.title, sentences, f"{len(self.budgets)} calls", y + 22, parts)

    def html(self) -> str:
        """The picture with the text form folded up below it, or one sentence where there is nothing to show."""
        return self.picture().figure(self.text()) if self.budgets else paragraph(self.nothing)


def _track(budget: Budget, number: int) -> Iterator[Markup]:
    """One bar: the whole limit as a track, the used part of it, and the marks."""
    y = 64 + 74 * number
    top, end, room = y + 18, LEFT + TRACK, LEFT + round(LITTLE_LEFT * TRACK)
    share = tag("text", budget.used_text, class_="wb-name wb-end", x=RIGHT, y=top + 13)
    words = tag("text", cut(budget.words, 145), class_="wb-small", x=LEFT, y=top + 34)
    yield _heading(budget.verdict, budget.name, y + 8, share, words)
    box = {"x": LEFT, "y": top, "height": 16, "rx": 4}
    yield void("rect", class_="wb-track", width=TRACK, **box)
    width = round(max(min(budget.used, 1) * TRACK, 3), 1) if budget.used > 0 else 0
    yield void("rect", class_="wb-bar", width=width, **box)
    yield void("line", class_="wb-room", x1=room, y1=top - 4, x2=room, y2=top + 20)
    if budget.used > 1:
        width = round(max(min(budget.used - 1, 0.1) * TRACK, 3), 1)  # at most a tenth of the limit is drawn beyond it
        yield void("rect", class_="wb-over", x=end, y=top, width=width, height=16)
        stripes = "".join(f"M{end} {top + down}h{width:g}" for down in (4, 8, 12))
        yield void("path", class_="wb-hatch", d=stripes)
    yield void("line", class_="wb-limit", x1=end, y1=top - 5, x2=end, y2=top + 21)


def budgets(title: str, judgements: Iterable[Judgement]) -> Budgets:
    """How much of its limit each of these used, one bar each."""
    rows = []
    for judgement in judgements:
        words = f"the worst used {judgement.used_text} of {judgement.limit_text}; {judgement.finding}"
        verdict = str(judgement.verdict)
        rows.append(Budget(clean(judgement.name), verdict, judgement.used, judgement.used_text, words))
    return Budgets(clean(title), tuple(rows))


def timing(film: Film) -> Budgets:
    """The time limits of a run, one bar for each call of the wallet that has one, as far as the film goes."""
    rows = []
    for budget in film.limits:
        ended = film.ends if budget.ended is None else budget.ended
        used = max(0.0, min((ended - budget.began) / budget.seconds, 1.0), budget.really / budget.seconds)
        limit, took = span(budget.seconds), span(used * budget.seconds)
        if budget.ended is None:
            verdict, words = "running", f"no answer yet after {took} of {limit}"
        elif budget.failed:
            verdict, words = "fail", f"failed after {took} of {limit}"
        elif budget.kept:
            verdict, words = "pass" if used < LITTLE_LEFT else "warn", f"answered after {took} of {limit}"
        else:
            really = f": your code really took {span(budget.really)}" if budget.really else ""
            verdict, words = "fail", f"no answer within {limit}{really}"
        known = LIMITS.get(budget.call)
        source = f" ({known.rule}, {known.source})" if known else ""
        name = f"{clean(budget.call)}, from {budget.began:.3f} s"
        rows.append(Budget(name, verdict, used, f"{100 * used:.0f} %", words + source))
    return Budgets(f"Timing: {film.title}", tuple(rows), "No call in this run has a time limit.")


def span(seconds: float) -> str:
    """A time with its unit: milliseconds where it is short."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.995 else f"{round(seconds, 2):g} s"
