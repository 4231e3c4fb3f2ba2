"""Platform B's SDK stand-in alone: a command in, the document's outcome out."""

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.flows import messages as m
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import SdkB, open_data, wrong_with
from workbook.simulation.seal import DAMAGES, Content, Damaged, Genuine, Seal, damaged
from workbook.simulation.wallet import NOTHING, THROWN_BY_START, Watch

SEAL = Seal(7)
TEXT = SEAL.close(Content.ACTIVATION, "PI1", 1, supportedWallets=("wallet-b",))
ACTIVATION = b64decode(TEXT)
NOT_AN_ANSWER = [None, b"", bytearray(), "", TEXT, 5, [ACTIVATION], object(), b"CANARY"]


def sdk(phone=None, *, later=True):
    return SdkB(phone or PhoneB(), later=later)


def created(phone=None, *, later=True):
    one = sdk(phone, later=later)
    assert one.answer(m.CreateService(ACTIVATION))[1] == m.ServiceReady()
    return one


def opc(attempt, owner="PI1", seal=SEAL):
    return b64decode(seal.close(Content.OPC, owner, 1, attempt=attempt))


def watched(one):
    told = []
    one.seen = told.append
    return told


def started(phone=None, **more):
    one = created(phone, **more)
    one.answer(m.Start())
    return one


@pytest.mark.rule("B-INIT-1", "API-8")
@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_the_service_takes_the_bytes_in_any_form_and_carries_itself(form):
    one = sdk()
    waits, outcome = one.answer(m.CreateService(form(ACTIVATION)))
    assert (waits, outcome) == (LatenciesB().service, m.ServiceReady())
    assert outcome.service is one
    assert one.payment_instrument_id == "PI1"


@pytest.mark.rule("B-INIT-1", "API-8")
@rows(
    ("sdk_input", "why"),
    [
        (TEXT, "it is text, and platform B takes the bytes (API-8): decode the base64 of the JSON once (sdk-b)"),
        ("ü", "it is text, and platform B takes the bytes (API-8)"),
        (None, "it is nil, not the bytes of an sdkInput"),
        (b"", "it is empty, not the bytes of an sdkInput"),
        (5, "it is int, not the bytes of an sdkInput"),
        ([ACTIVATION], "it is list, not the bytes of an sdkInput"),
        (TEXT.encode(), "it was changed on its way (encoded-twice)"),
        (ACTIVATION[:-5], "it is truncated"),
        (b'{"real":true}', "it does not carry the simulator's mark"),
        (b64decode(Seal(8).close(Content.ACTIVATION, "PI1", 1)), "its seal is broken"),
        (opc(1), "it is data of kind 'opc'; the initialiser takes the GET's sdkInput"),
    ],
)
def test_the_service_takes_nothing_but_the_gets_bytes_and_says_why(sdk_input, why):
    _, outcome = sdk().answer(m.CreateService(sdk_input))
    assert isinstance(outcome, m.ServiceRefused)
    assert outcome.case == "invalidSDKInput"
    assert outcome.why.startswith(why)
    assert not outcome.why.endswith((".", " "))


@pytest.mark.rule("B-INIT-1")
@rows("damage", [name for name in DAMAGES if name not in ("none", "decoded")])  # right, on B
def test_damage_on_the_way_is_noticed_after_decoding_and_as_text(damage):
    text = damaged(TEXT, damage)
    for form in (text, text.encode("utf-8", "replace") if isinstance(text, str) else text):
        assert isinstance(sdk().answer(m.CreateService(form))[1], m.ServiceRefused)


@pytest.mark.rule("B-INIT-1")
@pytest.mark.parametrize("listed", [{}, {"supportedWallets": ()}, {"supportedWallets": ("wallet-a",)}])
def test_a_card_that_is_not_for_this_wallet_gives_no_service(listed):
    data = b64decode(SEAL.close(Content.ACTIVATION, "PI1", 1, **listed))
    outcome = m.ServiceRefused("walletNotSupported", "the card's supportedWallets lack this wallet")
    assert sdk().answer(m.CreateService(data)) == (LatenciesB().service, outcome)


