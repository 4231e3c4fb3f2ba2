"""Carries out one case of `workbook conform app` in front of an app: hands over actions, holds, releases, and looks.

The app has a process of its own, or is an exercise's app core in Python, in this process. Then nothing is sent over a
network: the core calls the phone and the back end that the case plays.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from workbook.errors import WorkbookError
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0
from workbook.play.own_code import exception_words, own_line, run_to_end
from workbook.simulation.http import Ending, Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import cases as c
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.device import Device, DeviceA, PhoneReply
from workbook.tools.conform.app.phone import JSON_ESCAPES, Client, PlayedBackEnd
from workbook.tools.conform.back_end.model import GET, SURFACE, PhoneCall, Seen, Surface
from workbook.tools.harness.model import CaseOptions, CaseResult, Miss, Verdict, gravest
from workbook.tools.harness.program import LogLine


@dataclass(slots=True)
class Tempo:
    """How long to wait for an app, in seconds; one for each run (all assumed, but the last).

    Attributes:
        patience: for what is expected, since something happened last.
        least: a page that has not changed for so long rests, unless a change takes this app longer.
        looks: between two looks at the page.
        slowest: what the slowest change of a page took so far, since something else happened last.
    """

    patience: float = 5.0
    least: float = 1.0
    looks: float = 0.03
    slowest: float = 0.0

    @property
    def rest(self) -> float:
        """A page that has not changed for so long rests."""
        return max(self.least, 3 * self.slowest)

    async def until(self, reached: Callable[[], object], seconds: float) -> bool:
        """Look again and again, for so many seconds at most; returns whether it was reached."""
        end = monotonic() + seconds
        while not reached() and monotonic() < end:  # noqa: ASYNC110 - many things end it, and none is an event
            await asyncio.sleep(self.looks)
        return bool(reached())


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRun(CaseOptions[c.AppCase]):
    """Which cases to run, and against which app.

    Attributes:
        start: starts the process that calls `conform(...)`; empty where a person starts it.
        folder: where the command runs.
        surface: the routes of the app's back end.
        seed: of everything simulated.
        session: makes the session that the app presents in a case; random by default.
        platform: "A" or "B".
        desk: how many times slower than this machine a phone is taken to be (assumed).
        authorization: on platform B, whether there is an authorization UI.
        tempo: how long to wait for it.
        lanes: how many processes of the app play its cases at the same time, on platform A.
        name: of the app, for the report.
        file: the configuration's path; empty where there is none.
    """

    cases: Sequence[c.AppCase] = field(default_factory=lambda: tuple(c.APP_CASES.values()))
    command: str = "workbook conform app"
    start: str = ""
    folder: Path | None = None
    surface: Surface = SURFACE
    seed: int = 7
    session: Callable[[c.AppCase], str] = lambda _case: secrets.token_urlsafe(18)
    platform: str = "A"
    desk: float = 4.0
    authorization: bool = False
    tempo: Tempo = field(default_factory=Tempo)
    lanes: int = 1
    name: str = "your app"
    file: str = ""


# Seconds that an action may take; a machine may be busy with other things (assumed).
PATIENCE = 20.0
# Seconds after which a function of the adapter is taken to wait (assumed).
SLOW = 3.0


class NoAnswerError(WorkbookError):
    """The app's process did not do what it was asked for in time, or it ended."""


