"""The plan and the wallet's own clock: the same latencies come to the same totals and the same missing cards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.checks.timing.planner import LogNormal, Plan, Resampled, totals
from workbook.lessons.widgets import planner
from workbook.lessons.widgets.planner import agreement, played_call
from workbook.simulation.phones import LatenciesB


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
    assert played_call(plan, seconds) == (pytest.approx(planned), lost)


def test_a_lesson_reads_that_they_agree():
    told = agreement(LogNormal(0.8, 6.0), cards=3, calls=10).text()
    assert told.count("the same total to the microsecond; the same cards missing") == 3


def test_they_would_be_told_apart(monkeypatch):
    monkeypatch.setattr(planner, "LatenciesB", lambda **_none: LatenciesB())
    told = agreement(Resampled([1.0]), cards=2, calls=2).text()
    assert "up to 0.030000 s apart" in told
