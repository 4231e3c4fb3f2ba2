"""What a handler finds around it: the storage, the wallet's library, and the back end with its virtual time."""

import pytest
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.api.protocol import ActivationData
from workbook.errors import ApiStatusError, DeadlineError, OpaqueDataError, ParameterError, WorkbookError
from workbook.flows import messages as m
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.handler import ExtensionBackEnd, Library, Storage
from workbook.play.platform_b import PlatformBRun
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import Call, next_output, under_way
from workbook.simulation.seal import Seal
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import Watch
from workbook.simulation.world import INSTRUMENT_IDS

FIRST, SECOND, THIRD = INSTRUMENT_IDS
SECRET = b'{"secret":"CANARY-sdk-input"}'


def around(gets=(), relay=None, **phone):
    """A back end and the call it is used in, which remembers what was seen and when."""
    made = PhoneB(**phone)
    told = []
    relay = relay or simulated_back_end()
    call = Call(made, clock=relay.clock, tell=lambda at, event: told.append((at, event)))
    return ExtensionBackEnd(relay, made, gets), call, told


def names(told):
    return [(at, type(event).__name__) for at, event in told]


@pytest.mark.rule("X-CACHE-1")
def test_the_extension_reads_what_the_app_saved():
    phone = PhoneB()
    phone.storage.save(FIRST, SECRET)
    call = Call(phone)
    with under_way(call):
        assert Storage(phone).read_all() == {FIRST: SECRET}
        assert Storage(phone).read(FIRST) == SECRET
        assert Storage(phone).read(SECOND) is None
    assert call.clock.now() == pytest.approx(3 * phone.latencies.storage)


@pytest.mark.rule("X-CACHE-1")
def test_without_a_shared_group_there_is_nothing_to_read():
    phone = PhoneB(app_group_shared=False)
    phone.storage.save(FIRST, SECRET)
    assert Storage(phone).read_all() == {}
    assert repr(Storage(phone)) == "Storage(0 sdkInputs)"


@pytest.mark.rule("REL-3")
def test_no_repr_shows_what_is_stored():
    phone = PhoneB()
    phone.storage.save(FIRST, SECRET)
    texts = [repr(Storage(phone)), repr(phone), repr(phone.storage), repr(around()[0]), repr(Library(phone))]
    assert texts[0] == "Storage(1 sdkInputs)"
    assert not any("CANARY" in text for text in texts)


@pytest.mark.parametrize(
    ("phone", "on_phone", "on_watch"),
    [
        (PhoneB(), frozenset(), frozenset()),
        (PhoneB(cards={FIRST}), {FIRST}, frozenset()),
        (PhoneB(cards={FIRST}, watch=Watch({SECOND})), {FIRST}, {SECOND}),
    ],
)
def test_phone_and_watch_are_told_apart(phone, on_phone, on_watch):
    library = Library(phone)
    assert (library.on_phone, library.on_watch) == (on_phone, on_watch)
    assert repr(library) == f"Library({len(on_phone)} on the phone, {len(on_watch)} on the watch)"


@pytest.mark.rule("API-8", "API-13")
def test_a_get_gives_bytes_and_takes_its_time():
    back_end, call, told = around()
    with under_way(call):
        data = back_end.get(FIRST)
    assert isinstance(data, bytes)
    assert names(told) == [(0.0, "BackEndAsked"), (0.0, "ApiRequested"), (0.25, "ApiAnswered")]
    assert call.clock.now() == 0.25


@pytest.mark.parametrize(("takes", "in_time"), [(5.0, True), (5.000_001, False), (0.0, True), (1e9, False)])
def test_taking_exactly_the_timeout_is_in_time_and_a_moment_more_is_not(takes, in_time):
    back_end, call, told = around(gets=[takes])
    with under_way(call):
        if in_time:
            assert back_end.get(FIRST, timeout=5.0)
        else:
            with pytest.raises(DeadlineError, match=r"longer than 5 s\. The handler gave up") as caught:
                back_end.get(FIRST, timeout=5.0)
            assert (caught.value.elapsed, caught.value.sent, caught.value.attempts) == (5.0, True, 1)
    assert call.clock.now() == min(takes, 5.0)
    last = told[-1]
    assert last[0] == call.clock.now()
    assert isinstance(last[1], m.ApiAnswered if in_time else m.ApiFailed)


@pytest.mark.parametrize("timeout", [0, -1, True, "5", float("nan"), float("inf"), b"secret"])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(ParameterError, match="timeout is a number of seconds") as caught:
        around()[0].get(FIRST, timeout=timeout)
    assert "secret" not in str(caught.value)


def test_an_error_of_the_api_takes_its_time_as_well():
    back_end, call, told = around()
    with under_way(call), pytest.raises(ApiStatusError):
        back_end.get("PIUNKNOWN")
    assert names(told)[-1] == (0.25, "ApiAnswered")


@rows("wrong", [None, 5, b"PI1", [FIRST]])
@rows("call", ["get", "post"])
def test_an_id_that_is_no_text_is_refused_before_anything_is_sent(call, wrong):
    back_end, under, told = around()
    with under_way(under), pytest.raises(ParameterError, match=r"is text, not \w+; mind the order of the arguments"):
        getattr(back_end, call)(wrong, *([b"output"] if call == "post" else []))
    assert told == []


def test_each_get_takes_the_next_of_the_given_times_and_then_the_phones():
    back_end, call, _ = around(gets=[1.0, 2.0], latencies=LatenciesB(get=0.5))
    ends = []
    with under_way(call):
        for _ in range(4):
            back_end.get(FIRST)
            ends.append(call.clock.now())
    assert ends == [1.0, 3.0, 3.5, 4.0]