@dataclass
class PlayedCardholder:
    """Hands one action after another to the app's process, and takes back the result.

    Attributes:
        client: the app.
        ended: how the app's process ended, in words; empty while it runs.
        on_slow: called with an action that is not answered, and its seconds so far, again and again from 3 s on.
        kill: ends the app's process at once, if the workbook has started it.
    """

    client: Client
    ended: Callable[[], str] = lambda: ""
    on_slow: Callable[[str, float], None] = lambda _what, _seconds: None
    kill: Callable[[], None] = lambda: None
    _turns: Iterator[int] = field(default_factory=lambda: count(1))
    _next: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    _done: dict[int, asyncio.Future[p.Next]] = field(default_factory=dict)

    async def on_next(self, call: p.Next) -> dict[str, Any]:
        """The app's process has done something, and asks what comes next."""
        if (waiting := self._done.pop(call.turn, None)) is not None and not waiting.done():
            waiting.set_result(call)
        return await self._next.get()

    async def does(self, what: str, /, *, patience: float | None = None, **fields: Any) -> p.Next:
        """Have the app do this.

        Raises:
            NoAnswerError: it did not return in `patience` seconds (`PATIENCE` where None), or the app's process ended.
        """
        seconds = PATIENCE if patience is None else patience
        turn = next(self._turns)
        done: asyncio.Future[p.Next] = asyncio.get_running_loop().create_future()
        self._done[turn] = done
        self._next.put_nowait({"do": what, "turn": turn} | fields)
        until, waits = monotonic() + seconds, count(1)
        while not done.done() and monotonic() < until and not self.ended():
            await asyncio.wait([done], timeout=0.2)
            # in waits: while a busy machine stands still, none ends
            if (passed := next(waits) * 0.2) >= SLOW and not done.done():
                self.on_slow(what, passed)
        if done.done():
            return done.result()
        if self.ended():
            raise NoAnswerError(f"{what} did not return. {self.ended()}")
        ask = " It must start the action and return at once." if patience is None else ""
        raise NoAnswerError(f"{what} did not return within {seconds:g} s.{ask}")

    def end(self) -> None:
        """Tell the app's process that all cases are over."""
        self._next.put_nowait({"do": "end", "turn": 0})


# What an app does with an answer that it was given: it hands it on, or fails.
TAKEN = (m.CreateCalled, m.OpcReceived, m.ProviderFailed, m.OpcFailed, m.ServiceCalled, m.SdkInputReceived)


