"""The scenario builder: choose a flow, a phone, a card and a fault, play it by hand, and copy the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets

from workbook.plays.script import FLOWS, Script
from workbook.simulation.faults import FAULTS, MOMENTS, OPERATIONS
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.html import joined, tag, trusted
from workbook.views.table import Snapshot, paragraph, preformatted
from workbook.widgets.chooser import Keys, dropdown
from workbook.widgets.player import Live
from workbook.widgets.stage import Stage, spelled

NO_FAULT = "none"
WITH_FAULT = ("operation", "moment", "seconds")
"""The choices that only a fault has."""
SECONDS = ("as the fault has it", "0.5", "2.0", "7.0", "25.0")


def choices(flow: str) -> dict[str, tuple[str, ...]]:
    """The values of each choice for a flow, the ordinary one first."""
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
    """The script for these choices; an ordinary value is left to its default, so that the call stays short."""
    ordinary = {name: options[0] for name, options in choices(chosen["flow"]).items()}
    given: dict[str, Any] = {name: chosen[name] for name in ordinary if chosen[name] != ordinary[name]}
    for name in ("flow", "seconds", *(() if "fault" in given else WITH_FAULT)):
        given.pop(name, None)
    if chosen["seconds"] != ordinary["seconds"] and timed(chosen):
        given["settings"] = {"seconds": float(chosen["seconds"])}
    return Script(chosen["flow"], **given)


def timed(chosen: Mapping[str, str]) -> bool:
    """Whether the fault takes a time that can be set."""
    return chosen["fault"] != NO_FAULT and "seconds" in FAULTS[chosen["fault"]].settings


class Builder(Live):
    """The scenario builder."""

    def __init__(self) -> None:
        self.stage = Stage(Script())
        self._box: Any = None

    def __repr__(self) -> str:
        return "builder()"

    def snapshot(self) -> Snapshot:
        """All choices, and the first stage."""
        options = [f"{name}: {', '.join(names)}" for name, names in choices("platform A").items()]
        stored = self.stage.snapshot()
        listed = tag("details", tag("summary", "All choices"), preformatted("\n".join(options)))
        return Snapshot("\n".join([*options, stored.text()]), joined(trusted(stored.html()), listed))

    def widget(self) -> Any:
        """The choices, the call, and the stage; always the same box."""
        if self._box is None:
            self._dropdowns = {name: dropdown(name, options) for name, options in choices("platform A").items()}
            for box in self._dropdowns.values():
                box.observe(self._chosen, "value")
            self._call = ipywidgets.HTML()
            row = ipywidgets.Box([*self._dropdowns.values()], layout={"flex_flow": "row wrap"})
            self._box = ipywidgets.VBox([row, self._call, Keys(), self.stage.widget()])
            self.stage.widget().observe(lambda _change: self._tell(), "guarded")
            self._show()
        return self._box

    @property
    def chosen(self) -> dict[str, str]:
        """The label of each choice."""
        return {name: box.value for name, box in self._dropdowns.items()}

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if change["owner"] is self._dropdowns["flow"]:
            self._offer(change["new"])
        self._show()

    def _offer(self, flow: str) -> None:
        """Replace the variants and phones by those of another flow, without reporting that as a choice."""
        for name in ("variant", "phone"):
            box = self._dropdowns[name]
            box.unobserve(self._chosen, "value")
            box.options = choices(flow)[name]
            box.observe(self._chosen, "value")

    def _show(self) -> None:
        for name in WITH_FAULT:
            self._dropdowns[name].disabled = self.chosen["fault"] == NO_FAULT
        self._dropdowns["seconds"].disabled = not timed(self.chosen)
        self.stage.begin(script(self.chosen))
        self._tell()

    def _tell(self) -> None:
        played = self.stage.script
        meets = (
            f"The fault meets the first {played.operation}, {played.moment} the API has done its part; a second attempt"
        )
        words = [paragraph(f"{meets} meets none.")] if played.fault else []
        same = (paragraph("The same in Python:"), preformatted(spelled(played)))
        self._call.value = str(tag("div", *words, *same, role="status"))


def builder() -> Builder:
    """A panel to put a run together: choose flow, phone, card and fault, press it yourself, and copy the call."""
    return Builder()
