"""What a trace shows of the wallet extension, call by call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workbook.base.rules import Owner
from workbook.flows import messages as m
from workbook.flows.messages import Message, limit_of
from workbook.flows.trace import HandlerCall, Kind, Trace, handler_calls
from workbook.reading.checks.api import IN_ORDER, gave_nothing
from workbook.reading.checks.finding import Check, Finding, Severity, Symptom

# What a trace shows of the pass entries that an extension's handler offers, and of their card art.

ENTRY_RULES = {"pass_entries": "X-ENTRIES-1", "remote_pass_entries": "X-ENTRIES-2"}
"""The rule of each call."""

OPERATIONS: dict[str, tuple[type[m.Event], type[m.Event]]] = {
    "pass_entries": (m.SdkPassEntriesCalled, m.SdkRemotePassEntriesCalled),
    "remote_pass_entries": (m.SdkRemotePassEntriesCalled, m.SdkPassEntriesCalled),
}
"""Which operation of the SDK belongs to which call, and which does not."""


def mixed_up_entries(trace: Trace) -> Iterator[Finding]:
    """A call of passEntries where remotePassEntries belongs, or the reverse, or entries of the handler's own."""
    for call in handler_calls(trace):
        mine, others = OPERATIONS.get(call.name, (m.Event, m.StorageRead))
        if call.name in OPERATIONS and call.did(others):
            yield _mixed(call.name, "asks the SDK for the other device's entries", call.ended)
        elif call.answered(m.EntriesReturned) and not call.did(mine):
            yield _mixed(call.name, "returns entries of its own", call.ended)


def _mixed(call: str, what: str, at: float) -> Finding:
    todo = "Return the SDK's operation of the same name: passEntries for the phone, remotePassEntries for the watch."
    return Finding(ENTRY_RULES[call], Severity.FAIL, Owner.YOU, f"{call}() {what}.", todo, at)


def offered_again(trace: Trace) -> Iterator[Finding]:
    """Pass entries for cards that are in this wallet already (wallet)."""
    rule = "X-ENTRIES-1"
    for record in trace.select(m.CallPassEntries, m.CallRemotePassEntries, m.AlreadyThere):
        if not isinstance(record.message, m.AlreadyThere):
            rule = record.message.rules[0]
        else:
            text = "A pass entry is offered for a card that is there already (wallet)."
            todo = "Leave out the cards that the library holds: check phone and watch separately."
            yield Finding(rule, Severity.FAIL, Owner.YOU, text, todo, record.at)


def unstable_identifiers(trace: Trace) -> Iterator[Finding]:
    """Identifiers that are not unique, not the SDK's, or not the same from one call to the next (wallet)."""
    known: dict[str, str] = {}
    for record, returned in trace.seen(m.EntriesReturned):
        if len({entry.identifier for entry in returned.entries}) < len(returned.entries):
            text = "Two pass entries have the same identifier (wallet)."
            todo = "Make one GET for each card, and leave the identifiers as the SDK gives them."
            yield Finding("X-GEN-1", Severity.FAIL, Owner.YOU, text, todo, record.at)
        if any(entry.identifier != entry.payment_instrument_id for entry in returned.entries):
            yield _unstable("A pass entry has another identifier than the SDK gave it.", record.at)
        for entry in returned.entries:
            if known.setdefault(entry.payment_instrument_id, entry.identifier) != entry.identifier:
                yield _unstable("A card's pass entry has another identifier than last time (wallet).", record.at)


def _unstable(text: str, at: float) -> Finding:
    todo = "Leave the SDK's identifiers as they are; the wallet later uses them to ask for the request."
    return Finding("X-GEN-1", Severity.FAIL, Owner.YOU, text, todo, at)


def one_get_for_several(trace: Trace) -> Iterator[Finding]:
    """One instrument's sdkInput given for several cards (API-12)."""
    for record, made in trace.seen(m.ServiceMade):
        if doubled := [card for card, times in Counter(made.cards).items() if times > 1]:
            text = f"The same payment instrument's sdkInput was given more than once: {', '.join(doubled)}."
            todo = "Make one GET for each payment instrument; each has its own sdkInput."
            yield Finding("API-12", Severity.FAIL, Owner.YOU, text, todo, record.at)


