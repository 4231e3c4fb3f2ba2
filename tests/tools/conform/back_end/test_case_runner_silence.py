"""A back end that hangs is left alone after a while, and one that is slow is not."""

import re
import threading

import pytest
import reference
import relays
from seen_values import call, dropped

from workbook.tools.conform.back_end.case_runner import FailureStreak
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import GET, Broke
from workbook.tools.harness.model import Verdict

BOUND = 2.0
ALONE = [name for name, case in CASES.items() if case.script.alone and case.group == "form"]


def late(began):
    return dropped(Broke.LATE, began=began, took=2.5)


def suspected(*calls):
    silence = FailureStreak(BOUND)
    for one in calls:
        silence.count("relay.get.path", one)
    return silence.suspected


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([late(0), late(2.5), late(5), late(7.5)], True),
        ([late(0), late(2.5), late(5)], False),
        ([late(0), late(0), late(0), late(0)], False),
        ([late(0), late(2.5), call(began=5.0), late(5), late(7.5)], False),
        ([late(0), late(2.5), call(GET, None, status=401, began=5.0), late(5), late(7.5)], True),
        ([call(GET, None, status=504, began=at, took=1.5) for at in (0.0, 1.5, 3.0, 4.5)], True),
        ([call(GET, None, status=504, began=at, took=0.1) for at in (0.0, 1.5, 3.0, 4.5)], False),
        ([call(began=at, took=1.9) for at in (0.0, 2.0, 4.0, 6.0)], False),
        ([dropped(Broke.CANCELLED, began=at, took=1.9) for at in (0.0, 2.0, 4.0, 6.0)], False),
    ],
)
def test_it_is_looked_into_where_nobody_was_answered_for_a_while(calls, wanted):
    assert suspected(*calls) is wanted


def test_it_begins_with_the_first_call_that_was_not_answered():
    silence = FailureStreak(BOUND)
    for name, one in (("a", call()), ("b", late(1.0)), ("c", late(3.5))):
        silence.count(name, one)
    assert [(case, one.began) for case, one in silence.failed] == [("b", 1.0), ("c", 3.5)]


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


class Slow(reference.Relay):
    """It takes its time for every call."""

    def sdk_input(self, answered):
        threading.Event().wait(0.3)
        return super().sdk_input(answered)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "stops"), [(LockKept, True), (Slow, False)])
def test_a_run_stops_with_a_back_end_that_hangs_and_not_with_a_slow_one(monkeypatch, kind, stops):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    results = relays.results("mine", ["relay.get.fault-500", *ALONE], bound=0.5)
    left = [one for one in results if one.verdict is Verdict.NOT_TESTABLE]
    assert bool(left) is stops
    said = re.compile("After [0-9]+ failing API answers, the back end has not answered any plain call "
                      "since about relay.get.fault-500.")  # fmt: skip
    assert all(said.fullmatch(one.why) for one in left)
