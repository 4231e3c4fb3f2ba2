"""Every way a run from the wallet can end, as a whole script: one row is one flow, from the first event to the last.

A script lists each record's message in order; `!` stands before what was refused. A row is: who plays on which phone,
what happened, and the final state. Whatever is written in small letters below is a part of a script.
"""

import pytest
from rows import rows

from workbook.flows import messages as m
from workbook.flows.extension import State
from workbook.flows.trace import Kind
from workbook.flows.variants import SURFACES, VARIANTS_B
from workbook.play.handler import ReferenceHandler
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.platform_b import opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.world import INSTRUMENT_IDS

FIRST = INSTRUMENT_IDS[0]
GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"


def script(trace):
    return " ".join(f"{'!' if record.kind is Kind.REFUSED else ''}{record.name}" for record in trace)


def play(handler="reference", phone="app was opened", surface="phone", variant="later", authorization=None):
    kind = HANDLERS[handler] if isinstance(handler, str) else handler
    host = WalletApp(
        kind,
        VARIANTS_B[variant],
        surface=surface,
        phone=opened_phone(phone, [FIRST]),
        authorization=AUTHORIZATIONS[authorization or "lets the cardholder in"],
        cards=[FIRST],
    )
    return host, script(host.walk())


got = "BackEndAsked ApiRequested ApiAnswered "
asked = "IssuerListOpened CallStatus StartStatusBudget "
read = asked + "StorageRead ServiceMade "
listed = read + "EntriesAvailable StopBudget ListIssuer "
chosen = listed + "IssuerChosen CallPassEntries StartPassEntriesBudget "
art = "CardArtForIdAsked CardArtReturned "
sdk_asked = chosen + got + "ServiceMade SdkPassEntriesCalled "
offered = sdk_asked + art + "EntriesReturned StopBudget ShowEntries "
picked = offered + "EntryChosen Authenticate "
ui = picked + "AuthorizationUiShown "
let_in = ui + "CompletionHandlerCalled Authorized CallGenerate StartGenerateBudget "
generating = let_in + got + "ServiceMade SdkGenerateCalled "
provisioning = generating + "ExtensionProvisionCalled "
posted = provisioning + got + "DelegateReturned "
returned = posted + "RequestReturned StopBudget AddPass "
not_listed = "StopBudget HideIssuer"
no_entries = "StopBudget ShowNoEntries"
not_added = "StopBudget ShowNotAdded"
unavailable = "StorageRead ServiceNotMade EntriesUnavailable "

