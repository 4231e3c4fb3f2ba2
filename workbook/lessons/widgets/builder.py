"""The scenario builder: choose flow, phone, back end, fault and your own code; press the phone, and copy the call."""

from collections.abc import Iterable, Mapping
from typing import Any

from workbook.base.values import did_you_mean
from workbook.errors import ParameterError
from workbook.lessons.plays.script import FLOWS, FLOWS_THAT_TAKE, Script
from workbook.lessons.widgets.chooser import controls_above, dropdown, filtered, literal, words
from workbook.lessons.widgets.panels import Live
from workbook.lessons.widgets.stage import Stage
from workbook.play.back_end import BACK_ENDS
from workbook.play.extension.mistakes import HANDLERS, SHOWS_ON
from workbook.play.platform_b import APPS_B
from workbook.simulation.faults import FAULTS
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.html import joined, tag, trusted
from workbook.views.table import Snapshot, preformatted

# The choices that only a fault has.
WITH_FAULT = ("operation", "moment", "seconds")


def choices(flow: str, own: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """The values of each choice for a flow by their labels, the ordinary one first.

    Args:
        flow: one of `FLOWS`.
        own: code of your own; see `build`.
    """

    def same(names: Iterable[str]) -> dict[str, Any]:
        return {name: name for name in names}

    offered: dict[str, dict[str, Any]] = {
        "flow": same(FLOWS),
        "variant": same(reversed([*FLOWS[flow].variants])),
        "phone": same(FLOWS[flow].phones),
        "card": same(INSTRUMENT_IDS),
        "back_end": same(BACK_ENDS),
        "app": same(APPS_B),
        "handler": same(HANDLERS),
        "fault": same(("none", *tuple(FAULTS)[1:])),
        "operation": same(("POST", "GET")),
        "moment": {"before the API's part": "before", "after the API's part": "after"},
        "seconds": {"as the fault has it": None, "0.5": 0.5, "2.0": 2.0, "7.0": 7.0, "25.0": 25.0},
    }
    for name, value in (own or {}).items():
        usual = "the cardholder decides" if name == "authorization" else "asks the back end"
        offered.setdefault(name, {usual: None})[f"yours: {literal(value, name)}"] = value
    return {name: labels for name, labels in offered.items() if flow in FLOWS_THAT_TAKE.get(name, (flow,))}


def script(chosen: Mapping[str, str], own: Mapping[str, Any] | None = None) -> Script:
    """The script for these labels; an ordinary value is left to its default, so that the call stays short."""
    offered = choices(chosen["flow"], own)
    given = {name: labels[chosen[name]] for name, labels in offered.items() if chosen[name] != next(iter(labels))}
    for name in ("flow", *(() if "fault" in given else WITH_FAULT)):
        given.pop(name, None)
    seconds = given.pop("seconds", None)
    if seconds is not None and timed(chosen):
        given["settings"] = {"seconds": seconds}
    return Script(chosen["flow"], **dict(SHOWS_ON.get(str(given.get("handler")), {})) | given)


def timed(chosen: Mapping[str, str]) -> bool:
    """Whether the fault takes a time that can be set."""
    return chosen["fault"] in FAULTS and "seconds" in FAULTS[chosen["fault"]].settings


class Builder(Live):
    """The scenario builder.

    Args:
        own: code of your own; see `build`.

    Raises:
        ParameterError: there is no such choice, or the SDK cannot call the code.
    """

    def __init__(self, **own: Any) -> None:
        takes = ("handler", "authorization", "fetch_opc", "delegate", "back_end")
        for name in own:
            if name not in takes:
                raise ParameterError(f"A builder takes no {name!r}. {did_you_mean(name, takes)}")
        self.own = own
        self._flow = next((FLOWS_THAT_TAKE[name][0] for name in own if name in FLOWS_THAT_TAKE), next(iter(FLOWS)))
        for name, value in own.items():
            first = Script(FLOWS_THAT_TAKE.get(name, (self._flow,))[0], **{name: value})
            FLOWS[first.flow].begin(first)  # says now what is wrong with the code
        self.stage = Stage(Script(self._flow))
        self._offering = False

    def __repr__(self) -> str:
        return "wb.build()"

    def snapshot(self) -> Snapshot:
        """All choices, and the first stage."""
        options = [f"{words(name)}: {', '.join(labels)}" for name, labels in self._everything().items()]
        stored = self.stage.snapshot()
        listed = tag("details", tag("summary", "All choices"), preformatted("\n".join(options)))
        return Snapshot("\n".join([*options, stored.text()]), joined(trusted(stored.html()), listed))

    def make_widget(self) -> Any:
        """The choices above the stage."""
        self._dropdowns = {name: dropdown(name, labels) for name, labels in self._everything().items()}
        self._dropdowns["flow"].value = self._flow
        self._offer(self._flow)
        for box in self._dropdowns.values():
            box.observe(self._chosen, "value")
        # A filter keeps the options that it was made with, and those of variants and phones change with the flow.
        changing = ("variant", "phone")
        self._fields = {name: box if name in changing else filtered(box) for name, box in self._dropdowns.items()}
        self._show()
        self.stage.widget().observe(self._broken, "broken")
        return controls_above(self._fields.values(), self.stage.widget())

    @property
    def chosen(self) -> dict[str, str]:
        """The label of each choice of the flow."""
        names = choices(self._dropdowns["flow"].value, self.own)
        return {name: box.value for name, box in self._dropdowns.items() if name in names}

    def _everything(self) -> dict[str, dict[str, Any]]:
        """The choices of every flow."""
        everything: dict[str, dict[str, Any]] = {}
        for flow in (*FLOWS, self._flow):  # where two flows differ, the first one shown wins
            everything |= choices(flow, self.own)
        order = [*choices("platform B", self.own), *everything]
        return {name: everything[name] for name in dict.fromkeys(order)}

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if self._offering:
            return
        if change["owner"] is self._dropdowns["flow"]:
            self._offer(change["new"])
        self._show()

    def _offer(self, flow: str) -> None:
        """Replace the variants and phones by those of another flow, without reporting that as a choice."""
        self._offering = True
        for name in ("variant", "phone"):
            self._dropdowns[name].options = list(choices(flow)[name])
        self._offering = False

    def _broken(self, _change: object) -> None:
        """A message was broken or mended by its arrow: the choices say so, too."""
        if self._offering:
            return
        script, self._offering = self.stage.script, True
        for name in ("fault", "operation", "moment"):
            labels = choices(script.flow)[name]
            self._dropdowns[name].value = next(
                (label for label, value in labels.items() if value == getattr(script, name)), next(iter(labels))
            )
        self._able(self.chosen)
        self._offering = False

    def _able(self, chosen: Mapping[str, str]) -> None:
        """Offer what there is to choose now, each in its place."""
        for name, box in self._dropdowns.items():
            self._fields[name].layout.display = None if name in chosen else "none"
            enabled = timed(chosen) if name == "seconds" else chosen["fault"] in FAULTS
            box.disabled = name in WITH_FAULT and not enabled

    def _show(self) -> None:
        self._able(self.chosen)
        self._offering = True
        self.stage.begin(script(self.chosen, self.own))
        self._offering = False


def build(**own: Any) -> Builder:
    """A panel to put a run together: choose flow, phone, back end and fault, press it yourself, and copy the call.

    Args:
        own: code of your own to choose from, too: `handler`, `authorization`, `fetch_opc`, `delegate` or `back_end`,
            each as the platform's `live` takes it.

    Raises:
        ParameterError: there is no such choice, or the SDK cannot call your code.
    """
    return Builder(**own)
