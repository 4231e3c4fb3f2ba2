"""Platform B's bench: deterministic, tolerant of any tap and of any delegate, and printing nothing opaque."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import buttons
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.platform_b import BUSY_B, State
from workbook.flows.trace import Kind
from workbook.flows.variants import B_EARLIER, B_LATER, VARIANTS_B
from workbook.play.back_end import BackEnd
from workbook.play.platform_b import AppB, PlatformBRun
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import NOTHING, Watch
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.sequence import sequence

ID = INSTRUMENT_IDS[0]
BOTH = [B_EARLIER, B_LATER]


@pytest.fixture(params=VARIANTS_B)
def variant(request):
    return VARIANTS_B[request.param]


def opened(variant=B_LATER, **more):
    bench = PlatformBRun(variant, **more)
    bench.open()
    return bench


def tapped_at(bench, times):
    for at in times:
        bench.soon(m.AddTapped(), at)
    bench.run()
    return bench


def names(bench):
    return [record.name for record in bench.trace]


@pytest.mark.rule("B-START-1")
@pytest.mark.parametrize("every", [0.0, 0.1, 1.0])
def test_a_double_tap_begins_one_attempt(variant, every):
    bench = opened(variant)
    bench.tap(times=3, every=every)
    assert [record.kind for record in bench.trace.select(m.AddTapped)] == ["event", "refused", "refused"]
    assert (bench.state, bench.phone.outputs) == (State.IN_WALLET, 1)
    assert [(one.rule, one.level) for one in check(bench.trace)] == [("B-START-1", "note")] * 2


@pytest.mark.rule("API-10", "REL-7")
def test_the_page_can_be_opened_many_times_and_each_fetches_for_itself(variant):
    bench = PlatformBRun(variant, phone=PhoneB(watch=Watch()))
    for _ in range(5):
        bench.open()
    asked = [record.message.sdk_input.summary()["serial"] for record in bench.trace.select(m.SaveSdkInput)]
    assert asked == [1, 2, 3, 4, 5]
    assert bench.phone.watch_sessions == (1 if variant.later else 0)
    bench.tap()
    assert bench.phone.cards == {ID}
    assert [one for one in check(bench.trace) if one.level != "note"] == []


def test_the_button_is_disabled_in_every_busy_state_and_never_after(variant):
    bench = PlatformBRun(variant)
    assert {button for state, button in buttons.walked(bench) if state in BUSY_B} == {"disabled"}
    assert bench.button == "hidden"


MOVES = [
    m.Opened(ID),
    m.AddTapped(),
    m.CanAddCardCalled(),
    m.StartCalled(),
    m.ServiceCalled(b"x"),
    m.BudgetSpent("status"),
]


@given(st.sampled_from(BOTH), st.lists(st.sampled_from(MOVES), max_size=8))
def test_any_of_the_cardholders_or_the_apps_moves_in_any_order_leave_the_bench_at_rest(variant, events):
    bench = PlatformBRun(variant)
    for event in events:
        bench.feed(event)
    assert bench.button != "disabled"
    assert bench.due is None


def test_what_finished_when_nobody_waited_is_told_to_no_delegate():
    told = []
    bench = PlatformBRun(app=AppB(delegate=Delegate(None, told)))
    bench.feed(m.FinishedWithPass("phone"))
    assert told == []
    assert bench.trace[0].kind is Kind.REFUSED


class Delegate:
    """Returns `answer`, or what it comes to when it can be called."""

    def __init__(self, answer, told=None):
        self.answer, self.told, self.given = answer, [] if told is None else told, []

    def provision(self, sdk_output, payment_instrument_id="not given"):
        self.given.append((sdk_output, payment_instrument_id))
        return self.answer(sdk_output) if callable(self.answer) else self.answer

    def did_finish_provisioning(self, pass_, error):
        self.told.append((pass_, error and error.case))


class LaterDelegate(Delegate):
    async def provision(self, sdk_output, payment_instrument_id="not given"):
        await asyncio.sleep(0)
        return super().provision(sdk_output, payment_instrument_id)

    async def did_finish_provisioning(self, pass_, error):
        await asyncio.sleep(0)
        super().did_finish_provisioning(pass_, error)


def relaying(api=None):
    api = api or DirectApi()
    return lambda output: api.post(ID, SdkOutput.from_bytes(output)).sdk_input.data


def walked(delegate, variant=B_LATER, **more):
    bench = PlatformBRun(variant, app=AppB(delegate=delegate), **more)
    bench.walk()
    return bench


@pytest.mark.rule("B-DEL-1", "B-DEL-2", "B-DEL-3", "B-FIN-1")
@pytest.mark.parametrize("kind", [Delegate, LaterDelegate])
def test_the_integrators_own_delegate_is_given_what_its_variant_shows_and_hears_the_end(variant, kind):
    delegate = kind(relaying())
    bench = walked(delegate, variant)
    (called,) = bench.trace.select(m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled)
    assert delegate.given == [(called.message.sdk_output.data, ID if variant.later else "not given")]
    assert delegate.told == [("phone", None)]
    assert (bench.state, bench.phone.cards) == (State.IN_WALLET, {ID})


def raising(error):
    def provision(_output):
        raise error

    return provision


NIL = {
    "None": (None, "provision returned nil"),
    "raising": (raising(ValueError("CANARY")), "provision raised ValueError"),
    "cancelled": (raising(asyncio.CancelledError()), "provision raised CancelledError"),
    "out of values": (raising(StopIteration()), "provision raised StopIteration"),
}


@pytest.mark.rule("B-DEL-3")
@rows("name", NIL)
def test_a_delegate_without_an_answer_ends_the_attempt_and_never_the_app(variant, name):
    answer, reason = NIL[name]
    delegate = Delegate(answer)
    bench = walked(delegate, variant)
    assert [record.message.reason for record in bench.trace.select(m.ReturnNil)] == [reason]
    assert (bench.state, bench.button, bench.label) == (State.FAILED, "shown", "not added")
    assert delegate.told == [(None, "walletKitError")]
    assert "B-DEL-3 fail" in [f"{one.rule} {one.level}" for one in check(bench.trace)]
    assert bench.due is None


USELESS = {
    "text of the right answer": lambda output: SdkInput.from_bytes(relaying()(output)).text,
    "any text": "CANARY",
    "empty text": "",
    "empty bytes": b"",
    "other bytes": b"CANARY",
    "its own sdkOutput": lambda output: output,
    "the GET's sdkInput": lambda _output: DirectApi().get(ID).sdk_input.data,
    "an SdkInput": lambda output: SdkInput.from_bytes(relaying()(output)),
    "JSON": {"sdkInput": "CANARY"},
    "a list": [b"CANARY"],
    "a number": 5,
    "a truth": True,
    "an object": object(),
}


@pytest.mark.rule("B-DEL-3", "API-8")
@rows("name", USELESS)
def test_a_useless_answer_is_an_invalid_sdk_input(variant, name):
    delegate = Delegate(USELESS[name])
    bench = walked(delegate, variant)
    assert (bench.state, bench.button, bench.label, bench.phone.cards) == (State.FAILED, "shown", "not added", set())
    assert delegate.told == [(None, "invalidSDKInput")]
    assert bench.trace.select(m.WalletKitAsked) == []
    assert ("API-8" in [one.rule for one in check(bench.trace)]) == ("text" in name)


def test_a_delegate_that_sleeps_takes_the_phones_time_in_the_trace():
    async def slept(output):
        await asyncio.sleep(0.01)
        return relaying()(output)

    class Slow(LaterDelegate):
        def provision(self, sdk_output, payment_instrument_id):
            time.sleep(0.01)
            return slept(sdk_output)

    assert (
        walked(Slow(None)).trace.to_jsonl().splitlines()[-1]
        == walked(Delegate(relaying())).trace.to_jsonl().splitlines()[-1]
    )


@pytest.mark.rule("B-FIN-1")
@pytest.mark.parametrize("error", [ValueError("CANARY"), asyncio.CancelledError()])
@pytest.mark.parametrize("answers", [False, True])
def test_a_did_finish_that_raises_is_noted_and_the_app_goes_on(error, answers):
    class Raises(Delegate):
        def did_finish_provisioning(self, pass_, _error):
            raise error

    bench = walked(Raises(relaying() if answers else None))
    assert bench.state is (State.IN_WALLET if answers else State.FAILED)
    (noted,) = bench.trace.select(m.Noted)
    assert noted.message.text == f"The delegate's didFinishProvisioning raised {type(error).__name__}."
    assert "CANARY" not in everything(bench)


def test_a_delegate_that_leaves_python_is_let_go():
    with pytest.raises(SystemExit):
        walked(Delegate(raising(SystemExit(3))))


def measured(*seconds):
    """A back end whose exchanges take this long, the GET's first."""
    ticks = [tick for at, took in enumerate(seconds) for tick in (100.0 * at, 100.0 * at + took)]
    stopwatch = iter(ticks)
    return BackEnd(DirectApi(), stopwatch=lambda: next(stopwatch))


