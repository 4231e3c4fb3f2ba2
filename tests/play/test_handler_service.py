"""ExtensionProvisioningService: in a cell of its own and under a call, what it takes and what it throws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.play.handler import (
    AddPaymentPassRequest,
    CardArt,
    ExtensionProvisioningService,
    ExtensionStatus,
    PassEntry,
)
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import CURRENT, Call, next_output, under_way
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import DirectApi
from workbook.simulation.wallet import Watch
from workbook.simulation.world import INSTRUMENT_IDS

FIRST, SECOND, THIRD = INSTRUMENT_IDS
API = DirectApi()
ONE, TWO, THREE = (API.get(each).sdk_input.data for each in INSTRUMENT_IDS)
WALLET = {"configuration": None, "certificate_chain": [b"leaf"], "nonce": b"nonce", "nonce_signature": b"signature"}


class Delegate:
    """A delegate that relays through an API of its own."""

    def __init__(self):
        self.asked = []

    def card_art(self, which):
        self.asked.append(which)
        return CardArt(which)

    def provision(self, payment_instrument_id, sdk_output):
        self.asked.append((payment_instrument_id, sdk_output))
        return posted(payment_instrument_id, sdk_output)


def posted(payment_instrument_id, sdk_output):
    from workbook.api.opaque import SdkOutput  # used here alone

    return DirectApi().post(payment_instrument_id, SdkOutput.from_bytes(sdk_output)).sdk_input.data


def generate(service, identifier=FIRST, delegate=None, **wrong):
    return service.generate_add_payment_pass_request_for_pass_entry_with_identifier(
        identifier, **{**WALLET, **wrong}, delegate=Delegate() if delegate is None else delegate
    )


def watched(**phone):
    """A call that remembers the names of what is seen in it."""
    told = []
    return Call(PhoneB(**phone), tell=lambda _at, event: told.append(event)), told


@pytest.mark.rule("X-INIT-1")
def test_it_is_made_of_one_or_of_several():
    assert repr(ExtensionProvisioningService(ONE)) == "ExtensionProvisioningService(1 payment instruments)"
    assert repr(ExtensionProvisioningService(sdk_input=ONE)) == repr(ExtensionProvisioningService(sdk_inputs=[ONE]))
    several = [[ONE, TWO], (ONE, TWO), iter([ONE, TWO]), {1: ONE, 2: TWO}.values()]
    for each in several:
        assert repr(ExtensionProvisioningService(sdk_inputs=each)).startswith("ExtensionProvisioningService(2 ")


@pytest.mark.rule("X-INIT-1", "X-STATUS-2")
@pytest.mark.parametrize("nothing", [{}, {"sdk_input": None}, {"sdk_inputs": []}, {"sdk_inputs": iter(())}])
def test_of_nothing_none_is_made(nothing):
    with pytest.raises(SdkError) as caught:
        ExtensionProvisioningService(**nothing)
    assert caught.value.case == "emptySDKInputs"


@pytest.mark.rule("X-INIT-1", "API-8")
@rows(
    ("wrong", "why"),
    [
        (API.get(FIRST).sdk_input.text, "it is text, and platform B takes the bytes"),
        (b"", "it is empty, not the bytes"),
        (b"junk", "it was changed on its way"),
        (ONE[:-5], "truncated"),
        (ONE.replace(b"0001", b"0002"), "its seal is broken"),
        (5, "it is int, not the bytes"),
        ([ONE], "it is list, not the bytes"),
        (API.get(FIRST).sdk_input, "it is SdkInput, not the bytes"),
    ],
)
def test_what_is_no_sdk_input_is_told_by_what_is_wrong_with_it(wrong, why):
    for given_as in ({"sdk_input": wrong}, {"sdk_inputs": [ONE, wrong]}):
        with pytest.raises(SdkError) as caught:
            ExtensionProvisioningService(**given_as)
        assert caught.value.case == "invalidSDKInput"
        assert why in caught.value.why


@pytest.mark.rule("X-INIT-1")
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (ONE, "bytes"),
        (bytearray(ONE), "bytearray"),
        ("text", "str"),
        ({FIRST: ONE}, "dict"),
        (5, "int"),
        (API.get(FIRST).sdk_input, "SdkInput"),
    ],
    ids=["bytes", "bytearray", "str", "the storage's mapping", "int", "the wrapper"],
)
def test_what_is_no_list_is_refused_with_the_way_to_do_it(wrong, kind):
    message = f"sdk_inputs is a list of bytes, not {kind}; one card's bytes are given as sdk_input"
    with pytest.raises(ParameterError, match=message):
        ExtensionProvisioningService(sdk_inputs=wrong)


@pytest.mark.rule("X-INIT-1")
@pytest.mark.parametrize("several", [[TWO], [], ONE])
def test_both_at_once_are_refused(several):
    with pytest.raises(ParameterError, match="not both"):
        ExtensionProvisioningService(ONE, sdk_inputs=several)


def test_the_posts_sdk_input_makes_no_service():
    phone = PhoneB()
    opc = posted(FIRST, next_output(phone, Seal(7), FIRST).data)
    with pytest.raises(SdkError, match="it is data of kind 'opc'; the initialiser takes the GET's sdkInput"):
        ExtensionProvisioningService(opc)


def test_a_card_that_does_not_support_this_wallet_spoils_the_whole_list():
    call, told = watched(wallet="wallet-c")
    with under_way(call), pytest.raises(SdkError) as caught:
        ExtensionProvisioningService(sdk_inputs=[ONE, TWO])
    assert caught.value.case == "walletNotSupported"
    assert [type(event) for event in told] == [m.ServiceNotMade]


def test_making_it_takes_time_and_is_seen():
    call, told = watched()
    with under_way(call):
        ExtensionProvisioningService(sdk_inputs=[ONE, TWO])
    assert call.clock.now() == call.phone.latencies.service
    assert told == [m.ServiceMade((FIRST, SECOND))]


@pytest.mark.rule("X-STATUS-1")
@pytest.mark.parametrize("required", [True, False])
def test_the_status_says_who_authenticates(required):
    status = ExtensionProvisioningService(ONE).extension_status(requires_authentication=required)
    assert status == ExtensionStatus(required, pass_entries_available=True, remote_pass_entries_available=True)


@pytest.mark.rule("X-STATUS-2")
def test_without_a_service_there_is_a_status_that_says_unavailable():
    status = ExtensionProvisioningService.entries_unavailable_extension_status()
    assert (status.pass_entries_available, status.remote_pass_entries_available) == (False, False)


@pytest.mark.rule("X-STATUS-1")
@pytest.mark.parametrize("junk", ["no", 0, None, object()])
def test_a_status_holds_truths_only(junk):
    with pytest.raises(ParameterError, match="requires_authentication is True or False, not"):
        ExtensionProvisioningService(ONE).extension_status(requires_authentication=junk)
    with pytest.raises(ParameterError, match="pass_entries_available is True or False, not"):
        ExtensionStatus(pass_entries_available=junk)


@pytest.mark.rule("X-ENTRIES-1", "X-ART-1", "API-12")
def test_one_entry_for_each_card_with_the_delegates_art():
    delegate = Delegate()
    entries = ExtensionProvisioningService(sdk_inputs=[TWO, ONE]).pass_entries(with_delegate=delegate)
    assert [entry.payment_instrument_id for entry in entries] == [SECOND, FIRST] == delegate.asked
    assert [entry.title for entry in entries] == ["•••• 0002", "•••• 0001"]
    assert [entry.card_art.shows for entry in entries] == [SECOND, FIRST]
    assert [entry.summary() for entry in entries] == [SECOND, FIRST]
    assert len({entry.identifier for entry in entries}) == 2


@pytest.mark.rule("X-ENTRIES-2")
def test_remote_entries_are_for_a_watch_that_is_paired():
    for watch, count in ((None, 0), (Watch(), 2)):
        with under_way(watched(watch=watch)[0]):
            service = ExtensionProvisioningService(sdk_inputs=[ONE, TWO])
            assert len(service.remote_pass_entries(with_delegate=Delegate())) == count


@pytest.mark.rule("X-ART-1")
@pytest.mark.parametrize(("later", "asked"), [(True, FIRST), (False, "example")])
def test_the_later_variant_asks_by_id_and_the_earlier_one_by_brand(later, asked):
    told = []
    delegate = Delegate()
    with under_way(Call(PhoneB(), later=later, tell=lambda _at, event: told.append(event))):
        ExtensionProvisioningService(ONE).pass_entries(delegate)
    assert delegate.asked == [asked]
    kind = m.CardArtForIdAsked if later else m.CardArtForBrandAsked
    assert [type(event) for event in told] == [m.ServiceMade, m.SdkPassEntriesCalled, kind, m.CardArtReturned]


@pytest.mark.rule("X-ART-1")
@pytest.mark.parametrize("junk", [None, b"png", 5])
def test_what_is_no_picture_is_seen_and_left_out(junk):
    delegate = Delegate()
    delegate.card_art = lambda _which: junk
    call, told = watched()
    with under_way(call):
        (entry,) = ExtensionProvisioningService(ONE).pass_entries(delegate)
    assert entry.card_art is None
    assert "not an image" in told[-1].problems


@pytest.mark.rule("X-GEN-1", "X-DEL-1")
def test_the_request_is_made_of_what_the_delegate_returned():
    delegate = Delegate()
    call, told = watched()
    with under_way(call):
        request = generate(ExtensionProvisioningService(ONE), delegate=delegate)
    ((asked_for, sdk_output),) = delegate.asked
    assert asked_for == FIRST
    assert isinstance(sdk_output, bytes)
    assert (request.payment_instrument_id, request.attempt, request.nonce) == (FIRST, 1, b"nonce")
    names = [m.ServiceMade, m.SdkGenerateCalled, m.ExtensionProvisionCalled, m.DelegateReturned]
    assert [type(event) for event in told] == names


@pytest.mark.rule("X-GEN-1")
@pytest.mark.parametrize("identifier", ["PIUNKNOWN", "", SECOND, None, [FIRST], b"PI"])
def test_an_identifier_of_no_card_throws(identifier):
    with pytest.raises(SdkError, match="no sdkInput of this service has this identifier"):
        generate(ExtensionProvisioningService(ONE), identifier)


@pytest.mark.rule("X-GEN-1")
@rows(
    "changed",
    [
        {"nonce": "6e6f"},
        {"nonce": b""},
        {"nonce": None},
        {"nonce_signature": "text"},
        {"certificate_chain": ["text"]},
        {"certificate_chain": []},
        {"certificate_chain": None},
        {"certificate_chain": b"leaf"},
        {"certificate_chain": 5},
    ],
)
def test_what_the_wallet_gave_is_handed_on_as_it_came(changed):
    with pytest.raises(SdkError, match="certificates, nonce and signature must be bytes") as caught:
        generate(ExtensionProvisioningService(ONE), **changed)
    assert caught.value.case == "unableToConstructSDKOutput"


def opc(card=FIRST, attempt=1, seed=7):
    from base64 import b64decode  # used here alone

    return b64decode(Seal(seed).close(Content.OPC, card, 1, attempt=attempt))


@pytest.mark.rule("X-DEL-1", "X-GEN-1")
@rows(
    ("returned", "case", "why"),
    [
        (None, "unableToConstructSDKOutput", "it is nil"),
        ("dGV4dA==", "invalidSDKInput", "it is text"),
        (b"junk", "invalidSDKInput", "it was changed on its way"),
        (ONE, "invalidSDKInput", "kind 'activation'"),
        (opc(SECOND), "invalidSDKInput", "it belongs to another payment instrument"),
        (opc(attempt=2), "invalidSDKInput", "it answers attempt 2, and this is attempt 1"),
        (opc(seed=8), "invalidSDKInput", "seal is broken"),
        (5, "invalidSDKInput", "it is int"),
        (object(), "invalidSDKInput", "it is object"),
    ],
)
def test_what_the_delegate_must_not_return_throws(returned, case, why):
    delegate = Delegate()
    delegate.provision = lambda *_: returned
    call, told = watched()
    with under_way(call), pytest.raises(SdkError) as caught:
        generate(ExtensionProvisioningService(ONE), delegate=delegate)
    assert caught.value.case == case
    assert why in caught.value.why
    assert [type(event) for event in told][-2:] == [m.DelegateReturned, m.SdkThrew]


@rows(
    ("operation", "use"),
    [
        ("card_art", lambda service, delegate: service.pass_entries(delegate)),
        ("card_art", lambda service, delegate: service.remote_pass_entries(delegate)),
        ("provision", lambda service, delegate: generate(service, delegate=delegate)),
    ],
)
@rows("delegate", [object(), 5, "text"])
def test_a_delegate_without_the_operation_is_told_so(operation, use, delegate):
    call, told = watched(watch=Watch())
    with under_way(call), pytest.raises(SdkError) as caught:
        use(ExtensionProvisioningService(ONE), delegate)
    assert caught.value.case == "delegateNotSet"
    assert caught.value.why.startswith(f"the delegate needs a method {operation}(")
    assert isinstance(told[-1], m.SdkThrew)
    assert call.phone.outputs == 0


def test_no_two_outputs_of_a_phone_are_alike():
    delegate = Delegate()
    with under_way(Call(PhoneB())):
        service = ExtensionProvisioningService(ONE)
        requests = [generate(service, delegate=delegate) for _ in range(3)]
    assert [request.attempt for request in requests] == [1, 2, 3]
    assert len({sdk_output for _, sdk_output in delegate.asked}) == 3


def test_in_a_cell_of_its_own_it_works_with_bytes_of_the_direct_port():
    sdk_input = DirectApi().get(FIRST).sdk_input.data
    service = ExtensionProvisioningService(sdk_input)
    assert service.extension_status(requires_authentication=True).requires_authentication
    assert [entry.identifier for entry in service.pass_entries(Delegate())] == [FIRST]
    assert generate(service).payment_instrument_id == FIRST
    assert CURRENT.get() is None


@pytest.mark.parametrize("junk", [None, 5, b"PI1", [FIRST]])
def test_an_entry_and_a_request_have_ids_of_text(junk):
    with pytest.raises(ParameterError, match="identifier is text, not"):
        PassEntry(junk, "a card", None, FIRST)
    with pytest.raises(ParameterError, match="payment_instrument_id is text, not"):
        PassEntry(FIRST, "a card", None, junk)
    with pytest.raises(ParameterError, match="payment_instrument_id is text, not"):
        AddPaymentPassRequest(junk, b"", 1, b"")


@pytest.mark.rule("REL-3")
@given(st.text(min_size=1, max_size=30).map(lambda text: f"CANARY-{text}"))
def test_no_repr_and_no_error_shows_opaque_data(canary):
    data = canary.encode()
    request = AddPaymentPassRequest(FIRST, data, 1, data)
    assert repr(request) == f"AddPaymentPassRequest(for {FIRST})"
    assert request.summary() == f"for {FIRST}"
    for wrong in (data, canary):
        with pytest.raises(SdkError) as caught:
            ExtensionProvisioningService(wrong)
        assert "CANARY" not in f"{caught.value} {caught.value!r} {caught.value.why}"
    delegate = Delegate()
    delegate.provision = lambda *_: data
    with pytest.raises(SdkError) as caught:
        generate(ExtensionProvisioningService(ONE), delegate=delegate)
    assert "CANARY" not in str(caught.value)
    assert "CANARY" not in repr(m.DelegateReturned(data))


@pytest.mark.rule("X-HANDLER-1")
def test_a_service_that_was_kept_works_and_takes_time_in_the_call_that_uses_it():
    first, seen_first = watched()
    second, seen_second = watched()
    with under_way(first):
        service = ExtensionProvisioningService(ONE)
    spent, told = first.clock.now(), len(seen_first)
    with under_way(second):
        service.pass_entries(Delegate())
        generate(service)
    assert (first.clock.now(), len(seen_first), first.phone.outputs) == (spent, told, 0)
    assert second.clock.now() == second.phone.latencies.card_art
    assert second.phone.outputs == 1
    assert m.SdkPassEntriesCalled() in seen_second
