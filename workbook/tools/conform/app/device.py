"""One phone in front of an app's SDK stand-in, in real time; platform A's half, and what both platforms share.

The same table as everywhere else decides what may come when, and the same simulated SDK (`SdkA`) answers. Here the app
acts: it calls from another process, and several calls may run at once. So each call is a coroutine that steps the
table, waits as long as the SDK takes, and steps it again. When the SDK asks the app for something, the question leaves
as the answer of one exchange, and the app's reply comes with the next.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from time import monotonic
from typing import Any, Protocol, TypeVar

from workbook.base.values import lookup
from workbook.errors import OutOfOrderError
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.messages import Command, Event
from workbook.flows.platform_a import State
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import VariantA
from workbook.play.platform_a import CardAddress, opaque
from workbook.simulation.phones import NUMBERS, PHONES_A, PhoneA
from workbook.simulation.sdks import SdkA
from workbook.simulation.seal import HardSeal
from workbook.tools.conform.app import protocol as p

PhoneReply = dict[str, Any]
MadeT = TypeVar("MadeT")


class Waiting(Protocol):
    """A call of the SDK that waits for the app's answer; `says` names it."""

    says: str

    async def go_on(self, answer: p.Turn) -> PhoneReply:
        """Give it the app's answer; returns what it asks for next, or the outcome."""
        ...

    def end(self) -> None:
        """The app's process is gone: nothing waits any longer."""
        ...


class Device:
    """One phone, with everything that one client did on it; its subclasses answer the calls of one platform.

    Args:
        client: its name.
        title: of the trace.
        seed: of the simulated service whose data its SDK opens.
        pace: multiplies the SDK's seconds; 0 answers at once.

    Attributes:
        phone: its facts; the next call sees what is changed in them.
        trace: every call, outcome and wait so far, in seconds since the device began.
        refused: each call that the table did not allow, as a sentence.
        held: by place, an event that its calls wait for: "wallet", and "canProvision" before its answer.
        waiting: by place, how many calls wait there.
        output_ends: what each sdkOutput ends in besides what the SDK made; the played back end takes it off again.
        log: called with each step as a line.
        began: the moment that the trace's seconds count from, in seconds of the monotonic clock.
    """

    phone: Any
    variant: Any

    def __init__(self, client: str, title: str, *, seed: int = 7, pace: float = 1.0) -> None:
        self.client, self.seed, self.pace = client, seed, pace
        self.trace = Trace(title)
        self.refused: list[str] = []
        self.held: dict[str, asyncio.Event] = {}
        self.waiting: Counter[str] = Counter()
        self.output_ends = ""
        self.log: Callable[[str], None] = lambda _line: None
        self.began = monotonic()
        self._numbers, self._turns = count(1), count(1)
        self._made: dict[int, Any] = {}
        self._asked: dict[int, Waiting] = {}
        self._own: set[int] = set()
        self._calls = 0

    @property
    def under_way(self) -> tuple[str, ...]:
        """The calls that wait for the app."""
        return tuple(call.says for call in self._asked.values())

    def process_ended(self) -> None:
        """The app's process is gone: note what was under way, and forget what was in its memory."""
        for says in self.under_way:
            self.note(m.Noted(f"{says} was under way when the app's process ended"))
        for call in self._asked.values():
            call.end()
        self._asked.clear()
        self._made.clear()

    def follow(self, earlier: Device) -> None:
        """The same process goes on: what it made on an earlier phone answers for that one."""
        self._numbers, self._turns = earlier._numbers, earlier._turns
        self._made, self._asked = earlier._made, earlier._asked

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

    def use(self, name: str, card: str) -> None:
        """From here on the phone is the one of this name.

        Raises:
            ParameterError: there is no such phone.
        """
        raise NotImplementedError

    async def _answer(self, call: p.PhoneRequest) -> PhoneReply:
        """What comes of one call of this platform, or of the app's answer to a question."""
        if not isinstance(call, p.Turn):
            raise OutOfOrderError(f"{type(call).__name__} is no call of this platform.")
        if (waiting := self._asked.pop(call.turn, None)) is None:
            why = f"Nothing waits for turn {call.turn}: it was answered, or the app's process began anew."
            raise OutOfOrderError(why)
        return await waiting.go_on(call)

    def find(self, number: int, kind: type[MadeT], what: str) -> MadeT:
        """What this process made under this number; `what` is its name in the document.

        Raises:
            OutOfOrderError: nothing of this kind was, or an earlier process made it.
        """
        if not isinstance(made := self._made.get(number), kind):
            gone = "One that an earlier process of the app made is gone: make it again."
            raise OutOfOrderError(f"No {what} {number} is on this phone. {gone}")
        return made

    def keep(self, made: object) -> int:
        """Keep what this process made; returns its number."""
        number = next(self._numbers)
        self._made[number] = made
        return number

    async def pause(self, place: str) -> None:
        """Wait while this place is held."""
        if (held := self.held.get(place)) is not None:
            self.waiting[place] += 1
            await held.wait()
            self.waiting[place] -= 1

    @property
    def busy(self) -> bool:
        """Whether a call is being answered, or the app was asked for something."""
        return bool(self._calls or self._own & self._asked.keys())

    def turn_of(self, call: Waiting) -> int:
        """A number under which the app answers what this call asks for."""
        turn = next(self._turns)
        self._asked[turn] = call
        self._own.add(turn)
        return turn


