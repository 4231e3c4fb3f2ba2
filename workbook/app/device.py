"""The phone that an app's SDK stand-in calls: one device for each client, in real time.

The same table as everywhere else decides what may come when, and the same simulated SDK (`SdkA`) answers. Here the app
acts: it calls from another process, and several calls may run at once. So each call is a coroutine that steps the
table, waits as long as the SDK takes, and steps it again. When the SDK asks the app for something, the question leaves
as the answer of one exchange, and the app's reply comes with the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import count
from time import monotonic
from typing import Any, get_args

from workbook.app import protocol as p
from workbook.errors import DefinitionError, OutOfOrderError
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import Command, Event
from workbook.flows.platform_a import State
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import VariantA
from workbook.runs.card_provisioning import opaque
from workbook.runs.platform_a import CardAddress
from workbook.simulation.phones import NUMBERS, PhoneA
from workbook.simulation.sdks import SdkA
from workbook.simulation.seal import HardSeal

PhoneReply = dict[str, Any]

OUTCOMES: Mapping[type[Event], Callable[[Any], PhoneReply]] = {
    m.CreateSuccess: lambda _event: {"outcome": "Success"},
    m.WalletPayNotSupported: lambda _event: {"outcome": "WalletPayNotSupported"},
    m.InvalidSdkInput: lambda _event: {"outcome": "InvalidSdkInput"},
    **dict.fromkeys(get_args(m.CanProvisionResult), p.outcome_fields),
    m.SdkOutputCreated: lambda event: {"outcome": "Success", "sdkOutput": event.sdk_output.text},
    m.SdkOutputFailed: lambda event: {"outcome": "Failure", "message": event.why},
    m.ProvisionSuccess: lambda _event: {"outcome": "Success"},
    m.ProvisionFailure: lambda event: {"outcome": "Failure", "name": event.reason, "message": event.why},
}
"""Each outcome of the SDK as the protocol spells it."""

CANCELLED = "the app's scope was cancelled while fetchOpc ran"
GONE = "One that an earlier process of the app made is gone: call create again."


class Device:
    """One phone, with everything that one client did on it.

    Args:
        client: its name.
        variant: of the SDK.
        phone: its facts; the next call sees what is changed in them.
        seed: of the simulated service whose data its SDK opens.
        pace: multiplies the SDK's seconds; 0 answers at once.

    Attributes:
        trace: every call, outcome and wait so far, in seconds since the device began.
        refused: each call that the table did not allow, as a sentence.
        held: an event that the wallet waits for before it answers; None for no wait.
        in_wallet: how many attempts the wallet is busy with.
        log: called with each step as a line.
        began: the moment that the trace's seconds count from, in seconds of the monotonic clock.
    """

    def __init__(
        self, client: str, variant: VariantA, phone: PhoneA | None = None, *, seed: int = 7, pace: float = 1.0
    ) -> None:
        self.client, self.seed, self.pace = client, seed, pace
        self.variant = replace(variant, guarded=False)  # whether its button is guarded is for the app to show
        self.phone = phone or PhoneA(number=next(NUMBERS))
        self.trace = Trace(f"Your app {client} on platform A, SDK {variant.name.replace('-', ' ')}")
        self.refused: list[str] = []
        self.held: asyncio.Event | None = None
        self.in_wallet = 0
        self.log: Callable[[str], None] = lambda _line: None
        self.began = monotonic()
        self._numbers, self._turns = count(1), count(1)
        self._made: dict[int, _Provisioning] = {}
        self._asked: dict[int, _Conversation] = {}
        self._calls = 0

    @property
    def under_way(self) -> tuple[str, ...]:
        """The calls that wait for the app."""
        return tuple(conversation.says for conversation in self._asked.values())

    def process_ended(self) -> None:
        """The app's process is gone: note what was under way, and forget what was in its memory."""
        for says in self.under_way:
            self.note(m.Noted(f"{says} was under way when the app's process ended"))
        for conversation in self._asked.values():
            conversation.task.cancel()
        self._asked.clear()
        self._made.clear()

    def note(self, event: Event) -> None:
        """Put into the trace what is no step of a table."""
        kind = Kind(event.kind) if isinstance(event, m.Aside) else Kind.EVENT
        self.record(kind, event, "", "", event.rules)

    def record(
        self, kind: Kind, message: m.Message, before: str, after: str, rules: tuple[str, ...], **more: Any
    ) -> None:
        """Put one step into the trace, at its time."""
        step = Record(monotonic() - self.began, kind, message, before, after, rules, **more)
        self.trace.append(step)
        self.log(f"{self.client}  {step.at:8.3f} s  {message.sender} -> {message.receiver}: {message.says}")

    async def answer(self, call: p.PhoneRequest) -> PhoneReply:
        """What comes of one call.

        Raises:
            OutOfOrderError: the table does not allow it now, or it names what is not there.
        """
        self._calls += 1
        try:
            return await self._answer(call)
        except OutOfOrderError as error:
            self.refused.append(str(error))
            raise
        finally:
            self._calls -= 1

    async def _answer(self, call: p.PhoneRequest) -> PhoneReply:
        match call:
            case p.Create():
                reply = await self._create(call)
            case p.CanProvision():
                reply = _reply(await _Steps(self._of(call)).call(m.CanProvisionCalled()))
            case p.CreateSdkOutput():
                reply = _reply(await _Steps(self._of(call)).call(m.CreateSdkOutputCalled(), m.AddTapped()))
            case p.ProvisionWithProvider():
                with_provider = m.ProvisionWithProviderCalled(call.card_display_name, _address(call))
                reply = await self._converse(self._of(call), with_provider, m.AddTapped())
            case p.Provision():
                opc = opaque(call.sdk_input)
                provision = m.ProvisionCalled(opc, call.card_display_name, _address(call))
                reply = await self._converse(self._of(call), provision, m.OpcReceived(opc))
            case p.Turn():
                if (conversation := self._asked.pop(call.turn, None)) is None:
                    why = f"Nothing waits for turn {call.turn}: it was answered, or the app's process began anew."
                    raise OutOfOrderError(why)
                reply = await conversation.go_on(call)
            case _:
                raise OutOfOrderError(f"{type(call).__name__} is no call of a device.")
        return reply

    async def _create(self, call: p.Create) -> PhoneReply:
        made = _Provisioning(self)
        event = await _Steps(made).call(m.CreateCalled(opaque(call.sdk_input)))
        if not isinstance(event, m.CreateSuccess):
            return _reply(event)
        number = next(self._numbers)
        self._made[number] = made
        return _reply(event) | {"provisioning": number}

    def _of(self, call: p.OfOne) -> _Provisioning:
        if call.provisioning not in self._made:
            raise OutOfOrderError(f"No CardProvisioning {call.provisioning} is on this phone. {GONE}")
        return self._made[call.provisioning]

    async def _converse(self, of: _Provisioning, call: Event, first: Event) -> PhoneReply:
        """Begin an attempt; returns what it asks for first, or its outcome."""
        conversation = _Conversation(self, call.says)
        return await conversation.begin(_Steps(of, conversation).call(call, first))

    @property
    def busy(self) -> bool:
        """Whether a call is being answered, or the app was asked for something."""
        return bool(self._calls or self._asked)

    def turn_of(self, conversation: _Conversation) -> int:
        """A number under which the app answers this conversation."""
        turn = next(self._turns)
        self._asked[turn] = conversation
        return turn