FACTS = {
    # phone, whether a watch is activated: where it can be added, and what is said about it
    "no watch": (PhoneB(), False, (True, False), []),
    "on the phone, no watch": (PhoneB(cards={"PI1"}), False, (False, False), []),
    "nowhere, watch told": (PhoneB(watch=Watch()), True, (True, True), []),
    "nowhere, watch not told": (PhoneB(watch=Watch()), False, (True, False), []),
    "watch lacks it, told": (PhoneB(watch=Watch(), cards={"PI1"}), True, (False, True), [(False, True, False)]),
    "watch lacks it, not told": (PhoneB(watch=Watch(), cards={"PI1"}), False, (False, False), []),
    "phone lacks it": (PhoneB(watch=Watch({"PI1"})), True, (True, False), [(True, False, False)]),
    "on both": (PhoneB(watch=Watch({"PI1"}), cards={"PI1"}), True, (False, False), []),
    "told of a watch that is not there": (PhoneB(cards={"PI1"}), True, (False, False), []),
    "hidden by the scheme": (PhoneB(cards={"PI1"}, associated=False), False, (True, False), [(False, None, True)]),
    "hidden, and nowhere": (PhoneB(associated=False), False, (True, False), []),
    "hidden, on both": (
        PhoneB(watch=Watch({"PI1"}), cards={"PI1"}, associated=False),
        True, (True, True), [(False, False, True)],
    ),
}  # fmt: skip


@pytest.mark.rule("B-CAN-2", "B-CAN-3")
@rows("name", FACTS)
def test_the_later_variant_looks_at_the_watch_when_it_is_told_of_one(name):
    phone, told, places, said = FACTS[name]
    one = created(phone)
    asides = watched(one)
    waits, outcome = one.answer(m.AskCanAddCardDetails(told))
    assert (waits, outcome) == (LatenciesB().can_add_card, m.CanAddCard() if any(places) else m.CannotAddCard())
    assert asides == [m.StillMissing(*each) for each in said]


@pytest.mark.rule("B-CAN-1", "B-CAN-3")
@rows("profile", ["spec", "field"])
@rows("name", [name for name in FACTS if "not told" not in name])
def test_the_earlier_variant_looks_at_every_place_and_says_no_more_than_yes_or_no(name, profile):
    phone, _, places, _ = FACTS[name]
    shown = PhoneB(watch=phone.watch, cards=phone.cards, associated=phone.associated, profile=profile)
    assert created(shown, later=False).answer(m.AskCanAddCard())[1] == (
        m.CanAddCard() if any(places) else m.CannotAddCard()
    )


@pytest.mark.rule("B-WATCH-1")
@pytest.mark.parametrize("watch", [None, Watch()])
def test_activate_tells_whether_a_watch_is_paired(watch):
    one = created(PhoneB(watch=watch))
    told = watched(one)
    assert one.answer(m.ActivateWatch(1)) == (LatenciesB().watch, m.WatchActivated(watch is not None))
    assert one.answer(m.ActivateWatch(1))[1] == m.WatchActivated(watch is not None)
    assert told == []


@pytest.mark.rule("B-DEL-1", "B-DEL-2")
def test_start_asks_the_delegate_with_a_new_sdk_output_for_this_card():
    phone = PhoneB()
    (_, first), (waits, second) = (created(phone, later=later).answer(m.Start()) for later in (False, True))
    assert (type(first), type(second)) == (m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled)
    assert (waits, second.payment_instrument_id) == (LatenciesB().sheet, "PI1")
    data = [SEAL.open(event.sdk_output.text) for event in (first, second)]
    assert [(one.content, one.payment_instrument_id, one.serial) for one in data] == [
        ("output", "PI1", 1),
        ("output", "PI1", 2),
    ]


@pytest.mark.rule("B-FIN-1")
def test_it_can_end_with_neither_pass_nor_error():
    one = started(PhoneB(ends_with=NOTHING))
    assert one.answer(m.ReturnSdkInput(opc(1)))[1] == m.FinishedWithNeither()
    assert one.phone.cards == set()


@pytest.mark.rule("B-FIN-1", "B-DEL-3")
@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_the_right_answer_adds_the_card_in_whatever_form_the_bytes_are(form):
    one = started()
    told = watched(one)
    assert one.answer(m.ReturnSdkInput(form(opc(1)))) == (LatenciesB().wallet, m.FinishedWithPass("phone"))
    assert (one.phone.cards, told) == ({"PI1"}, [m.WalletKitAsked()])