@pytest.mark.rule("B-DEL-3", "REL-7")
@rows("again", [20.1, 22.0, 23.6, 24.9, 25.0, 30.0, 60.0])
def test_a_new_attempt_is_not_confused_by_the_late_answer_to_the_one_before(variant, again):
    bench = opened(variant, back_end=measured(0.25, 25.0, 3.0))
    tapped_at(bench, [0.0, 1.2 + again])
    assert bench.phone.cards == {ID}
    assert bench.state is State.IN_WALLET
    assert names(bench).count("IgnoreLateSdkInput") == 1
    assert names(bench).count("ReturnSdkInput") == 1
    assert [record.attempt for record in bench.trace.select(m.FinishedWithError)] == [1]


@pytest.mark.rule("B-DEL-3")
def test_the_delegate_s_own_time_is_the_phone_s_and_not_the_get_s():
    bench = walked(Delegate(relaying()), back_end=measured(25.0), phone=PhoneB(latencies=LatenciesB(post=1.0)))
    (asked,), (answered,) = bench.trace.select(m.AskDelegateWithId), bench.trace.select(m.SdkInputReceived)
    assert answered.at - asked.at == pytest.approx(1.0)


@pytest.mark.rule("B-WATCH-2")
def test_an_app_keeps_its_one_watch_availability_over_pages_cards_and_benches():
    phone = PhoneB(watch=Watch())
    for card in INSTRUMENT_IDS:
        bench = PlatformBRun(payment_instrument_id=card, phone=phone)
        bench.open()
        bench.open()
        assert {record.message.is_watch_activated for record in bench.trace.select(m.WatchActivated)} == {True}
        assert bench.trace.select(m.WatchSessionTakenOver) == []
    assert phone.watch_sessions == 1


