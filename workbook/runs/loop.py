"""The loop: it alone acts on apps, SDKs and back ends.

It takes events from a clock, steps the table, carries out the commands that come back, puts the replies on the
clock, and records each of these. It decides nothing: the table says what may happen next, the stand-ins of the SDKs
what comes of a call, and the readers of the trace what that means.

A run is this loop with its commands connected: each command has one port, which may answer with an event and the
seconds until it happens. The document's suspending operations are plain steps here: virtual time passes instead of the
suspension.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from workbook.base.values import quoted
from workbook.errors import OutOfOrderError, ParameterError
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import Command, Event
from workbook.flows.trace import Kind, Record, Trace
from workbook.simulation.sdks import Reply

# Virtual time: a heap of (time, ticket, item). The ticket breaks ties, so every run is the same run.

Item = TypeVar("Item")


class EventClock(Generic[Item]):
    """A clock that never sleeps: taking the next item moves `now` to that item's time, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self._ticket = 0
        self._heap: list[tuple[float, int, Item]] = []

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def due(self) -> float | None:
        """The time of the next item, in seconds; None when there is none."""
        return self._heap[0][0] if self._heap else None

    def after(self, delay: float, item: Item) -> int:
        """Put `item` on the clock, due in `delay` seconds (0 or more); the ticket can cancel it."""
        self._ticket += 1
        heappush(self._heap, (self.now + delay, self._ticket, item))
        return self._ticket

    def cancel(self, ticket: int | None) -> None:
        """Take an item off the clock; nothing happens when it was due already."""
        self._heap = sorted(entry for entry in self._heap if entry[1] != ticket)

    def replace(self, ticket: int | None, item: Item) -> None:
        """Replace the ticket's item by `item`, due as before; nothing happens when it was due already."""
        self._heap = [(at, number, item if number == ticket else known) for at, number, known in self._heap]

    def __iter__(self) -> Iterator[Item]:
        """Each item when it is due, those put on the clock meanwhile included; `now` becomes its time."""
        while self._heap:
            self.now, _ticket, item = heappop(self._heap)
            yield item


RECORD: Callable[[tuple[Any, ...]], Record] = partial(tuple.__new__, Record)
"""Makes a record from its nine values in half the time that its own constructor takes: a run makes dozens."""
Port = Callable[[Any, Any], Reply | None]
"""Carries out one command of a run; it takes the run, then the command."""


class Loop:
    """One run of one machine.

    Attributes:
        machine: the table that is stepped.
        state: the state that the table is in.
        trace: every step so far.
    """

    begins: type[Event] = m.AddTapped
    """The event that begins another attempt."""
    interrupted: Mapping[type[Command], Event] = MappingProxyType({})
    """The event to post when an interrupt hits during this command."""

    def __init__(self, machine: Machine, title: str) -> None:
        self.machine = machine
        self.state: StrEnum = machine.initial
        records: list[Record] = []
        self.trace = Trace(title, records)
        self._record = records.append
        self._attempt = 0
        self._budget: int | None = None
        self._clock: EventClock[Event] = EventClock()

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
        """Let one event happen now; runs until nothing is due.

        Raises:
            ParameterError: it is no event.
        """
        if not isinstance(event, Event):
            raise ParameterError(f"feed takes an event, such as AddTapped(), not {quoted(event)}.")
        self.soon(event)
        return self.run()

    def run(self) -> Trace:
        """Take events from the clock until none is left."""
        try:
            for event in self._clock:
                self._happen(event)
        except BaseException:
            # The kernel's stop button, most likely: what is due still happens, so that the attempt ends as a failure
            # and the next one can begin. Without this a stopped cell would leave the table waiting for ever.
            for event in self._clock:
                self._happen(event)
            raise
        return self.trace

    def take(self) -> None:
        """Take the next event alone, for loops that run side by side; see `together`."""
        for event in self._clock:
            self._happen(event)
            return

    def _happen(self, event: Event) -> None:
        """Step the table with one event, and carry out the commands that it hands out."""
        before, now, record = self.state, self._clock.now, self._record
        if isinstance(event, m.Aside):
            kind = Kind.NOTE if event.kind == "note" else Kind.EXCHANGE  # a look-up by value takes longer
            record(RECORD((now, kind, event, before, before, event.rules, self._attempt, False, "spec")))
            return
        try:
            after, commands, row = self.machine.step(before, event)
        except OutOfOrderError:
            record(RECORD((now, Kind.REFUSED, event, before, before, event.rules, self._attempt, False, "spec")))
            return
        # The state moves before any command is carried out: a port may ask what is allowed now, or call again.
        self.state = after
        self._attempt += isinstance(event, self.begins)
        attempt, source = self._attempt, row.event_source
        record(RECORD((now, Kind.EVENT, event, before, after, row.rules, attempt, row.deprecated, source)))
        for command, source in zip(commands, row.command_sources, strict=True):
            rules = command.rules or row.rules
            record(RECORD((now, Kind.COMMAND, command, after, after, rules, attempt, False, source)))
            port = self.ports[type(command)]
            try:
                reply = port(self, event if type(command) is m.HandToApp else command)
            except BaseException:
                if (outcome := self.interrupted.get(type(command))) is not None:
                    self.soon(outcome)
                raise
            if reply is not None:
                self._clock.after(*reply)

    def _start_budget(self, command: m.StartBudget) -> None:
        self._budget = self._clock.after(command.seconds, command.spent(command.call))

    def _stop_budget(self, _command: m.StopBudget) -> None:
        self._clock.cancel(self._budget)

    ports: ClassVar[Mapping[type[Command], Port]] = {
        **dict.fromkeys(m.BUDGETS, _start_budget),
        m.StopBudget: _stop_budget,
    }
    """What carries out each command; a subclass adds its own."""


def together(*loops: Loop) -> None:
    """Run several loops side by side in the order of time, the first one first when two are due at once."""
    # One event at a time: an event of one loop may change what the next event of another finds, such as a shared phone.
    while waiting := [loop for loop in loops if loop.due is not None]:
        min(waiting, key=lambda loop: loop.due or 0.0).take()
