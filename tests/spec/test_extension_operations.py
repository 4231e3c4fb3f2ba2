"""Platform B SDK operations (wallet extension flow): each statement, on a good handler and on a broken one."""

import inspect
from dataclasses import fields

import pytest

from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.extension import EXTENSIONS, POINT, PRINCIPAL, State, plist
from workbook.flows.trace import Kind
from workbook.flows.variants import B_EARLIER, B_LATER, SURFACES, VARIANTS_B
from workbook.play.extension.handler import (
    AuthorizationProvider,
    CardArt,
    ExtensionDelegate,
    ExtensionProvisioningService,
    ReferenceHandler,
)
from workbook.play.extension.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.extension.wallet_app import WalletApp
from workbook.play.platform_b import opened_phone
from workbook.simulation.phones import PhoneB
from workbook.simulation.world import INSTRUMENT_IDS

FIRST = INSTRUMENT_IDS[0]
GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
BOTH = pytest.mark.parametrize("variant", VARIANTS_B.values(), ids=list(VARIANTS_B))


def run(handler="reference", *, phone="app was opened", **settings):
    host = WalletApp(HANDLERS[handler], phone=opened_phone(phone), **settings)
    host.walk()
    return host


def found(host, rule):
    """What the checks say under this rule, but for what is only worth knowing."""
    return [finding.text for finding in check(host.trace) if finding.rule == rule and finding.level != "note"]


# ---------------------------------------------------------------- the two extensions


@pytest.mark.rule("X-PLIST-1")
def test_two_extensions_are_needed_with_these_identifiers():
    assert {name: one[POINT] for name, one in EXTENSIONS.items()} == {
        "extension": "com.<platform>.<kit>.issuer-provisioning",
        "authorization UI": "com.<platform>.<kit>.issuer-provisioning.authorization",
    }
    swapped = run(plists={"extension": plist("authorization UI")})
    assert swapped.state is State.NOT_LISTED
    assert found(swapped, "X-PLIST-1")
    assert found(run(), "X-PLIST-1") == []


@pytest.mark.rule("X-PLIST-2")
def test_the_identifier_stands_under_this_key_in_the_dictionary():
    assert POINT == "NSExtensionPointIdentifier" == B_LATER.facts.extension_point_key
    assert B_EARLIER.facts.extension_point_key == "NSExtension"
    assert set(plist("extension")) == {"NSExtension"}
    named_as_earlier = run(plists={"extension": {"NSExtension": EXTENSIONS["extension"][POINT]}})
    assert "X-PLIST-2" in found(named_as_earlier, "X-PLIST-1")[0]


@pytest.mark.rule("X-PLIST-3")
def test_the_principal_classes_have_these_names():
    assert PRINCIPAL == "NSExtensionPrincipalClass"
    assert [one[PRINCIPAL] for one in EXTENSIONS.values()] == [
        "$(PRODUCT_MODULE_NAME).ExtensionHandler",
        "$(PRODUCT_MODULE_NAME).AuthorizationProvider",
    ]
    other = {"NSExtension": plist("extension")["NSExtension"] | {PRINCIPAL: "$(PRODUCT_MODULE_NAME).Handler"}}
    assert "X-PLIST-3" in found(run(plists={"extension": other}), "X-PLIST-1")[0]


# ---------------------------------------------------------------- the classes that the app supplies


@pytest.mark.rule("X-HANDLER-1")
@BOTH
def test_a_new_instance_is_made_for_each_call_and_the_sdk_is_initialised_again_in_each(variant):
    made = []

    class Watched(ReferenceHandler):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    host = WalletApp(Watched, variant, phone=opened_phone())
    host.walk()
    assert len({id(one) for one in made}) == 3
    assert len(host.trace.select(m.ServiceMade)) == 3
    assert found(host, "X-HANDLER-1") == []
    assert "looks for self.service" in found(run("keeps its service in self", variant=variant), "X-HANDLER-1")[0]
    assert "keeps kept" in found(run("keeps its service in its class", variant=variant), "X-HANDLER-1")[0]


