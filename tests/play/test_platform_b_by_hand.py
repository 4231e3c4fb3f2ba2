"""Platform B's SDK by hand: the document's shape, the bench's outcomes, and refusals that change nothing."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkOutput
from workbook.checks import check
from workbook.errors import OutOfOrderError, ParameterError, SdkError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.platform_b import State
from workbook.flows.variants import B_EARLIER, B_LATER, VARIANTS_B
from workbook.play.platform_b import PlatformBRun, ProvisioningDelegate, ProvisioningService, WatchAvailability
from workbook.simulation.phones import PhoneB
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import ERRORS, NOTHING, THROWN_BY_START, Watch
from workbook.simulation.world import INSTRUMENT_IDS

ID = INSTRUMENT_IDS[0]
PAGE = "the card's page"


@pytest.fixture(params=VARIANTS_B)
def variant(request):
    return VARIANTS_B[request.param]


class Delegate:
    """What a person's app does: it relays, and remembers how it ended."""

    def __init__(self, api=None):
        self.api, self.told = api or DirectApi(), []

    def provision(self, sdk_output, payment_instrument_id=ID):
        return self.api.post(payment_instrument_id, SdkOutput.from_bytes(sdk_output)).sdk_input.data

    def did_finish_provisioning(self, pass_, error):
        self.told.append((pass_, error and error.case))


class Nil(Delegate):
    def provision(self, sdk_output, payment_instrument_id=ID):
        return None


def made(variant=B_LATER, phone=None):
    return ProvisioningService(DirectApi().get(ID).sdk_input.data, variant=variant, phone=phone)


def asked(service, *, watch=False):
    if service._run.variant.later:
        return service.can_add_card_details(is_watch_activated=watch).can_add_card
    return service.can_add_card()


def ready(variant=B_LATER, phone=None):
    service = made(variant, phone)
    assert asked(service)
    return service


def start(service, delegate=None):
    service.start(delegate=delegate or Delegate(), presenting_view_controller=PAGE)


def attempt(call):
    """What a call returns and what it raises, of this package's errors; one of the two is None."""
    try:
        return call(), None
    except WorkbookError as error:
        return None, error


def state(service):
    return (repr(service), len(service.trace), service._run.app.delegate)


PHONES = {
    "ready": PhoneB,
    "with a watch": lambda: PhoneB(watch=Watch()),
    "in the wallet": lambda: PhoneB(cards={ID}),
    "another wallet": lambda: PhoneB(wallet="wallet-c"),
    "no entitlement": lambda: PhoneB(entitled=()),
    "not associated": lambda: PhoneB(associated=False),
} | {case: (lambda case=case: PhoneB(ends_with=case)) for case in (*ERRORS, NOTHING)}

SHARED = (m.Event, m.Aside)
APPS_OWN = (m.Opened, m.ActivationDataReceived, m.WatchActivateCalled, m.WatchActivated, m.ApiRequested, m.ApiAnswered)


def story(trace):
    """What the two handles share: all but the page, the watch and the back end, which a person does by themselves."""
    return [
        record.name
        for record in trace
        if isinstance(record.message, SHARED) and not isinstance(record.message, APPS_OWN)
    ]


@pytest.mark.rule("B-INIT-1", "B-CAN-1", "B-CAN-2", "B-START-1", "B-FIN-1")
@rows("name", PHONES)
def test_the_same_outcomes_through_the_bench_and_by_hand(name, variant):
    bench = PlatformBRun(variant, phone=PHONES[name]())
    bench.walk()

    phone = PHONES[name]()
    service, error = attempt(lambda: made(variant, phone))
    if service is None:
        assert error.case == bench.trace.select(m.ServiceRefused)[0].message.case
        return
    watch = phone.watch is not None
    if asked(service, watch=watch):
        _, error = attempt(lambda: start(service))
        assert ([error.case] if error else []) == [one.message.case for one in bench.trace.select(m.StartThrew)]
        if service._run.state is State.ADDED:
            asked(service, watch=watch)
    assert story(service.trace) == story(bench.trace)
    assert (service._run.state, phone.cards) == (bench.state, bench.phone.cards)


@pytest.mark.rule("B-CAN-2")
@pytest.mark.parametrize("wrong", ["no", None, 1])
def test_whether_a_watch_is_activated_is_true_or_false_and_nothing_else(wrong):
    service = made(B_LATER)
    before = state(service)
    with pytest.raises(ParameterError, match=r"is_watch_activated is .*\. Give True or False\."):
        service.can_add_card_details(is_watch_activated=wrong)
    assert state(service) == before


