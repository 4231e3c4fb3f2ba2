"""The reference handler: what it does on every phone, alone and when something fails."""

from dataclasses import replace

import pytest
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.api.protocol import ActivationData
from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.trace import Kind
from workbook.flows.variants import SURFACES, VARIANTS_B
from workbook.lessons.session import session
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.handler import ExtensionBackEnd, ExtensionProvisioningService, Library, ReferenceHandler, Storage
from workbook.play.own_code import BACK_END_WAIT
from workbook.play.platform_b import opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import WALLETS, LatenciesB, PhoneB
from workbook.simulation.sdks import Call, under_way
from workbook.simulation.wallet import Watch
from workbook.simulation.world import INSTRUMENT_IDS, Instrument, World

SESSION = session()

FIRST, SECOND, THIRD = INSTRUMENT_IDS
WALLET = {"configuration": None, "certificate_chain": [b"leaf"], "nonce": b"nonce", "nonce_signature": b"signature"}


def made(phone=None, relay=None, cards=INSTRUMENT_IDS, gets=()):
    phone = phone or opened_phone()
    return ReferenceHandler(
        Storage(phone), ExtensionBackEnd(relay or simulated_back_end(), phone, gets), Library(phone), cards
    )


def generate(handler, identifier=FIRST):
    return handler.generate_add_payment_pass_request_for_pass_entry_with_identifier(identifier, **WALLET)


@pytest.mark.rule("X-FLOW-1", "X-AUTH-2")
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("variant", VARIANTS_B)
def test_it_adds_a_card_on_either_surface_in_either_variant_without_a_finding(variant, surface):
    scene = SESSION.wallet.play(phone="with a watch", variant=variant, surface=surface)
    assert scene.findings == []
    assert (scene.state, len(scene.offered)) == ("added", 3)
    cards = scene.phone.cards if surface == "phone" else scene.phone.watch.cards
    assert cards == {FIRST}


NOT_ITS_FAULT = {
    "app was never opened": ("app not listed", ["X-STATUS-2", "X-INIT-1"]),
    "app and extension share no storage": ("app not listed", ["X-CACHE-1", "X-STATUS-2", "X-INIT-1"]),
    "extension lacks the entitlement": ("app not listed", ["X-PLIST-1"]),
    "authorization UI lacks the entitlement": ("not authenticated", ["X-AUTH-1"]),
    "slow network": ("no card offered", ["API-9"] * 3),
    "back end takes 25 s": ("not added", ["API-9", "X-DEL-1", "X-GEN-1"]),
    "first card is there already": ("added", []),
    "with a watch": ("added", []),
    "app was opened": ("added", []),
}


@pytest.mark.rule("FLOW-4", "X-STATUS-2", "X-CACHE-1", "X-PLIST-1", "X-GEN-1")
@rows("phone", WALLETS)
def test_on_every_phone_it_ends_as_it_has_to_and_whatever_is_wrong_is_told(phone):
    scene = SESSION.wallet.play(phone=phone)
    assert (scene.state, [finding.rule for finding in scene.findings]) == NOT_ITS_FAULT[phone]
    assert not any("failed" in finding.text for finding in scene.findings)


def test_every_phone_has_its_end_written_down():
    assert {*NOT_ITS_FAULT} == {*WALLETS}


@pytest.mark.rule("X-STATUS-3", "X-CACHE-1")
def test_its_status_reads_the_storage_and_makes_no_network_call():
    call = Call(opened_phone(), tell=lambda _at, event: told.append(type(event)))
    told = []
    with under_way(call):
        status = made(call.phone).status()
    assert told == [m.StorageRead, m.ServiceMade]
    assert status.requires_authentication
    assert call.clock.now() < 0.1


@pytest.mark.rule("X-STATUS-2")
@pytest.mark.parametrize("junk", [b"junk", b"\xff" * 5])
def test_its_status_says_unavailable_when_what_is_saved_cannot_be_used(junk):
    phone = PhoneB()
    phone.storage.save(FIRST, junk)
    assert not made(phone).status().pass_entries_available


@pytest.mark.rule("X-ENTRIES-1", "X-ENTRIES-2", "API-12")
def test_it_offers_on_each_device_what_that_one_lacks():
    handler = made(opened_phone("first card is there already"))
    phone = PhoneB(watch=Watch({SECOND}), cards={FIRST})
    with under_way(Call(phone)):
        handler = made(phone)
        assert [entry.identifier for entry in handler.pass_entries()] == [SECOND, THIRD]
        assert [entry.identifier for entry in handler.remote_pass_entries()] == [FIRST, THIRD]