class AppStage:
    """Carries out one case in front of the app: in a process of its own, or an exercise's app core in this one."""

    _page, _acted = (c.ABSENT, ""), ""

    def __init__(
        self, client: Client, cardholder: "PlayedCardholder | InProcess", url: str, tempo: Tempo, session: str = ""
    ) -> None:
        self._client, self._cardholder, self._url, self._tempo = client, cardholder, url, tempo
        self._seen = c.AppSeen(INSTRUMENT_IDS, {}, client.device, back_end=urlsplit(url).netloc, session=session)

    async def play(self, case: c.AppCase) -> c.AppSeen:
        """What came of the case, still without the log.

        Raises:
            NoAnswerError: the app's process hangs or is gone.
        """
        client, seen = self._client, self._seen
        self._reads = case.reads
        await self._begin()
        earlier = (await self._do("reports")).reports if case.asks else 0  # a counter may outlive its app
        for step in case.steps:
            await self._step(step)
        if case.asks:
            await self._do("reports")
        if seen.reports is not None:
            seen.reports -= earlier
        seen.arrivals = tuple(client.back_end.arrivals)
        return seen

    async def _begin(self) -> None:
        await self._do("begin", backEnd=f"{self._url}{self._client.prefix}", session=self._seen.session)

    async def _step(self, step: c.AppStep) -> None:
        device, back_end = self._client.device, self._client.back_end
        match step:
            case c.Do():
                self._acts(step.what)
                card = {"card": INSTRUMENT_IDS[step.card]} if step.what == "openCardPage" else {}
                await self._do(step.what, **card)
            case c.Until() | c.Rest():
                await self._watch(step)
                self._seen.looks[step.name] = self._page
            case c.Hold():
                held = device.held if step.where in c.ON_PHONE else back_end.held
                held[step.where] = asyncio.Event()
            case c.Reached():
                if not await self._reaches(step.where):
                    self._seen.unreached = self._seen.unreached or step.where
                    self._seen.lacking = "The page asked nothing that could be held." * (step.where == c.CAN_ADD)
            case c.Outlast():
                await self._outlast(partial(back_end.left, step.where))
            case c.Release():
                held = device.held if step.where in c.ON_PHONE else back_end.held
                held.pop(step.where).set()
            case c.Fail():
                back_end.fail(step.operation, step.how)
            case c.Escape():
                device.output_ends, back_end.escapes = JSON_ESCAPES, True
            case c.SetPhone():
                vars(device.phone).update(step.facts)

    async def _reaches(self, place: str) -> bool:
        device, back_end, tempo = self._client.device, self._client.back_end, self._tempo
        for _look in range(int(tempo.patience / tempo.looks)):
            if device.waiting[place] or back_end.waiting(place):
                return True
            await self._do("screen")  # a main thread that is busy is waited for
            await asyncio.sleep(tempo.looks)
        return False

    async def _outlast(self, left: Callable[[], bool]) -> None:
        until = monotonic() + c.WALLET_WAITS
        while not left() and await self._tempo.until(left, until - monotonic()):
            await self._watch(c.Rest(""))  # it may ask once more

    async def _do(self, what: str, **fields: Any) -> p.Next:
        done = await self._cardholder.does(what, **fields)
        seen = self._seen
        seen.hosts.update(done.hosts.split())
        seen.reports = done.reports if what == "reports" and not done.threw else seen.reports
        if done.threw and what in {"reports", "signOut"}:
            seen.lacking = f"Your adapter has no {what}(): implement AppUnderTest.{what}()."
        elif done.threw:
            seen.threw.append(f"{what}: {done.threw}")
        if what == "signOut":
            seen.signed_out = monotonic()
        if done.uncaught:
            seen.threw.append(f"uncaught: {done.uncaught}")
        return done

    def let_go(self, what: str, seconds: float) -> None:
        """The app does not answer this action: if something that is held may be why, note it, and let the app go on."""
        device, back_end, seen = self._client.device, self._client.back_end, self._seen
        held = back_end.held | device.held
        for place in held:
            if device.waiting[place] or back_end.waiting(place):
                seen.blocked = seen.blocked or f"{what} was not answered for {seconds:.0f} s, while {place} was held"
                held[place].set()
        seen.slow = f"{what} was not answered for {seconds:.0f} s"

    def _acts(self, what: str) -> None:
        """Note what the app has to do first: a page that opens makes a GET, and a tap on a button begins an attempt."""
        trace, arrivals = self._client.device.trace, self._client.back_end.arrivals
        if what != self._acted:
            to_grow = {"openCardPage": arrivals, "tapAdd": trace if self._page[0] == c.SHOWN else None}.get(what)
            before = 0 if to_grow is None else len(to_grow)
            self._begun: Callable[[], bool] = lambda: to_grow is None or len(to_grow) > before
        self._acted = what

    def _happened(self) -> tuple[int, int]:
        """How much the phone has seen so far, and the back end; a request that the app gives up counts, too."""
        device, arrivals = self._client.device, self._client.back_end.arrivals
        return len(device.trace), len(arrivals) + sum(arrival.left for arrival in arrivals)

    def _owes(self) -> bool:
        """Whether the app has to call next: it was asked for something, or given what it has not used yet."""
        device, arrivals = self._client.device, self._client.back_end.arrivals
        if not self._begun():
            return True
        if len(device.trace) and isinstance(device.trace[-1].message, m.CreateSuccess | m.ServiceReady):
            return True
        made = device.trace.select(m.SdkOutputCreated)
        if made and (not arrivals or arrivals[-1].at < device.began + made[-1].at):
            return True
        if not arrivals or arrivals[-1].given is None or arrivals[-1].left:
            return False
        taken = device.trace.select(*TAKEN)
        return not taken or device.began + taken[-1].at < (arrivals[-1].answered or 0)

    def _busy(self, *, held: bool = True) -> bool:
        """Whether a call is open; without those of a case that holds one, if asked so."""
        device, back_end = self._client.device, self._client.back_end
        return (device.busy or back_end.busy) and (held or not (device.held or back_end.held))

    async def _watch(self, step: c.Until | c.Rest) -> None:
        """Look at the page until it shows what the step asks for, or nothing has happened for so long as to give up.

        A page rests once no call is open, the app owes none, and nothing has changed for `Tempo.rest`. What it shows
        after the app has given its GET up says nothing of how it was before.
        """
        tempo, about, since, back_end = self._tempo, 0 if step.buttons else 1, monotonic(), self._client.back_end
        first, before, until, changed, self._acted = self._page, None, since + PATIENCE, False, ""
        held = [arrival for arrival in back_end.came(GET) if GET in back_end.held and arrival.answered is None]
        while (now := monotonic()) < until:
            calm, shown = not self._busy(), await self._do("screen")
            if step.buttons and any(arrival.left for arrival in held):
                return
            self._page = page = shown.button, shown.message
            state = page if self._reads else page[0], self._happened()
            if state != before or self._busy(held=False):
                if calm and before is not None and state[1] == before[1]:  # the page changed, and nothing else
                    tempo.slowest = max(tempo.slowest, monotonic() - since)
                before, since = state, monotonic()
            changed |= page[about] != first[about]
            still, idle = now - since, not self._busy(held=False) and not self._owes()
            good = idle and (not step.buttons or page[0] in step.buttons) and (not step.says or bool(page[1]))
            if good and (still >= tempo.rest or (changed and isinstance(step, c.Until))):
                return
            if still >= max(tempo.patience, tempo.rest):
                return
            await asyncio.sleep(tempo.looks)


