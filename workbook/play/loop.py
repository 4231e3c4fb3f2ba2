"""The loop: it alone acts on apps, SDKs and back ends.

It takes events from an agenda, steps the table, carries out the commands that come back, puts the replies on the
agenda, and records each of these. It decides nothing: the table says what may happen next, the stand-ins of the SDKs
what comes of a call, and the readers of the trace what that means.

A run is this loop with its commands connected: each command has one port, which may answer with an event and the
seconds until it happens. The document's suspending operations are plain steps here: virtual time passes instead of the
suspension.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from enum import StrEnum
from heapq import heappop, heappush
from threading import Lock
from typing import Any, ClassVar, cast

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import number, quoted, whole
from workbook.errors import OutOfOrderError, ParameterError
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import Command, Event
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import VariantA, VariantB
from workbook.play.back_end import TRY_LATER, BackEnd, Relayed
from workbook.play.own_code import call_watched, own_failures, relay_through
from workbook.simulation.clock import VirtualClock
from workbook.simulation.phones import PhoneA, PhoneB
from workbook.simulation.sdks import Reply

# Virtual time: a heap of (time, ticket, event). The ticket breaks ties, so every run is the same run.


class Agenda:
    """What is due when on a run's clock: taking the next event makes it that event's time.

    Attributes:
        now: the time of the latest event; the clock itself is ahead of it while a call is under way.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.now = clock.now()
        self._ticket = 0
        self._heap: list[tuple[float, int, Event]] = []

    @property
    def due(self) -> float | None:
        """The time of the next event, in seconds; None when there is none."""
        return self._heap[0][0] if self._heap else None

    def after(self, delay: float, event: Event) -> int:
        """Put an event on the agenda, due in `delay` seconds (0 or more)."""
        return self.at(self.clock.after(delay), event)

    def at(self, time: float, event: Event) -> int:
        """Put an event on the agenda, due at this time; the ticket can cancel it."""
        self._ticket += 1
        heappush(self._heap, (time, self._ticket, event))
        return self._ticket

    def cancel(self, ticket: int | None) -> None:
        """Take an event off the agenda; nothing happens when it was due already."""
        self._heap = sorted(entry for entry in self._heap if entry[1] != ticket)

    def replace(self, ticket: int | None, event: Event) -> None:
        """Replace the ticket's event by another, due as before; nothing happens when it was due already."""
        self._heap = [(due, number, event if number == ticket else known) for due, number, known in self._heap]

    def __iter__(self) -> Iterator[Event]:
        """Each event when it is due, those put on the agenda meanwhile included; the clock shows its time."""
        while self._heap:
            self.now, _ticket, event = heappop(self._heap)
            self.clock.move(self.now)
            yield event


# Carries out one command of a run; it takes the run, then the command.
Port = Callable[[Any, Any], Reply | None]