@pytest.mark.rule("B-DEL-3", "API-11")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (opc(2), "it answers attempt 2, and this is attempt 1"),
        (opc(1, owner="PI2"), "it belongs to another payment instrument"),
        (ACTIVATION, "it is data of kind 'activation'; the delegate returns the POST's sdkInput"),
        (opc(1)[:-1], "it is truncated"),
        (opc(1, seal=Seal(8)), "its seal is broken"),
        (b"", "it is empty"),
        (TEXT, "it is text, and platform B takes the bytes"),
    ],
)
def test_a_wrong_answer_never_reaches_the_wallet(answer, why):
    one = started()
    told = watched(one)
    waits, outcome = one.answer(m.ReturnSdkInput(answer))
    assert (waits, outcome.case) == (0.0, "invalidSDKInput")
    assert outcome.why.startswith(why)
    assert (one.phone.cards, told) == (set(), [])


@pytest.mark.rule("B-DEL-3")
def test_an_answer_to_a_former_attempt_is_noticed_also_by_another_service_on_the_same_phone():
    phone = PhoneB(ends_with="walletKitError")
    former = started(phone)
    assert former.answer(m.ReturnSdkInput(opc(1)))[1].case == "walletKitError"
    phone.ends_with = None
    again = started(phone)
    assert again.answer(m.ReturnSdkInput(opc(1)))[1].why == "it answers attempt 1, and this is attempt 2"
    assert again.answer(m.ReturnSdkInput(opc(2)))[1] == m.FinishedWithPass("phone")


@pytest.mark.rule("B-DEL-3")
@pytest.mark.parametrize(
    ("command", "why"),
    [
        (m.ReturnNil("the back end said no"), "the delegate returned nil: the back end said no"),
        (m.GiveUp(), "the delegate's provision took longer than the wallet waits"),
    ],
)
def test_nil_and_a_spent_time_end_at_once_in_an_error(command, why):
    waits, outcome = started().answer(command)
    assert (waits, outcome.case) == (0.0, "walletKitError")
    assert outcome.why == f"{why}; this error case is assumed"


@pytest.mark.rule("B-START-1", "B-FIN-1")
@pytest.mark.parametrize(
    ("phone", "waits", "outcome"),
    [
        (PhoneB(entitled=()), 0.0,
         m.StartThrew("presentationFailure", "the app lacks the provisioning entitlement")),
        *((PhoneB(ends_with=case), 0.0, m.StartThrew(case, "the chosen phone fails in this way"))
          for case in THROWN_BY_START),
        (PhoneB(ends_with="userCancelled"), LatenciesB().sheet,
         m.FinishedCancelled("userCancelled", "the cardholder closed the wallet's sheet")),
        (PhoneB(ends_with="unableToConstructSDKOutput"), LatenciesB().sheet,
         m.FinishedWithError("unableToConstructSDKOutput", "the chosen phone fails in this way")),
    ],
    ids=lambda value: value.case if isinstance(value, m.Event) else "",
)  # fmt: skip
def test_what_start_comes_to_before_the_delegate_is_asked(phone, waits, outcome):
    assert created(phone).answer(m.Start()) == (waits, outcome)


def test_an_error_that_was_chosen_for_the_wallet_says_so():
    one = started(PhoneB(ends_with="walletKitError"))
    outcome = m.FinishedWithError("walletKitError", "the chosen phone fails in this way")
    assert one.answer(m.ReturnSdkInput(opc(1))) == (LatenciesB().wallet, outcome)


@pytest.mark.rule("REL-3")
@given(st.sampled_from(NOT_AN_ANSWER) | st.binary() | st.text() | st.lists(st.binary()) | st.floats())
def test_whatever_is_handed_over_is_an_outcome_that_does_not_repeat_it(junk):
    why = wrong_with(SEAL, junk, "PI1", 1)
    assert isinstance(open_data(SEAL, junk), Genuine | Damaged)
    assert why
    assert "CANARY" not in why
    assert isinstance(sdk().answer(m.CreateService(junk))[1], m.ServiceRefused)


def test_the_stand_in_names_the_commands_it_carries_out():
    assert set(sdk().answers) == {
        m.CreateService,
        m.ActivateWatch,
        m.AskCanAddCard,
        m.AskCanAddCardDetails,
        m.Start,
        m.ReturnSdkInput,
        m.ReturnNil,
        m.GiveUp,
    }
