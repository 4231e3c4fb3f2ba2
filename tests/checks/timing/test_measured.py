"""Measuring, on a stopwatch that is told what time it is."""

import asyncio
import gc
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.checks.timing.measured import Measurement, measure_calls
from workbook.checks.timing.verdict import LimitVerdict
from workbook.errors import ParameterError

MS = 1_000_000


class Watch:
    """A stopwatch that moves only when something takes time; reading it takes `cost` nanoseconds."""

    def __init__(self, cost=0, late=0.0):
        self.now, self.cost, self.late, self.collected = 0, cost, late, 0

    def __call__(self):
        self.now += self.cost
        return self.now

    def sleep(self, seconds):
        self.now += round((seconds + self.late) * 1e9)

    def collect(self):
        self.collected += 1

    def takes(self, *milliseconds, error=None):
        """A `make` whose calls take this long one after the other, each time anew; the last one repeats."""

        def make():
            numbers = count()

            def call():
                self.now += int(milliseconds[min(next(numbers), len(milliseconds) - 1)] * MS)
                if error is not None:
                    raise error

            return call

        return make

    def measure(self, make, **given):
        return measure_calls(make, stopwatch=self, sleep=self.sleep, collect=self.collect, **given)


@pytest.mark.rule("X-STATUS-3")
def test_cold_is_the_first_call_and_warm_are_those_after_it():
    watch = Watch()
    found = watch.measure(watch.takes(130, 20), cold=3, warm=4)
    assert found.cold == (0.13,) * 3
    assert found.warm == (0.02,) * 4
    cold, warm = found.judgements
    assert (cold.name, cold.verdict) == ("status, cold", LimitVerdict.FAIL)
    assert (warm.name, warm.verdict) == ("status, warm", LimitVerdict.PASS)
    assert found.verdict is LimitVerdict.FAIL


@pytest.mark.rule("X-ENTRIES-3")
def test_entries_have_20_s():
    watch = Watch()
    found = watch.measure(watch.takes(20_000, 17_000), call="pass_entries", cold=1, warm=1, at_most=1000)
    assert [one.verdict for one in found.judgements] == [LimitVerdict.WARN, LimitVerdict.WARN]
    assert found.verdict is LimitVerdict.WARN


def test_everything_is_made_anew_for_each_cold_call_and_once_for_all_warm_ones():
    made, called = [], []

    def make():
        made.append(len(called))
        return lambda: called.append(len(made))

    Watch().measure(make, cold=3, warm=5)
    assert len(made) == 4
    assert called == [1, 2, 3, *[4] * 6]


def test_the_text_says_all_of_it():
    watch = Watch(cost=40, late=0.00025)
    found = watch.measure(watch.takes(12, 3), cold=2, warm=3)
    assert repr(found) == found.text
    assert found.text.splitlines() == [
        "PASS  status, cold: none of 2 over 100 ms; up to 66 % cannot be excluded (0.1 % takes 3,838 calls with",
        "      none over)",
        "      median 12 ms, worst 12 ms; X-STATUS-3 (spec)",
        "PASS  status, warm: none of 3 over 100 ms; up to 56 % cannot be excluded (0.1 % takes 3,838 calls with",
        "      none over)",
        "      median 3 ms, worst 3 ms; X-STATUS-3 (spec)",
        "      the stopwatch itself takes 0.04 µs (99th percentile 0.04 µs); a sleep of 1 ms comes back 250 µs late",
        "      (99th percentile 250 µs)",
    ]


@pytest.mark.slow
def test_the_stopwatch_is_measured_first():
    reads = []
    found = measure_calls(
        lambda: lambda: None, cold=1, warm=1, stopwatch=lambda: reads.append(0) or len(reads) * 10, sleep=id
    )
    assert (found.instrument.overhead.p50, found.instrument.overhead.worst) == (1e-8, 1e-8)
    assert found.instrument.lateness.p50 == 0.0  # a sleep that comes back early is not late
    # the start; a cold, a discarded and a warm call, and before each the time that is left
    assert len(reads) == 1 + 2 * 1000 + 2 * 20 + 9


@pytest.mark.parametrize(
    ("took", "at_most", "done"),
    [(100, 1.0, (5, 5)), (100, 2.0, (10, 10)), (5000, 1.0, (1, 1)), (100, 100, (20, 20))],
)
def test_it_stops_when_the_time_is_up_with_at_least_one_of_each(took, at_most, done):
    watch = Watch()
    began = 20 * 0.001  # the sleeps of the stopwatch
    found = watch.measure(watch.takes(took), cold=20, warm=20, at_most=at_most + began)
    assert len(found.cold) in {done[0], done[0] + 1}
    assert len(found.warm) in {done[1] - 1, done[1]}
    assert ("stopped early, the time was up: " in found.text) is (done != (20, 20))