class Loop:
    """One run of one machine.

    Attributes:
        machine: the table that is stepped.
        state: the state that the table is in.
        trace: every step so far.
    """

    # The event that begins another attempt.
    begins: type[Event] = m.AddTapped
    # The event to post when an interrupt hits during this command.
    interrupted: ClassVar[Mapping[type[Command], Event]] = {}

    def __init__(self, machine: Machine, title: str, clock: VirtualClock) -> None:
        self.machine = machine
        self.state: StrEnum = machine.initial
        records: list[Record] = []
        self.trace = Trace(title, records)
        self._record = records.append
        self._attempt = 0
        self._budget: int | None = None
        self._agenda, self._began = Agenda(clock), clock.now()

    @property
    def allowed(self) -> tuple[type[Event], ...]:
        """The events that the table has a row for now."""
        return self.machine.allowed(self.state)

    @property
    def due(self) -> float | None:
        """When the next event happens, in seconds since the run began; None when none is left."""
        return None if self._agenda.due is None else self._agenda.due - self._began

    def soon(self, event: Event, delay: float = 0.0) -> None:
        """Put one event on the agenda, due in `delay` seconds; nothing runs yet."""
        self._agenda.after(delay, event)

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
        """Take events from the agenda until none is left."""
        try:
            for event in self._agenda:
                self._happen(event)
        except BaseException:
            # The kernel's stop button, most likely: what is due still happens, so that the attempt ends as a failure
            # and the next one can begin. Without this a stopped cell would leave the table waiting for ever.
            for event in self._agenda:
                self._happen(event)
            raise
        return self.trace

    def _happen(self, event: Event) -> None:
        """Step the table with one event, and carry out the commands that it hands out."""
        before, now, record = self.state, self._agenda.now - self._began, self._record
        if isinstance(event, m.Aside):
            kind = Kind.NOTE if event.kind == "note" else Kind.EXCHANGE  # a look-up by value takes longer
            record(Record(now, kind, event, before, before, event.rules, self._attempt))
            return
        try:
            after, commands, row = self.machine.step(before, event)
        except OutOfOrderError:
            record(Record(now, Kind.REFUSED, event, before, before, event.rules, self._attempt))
            return
        # The state moves before any command is carried out: a port may ask what is allowed now, or call again.
        self.state = after
        self._attempt += isinstance(event, self.begins)
        attempt, source = self._attempt, row.event_source
        record(Record(now, Kind.EVENT, event, before, after, row.rules, attempt, row.deprecated, source))
        for command, source in zip(commands, row.command_sources, strict=True):
            rules = command.rules or row.rules
            record(Record(now, Kind.COMMAND, command, after, after, rules, attempt, source=source))
            port = self.ports[type(command)]
            try:
                if (reply := port(self, event if type(command) is m.HandToApp else command)) is not None:
                    self._agenda.after(*reply)
            except BaseException:
                self._back_to_now()
                if (outcome := self.interrupted.get(type(command))) is not None:
                    self.soon(outcome)
                raise
            self._back_to_now()

    def _back_to_now(self) -> None:
        """A call was carried out at once, and its time is spent: what it led to is due then, and now goes on."""
        self._agenda.clock.move(self._agenda.now)

    def _start_budget(self, command: m.StartBudget) -> None:
        self._budget = self._agenda.after(command.seconds, command.spent(command.call))

    def _stop_budget(self, _command: m.StopBudget) -> None:
        self._agenda.cancel(self._budget)

    # What carries out each command; a subclass adds its own.
    ports: ClassVar[Mapping[type[Command], Port]] = {
        **dict.fromkeys(m.BUDGETS, _start_budget),
        m.StopBudget: _stop_budget,
    }


# A run of the issuer's app on either platform: its screen, the cardholder's taps, and its back end.
#
# What differs between the platforms (the SDK, and what the app calls when) is in `platform_a` and `platform_b`.


BUTTON = {
    m.ShowButton: "shown",
    m.HideButton: "hidden",
    m.DisableButton: "disabled",
    m.EnableButton: "shown",
}
INTERRUPTED = "it was interrupted"
# What the app's screen says beside the button (B-FIN-2).
LABELS = {m.ShowAdded: "Added to Wallet", m.ShowAvailable: "Available in Wallet", m.TellFailure: "not added"}
# What it says after a GET that failed, beside *Try again*: a hidden button alone leaves no way to retry (assumed).
NO_BUTTON_YET = "The card cannot be added now. Try again later."


