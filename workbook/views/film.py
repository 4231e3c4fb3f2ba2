"""A trace as a film: one frame for each line of the sequence diagram, from which all panels are drawn.

So phone, messages and states move together. A player in a browser chooses the frame to show and decides nothing else.
The wallet's time limits are drawn here, too: one bar for each call, which fills towards the limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import LIMITS, LITTLE_LEFT, Actor
from workbook.flows.trace import Kind, Trace
from workbook.views.html import Markup, View, tag, void
from workbook.views.paint import Picture, document, ground, sheet
from workbook.views.screen import Screen, after
from workbook.views.sequence import Sequence, is_line, sequence
from workbook.views.table import TEXT_WIDTH, clean, cut, paragraph, wrap


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment.

    Attributes:
        at: seconds since the run began.
        caption: the event as a sentence.
        screen: what the cardholder sees.
        state: the name of the flow's state.
        moved: the names of the states before and after the step; None for a line that is no event of the flow.
        event: the class of the event or command.
    """

    at: float
    caption: str
    screen: Screen
    state: str
    moved: tuple[str, str] | None
    event: type[m.Message]


@dataclass(frozen=True, slots=True)
class CallBudget:
    """The time limit of one call, and its outcome.

    Attributes:
        call: such as `pass_entries`.
        seconds: the limit.
        began: the moment of the call, in seconds since the run began.
        ended: the moment when it answered or its time was over; None where the run ended before.
        kept: it answered in time.
        failed: it raised instead of answering.
        really: seconds of real time that the integrator's code took, where that was long.
    """

    call: str
    seconds: float
    began: float
    ended: float | None = None
    kept: bool = False
    failed: bool = False
    really: float = 0.0

    def seen_at(self, moment: float) -> CallBudget:
        """The same, as far as it is known at that moment: a call that ends later is still running."""
        known = self.ended is not None and self.ended <= moment
        return self if known else CallBudget(self.call, self.seconds, self.began)


@dataclass(frozen=True, slots=True)
class Film:
    """A run, frame by frame.

    Attributes:
        title: the trace's title.
        machine: the table of states and events.
        sequence: the lines, one for each frame.
        frames: the moments, in order.
        budgets: the time limits that ran, in order.
        first: the screen before anything happened.
    """

    title: str
    machine: Machine
    sequence: Sequence
    frames: tuple[Frame, ...]
    budgets: tuple[CallBudget, ...]
    first: Screen

    @property
    def cast(self) -> tuple[Actor, ...]:
        """The actors of the flow, whether or not they take part in this run."""
        messages = (message for row in self.machine.rows for message in (row.event, *row.commands) if message.arrow)
        actors = {
            Actor.API,
            *self.sequence.columns,
            *(actor for each in messages for actor in (each.sender, each.receiver)),
        }
        if Actor.WALLET_APP not in actors:
            actors.add(Actor.WALLET)  # the SDK speaks to it outside the table
        return tuple(actor for actor in Actor if actor in actors)

    @property
    def ends(self) -> float:
        """When the last frame is, in seconds since the run began."""
        return self.frames[-1].at if self.frames else 0.0

    @property
    def limits(self) -> tuple[CallBudget, ...]:
        """The time limits that were running, in order, as far as they are known at the last frame."""
        return tuple(budget.seen_at(self.ends) for budget in self.budgets if budget.began <= self.ends)

    def until(self, event: type[m.Message], nth: int = 1) -> Film:
        """The same film up to the frame in which this happens for the nth time; the whole of it where it never does."""
        ends = [number for number, frame in enumerate(self.frames, 1) if frame.event is event]
        if len(ends) < nth:
            return self
        end = ends[nth - 1]
        lines = replace(self.sequence, lines=self.sequence.lines[:end])
        frames, until = self.frames[:end], self.frames[end - 1].at
        budgets = tuple(budget.seen_at(until) for budget in self.budgets if budget.began <= until)
        return replace(self, sequence=lines, frames=frames, budgets=budgets)


def film(trace: Trace, machine: Machine, first: Screen | None = None) -> Film:
    """The film of a trace.

    Args:
        trace: what happened.
        machine: the table of states and events.
        first: the screen before anything happened, with the cards in each wallet.
    """
    screen = begin = first or Screen()
    lines = sequence(trace)
    captions, frames = (line.sentence for line in lines.lines), []
    # A fold over the records: each may change the screen; where one is no line, the next frame shows its change.
    for record in trace:
        if record.kind is not Kind.REFUSED:
            screen = after(screen, record.message, str(record.after))
        if is_line(record):
            moved = (str(record.before), str(record.after)) if record.kind is Kind.EVENT else None
            frames.append(Frame(record.at, next(captions), screen, str(record.after), moved, type(record.message)))
    return Film(lines.title, machine, lines, tuple(frames), tuple(_budgets(trace)), begin)


def _budgets(trace: Trace) -> Iterator[CallBudget]:
    """Each time limit with its end; a machine has one limit at a time."""
    running: CallBudget | None = None
    failed = False
    for record in trace:
        message = record.message
        if isinstance(message, m.StartBudget):
            running = CallBudget(message.call, message.seconds, record.at)
        elif running and isinstance(message, m.CodeTookLong):
            before = 0.0 if message.outcome else running.really  # a call that had not ended holds those inside it
            running = replace(running, really=before + message.really)
        elif running and isinstance(message, m.StopBudget | m.BudgetSpent):
            in_time = isinstance(message, m.StopBudget)
            yield replace(running, ended=record.at, kept=in_time, failed=in_time and failed)
            running = None
        if record.kind is Kind.EVENT:
            failed = isinstance(message, m.HandlerRaised)
    if running:
        yield running


