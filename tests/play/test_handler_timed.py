"""A back end that times itself, in front of a handler that may give up first."""

import pytest

from workbook.errors import MaybeSentError
from workbook.play.back_end import BACK_ENDS, Network, WatchedBackEnd
from workbook.play.handler import ExtensionBackEnd
from workbook.simulation.faults import FaultPlan, Planned
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import Call, under_way
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS

FIRST = INSTRUMENT_IDS[0]


def around(back_end="good", **fault):
    """The back end as a handler has it, the call under way, and what was told when."""
    line, told, phone = Network(Service(plan=FaultPlan([Planned.of(**fault)]))), [], PhoneB()
    relay = WatchedBackEnd(BACK_ENDS[back_end].make(line), line)
    call = Call(phone, clock=line.clock, tell=lambda at, event: told.append((round(at, 3), type(event).__name__)))
    return ExtensionBackEnd(relay, phone), call, told


def test_what_an_attempt_takes_is_spent_by_the_call():
    back_end, call, told = around(fault="stall before headers", nth=1)
    with under_way(call):
        assert back_end.get(FIRST).startswith(b'{"simulated"')
    assert [name for _at, name in told] == [
        "BackEndAsked", "ApiRequested", "AnswerLost", "ApiAskedAgain", "ApiAnswered", "ApiCallEnded",
    ]  # fmt: skip
    assert call.clock.now() == pytest.approx(told[-1][0], abs=0.001)
    assert told[2][0] == 2.75


def test_an_error_in_time_is_the_back_ends_own():
    back_end, call, _told = around(fault="reset")
    with under_way(call), pytest.raises(MaybeSentError):
        back_end.post(FIRST, b"output", timeout=10.0)
    assert call.clock.now() == pytest.approx(0.3)
