"""A phone served from a notebook: an app's test runs against it, and the panels show what happens meanwhile."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any

import ipywidgets

from workbook.app.server import Client, PhoneServer
from workbook.base.values import lookup, number, whole
from workbook.flows.machine import Machine
from workbook.flows.trace import Trace
from workbook.notebook.plays.run import screen_of
from workbook.notebook.widgets.page import PANELS
from workbook.notebook.widgets.player import Live, Player
from workbook.reading.checks import check
from workbook.runs.platform_a import PlatformARun
from workbook.simulation.phones import PHONES_A, PhoneA
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.film import Film, film
from workbook.views.html import tag
from workbook.views.player_data import player_data
from workbook.views.screen import InFront, Screen
from workbook.views.table import Snapshot, paragraph

GLANCE = 0.25
"""Seconds between two looks for something new."""
MOST = 200
"""At most so many lines are drawn, the latest ones: more would take too long."""
SAYS = (
    "A phone is served for an app's own test as long as this notebook's kernel runs. Its address and key are new each "
    "time, so they are shown live and not stored; .settings holds both, .stop() ends the phone."
)


@dataclass(frozen=True, slots=True)
class PhoneView:
    """One client's phone at one moment, as the panels take it.

    Attributes:
        trace: what happened.
        machine: the flow's table.
        before: the screen at first.
    """

    trace: Trace
    machine: Machine
    before: Screen

    @property
    def film(self) -> Film:
        """The trace, frame by frame."""
        return film(self.trace, self.machine, self.before)


class LivePhone(Live):
    """A phone that is served until `stop`, or until this process ends.

    Args:
        phone: one of the phones of platform A, by name.
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

    def __init__(self, phone: str = "ready", *, port: int = 0, pace: float = 1.0, seed: int = 7) -> None:
        made: Callable[[str], PhoneA] = lookup("phone", phone, PHONES_A)
        whole("port", port, least=0, most=65_535)
        number("pace", pace)
        self._last = ""
        self.server = PhoneServer(phone=lambda: made(INSTRUMENT_IDS[0]), pace=pace, seed=seed, log=self._happened)
        self._player: Player | None = None
        self._box: Any = None
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

    def __repr__(self) -> str:
        return SAYS

    def stop(self) -> None:
        """Stop the phone; the panels stay as they are."""
        atexit.unregister(self.stop)
        self._over.set()
        self._thread.join()

    def seen(self) -> PhoneView | None:
        """The phone of the app that did something last; None before the first call."""
        client: Client | None = self.server.clients.get(self._last)
        if client is None:
            return None
        device = client.device
        latest = Trace(device.trace.title)
        for record in device.trace[-MOST:]:
            latest.append(record)
        before = replace(screen_of(device.phone), place=InFront.APP, card=INSTRUMENT_IDS[0])  # the app's own page
        return PhoneView(latest, device.variant.machine, before)

    def snapshot(self) -> Snapshot:
        """A sentence only: no two runs are the same."""
        return Snapshot(SAYS, paragraph(SAYS))

    def widget(self) -> Any:
        """The settings, and the panels, which follow what the app does."""
        if self._box is None:
            lines = "\n".join(f"{name}={value}" for name, value in self.settings.items())
            nothing = film(Trace("Nothing has happened yet"), PlatformARun().machine)
            self._player = Player(player_data(nothing), PANELS)
            self._box = ipywidgets.VBox([ipywidgets.HTML(str(tag("pre", lines))), self._player])
        return self._box

    def refresh(self) -> None:
        """Draw what has happened since the last time, if anything has."""
        seen = self.seen()
        if (
            seen is None
            or self._player is None
            or self._drawn == (self._last, now := len(self.server.clients[self._last].device.trace))
        ):
            return
        self._drawn = (self._last, now)
        self._player.player_data = player_data(seen.film, check(seen.trace))

    def _happened(self, line: str) -> None:
        self._last = line.split(maxsplit=1)[0]

    async def _serve(self, port: int) -> None:
        try:
            async with self.server.serving(port):
                self._begun.set()
                while not self._over.is_set():
                    await asyncio.sleep(GLANCE)
                    self.refresh()
        except BaseException as error:  # noqa: BLE001  # whoever made this object gets it
            self._trouble = error
            self._begun.set()
