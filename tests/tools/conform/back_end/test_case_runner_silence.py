"""A back end that hangs is left alone after a while, and one that is slow is not."""

import asyncio
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
POSTS = relays.kinds()["CacheBuster"]  # no GET works


def suspected(calls, *, worked):
    """Whether these calls are reason enough to probe."""
    streak = FailureStreak()
    for one in calls:
        streak.count("relay.get.path", one, worked=worked)
    return streak.suspected


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([LATE] * 3, True),
        ([LATE] * 2, False),
        ([LATE, call(), LATE, LATE], False),
        ([LATE, FAILED, LATE, LATE], True),
        ([dropped(Broke.REFUSED)] * 3, True),
        ([dropped(Broke.CANCELLED)] * 9, False),
        ([replace(FAILED, status=429)] * 9, False),
    ],
)
def test_it_is_looked_into_where_three_plain_calls_in_a_row_failed(calls, wanted):
    assert {suspected(calls, worked=worked) for worked in (True, False)} == {wanted}


def test_a_failure_that_is_answered_counts_where_plain_calls_worked_before():
    """A pool that is empty ends each call in time; so does a back end that was configured wrong from the start."""
    assert [suspected([FAILED] * 3, worked=worked) for worked in (True, False)] == [True, False]


def test_it_begins_with_the_first_call_that_was_not_answered():
    streak = FailureStreak()
    for name, one in (("a", call()), ("b", replace(LATE, began=1.0)), ("c", replace(LATE, began=3.5))):
        streak.count(name, one, worked=True)
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


class FailsForTheCard(reference.Relay):
    """After a failure it asks the API no more for that card: the others work."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.failed = set()

    def call(self, method, url, *words):
        if url in self.failed:
            raise reference.Refused(*reference.NOT_NOW)
        try:
            return super().call(method, url, *words)
        except reference.Again:
            self.failed.add(url)
            raise


class Slow(reference.Relay):
    """It takes its time for every call."""

    def sdk_input(self, answered):
        threading.Event().wait(0.3)
        return super().sdk_input(answered)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "stops"), [(LockKept, True), (PoolDriesOut, True), (FailsForTheCard, False), (Slow, False), (POSTS, False)]
)
def test_a_run_stops_with_a_back_end_that_hangs_and_not_with_one_that_is_slow_or_fails_for_a_card(
    monkeypatch, kind, stops
):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    faults = [f"relay.{method}.fault-{status}" for method in ("get", "post") for status in (500, 502, 504)]
    results = relays.results("mine", [*faults, *ALONE], bound=0.5)
    left = [one for one in results if one.verdict is Verdict.NOT_LOOKED_AT]
    assert bool(left) is stops
    said = re.compile("After [0-9]+ failing API answers, no plain call to the back end has succeeded "
                      r"since about [\w.-]+\.")  # fmt: skip
    assert all(said.fullmatch(one.why) for one in left)


@pytest.mark.parametrize(("held", "cleared", "alive"), [(2, 0, True), (0, 0, False), (0, 1, True)])
def test_a_look_counts_from_when_no_other_call_holds_the_back_end(monkeypatch, held, cleared, alive):
    """Two stalled calls fill two workers, and a plain call waits behind them; or another call succeeds meanwhile."""
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
    looks = 0

    async def answers(*_words):
        nonlocal looks
        looks += 1
        runner._under_way = held if looks < 3 else 0
        runner.streak.failed = [] if cleared else [("relay.get.path", LATE)]
        return held and looks == 4

    with relays.running("mine", ["relay.get.path"], bound=0.01) as runner:
        monkeypatch.setattr(runner, "_answers", answers)
        runner._under_way = held
        assert asyncio.run(runner._recovers("any")) is alive
