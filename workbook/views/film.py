"""A trace as a film: what is seen at each step, so that a phone, its messages and its states can move together.

Every line of the sequence diagram is a frame. All panels are drawn from the same film, and a player in a browser only
says which frame is shown: nothing is decided there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.flows import messages as m
from workbook.trace import Kind
from workbook.views.screen import Screen, after
from workbook.views.sequence import drawn, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.flows.machine import Machine
    from workbook.trace import Trace
    from workbook.views.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Frame:
    """One moment.

    Attributes:
        at: seconds since the run began.
        caption: what happens, as a sentence.
        screen: what the cardholder sees then.
        state: the name of the state in which the flow then is.
        moved: the names of the states that it left and came to in this step; None where it stayed.
        event: the class of the event or command.
    """

    at: float
    caption: str
    screen: Screen
    state: str
    moved: tuple[str, str] | None
    event: type[m.Message]


@dataclass(frozen=True, slots=True)
class Budget:
    """The time that one call has, and what became of it.

    Attributes:
        call: such as `status`.
        seconds: how much it has.
        began: when, in seconds since the run began.
        ended: when it answered or its time was over; None where the run ended before.
        kept: it answered in time.
    """

    call: str
    seconds: float
    began: float
    ended: float | None = None
    kept: bool = False

    def seen_at(self, moment: float) -> Budget:
        """The same as far as anybody could know at that moment: what ends later is still running."""
        return self if self.ended is not None and self.ended <= moment else replace(self, ended=None, kept=False)


@dataclass(frozen=True, slots=True)
class Film:
    """A run, frame by frame.

    Attributes:
        title: the trace's.
        machine: the table that was stepped.
        sequence: its lines, one for each frame.
        frames: the moments, in order.
        budgets: the limits that were running, in order.
        first: what was seen before anything happened.
    """

    title: str
    machine: Machine
    sequence: Sequence
    frames: tuple[Frame, ...]
    budgets: tuple[Budget, ...]
    first: Screen

    @property
    def ends(self) -> float:
        """When the last frame is, in seconds since the run began."""
        return self.frames[-1].at if self.frames else 0.0

    def until(self, event: type[m.Message], nth: int = 1) -> Film:
        """The same film up to the frame in which this happens for the nth time; the whole of it where it never does."""
        ends = [number for number, frame in enumerate(self.frames, 1) if frame.event is event]
        if len(ends) < nth:
            return self
        end = ends[nth - 1]
        lines = replace(self.sequence, lines=self.sequence.lines[:end])
        frames = self.frames[:end]
        budgets = tuple(one.seen_at(frames[-1].at) for one in self.budgets if one.began <= frames[-1].at)
        return replace(self, sequence=lines, frames=frames, budgets=budgets)


def film(trace: Trace, machine: Machine, first: Screen | None = None) -> Film:
    """The film of a trace.

    Args:
        trace: what happened.
        machine: the table that was stepped.
        first: what was seen before; it knows which cards are in which wallet.
    """
    begin = first or Screen()
    lines = sequence(trace)
    captions = [line.sentence for line in lines.lines]
    frames = tuple(_frames(trace, captions, begin))
    return Film(lines.title, machine, lines, frames, tuple(_budgets(trace)), begin)


def _frames(trace: Trace, captions: list[str], screen: Screen) -> Iterator[Frame]:
    """A frame for each record that is a line; what the others change shows in the next."""
    told = iter(captions)
    for record in trace:
        if record.kind is not Kind.REFUSED:
            screen = after(screen, record.message, str(record.after))
        if drawn(record):
            moved = (str(record.before), str(record.after)) if record.kind is Kind.EVENT else None
            yield Frame(record.at, next(told), screen, str(record.after), moved, type(record.message))


def _budgets(trace: Trace) -> Iterator[Budget]:
    """Each limit that began, with its end; one machine has one limit at a time."""
    running: Budget | None = None
    for record in trace:
        message = record.message
        if isinstance(message, m.StartBudget):
            running = Budget(message.call, message.seconds, record.at)
        elif running and isinstance(message, m.StopBudget | m.BudgetSpent):
            kept = isinstance(message, m.StopBudget)
            yield Budget(running.call, running.seconds, running.began, record.at, kept)
            running = None
    if running:
        yield running
