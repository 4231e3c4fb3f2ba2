"""An integrator's handler in real time, with a stopwatch that only moves when a test says so."""

import pytest

from workbook.checks.timing.measured import measure
from workbook.checks.timing.verdict import LimitVerdict
from workbook.errors import ParameterError
from workbook.flows.variants import B_EARLIER
from workbook.play.extension.handler import ReferenceHandler
from workbook.play.extension.mistakes import HANDLERS, KeepsItInItsClass, NetworkInStatus, OneAfterTheOther


class World:
    """A stopwatch in nanoseconds, and a sleep that moves it."""

    def __init__(self):
        self.now = 0
        self.slept = []

    def stopwatch(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += round(seconds * 1e9)


def measured(handler, call="status", **more):
    world = World()
    options = {"warm": 5, "cold": 3, "sleep": world.sleep, "stopwatch": world.stopwatch} | more
    return measure(handler, call, **options)


@pytest.mark.slow
@pytest.mark.rule("X-STATUS-3", "X-CACHE-1")
def test_a_status_from_the_storage_waits_for_nothing():
    timing = measured(ReferenceHandler)
    assert timing.network_calls == 0
    assert timing.median == 0
    assert timing.measurement.verdict is LimitVerdict.PASS
    assert (len(timing.measurement.cold), len(timing.measurement.warm)) == (3, 5)


@pytest.mark.slow
@pytest.mark.rule("X-STATUS-3")
def test_a_network_call_is_found_in_the_trace_and_really_waited_for():
    timing = measured(NetworkInStatus, network=0.15)
    assert timing.network_calls == 1
    assert timing.median == pytest.approx(0.15)
    assert timing.measurement.verdict is LimitVerdict.FAIL
    assert "1 network call in each status(), as its trace shows" in repr(timing)


@pytest.mark.slow
def test_a_fast_network_call_is_found_all_the_same():
    timing = measured(NetworkInStatus, network=0.001)
    assert timing.measurement.verdict is LimitVerdict.PASS
    assert timing.network_calls == 1


@pytest.mark.slow
@pytest.mark.rule("X-ENTRIES-3", "API-12")
@pytest.mark.parametrize(("handler", "seconds"), [(ReferenceHandler, 0.25), (OneAfterTheOther, 0.75)])
def test_gets_at_once_take_as_long_as_the_slowest_and_one_by_one_they_add_up(handler, seconds):
    timing = measured(handler, "pass_entries")
    assert timing.network_calls == 3
    assert timing.median == pytest.approx(seconds)


@pytest.mark.slow
def test_a_coroutine_function_is_run_to_its_end():
    class Later(ReferenceHandler):
        async def status(self):
            self.back_end.get(self.cards[0])

    assert measured(Later).median == pytest.approx(0.25)


@pytest.mark.slow
def test_a_handler_that_raises_fails_and_is_named_without_a_traceback():
    class Raises(ReferenceHandler):
        def status(self):
            raise KeyError("CANARY")

    timing = measured(Raises)
    assert timing.measurement.verdict is LimitVerdict.FAIL
    assert timing.measurement.raised == (("KeyError", 8),)
    assert "CANARY" not in repr(timing)


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

    measured(Listens, "pass_entries", variant=B_EARLIER)
    assert set(asked) == {"example"}


@pytest.mark.parametrize(
    ("handler", "options", "told"),
    [
        (ReferenceHandler(None, None, None, ()), {}, "give your class itself"),
        (int, {}, "give your class itself"),
        (None, {}, "give your class itself"),
        (ReferenceHandler, {"call": "generate"}, "call is 'generate'"),
        (ReferenceHandler, {"call": None}, "call is None"),
        (ReferenceHandler, {"network": -1}, "network"),
        (ReferenceHandler, {"network": "fast"}, "network"),
        (ReferenceHandler, {"warm": 0}, "warm"),
        (ReferenceHandler, {"cold": True}, "cold"),
    ],
)
def test_what_cannot_be_measured_is_explained(handler, options, told):
    with pytest.raises(ParameterError, match=told):
        measured(handler, **({"call": "status"} | options))


@pytest.mark.slow
@pytest.mark.parametrize("name", HANDLERS)
def test_every_handler_of_the_lessons_can_be_measured(name):
    assert measured(HANDLERS[name], warm=1, cold=1).measurement.warm
