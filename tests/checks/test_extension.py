"""Each check of the wallet extension, proven twice: on a trace where all is well, and on one broken this way."""

import inspect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from vocabulary import sample

from workbook.api.opaque import SdkOutput
from workbook.api.protocol import ActivationData
from workbook.base.rules import rule
from workbook.checks import Symptom, check, extension
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.lessons.session import session
from workbook.play.handler import PassEntry, ReferenceHandler
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.simulation.phones import WALLETS
from workbook.simulation.world import INSTRUMENT_IDS

SESSION = session()

ID, OTHER = INSTRUMENT_IDS[:2]
GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
SYMPTOMS = [one for one in extension.EXTENSION_CHECKS if isinstance(one, Symptom)]
BY_NAME = {one.__name__: one for one in extension.EXTENSION_CHECKS if one not in SYMPTOMS}
SLIPS = ("AttributeError", "NameError", "TypeError", "it returned")


def trace(*steps):
    """A trace of messages a second apart, of the kind that their class has; (kind, message) where it is another."""
    made = Trace()
    for at, step in enumerate(steps):
        kind, message = step if isinstance(step, tuple) else (None, step)
        known = Kind.COMMAND if isinstance(message, m.Command) else Kind.EVENT
        made.append(Record(float(at), kind or known, message, "there", "there", message.rules))
    return made


def entry(card=ID, identifier=None):
    return PassEntry(identifier or card, "a card", None, card)


def returned(*given):
    return m.EntriesReturned(given)


def generated(*inside, answer=None):
    return trace(m.CallGenerate(ID), *inside, answer or m.RequestReturned(None))


STATUS, ENTRIES, REMOTE = m.CallStatus(), m.CallPassEntries(), m.CallRemotePassEntries()
AVAILABLE, MADE = m.EntriesAvailable(requires_authentication=True), m.ServiceMade((ID,))
NOT_MADE = m.ServiceNotMade("emptySDKInputs", "nothing")
PROVISION = m.ExtensionProvisionCalled(ID, SdkOutput("b3V0"))
GET, POST, POST_OTHER = m.BackEndAsked("GET", ID), m.BackEndAsked("POST", ID), m.BackEndAsked("POST", OTHER)
LEFT, SHELF = m.HandlerKept("the handler", ("service",)), m.HandlerKept("its class", ("shelf",))
THREW, NOTHING = m.SdkThrew("invalidSDKInput", "why"), m.DelegateReturned(None)
ANSWERED = m.ApiAnswered(200, ActivationData("data"))
YES, ASK = m.CompletionHandlerCalled(succeeded=True), m.Authenticate(ID)


def missing(name):
    return m.HandlerRaised("pass_entries", f"AttributeError: {name}")


def symptoms(made):
    """What the checks of one row find."""
    return [finding for row in SYMPTOMS for finding in row(made)]


