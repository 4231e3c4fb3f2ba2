"""A back end that hangs is left alone after a while, and one that is slow is not."""

import re
import threading
from dataclasses import replace

import pytest
import reference
import relays
from seen_values import call, dropped

from workbook.tools.conform.back_end.case_runner import FailureStreak
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import GET, Broke
from workbook.tools.harness.model import Verdict

ALONE = [name for name, case in CASES.items() if case.script.alone and case.group == "form"]
LATE = dropped(Broke.LATE)
FAILED = call(GET, None, status=504)


def suspected(*calls, asked=True):
    """Whether these calls are reason enough to probe."""
    streak = FailureStreak()
    for one in calls:
        streak.count("relay.get.path", one, asked=asked)
    return streak.suspected


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([LATE] * 3, True),
        ([LATE] * 2, False),
        ([LATE, call(), LATE, LATE], False),
        ([LATE, FAILED, LATE, LATE], True),
        ([FAILED] * 9, False),
        ([dropped(Broke.REFUSED)] * 3, True),
        ([dropped(Broke.CANCELLED)] * 9, False),
    ],
)
def test_it_is_looked_into_where_three_plain_calls_in_a_row_were_not_answered(calls, wanted):
    assert suspected(*calls) is wanted


@pytest.mark.parametrize(("status", "wanted"), [(502, True), (429, False), (200, False)])
def test_a_call_that_ends_before_the_api_is_asked_counts_like_one_without_an_answer(status, wanted):
    assert suspected(*[call(GET, None if status != 200 else "x", status=status)] * 3, asked=False) is wanted


def test_it_begins_with_the_first_call_that_was_not_answered():
    streak = FailureStreak()
    for name, one in (("a", call()), ("b", replace(LATE, began=1.0)), ("c", replace(LATE, began=3.5))):
        streak.count(name, one, asked=True)
    assert [(case, one.began) for case, one in streak.failed] == [("b", 1.0), ("c", 3.5)]
    assert streak.since == 1.0


class LockKept(reference.Relay):
    """It asks the API one call after the other, and after a failure nobody lets the next one in."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.turn, self.over = threading.Lock(), threading.Event()

    def call(self, *words):
        if self.turn.locked():
            self.over.wait(20)
        try:
            return super().call(*words)
        except reference.Again:
            self.turn.acquire(blocking=False)
            raise


class PoolDriesOut(reference.Relay):
    """A connection that failed never comes back to its pool; with none left, each call waits for one, and ends."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.pool = threading.Semaphore(3)

    def call(self, *words):
        if not self.pool.acquire(timeout=0.2):
            raise reference.Refused(*reference.NOT_NOW)
        answered = super().call(*words)
        self.pool.release()
        return answered


class Slow(reference.Relay):
    """It takes its time for every call."""

    def sdk_input(self, answered):
        threading.Event().wait(0.3)
        return super().sdk_input(answered)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stops"), [(LockKept, True), (PoolDriesOut, True), (Slow, False)])
def test_a_run_stops_with_a_back_end_that_hangs_and_not_with_a_slow_one(monkeypatch, kind, stops):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    results = relays.results("mine", ["relay.get.fault-500", *ALONE], bound=0.5)
    left = [one for one in results if one.verdict is Verdict.NOT_LOOKED_AT]
    assert bool(left) is stops
    said = re.compile("After [0-9]+ failing API answers, no plain call to the back end has succeeded "
                      "since about relay.get.fault-500.")  # fmt: skip
    assert all(said.fullmatch(one.why) for one in left)