# The time limits as a picture. All limits are equally long; a call that took too long is striped beyond its limit.

# Everything is painted between these, in a picture that is 1000 pixels wide.
LEFT, RIGHT = 40, 960
# Each verdict's sign in text, and in a picture its disc (a circle, a triangle, an octagon) with the sign on it.
VERDICTS = {
    "pass": ("✓", "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z", "M-4 0.5l3 3l5.5-6.5"),
    "warn": ("!", "M0-9.5L10 8.5H-10z", "M0-3.5v5M0 5v0.2"),
    "fail": ("✗", "M-4-9h8l5 5v8l-5 5h-8l-5-5v-8z", "M-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4"),
    "running": ("…", "", ""),
}
# The length of a whole limit in the picture, in pixels.
TRACK = 740
NO_LIMIT = "No call in this run has a time limit."


@dataclass(frozen=True, slots=True)
class Budget:
    """One call and its limit.

    Attributes:
        name: the call, and when it was made.
        verdict: pass, warn or fail; running for a call that has not ended yet.
        used: the share of the limit that the call used; 1 is all of it.
        words: what became of it, with the limit and its rule.
    """

    name: str
    verdict: str
    used: float
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class Budgets(View):
    """How much of its limit each call used, from the top down."""

    title: str
    budgets: tuple[Budget, ...]

    def text(self) -> str:
        """What each bar says, at most 110 columns wide."""
        lines = [cut(self.title, TEXT_WIDTH)]
        for budget in self.budgets:
            lines += ["", cut(f"{VERDICTS[budget.verdict][0]} {budget.verdict}  {budget.name}", TEXT_WIDTH)]
            lines += [f"  {line}" for line in wrap(budget.words, TEXT_WIDTH - 2)]
        return "\n".join([*lines, *([] if self.budgets else [NO_LIMIT])])

    @property
    def picture(self) -> Picture:
        """The bars, 1000 pixels wide, the same bytes on every run."""
        y = 72 + 74 * len(self.budgets)
        shapes = (
            ground(1000, y + 22),
            tag("text", cut(self.title, 100), class_="wb-title", x=24, y=36),
            *(part for number, budget in enumerate(self.budgets) for part in _track(budget, number)),
            void("rect", class_="wb-bar", x=LEFT, y=y - 10, width=12, height=11),
            tag("text", "used", class_="wb-small", x=LEFT + 18, y=y),
            void("line", class_="wb-room", x1=LEFT + 160, y1=y - 11, x2=LEFT + 160, y2=y + 2),
            tag("text", "from here on there is little room", class_="wb-small", x=LEFT + 168, y=y),
            void("line", class_="wb-limit", x1=LEFT + 362, y1=y - 11, x2=LEFT + 362, y2=y + 2),
            tag("text", "the limit; stripes are beyond it", class_="wb-small", x=LEFT + 370, y=y),
        )
        sentences = " ".join(f"{budget.name}: {budget.verdict}, {budget.words}." for budget in self.budgets)
        alt = f"{self.title}, {len(self.budgets)} calls. The same as text follows."
        return document("wb-limits", sheet("limits"), self.title, sentences, (1000, y + 22), *shapes, alt=alt)

    def html(self) -> str:
        """The picture with the text form folded up below it, or one sentence where there is nothing to show."""
        return self.picture.figure(self.text()) if self.budgets else paragraph(NO_LIMIT)


def _track(budget: Budget, number: int) -> Iterator[Markup]:
    """One bar: its heading, the whole limit as a track, the used part of it, and the marks."""
    y = 64 + 74 * number
    top, end, room = y + 18, LEFT + TRACK, LEFT + round(LITTLE_LEFT * TRACK)
    yield _heading(budget, y + 8)
    yield tag("text", f"{100 * budget.used:.0f} %", class_="wb-name wb-end", x=RIGHT, y=top + 13)
    yield tag("text", cut(budget.words, 145), class_="wb-small", x=LEFT, y=top + 34)
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


def _heading(budget: Budget, y: int) -> Markup:
    """A verdict's sign, its word and its call on one line; three forms, so that colour is not needed."""
    _mark, disc, sign = VERDICTS[budget.verdict]
    shapes = []
    if disc:
        paths = void("path", class_="wb-disc", d=disc), void("path", class_="wb-sign", d=sign)
        shapes.append(tag("g", *paths, transform=f"translate({LEFT + 9} {y - 4})"))
    word = tag("text", budget.verdict, class_="wb-word", x=LEFT + 25, y=y)
    name = tag("text", cut(budget.name, 96), class_="wb-name", x=LEFT + 80, y=y)
    return tag("g", *shapes, word, name, class_=f"is-{budget.verdict}")


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
        source = f" ({known.rules[0]}, {known.source})" if known else ""
        name = f"{clean(camel(budget.call))}, from {budget.began:.3f} s"
        rows.append(Budget(name, verdict, used, words + source))
    return Budgets(f"Timing: {film.title}", tuple(rows))


def camel(name: str) -> str:
    """A name in the document's spelling."""
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)


def span(seconds: float) -> str:
    """A time with its unit: milliseconds where it is short."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.995 else f"{round(seconds, 2):g} s"
