"""An app in a notebook: an app core in Python, driven through cases in this process, and a phone for an app's own test.

Nothing of an exercise is sent over a network: its core calls the phone and the back end that the cases play. While an
app's test runs against the served phone, the panels show what happens.
"""

import asyncio
import atexit
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any

import ipywidgets

from workbook.base.values import lookup, number, whole
from workbook.flows.messages import Noted
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import A_FROM_0_4_0, B_LATER
from workbook.lessons.pages import PANELS
from workbook.lessons.run import Run, screen_of
from workbook.lessons.widgets.panels import LiveOnly, Player, film_of
from workbook.play.own_code import exception_words, own_line, run_to_end
from workbook.simulation.http import Ending, Request
from workbook.simulation.phones import PHONES_A, PHONES_B
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.cases import AppCase, AppSeen
from workbook.tools.conform.app.device import Device, DeviceA, PhoneReply
from workbook.tools.conform.app.phone import Client, PhoneServer, PlayedBackEnd
from workbook.tools.conform.app.stage import AppStage, Tempo
from workbook.tools.conform.back_end.model import SURFACE
from workbook.tools.harness.model import Miss
from workbook.tools.harness.program import LogLine
from workbook.views.film import film
from workbook.views.html import tag
from workbook.views.player_data import player_data
from workbook.views.screen import InFront

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


def play_core(kind: Callable[..., Any], case: AppCase) -> AppSeen:
    """What one case saw with an app core of this class."""

    async def play() -> AppSeen:
        device = DeviceA("exercise", A_FROM_0_4_0, pace=0)
        # seconds; nothing crosses a network here, so nothing takes long
        tempo = Tempo(looks=0.002, quiet=0.015, starting=0.03, closing=0.15, restless=2.0)
        client = Client(device, PlayedBackEnd(SURFACE), "")
        app = InProcess(kind, client)
        seen = await AppStage(client, app, "http://127.0.0.1", tempo=tempo).play(case)
        await app.does("closeCardPage")
        return replace(seen, log=tuple(app.log))

    seen: AppSeen = run_to_end(play)
    return seen


def first_miss(kind: Callable[..., Any], cases: Iterable[AppCase]) -> tuple[AppCase, Miss, AppSeen] | None:
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


# A phone served from a notebook.


class LivePhone(LiveOnly):
    """A phone that is served until `stop`, or until this process ends.

    Args:
        phone: one of the platform's phones, by name.
        platform: "A" or "B"; on B an extension's calls are shown as well.
        port: where it listens; 0 takes any free one.
        pace: multiplies the SDK's seconds.
        seed: of everything simulated.

    Attributes:
        settings: the environment variables by which the stand-in finds the phone, and the ids of all cards.
        server: what is served; `server.clients` has each app by name, with its `device.trace`.

    Raises:
        ParameterError: there is no such phone.
        ConfigurationError: the port is taken.
    """

    sentence = (
        "A phone is served for an app's own test as long as this notebook's kernel runs. Its address and key are new "
        "each time, so they are shown live and not stored; .settings holds both, .stop() ends the phone."
    )

    def __init__(
        self, phone: str = "ready", platform: str = "A", *, port: int = 0, pace: float = 1.0, seed: int = 7
    ) -> None:
        phones, self._machine = {"A": (PHONES_A, A_FROM_0_4_0.machine), "B": (PHONES_B, B_LATER.machine)}[platform]
        lookup("phone", phone, phones)
        whole("port", port, least=0, most=65_535)
        number("pace", pace)
        self._last = ""
        self.server = PhoneServer(phone=phone, pace=pace, seed=seed, log=self._happened)
        self._player: Player | None = None
        self._drawn = (self._last, 0)
        self._begun, self._over = Event(), Event()
        self._trouble: BaseException | None = None
        self._thread = Thread(target=lambda: asyncio.run(self._serve(port)), daemon=True, name="live phone")
        self._thread.start()
        self._begun.wait()
        if self._trouble is not None:
            raise self._trouble
        self.settings = self.server.settings
        atexit.register(self.stop)

    def stop(self) -> None:
        """Stop the phone; the panels stay as they are."""
        atexit.unregister(self.stop)
        self._over.set()
        self._thread.join()

    def seen(self) -> Run | None:
        """What the app that did something last has done, as far as it is drawn; None before the first call."""
        client: Client | None = self.server.clients.get(self._last)
        if client is None:
            return None
        device, card = client.device, INSTRUMENT_IDS[0]
        latest = Trace(device.trace.title, device.trace[-200:])  # more lines would take too long to draw
        before = replace(screen_of(device.phone), place=InFront.APP, card=card)  # the app's own page
        return Run(latest, device.variant.machine, device.phone, card, before, "")

    def make_widget(self) -> Any:
        """The settings, and the panels, which follow what the app does."""
        lines = "\n".join(f"{name}={value}" for name, value in self.settings.items())
        machine = self._machine
        waits = Record(0.0, Kind.NOTE, Noted("no app has called yet"), machine.initial, machine.initial, ())
        self._player = Player(player_data(film(Trace("A phone for your app", [waits]), machine)), PANELS)
        return ipywidgets.VBox([ipywidgets.HTML(str(tag("pre", lines))), self._player])

    def refresh(self) -> None:
        """Draw what has happened since the last time, if anything has."""
        seen, last = self.seen(), self._last
        if seen is None or self._player is None:
            return
        drawn = (last, len(self.server.clients[last].device.trace))
        if drawn != self._drawn:
            self._drawn = drawn
            self._player.player_data = player_data(film_of(seen), seen.findings)

    def _happened(self, line: str) -> None:
        self._last = line.split(maxsplit=1)[0]

    async def _serve(self, port: int) -> None:
        try:
            async with self.server.serving(port):
                self._begun.set()
                while not self._over.is_set():
                    await asyncio.sleep(0.25)  # seconds between two looks for something new
                    self.refresh()
        except BaseException as error:  # noqa: BLE001  # whoever made this object gets it
            self._trouble = error
            self._begun.set()