class InApp(Loop):
    """One run of an in-app flow.

    Attributes:
        variant: the variant that is played.
        payment_instrument_id: the card whose page is opened.
        back_end: relays to the HTTP API.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        label: what else the app's screen says: one of `LABELS`, or `NO_BUTTON_YET`; empty at first.
    """

    variant: VariantA | VariantB
    phone: PhoneA | PhoneB
    interrupted: ClassVar[Mapping[type[Command], Event]] = {
        m.GetActivationData: m.ActivationDataFailed(INTERRUPTED),
        m.PostSdkOutput: m.OpcFailed(INTERRUPTED),
        m.FetchOpc: m.OpcFailed(INTERRUPTED),
        m.AskDelegate: m.NoSdkInput(INTERRUPTED),
        m.AskDelegateWithId: m.NoSdkInput(INTERRUPTED),
    }

    def __init__(self, payment_instrument_id: str, back_end: BackEnd) -> None:
        self.payment_instrument_id = payment_instrument_id
        self.back_end = back_end
        self.button = "absent"
        self.label = ""
        super().__init__(self.variant.machine, self.variant.title, back_end.clock)

    def __repr__(self) -> str:
        name, records = type(self).__name__, len(self.trace)
        return f"{name}({self.variant.name!r}, {self.state.value}, button {self.button}, {records} records)"

    def walk(self) -> Trace:
        """Open the card, tap once if there is a button to tap, and run until nothing is due."""
        self.open()
        if self.button == "shown":
            self.tap()
        return self.trace

    def open(self) -> Trace:
        """The cardholder opens the card's page; runs until nothing is due."""
        return self.feed(m.Opened(self.payment_instrument_id))

    def tap(self, times: int = 1, *, every: float = 0.1) -> Trace:
        """The cardholder taps Add, `times` times with `every` seconds between; runs until nothing is due.

        Raises:
            ParameterError: `times` is no whole number from 1 to 1,000, or `every` no number of seconds.
        """
        number("every", every, unit="seconds")
        for tap in range(whole("times", times, least=1, most=1000)):
            self._agenda.after(tap * every, m.AddTapped())
        return self.run()

    def _on_screen(self, command: Command) -> None:
        kind = type(command)
        self.button = BUTTON.get(kind, self.button)
        # A new attempt disables the button: what came of the last one is no longer true.
        self.label = LABELS.get(kind, "" if kind is m.DisableButton else self.label)

    def _get(self, command: m.GetActivationData) -> Reply:
        failed = m.ActivationDataFailed(TRY_LATER)
        seconds, outcome = self._relay(command.payment_instrument_id, None, m.ActivationDataReceived, failed)
        self.label = NO_BUTTON_YET if outcome is failed else ""  # beside it the page offers to open it anew (assumed)
        return seconds, outcome

    def _relay(
        self, instrument: str, sdk_output: SdkOutput | None, received: Callable[[Any], Event], failed: Event
    ) -> Reply:
        """Make the GET, or with an sdkOutput the POST; one of two events comes when it is over."""
        exchange = self._exchange(instrument, sdk_output)
        return 0.0, received(exchange.answer().sdk_input) if exchange.error is None else failed

    def _exchange(self, instrument: str, sdk_output: SdkOutput | None) -> Relayed:
        """The back end's GET, or with an sdkOutput its POST; it takes its time, and what happens is recorded."""
        latencies = self.phone.latencies
        takes = latencies.get if sdk_output is None else latencies.post
        exchange = self.back_end.exchange(instrument, sdk_output, takes=takes)
        for at, event in exchange.events:
            self._agenda.at(at, event)
        return exchange

    def _own(
        self,
        call: str,
        function: Callable[..., Any],
        given: tuple[object, ...],
        answered: Callable[[Any], Event],
        failed: Callable[[str], Event],
    ) -> Reply:
        """The event that comes of the integrator's own code; its own seconds pass if they are long."""
        relayed, spend = list[Relayed](), self._agenda.clock.sleep

        def relay(payment_instrument_id: str, given: SdkOutput | str) -> SdkInput:
            output = given if isinstance(given, SdkOutput) else SdkOutput(given)
            relayed.append(exchange := self._exchange(payment_instrument_id, output))
            return exchange.answer().sdk_input

        # Without a page, a person calls the SDK, and `Session.exchange` asks the session's own back end.
        with relay_through(relay) if self.trace.select(m.Opened) else nullcontext():
            try:
                event = answered(call_watched(call, self.soon, function, *given, spend=spend))
            except own_failures() as error:
                return 0.0, failed(f"{call} raised {type(error).__name__}")
        return 0.0 if relayed else self.phone.latencies.post, event

    ports: ClassVar = {
        **Loop.ports,
        **dict.fromkeys((*BUTTON, *LABELS, m.ReportToContact), _on_screen),
        m.GetActivationData: _get,
    }


