"""The planner as an explorable: every slider is the plan, and the result is that of the plan."""

import pytest

import workbook as wb
from workbook.errors import ParameterError
from workbook.lessons.widgets.planner import planner


def shown(panel):
    return panel.widget().children[-1].value


@pytest.mark.rule("X-ENTRIES-3", "API-12")
def test_a_plan_is_stored_with_its_share_its_picture_and_what_to_change():
    text = planner(0.8, 9.0, 10).snapshot().text()
    assert text.startswith(
        'wb.planner(median=0.8, p99=9.0, cards=10, gets="one by one", timeout=None, retries=0)\n12 %'
    )
    assert (
        "- Fetch the cards' sdkInputs at the same time instead of one by one. Then: 0.98 % miss, 0 % lack a card."
        in text
    )
    assert "2,456 of 20,000 over 20 s: 12 %" in text
    assert "12 %</b>" in planner(0.8, 9.0, 10).snapshot().html()


def test_what_is_written_below_is_the_same_plan():
    one = planner(0.5, 4.0, 3, "concurrent", 5.0, 2)
    again = eval(one.snapshot().text().splitlines()[0], {"wb": wb})
    assert again.plan == one.plan


def test_every_control_changes_the_plan_and_the_result():
    panel = planner()
    seen = {shown(panel)}
    for name, value, attribute, expected in [
        ("cards", 3, "cards", 3),
        ("gets", "concurrent", "gets", "concurrent"),
        ("timeout", "5 s", "timeout", 5.0),
        ("retries", 2, "retries", 2),
        ("timeout", "never", "timeout", None),
    ]:
        panel._controls[name].value = value
        assert getattr(panel.plan, attribute) == expected
        seen.add(shown(panel))
    panel._controls["median"].value = 0.1
    panel._controls["p99"].value = 30.0
    assert (panel.latency.median, panel.latency.p99) == (0.1, 30.0)
    assert len(seen) == 6


def test_a_99th_percentile_below_the_median_is_explained_until_it_is_above():
    panel = planner()
    panel.widget()
    panel._controls["median"].value = 9.0
    assert "ParameterError" in shown(panel)
    panel._controls["p99"].value = 10.0
    assert (panel.latency.median, panel.latency.p99) == (9.0, 10.0)
    assert "ParameterError" not in shown(panel)


@pytest.mark.parametrize(
    "values", [{"cards": 0}, {"cards": 31}, {"gets": "at once"}, {"median": -1}, {"timeout": 0}, {"retries": 6},
               {"median": 2.0, "p99": 1.0}]
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_refused(values):
    with pytest.raises(ParameterError):
        planner(**values)