class _Conversation:
    """One attempt as the exchanges see it: a task of its own, which stops where it asks the app for something."""

    task: asyncio.Task[None]

    def __init__(self, device: Device, says: str) -> None:
        self.says = says
        self._device = device
        self._next: asyncio.Future[PhoneReply] = asyncio.get_running_loop().create_future()
        self._answer: asyncio.Future[p.Turn] = asyncio.get_running_loop().create_future()

    async def begin(self, steps: Coroutine[Any, Any, Event]) -> PhoneReply:
        """Run until it asks or ends."""
        self.task = asyncio.create_task(self._run(steps))
        return await self._next

    async def ask(self, **what: Any) -> p.Turn:
        """Ask the app, and wait for its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._next.set_result(what | {"turn": self._device.turn_of(self)})
        return await self._answer

    async def go_on(self, answer: p.Turn) -> PhoneReply:
        """Give it the app's answer, and run until it asks again or ends."""
        self._next = asyncio.get_running_loop().create_future()
        self._answer.set_result(answer)
        return await self._next

    async def _run(self, steps: Coroutine[Any, Any, Event]) -> None:
        try:
            reply = _reply(await steps)
        except OutOfOrderError as error:
            self._next.set_exception(error)
        else:
            self._next.set_result(reply)  # the current future: `go_on` replaces the earlier one


