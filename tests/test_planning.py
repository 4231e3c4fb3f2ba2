"""The plan and the wallet's own clock: the same latencies come to the same totals and the same missing cards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.errors import ParameterError
from workbook.plays import planning
from workbook.plays.planning import agreement, plan_for, play
from workbook.timing.planner import LogNormal, Plan, Resampled, totals


@pytest.mark.rule("X-ENTRIES-3", "API-12")
@settings(max_examples=25)
@given(
    seconds=st.lists(st.floats(0.001, 40.0), min_size=1, max_size=6),
    gets=st.sampled_from(["one by one", "concurrent"]),
    timeout=st.sampled_from([None, 0.5, 5.0]),
)
def test_one_call_planned_and_played(seconds, gets, timeout):
    timeout = timeout if gets == "concurrent" else None  # one by one the handler lets a late GET end the call
    plan = Plan(LogNormal(1.0, 2.0), cards=len(seconds), gets=gets, timeout=timeout)
    (planned,), (lost,) = totals(np.array([[[one] for one in seconds]]), plan)
    played = play(plan, seconds)
    assert played.seconds == pytest.approx(planned)
    assert played.lost == lost


def test_a_lesson_reads_that_they_agree():
    told = agreement(LogNormal(0.8, 6.0), cards=3, calls=10).text()
    assert told.count("the same total to the microsecond; the same cards missing") == 3


def test_they_would_be_told_apart(monkeypatch):
    monkeypatch.setattr(planning, "NOTHING_ELSE", planning.LatenciesB())
    told = agreement(Resampled([1.0]), cards=2, calls=2).text()
    assert "up to 0.030000 s apart" in told


def test_a_plan_in_one_call():
    estimate = plan_for(0.3, 2.0, cards=1, calls=1000)
    assert (estimate.plan.cards, estimate.calls, estimate.plan.timeout) == (1, 1000, None)
    assert plan_for(0.3, 2.0, 2, "concurrent", 5.0, calls=1000).plan.gets == "concurrent"
    assert plan_for(0.3, 2.0, 2, timeout=1.0, retries=2, calls=1000).plan.retries == 2


@pytest.mark.parametrize("values", [{"cards": 0}, {"gets": "at once"}, {"median": -1}, {"timeout": 0}, {"calls": 0}])
def test_a_plan_that_makes_no_sense_is_refused(values):
    with pytest.raises(ParameterError):
        plan_for(**values)
