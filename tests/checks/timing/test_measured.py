"""An integrator's handler in real time, with a stopwatch that only moves when a test says so."""

import gc
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.checks.timing import measured
from workbook.checks.timing.measured import Timer, measure
from workbook.checks.timing.verdict import LimitVerdict
from workbook.errors import ParameterError
from workbook.flows.variants import B_EARLIER
from workbook.play.extension.handler import ReferenceHandler
from workbook.play.extension.mistakes import HANDLERS, KeepsItInItsClass, NetworkInStatus, OneAfterTheOther

MS = 1_000_000


class Watch:
    """A stopwatch that moves only when something takes time; reading it takes `cost` nanoseconds."""

    def __init__(self, cost=0, late=0.0):
        self.now, self.cost, self.late = 0, cost, late

    def __call__(self):
        self.now += self.cost
        return self.now

    def sleep(self, seconds):
        self.now += round((seconds + self.late) * 1e9)

    def handler(self, *milliseconds, errors=()):
        """A handler whose calls take this long and end like this, the last one again and again; a class begins anew."""
        errors = iter(errors)

        class Takes(ReferenceHandler):
            def __init_subclass__(cls):
                cls.numbers = count()

            def status(handler):  # noqa: N805
                self.now += int(milliseconds[min(next(handler.numbers), len(milliseconds) - 1)] * MS)
                if (error := next(errors, None)) is not None:
                    raise error

            pass_entries = status

        return Takes

    def measure(self, handler, call="status", **given):
        return measure(handler, call, stopwatch=self, sleep=self.sleep, **{"warm": 5, "cold": 3} | given)


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@pytest.mark.parametrize(
    ("call", "took", "cold", "warm"),
    [("status", (130, 20), "fail", "pass"), ("pass_entries", (20_000, 17_000), "warn", "warn")],
)
def test_cold_is_the_first_call_and_warm_are_those_after_it(call, took, cold, warm):
    watch = Watch()
    found = watch.measure(watch.handler(*took), call, at_most=1000)
    assert (found.cold, found.warm) == ((took[0] / 1000,) * 3, (took[1] / 1000,) * 5)
    assert [(one.name, one.verdict) for one in found.judgements] == [(f"{call}, cold", cold), (f"{call}, warm", warm)]
    assert (found.verdict, found.median) == (cold, took[1] / 1000)


def test_the_text_says_all_of_it():
    watch = Watch(cost=40, late=0.00025)
    assert repr(watch.measure(watch.handler(12, 3), cold=2, warm=3)).splitlines() == [
        "PASS  status, cold: none of 2 over 100 ms; up to 66 % cannot be excluded (0.1 % takes 3,838 calls with",
        "      none over)",
        "      median 12 ms, worst 12 ms; X-STATUS-3 (spec)",
        "PASS  status, warm: none of 3 over 100 ms; up to 56 % cannot be excluded (0.1 % takes 3,838 calls with",
        "      none over)",
        "      median 3 ms, worst 3 ms; X-STATUS-3 (spec)",
        "      the stopwatch itself takes 0.04 µs (99th percentile 0.04 µs); a sleep of 1 ms comes back 250 µs late",
        "      (99th percentile 250 µs)",
        "      0 network calls in each status(), as its trace shows",
    ]


def test_a_sleep_that_comes_back_early_is_not_late():
    assert Timer(Watch(late=-0.0005), 1.0).instrument(Watch().sleep).lateness.p50 == 0.0


@pytest.mark.parametrize(
    ("took", "at_most", "done"),
    [(100, 1.0, (5, 5)), (100, 2.0, (10, 10)), (5000, 1.0, (1, 1)), (100, 100, (20, 20))],
)
def test_it_stops_when_the_time_is_up_with_at_least_one_of_each(took, at_most, done):
    watch = Watch()
    sleeps = 20 * 0.001  # of the stopwatch
    found = watch.measure(watch.handler(took), cold=20, warm=20, at_most=at_most + sleeps)
    assert len(found.cold) in {done[0], done[0] + 1}
    assert len(found.warm) in {done[1] - 1, done[1]}
    early = f"stopped early, the time was up: {len(found.cold)} of 20 cold, {len(found.warm)} of 20 warm"
    assert (early in repr(found)) is (done != (20, 20))


def test_a_call_that_raises_failed_however_quick_it_was():
    watch = Watch()
    found = watch.measure(watch.handler(1, errors=[KeyError("CANARY")] * 4), cold=1, warm=2)
    assert (found.raised, found.verdict, found.cold) == ((("KeyError", 3),), LimitVerdict.FAIL, (0.001,))
    assert repr(found).startswith("FAIL  3 of 3 calls raised: KeyError (3)\n      the stopwatch itself")
    assert "CANARY" not in repr(found)


def test_errors_are_told_apart_and_the_call_that_is_discarded_counts_in_nothing():
    watch, discarded = Watch(), TypeError()
    errors = [OSError(), ValueError(), discarded, OSError(), None]
    assert watch.measure(watch.handler(1, errors=errors), cold=2, warm=2).raised == (("OSError", 2), ("ValueError", 1))


def test_what_stops_the_process_is_not_swallowed():
    watch = Watch()
    with pytest.raises(KeyboardInterrupt):
        watch.measure(watch.handler(1, errors=[KeyboardInterrupt()]))


