"""Handlers that are wrong in one way each: the wallet makes something of it, and a finding names the mistake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.flows.variants import VARIANTS_B
from workbook.lessons.session import session
from workbook.play import mistakes
from workbook.play.handler import AuthorizationProvider, ReferenceHandler
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS, ChangingIdentifiers, CrossesCards
from workbook.play.platform_b import opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.world import INSTRUMENT_IDS

SESSION = session()

FIRST, SECOND, THIRD = INSTRUMENT_IDS
ON_WATCH = {"phone": "with a watch", "surface": "watch"}

MISTAKES = {
    # the stage where it shows, how it ends there, the finding that names it: level, rule, words
    "network call in status()": ({}, "app not listed", "fail X-STATUS-3", "status() makes 1 network call."),
    "status() fails without a cache": (
        {"phone": "app was never opened"}, "app not listed", "fail X-STATUS-1", "status() failed: SdkError: emptySDK",
    ),
    "never says unavailable": (
        {"phone": "app was never opened"}, "added", "fail X-STATUS-2", "though it could initialise no service",
    ),
    "keeps its service in self": ({}, "no card offered", "fail X-HANDLER-1", "looks for self.service, which an"),
    "keeps its service in its class": ({}, "added", "warn X-HANDLER-1", "The handler's class keeps kept"),
    "remote_pass_entries() calls pass_entries()": (
        ON_WATCH, "added", "fail X-ENTRIES-2", "remote_pass_entries() asks the SDK for the other device's entries",
    ),
    "pass_entries() calls remote_pass_entries()": (
        {}, "no card offered", "fail X-ENTRIES-1", "pass_entries() asks the SDK for the other device's entries",
    ),
    "entries of its own": ({}, "added", "fail X-ENTRIES-1", "pass_entries() returns entries of its own"),
    "offers cards that are there": (
        {"phone": "first card is there already"}, "not added", "fail X-ENTRIES-1", "a card that is there already",
    ),
    "changing identifiers": ({}, "not added", "fail X-GEN-1", "another identifier than the SDK gave it"),
    "one identifier for all": ({}, "not added", "fail X-GEN-1", "Two pass entries have the same identifier"),
    "one GET for all cards": ({}, "added", "fail API-12", "sdkInput was given more than once"),
    "GETs one after the other": (
        {"phone": "slow network"}, "no card offered", "fail X-ENTRIES-3", "pass_entries() took more than 20 s",
    ),
    "pass_entries() returns no list": ({}, "no card offered", "fail X-ENTRIES-1", "it returned NoneType"),
    "another card's art": ({}, "added", "fail X-ART-1", "it shows another card"),
    "no card art": ({}, "added", "fail X-ART-1", "it is nil, not an image"),
    "delegate returns nil": ({}, "not added", "fail X-DEL-1", "The delegate's provision returned nil"),
    "delegate returns text": ({}, "not added", "fail API-8", "returned text where platform B takes bytes"),
    "delegate posts for another card": ({}, "not added", "fail X-DEL-1", "posts for another payment instrument"),
    "POST without a limit": (
        {"phone": "back end takes 25 s"}, "not added", "fail X-GEN-1", "the request's generation took more than 20 s",
    ),
    "lets the SDK throw": ({}, "not added", "fail X-GEN-1", "the request's generation failed: SdkError"),
    "request of its own": ({}, "not added", "fail X-FLOW-1", "the delegate had provisioned nothing"),
    "another nonce": ({}, "not added", "fail X-GEN-1", "was made with another nonce than the wallet's"),
    "nonce as text": ({}, "not added", "warn X-GEN-1", "certificates, nonce and signature must be bytes"),
    "another signature": ({}, "not added", "fail X-GEN-1", "with another nonce signature than the wallet's"),
    "delegate in the app's order": ({}, "not added", "fail X-DEL-1", "in the order of the app's delegate"),
}  # fmt: skip
"""What each mistake comes to, in both variants."""


@pytest.mark.rule("X-STATUS-1", "X-STATUS-2", "X-STATUS-3", "X-HANDLER-1", "X-ENTRIES-1", "X-ENTRIES-2", "X-ENTRIES-3")
@pytest.mark.rule("X-ART-1", "X-DEL-1", "X-GEN-1", "X-FLOW-1", "API-12", "API-8")
@rows("variant", VARIANTS_B)
@rows("name", MISTAKES)
def test_a_mistake_leads_to_a_finding_that_names_it(name, variant):
    stage, ended, graded, words = MISTAKES[name]
    scene = SESSION.wallet.play(name, variant=variant, **stage)
    assert scene.state == ended
    assert any(f"{one.level} {one.rule}" == graded and words in one.text for one in scene.findings), scene.findings


@rows("name", MISTAKES)
def test_on_the_same_stage_the_reference_does_not_make_that_mistake(name):
    stage, _ended, graded, words = MISTAKES[name]
    found = SESSION.wallet.play(**stage).findings
    assert not any(f"{one.level} {one.rule}" == graded and words in one.text for one in found)


def test_every_handler_has_its_mistake_written_down():
    assert [*HANDLERS] == ["reference", *MISTAKES]
    assert HANDLERS["reference"] is ReferenceHandler
    mine = {one for one in vars(mistakes).values() if isinstance(one, type) and one.__module__ == mistakes.__name__}
    mine -= {mistakes.ChangesWhatTheWalletGave}  # a base
    assert {*HANDLERS.values(), *AUTHORIZATIONS.values()} - {ReferenceHandler, AuthorizationProvider, None} == mine


@given(
    st.sampled_from([*HANDLERS]),
    st.lists(st.sampled_from([*INSTRUMENT_IDS, "PIUNKNOWN"]), max_size=4),
    st.sampled_from([{}, ON_WATCH, {"phone": "app was never opened"}]),
)
def test_with_any_cards_on_any_surface_a_run_comes_to_an_end(name, cards, stage):
    scene = SESSION.wallet.play(name, cards=cards, **stage)
    assert scene.state in {"app not listed", "no card offered", "added", "not added"}
    assert "StopIteration" not in scene.trace.to_jsonl()


@pytest.mark.rule("X-GEN-1")
def test_numbered_entries_change_their_identifiers_when_a_card_before_them_is_added():
    host = WalletApp(ChangingIdentifiers, phone=opened_phone())
    host.open_list()
    host.choose_app()
    before = {entry.payment_instrument_id: entry.identifier for entry in host.entries}
    host.phone.add(FIRST, "phone")
    host.choose_app()
    after = {entry.payment_instrument_id: entry.identifier for entry in host.entries}
    assert (before[SECOND], after[SECOND], after[THIRD]) == ("card-2", "card-1", "card-2")
    from workbook.checks import check  # used here alone

    assert any("another identifier than last time" in finding.text for finding in check(host.trace))


@pytest.mark.rule("X-DEL-1")
def test_where_there_is_one_card_only_none_can_be_crossed():
    assert SESSION.wallet.play(CrossesCards, cards=[SECOND]).state == "added"


UIS = {
    "lets the cardholder in": ("added", []),
    "refuses": ("not authenticated", ["note X-AUTH-1"]),
    "never reports": ("not authenticated", ["fail X-AUTH-1"]),
    "reports twice": ("added", ["warn X-AUTH-1"]),
    "none": ("not authenticated", ["fail X-AUTH-1"]),
}


@pytest.mark.rule("X-AUTH-1", "X-AUTH-2")
@rows("surface", ["phone", "watch"])
@rows("name", AUTHORIZATIONS)
def test_each_authorization_ui_where_the_status_requires_one(name, surface):
    scene = SESSION.wallet.play(phone="with a watch", authorization=name, surface=surface)
    assert (scene.state, [f"{one.level} {one.rule}" for one in scene.findings]) == UIS[name]


def test_a_mistake_that_needs_another_phone_or_surface_is_shown_there():
    assert {name: stage for name, (stage, *_told) in MISTAKES.items() if stage} == mistakes.SHOWS_ON
