"""Panels of a run: the phone, the messages behind it, the states, the time limits and the findings.

All are drawn from one film, so they move together. A snapshot of each is stored; with a kernel they can be played.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import ipywidgets

from workbook.flows.machine import Machine
from workbook.flows.trace import Trace
from workbook.notebook.plays.run import Run, recording
from workbook.notebook.widgets.page import SIDE_BY_SIDE
from workbook.notebook.widgets.player import Live, Player
from workbook.reading.checks import check
from workbook.reading.timing.measuring import HandlerTiming
from workbook.views import durations as bars
from workbook.views.compare import Comparison
from workbook.views.exchange import Exchange
from workbook.views.film import Film, film
from workbook.views.findings import findings
from workbook.views.html import View, joined, tag, trusted
from workbook.views.phone import KeyScreens
from workbook.views.player_data import comparison_data, player_data
from workbook.views.states import States
from workbook.views.table import Snapshot, Stack, paragraph, preformatted

FACES: Mapping[str, Callable[[Film], View]] = {
    "phone": KeyScreens,
    "exchange": Exchange,
    "states": States,
    "timing": bars.timing,
}
"""The stored form of each panel."""


class Recorded(Protocol):
    """Anything with a trace and the machine that was stepped."""

    @property
    def trace(self) -> Trace:
        """Every step."""
        ...

    @property
    def machine(self) -> Machine:
        """The table of states and events."""
        ...


def film_of(source: Recorded) -> Film:
    """The film of a run; its `before` is the screen at the beginning, if it has one."""
    return film(source.trace, source.machine, getattr(source, "before", None))


class Panels(Live):
    """Some panels of one film.

    Attributes:
        film: the run.
        shown: which of `workbook.notebook.widgets.page.PANELS`, in this order.
    """

    def __init__(self, source: Recorded, *shown: str) -> None:
        self.film = film_of(source)
        self.shown = shown
        self._source = source
        self._findings = check(source.trace)
        self._player: Player | None = None

    def snapshot(self) -> Snapshot:
        """The stored forms of the panels."""
        faces = Stack(tuple(FACES[name](self.film) for name in self.shown if name in FACES))
        if "findings" in self.shown:
            faces = Stack((*faces.views, findings(self._findings)))
        return Snapshot(faces.text(), faces.html())

    def recording(self) -> dict[str, Any]:
        """The run, where it is a whole one."""
        return recording(self._source, panels=self.shown) if isinstance(self._source, Run) else {}

    def widget(self) -> Player:
        """The live panels, always the same widget."""
        if self._player is None:
            self._player = Player(player_data(self.film, self._findings), self.shown)
        return self._player


class Compared(Live):
    """Two runs on one timeline: both phones, and the messages folded into one list."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._player: Player | None = None

    def snapshot(self) -> Snapshot:
        """The comparison as text and picture."""
        return Snapshot(self.comparison.text(), self.comparison.html())

    def recording(self) -> dict[str, Any]:
        """Both runs."""
        return {kind: {**runs, "panels": list(SIDE_BY_SIDE)} for kind, runs in self.comparison.recording.items()}

    def widget(self) -> Player:
        """The live panels, always the same widget."""
        if self._player is None:
            self._player = Player(comparison_data(self.comparison), SIDE_BY_SIDE)
        return self._player


# Measurements of this machine and this moment. A stored notebook must be the same on every run, and a measurement is
# not: so its figures are in the live widget only, and a sentence about them is stored.


class PageFrame(Live):
    """A whole page in a frame, with a link that saves it; live only, because it is large."""

    def __init__(self, page: str) -> None:
        self.page = page

    def __repr__(self) -> str:
        return "The page conform.html, with every case and both sides. It is shown live, and .write(FOLDER) writes it."

    def snapshot(self) -> Snapshot:
        """A sentence in the place of the page."""
        return Snapshot(repr(self), paragraph(repr(self)))

    def widget(self) -> Any:
        """The page and the link, as an ipywidgets HTML."""
        data = b64encode(self.page.encode()).decode()
        link = tag("a", "Save this page as conform.html", href=f"data:text/html;base64,{data}", download="conform.html")
        frame = tag("iframe", srcdoc=self.page, title="conform.html", style="width:100%;height:36em;border:1px solid")
        return ipywidgets.HTML(str(tag("div", paragraph(link), frame)))


NOT_STORED = "The figures depend on the machine that runs this cell, so they are shown live and not stored."


class Here(Live):
    """A measurement, shown live only."""

    def __init__(self, timing: HandlerTiming) -> None:
        self.timing = timing

    def __repr__(self) -> str:
        return f"Measured here: {self.timing.measurement.call}(). {self.timing.network}. {NOT_STORED}"

    def snapshot(self) -> Snapshot:
        """A sentence about the measurement, without its figures."""
        return Snapshot(repr(self), paragraph(repr(self)))

    def widget(self) -> Any:
        """The picture, which has each verdict, and what no picture shows, as an ipywidgets HTML."""
        measured = self.timing.measurement
        picture = bars.durations(f"{measured.call}(), measured here", measured.judgements)
        beside = preformatted(f"{measured.beside}\n      {self.timing.network}")
        shown = joined(trusted(picture.html()), beside, paragraph(NOT_STORED))
        return ipywidgets.HTML(str(tag("div", shown, style="line-height:1.4")))
