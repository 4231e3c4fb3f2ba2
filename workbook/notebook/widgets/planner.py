"""The planner as a panel: a slider for each choice, the histogram, the share that misses, and advice."""

from __future__ import annotations

from typing import Any

import ipywidgets

from workbook.base.values import whole
from workbook.notebook.widgets.chooser import Keys, literal
from workbook.notebook.widgets.player import Live
from workbook.reading.timing.planner import GETS, LogNormal, Plan, chance_lacking
from workbook.reading.timing.verdict import percent, span
from workbook.views.durations import durations
from workbook.views.html import tag, trusted
from workbook.views.table import Snapshot, paragraph, preformatted

CALLS = 20_000
"""Simulated calls for one picture: a twentieth of a second, and enough for two digits."""
NEVER = "never"
TIMEOUTS = {NEVER: None} | {span(half / 2): half / 2 for half in range(1, 41)}
"""When a GET is given up, by its words on the slider."""
GRID = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0,
        8.0, 9.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0)  # fmt: skip
"""The seconds on the sliders of a GET's latency; the values that were given are among them, too."""
BAD, GOOD = "var(--jp-error-color1, #b3261e)", "var(--jp-success-color1, #1e6b34)"


class Planner(Live):
    """A plan with what comes of it.

    Attributes:
        latency: how long one GET takes.
        plan: the plan that is shown.
    """

    def __init__(self, latency: LogNormal, **choices: Any) -> None:
        self.latency = latency
        self.plan = Plan(latency, **choices)
        self._box: Any = None

    def snapshot(self) -> Snapshot:
        """The share that misses the limit, what to change and what that brings, and the histogram."""
        plan, estimate = self.plan, self.plan.simulate(CALLS)
        late = estimate.missed if (exact := plan.exact()) is None else exact
        share, missed = percent(late), f"of the calls take longer than {span(plan.limit)}: the wallet shows no card."
        if exact is not None:
            missed = f"{missed} This share is exact; the chart below has {CALLS:,} simulated calls."
        lacking = f"At least one card is missing in {percent(chance_lacking(plan))} of the lists."
        advice = [f"{one.text} Then: {_outcome(one.plan)}." for one in plan.advice(late)] or [
            estimate.judgement.todo or ""
        ]
        picture, call = durations("One call of passEntries()", [estimate]), self._spelled()
        colour = BAD if late > 0.001 else GOOD  # the target: one call in a thousand
        number = tag("b", share, style=f"font-size:2.6em;line-height:1.1;color:{colour}")
        html = tag(
            "div",
            tag("p", number, f" {missed}", tag("br"), lacking, style="margin:0.2em 0"),
            tag("ul", *(tag("li", one) for one in advice), style="margin:0.4em 0"),
            trusted(picture.picture().figure(picture.text())),
            paragraph("The same in Python:"),
            preformatted(call),
            role="status",
            style="line-height:1.4",
        )
        lines = [call, f"{share} {missed}", lacking, *(f"- {one}" for one in advice), picture.text()]
        return Snapshot("\n".join(lines), html)

    def widget(self) -> Any:
        """The sliders and the result; always the same box."""
        if self._box is None:
            self._controls = self._sliders()
            self._result = ipywidgets.HTML(self.snapshot().html())
            for control in self._controls.values():
                control.observe(self._changed, "value")
            row = ipywidgets.Box([*self._controls.values()], layout={"flex_flow": "row wrap"})
            self._box = ipywidgets.VBox([row, Keys(), self._result])
        return self._box

    def _sliders(self) -> dict[str, Any]:
        plan, style = self.plan, {"description_width": "initial"}
        timeout = next((words for words, value in TIMEOUTS.items() if value == plan.timeout), NEVER)
        latency = {"median": self.latency.median, "p99": self.latency.p99}
        seconds = {name: sorted({*GRID, value}) for name, value in latency.items()}

        def among(options: Any, value: Any, words: str) -> Any:
            layout = {"width": "21em"}
            return ipywidgets.SelectionSlider(
                options=options, value=value, description=words, style=style, layout=layout
            )

        return {
            "median": among([(span(one), one) for one in seconds["median"][:-1]], latency["median"], "median of a GET"),
            "p99": among([(span(one), one) for one in seconds["p99"][1:]], latency["p99"], "1 in 100 above"),
            "cards": among(range(1, 31), plan.cards, "cards"),
            "timeout": among(list(TIMEOUTS), timeout, "given up after"),
            "retries": among(range(6), plan.retries, "made again, times"),
            "gets": ipywidgets.ToggleButtons(options=GETS, value=plan.gets, style={"button_width": "max-content"}),
        }

    def _changed(self, change: Any) -> None:
        """Every control says what it plans; the 99th percentile stays above the median."""
        one = {name: control.value for name, control in self._controls.items()}
        median, p99 = self._controls["median"], self._controls["p99"]
        if one["p99"] <= one["median"]:
            if change["owner"] is median:
                p99.value = next(value for _words, value in p99.options if value > one["median"])
            else:
                median.value = next(value for _words, value in reversed(median.options) if value < one["p99"])
            return  # setting it called this method again
        self.latency = LogNormal(one["median"], one["p99"])
        self.plan = Plan(self.latency, one["cards"], one["gets"], TIMEOUTS[one["timeout"]], one["retries"])
        self._result.value = self.snapshot().html()

    def _spelled(self) -> str:
        """The call that shows this plan, as Python to copy."""
        values = {"median": self.latency.median, "p99": self.latency.p99}
        values |= {name: getattr(self.plan, name) for name in ("cards", "gets", "timeout", "retries")}
        return f"wb.planner({', '.join(f'{name}={literal(value)}' for name, value in values.items())})"


def _outcome(plan: Plan) -> str:
    """What a change brings, and what it costs."""
    return f"{percent(plan.chance(CALLS))} miss, {percent(chance_lacking(plan))} lack a card"


def planner(  # noqa: PLR0917  # one choice each, in the order of the sentence
    median: float = 0.8,
    p99: float = 6.0,
    cards: int = 10,
    gets: str = "one by one",
    timeout: float | None = None,
    retries: int = 0,
) -> Planner:
    """A panel to plan the GETs of passEntries(), which has 20 s for all of them (X-ENTRIES-3).

    It shows the share of the calls that miss, how the others lie, and what to change. Live, each choice is a slider.

    Args:
        median: of one GET, in seconds.
        p99: one GET in a hundred takes longer, in seconds.
        cards: how many GETs a call makes (API-12), 1 to 30.
        gets: `one by one` or `concurrent`.
        timeout: seconds after which a GET is given up; None waits for ever.
        retries: how often a GET that was given up is made again, 0 to 5.

    Raises:
        ParameterError: one of these is not what it may be.
    """
    whole("cards", cards, least=1, most=30)
    whole("retries", retries, least=0, most=5)
    return Planner(LogNormal(median, p99), cards=cards, gets=gets, timeout=timeout, retries=retries)
