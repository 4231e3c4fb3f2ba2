"""The scenario builder: choose a flow, a phone, a card and a fault, play it by hand, and copy the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

from workbook.scenes.script import FLOWS, Script
from workbook.simulation.fault_plan import MOMENTS, OPERATIONS
from workbook.simulation.faults import FAULTS
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.markup import joined, tag, trusted
from workbook.views.snapshot import Snapshot
from workbook.views.table import paragraph, preformatted
from workbook.widgets.chooser import dropdown
from workbook.widgets.keys import Keys
from workbook.widgets.live import Live
from workbook.widgets.stage import Stage, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_FAULT = "none"
WITH_FAULT = ("operation", "moment", "seconds")
"""Chosen for a fault."""
SECONDS = ("as the fault has it", "0.5", "2.0", "7.0", "25.0")


def choices(flow: str) -> dict[str, tuple[str, ...]]:
    """What there is to choose for a flow, the ordinary first."""
    kind = FLOWS[flow]
    return {
        "flow": tuple(FLOWS),
        "variant": (*reversed([*kind.variants]),),
        "phone": tuple(kind.phones),
        "card": INSTRUMENT_IDS,
        "fault": (NO_FAULT, *(name for name in FAULTS if name != next(iter(FAULTS)))),
        "operation": tuple(reversed(OPERATIONS)),
        "moment": tuple(MOMENTS),
        "seconds": SECONDS,
    }


def script(chosen: Mapping[str, str]) -> Script:
    """The stage that was chosen; what is ordinary is left to its default, so that the call stays short."""
    ordinary = {name: options[0] for name, options in choices(chosen["flow"]).items()}
    given: dict[str, Any] = {name: chosen[name] for name in ordinary if chosen[name] != ordinary[name]}
    for name in ("flow", "seconds", *(() if "fault" in given else WITH_FAULT)):
        given.pop(name, None)
    if chosen["seconds"] != ordinary["seconds"] and timed(chosen):
        given["seconds"] = float(chosen["seconds"])
    return Script(chosen["flow"], **given)


def timed(chosen: Mapping[str, str]) -> bool:
    """Whether the fault takes a time that can be set."""
    return chosen["fault"] != NO_FAULT and "seconds" in FAULTS[chosen["fault"]].settings


def met(script: Script) -> str:
    """Which request the fault meets."""
    return f"The fault meets the first {script.operation}; a second attempt meets none."


class Builder(Live):
    """The scenario builder."""

    def __init__(self) -> None:
        self.stage = Stage(Script())
        self._box: Any = None

    def __repr__(self) -> str:
        return "builder()"

    def snapshot(self) -> Snapshot:
        """What there is to choose, and the first stage."""
        options = [f"{name}: {', '.join(names)}" for name, names in choices("platform A").items()]
        stored = self.stage.snapshot()
        listed = tag("details", tag("summary", "What there is to choose"), preformatted("\n".join(options)))
        return Snapshot("\n".join([*options, stored.text()]), joined(trusted(stored.html()), listed))

    def widget(self) -> Any:
        """The choices, the call, and the stage; always the same box."""
        if self._box is None:
            self._dropdowns = {name: dropdown(name, options) for name, options in choices("platform A").items()}
            for one in self._dropdowns.values():
                one.observe(self._chosen, "value")
            self._call = ipywidgets.HTML()
            row = ipywidgets.Box([*self._dropdowns.values()], layout={"flex_flow": "row wrap"})
            self._box = ipywidgets.VBox([row, self._call, Keys(), self.stage.widget()])
            self.stage.widget().observe(lambda _change: self._tell(), "guarded")
            self._show()
        return self._box

    @property
    def chosen(self) -> dict[str, str]:
        """The label of each choice."""
        return {name: one.value for name, one in self._dropdowns.items()}

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if change["owner"] is self._dropdowns["flow"]:
            self._offer(change["new"])
        self._show()

    def _offer(self, flow: str) -> None:
        """Another flow has other variants and other phones; that they change is no choice of the reader's."""
        for name in ("variant", "phone"):
            one = self._dropdowns[name]
            one.unobserve(self._chosen, "value")
            one.options = choices(flow)[name]
            one.observe(self._chosen, "value")

    def _show(self) -> None:
        for name in WITH_FAULT:
            self._dropdowns[name].disabled = self.chosen["fault"] == NO_FAULT
        self._dropdowns["seconds"].disabled = not timed(self.chosen)
        self.stage.begin(script(self.chosen))
        self._tell()

    def _tell(self) -> None:
        spelt = spelled(self.stage.script)
        meets = [paragraph(met(self.stage.script))] if self.stage.script.fault else []
        told = tag("div", *meets, paragraph("The same in Python:"), preformatted(spelt), role="status")
        self._call.value = str(told)


def builder() -> Builder:
    """The scenario builder."""
    return Builder()