@pytest.mark.rule("X-AUTH-1")
@pytest.mark.parametrize(
    ("ui", "added"), [("lets the cardholder in", True), ("refuses", False), ("never reports", False), ("none", False)]
)
def test_authorization_provider_reports_through_its_completion_handler_whether_it_succeeded(ui, added):
    host = run(authorization=AUTHORIZATIONS[ui])
    assert (FIRST in host.phone.cards) is added
    assert bool(found(host, "X-AUTH-1")) is (ui in {"never reports", "none"})
    assert "completion_handler" in AuthorizationProvider.__annotations__


@pytest.mark.rule("X-AUTH-2")
@BOTH
@pytest.mark.parametrize("surface", SURFACES)
def test_the_wallet_authenticates_the_cardholder_before_the_card_is_provisioned(variant, surface):
    order = [m.Authenticate, m.Authorized, m.ExtensionProvisionCalled, m.RequestReturned]
    good = run(phone="with a watch", variant=variant, surface=surface)
    assert [type(record.message) for record in good.trace.select(*order)] == order
    refused = run(phone="with a watch", variant=variant, surface=surface, authorization=AUTHORIZATIONS["refuses"])
    assert [type(record.message) for record in refused.trace.select(*order)] == [m.Authenticate]


# ---------------------------------------------------------------- the SDK's operations


def parameters(function):
    return [*inspect.signature(function).parameters]


@pytest.mark.rule("X-INIT-1", "X-STATUS-1", "X-ENTRIES-1", "X-ENTRIES-2", "X-GEN-1", "X-DEL-1", "X-ART-1")
def test_the_operations_have_the_documents_names_and_parameters_in_snake_case():
    service = ExtensionProvisioningService
    assert parameters(service) == ["sdk_input", "sdk_inputs"]
    assert parameters(service.extension_status) == ["self", "requires_authentication"]
    assert parameters(service.entries_unavailable_extension_status) == []
    assert isinstance(vars(service)["entries_unavailable_extension_status"], staticmethod)
    assert parameters(service.pass_entries) == parameters(service.remote_pass_entries) == ["self", "with_delegate"]
    names = ["identifier", "configuration", "certificate_chain", "nonce", "nonce_signature", "delegate"]
    assert parameters(getattr(service, GENERATE)) == ["self", *names]
    assert parameters(ExtensionDelegate.provision) == ["self", "payment_instrument_id", "sdk_output"]
    assert len(parameters(ExtensionDelegate.card_art)) == 2
    assert {"status", "pass_entries", "remote_pass_entries", GENERATE} <= set(vars(ReferenceHandler))


@pytest.mark.rule("X-STATUS-1", "X-STATUS-2", "X-ENTRIES-1", "X-ENTRIES-2", "X-ART-1", "X-DEL-1")
def test_the_messages_say_what_the_document_says():
    assert {message: message.says for message in SAYS} == SAYS
    assert [field.name for field in fields(m.ExtensionProvisionCalled)] == ["payment_instrument_id", "sdk_output"]


SAYS = {
    m.CallStatus: "status()",
    m.CallPassEntries: "passEntries()",
    m.CallRemotePassEntries: "remotePassEntries()",
    m.EntriesAvailable: "extensionStatus",
    m.EntriesUnavailable: "entriesUnavailableExtensionStatus",
    m.SdkPassEntriesCalled: "passEntries(withDelegate)",
    m.SdkRemotePassEntriesCalled: "remotePassEntries(withDelegate)",
    m.CardArtForBrandAsked: "cardArt(forBrand:)",
    m.CardArtForIdAsked: "cardArt(paymentInstrumentId)",
    m.ExtensionProvisionCalled: "provision(paymentInstrumentId, sdkOutput)",
}


