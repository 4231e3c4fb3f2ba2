"""What a trace shows of the wallet extension: call by call, and over all of its calls."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.flows import messages as m
from workbook.flows.limits import limit
from workbook.handler_calls import handler_calls
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.flows.messages import Message
    from workbook.trace import Record, Trace

SYMPTOMS: dict[type[Message], Symptom] = {
    m.ExtensionNotFound: Symptom(
        "X-PLIST-1", Level.FAIL, Owner.YOU, "The wallet finds no such extension: {r.why}.",
        "Compare the target's project file with X-PLIST-1 to X-PLIST-3, and its entitlements with the app's.",
    ),
    m.EntriesUnavailable: Symptom(
        "X-STATUS-2", Level.NOTE, Owner.YOU, "status() says that there are no pass entries, so the app is not listed.",
        "Right when nothing is saved yet: the main app saves the sdkInput after its own network call (X-CACHE-1).",
    ),
    m.ServiceNotMade: Symptom(
        "X-INIT-1", Level.NOTE, Owner.YOU, "No ExtensionProvisioningService could be made: {r.case} (sdk-b), {r.why}.",
        "emptySDKInputs: nothing is saved, or storage is not shared. invalidSDKInput: hand over the bytes.",
    ),
    m.AuthorizationMissing: Symptom(
        "X-AUTH-1", Level.FAIL, Owner.YOU, "The cardholder could not be authenticated: {r.why}.",
        "Supply the authorization UI extension and call completionHandler once, or do not require authentication.",
    ),
    m.AuthorizationCanceled: Symptom(
        "X-AUTH-1", Level.NOTE, Owner.NOBODY, "The cardholder was not authenticated, so no card is added (X-AUTH-2).",
        "Nothing to do, unless the UI refuses everybody.",
    ),
    m.AlreadyThere: Symptom(
        "X-ENTRIES-1", Level.FAIL, Owner.YOU, "A pass entry is offered for a card that is there already (wallet).",
        "Leave out the cards that the library holds, on the phone and on the watch each for itself.",
    ),
    m.PassRefused: Symptom(
        "X-GEN-1", Level.FAIL, Owner.YOU, "The wallet cannot use the request: {r.why}.",
        "Return what the SDK made, from this call's own arguments.",
    ),
    m.SdkThrew: Symptom(
        "X-GEN-1", Level.WARN, Owner.YOU, "An SDK operation threw: {r.case} (sdk-b), {r.why}.",
        "Return nil when it throws, and look at what the delegate returned.",
    ),
}  # fmt: skip
"""Outcomes that need a word whenever they occur."""

NETWORK = (m.BackEndAsked, m.ApiRequested)
TODO = {
    "status": "Read the sdkInput that the app saved (X-CACHE-1), and make no network call.",
    "pass_entries": "Fetch for all cards at once, with a short timeout for each GET, and few retries.",
    "remote_pass_entries": "Fetch for all cards at once, with a short timeout for each GET, and few retries.",
}
SOONER = "Keep the back end's own time limits well below 20 s, retries included (REL-5)."
RULES = {"status": "X-STATUS-1", "pass_entries": "X-ENTRIES-1", "remote_pass_entries": "X-ENTRIES-2"}
"""The rule that each call is."""


def missed_limits(trace: Trace) -> Iterator[Finding]:
    """Calls that took longer than they may; what that means stands with the limit (X-STATUS-3, X-ENTRIES-3)."""
    for record, spent in trace.seen(m.BudgetSpent, Kind.EVENT):
        if spent.call != "provision":
            one = limit(spent.call)
            text = f"{_short(spent.call)} took more than {one.seconds:g} s: {one.missed}."
            yield Finding(one.rule, Level.FAIL, Owner.YOU, text, TODO.get(spent.call, SOONER), record.at)


def network_in_status(trace: Trace) -> Iterator[Finding]:
    """A network call inside status(): not reliable there, however fast it was this time (X-STATUS-3)."""
    for call in handler_calls(trace):
        if call.name == "status" and (asked := call.did(*NETWORK)):
            text = f"status() makes {len(call.did(m.BackEndAsked)) or len(asked)} network call(s)."
            level = Level.FAIL if call.late else Level.WARN
            yield Finding("X-STATUS-3", level, Owner.YOU, text, TODO["status"], asked[0].at)


def kept_in_a_handler(trace: Trace) -> Iterator[Finding]:
    """State that a handler left for a later call, which is another handler (X-HANDLER-1)."""
    todo = "Make what a call needs in that call: the service anew, the rest from the storage."
    kept: set[str] = set()
    for record in trace.select(m.HandlerKept, m.HandlerRaised):
        match record.message:
            case m.HandlerKept("its class", names):
                text = f"The handler's class keeps {', '.join(names)}: gone when the wallet ends the extension."
                yield Finding("X-HANDLER-1", Level.WARN, Owner.YOU, text, todo, record.at)
            case m.HandlerKept(_, names):
                kept |= set(names)
            case m.HandlerRaised(call, error) if error.removeprefix("AttributeError: ") in kept:
                name = error.removeprefix("AttributeError: ")
                text = f"{_short(call)} looks for self.{name}, which an earlier call left in another handler."
                yield Finding("X-HANDLER-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def failed_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that raised, or returned what they must not."""
    for record, raised in trace.seen(m.HandlerRaised):
        text = f"{_short(raised.call)} failed: {raised.error}."
        todo = "Catch what can fail, and return the documented answer for it: unavailable, no entries, or nil."
        yield Finding(RULES.get(raised.call, "X-GEN-1"), Level.FAIL, Owner.YOU, text, todo, record.at)