# The instances whose calls surround this code; the app's coroutines run on a thread of their own.
CALLING: ContextVar[tuple[object, ...]] = ContextVar("calling", default=())


class ByHand:
    """An SDK whose calls a person makes, one after the other; it holds no rules of order.

    Each call becomes the event that a run would take, and the same table allows or refuses it. An instance carries out
    one call at a time: a second one, from another thread or from the app's own code in the middle of an attempt, would
    be given the other's outcome, so it is refused. A callback that comes when the attempt is over may call again.

    Attributes:
        trace: every call and outcome so far.
        calls: the text of each call by the event that it is.
        busy: the states in which an attempt is under way.
        brings: events that a call makes happen first where the table waits for one, such as the cardholder's tap.
    """

    calls: ClassVar[Mapping[type[Event], str]]
    busy: ClassVar[Collection[StrEnum]]
    brings: ClassVar[tuple[type[Event], ...]] = (m.AddTapped,)

    def __init__(self, run: Any, owner: str) -> None:
        self._run = run
        self.trace: Trace = run.trace
        self._owner = owner
        self._one_at_a_time = Lock()
        self._under_way = ""

    def __repr__(self) -> str:
        # a tap in the middle of an attempt is possible, but is not suggested (A-BTN-1)
        busy = self._run.state in self.busy
        possible = self._possible([event for event in self.brings if not (busy and event is m.AddTapped)])
        calls = [text for event, text in self.calls.items() if event in possible]
        return (
            f"{type(self).__name__}({self._run.variant.name!r}, {self._run.state.value})\n"
            f"Next: {', '.join([*calls, '.trace'])}."
        )

    def _possible(self, brings: Collection[type[Event]]) -> set[type[Event]]:
        """The calls that the table allows now, or after one of the events in `brings`."""
        state, machine = self._run.state, self._run.machine
        after = (row.to for row in machine.rows if row.state == state and row.event in brings)
        return {*machine.allowed(state)}.union(*map(machine.allowed, after))

    def _call(self, call: Event, *, first: Event | None = None, **app: Any) -> Event:
        """The outcome of one call; one that is refused raises and changes nothing.

        Args:
            call: the call.
            first: what happens before it where the table waits for that.
            app: the fields of the run's app that are changed for it, with their values.

        Raises:
            OutOfOrderError: the table does not allow it, or another call is under way.
        """
        run, nested = self._run, self in CALLING.get()
        if run.state in self.busy if nested else not self._one_at_a_time.acquire(blocking=False):
            raise OutOfOrderError(
                f"{self.calls[type(call)]} cannot be called while {self._under_way} is under way on this instance. "
                "Wait for its outcome: one attempt at a time (A-BTN-1)."
            )
        token = CALLING.set((*CALLING.get(), self))
        try:
            self._check(call)
            self._under_way = self.calls[type(call)]
            run.app = replace(run.app, **app)
            if first is not None and type(first) in run.allowed:
                run.feed(first)
            if type(call) not in run.allowed:
                run.feed(m.AddTapped())
            begins = len(run.trace)
            run.feed(call)
            # A callback of this call may have made others; an attempt that it began has outcomes of its own.
            records = [record for record in run.trace[begins:] if record.attempt == run.trace[begins].attempt]
            return cast("Event", next(record.message for record in reversed(records) if record.kind is Kind.EVENT))
        finally:
            CALLING.reset(token)
            if not nested:
                self._one_at_a_time.release()

    def _check(self, call: Event) -> None:
        if type(call) not in (possible := self._possible(self.brings)):
            names = ", ".join(text for event, text in self.calls.items() if event in possible)
            raise OutOfOrderError(
                f"{self.calls[type(call)]} cannot be called while '{self._run.state}' in {self._owner}. "
                f"Possible now: {names or 'nothing, until this attempt is over'}."
            )