@dataclass(eq=False)
class SdkClient:
    """One client of the SDK: the table's state, and the simulated SDK behind it; all its attempts share both."""

    device: Device
    machine: Machine
    state: StrEnum
    sdk: Any
    attempts: int = 0

    def __post_init__(self) -> None:
        self.sdk.seen = self.device.note


class SdkCall:
    """A call of the app, and what follows from it: a task of its own, which stops where it asks the app for something.

    Several calls of one client may be under way.

    Args:
        of: the client.
        call: the call.
        first: what the app saw before it, where the table waits for that: the tap on Add, or the POST's answer.
    """

    task: asyncio.Task[PhoneReply]

    def __init__(self, of: SdkClient, call: Event, first: Event | None = None) -> None:
        self.says = call.says
        self.of, self._call, self._first = of, call, first
        self._attempt = of.attempts
        self._next: asyncio.Future[PhoneReply] = asyncio.get_running_loop().create_future()
        self._answer: asyncio.Future[p.Turn] = asyncio.get_running_loop().create_future()

    async def begin(self) -> PhoneReply:
        """Run until it asks or ends; returns what it asks for, or the outcome.

        Raises:
            OutOfOrderError: the table does not allow it; nothing has changed.
        """
        self.task = asyncio.create_task(self._run())
        return await asyncio.shield(self._next)  # a client that has gone ends no task

    async def go_on(self, answer: p.Turn) -> PhoneReply:
        """Give it the app's answer, and run until it asks again or ends."""
        if self.task.done():  # the wallet waited no longer, and has ended the attempt meanwhile
            return self.task.result()
        self._next = asyncio.get_running_loop().create_future()
        if not self._answer.done():
            self._answer.set_result(answer)
        return await asyncio.shield(self._next)

    def end(self) -> None:
        """The app's process is gone: nothing waits any longer."""
        self.task.cancel()

    async def ask(self, **what: Any) -> p.Turn:
        """Ask the app, and wait for its answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self._next.set_result(what | {"turn": self.of.device.turn_of(self)})
        return await self._answer

    async def _run(self) -> PhoneReply:
        try:
            reply = self.reply(await self._outcome())
        except Exception as error:  # noqa: BLE001 - it is raised again where the answer is waited for
            if not self._next.done():
                self._next.set_exception(error)
            return {}
        if not self._next.done():  # the current future: `go_on` replaces the earlier one
            self._next.set_result(reply)
        return reply

    async def _outcome(self) -> Event:
        of, call, first, allowed = self.of, self._call, self._first, self.of.machine.allowed
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
        for command in self._step(event):
            if (outcome := await self.carry_out(command)) is not None:
                return await self._happen(outcome)
        return event

    async def carry_out(self, command: Command) -> Event | None:
        """What comes of a command; None where the SDK has nothing to do."""
        of = self.of
        if type(command) not in of.sdk.answers:
            return None
        seconds, outcome = of.sdk.answer(command)
        await asyncio.sleep(seconds * of.device.pace)
        answer: Event = outcome
        return answer

    def _step(self, event: Event) -> tuple[Command, ...]:
        of = self.of
        before = of.state
        of.state, commands, row = of.machine.step(before, event)
        if isinstance(event, m.AddTapped):
            of.attempts += 1
            self._attempt = of.attempts
        more = {"attempt": self._attempt, "deprecated": row.deprecated, "source": row.event_source}
        of.device.record(Kind.EVENT, event, before, of.state, row.rules, **more)
        return commands

    def reply(self, event: Event) -> PhoneReply:
        """An outcome as the protocol writes it."""
        raise NotImplementedError


class DeviceA(Device):
    """A phone of platform A.

    Args:
        variant: of the SDK.
        phone: its facts.
    """

    def __init__(
        self, client: str, variant: VariantA, phone: PhoneA | None = None, *, seed: int = 7, pace: float = 1.0
    ) -> None:
        title = f"Your app {client} on platform A, SDK {variant.name.replace('-', ' ')}"
        super().__init__(client, title, seed=seed, pace=pace)
        self.variant = replace(variant, guarded=False)  # whether its button is guarded is for the app to show
        self.phone = phone or PhoneA(number=next(NUMBERS))

    def use(self, name: str, card: str) -> None:
        """From here on the phone is the one of this name."""
        self.phone = replace(lookup("phone", name, PHONES_A)(card), number=next(NUMBERS))

    async def _answer(self, call: p.PhoneRequest) -> PhoneReply:
        match call:
            case p.Create():
                sdk = SdkA(self.phone, HardSeal(self.seed), self.variant.facts)
                made = SdkClient(self, self.variant.machine, State.FETCHED, sdk)
                reply = await _CallA(made, m.CreateCalled(opaque(call.sdk_input))).begin()
                if reply["outcome"] == "Success":
                    reply["provisioning"] = self.keep(made)
            case p.CanProvision():
                reply = await _CallA(self._of(call), m.CanProvisionCalled()).begin()
            case p.CreateSdkOutput():
                reply = await _CallA(self._of(call), m.CreateSdkOutputCalled(), m.AddTapped()).begin()
            case p.ProvisionWithProvider():
                with_provider = m.ProvisionWithProviderCalled(call.card_display_name, _address(call))
                reply = await _CallA(self._of(call), with_provider, m.AddTapped()).begin()
            case p.Provision():
                opc = opaque(call.sdk_input)
                provision = m.ProvisionCalled(opc, call.card_display_name, _address(call))
                reply = await _CallA(self._of(call), provision, m.OpcReceived(opc)).begin()
            case _:
                reply = await super()._answer(call)
        return reply

    def _of(self, call: p.OfOne) -> SdkClient:
        return self.find(call.provisioning, SdkClient, "CardProvisioning")


class _CallA(SdkCall):
    """A call of platform A's SDK."""

    async def carry_out(self, command: Command) -> Event | None:
        """What comes of a command; None where the SDK has nothing to do."""
        if isinstance(command, m.FetchOpc):
            return await self._fetch_opc(command)
        if isinstance(command, m.Provision | m.ReturnOpc):
            await self._wallet_begins()
        if isinstance(command, m.AskCanProvision):
            await self.of.device.pause("canProvision")
        return await super().carry_out(command)

    def reply(self, event: Event) -> PhoneReply:
        """An outcome as the protocol writes it."""
        reply = _reply(event)
        if "sdkOutput" in reply:
            reply["sdkOutput"] += self.of.device.output_ends
        return reply

    async def _fetch_opc(self, command: m.FetchOpc) -> Event:
        sdk_output = command.sdk_output.text + self.of.device.output_ends
        answer = await self.ask(ask="fetchOpc", paymentInstrumentId=command.payment_instrument_id, sdkOutput=sdk_output)
        match answer:
            case p.Opc():
                return m.OpcReceived(opaque(answer.sdk_input))
            case p.NoOpc():
                return m.ProviderFailed(f"fetchOpc threw {answer.threw}")
            case _:
                return m.OpcFailed("the app's scope was cancelled while fetchOpc ran")

    async def _wallet_begins(self) -> None:
        """Ask the app for the activity above which the wallet shows itself; then wait while the wallet is held."""
        answer = await self.ask(ask="activity")
        there = isinstance(answer, p.Activity) and answer.there
        self.of.sdk.activity_provider = lambda: "the app's activity" if there else None
        await self.of.device.pause("wallet")


def _reply(event: Event) -> PhoneReply:  # noqa: PLR0911 - one for each outcome
    """An outcome of the SDK as the protocol writes it."""
    match event:
        case m.CreateSuccess():
            return {"outcome": "Success"}
        case m.ProvisionSuccess():
            return {"outcome": "Success", "tokenId": "SIMULATED"}
        case m.SdkOutputCreated():
            return {"outcome": "Success", "sdkOutput": event.sdk_output.text}
        case m.SdkOutputFailed():
            return {"outcome": "Failure", "message": event.why}
        case m.ProvisionFailure():
            failure = {"outcome": "Failure", "name": event.reason, "message": event.why}
            # a status of the wallet's API that no case of the SDK is named after (wallet)
            return failure | ({"statusCode": 15019} if event.reason == "UnknownStatusCode" else {})
        case m.WalletPayNotSupported() | m.InvalidSdkInput():
            return {"outcome": type(event).__name__}
        case _:
            return p.outcome_fields(event)


def _address(call: p.Provision | p.ProvisionWithProvider) -> CardAddress:
    return CardAddress(**{name: getattr(call, name) for name in CardAddress.__slots__})
