"""Panels of what was played: what the phone showed, what passed behind it, which states and which limits.

All are drawn from one film, so they move together. A snapshot of each is stored; with a kernel they can be played.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbook.checks import check
from workbook.views.exchange import Exchange
from workbook.views.film import film
from workbook.views.findings import findings
from workbook.views.phone import Phone
from workbook.views.reel import reel
from workbook.views.scene import Stack
from workbook.views.snapshot import Snapshot
from workbook.views.states import States
from workbook.views.timing_bars import Timing
from workbook.widgets.live import Live
from workbook.widgets.player import PANELS, Player

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.flows.machine import Machine
    from workbook.trace import Trace
    from workbook.views.film import Film
    from workbook.views.view import View

FACES: Mapping[str, Callable[[Film], View]] = {
    "phone": Phone,
    "exchange": Exchange,
    "states": States,
    "timing": Timing,
}
"""What is stored of each panel."""


class Source(Protocol):
    """What can be shown: a scene, or a bench that has run."""

    @property
    def trace(self) -> Trace:
        """Every step."""
        ...

    @property
    def machine(self) -> Machine:
        """The table that was stepped."""
        ...


def film_of(source: Source) -> Film:
    """The film of a scene, or of a bench that has run."""
    return film(source.trace, source.machine, getattr(source, "first", None))


class Panels(Live):
    """Some panels of one film.

    Attributes:
        film: what was played.
        shown: which of `PANELS`, in this order.
    """

    def __init__(self, source: Source, *shown: str) -> None:
        self.film = film_of(source)
        self.shown = shown
        self._found = check(source.trace)
        self._player: Player | None = None

    def __repr__(self) -> str:
        return self.snapshot().text()

    def snapshot(self) -> Snapshot:
        """Each panel as it is stored."""
        faces = Stack(tuple(FACES[name](self.film) for name in self.shown if name in FACES))
        if "findings" in self.shown:
            faces = Stack((*faces.views, findings(self._found)))
        return Snapshot(faces.text(), faces.html())

    def widget(self) -> Player:
        """The panels to play; always the same ones."""
        if self._player is None:
            self._player = Player(reel(self.film, self._found), self.shown)
        return self._player


def screens(source: Source) -> Panels:
    """What the cardholder saw."""
    return Panels(source, "phone")


def exchange(source: Source) -> Panels:
    """Who said what to whom, line by line, with its details."""
    return Panels(source, "exchange")


def states(source: Source) -> Panels:
    """The way through the flow's states."""
    return Panels(source, "states")


def timing(source: Source) -> Panels:
    """The limits that ran, and how much of each was used."""
    return Panels(source, "timing")


def panels(source: Source) -> Panels:
    """All of it, side by side."""
    return Panels(source, *PANELS)
