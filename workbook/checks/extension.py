"""What a trace shows of the wallet extension, call by call."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workbook.base.rules import Owner
from workbook.checks.api import gave_nothing
from workbook.checks.finding import Check, Finding, Severity, Symptom
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS, Message
from workbook.flows.trace import HandlerCall, Kind, Trace, handler_calls

# The rule of each call; every other call has the rule of the request's generation.
CALL_RULES = {"status": "X-STATUS-1", "pass_entries": "X-ENTRIES-1", "remote_pass_entries": "X-ENTRIES-2"}

_CACHED = "Read the sdkInput that the app saved (X-CACHE-1), and make no network call."
_SDKS_IDENTIFIERS = "Leave the SDK's identifiers as they are; the wallet later uses them to ask for the request."
NOT_ADDED = "That is right: nothing was added, and the cardholder may choose the card in the wallet again (assumed)."
_NOT_MADE = "No ExtensionProvisioningService could be made: {r.case} (sdk-b) because {why}."

# What a trace shows of the pass entries that an extension's handler offers, and of their card art.


def mixed_up_entries(trace: Trace) -> Iterator[Finding]:
    """A call of passEntries where remotePassEntries belongs, or the reverse, or entries of the handler's own."""
    operations: dict[str, tuple[type[Message], type[Message]]] = {  # of this device, and of the other one
        "pass_entries": (m.SdkPassEntriesCalled, m.SdkRemotePassEntriesCalled),
        "remote_pass_entries": (m.SdkRemotePassEntriesCalled, m.SdkPassEntriesCalled),
    }
    todo = "Return the SDK's operation of the same name: passEntries for the phone, remotePassEntries for the watch."
    for call in handler_calls(trace):
        if call.name not in operations:
            continue
        mine, others = operations[call.name]
        what = ""
        if call.did(others):
            what = "asks the SDK for the other device's entries"
        elif call.answered(m.EntriesReturned) and not call.did(mine):
            what = "returns entries of its own"
        if what:
            text = f"{call.name}() {what}."
            yield Finding(CALL_RULES[call.name], Severity.FAIL, Owner.YOU, text, todo, call.ended)


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


def changed_identifiers(trace: Trace) -> Iterator[Finding]:
    """Identifiers that are not the same from one call to the next (wallet)."""
    known: dict[str, str] = {}
    for record, returned in trace.seen(m.EntriesReturned):
        for entry in returned.entries:
            if known.setdefault(entry.payment_instrument_id, entry.identifier) != entry.identifier:
                text = "A card's pass entry has another identifier than last time (wallet)."
                yield Finding("X-GEN-1", Severity.FAIL, Owner.YOU, text, _SDKS_IDENTIFIERS, record.at)


def one_get_for_several(trace: Trace) -> Iterator[Finding]:
    """One instrument's sdkInput given for several cards (API-12)."""
    for record, service in trace.seen(m.ServiceMade):
        if doubled := [card for card, times in Counter(service.cards).items() if times > 1]:
            text = f"The same payment instrument's sdkInput was given more than once: {', '.join(doubled)}."
            todo = "Make one GET for each payment instrument; each has its own sdkInput."
            yield Finding("API-12", Severity.FAIL, Owner.YOU, text, todo, record.at)


# What a trace shows of the add-payment-pass request: what the delegate did for it, and what came of it.


