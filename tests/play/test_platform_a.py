"""The bench: deterministic, tolerant of any tap and of any provider, and the same truth as the SDK by hand."""

import asyncio
from dataclasses import replace

import buttons
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.checks import check
from workbook.checks.platform_a import answers
from workbook.flows import messages as m
from workbook.flows.platform_a import BUSY_A, FINAL_A, State
from workbook.flows.trace import Kind
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.back_end import BackEnd
from workbook.play.platform_a import AppA, PlatformARun
from workbook.simulation.phones import LatenciesA, PhoneA
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, Credential, World

ID = INSTRUMENT_IDS[0]
VARIANTS = [A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED]
CARELESS = [replace(variant, guarded=False) for variant in VARIANTS]


def opened(variant, **more):
    bench = PlatformARun(variant, **more)
    bench.open()
    return bench


def tapped_at(bench, times):
    for time in times:
        bench._agenda.after(time, m.AddTapped())
    bench.run()
    return bench


def successes(bench):
    return [record for record in bench.trace if isinstance(record.message, m.ProvisionSuccess)]


SECONDS = st.floats(0, 8) | st.sampled_from([0.0, 0.12, 0.3, 0.42, 2.4, 2.82, 2.97])
LATENCIES = st.builds(LatenciesA, *[st.floats(0, 3) | st.just(0.0)] * 6)


@pytest.mark.rule("A-BTN-1")
@given(
    st.sampled_from(VARIANTS), st.lists(SECONDS, min_size=1, max_size=8), LATENCIES, st.sampled_from([None, "Timeout"])
)
def test_with_a_guard_any_taps_add_one_card_at_most_and_give_the_button_back(variant, times, latencies, failure):
    bench = opened(variant, phone=PhoneA(latencies=latencies, provision_failure=failure))
    tapped_at(bench, times)
    assert bench.state is (State.FAILED if failure else State.IN_WALLET)
    assert bench.button == ("shown" if failure else "hidden")
    assert len(successes(bench)) == (0 if failure else 1)
    assert bench.phone.cards == (set() if failure else {ID})
    late = [record for record in bench.trace.select(kind=Kind.REFUSED) if not isinstance(record.message, m.AddTapped)]
    assert late == []
    assert not any("A-BTN-2" in record.rules for record in bench.trace)


@pytest.mark.rule("A-BTN-2")
@rows("every", [0.0, 0.05, 0.1, 0.2, 0.25, 0.4, 1.0, 2.3, 2.6])
@rows("variant", CARELESS)
def test_without_a_guard_each_attempt_comes_to_its_own_end_and_what_is_ours_says_so(variant, every):
    bench = opened(variant)
    bench.tap(4, every=every)
    attempts = len(bench.trace.select(m.AddTapped, kind=Kind.EVENT))
    ends = bench.trace.select(m.ProvisionSuccess, m.ProvisionFailure, kind=Kind.EVENT)
    assert len(ends) == attempts
    assert bench.trace.select(*answers(), kind=Kind.REFUSED) == []
    beside = {row for row in variant.machine.rows if row.of_another_attempt}
    assert {row.source for row in beside} == {"assumed"}
    assert all("assumed" in one.message.why for one in ends if one.name == "ProvisionFailure")


@pytest.mark.rule("A-BTN-2")
@pytest.mark.parametrize("variant", CARELESS, ids=lambda one: one.name)
def test_after_quick_taps_a_single_one_adds_the_card(variant):
    bench = opened(variant)
    bench.tap(3)
    bench.tap()
    assert (bench.state, bench.phone.cards) == (State.IN_WALLET, {ID})


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_the_button_is_disabled_in_every_busy_state_and_never_after(variant):
    bench = PlatformARun(variant)
    assert {button for state, button in buttons.walked(bench) if state in BUSY_A} == {"disabled"}
    assert bench.button == "hidden"


def test_a_tap_where_there_is_no_button_is_refused_and_recorded():
    bench = PlatformARun()
    bench.tap()
    (record,) = bench.trace
    assert (record.kind, record.before, record.after, record.attempt) == (Kind.REFUSED, "idle", "idle", 0)


@given(
    st.lists(st.sampled_from([m.Opened(ID), m.AddTapped(), m.CanProvisionCalled(), m.CreateCalled("junk")]), max_size=8)
)
def test_any_of_the_cardholders_or_the_apps_moves_in_any_order_leaves_the_bench_at_rest(events):
    bench = PlatformARun()
    for event in events:
        bench.feed(event)
    assert bench.button != "disabled"
    assert bench.due is None
    assert bench.state in {State.IDLE, State.READY, *FINAL_A}