def conclude_case(case: c.AppCase, seen: c.AppSeen, seconds: float, why: str = "") -> CaseResult:
    """How the case ended, by what was seen; `why` is what else a reader has to know."""
    if seen.lacking and not seen.threw:
        return CaseResult(case, Verdict.NOT_TESTABLE, why=seen.lacking)
    if case.reads and not seen.threw and not any(text for _button, text in seen.looks.values()):
        why = "Your adapter hands over no message: return what the page says as Screen.message."
        return CaseResult(case, Verdict.NOT_LOOKED_AT, why=why)
    misses = tuple(case.judge(seen))
    return CaseResult(case, gravest(misses, case.rule), misses, why, seen=_both_sides(seen), seconds=seconds)


def _both_sides(seen: c.AppSeen) -> Seen:
    """What the reports show of a case: the requests of the app, as calls of the phone."""
    calls = [
        PhoneCall(
            number,
            arrival.operation or arrival.request.method,
            "the cardholder",
            arrival.card,
            sent=arrival.sdk_output,
            began=arrival.at,
            ended=arrival.answered or arrival.at,
            status=arrival.status,
            value=arrival.given,
            request=arrival.request,
        )
        for number, arrival in enumerate(seen.arrivals, 1)
    ]
    return Seen(tuple(calls), (), log=seen.log)


# An app core in Python, in this process: for exercises.

FetchOpc = Callable[[str, str], Awaitable[str]]


@dataclass
class BackEndOfApp:
    """The app's own back end; `get` and `post` return an sdkInput, or raise ConnectionError where there is none."""

    played: PlayedBackEnd

    async def get(self, card: str) -> str:
        """The sdkInput of the GET."""
        return await self._call("GET", f"/cards/{card}/activation-data", b"")

    async def post(self, card: str, sdk_output: str) -> str:
        """The sdkInput of the POST with this sdkOutput."""
        return await self._call("POST", f"/cards/{card}/provision", json.dumps({"sdkOutput": sdk_output}).encode())

    async def _call(self, method: str, path: str, body: bytes) -> str:
        answer = await self.played.respond(Request(method, path, (), body))
        usable = answer.status == 200 and answer.wire.ending is Ending.WHOLE and answer.body.startswith(b"{")
        sdk_input = json.loads(answer.body).get("sdkInput") if usable else None
        if not sdk_input:
            raise ConnectionError("the back end gave no sdkInput")
        return str(sdk_input)


@dataclass
class Sdk:
    """The part of platform A's SDK from 0.4.0 that an app core needs."""

    device: Device
    failure: str = ""
    _number: int = 0

    async def button(self, sdk_input: str) -> str:
        """`create` and `canProvision`: "shown" on CanBeProvisioned, else "hidden"."""
        created = await self._do("create", sdkInput=sdk_input)
        if created["outcome"] != "Success":
            return "hidden"
        self._number = created["provisioning"]
        return await self.asked()

    async def asked(self) -> str:
        """`canProvision` once more: "shown" on CanBeProvisioned, else "hidden"."""
        answer = await self._do("canProvision", provisioning=self._number)
        return "shown" if answer["outcome"] == "CanBeProvisioned" else "hidden"

    async def provision(self, fetch_opc: FetchOpc) -> str:
        """`provision(..., opcProvider)`: "Success" or "Failure"; then `failure` is the failure's name."""
        reply = await self._do("provisionWithProvider", provisioning=self._number, cardDisplayName="My card")
        while "ask" in reply:
            if reply["ask"] == "activity":
                reply = await self._do("activity", turn=reply["turn"], there=True)
            else:
                reply = await self._fetched(reply, fetch_opc)
        self.failure = str(reply.get("name", ""))
        return str(reply["outcome"])

    async def _fetched(self, asked: PhoneReply, fetch_opc: FetchOpc) -> PhoneReply:
        turn = asked["turn"]
        try:
            opc = await fetch_opc(asked["paymentInstrumentId"], asked["sdkOutput"])
        except asyncio.CancelledError:
            await asyncio.shield(self._do("cancelled", turn=turn))
            raise
        except Exception as error:  # noqa: BLE001  # the SDK catches what a provider throws (sdk-a)
            return await self._do("noOpc", turn=turn, threw=type(error).__name__)
        if not isinstance(opc, str):  # Kotlin would not compile it
            return await self._do("noOpc", turn=turn, threw="TypeError")
        return await self._do("opc", turn=turn, sdkInput=opc)

    async def _do(self, name: str, **fields: object) -> PhoneReply:
        """Make a call, read by the protocol as if it had arrived."""
        return await self.device.answer(p.read(name, json.dumps({"client": self.device.client, **fields}).encode()))