@pytest.mark.rule("X-ENTRIES-1")
def test_with_every_card_there_it_offers_none_and_asks_nobody():
    told = []
    phone = PhoneB(cards=set(INSTRUMENT_IDS))
    with under_way(Call(phone, tell=lambda _at, event: told.append(event))):
        assert made(phone).pass_entries() == []
    assert told == []


def test_a_card_whose_get_fails_is_left_out_and_the_others_are_offered():
    handler = made(gets=[0.1, 16.0, 0.1])
    assert [entry.identifier for entry in handler.pass_entries()] == [FIRST, THIRD]


class Odd:
    """An API whose sdkInput is no base64."""

    def get(self, _id):
        return ActivationData(SdkInput("not base64!"))

    post = get


class HalfOdd(BackEnd):
    """The GETs are good and the POST's sdkInput is no base64."""

    def exchange(self, payment_instrument_id, sdk_output=None, **more):
        exchange = super().exchange(payment_instrument_id, sdk_output, **more)
        if sdk_output is not None:
            return replace(exchange, outcome=ActivationData(SdkInput("not base64!")))
        return exchange


@pytest.mark.rule("X-GEN-1", "X-DEL-1", "X-ENTRIES-1")
def test_it_never_raises_whatever_the_back_end_does():
    assert made(relay=BackEnd(Odd())).pass_entries() == []
    for relay in (
        BackEnd(Odd()),
        HalfOdd(simulated_back_end().api),
        simulated_back_end(World(instruments={})),
        simulated_back_end(replace(World(), credentials={})),
    ):
        assert generate(made(relay=relay)) is None


@pytest.mark.rule("X-ENTRIES-1")
def test_one_sdk_input_that_the_sdk_refuses_does_not_spoil_the_list():
    unsupported = Instrument(SECOND, supported_wallets=("wallet-a",))
    spoilt = simulated_back_end(World(instruments={FIRST: Instrument(FIRST), SECOND: unsupported}))
    assert [entry.identifier for entry in made(relay=spoilt).pass_entries()] == [FIRST]
    alone = simulated_back_end(World(instruments={SECOND: unsupported}))
    assert made(relay=alone).pass_entries() == []


@pytest.mark.rule("X-GEN-1")
@pytest.mark.parametrize("identifier", ["PIUNKNOWN", "..", "", "a/b", "x" * 10_000])
def test_for_an_identifier_that_nobody_knows_it_returns_nil(identifier):
    assert generate(made(), identifier) is None


@pytest.mark.rule("X-DEL-1")
def test_its_delegate_returns_nil_when_the_post_gives_none():
    assert made().provision(FIRST, b"junk") is None


@pytest.mark.rule("X-ENTRIES-3")
def test_its_entries_are_in_time_however_slow_the_network_is():
    for seconds in (0.0, BACK_END_WAIT - 0.1, BACK_END_WAIT + 0.1, 100.0):
        phone = opened_phone()
        phone.latencies = LatenciesB(get=seconds)
        host = WalletApp(phone=phone)
        host.open_list()
        host.choose_app()
        assert not host.trace.select(m.BudgetSpent)
        assert host.state.value == ("cards offered" if seconds < BACK_END_WAIT else "no card offered")
        assert bool(check(host.trace)) is (seconds > BACK_END_WAIT)


@pytest.mark.rule("X-GEN-1")
@pytest.mark.parametrize("error", [ConnectionError("down"), ValueError("odd")])
def test_it_returns_nil_whatever_its_delegate_raises_and_the_trace_says_what_that_was(error):
    class Raises(ReferenceHandler):
        def provision(self, payment_instrument_id, sdk_output):
            raise error

    wallet = WalletApp(Raises, phone=opened_phone())
    wallet.walk()
    (threw,) = wallet.trace.select(m.SdkThrew)
    assert threw.message.why.startswith(f"the delegate's provision raised {type(error).__name__};")
    assert wallet.trace.select(m.NoRequest, kind=Kind.EVENT)
    assert not wallet.trace.select(m.HandlerRaised)


@pytest.mark.rule("X-ENTRIES-1", "X-STATUS-1")
@pytest.mark.parametrize("operation", ["status", "pass_entries"])
def test_what_a_class_of_the_bare_handler_leaves_out_is_shown(operation):
    def status(self):
        return ExtensionProvisioningService(sdk_inputs=self.storage.read_all().values()).extension_status(
            requires_authentication=True
        )

    own = {} if operation == "status" else {"status": status}
    found = session().wallet.play(type("Own", (ReferenceHandler.Bare,), own)).findings
    assert [finding.text for finding in found] == [f"{operation}() failed: AttributeError: {operation}."]