@pytest.mark.rule("B-INIT-1", "API-8")
@rows("junk", [None, "", b"", "text", DirectApi().get(ID).sdk_input.text, 5, [b"x"], b"CANARY", object()])
def test_a_service_takes_the_bytes_of_the_get_and_nothing_else(variant, junk):
    with pytest.raises(SdkError) as caught:
        ProvisioningService(junk, variant=variant)
    assert caught.value.case == "invalidSDKInput"
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ProvisioningService(b"x", variant="latter"), "No platform B variant 'latter'. Did you mean 'later'?"),
        (lambda: ProvisioningService(b"x", variant=None), "No platform B variant None. Known: earlier, later."),
        (lambda: ProvisioningService(b"x", phone="ready"), r"phone is 'ready'; allowed: a PhoneB\("),
        (lambda: ProvisioningService(b"x", phone=PhoneB), r"phone is a value of type type; allowed: a PhoneB\("),
        (lambda: WatchAvailability(None), r"phone is None; allowed: the PhoneB\("),
        (lambda: WatchAvailability(Watch()), r"phone is a value of type Watch; allowed: the PhoneB\("),
    ],
)
def test_a_setting_of_another_kind_is_explained(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


@pytest.mark.rule("B-CAN-2")
@pytest.mark.parametrize(
    ("phone", "watch", "spec", "field"),
    [
        (PhoneB(), False, (True, None, None), (True, True, False)),
        (PhoneB(watch=Watch()), True, (True, None, None), (True, True, True)),
        (PhoneB(watch=Watch()), False, (True, None, None), (True, True, False)),
        (PhoneB(watch=Watch(), cards={ID}), True, (True, None, None), (True, False, True)),
        (PhoneB(watch=Watch({ID})), True, (True, None, None), (True, True, False)),
        (PhoneB(cards={ID}), False, (False, None, None), (False, False, False)),
        (PhoneB(watch=Watch({ID}), cards={ID}), True, (False, None, None), (False, False, False)),
    ],
)
def test_the_two_places_are_shown_in_the_field_profile_only(phone, watch, spec, field):
    for profile, shown in (("spec", spec), ("field", field)):
        phone.profile = profile
        found = made(B_LATER, phone).can_add_card_details(is_watch_activated=watch)
        assert (found.can_add_card, found.can_add_to_phone, found.can_add_to_watch) == shown
        assert ("can_add_to" in repr(found)) == (profile == "field")


@pytest.mark.rule("B-CAN-1")
def test_the_earlier_variant_answers_with_a_plain_truth():
    assert made(B_EARLIER).can_add_card() is True
    assert made(B_EARLIER, PhoneB(cards={ID})).can_add_card() is False


@pytest.mark.rule("B-CAN-1", "B-CAN-2")
def test_each_variant_refuses_the_others_question_and_says_what_there_is():
    with pytest.raises(
        OutOfOrderError, match=r"can_add_card\(\) cannot .* later variant\. Possible now: can_add_card_details\("
    ):
        made(B_LATER).can_add_card()
    with pytest.raises(OutOfOrderError, match=r"earlier variant\. Possible now: can_add_card\(\)\."):
        made(B_EARLIER).can_add_card_details(is_watch_activated=False)


@pytest.mark.rule("B-START-1")
@pytest.mark.parametrize("case", THROWN_BY_START)
def test_start_throws_and_the_delegate_hears_nothing(variant, case):
    delegate = Delegate()
    service = ready(variant, PhoneB(ends_with=case))
    with pytest.raises(SdkError) as caught:
        start(service, delegate)
    assert (caught.value.case, delegate.told) == (case, [])


@pytest.mark.rule("B-FIN-1")
@rows("case", [NOTHING, *(one for one in ERRORS if one not in THROWN_BY_START)])
def test_every_other_error_arrives_in_did_finish_and_start_may_be_called_again(variant, case):
    delegate, phone = Delegate(), PhoneB(ends_with=case)
    service = ready(variant, phone)
    start(service, delegate)
    assert delegate.told == [(None, None if case == NOTHING else case)]
    phone.ends_with = None
    start(service, delegate)
    assert delegate.told[1:] == [("phone", None)]


class Half:
    def provision(self, sdk_output, payment_instrument_id=""):
        return None


MISTAKES = {
    "no delegate": (None, PAGE, SdkError, "delegateNotSet.*there is no delegate"),
    "nothing": (None, None, SdkError, "delegateNotSet.*there is no delegate"),
    "no view controller": (Delegate(), None, SdkError, "presentationFailure.*there is no view controller to present"),
    "half a delegate": (Half(), PAGE, ParameterError, r"did_finish_provisioning\(pass_, error\)"),
    "a delegate without provision": (object(), PAGE, ParameterError, "A delegate needs a method provision"),
    "a class": (Delegate, PAGE, ParameterError, "A delegate needs a method provision"),
    "a function": (lambda *_: b"x", PAGE, ParameterError, "A delegate needs a method provision"),
}


@pytest.mark.rule("B-START-1")
@rows("name", MISTAKES)
def test_a_start_that_cannot_be_made_is_explained_and_changes_nothing(variant, name):
    delegate, page, error, told = MISTAKES[name]
    service = ready(variant)
    before = state(service)
    with pytest.raises(error, match=told):
        service.start(delegate=delegate, presenting_view_controller=page)
    assert state(service) == before
    start(service)
    assert service._run.phone.cards == {ID}


@pytest.mark.rule("B-DEL-1", "B-DEL-2")
def test_a_delegate_of_the_other_variant_is_refused_before_anything_happens():
    class Earlier:
        def provision(self, sdk_output):
            return None

    service = ready(B_LATER)
    before = state(service)
    with pytest.raises(ParameterError, match=r"needs a method provision\(sdk_output, payment_instrument_id\)"):
        start(service, Earlier())
    assert state(service) == before


def test_start_comes_after_the_question_and_not_for_a_card_that_is_there(variant):
    for service in (made(variant), made(variant, PhoneB(cards={ID}))):
        if service._run.phone.cards:
            assert asked(service) is False
        before = state(service)
        with pytest.raises(
            OutOfOrderError, match=r"start\(\.\.\.\) cannot be called while '.+' in the \w+ variant\. Possible now: "
        ):
            start(service)
        assert state(service) == before


@pytest.mark.rule("B-DEL-3")
def test_a_delegate_that_calls_back_during_its_attempt_is_told_that_nothing_is_possible():
    refused = []

    class Curious(Delegate):
        def provision(self, sdk_output, payment_instrument_id=ID):
            try:
                start(service, self)
            except OutOfOrderError as error:
                refused.append(str(error))
            return super().provision(sdk_output, payment_instrument_id)

    service = ready()
    start(service, Curious())
    assert refused[0].endswith("Possible now: nothing, until this attempt is over.")
    assert service._run.phone.cards == {ID}


def test_did_finish_may_ask_once_more():
    answers = []

    class Asks(Delegate):
        def did_finish_provisioning(self, pass_, error):
            answers.append(asked(service))

    service = ready()
    start(service, Asks())
    assert answers == [False]
    assert service._run.state is State.IN_WALLET


CALLS = {
    "ask": lambda service: service.can_add_card(),
    "details": lambda service: service.can_add_card_details(is_watch_activated=False),
    "details with a watch": lambda service: service.can_add_card_details(is_watch_activated=True),
    "start": start,
    "start, nil": lambda service: start(service, Nil()),
    "start, no delegate": lambda service: service.start(delegate=None, presenting_view_controller=PAGE),
    "start, no page": lambda service: service.start(delegate=Delegate(), presenting_view_controller=None),
    "start, no provision": lambda service: start(service, object()),
}


@given(
    st.sampled_from([B_EARLIER, B_LATER]),
    st.sampled_from([None, NOTHING, *ERRORS]),
    st.sampled_from([None, set(), {ID}]),
    st.lists(st.sampled_from(sorted(CALLS)), max_size=8),
)
def test_any_calls_in_any_order_work_or_raise_and_change_nothing(variant, case, on_watch, names):
    watch = None if on_watch is None else Watch(set(on_watch))
    service = made(variant, PhoneB(ends_with=case, watch=watch))
    for name in names:
        before = state(service)
        _, error = attempt(lambda call=CALLS[name]: call(service))
        assert isinstance(error, OutOfOrderError | ParameterError | SdkError | None)
        if error is not None and state(service) != before:
            assert service.trace.select(m.StartThrew)[-1].message.case == error.case
        assert service._run.due is None
        assert service.trace.select(kind="refused") == []


def test_what_a_person_does_by_hand_is_not_taken_for_an_app_that_never_looked():
    phone = PhoneB()
    service = made(phone=phone)
    service.can_add_card_details(is_watch_activated=WatchAvailability(phone).activate())
    assert check(service.trace) == []


@pytest.mark.rule("B-WATCH-1", "B-WATCH-2")
def test_only_the_latest_instance_hears_of_the_watch():
    phone = PhoneB(watch=Watch())
    first = WatchAvailability(phone)
    assert first.activate()
    second = WatchAvailability(phone)
    assert (first.activate(), second.activate()) == (False, True)
    assert (repr(first), repr(second)) == ("WatchAvailability(instance 1)", "WatchAvailability(instance 2)")


@pytest.mark.rule("B-WATCH-1")
def test_without_a_watch_there_is_none():
    assert WatchAvailability(PhoneB()).activate() is False


@pytest.mark.rule("B-DEL-1", "B-DEL-2", "B-FIN-1", "B-START-1")
def test_the_shape_is_the_document_s_in_snake_case():
    def parameters(function):
        return [*inspect.signature(function).parameters][1:]

    assert parameters(ProvisioningService.__init__)[0] == "sdk_input"
    assert parameters(ProvisioningService.can_add_card) == []
    assert parameters(ProvisioningService.can_add_card_details) == ["is_watch_activated"]
    assert parameters(ProvisioningService.start) == ["delegate", "presenting_view_controller"]
    assert parameters(ProvisioningDelegate.provision) == ["sdk_output", "payment_instrument_id"]
    assert parameters(ProvisioningDelegate.did_finish_provisioning) == ["pass_", "error"]
    assert parameters(WatchAvailability.activate) == []


@pytest.mark.rule("B-WATCH-1", "B-CAN-1")
def test_the_earlier_variant_has_no_watch_availability():
    with pytest.raises(ParameterError, match=r"^The earlier variant has no WatchAvailability"):
        WatchAvailability(PhoneB(), variant="earlier")