@pytest.mark.parametrize("variant", VARIANTS + CARELESS, ids=repr)
def test_the_same_run_gives_the_same_bytes(variant):
    def lines(seed):
        bench = opened(variant, seed=seed)
        bench.tap(3)
        return bench.trace.to_jsonl()

    assert lines(7) == lines(7)
    assert lines(7) == lines(8)  # no seed shows: what differs is inside the opaque data


def test_time_never_runs_backwards_and_every_record_knows_where_it_stood():
    bench = opened(CARELESS[1])
    bench.tap(5)
    records = [*bench.trace]
    assert [one.at for one in records] == sorted(one.at for one in records)
    moves = [one for one in records if one.before != one.after]
    assert [one.before for one in moves[1:]] == [one.after for one in moves[:-1]]
    assert all(one.kind is Kind.EVENT for one in moves)


def plain(payment_instrument_id, sdk_output):
    return DirectApi().post(payment_instrument_id, sdk_output).sdk_input.text


async def coroutine(payment_instrument_id, sdk_output):
    await asyncio.sleep(0)
    return plain(payment_instrument_id, sdk_output)


class Promise:
    def __init__(self, *arguments):
        self.arguments = arguments

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return plain(*self.arguments)


def wrapped(payment_instrument_id, sdk_output):
    return SdkInput(plain(payment_instrument_id, sdk_output))


@pytest.mark.rule("A-OPC-1", "A-ASYNC-1")
@pytest.mark.parametrize("fetch_opc", [plain, coroutine, Promise, wrapped], ids=lambda one: one.__name__)
def test_a_provider_may_be_plain_or_awaitable_and_is_given_the_id_and_the_sdk_output(fetch_opc):
    given_to = []

    def watched(*arguments):
        given_to.append(arguments)
        return fetch_opc(*arguments)

    bench = PlatformARun(app=AppA(fetch_opc=watched))
    bench.walk()
    assert bench.state is State.IN_WALLET
    ((payment_instrument_id, sdk_output),) = given_to
    assert (payment_instrument_id, type(sdk_output)) == (ID, str)
    assert bench.trace.select(m.FetchOpcCalled)[0].message.sdk_output.text == sdk_output


async def raising(*_):
    raise TimeoutError


async def cancelled(*_):
    raise asyncio.CancelledError


@pytest.mark.rule("A-ASYNC-1", "A-OPC-1")
@pytest.mark.parametrize(("fetch_opc", "name"), [(raising, "TimeoutError"), (cancelled, "CancelledError")])
def test_a_coroutine_that_raises_ends_the_attempt_and_not_the_bench(fetch_opc, name):
    bench = PlatformARun(app=AppA(fetch_opc=fetch_opc))
    bench.walk()
    assert (bench.state, bench.button) == (State.FAILED, "shown")
    assert bench.trace.select(m.OpcFailed)[0].message.reason == f"fetchOpc raised {name}"


@given(
    st.none() | st.integers() | st.binary() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)
def test_whatever_a_provider_returns_the_attempt_ends_and_the_button_comes_back(junk):
    bench = PlatformARun(app=AppA(fetch_opc=lambda *_: junk))
    bench.walk()
    assert (bench.state, bench.button, bench.phone.cards) == (State.FAILED, "shown", set())
    assert bench.trace.to_jsonl()


CANARY = "CANARY-key-0123456789"


@pytest.mark.rule("REL-2")
def test_the_api_key_shows_in_no_repr_no_line_no_frame_no_finding_and_no_error():
    for roles in (Credential(), Credential(frozenset())):
        world = World(credentials={CANARY: roles})
        api = DirectApi(Service(world), api_key=CANARY)
        bench = PlatformARun(back_end=BackEnd(api, basis=lambda api=api: api.basis))
        bench.walk()
        things = [bench, bench.trace, bench.back_end, bench.app, bench.phone, bench.sdk, api, world, *bench.trace]
        texts = [repr(one) for one in things] + [repr(vars(bench)), bench.trace.to_jsonl()]
        texts += map(str, check(bench.trace))
        assert bench.state is (State.IN_WALLET if roles.roles else State.UNAVAILABLE)
        assert not any(CANARY in text for text in texts)


@pytest.mark.rule("API-3", "API-12")
@pytest.mark.parametrize("payment_instrument_id", INSTRUMENT_IDS)
def test_each_instrument_is_walked_under_its_own_id(payment_instrument_id):
    bench = PlatformARun(payment_instrument_id=payment_instrument_id)
    bench.walk()
    assert bench.phone.cards == {payment_instrument_id}
    assert {one.message.payment_instrument_id for one in bench.trace.select(m.ApiRequested)} == {payment_instrument_id}