@dataclass
class InProcess:
    """Drives an app core of this class in front of one phone, as a cardholder would."""

    kind: Callable[..., Any]
    client: Client
    log: list[LogLine] = field(default_factory=list)
    _model: Any = None
    _work: set[asyncio.Task[Any]] = field(default_factory=set)
    _threw: str = ""

    async def does(self, what: str, /, **fields: Any) -> p.Next:
        """Have the app core do this."""
        match what:
            case "openCardPage":
                device, back_end = self.client.device, self.client.back_end
                self._model = self.kind(fields["card"], Sdk(device), BackEndOfApp(back_end), self._print)
                self._begin(self._model.opened)
            case "tapAdd" if self._button == "shown":
                self._begin(self._model.add_tapped)
            case "signOut":
                self._threw = "NotImplementedError"
            case "closeCardPage" | "processDeath":
                self._model = None
                for task in self._work:
                    task.cancel()
                if what == "processDeath":
                    self.client.device.process_ended()
        await asyncio.sleep(0)  # what has begun runs as far as its first wait
        threw, self._threw = self._threw, ""
        client, message = self.client.device.client, getattr(self._model, "message", "")
        return p.Next(client=client, turn=0, threw=threw, button=self._button, message=message)

    @property
    def _button(self) -> str:
        return "absent" if self._model is None else str(self._model.button)

    def _print(self, text: object) -> None:
        self.log.append(LogLine("the log", len(self.log) + 1, str(text)))

    def _begin(self, function: Callable[[], Awaitable[None]]) -> None:
        async def work() -> None:
            try:
                await function()
            except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
                self._threw = f"{exception_words(error)}. {own_line(error)}".rstrip(" .")

        task = asyncio.get_running_loop().create_task(work())
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def play_core(kind: Callable[..., Any], case: c.AppCase, tempo: Tempo | None = None) -> c.AppSeen:
    """What one case saw with an app core of this class; nothing crosses a network here, so nothing takes long."""

    async def play() -> c.AppSeen:
        client = Client(DeviceA("exercise", A_FROM_0_4_0, pace=0), PlayedBackEnd(SURFACE), "")
        app = InProcess(kind, client)
        quick = tempo or Tempo(patience=0.3, least=0.03, looks=0.002)
        seen = await AppStage(client, app, "http://127.0.0.1", quick).play(case)
        await app.does("closeCardPage")
        return replace(seen, log=tuple(app.log))

    seen: c.AppSeen = run_to_end(play)
    return seen


def first_miss(kind: Callable[..., Any], cases: Iterable[c.AppCase]) -> tuple[c.AppCase, Miss, c.AppSeen] | None:
    """The first case that an app core of this class fails, with its first miss and what was seen."""
    for case in cases:
        seen = play_core(kind, case)
        for miss in case.judge(seen):
            return case, miss, seen
    return None


class Reference:
    """The reference app core, in Python."""

    def __init__(self, card: str, sdk: Sdk, back_end: BackEndOfApp, log: Callable[[object], None]) -> None:
        self.card, self.sdk, self.back_end, self.log = card, sdk, back_end, log
        self.button = "absent"

    async def opened(self) -> None:
        """The page opens."""
        self.button = await self.sdk.button(await self.back_end.get(self.card))

    async def add_tapped(self) -> None:
        """The cardholder taps Add."""
        self.button = "disabled"
        result = await self.sdk.provision(self.fetch_opc)
        self.button = "hidden" if result == "Success" else "shown"

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        """What the SDK calls during the tap."""
        return await self.back_end.post(card, sdk_output)