def mixed_up_entries(trace: Trace) -> Iterator[Finding]:
    """PassEntries where remotePassEntries belongs, the other way round, or entries of the handler's own."""
    for call in handler_calls(trace):
        if call.name in ENTRIES and call.answer is not None:
            mine, others = ENTRIES[call.name]
            if call.did(others):
                text = f"{_short(call.name)} asks the SDK for the other device's entries."
                yield _mixed(RULES[call.name], text, call.answer)
            elif isinstance(call.answer.message, m.EntriesReturned) and not call.did(mine):
                yield _mixed(RULES[call.name], f"{_short(call.name)} returns entries of its own.", call.answer)


ENTRIES: dict[str, tuple[type[m.Event], type[m.Event]]] = {
    "pass_entries": (m.SdkPassEntriesCalled, m.SdkRemotePassEntriesCalled),
    "remote_pass_entries": (m.SdkRemotePassEntriesCalled, m.SdkPassEntriesCalled),
}
"""Which operation of the SDK belongs to which call, and which does not."""


def _mixed(rule: str, text: str, record: Record) -> Finding:
    todo = "Return the SDK's operation of the same name: passEntries for the phone, remotePassEntries for the watch."
    return Finding(rule, Level.FAIL, Owner.YOU, text, todo, record.at)


def unstable_identifiers(trace: Trace) -> Iterator[Finding]:
    """Identifiers that are not unique, or differ from one call to the next (wallet)."""
    known: dict[str, str] = {}
    for record, returned in trace.seen(m.EntriesReturned):
        identifiers = [entry.identifier for entry in returned.entries]
        if len(set(identifiers)) < len(identifiers):
            yield _unstable("Two pass entries have the same identifier (wallet).", record)
        for entry in returned.entries:
            if known.setdefault(entry.payment_instrument_id, entry.identifier) != entry.identifier:
                yield _unstable("A card's pass entry has another identifier than last time (wallet).", record)


def _unstable(text: str, record: Record) -> Finding:
    todo = "Leave the SDK's identifiers as they are; the wallet asks for the request by them, later and elsewhere."
    return Finding("X-GEN-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def one_get_for_several(trace: Trace) -> Iterator[Finding]:
    """One instrument's sdkInput given for several cards (API-12)."""
    for record, made in trace.seen(m.ServiceMade):
        if doubled := [card for card, times in Counter(made.cards).items() if times > 1]:
            text = f"The same payment instrument's sdkInput was given more than once: {', '.join(doubled)}."
            todo = "Make one GET for each payment instrument; each has its own sdkInput."
            yield Finding("API-12", Level.FAIL, Owner.YOU, text, todo, record.at)


def poor_card_art(trace: Trace) -> Iterator[Finding]:
    """Card art that does not show the card, or that the wallet may refuse (X-ART-1)."""
    for record, art in trace.seen(m.CardArtReturned):
        if art.problems:
            todo = "Return the picture of exactly the card that was asked for, as the wallet wants it."
            yield Finding("X-ART-1", Level.FAIL, Owner.YOU, f"The card art is wrong: {art.problems}.", todo, record.at)


def crossed_posts(trace: Trace) -> Iterator[Finding]:
    """A delegate that posts for another card than the SDK named (X-DEL-1)."""
    for call in handler_calls(trace):
        named = {record.message.payment_instrument_id for record in call.did(m.ExtensionProvisionCalled)}  # type: ignore[attr-defined]
        for record in call.did(m.BackEndAsked):
            asked: Any = record.message
            if asked.method == "POST" and named and asked.payment_instrument_id not in named:
                text = "The delegate posts for another payment instrument than the SDK named."
                todo = "Use the paymentInstrumentId that provision was given; mind the order of its two arguments."
                yield Finding("X-DEL-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def nil_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned nil (X-DEL-1); the wallet then says that the card was not added."""
    for record, returned in trace.seen(m.DelegateReturned):
        if returned.sdk_input is None:
            text = "The delegate's provision returned nil, so there is no request."
            todo = "Look into the back end's log: the POST gave no sdkInput."
            yield Finding("X-DEL-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def request_without_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A request that no delegate provisioned (X-FLOW-1)."""
    for record in trace.select(m.RequestReturned, kind=Kind.REFUSED):
        text = "A request was returned before the delegate had provisioned anything."
        todo = "Return what the SDK's operation of the same name makes in this very call."
        yield Finding("X-FLOW-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def completion_called_again(trace: Trace) -> Iterator[Finding]:
    """CompletionHandler called more than once (X-AUTH-1)."""
    calls = 0
    for record in trace.select(m.Authenticate, m.CompletionHandlerCalled):
        calls = 0 if isinstance(record.message, m.Authenticate) else calls + 1
        if calls == 2:  # noqa: PLR2004  # the second call is the mistake
            text = "completionHandler was called more than once; the wallet may end the extension."
            yield Finding("X-AUTH-1", Level.FAIL, Owner.YOU, text, "Call it once, with the outcome.", record.at)


def _short(call: str) -> str:
    return "the request's generation" if call.startswith("generate") else f"{call}()"


CHECKS: tuple[Check, ...] = (
    missed_limits,
    network_in_status,
    kept_in_a_handler,
    failed_calls,
    mixed_up_entries,
    unstable_identifiers,
    one_get_for_several,
    poor_card_art,
    crossed_posts,
    nil_from_the_delegate,
    request_without_the_delegate,
    completion_called_again,
)