@pytest.mark.rule("X-INIT-1")
@BOTH
@pytest.mark.parametrize("count", [1, 3])
def test_the_service_is_initialised_with_one_or_with_several_sdk_inputs(variant, count):
    cards = INSTRUMENT_IDS[:count]
    host = WalletApp(variant=variant, phone=opened_phone(cards=cards), cards=cards)
    host.walk()
    assert [record.message.cards for record in host.trace.select(m.ServiceMade)] == [cards, cards, (FIRST,)]
    junk = PhoneB()
    junk.storage.save(FIRST, b"junk")
    broken = WalletApp(variant=variant, phone=junk)
    broken.open_list()
    assert "invalidSDKInput" in found(broken, "X-INIT-1")[0]


@pytest.mark.rule("X-STATUS-1")
@pytest.mark.parametrize("required", [True, False])
def test_requires_authentication_declares_that_the_ui_supplies_it(required):
    class Declares(ReferenceHandler):
        def status(self):
            service = ExtensionProvisioningService(sdk_inputs=list(self.storage.read_all().values()))
            return service.extension_status(requires_authentication=required)

    host = WalletApp(Declares, phone=opened_phone())
    host.walk()
    assert host.trace.select(m.ListIssuer)[0].message.requires_authentication is required
    assert bool(host.trace.select(m.CompletionHandlerCalled)) is required
    without = WalletApp(Declares, phone=opened_phone(), authorization=None)
    without.walk()
    assert (without.state is State.ADDED) is not required


@pytest.mark.rule("X-STATUS-2")
@BOTH
def test_when_no_service_can_be_initialised_status_says_unavailable(variant):
    good = run(phone="app was never opened", variant=variant)
    assert good.trace.select(m.EntriesUnavailable, kind=Kind.EVENT)
    assert found(good, "X-STATUS-2") == []
    wrong = run("never says unavailable", phone="app was never opened", variant=variant)
    assert "could initialise no service" in found(wrong, "X-STATUS-2")[0]


@pytest.mark.rule("X-CACHE-1")
@BOTH
def test_the_main_app_saves_the_sdk_input_and_the_extension_reads_it(variant):
    good = run(variant=variant)
    assert [record.message.found for record in good.trace.select(m.StorageRead)] == [3]
    assert good.state is State.ADDED
    for phone in ("app was never opened", "app and extension share no storage"):
        host = run(phone=phone, variant=variant)
        assert host.state is State.NOT_LISTED
        assert any("X-CACHE-1" in finding.todo for finding in check(host.trace))


@pytest.mark.rule("X-ENTRIES-1")
@BOTH
def test_pass_entries_returns_the_sdks_pass_entries(variant):
    good = run(variant=variant)
    assert len(good.trace.select(m.SdkPassEntriesCalled)) == 1
    assert found(good, "X-ENTRIES-1") == []
    for wrong in ("entries of its own", "pass_entries() calls remote_pass_entries()", "pass_entries() returns no list"):
        assert found(run(wrong, variant=variant), "X-ENTRIES-1")


@pytest.mark.rule("X-ENTRIES-2")
@BOTH
def test_remote_pass_entries_returns_the_sdks_remote_pass_entries(variant):
    on_watch = {"phone": "with a watch", "variant": variant, "surface": "watch"}
    good = run(**on_watch)
    assert len(good.trace.select(m.SdkRemotePassEntriesCalled)) == 1
    assert not good.trace.select(m.SdkPassEntriesCalled)
    assert found(good, "X-ENTRIES-2") == []
    (text,) = found(run("remote_pass_entries() calls pass_entries()", **on_watch), "X-ENTRIES-2")
    assert text == "remote_pass_entries() asks the SDK for the other device's entries."