@pytest.mark.rule("B-CAN-3")
@given(
    st.sampled_from(BOTH),
    st.sampled_from([None, False, True]),
    st.booleans(),
    st.sampled_from(("phone", "watch", "both")),
    st.integers(0, 3),
)
def test_the_button_is_shown_exactly_as_long_as_a_place_lacks_the_card(variant, on_watch, on_phone, adds_to, taps):
    watch = None if on_watch is None else Watch({ID} if on_watch else set())
    bench = opened(variant, phone=PhoneB(watch=watch, cards={ID} if on_phone else set(), adds_to=adds_to))
    for _ in range(taps):
        if bench.button == "shown":
            bench.tap()
    lacking = any(bench.phone.missing(ID))
    assert (bench.button == "shown") == lacking
    assert [one for one in check(bench.trace) if one.level != "note"] == []


@pytest.mark.rule("X-CACHE-1", "API-8")
def test_the_app_saves_the_bytes_of_each_card_for_its_extension():
    phone = PhoneB()
    for card in INSTRUMENT_IDS:
        PlatformBRun(payment_instrument_id=card, phone=phone).open()
    assert list(phone.storage.values()) == list(INSTRUMENT_IDS)
    assert all(data.startswith(b'{"simulated":') for data in phone.storage.values().values())


