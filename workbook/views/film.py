"""A trace as a film: one frame for each line of the sequence diagram, from which all panels are drawn.

So phone, messages and states move together. A player in a browser chooses the frame to show and decides nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import Actor
from workbook.flows.trace import Kind, Trace
from workbook.views.screen import Screen, after
from workbook.views.sequence import Sequence, is_line, sequence


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
        call: such as `status`.
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
