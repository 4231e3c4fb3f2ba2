"""Figures of this machine and this moment: shown live, and never stored.

A stored notebook has to be the same on every run, and a measurement is not. So what is stored says what was measured
and what follows from it; the figures themselves are in the live widget alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from workbook.views.durations import durations
from workbook.views.markup import joined, tag, trusted
from workbook.views.snapshot import Snapshot
from workbook.views.table import paragraph, preformatted
from workbook.widgets.live import Live

if TYPE_CHECKING:
    from workbook.extension.timing import HandlerTiming

NOT_STORED = "The figures are those of the machine that runs this cell, so they are shown live and not stored."


class Here(Live):
    """A measurement to look at.

    Attributes:
        timing: what was measured.
    """

    def __init__(self, timing: HandlerTiming) -> None:
        self.timing = timing

    def __repr__(self) -> str:
        return f"Measured here: {self.timing.measurement.call}(). {self.timing.network}. {NOT_STORED}"

    def snapshot(self) -> Snapshot:
        """The stable part: what was measured, and what follows from it."""
        return Snapshot(repr(self), paragraph(repr(self)))

    def widget(self) -> Any:
        """The figures and their picture, as an ipywidgets HTML."""
        measured = self.timing.measurement
        picture = durations(f"{measured.call}(), measured here", measured.judgements)
        shown = joined(preformatted(repr(self.timing)), trusted(picture.html()), paragraph(NOT_STORED))
        return ipywidgets.HTML(str(tag("div", shown, style="line-height:1.4")))