@pytest.mark.rule("API-12", "X-ENTRIES-3")
def test_several_at_once_take_as_long_as_the_slowest_and_each_has_its_own_sdk_input():
    back_end, call, told = around(gets=[0.1, 3.0, 1.0])
    with under_way(call):
        found = back_end.get_all(INSTRUMENT_IDS)
    assert [*found] == [*INSTRUMENT_IDS]
    assert len(set(found.values())) == 3
    assert call.clock.now() == 3.0
    assert sorted(at for at, event in told if isinstance(event, m.ApiAnswered)) == [0.1, 1.0, 3.0]


@pytest.mark.rule("X-ENTRIES-3")
def test_those_that_fail_are_left_out_and_cost_no_more_than_the_timeout():
    back_end, call, _ = around(gets=[0.1, 9.0, 0.2, 0.3])
    with under_way(call):
        found = back_end.get_all([FIRST, SECOND, "PIUNKNOWN", THIRD], timeout=5.0)
    assert [*found] == [FIRST, THIRD]
    assert call.clock.now() == 5.0


@pytest.mark.rule("API-12")
def test_one_id_is_not_taken_for_a_list_of_letters():
    with pytest.raises(ParameterError, match="get_all takes a list of payment instrument ids; for one, call get"):
        around()[0].get_all(FIRST)


def test_a_mistake_of_the_handlers_own_is_not_left_out():
    with pytest.raises(ParameterError, match="timeout"):
        around()[0].get_all([FIRST], timeout=-1)
    with pytest.raises(ParameterError, match="is text"):
        around()[0].get_all([None])


class Odd:
    """An API whose sdkInput is no base64."""

    def get(self, _id):
        return ActivationData(SdkInput("not base64!"))

    post = get


def test_an_sdk_input_that_is_no_base64_is_a_get_that_failed():
    back_end, call, _ = around(relay=BackEnd(Odd()))
    with under_way(call):
        assert back_end.get_all([FIRST]) == {}
        with pytest.raises(OpaqueDataError):
            back_end.get(FIRST)


def output(phone, card=FIRST):
    return next_output(phone, Seal(phone.seed), card).data


@pytest.mark.rule("X-DEL-1", "API-11")
def test_a_post_takes_bytes_and_gives_bytes():
    phone = PhoneB()
    told = []
    with under_way(Call(phone, tell=lambda at, event: told.append((at, event)))):
        answer = ExtensionBackEnd(simulated_back_end(), phone).post(FIRST, output(phone))
    assert b'"kind":"opc"' in answer
    assert names(told) == [(0.0, "BackEndAsked"), (0.0, "ApiRequested"), (0.3, "ApiAnswered")]


@pytest.mark.rule("API-8")
@pytest.mark.parametrize("wrong", ["dGV4dA==", None, 5])
def test_a_post_of_anything_else_is_refused(wrong):
    with pytest.raises(OpaqueDataError):
        around()[0].post(FIRST, wrong)


def test_an_exchange_is_reported_to_the_call_that_made_it_and_to_no_other():
    relay = simulated_back_end()
    back_end, call, told = around(relay=relay)
    with under_way(call):
        back_end.get(FIRST)
        with pytest.raises(WorkbookError):
            back_end.get("PIUNKNOWN")
    assert [name for _at, name in names(told)] == ["BackEndAsked", "ApiRequested", "ApiAnswered"] * 2
    relay.exchange(FIRST)
    assert len(told) == 6


def test_an_app_and_a_wallet_may_share_one_back_end():
    phone, relay = PhoneB(), simulated_back_end()
    app = PlatformBRun(phone=phone, back_end=relay)
    app.open()
    host = WalletApp(phone=phone, back_end=relay)
    host.walk()
    records, before = len(host.trace), len(app.trace.select(m.ApiRequested))
    app.open()
    assert len(host.trace) == records
    assert len(app.trace.select(m.ApiRequested)) == before + 1


class Chatty(BackEnd):
    """Reports a remark besides each exchange, as the back end in front of a real API does."""

    def exchange(self, payment_instrument_id, sdk_output=None, **more):
        exchange = super().exchange(payment_instrument_id, sdk_output, **more)
        exchange.events.append((self.clock.now(), m.Noted("from here on it is simulated")))
        return exchange


def test_a_remark_costs_no_second_wait():
    back_end, call, told = around(relay=Chatty(DirectApi()))
    with under_way(call):
        back_end.get(FIRST)
    assert call.clock.now() == 0.25
    assert names(told)[-2:] == [(0.25, "ApiAnswered"), (0.25, "Noted")]


@pytest.mark.rule("X-DEL-1")
def test_the_two_values_of_the_other_delegate_are_noticed():
    back_end = ExtensionBackEnd(simulated_back_end(), PhoneB())
    with pytest.raises(ParameterError, match="came in the other order"):
        back_end.post(b"output", INSTRUMENT_IDS[0])


@pytest.mark.rule("REL-1", "X-GEN-1")
@pytest.mark.parametrize(
    ("timeout", "error", "spent"), [(2.0, DeadlineError, 2.0), (3.0, ApiStatusError, 3.0), (None, ApiStatusError, 3.0)]
)
def test_a_post_is_given_up_after_its_own_limit_and_taking_exactly_that_long_is_in_time(timeout, error, spent):
    phone = PhoneB(latencies=LatenciesB(post=3.0))
    relay = simulated_back_end()
    with under_way(Call(phone)), pytest.raises(error) as caught:
        ExtensionBackEnd(relay, phone).post(INSTRUMENT_IDS[0], b"not an output", timeout=timeout)
    assert (caught.value.request.method, relay.clock.now()) == ("POST", spent)