SWAPPED = m.ArgumentsSwapped()
CASES_OF = {
    "swapped_arguments": [(generated(m.DelegateReturned(b"x")), generated(SWAPPED), ["X-DEL-1 fail you"])],
    "cardholder_out_of_turn": [
        (trace(m.IssuerChosen()), trace((Kind.REFUSED, m.IssuerChosen())), ["X-FLOW-1 warn you"]),
        (trace(m.EntryChosen(ID)), trace((Kind.REFUSED, m.EntryChosen(ID))), ["X-FLOW-1 warn you"]),
        (trace(m.IssuerListOpened()), trace((Kind.REFUSED, m.IssuerListOpened())), ["X-FLOW-1 warn you"]),
    ],
    # check, good trace, broken trace, the findings of the broken one: rule, level, owner
    "services_not_made": [
        (trace(MADE), trace(NOT_MADE), ["X-INIT-1 note you"]),
        (trace(MADE), trace(m.ServiceNotMade("invalidSDKInput", "text")), ["X-INIT-1 fail you"]),
        (trace(MADE), trace(m.ServiceNotMade("walletNotSupported", "no")), ["X-INIT-1 warn operator"]),
    ],
    "status_without_a_service": [
        (trace(STATUS, MADE, AVAILABLE), trace(STATUS, AVAILABLE), ["X-HANDLER-1 fail you"]),
        (trace(STATUS, NOT_MADE, m.EntriesUnavailable()), trace(STATUS, NOT_MADE, AVAILABLE), ["X-STATUS-2 fail you"]),
        (trace(STATUS, m.HandlerRaised("status", "x")), trace(STATUS, AVAILABLE), ["X-HANDLER-1 fail you"]),
    ],
    "missed_limits": [
        (trace(m.StopBudget()), trace(m.BudgetSpent("status")), ["X-STATUS-3 fail you"]),
        (trace(m.DelegateTimeSpent("provision")), trace(m.BudgetSpent("pass_entries")), ["X-ENTRIES-3 fail you"]),
        (trace(), trace(m.BudgetSpent("remote_pass_entries")), ["X-ENTRIES-3 fail you"]),
        (trace((Kind.REFUSED, m.BudgetSpent("status"))), trace(m.BudgetSpent(GENERATE)), ["X-GEN-1 fail you"]),
    ],
    "network_in_status": [
        (trace(STATUS, MADE, AVAILABLE), trace(STATUS, GET, AVAILABLE), ["X-STATUS-3 warn you"]),
        (trace(STATUS), trace(STATUS, GET, m.BudgetSpent("status"), AVAILABLE), ["X-STATUS-3 fail you"]),
        (trace(ENTRIES, GET, m.NoEntries()), trace(STATUS, m.ApiRequested("GET", ID)), ["X-STATUS-3 warn you"]),
    ],
    "kept_in_its_class": [(trace(LEFT), trace(SHELF), ["X-HANDLER-1 warn you"])],
    "kept_in_itself": [
        (
            trace(STATUS, LEFT, AVAILABLE, ENTRIES, m.NoEntries()),
            trace(STATUS, LEFT, AVAILABLE, ENTRIES, missing("service")),
            ["X-HANDLER-1 fail you"],
        ),
        (
            trace(STATUS, AVAILABLE, ENTRIES, LEFT, missing("service")),
            trace(STATUS, LEFT, AVAILABLE, ENTRIES, missing("pass_entries")),
            ["X-HANDLER-1 fail you"],
        ),
        (
            trace(STATUS, LEFT, AVAILABLE, ENTRIES, m.HandlerRaised("pass_entries", "ValueError")),
            trace(STATUS, LEFT, AVAILABLE, ENTRIES, m.HandlerRaised("pass_entries", "AttributeError")),
            ["X-HANDLER-1 fail you"],
        ),
        (
            trace(STATUS, SHELF, AVAILABLE, ENTRIES, missing("shelf")),
            trace(STATUS, SHELF, LEFT, AVAILABLE, ENTRIES, missing("service")),
            ["X-HANDLER-1 fail you"],
        ),
    ],
    "unshared_storage": [
        (trace(m.StorageRead(0)), trace(m.StorageRead(0, 3)), ["X-CACHE-1 fail you"]),
        (trace(m.StorageRead(3)), trace(m.StorageRead(1, 1)), ["X-CACHE-1 fail you"]),
    ],
    "failed_calls": [
        (trace(STATUS, AVAILABLE), trace(STATUS, m.HandlerRaised("status", "x")), ["X-STATUS-1 fail you"]),
        (trace(m.NoEntries()), trace(m.HandlerRaised("pass_entries", "x.")), ["X-ENTRIES-1 fail you"]),
        (trace(m.NoEntries()), trace(m.HandlerRaised("remote_pass_entries", "x")), ["X-ENTRIES-2 fail you"]),
        (trace(m.NoRequest()), trace(m.HandlerRaised(GENERATE, "x")), ["X-GEN-1 fail you"]),
    ],
    "completion_called_again": [
        (trace(ASK, YES), trace(ASK, YES, YES), ["X-AUTH-1 warn you"]),
        (trace(ASK, YES, ASK, YES), trace(ASK, YES, YES, YES), ["X-AUTH-1 warn you"]),
        (trace(ASK), trace(ASK, YES, ASK, YES, YES), ["X-AUTH-1 warn you"]),
    ],
    "mixed_up_entries": [
        (
            trace(ENTRIES, m.SdkPassEntriesCalled(), returned(entry())),
            trace(ENTRIES, m.SdkRemotePassEntriesCalled(), returned(entry())),
            ["X-ENTRIES-1 fail you"],
        ),
        (
            trace(REMOTE, m.SdkRemotePassEntriesCalled(), m.NoEntries()),
            trace(REMOTE, m.SdkPassEntriesCalled(), m.NoEntries()),
            ["X-ENTRIES-2 fail you"],
        ),
        (trace(ENTRIES, m.NoEntries()), trace(ENTRIES, returned(entry())), ["X-ENTRIES-1 fail you"]),
        (trace(REMOTE, missing("x")), trace(REMOTE, returned(entry())), ["X-ENTRIES-2 fail you"]),
        (trace(ENTRIES), trace(ENTRIES, m.SdkRemotePassEntriesCalled()), ["X-ENTRIES-1 fail you"]),
        (trace(STATUS, m.SdkPassEntriesCalled()), trace(REMOTE, m.SdkPassEntriesCalled()), ["X-ENTRIES-2 fail you"]),
    ],
    "offered_again": [
        (trace(ENTRIES, returned(entry())), trace(ENTRIES, m.AlreadyThere(ID)), ["X-ENTRIES-1 fail you"]),
        (trace(REMOTE, returned(entry())), trace(REMOTE, m.AlreadyThere(ID)), ["X-ENTRIES-2 fail you"]),
        (trace(REMOTE, ENTRIES), trace(REMOTE, ENTRIES, m.AlreadyThere(ID)), ["X-ENTRIES-1 fail you"]),
    ],
    "unstable_identifiers": [
        (trace(returned(entry(), entry(OTHER))), trace(returned(entry(), entry())), ["X-GEN-1 fail you"]),
        (trace(returned(entry()), returned(entry())), trace(returned(entry(ID, "a"))), ["X-GEN-1 fail you"]),
        (trace(returned()), trace(returned(entry(ID, "a"), entry(OTHER, "a"))), ["X-GEN-1 fail you"] * 2),
    ],
    "changed_identifiers": [
        (
            trace(returned(entry()), returned(entry(OTHER)), returned(entry())),
            trace(returned(entry()), returned(entry(ID, "a"))),
            ["X-GEN-1 fail you"],
        ),
    ],
    "one_get_for_several": [
        (trace(m.ServiceMade((ID, OTHER))), trace(m.ServiceMade((ID, OTHER, ID))), ["API-12 fail you"]),
        (trace(MADE, MADE), trace(m.ServiceMade((ID, ID))), ["API-12 fail you"]),
    ],
    "poor_card_art": [(trace(m.CardArtReturned()), trace(m.CardArtReturned("it is nil")), ["X-ART-1 fail you"])],
    "crossed_posts": [
        (generated(PROVISION, POST), generated(PROVISION, POST_OTHER), ["X-DEL-1 fail you"]),
        (generated(POST_OTHER), generated(PROVISION, POST, POST_OTHER), ["X-DEL-1 fail you"]),
        (generated(PROVISION, m.BackEndAsked("GET", OTHER)), generated(PROVISION, POST_OTHER), ["X-DEL-1 fail you"]),
    ],
    "nil_from_the_delegate": [
        (trace(m.DelegateReturned(b"opc")), trace(m.DelegateReturned(None)), ["X-DEL-1 fail you"]),
        (trace(m.DelegateReturned(b"opc")), trace(m.ApiAnswered(422), NOTHING), ["X-DEL-1 note nobody"]),
        (trace(m.DelegateReturned(b"opc")), trace(ANSWERED, NOTHING), ["X-DEL-1 fail you"]),
    ],
    "sdk_threw": [
        (trace(), trace(THREW), ["X-GEN-1 warn you"]),
        (trace(), trace(m.ApiAnswered(422), NOTHING, THREW), ["X-GEN-1 note nobody"]),
        (trace(), trace(ANSWERED, NOTHING, THREW), ["X-GEN-1 warn you"]),
        (trace(), SESSION.wallet.play("nonce as text").trace, ["X-GEN-1 warn you"]),
    ],
    "text_from_the_delegate": [
        (trace(m.DelegateReturned(b"opc")), trace(m.DelegateReturned("b3Bj")), ["API-8 fail you"]),
        (trace(m.DelegateReturned(None)), trace(m.DelegateReturned("")), ["API-8 fail you"]),
    ],
    "request_without_the_delegate": [
        (generated(PROVISION), generated(), ["X-FLOW-1 fail you"]),
        (generated(answer=m.NoRequest()), generated(POST), ["X-FLOW-1 fail you"]),
        (generated(PROVISION), generated(answer=m.RequestReturned("late")), ["X-FLOW-1 fail you"]),
    ],
    "nil_for_no_reason": [
        (generated(THREW, answer=m.NoRequest()), generated(MADE, answer=m.NoRequest()), ["X-GEN-1 fail you"]),
        (
            generated(m.ApiAnswered(422), answer=m.NoRequest()),
            generated(m.ApiAnswered(200), answer=m.NoRequest()),
            ["X-GEN-1 fail you"],
        ),
        (generated(SWAPPED, answer=m.NoRequest()), generated(POST, answer=m.NoRequest()), ["X-GEN-1 fail you"]),
        (generated(NOT_MADE, answer=m.NoRequest()), generated(answer=m.NoRequest()), ["X-GEN-1 fail you"]),
        (generated(m.ApiFailed("E", "m"), answer=m.NoRequest()), generated(answer=m.NoRequest()), ["X-GEN-1 fail you"]),
    ],
    "out_of_turn": [
        (trace(PROVISION), trace((Kind.REFUSED, PROVISION)), ["X-FLOW-1 fail you"]),
        (
            trace(m.CardArtForIdAsked(ID)),
            trace((Kind.REFUSED, m.CardArtForIdAsked(ID)), (Kind.REFUSED, m.CardArtForBrandAsked("b"))),
            ["X-FLOW-1 fail you"] * 2,
        ),
    ],
}  # fmt: skip
ROWS = [(name, *row) for name, rows in CASES_OF.items() for row in rows]


