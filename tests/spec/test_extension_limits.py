"""Limits: the two of the table that bind the wallet extension, each met and missed by a hair."""

import pytest

from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.extension import State
from workbook.flows.messages import limit_of
from workbook.flows.variants import VARIANTS_B
from workbook.play.extension.handler import ReferenceHandler
from workbook.play.extension.mistakes import HANDLERS
from workbook.play.extension.wallet_app import WalletApp
from workbook.play.platform_b import opened_phone
from workbook.simulation.phones import LatenciesB
from workbook.simulation.sdks import current
from workbook.simulation.world import INSTRUMENT_IDS

BOTH = pytest.mark.parametrize("variant", VARIANTS_B.values(), ids=list(VARIANTS_B))
TABLE = {"status": 0.100, "pass_entries": 20.0, "remote_pass_entries": 20.0}
MISSED = {"status": State.NOT_LISTED, "pass_entries": State.EMPTY, "remote_pass_entries": State.EMPTY}
RULES = {"status": "X-STATUS-3", "pass_entries": "X-ENTRIES-3", "remote_pass_entries": "X-ENTRIES-3"}


def taking(call, seconds, variant):
    """A run in which this call takes exactly so long, and no other takes any time."""

    def method(self):
        current().spend(seconds)
        return getattr(ReferenceHandler, call)(self)

    phone = opened_phone("with a watch")
    phone.latencies = LatenciesB(*[0.0] * len(LatenciesB.__dataclass_fields__))
    surface = "watch" if call == "remote_pass_entries" else "phone"
    host = WalletApp(type("Timed", (ReferenceHandler,), {call: method}), variant, surface=surface, phone=phone)
    host.walk()
    return host


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@pytest.mark.parametrize("call", TABLE)
def test_the_limit_is_the_tables(call):
    one = limit_of(call)
    assert (one.seconds, one.rule, one.source) == (TABLE[call], RULES[call], "spec")


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@BOTH
@pytest.mark.parametrize("call", TABLE)
def test_a_call_that_takes_as_long_as_it_may_is_in_time(call, variant):
    host = taking(call, TABLE[call], variant)
    assert (host.state, check(host.trace)) == (State.ADDED, [])


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@BOTH
@pytest.mark.parametrize("call", TABLE)
def test_a_call_that_takes_longer_has_not_completed(call, variant):
    host = taking(call, TABLE[call] + 0.0001, variant)
    assert host.state is MISSED[call]
    (finding,) = check(host.trace)
    assert (finding.rule, finding.level) == (RULES[call], "fail")
    assert finding.at == pytest.approx(host.trace.select(m.BudgetSpent)[0].at)


@pytest.mark.rule("X-STATUS-3")
@BOTH
@pytest.mark.parametrize(("get", "level"), [(0.02, "warn"), (0.25, "fail")])
def test_a_network_call_in_status_is_not_reliable_even_where_it_was_fast_enough(get, level, variant):
    phone = opened_phone()
    phone.latencies = LatenciesB(get=get)
    host = WalletApp(HANDLERS["network call in status()"], variant, phone=phone)
    host.open_list()
    assert (host.state is State.LISTED) is (level == "warn")
    assert {(one.rule, one.level) for one in check(host.trace)} == {("X-STATUS-3", level)}


@pytest.mark.rule("X-STATUS-3", "X-CACHE-1")
@BOTH
def test_with_the_cached_sdk_input_status_is_in_time_however_slow_the_network_is(variant):
    phone = opened_phone("slow network")
    host = WalletApp(variant=variant, phone=phone)
    host.open_list()
    assert host.state is State.LISTED
    assert not host.trace.select(m.BackEndAsked)


@pytest.mark.rule("X-ENTRIES-3", "API-12")
@BOTH
def test_a_network_call_to_refresh_sdk_input_is_allowed_for_the_entries(variant):
    at_once = WalletApp(variant=variant, phone=opened_phone(), gets=[4.9] * 3)
    at_once.open_list()
    at_once.choose_app()
    assert (at_once.state, check(at_once.trace)) == (State.OFFERED, [])
    in_turn = WalletApp(HANDLERS["GETs one after the other"], variant, phone=opened_phone(), gets=[6.6, 6.7, 6.7])
    in_turn.open_list()
    in_turn.choose_app()
    assert in_turn.state is State.EMPTY
    assert [one.rule for one in check(in_turn.trace)] == ["X-ENTRIES-3"]
    assert len(in_turn.trace.select(m.BackEndAsked)) == len(INSTRUMENT_IDS)
