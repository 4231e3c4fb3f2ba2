"""The planner as a panel: a slider for each choice, the histogram, the share that misses, and advice."""

from typing import Any

import ipywidgets

from workbook.base.values import whole
from workbook.checks.timing.planner import GETS, LogNormal, Plan, chance_lacking
from workbook.checks.timing.verdict import percent, span
from workbook.errors import ParameterError
from workbook.lessons.widgets.chooser import controls_above, literal, status
from workbook.lessons.widgets.panels import Live
from workbook.views.durations import durations
from workbook.views.html import tag, trust
from workbook.views.table import Snapshot, failure, paragraph, preformat

# When a GET is given up, by its words on the slider.
TIMEOUTS = {"never": None} | {span(half / 2): half / 2 for half in range(1, 41)}


class Planner(Live):
    """A plan with what comes of it.

    Attributes:
        latency: how long one GET takes.
        plan: the plan that is shown.
    """

    def __init__(self, latency: LogNormal, **choices: Any) -> None:
        self.latency = latency
        self.plan = Plan(latency, **choices)

    def snapshot(self) -> Snapshot:
        """The share that misses the limit, what to change and what that brings, and the histogram."""
        # 20,000 simulated calls take a twentieth of a second, and are enough for two digits
        plan, estimate = self.plan, self.plan.simulate(20_000)
        late = estimate.missed if (exact := plan.exact()) is None else exact
        share, missed = percent(late), f"of the calls take longer than {span(plan.limit)}: the wallet shows no card."
        if exact is not None:
            missed = f"{missed} This share is exact; the chart below has {estimate.calls:,} simulated calls."
        lacking = f"At least one card is missing in {percent(chance_lacking(plan))} of the lists."
        advice = [f"{one.text} Then: {_outcome(one.plan, estimate.calls)}." for one in plan.advice(late)]
        advice = advice or [estimate.judgement.todo or ""]
        picture, call = durations("One call of passEntries()", [estimate]), self._in_python()
        bad, good = "var(--jp-error-color1, #b3261e)", "var(--jp-success-color1, #1e6b34)"
        colour = bad if late > 0.001 else good  # the target: one call in a thousand
        number = tag("b", share, style=f"font-size:2.6em;line-height:1.1;color:{colour}")
        html = status(
            tag("p", number, f" {missed}", tag("br"), lacking, style="margin:0.2em 0"),
            tag("ul", *(tag("li", line) for line in advice), style="margin:0.4em 0"),
            trust(picture.picture().figure(picture.text())),
            paragraph("The same in Python:"),
            preformat(call),
        )
        lines = [call, f"{share} {missed}", lacking, *(f"- {line}" for line in advice), picture.text()]
        return Snapshot("\n".join(lines), html)

    def make_widget(self) -> Any:
        """The sliders and the result."""
        self._controls, self._result = self._sliders(), ipywidgets.HTML(self.snapshot().html())
        for control in self._controls.values():
            control.observe(self._on_change, "value")
        return controls_above(self._controls.values(), self._result)

    def _sliders(self) -> dict[str, Any]:
        plan, style = self.plan, {"description_width": "initial"}
        timeout = next((words for words, value in TIMEOUTS.items() if value == plan.timeout), "never")
        median, p99 = self.latency.median, self.latency.p99
        grid = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0,
                7.0, 8.0, 9.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0)  # fmt: skip

        def seconds(value: float) -> list[tuple[str, float]]:
            """The seconds of a GET's latency on its slider; the value that was given is among them, too."""
            return [(span(one), one) for one in sorted({*grid, value})]

        def among(options: Any, value: Any, words: str) -> Any:
            how = {"style": style, "layout": {"width": "21em"}}
            return ipywidgets.SelectionSlider(options=options, value=value, description=words, **how)

        return {
            "median": among(seconds(median)[:-1], median, "median of a GET"),
            "p99": among(seconds(p99)[1:], p99, "1 in 100 above"),
            "cards": among(range(1, 31), plan.cards, "cards"),
            "timeout": among(list(TIMEOUTS), timeout, "given up after"),
            "retries": among(range(6), plan.retries, "made again, times"),
            "gets": ipywidgets.ToggleButtons(options=GETS, value=plan.gets, style={"button_width": "max-content"}),
        }

    def _on_change(self, _change: object) -> None:
        """Every control says what it plans; a 99th percentile that is not above the median is explained."""
        chosen = {name: control.value for name, control in self._controls.items()}
        try:
            self.latency = LogNormal(chosen.pop("median"), chosen.pop("p99"))
        except ParameterError as error:
            self._result.value = failure(error).html()
            return
        self.plan = Plan(self.latency, **chosen | {"timeout": TIMEOUTS[chosen["timeout"]]})
        self._result.value = self.snapshot().html()

    def _in_python(self) -> str:
        """The call that shows this plan, as Python to copy."""
        values = {"median": self.latency.median, "p99": self.latency.p99}
        values |= {name: getattr(self.plan, name) for name in ("cards", "gets", "timeout", "retries")}
        return f"wb.planner({', '.join(f'{name}={literal(value)}' for name, value in values.items())})"


def _outcome(plan: Plan, calls: int) -> str:
    """What a change brings, and what it costs."""
    return f"{percent(plan.chance(calls))} miss, {percent(chance_lacking(plan))} lack a card"


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