def test_each_finding_word_for_word(golden):
    traces = [broken for _name, _good, broken, _findings in ROWS] + [trace(sample(one)) for one in REACHED_BY]
    traces += [
        trace(STATUS, GET, POST, m.ApiRequested("GET", ID), AVAILABLE),
        trace(STATUS, LEFT, LEFT, ENTRIES, missing("x")),
    ]
    traces += [
        trace(m.CodeFailed("status", "x", "line 1: y"), m.HandlerRaised("status", slip)) for slip in (*SLIPS, "OSError")
    ]
    findings = [str(one) for broken in traces for one in check(broken)]
    golden("extension", "\n".join(dict.fromkeys(findings)))


def told(findings):
    return [f"{one.rule} {one.level} {one.owner}" for one in findings]


@pytest.mark.rule("X-PLIST-1", "X-HANDLER-1", "X-AUTH-1", "X-INIT-1", "X-STATUS-1", "X-STATUS-2", "X-STATUS-3")
@pytest.mark.rule("X-ENTRIES-1", "X-ENTRIES-2", "X-ENTRIES-3", "X-ART-1", "X-DEL-1", "X-GEN-1", "X-FLOW-1", "API-12")
@rows(("name", "good", "broken", "findings"), ROWS)
def test_a_check_finds_what_is_broken_and_nothing_where_all_is_well(name, good, broken, findings):
    one = BY_NAME.get(name, symptoms)
    assert list(one(good)) == []
    assert told(one(broken)) == findings
    assert set(one(broken)) <= set(check(broken))