def crossed_posts(trace: Trace) -> Iterator[Finding]:
    """A delegate that posts for another card than the SDK named (X-DEL-1)."""
    for call in handler_calls(trace):
        named = {record.values["payment_instrument_id"] for record in call.did(m.ExtensionProvisionCalled)}
        for record in call.did(m.BackEndAsked):
            request: Any = record.message
            if request.method == "POST" and named and request.payment_instrument_id not in named:
                text = "The delegate posts for another payment instrument than the SDK named."
                todo = "Use the paymentInstrumentId that provision was given; mind the order of its two arguments."
                yield Finding("X-DEL-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


def nil_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned nil (X-DEL-1); the wallet then says that the card was not added."""
    for record, returned in trace.seen(m.DelegateReturned):
        if returned.sdk_input is None:
            text = "The delegate's provision returned nil, so there is no request."
            if gave_nothing(trace, record.at):
                yield Finding("X-DEL-1", Severity.NOTE, Owner.NOBODY, text, NOT_ADDED, record.at)
            else:
                todo = "Look into your provision, then into the back end's log. Nil is for a POST without an sdkInput."
                yield Finding("X-DEL-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


def sdk_threw(trace: Trace) -> Iterator[Finding]:
    """An SDK operation that threw (X-GEN-1); it does so where the delegate had nothing."""
    for record, threw in trace.seen(m.SdkThrew):
        text = f"An SDK operation threw: {threw.case} (sdk-b), {threw.why}."
        nil = [returned.sdk_input is None for at, returned in trace.seen(m.DelegateReturned) if at.at <= record.at]
        if nil[-1:] == [True] and gave_nothing(trace, record.at):
            yield Finding("X-GEN-1", Severity.NOTE, Owner.NOBODY, text, NOT_ADDED, record.at)
        else:
            todo = "Return nil when it throws, and look at what the delegate returned."
            yield Finding("X-GEN-1", Severity.WARN, Owner.YOU, text, todo, record.at)


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
        refused = any(record.values["status"] != 200 for record in call.did(m.ApiAnswered))
        failed = call.did(m.SdkThrew, m.ServiceNotMade, m.ApiFailed, m.ArgumentsSwapped)
        if call.answered(m.NoRequest) and not refused and not failed:
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
            limit = LIMITS[spent.call]
            text = f"{_short(spent.call)} took more than {limit}: {limit.missed}."
            todo = "Fetch for all cards at once, with a short timeout for each GET, and few retries."
            if spent.call == "status":
                todo = _CACHED
            elif not spent.call.endswith("pass_entries"):
                todo = f"Keep the back end's own time limits well below {limit}, retries included (REL-5)."
            yield Finding(limit.rules[0], Severity.FAIL, Owner.YOU, text, todo, record.at)


def network_in_status(trace: Trace) -> Iterator[Finding]:
    """A network call inside status(): not reliable there, however fast it was this time (X-STATUS-3)."""
    for call in handler_calls(trace):
        if call.name == "status" and (requests := call.did(m.BackEndAsked, m.ApiRequested)):
            times = len(call.did(m.BackEndAsked)) or len(requests)
            text = f"status() makes {times} network call{'' if times == 1 else 's'}."
            level = Severity.FAIL if call.late else Severity.WARN
            yield Finding("X-STATUS-3", level, Owner.YOU, text, _CACHED, requests[0].at)


_ANEW = "Make what a call needs in that call: the service anew, the rest from the storage."


def kept_in_its_class(trace: Trace) -> Iterator[Finding]:
    """State that a handler left in its class (X-HANDLER-1); it works until the process ends."""
    for record, left in trace.seen(m.HandlerKept):
        if left.where == "its class":
            text = f"The handler's class keeps {', '.join(left.names)}: gone when the wallet ends the extension."
            yield Finding("X-HANDLER-1", Severity.WARN, Owner.YOU, text, _ANEW, record.at)


def kept_in_itself(trace: Trace) -> Iterator[Finding]:
    """A call that fails for want of what an earlier call left in `self`, which was another handler (X-HANDLER-1)."""
    # Keeping something does no harm by itself. It is a finding when a later call fails for want of it: that handler is
    # another instance, as the wallet makes a new one for each call.
    names: set[str] = set()
    for call in handler_calls(trace):
        if names and call.answered(m.HandlerRaised) and (text := _missed(call, names)):
            yield Finding("X-HANDLER-1", Severity.FAIL, Owner.YOU, text, _ANEW, call.ended)
        for record in call.did(m.HandlerKept):
            left: Any = record.message
            names |= set(left.names) if left.where == "the handler" else set()


def _missed(call: HandlerCall, kept: set[str]) -> str:
    """What the failed call looked for in vain, as far as its error tells; empty when it failed otherwise."""
    raised: Any = call.answer and call.answer.message
    kind, _, name = raised.error.partition(": ")
    if name in kept:
        return f"{_short(call.name)} looks for self.{name}, which an earlier call left in another handler."
    left = ", ".join(f"self.{each}" for each in sorted(kept))
    text = f"{_short(call.name)} finds something missing, and an earlier call left {left} in another handler."
    return text if kind == "AttributeError" else ""


def failed_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that raised, or returned what they must not."""
    lines = {record.at: failed.line for record, failed in trace.seen(m.CodeFailed)}
    for record, raised in trace.seen(m.HandlerRaised):
        if raised.error.startswith("StoppedError"):  # the finding about its time says so
            continue
        text = f"{_short(raised.call)} failed: {raised.error.rstrip('.')}."
        todo = "Catch what can fail, and return the documented answer: unavailable, no entries, or nil."
        if raised.error.startswith(("AttributeError", "NameError", "TypeError", "it returned")):
            todo = "Fix the handler's code: neither the SDK nor the network caused this."
        where = f" {lines[record.at]}." if record.at in lines else ""
        yield Finding(CALL_RULES.get(raised.call, "X-GEN-1"), Severity.FAIL, Owner.YOU, text + where, todo, record.at)


def completion_called_again(trace: Trace) -> Iterator[Finding]:
    """A completionHandler that was called more than once (X-AUTH-1)."""
    calls = 0
    for record in trace.select(m.Authenticate, m.CompletionHandlerCalled):
        calls = 0 if isinstance(record.message, m.Authenticate) else calls + 1
        if calls == 2:  # the second call is the mistake
            text = "completionHandler was called more than once: the wallet may end the extension (assumed)."
            yield Finding("X-AUTH-1", Severity.WARN, Owner.YOU, text, "Call it once, with the outcome.", record.at)


def _short(call: str) -> str:
    return "the request's generation" if call.startswith("generate") else f"{call}()"


EXTENSION_CHECKS: tuple[Check, ...] = (
    Symptom(
        m.ExtensionNotFound, "X-PLIST-1", Severity.FAIL, Owner.YOU, "The wallet finds no such extension: {why}.",
        "Compare the target's project file with X-PLIST-1 to X-PLIST-3, and its entitlements with the app's.",
    ),
    Symptom(
        m.EntriesUnavailable, "X-STATUS-2", Severity.NOTE, Owner.YOU,
        "status() says that there are no pass entries, so the app is not listed (wallet).",
        "Right when nothing is saved yet: the main app saves the sdkInput after its own network call (X-CACHE-1).",
    ),
    Symptom(
        m.AuthorizationMissing, "X-AUTH-1", Severity.FAIL, Owner.YOU,
        "The cardholder could not be authenticated: {why}.",
        "Supply the authorization UI extension, with the entitlement, and call completionHandler once (assumed).",
    ),
    Symptom(
        m.AuthenticatedByWallet, "X-AUTH-2", Severity.NOTE, Owner.YOU,
        "status() required no authentication: the wallet asked by itself (assumed).",
        "Use true where your authorization UI extension supplies authentication (X-STATUS-1).",
    ),
    Symptom(
        m.AuthorizationCanceled, "X-AUTH-1", Severity.NOTE, Owner.NOBODY,
        "The cardholder was not authenticated, so no card is added (X-AUTH-2).",
        "Nothing to do, unless the UI refuses everybody.",
    ),
    Symptom(
        m.PassRefused, "X-GEN-1", Severity.FAIL, Owner.YOU, "The wallet cannot use the request: {why}.",
        "Offer only cards that are missing here, and return what the SDK made from this call's own arguments.",
    ),
    Symptom(
        m.ServiceNotMade, "X-INIT-1", Severity.NOTE, Owner.YOU, _NOT_MADE,
        "Right where no card is to be offered: none was saved (X-CACHE-1), or all are in the wallet.",
        when=lambda refused: refused.case == "emptySDKInputs",
    ),
    Symptom(
        m.ServiceNotMade, "X-INIT-1", Severity.FAIL, Owner.YOU, _NOT_MADE,
        "Hand over the bytes of the GET's sdkInput, unchanged.",
        when=lambda refused: refused.case == "invalidSDKInput",
    ),
    Symptom(
        m.ServiceNotMade, "X-INIT-1", Severity.WARN, Owner.OPERATOR, _NOT_MADE,
        "Leave the card out; have it set up for this wallet, as its data must say (sdk-b).",
        when=lambda refused: refused.case == "walletNotSupported",
    ),
    status_without_a_service,
    missed_limits,
    network_in_status,
    kept_in_its_class,
    kept_in_itself,
    failed_calls,
    Symptom(
        m.StorageRead, "X-CACHE-1", Severity.FAIL, Owner.YOU,
        "The extension finds {r.found} sdkInputs; {r.out_of_reach} that the app saved are out of reach.",
        "Put app and extension into the same app group, and save into the group's storage (sdk-b).",
        when=lambda read: read.out_of_reach > 0,
    ),
    completion_called_again,
    mixed_up_entries,
    offered_again,
    Symptom(
        m.EntriesReturned, "X-GEN-1", Severity.FAIL, Owner.YOU,
        "Two pass entries have the same identifier (wallet).",
        "Make one GET for each card, and leave the identifiers as the SDK gives them.",
        when=lambda returned: len({entry.identifier for entry in returned.entries}) < len(returned.entries),
    ),
    Symptom(
        m.EntriesReturned, "X-GEN-1", Severity.FAIL, Owner.YOU,
        "A pass entry has another identifier than the SDK gave it (the card's id: assumed).", _SDKS_IDENTIFIERS,
        when=lambda returned: any(entry.identifier != entry.payment_instrument_id for entry in returned.entries),
    ),
    changed_identifiers,
    one_get_for_several,
    Symptom(
        m.CardArtReturned, "X-ART-1", Severity.FAIL, Owner.YOU, "The card art is wrong: {r.problems}.",
        "Return the picture of exactly the card that was asked for, as the wallet wants it.",
        when=lambda art: bool(art.problems),
    ),
    crossed_posts,
    nil_from_the_delegate,
    sdk_threw,
    Symptom(
        m.DelegateReturned, "API-8", Severity.FAIL, Owner.YOU,
        "The delegate's provision returned text where platform B takes bytes.",
        "Decode the base64 of the POST's sdkInput once (sdk-b), and return the bytes (X-DEL-1).",
        when=lambda returned: isinstance(returned.sdk_input, str),
    ),
    request_without_the_delegate,
    nil_for_no_reason,
    swapped_arguments,
    Symptom(
        (m.IssuerListOpened, m.IssuerChosen, m.EntryChosen), "X-FLOW-1", Severity.WARN, Owner.YOU,
        "“{says}” came while the wallet was '{before}', and nothing happened.",
        "Keep the order: open the list of apps (status()), choose the app (the entries), choose a card.",
        refused=True,
    ),
    Symptom(
        (m.CardArtForBrandAsked, m.CardArtForIdAsked, m.ExtensionProvisionCalled),
        "X-FLOW-1", Severity.FAIL, Owner.YOU,
        "The SDK was made to ask for {says} out of turn, in the state '{before}'.",
        "Keep the order: status(), the entries, then provisioning and the request, each in its own call, once.",
        refused=True,
    ),
)  # fmt: skip