@pytest.mark.rule("X-ART-1")
@pytest.mark.parametrize(("variant", "asked"), [(B_EARLIER, m.CardArtForBrandAsked), (B_LATER, m.CardArtForIdAsked)])
def test_card_art_is_asked_for_by_brand_or_by_id_and_shows_the_card(variant, asked):
    good = run(variant=variant)
    arts = good.trace.select(m.CardArtForBrandAsked, m.CardArtForIdAsked)
    assert {type(record.message) for record in arts} == {asked}
    assert all(isinstance(entry.card_art, CardArt) for entry in good.entries)
    assert found(good, "X-ART-1") == []
    for wrong in ("another card's art", "no card art"):
        assert len(found(run(wrong, variant=variant), "X-ART-1")) == 3


@pytest.mark.rule("X-DEL-1")
@BOTH
def test_the_delegate_posts_sdk_output_and_returns_the_responses_sdk_input_or_nil(variant):
    good = run(variant=variant)
    (asked,), (back,) = good.trace.select(m.ExtensionProvisionCalled), good.trace.select(m.DelegateReturned)
    (posted,) = [one for one in good.trace.select(m.ApiRequested) if one.message.method == "POST"]
    assert posted.message.sdk_output == asked.message.sdk_output
    assert b'"kind":"opc"' in back.message.sdk_input
    assert found(good, "X-DEL-1") == []
    for wrong in ("delegate returns nil", "delegate posts for another card"):
        assert found(run(wrong, variant=variant), "X-DEL-1")


@pytest.mark.rule("X-GEN-1")
@BOTH
def test_the_handlers_method_returns_what_the_sdks_returns_or_nil_when_it_throws(variant):
    good = run(variant=variant)
    assert good.trace.select(m.SdkGenerateCalled)[0].message.identifier == FIRST
    assert found(good, "X-GEN-1") == []
    nil = run("delegate returns nil", variant=variant)
    assert nil.trace.select(m.SdkThrew)
    assert nil.trace.select(m.NoRequest, kind=Kind.EVENT)
    for wrong in ("lets the SDK throw", "another nonce", "changing identifiers"):
        assert found(run(wrong, variant=variant), "X-GEN-1")


@pytest.mark.rule("X-FLOW-1")
@BOTH
@pytest.mark.parametrize("surface", SURFACES)
def test_the_order_of_the_extension_flow(variant, surface):
    order = [
        m.CallStatus,
        m.CallPassEntries if surface == "phone" else m.CallRemotePassEntries,
        m.ExtensionProvisionCalled,
        m.RequestReturned,
    ]
    good = run(phone="with a watch", variant=variant, surface=surface)
    assert [type(record.message) for record in good.trace.select(*order)] == order
    assert found(good, "X-FLOW-1") == []
    wrong = run("request of its own", phone="with a watch", variant=variant, surface=surface)
    assert "the delegate had provisioned nothing" in found(wrong, "X-FLOW-1")[0]
    assert wrong.state is State.NOT_ADDED


@pytest.mark.rule("API-12")
@BOTH
def test_one_get_is_made_for_each_instrument_and_each_has_its_own_sdk_input(variant):
    good = run(variant=variant)
    gets = [
        one.message.payment_instrument_id for one in good.trace.select(m.ApiRequested) if one.message.method == "GET"
    ]
    assert gets == [*INSTRUMENT_IDS, FIRST]
    answers = {one.message.sdk_input for one in good.trace.select(m.ApiAnswered)}
    assert len(answers) == 5
    assert found(good, "API-12") == []
    assert found(run("one GET for all cards", variant=variant), "API-12")


@pytest.mark.rule("FLOW-4")
@BOTH
def test_provisioning_starts_inside_the_wallet_app_and_ends_there(variant):
    scene = run(variant=variant)
    trace = scene.trace
    assert (scene.state, scene.phone.cards) == (State.ADDED, {FIRST})
    first, last = trace[0].message, trace[-1].message
    assert (first.sender, first.receiver) == (m.Actor.CARDHOLDER, m.Actor.WALLET_APP)
    assert (last.sender, last.receiver) == (m.Actor.WALLET_APP, m.Actor.CARDHOLDER)
    assert m.Actor.APP not in {end for one in trace for end in (one.message.sender, one.message.receiver)}