def poor_card_art(trace: Trace) -> Iterator[Finding]:
    """Card art that does not show the card, or that the wallet may refuse (X-ART-1)."""
    for record, art in trace.seen(m.CardArtReturned):
        if art.problems:
            todo = "Return the picture of exactly the card that was asked for, as the wallet wants it."
            yield Finding(
                "X-ART-1", Severity.FAIL, Owner.YOU, f"The card art is wrong: {art.problems}.", todo, record.at
            )


# What a trace shows of the add-payment-pass request: what the delegate did for it, and what came of it.

OK = 200
ASKS = (m.CardArtForBrandAsked, m.CardArtForIdAsked, m.ExtensionProvisionCalled)
"""What the SDK asks of the delegate."""

FAILURES = (m.SdkThrew, m.ServiceNotMade, m.ApiFailed, m.ArgumentsSwapped)
"""Why a handler may return nil, besides an answer of the API other than 200."""


def crossed_posts(trace: Trace) -> Iterator[Finding]:
    """A delegate that posts for another card than the SDK named (X-DEL-1)."""
    for call in handler_calls(trace):
        named = {record.values["payment_instrument_id"] for record in call.did(m.ExtensionProvisionCalled)}
        for record in call.did(m.BackEndAsked):
            asked: Any = record.message
            if asked.method == "POST" and named and asked.payment_instrument_id not in named:
                text = "The delegate posts for another payment instrument than the SDK named."
                todo = "Use the paymentInstrumentId that provision was given; mind the order of its two arguments."
                yield Finding("X-DEL-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


def nil_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned nil (X-DEL-1); the wallet then says that the card was not added."""
    for record, returned in trace.seen(m.DelegateReturned):
        if returned.sdk_input is None:
            text = "The delegate's provision returned nil, so there is no request."
            if gave_nothing(trace, record.at):
                yield Finding("X-DEL-1", Severity.NOTE, Owner.NOBODY, text, IN_ORDER, record.at)
            else:
                todo = "Look into your provision, then into the back end's log. Nil is for a POST without an sdkInput."
                yield Finding("X-DEL-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


def sdk_threw(trace: Trace) -> Iterator[Finding]:
    """An SDK operation that threw (X-GEN-1); it does so where the delegate had nothing."""
    for record, threw in trace.seen(m.SdkThrew):
        text = f"An SDK operation threw: {threw.case} (sdk-b), {threw.why}."
        nil = [returned.sdk_input is None for at, returned in trace.seen(m.DelegateReturned) if at.at <= record.at]
        if nil[-1:] == [True] and gave_nothing(trace, record.at):
            yield Finding("X-GEN-1", Severity.NOTE, Owner.NOBODY, text, IN_ORDER, record.at)
        else:
            todo = "Return nil when it throws, and look at what the delegate returned."
            yield Finding("X-GEN-1", Severity.WARN, Owner.YOU, text, todo, record.at)


def text_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned base64 text where platform B takes bytes (API-8)."""
    for record, returned in trace.seen(m.DelegateReturned):
        if isinstance(returned.sdk_input, str):
            text = "The delegate's provision returned text where platform B takes bytes."
            todo = "Decode the base64 of the POST's sdkInput once (sdk-b), and return the bytes (X-DEL-1)."
            yield Finding("API-8", Severity.FAIL, Owner.YOU, text, todo, record.at)


def request_without_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A request that no delegate provisioned (X-FLOW-1)."""
    for call in handler_calls(trace):
        if call.answered(m.RequestReturned) and not call.did(m.ExtensionProvisionCalled):
            text = "A request was returned, but the delegate had provisioned nothing for it."
            todo = "Return what the SDK's operation of the same name makes in this very call."
            yield Finding("X-FLOW-1", Severity.FAIL, Owner.YOU, text, todo, call.ended)


def nil_for_no_reason(trace: Trace) -> Iterator[Finding]:
    """A handler that returned nil though nothing had failed (X-GEN-1)."""
    for call in handler_calls(trace):
        refused = any(record.values["status"] != OK for record in call.did(m.ApiAnswered))
        if call.answered(m.NoRequest) and not refused and not call.did(*FAILURES):
            text = "The request's generation returned nil, though the trace shows no failure."
            todo = "Make the service, and return what the SDK's operation of the same name makes."
            yield Finding("X-GEN-1", Severity.FAIL, Owner.YOU, text, todo, call.ended)


def swapped_arguments(trace: Trace) -> Iterator[Finding]:
    """A delegate that was written for the app: its two arguments are in the other order (X-DEL-1)."""
    for call in handler_calls(trace):
        if swapped := call.did(m.ArgumentsSwapped):
            text = "The delegate's provision takes its arguments in the order of the app's delegate."
            todo = (
                "In the extension paymentInstrumentId comes first and sdkOutput second; in the app it is the reverse."
            )
            yield Finding("X-DEL-1", Severity.FAIL, Owner.YOU, text, todo, swapped[0].at)


def cardholder_out_of_turn(trace: Trace) -> Iterator[Finding]:
    """What the cardholder did in the wallet too early (X-FLOW-1)."""
    for record in trace.select(m.IssuerListOpened, m.IssuerChosen, m.EntryChosen, kind=Kind.REFUSED):
        text = f"“{record.message.says}” came while the wallet was '{record.before}', and nothing happened."
        todo = "Keep the order: open the list of apps (status()), choose the app (the entries), choose a card."
        yield Finding("X-FLOW-1", Severity.WARN, Owner.YOU, text, todo, record.at)


def out_of_turn(trace: Trace) -> Iterator[Finding]:
    """The SDK asks the delegate at a moment that the flow's order does not have (X-FLOW-1)."""
    for record in trace.select(*ASKS, kind=Kind.REFUSED):
        text = f"The SDK was made to ask for {record.message.says} out of turn, in the state '{record.before}'."
        todo = "Keep the order: status(), the entries, then provisioning and the request, each in its own call, once."
        yield Finding("X-FLOW-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


SYMPTOMS: dict[type[Message], Symptom] = {
    m.ExtensionNotFound: Symptom(
        "X-PLIST-1", Severity.FAIL, Owner.YOU, "The wallet finds no such extension: {r.why}.",
        "Compare the target's project file with X-PLIST-1 to X-PLIST-3, and its entitlements with the app's.",
    ),
    m.EntriesUnavailable: Symptom(
        "X-STATUS-2", Severity.NOTE, Owner.YOU,
        "status() says that there are no pass entries, so the app is not listed.",
        "Right when nothing is saved yet: the main app saves the sdkInput after its own network call (X-CACHE-1).",
    ),
    m.AuthorizationMissing: Symptom(
        "X-AUTH-1", Severity.FAIL, Owner.YOU, "The cardholder could not be authenticated: {r.why}.",
        "Supply the authorization UI extension, with the entitlement, and call completionHandler once.",
    ),
    m.AuthenticatedByWallet: Symptom(
        "X-AUTH-2", Severity.NOTE, Owner.YOU,
        "status() required no authentication: the wallet asked by itself (assumed).",
        "Use true where your authorization UI extension supplies authentication (X-STATUS-1).",
    ),
    m.AuthorizationCanceled: Symptom(
        "X-AUTH-1", Severity.NOTE, Owner.NOBODY,
        "The cardholder was not authenticated, so no card is added (X-AUTH-2).",
        "Nothing to do, unless the UI refuses everybody.",
    ),
    m.PassRefused: Symptom(
        "X-GEN-1", Severity.FAIL, Owner.YOU, "The wallet cannot use the request: {r.why}.",
        "Offer only cards that are missing here, and return what the SDK made from this call's own arguments.",
    ),
}  # fmt: skip
"""Messages that are a finding whenever they occur."""

NETWORK = (m.BackEndAsked, m.ApiRequested)
TODO = {
    "status": "Read the sdkInput that the app saved (X-CACHE-1), and make no network call.",
    "pass_entries": "Fetch for all cards at once, with a short timeout for each GET, and few retries.",
    "remote_pass_entries": "Fetch for all cards at once, with a short timeout for each GET, and few retries.",
}
SOONER = "Keep the back end's own time limits well below 20 s, retries included (REL-5)."
RULES = {"status": "X-STATUS-1"} | ENTRY_RULES
"""The rule of each call."""

CASES: dict[str, tuple[Severity, Owner, str]] = {
    "emptySDKInputs": (Severity.NOTE, Owner.YOU,
                       "Right where no card is to be offered: none was saved (X-CACHE-1), or all are in the wallet."),
    "invalidSDKInput": (Severity.FAIL, Owner.YOU, "Hand over the bytes of the GET's sdkInput, unchanged."),
    "walletNotSupported": (Severity.WARN, Owner.OPERATOR,
                           "Leave the card out; have it set up for this wallet, as its data must say (sdk-b)."),
}  # fmt: skip
"""Why a service could not be made, by its case (sdk-b), and what to do about it."""


def services_not_made(trace: Trace) -> Iterator[Finding]:
    """ExtensionProvisioningServices that could not be initialised (X-INIT-1)."""
    for record, refused in trace.seen(m.ServiceNotMade):
        level, owner, todo = CASES[refused.case]
        text = f"No ExtensionProvisioningService could be made: {refused.case} (sdk-b), {refused.why}."
        yield Finding("X-INIT-1", level, owner, text, todo, record.at)


def status_without_a_service(trace: Trace) -> Iterator[Finding]:
    """A status() that promises entries though it initialised no service (X-STATUS-2, X-HANDLER-1)."""
    for call in handler_calls(trace):
        if call.answered(m.EntriesAvailable) and not call.did(m.ServiceMade):
            failed = bool(call.did(m.ServiceNotMade))
            text = f"status() promises pass entries, though it {'could initialise' if failed else 'made'} no service."
            todo = "Make the service in status(); when that fails, return entriesUnavailableExtensionStatus."
            rule = "X-STATUS-2" if failed else "X-HANDLER-1"
            yield Finding(rule, Severity.FAIL, Owner.YOU, text, todo, call.ended)


def missed_limits(trace: Trace) -> Iterator[Finding]:
    """Calls that took longer than their limit; the limit says what that means (X-STATUS-3, X-ENTRIES-3)."""
    for record, spent in trace.seen(m.BudgetSpent, Kind.EVENT):
        if spent.call != "provision":
            one = limit_of(spent.call)
            text = f"{_short(spent.call)} took more than {one.seconds:g} s: {one.missed}."
            yield Finding(one.rule, Severity.FAIL, Owner.YOU, text, TODO.get(spent.call, SOONER), record.at)


def network_in_status(trace: Trace) -> Iterator[Finding]:
    """A network call inside status(): not reliable there, however fast it was this time (X-STATUS-3)."""
    for call in handler_calls(trace):
        if call.name == "status" and (asked := call.did(*NETWORK)):
            times = len(call.did(m.BackEndAsked)) or len(asked)
            text = f"status() makes {times} network call{'' if times == 1 else 's'}."
            level = Severity.FAIL if call.late else Severity.WARN
            yield Finding("X-STATUS-3", level, Owner.YOU, text, TODO["status"], asked[0].at)


ANEW = "Make what a call needs in that call: the service anew, the rest from the storage."


def kept_in_its_class(trace: Trace) -> Iterator[Finding]:
    """State that a handler left in its class (X-HANDLER-1); it works until the process ends."""
    for record, kept in trace.seen(m.HandlerKept):
        if kept.where == "its class":
            text = f"The handler's class keeps {', '.join(kept.names)}: gone when the wallet ends the extension."
            yield Finding("X-HANDLER-1", Severity.WARN, Owner.YOU, text, ANEW, record.at)


def kept_in_itself(trace: Trace) -> Iterator[Finding]:
    """A call that fails for want of what an earlier call left in `self`, which was another handler (X-HANDLER-1)."""
    # Keeping something does no harm by itself. It is a finding when a later call fails for want of it: that handler is
    # another instance, as the wallet makes a new one for each call.
    kept: set[str] = set()
    for call in handler_calls(trace):
        if kept and call.answered(m.HandlerRaised) and (text := _missed(call, kept)):
            yield Finding("X-HANDLER-1", Severity.FAIL, Owner.YOU, text, ANEW, call.ended)
        for record in call.did(m.HandlerKept):
            left: Any = record.message
            kept |= set(left.names) if left.where == "the handler" else set()


def _missed(call: HandlerCall, kept: set[str]) -> str:
    """What the failed call looked for in vain, as far as its error tells; empty when it failed otherwise."""
    raised: Any = call.answer and call.answer.message
    kind, _, name = raised.error.partition(": ")
    if name in kept:
        return f"{_short(call.name)} looks for self.{name}, which an earlier call left in another handler."
    left = ", ".join(f"self.{each}" for each in sorted(kept))
    text = f"{_short(call.name)} finds something missing, and an earlier call left {left} in another handler."
    return text if kind == "AttributeError" else ""


CATCH = "Catch what can fail, and return the documented answer: unavailable, no entries, or nil."
MEND = "Mend the handler's code: neither the SDK nor the network caused this."
SLIPS = ("AttributeError", "NameError", "TypeError", "it returned")


def failed_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that raised, or returned what they must not."""
    lines = {record.at: failed.line for record, failed in trace.seen(m.CodeFailed)}
    for record, raised in trace.seen(m.HandlerRaised):
        text = f"{_short(raised.call)} failed: {raised.error.rstrip('.')}."
        todo = MEND if raised.error.startswith(SLIPS) else CATCH
        where = f" {lines[record.at]}." if record.at in lines else ""
        yield Finding(RULES.get(raised.call, "X-GEN-1"), Severity.FAIL, Owner.YOU, text + where, todo, record.at)


def unshared_storage(trace: Trace) -> Iterator[Finding]:
    """What the app saved and the extension cannot see (X-CACHE-1; sdk-b: an app group shares it)."""
    for record, read in trace.seen(m.StorageRead):
        if read.out_of_reach:
            text = (
                f"The extension finds {read.found} sdkInputs; {read.out_of_reach} that the app saved are out of reach."
            )
            todo = "Put app and extension into the same app group, and save into the group's storage (sdk-b)."
            yield Finding("X-CACHE-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


def completion_called_again(trace: Trace) -> Iterator[Finding]:
    """A completionHandler that was called more than once (X-AUTH-1)."""
    calls = 0
    for record in trace.select(m.Authenticate, m.CompletionHandlerCalled):
        calls = 0 if isinstance(record.message, m.Authenticate) else calls + 1
        if calls == 2:  # the second call is the mistake
            text = "completionHandler was called more than once: the wallet may end the extension (wallet)."
            yield Finding("X-AUTH-1", Severity.FAIL, Owner.YOU, text, "Call it once, with the outcome.", record.at)


def _short(call: str) -> str:
    return "the request's generation" if call.startswith("generate") else f"{call}()"


CHECKS: tuple[Check, ...] = (
    services_not_made,
    status_without_a_service,
    missed_limits,
    network_in_status,
    kept_in_its_class,
    kept_in_itself,
    failed_calls,
    unshared_storage,
    completion_called_again,
    mixed_up_entries,
    offered_again,
    unstable_identifiers,
    one_get_for_several,
    poor_card_art,
    crossed_posts,
    nil_from_the_delegate,
    sdk_threw,
    text_from_the_delegate,
    request_without_the_delegate,
    nil_for_no_reason,
    swapped_arguments,
    cardholder_out_of_turn,
    out_of_turn,
)