def test_the_garbage_is_collected_before_each_series_and_the_collector_stays_on(monkeypatch):
    collected, seen = [], []
    monkeypatch.setattr(measured.gc, "collect", lambda: collected.append(1))

    class Looks(ReferenceHandler):
        def status(self):
            seen.append((gc.isenabled(), len(collected)))

    Watch().measure(Looks, cold=2, warm=2)
    assert seen == [(True, 1), (True, 2), (True, 3), (True, 4), (True, 4)]


@given(st.lists(st.floats(0, 50), min_size=1, max_size=20), st.integers(1, 5), st.integers(1, 20))
def test_whatever_the_calls_take_is_what_is_reported(milliseconds, cold, warm):
    watch = Watch()
    timer, took = Timer(watch, 60.0), [int(one * MS) for one in milliseconds]

    def make():
        numbers = count()

        def call():
            watch.now += took[min(next(numbers), len(took) - 1)]

        return call

    assert timer.series(make, cold, 1e6) == (took[0] / 1e9,) * cold
    call = make()
    assert timer.series(lambda: call, warm, 1e6) == tuple(took[min(at, len(took) - 1)] / 1e9 for at in range(warm))


@pytest.mark.slow
@pytest.mark.rule("X-STATUS-3")
def test_a_call_that_hangs_is_over_when_the_time_is_up(monkeypatch):
    monkeypatch.setattr(measured, "NOTICEABLE", 0.05)

    class Hangs(ReferenceHandler):
        def status(self):
            time.sleep(30)

    found = measure(Hangs, cold=1, warm=1, at_most=0.1, sleep=id)
    assert (found.raised, found.verdict) == ((("StoppedError", 2),), "fail")
    assert min(found.cold + found.warm) > 0.09


# The network, and what else a handler does, with a real wallet's calls.


@pytest.mark.slow
@pytest.mark.rule("X-STATUS-3", "X-CACHE-1", "X-ENTRIES-3", "API-12")
@pytest.mark.parametrize(
    ("handler", "call", "network", "calls", "verdict"),
    [
        (ReferenceHandler, "status", 0.25, 0, "pass"),
        (NetworkInStatus, "status", 0.15, 1, "fail"),
        (NetworkInStatus, "status", 0.001, 1, "pass"),
        (ReferenceHandler, "pass_entries", 0.25, 3, "pass"),
        (OneAfterTheOther, "pass_entries", 0.25, 3, "pass"),
    ],
)
def test_network_calls_are_found_in_the_trace_and_really_waited_for(handler, call, network, calls, verdict):
    found = Watch().measure(handler, call, network=network)
    waits = 1 if handler is ReferenceHandler and calls else calls  # it makes all its GETs at once
    assert (found.network_calls, found.verdict) == (calls, verdict)
    assert found.median == pytest.approx(waits * network)
    assert f"{calls} network call{'' if calls == 1 else 's'} in each {call}(), as its trace shows" in repr(found)


@pytest.mark.slow
def test_a_coroutine_function_is_run_to_its_end():
    class Later(ReferenceHandler):
        async def status(self):
            self.back_end.get(self.cards[0])

    assert Watch().measure(Later).median == pytest.approx(0.25)


@pytest.mark.slow
@pytest.mark.rule("X-HANDLER-1")
def test_what_a_handler_keeps_in_its_class_is_gone_before_each_cold_call_and_never_in_the_class_itself():
    KeepsItInItsClass.kept = None
    before = len(KeepsItInItsClass.__subclasses__())
    found = []

    class Looks(KeepsItInItsClass):
        def status(self):
            found.append(type(self).kept is None)
            return super().status()

    measure(Looks, warm=2, cold=2, network=0.0)
    assert found == [True, True, True, False, False]  # two cold calls, then the warm ones on what was made once
    assert KeepsItInItsClass.kept is None
    assert len(KeepsItInItsClass.__subclasses__()) == before + 1


@pytest.mark.slow
def test_the_earlier_variant_asks_for_card_art_by_brand():
    asked = []

    class Listens(ReferenceHandler):
        def card_art(self, which):
            asked.append(which)
            return super().card_art(which)

    Watch().measure(Listens, "pass_entries", variant=B_EARLIER)
    assert set(asked) == {"example"}


@rows(
    ("handler", "options", "told"),
    [
        (ReferenceHandler(None, None, None, ()), {}, "give your class itself"),
        (int, {}, "give your class itself"),
        (None, {}, "give your class itself"),
        (ReferenceHandler, {"call": "generate"}, "call is 'generate'"),
        (ReferenceHandler, {"call": None}, "call is None"),
        (ReferenceHandler, {"network": -1}, "network"),
        (ReferenceHandler, {"network": "fast"}, "network"),
        (ReferenceHandler, {"warm": 0}, "warm is 0. Give a whole number from 1 to 1,000,000."),
        (ReferenceHandler, {"cold": True}, "cold is True."),
        (ReferenceHandler, {"at_most": 0}, "at_most is 0. Give a finite number above 0."),
    ],
)
def test_what_cannot_be_measured_is_explained(handler, options, told):
    with pytest.raises(ParameterError, match=told):
        Watch().measure(handler, **({"call": "status"} | options))


@pytest.mark.slow
@rows("name", HANDLERS)
def test_every_handler_of_the_lessons_can_be_measured(name):
    assert Watch().measure(HANDLERS[name], warm=1, cold=1).warm
