"""Simulated time: every call of a handler against its limit, exact."""

import pytest

from workbook.checks.timing.verdict import LimitVerdict, judge_trace
from workbook.flows.trace import Trace
from workbook.lessons.session import session
from workbook.play.extension.mistakes import NetworkInStatus, OneAfterTheOther

SESSION = session()


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
def test_a_good_walk_keeps_every_limit():
    judged = judge_trace(SESSION.wallet.play().trace)
    assert [one.limit.call.split("_add_")[0] for one in judged] == ["status", "pass_entries", "generate"]
    assert {one.verdict for one in judged} == {LimitVerdict.PASS}
    assert all(one.exact and one.count == 1 and one.low is None for one in judged)
    assert judged[0].spread.worst == pytest.approx(0.013)


@pytest.mark.rule("X-STATUS-3")
def test_a_network_call_in_status_is_late_by_exactly_what_it_takes():
    (status,) = judge_trace(SESSION.wallet.play(NetworkInStatus).trace)
    assert status.verdict is LimitVerdict.FAIL
    assert status.spread.worst == pytest.approx(0.006 + 0.250 + 0.004)


@pytest.mark.rule("X-ENTRIES-3")
def test_waits_that_add_up_miss_twenty_seconds():
    _status, entries = judge_trace(SESSION.wallet.play(OneAfterTheOther, "slow network").trace)
    assert entries.verdict is LimitVerdict.FAIL
    assert entries.spread.worst == pytest.approx(0.006 + 3 * 16.0 + 0.004 + 3 * 0.010)


def test_a_trace_without_calls_has_nothing_to_judge():
    assert judge_trace(Trace()) == []