class _Provisioning:
    """One CardProvisioning: the table's state, and the simulated SDK behind it; all its attempts share both."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.machine: Machine = device.variant.machine
        self.state: StrEnum = State.FETCHED
        self.sdk = SdkA(device.phone, HardSeal(device.seed), device.variant.facts)
        self.sdk.seen = device.note
        self.attempts = 0


class _Steps:
    """The steps of one call, and of what follows from it. Several calls of one CardProvisioning may be under way."""

    def __init__(self, of: _Provisioning, conversation: _Conversation | None = None) -> None:
        self._of = of
        self._conversation = conversation
        self._attempt = of.attempts

    async def call(self, call: Event, first: Event | None = None) -> Event:
        """The outcome of a call of the app.

        Args:
            call: the call.
            first: what the app saw before it, where the table waits for that: the tap on Add, or the POST's answer.

        Raises:
            OutOfOrderError: the table does not allow it; nothing has changed.
        """
        of, allowed = self._of, self._of.machine.allowed
        after = of.state
        if first is not None and type(first) in allowed(of.state):
            after = of.machine.step(of.state, first).state
        else:
            first = None
        if type(call) not in allowed(after):
            calls = (event.says for event in allowed(of.state) if (event.sender, event.receiver) == (m.APP, m.SDK))
            may = ", ".join(calls) or "nothing"
            raise OutOfOrderError(f"{call.says} cannot be called in state {of.state.value!r}. Possible now: {may}.")
        if first is not None:
            self._step(first)
        return await self._happen(call)

    async def _happen(self, event: Event) -> Event:
        """Step the table, carry out what the SDK has to do, and return the last outcome."""
        sdk = self._of.sdk
        for command in self._step(event):
            if isinstance(command, m.FetchOpc):
                return await self._happen(await self._fetch_opc(command))
            if type(command) in sdk.answers:
                if isinstance(command, m.Provision | m.ReturnOpc):
                    await self._wallet_begins()
                seconds, outcome = sdk.answer(command)
                await asyncio.sleep(seconds * self._of.device.pace)
                return await self._happen(outcome)
        return event

    def _step(self, event: Event) -> tuple[Command, ...]:
        of = self._of
        before = of.state
        of.state, commands, row = of.machine.step(before, event)
        if isinstance(event, m.AddTapped):
            of.attempts += 1
            self._attempt = of.attempts
        more = {"attempt": self._attempt, "deprecated": row.deprecated, "source": row.event_source}
        of.device.record(Kind.EVENT, event, before, of.state, row.rules, **more)
        return commands

    async def _fetch_opc(self, command: m.FetchOpc) -> Event:
        answer = await self._asked(
            ask="fetchOpc", paymentInstrumentId=command.payment_instrument_id, sdkOutput=command.sdk_output.text
        )
        match answer:
            case p.Opc():
                return m.OpcReceived(opaque(answer.sdk_input))
            case p.NoOpc():
                return m.ProviderFailed(f"fetchOpc threw {answer.threw}")
            case _:
                return m.OpcFailed(CANCELLED)

    async def _wallet_begins(self) -> None:
        """Ask the app for the activity above which the wallet shows itself; then wait while the wallet is held."""
        answer = await self._asked(ask="activity")
        there = isinstance(answer, p.Activity) and answer.there
        self._of.sdk.activity_provider = lambda: "the app's activity" if there else None
        device = self._of.device
        if device.held is not None:
            device.in_wallet += 1
            await device.held.wait()
            device.in_wallet -= 1

    async def _asked(self, **what: Any) -> p.Turn:
        if self._conversation is None:
            raise DefinitionError("Only provision asks the app for something.")
        return await self._conversation.ask(**what)


def _reply(event: Event) -> PhoneReply:
    return OUTCOMES[type(event)](event)


def _address(call: p.Provision | p.ProvisionWithProvider) -> CardAddress:
    return CardAddress(**{name: getattr(call, name) for name in CardAddress.__slots__})