def test_stopping_early_says_how_many_were_done():
    watch = Watch()
    found = watch.measure(watch.takes(50_000), call="provision", cold=20, warm=200)
    assert "stopped early, the time was up: 1 of 20 cold, 1 of 200 warm" in found.text


def test_a_call_that_raises_failed_however_quick_it_was():
    watch = Watch()
    found = watch.measure(watch.takes(1, error=KeyError("secret")), cold=1, warm=2)
    assert (found.failed, found.raised, found.verdict) == (3, (("KeyError", 3),), LimitVerdict.FAIL)
    assert [one.verdict for one in found.judgements] == [LimitVerdict.PASS, LimitVerdict.PASS]
    assert found.text.startswith("FAIL  3 of 3 calls raised: KeyError (3)\n      the stopwatch itself")
    assert "secret" not in found.text
    assert found.cold == (0.001,)


def test_different_errors_are_told_apart():
    errors = iter([OSError(), ValueError(), None, OSError(), None])  # the third is discarded

    def call():
        error = next(errors)
        if error:
            raise error

    found = Watch().measure(lambda: call, cold=2, warm=2)
    assert found.raised == (("OSError", 2), ("ValueError", 1))


def test_the_call_that_is_discarded_counts_in_nothing():
    errors = iter([None, OSError(), None])

    def call():
        error = next(errors)
        if error:
            raise error

    assert Watch().measure(lambda: call, cold=1, warm=1).raised == ()


def test_what_stops_the_process_is_not_swallowed():
    watch = Watch()
    with pytest.raises(KeyboardInterrupt):
        watch.measure(watch.takes(1, error=KeyboardInterrupt()))


def test_the_garbage_is_collected_before_each_series_and_the_collector_stays_on():
    seen, watch = [], Watch()
    watch.measure(lambda: lambda: seen.append((gc.isenabled(), watch.collected)), cold=2, warm=2)
    assert seen == [(True, 1), (True, 2), (True, 2), (True, 3), (True, 3)]


def test_a_coroutine_that_nobody_ran_is_refused():
    async def status():
        raise AssertionError

    with pytest.raises(ParameterError, match="The call returned a coroutine, which has not run"):
        Watch().measure(lambda: status)
    with pytest.raises(ParameterError, match=r"asyncio\.run"):
        Watch().measure(lambda: Later)


class Later:
    """Awaitable, and there is nothing to close."""

    def __await__(self):
        raise AssertionError


def test_a_coroutine_run_to_its_end_is_a_call():
    async def status():
        return {"requiresAuthentication": False}

    assert Watch().measure(lambda: lambda: asyncio.run(status()), cold=1, warm=1).failed == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"call": "statsu"}, "Did you mean 'status'?"),
        ({"warm": 0}, "warm is 0. Give a whole number from 1 to 1,000,000."),
        ({"cold": True}, "cold is True."),
        ({"at_most": 0}, "at_most is 0. Give a finite number above 0."),
        ({"target": -1}, "target is -1."),
        ({"make": None}, "make is None. Give a function that makes a handler and returns a call of it."),
        ({"make": lambda: 5}, "make returned 5. Return a function that performs one call of a fresh handler."),
    ],
)
def test_nonsense_is_refused(given, told):
    with pytest.raises(ParameterError) as caught:
        Watch().measure(**{"make": Watch().takes(1)} | given)
    assert told in str(caught.value)


@given(st.lists(st.floats(0, 50), min_size=1, max_size=20), st.integers(1, 5), st.integers(1, 20))
def test_whatever_the_calls_take_is_what_is_reported(milliseconds, cold, warm):
    watch = Watch()
    found = watch.measure(watch.takes(*milliseconds), cold=cold, warm=warm, at_most=1e6)
    exact = [int(one * MS) / 1e9 for one in milliseconds]
    assert found.cold == (exact[0],) * cold
    assert found.warm == tuple(exact[min(at, len(exact) - 1)] for at in range(1, warm + 1))


@pytest.mark.slow
def test_it_works_with_real_time_too():
    found = measure_calls(lambda: lambda: sum(range(1000)), cold=2, warm=3)
    assert isinstance(found, Measurement)
    assert (len(found.cold), len(found.warm)) == (2, 3)
    assert all(one > 0 for one in (*found.cold, *found.warm))


@pytest.mark.slow
@pytest.mark.rule("X-STATUS-3")
def test_a_call_that_hangs_is_stopped_when_the_time_is_up(monkeypatch):
    monkeypatch.setattr("workbook.checks.timing.measured.NOTICEABLE", 0.05)
    found = measure_calls(lambda: lambda: time.sleep(30), cold=1, warm=1, at_most=0.1, sleep=id)
    assert found.raised == (("StoppedError", 2),)
    assert found.verdict == "fail"
