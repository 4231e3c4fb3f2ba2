"""A phone served from a notebook: an app's test runs against it, and the panels show what happens meanwhile."""

import asyncio
import atexit
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import ipywidgets

from workbook.base.values import lookup, number, whole
from workbook.flows.messages import Noted
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import A_FROM_0_4_0, B_LATER
from workbook.lessons.pages import PANELS
from workbook.lessons.run import Run, screen_of
from workbook.lessons.widgets.panels import Live, Player, film_of
from workbook.simulation.phones import PHONES_A, PHONES_B
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.phone import Client, PhoneServer
from workbook.views.film import film
from workbook.views.html import tag
from workbook.views.player_data import player_data
from workbook.views.screen import InFront
from workbook.views.table import Snapshot, statement


class LivePhone(Live):
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

    def snapshot(self) -> Snapshot:
        """A sentence: what is live is another on every run."""
        return statement(
            "A phone is served for an app's own test as long as this notebook's kernel runs. Its address and key are "
            "new each time, so they are shown live and not stored; .settings holds both, .stop() ends the phone."
        )

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