SCRIPTS = {
    "added": ({}, returned + "PassAdded ShowCardAdded", "added"),
    "status(): no cache": ({"phone": "app was never opened"}, asked + unavailable + not_listed, "app not listed"),
    "status(): no shared storage": (
        {"phone": "app and extension share no storage"}, asked + unavailable + not_listed, "app not listed",
    ),
    "status(): not found": (
        {"phone": "extension lacks the entitlement"}, asked + "ExtensionNotFound " + not_listed, "app not listed",
    ),
    "status(): raises": (
        {"handler": "status() fails without a cache", "phone": "app was never opened"},
        asked + "StorageRead ServiceNotMade HandlerRaised " + not_listed, "app not listed",
    ),
    "status(): late": (
        {"handler": "network call in status()"},
        asked + "BackEndAsked ApiRequested BudgetSpent HideIssuer ApiAnswered ServiceMade EntriesAvailable IgnoreLate",
        "app not listed",
    ),
    "status(): promises too much": (
        {"handler": "never says unavailable", "phone": "app was never opened"},
        returned.replace(
            "StorageRead ServiceMade", "StorageRead ServiceNotMade", 1
        ) + "PassAdded ShowCardAdded",
        "added",
    ),
    "entries: none": (
        {"phone": "first card is there already"}, chosen + "NoEntries " + no_entries, "no card offered",
    ),
    "entries: GET given up": (
        {"phone": "slow network"},
        chosen + "BackEndAsked ApiRequested ApiFailed NoEntries " + no_entries, "no card offered",
    ),
    "entries: no list": (
        {"handler": "pass_entries() returns no list"}, chosen + "HandlerRaised " + no_entries, "no card offered",
    ),
    "entries: kept in self": (
        {"handler": "keeps its service in self"},
        read + "HandlerKept EntriesAvailable StopBudget ListIssuer IssuerChosen CallPassEntries StartPassEntriesBudget "
        "HandlerRaised " + no_entries,
        "no card offered",
    ),
    "entries: the watch's": (
        {"handler": "pass_entries() calls remote_pass_entries()"},
        chosen + got + "ServiceMade SdkRemotePassEntriesCalled NoEntries " + no_entries, "no card offered",
    ),
    "entries: there already": (
        {"handler": "offers cards that are there", "phone": "first card is there already"},
        offered + "AlreadyThere EntryChosen Authenticate AuthorizationUiShown CompletionHandlerCalled Authorized "
        "CallGenerate StartGenerateBudget " + got + "ServiceMade SdkGenerateCalled ExtensionProvisionCalled " + got
        + "DelegateReturned RequestReturned StopBudget AddPass PassRefused ShowNotAdded",
        "not added",
    ),
    "ui: refuses": (
        {"authorization": "refuses"},
        ui + "CompletionHandlerCalled AuthorizationCanceled ShowNotAdded", "not authenticated",
    ),
    "ui: never reports": (
        {"authorization": "never reports"}, ui + "AuthorizationMissing ShowNotAdded", "not authenticated",
    ),
    "ui: none": ({"authorization": "none"}, picked + "AuthorizationMissing ShowNotAdded", "not authenticated"),
    "ui: not found": (
        {"phone": "authorization UI lacks the entitlement"},
        picked + "AuthorizationMissing ShowNotAdded", "not authenticated",
    ),
    "ui: reports twice": (
        {"authorization": "reports twice"},
        returned.replace("CompletionHandlerCalled", "CompletionHandlerCalled CompletionHandlerCalled")
        + "PassAdded ShowCardAdded",
        "added",
    ),
    "request: nil from the delegate": (
        {"handler": "delegate returns nil"},
        provisioning + "DelegateReturned SdkThrew NoRequest " + not_added, "not added",
    ),
    "request: text from the delegate": (
        {"handler": "delegate returns text"},
        provisioning + "DelegateReturned SdkThrew NoRequest " + not_added, "not added",
    ),
    "request: nonce as text": (
        {"handler": "nonce as text"}, generating + "SdkThrew NoRequest " + not_added, "not added",
    ),
    "request: another nonce": (
        {"handler": "another nonce"}, returned + "PassRefused ShowNotAdded", "not added",
    ),
    "request: of its own": (
        {"handler": "request of its own"}, let_in + "RequestReturned " + not_added, "not added",
    ),
    "request: given up": (
        {"phone": "back end takes 25 s"},
        provisioning + "BackEndAsked ApiRequested ApiFailed DelegateReturned SdkThrew NoRequest " + not_added,
        "not added",
    ),
    "request: late": (
        {"handler": "POST without a limit", "phone": "back end takes 25 s"},
        provisioning + "BackEndAsked ApiRequested BudgetSpent ShowNotAdded ApiAnswered DelegateReturned "
        "RequestReturned IgnoreLate",
        "not added",
    ),
}  # fmt: skip
"""On the phone, in the later variant."""


def for_this(told, surface, variant):
    """The same script for another surface and another variant: they differ in these words alone."""
    if variant == "earlier":
        told = told.replace("CardArtForId", "CardArtForBrand")
    if surface == "watch":
        told = told.replace("CallPassEntries StartPassEntries", "CallRemotePassEntries StartRemotePassEntries")
        told = told.replace("SdkPassEntriesCalled", "SdkRemotePassEntriesCalled")
    return told


@pytest.mark.rule("X-FLOW-1", "X-STATUS-1", "X-STATUS-2", "X-STATUS-3", "X-ENTRIES-1", "X-ENTRIES-3", "X-GEN-1")
@pytest.mark.rule("X-AUTH-1", "X-AUTH-2", "X-CACHE-1", "X-DEL-1", "X-HANDLER-1", "FLOW-4")
@rows("variant", VARIANTS_B)
@rows("name", SCRIPTS)
def test_on_the_phone(name, variant):
    stage, told, state = SCRIPTS[name]
    host, played = play(variant=variant, **stage)
    assert (played, str(host.state)) == (for_this(told, "phone", variant), state)


ALIKE = ("added", "status(): late", "ui: refuses", "ui: never reports", "request: nil from the delegate",
         "request: another nonce", "request: of its own")  # fmt: skip


@pytest.mark.rule("X-ENTRIES-2", "X-FLOW-1")
@rows("variant", VARIANTS_B)
@rows("name", ALIKE)
def test_on_the_watch_it_goes_the_same_way_with_the_watchs_entries(name, variant):
    stage, told, state = SCRIPTS[name]
    host, played = play(**{**stage, "phone": "with a watch"}, surface="watch", variant=variant)
    assert (played, str(host.state)) == (for_this(told, "watch", variant), state)


