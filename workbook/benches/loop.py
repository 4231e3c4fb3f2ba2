"""The loop: the only one that touches the world.

It takes events from a clock, steps the table, carries out the commands that come back, puts the
replies on the clock, and records each of these. It decides nothing: what may happen next is the
table's business, what the outcome is the stand-ins', and what it means the readers' of the trace.

A bench is this loop with its commands connected: each command has one port, which may answer with an
event and the seconds until it happens. The document's suspending operations are plain steps here:
virtual time stands for the suspension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.errors import OutOfOrderError
from workbook.flows import messages as m
from workbook.simulation.clock import Clock
from workbook.trace import Kind, Record, Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import StrEnum

    from workbook.flows.machine import Machine
    from workbook.flows.messages import Command, Event

    Reply = tuple[float, Event]
    Port = Callable[[Any], Reply | None]


class Loop:
    """One run of one machine.

    Attributes:
        machine: the table that is stepped.
        state: where it stands.
        trace: every step so far.
    """

    begins: type[Event] = m.AddTapped
    """The event that begins another attempt."""

    def __init__(self, machine: Machine, title: str) -> None:
        self.machine = machine
        self.state: StrEnum = machine.initial
        self.trace = Trace(title)
        self._attempt = 0
        self._budget: int | None = None
        self._clock: Clock[Event] = Clock()
        self._ports: dict[type[Command], Port] = self._connect()

    @property
    def allowed(self) -> tuple[type[Event], ...]:
        """The events that the table has a row for now."""
        return self.machine.allowed(self.state)

    @property
    def due(self) -> float | None:
        """When the next event happens, in seconds since the run began; None when none is left."""
        return self._clock.due

    def soon(self, event: Event, delay: float = 0.0) -> None:
        """Put one event on the clock, due in `delay` seconds; nothing runs yet."""
        self._clock.after(delay, event)

    def feed(self, event: Event) -> Trace:
        """Let one event happen now; runs until nothing is due."""
        self.soon(event)
        return self.run()

    def run(self) -> Trace:
        """Take events from the clock until none is left."""
        for event in self._clock:
            self._happen(event)
        return self.trace

    def take(self) -> None:
        """Take the next event alone, for loops that run side by side; see `together`."""
        for event in self._clock:
            self._happen(event)
            return

    def _connect(self) -> dict[type[Command], Port]:
        """Who carries out what: one port for each command."""
        budgets: dict[type[Command], Port] = dict.fromkeys(m.BUDGETS, self._start_budget)
        return budgets | {m.StopBudget: self._stop_budget}

    def _happen(self, event: Event) -> None:
        before = self.state
        if isinstance(event, m.Aside):
            self._record(Kind(event.kind), event, before, event.rules)
            return
        try:
            step = self.machine.step(before, event)
        except OutOfOrderError:
            self._record(Kind.REFUSED, event, before, event.rules)
            return
        self.state = step.state
        self._attempt += isinstance(event, self.begins)
        row = step.row
        self._record(Kind.EVENT, event, before, row.rules, deprecated=row.deprecated, source=row.source)
        for command in step.commands:
            self._record(Kind.COMMAND, command, self.state, command.rules or row.rules, source=row.source)
            self._carry_out(command, event)

    def _carry_out(self, command: Command, event: Event) -> None:
        port = self._ports[type(command)]
        reply = port(event if type(command) is m.HandToApp else command)
        if reply is not None:
            self._clock.after(*reply)

    def _start_budget(self, command: m.StartBudget) -> None:
        self._budget = self._clock.after(command.seconds, command.spent(command.call))

    def _stop_budget(self, _command: m.StopBudget) -> None:
        self._clock.cancel(self._budget)

    def _seen_now(self, event: Event) -> None:
        self._clock.after(0.0, event)

    def _record(
        self,
        kind: Kind,
        message: Any,
        before: StrEnum,
        rules: tuple[str, ...],
        *,
        deprecated: bool = False,
        source: str = "spec",
    ) -> None:
        now, after = self._clock.now, self.state
        self.trace.append(Record(now, kind, message, before, after, rules, self._attempt, deprecated, source))


def together(*loops: Loop) -> None:
    """Run several loops side by side in the order of time, the first one first when two are due at once."""
    while waiting := [loop for loop in loops if loop.due is not None]:
        min(waiting, key=_due).take()


def _due(loop: Loop) -> float:
    return loop.due or 0.0