def test_every_check_is_proven_and_in_the_list():
    assert set(BY_NAME) <= set(CASES_OF)
    checks = (one for one in vars(extension).values() if inspect.isgeneratorfunction(one))
    defined = {one.__name__ for one in checks if one.__module__.startswith("workbook.checks.")}
    assert defined == set(BY_NAME)
    traces = [broken for _name, _good, broken, _findings in ROWS] + [trace(sample(one)) for one in REACHED_BY]
    assert all(any(list(row(broken)) for broken in traces) for row in SYMPTOMS)


def possible():
    """Every finding that any case above gives, and any run of the lesson's vocabulary."""
    found = {finding for _, _, broken, _ in ROWS for finding in check(broken)}
    for phone in WALLETS:
        for name in HANDLERS:
            found |= set(SESSION.wallet.play(name, phone).findings)
    for name in AUTHORIZATIONS:
        found |= set(SESSION.wallet.play(authorization=name).findings)
    return found


@pytest.mark.slow
def test_every_finding_rests_on_a_rule_of_the_ledger_and_says_what_to_do():
    for finding in possible():
        assert rule(finding.rule).id == finding.rule
        assert finding.text.endswith((".", ").")), finding
        assert ".." not in finding.text, finding
        assert "{" not in finding.text
        assert finding.todo.endswith((".", ")"))
        assert finding.todo[0].isupper()
        assert finding.at >= 0.0


class AsksNobody(ReferenceHandler):
    def status(self):
        return replace(super().status(), requires_authentication=False)


REACHED_BY = {
    m.ExtensionNotFound: {"phone": "extension lacks the entitlement"},
    m.EntriesUnavailable: {"phone": "app was never opened"},
    m.AuthorizationMissing: {"authorization": "never reports"},
    m.AuthorizationCanceled: {"authorization": "refuses"},
    m.AuthenticatedByWallet: {"handler": AsksNobody},
    m.PassRefused: {"handler": "another nonce"},
}


def test_every_symptom_can_be_reached_from_the_wallet():
    for message, stage in REACHED_BY.items():
        symptom = next(row for row in SYMPTOMS if row.message is message)
        found = [f for f in SESSION.wallet.play(**stage).findings if (f.rule, f.todo) == (symptom.rule, symptom.todo)]
        assert len(found) == 1, message


def test_a_request_of_the_handlers_own_is_not_said_to_be_late():
    (found,) = SESSION.wallet.play("request of its own").findings
    assert "took more than" not in found.text


@pytest.mark.rule("REL-3")
@given(st.text(max_size=30).map(lambda text: f"CANARY-{text}"))
def test_no_finding_shows_opaque_data(canary):
    for message in (
        m.DelegateReturned(canary),
        m.DelegateReturned(canary.encode("utf-8", "replace")),
        m.ExtensionProvisionCalled(ID, SdkOutput(canary)),
    ):
        for kind in Kind:
            assert not any(canary in str(one) for one in check(trace((kind, message))))