@pytest.mark.rule("X-CACHE-1")
def test_what_is_no_base64_is_not_saved_and_the_reader_of_the_trace_is_told():
    bench = opened(back_end=answering("CANARY not base64!"))
    assert bench.phone.storage.values() == {}
    (noted,) = bench.trace.select(m.Noted)
    assert noted.message.text.startswith("Nothing was saved for the extension: SdkInput is not canonical base64 text")
    assert bench.state is State.UNAVAILABLE
    assert [one.rule for one in check(bench.trace) if one.level == "fail"] == ["API-8", "B-INIT-1"]
    assert "CANARY" not in everything(bench)


class Answering:
    def __init__(self, text):
        self.text = text

    def get(self, _instrument):
        return ActivationData(SdkInput(self.text))


def answering(text):
    return BackEnd(Answering(text))


def everything(bench):
    """All that is ever printed of a run."""
    drawn = sequence(bench.trace)._repr_mimebundle_()
    texts = [bench.trace.to_jsonl(), repr(bench), repr(bench.trace), repr(bench.phone.storage), *drawn.values()]
    return "".join([*texts, *map(repr, bench.trace), *map(str, check(bench.trace))])


CANARY = st.text(max_size=20).map(lambda text: f"CANARY{text}")


@pytest.mark.rule("REL-3")
@given(CANARY, st.sampled_from(["text", "bytes", "bytearray", "list", "object", "raise"]), st.sampled_from(BOTH))
def test_nothing_that_a_delegate_returns_or_raises_is_ever_printed(canary, form, variant):
    class Holder:
        def __repr__(self):
            return canary

    answer = {
        "text": canary,
        "bytes": canary.encode("utf-8", "surrogatepass"),
        "bytearray": bytearray(canary.encode("utf-8", "surrogatepass")),
        "list": [canary],
        "object": Holder(),
        "raise": raising(ValueError(canary)),
    }[form]
    bench = walked(Delegate(answer), variant)
    assert bench.state is State.FAILED
    assert "CANARY" not in everything(bench)


@pytest.mark.parametrize(
    "phone", [PhoneB, lambda: PhoneB(watch=Watch(), adds_to="both"), lambda: PhoneB(latencies=LatenciesB(post=25))]
)
def test_a_run_is_the_same_bytes_each_time_and_on_any_thread(variant, phone):
    def run(_number):
        bench = PlatformBRun(variant, phone=phone())
        bench.walk()
        return bench.trace.to_jsonl()

    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(run, range(8)), run(0)}) == 1


@pytest.mark.parametrize("seed", [0, 8, 2**32 - 1])
def test_the_phone_s_seed_is_the_service_s(seed):
    bench = PlatformBRun(phone=PhoneB(seed=seed))
    bench.walk()
    assert bench.state is State.IN_WALLET


def test_what_the_app_does_of_our_choice_is_shown_as_assumed_and_what_the_document_says_is_not():
    trace = PlatformBRun(B_LATER).walk()
    shown = {line.label: line.rules for line in sequence(trace).lines}
    assert shown["disables Add"][-1] == "assumed"
    assert shown["shows “Added to Wallet”"] == ("B-FIN-2", "assumed")
    assert shown["hides Add"] == ("B-CAN-2", "B-CAN-3")  # the rules of its own variant
    assert {record.source for record in trace} == {"spec", "assumed"}


@pytest.mark.rule("B-FIN-2")
def test_a_new_attempt_takes_the_last_ones_words_off_the_screen():
    bench = opened(phone=PhoneB(ends_with=NOTHING))
    bench.tap()
    assert (bench.button, bench.label) == ("shown", "not added")
    bench.soon(m.AddTapped())
    seen = []
    for event in bench._agenda:
        bench._happen(event)
        seen.append((bench.button, bench.label))
    assert seen[0] == ("disabled", "")
    assert seen[-1] == ("shown", "not added")