def test_every_place_where_the_wallet_rests_with_nothing_to_do_is_an_end_of_some_script():
    ends = {state for _, _, state in SCRIPTS.values()}
    assert ends == {str(state) for state in (State.NOT_LISTED, State.EMPTY, State.NOT_AUTHENTICATED, State.ADDED,
                                             State.NOT_ADDED)}  # fmt: skip


def test_no_script_has_anything_refused():
    assert not any("!" in told for _, told, _ in SCRIPTS.values())


def slow(call, seconds=30.0, *, then=None):
    """A handler that answers this call after so many seconds, by default with what the reference answers."""

    def method(self, *given, **named):
        from workbook.simulation.sdks import current  # as the stand-ins do

        current().clock.sleep(seconds)
        return then(self) if then else getattr(ReferenceHandler, call)(self, *given, **named)

    return type("Slow", (ReferenceHandler,), {call: method})


def fail(_self):
    raise ValueError


def unavailable_status(self):
    from workbook.play.handler import ExtensionProvisioningService  # used here alone

    return ExtensionProvisioningService.entries_unavailable_extension_status()


LATE = {
    "status: available": (slow("status"), m.EntriesAvailable, State.NOT_LISTED),
    "status: unavailable": (slow("status", then=unavailable_status), m.EntriesUnavailable, State.NOT_LISTED),
    "status: raises": (slow("status", then=fail), m.HandlerRaised, State.NOT_LISTED),
    "entries": (slow("pass_entries"), m.EntriesReturned, State.EMPTY),
    "entries: none": (slow("pass_entries", then=lambda _self: []), m.NoEntries, State.EMPTY),
    "entries: raises": (slow("pass_entries", then=fail), m.HandlerRaised, State.EMPTY),
    "request": (slow(GENERATE), m.RequestReturned, State.NOT_ADDED),
    "request: nil": (slow(GENERATE, then=lambda _self: None), m.NoRequest, State.NOT_ADDED),
    "request: raises": (slow(GENERATE, then=fail), m.HandlerRaised, State.NOT_ADDED),
}


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@rows("name", LATE)
def test_every_late_answer_is_ignored_and_the_phone_stays_as_it_was(name):
    handler, answer, state = LATE[name]
    host, played = play(handler)
    *_, last = host.trace.select(answer, kind=Kind.EVENT)
    assert (last.before, last.after, host.state) == (state, state, state)
    assert played.endswith(f"{answer.__name__} IgnoreLate")
    assert "!" not in played
    assert host.phone.cards == set()


def provision_in_entries(self):
    wallet = {"configuration": None, "certificate_chain": [b"c"], "nonce": b"n", "nonce_signature": b"s"}
    getattr(ReferenceHandler, GENERATE)(self, self.cards[0], **wallet)
    return ReferenceHandler.pass_entries(self)


def twice(self, identifier, **wallet):
    getattr(ReferenceHandler, GENERATE)(self, identifier, **wallet)
    return getattr(ReferenceHandler, GENERATE)(self, identifier, **wallet)


def entries_in_status(self):
    ReferenceHandler.pass_entries(self)
    return ReferenceHandler.status(self)


OUT_OF_TURN = {
    "provisioning while the entries are asked for": ("pass_entries", provision_in_entries, m.ExtensionProvisionCalled),
    "provisioning twice for one request": (GENERATE, twice, m.ExtensionProvisionCalled),
    "card art while the status is asked for": ("status", entries_in_status, m.CardArtForIdAsked),
}


@pytest.mark.rule("X-FLOW-1")
@pytest.mark.parametrize("name", OUT_OF_TURN)
def test_what_comes_out_of_turn_is_refused_and_changes_nothing(name):
    call, method, event = OUT_OF_TURN[name]
    host, _ = play(type("Mine", (ReferenceHandler,), {call: method}))
    refused = host.trace.select(kind=Kind.REFUSED)
    assert {type(record.message) for record in refused} == {event}
    assert all(record.before == record.after for record in refused)


@pytest.mark.rule("X-HANDLER-1")
@pytest.mark.parametrize("surface", SURFACES)
def test_after_every_end_the_list_can_be_opened_again(surface):
    for stage, _, _ in SCRIPTS.values():
        host, played = play(**{"phone": "with a watch", **stage}, surface=surface)
        again = script(host.open_list())
        assert again.startswith(played)
        assert again.removeprefix(played).split()[:2] == ["IssuerListOpened", "CallStatus"]
