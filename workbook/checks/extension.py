"""What a trace shows of the wallet extension call by call; entries and requests have modules of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.checks import entries, generation
from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.extension.calls import handler_calls
from workbook.flows import messages as m
from workbook.flows.limits import limit
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.extension.calls import HandlerCall
    from workbook.flows.messages import Message
    from workbook.trace import Trace

SYMPTOMS: dict[type[Message], Symptom] = {
    m.ExtensionNotFound: Symptom(
        "X-PLIST-1", Level.FAIL, Owner.YOU, "The wallet finds no such extension: {r.why}.",
        "Compare the target's project file with X-PLIST-1 to X-PLIST-3, and its entitlements with the app's.",
    ),
    m.EntriesUnavailable: Symptom(
        "X-STATUS-2", Level.NOTE, Owner.YOU, "status() says that there are no pass entries, so the app is not listed.",
        "Right when nothing is saved yet: the main app saves the sdkInput after its own network call (X-CACHE-1).",
    ),
    m.AuthorizationMissing: Symptom(
        "X-AUTH-1", Level.FAIL, Owner.YOU, "The cardholder could not be authenticated: {r.why}.",
        "Supply the authorization UI extension, with the entitlement, and call completionHandler once.",
    ),
    m.AuthenticatedByWallet: Symptom(
        "X-AUTH-2", Level.NOTE, Owner.YOU, "status() required no authentication: the wallet asked by itself (assumed).",
        "Use true where your authorization UI extension supplies authentication (X-STATUS-1).",
    ),
    m.AuthorizationCanceled: Symptom(
        "X-AUTH-1", Level.NOTE, Owner.NOBODY, "The cardholder was not authenticated, so no card is added (X-AUTH-2).",
        "Nothing to do, unless the UI refuses everybody.",
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
RULES = {"status": "X-STATUS-1"} | entries.RULES
"""The rule that each call is."""

CASES: dict[str, tuple[Level, Owner, str]] = {
    "emptySDKInputs": (Level.NOTE, Owner.YOU,
                       "Right until the main app has saved the sdkInput (X-CACHE-1), where the extension reads it."),
    "invalidSDKInput": (Level.FAIL, Owner.YOU, "Hand over the bytes of the GET's sdkInput, unchanged."),
    "walletNotSupported": (Level.WARN, Owner.OPERATOR,
                           "Leave the card out; have it set up for this wallet: its data names its wallets (sdk-b)."),
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
            yield Finding(rule, Level.FAIL, Owner.YOU, text, todo, call.ended)


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
            times = len(call.did(m.BackEndAsked)) or len(asked)
            text = f"status() makes {times} network call{'' if times == 1 else 's'}."
            level = Level.FAIL if call.late else Level.WARN
            yield Finding("X-STATUS-3", level, Owner.YOU, text, TODO["status"], asked[0].at)


ANEW = "Make what a call needs in that call: the service anew, the rest from the storage."


def kept_in_its_class(trace: Trace) -> Iterator[Finding]:
    """State that a handler left in its class (X-HANDLER-1); it works until the process ends."""
    for record, kept in trace.seen(m.HandlerKept):
        if kept.where == "its class":
            text = f"The handler's class keeps {', '.join(kept.names)}: gone when the wallet ends the extension."
            yield Finding("X-HANDLER-1", Level.WARN, Owner.YOU, text, ANEW, record.at)


def kept_in_itself(trace: Trace) -> Iterator[Finding]:
    """A call that fails for want of what an earlier call left in `self`, which was another handler (X-HANDLER-1)."""
    kept: set[str] = set()
    for call in handler_calls(trace):
        if kept and call.answered(m.HandlerRaised) and (text := _missed(call, kept)):
            yield Finding("X-HANDLER-1", Level.FAIL, Owner.YOU, text, ANEW, call.ended)
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


CATCH = "Catch what can fail, and return the documented answer for it: unavailable, no entries, or nil."
MEND = "Mend the handler's code: this is a slip of its own, nothing that the SDK or the network did."
SLIPS = ("AttributeError", "NameError", "TypeError", "it returned")


def failed_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that raised, or returned what they must not."""
    for record, raised in trace.seen(m.HandlerRaised):
        text = f"{_short(raised.call)} failed: {raised.error.rstrip('.')}."
        todo = MEND if raised.error.startswith(SLIPS) else CATCH
        yield Finding(RULES.get(raised.call, "X-GEN-1"), Level.FAIL, Owner.YOU, text, todo, record.at)


def unshared_storage(trace: Trace) -> Iterator[Finding]:
    """What the app saved and the extension cannot see (X-CACHE-1; sdk-b: an app group shares it)."""
    for record, read in trace.seen(m.StorageRead):
        if read.out_of_reach:
            text = (
                f"The extension finds {read.found} sdkInputs; {read.out_of_reach} that the app saved are out of reach."
            )
            todo = "Put app and extension into the same app group, and save into the group's storage (sdk-b)."
            yield Finding("X-CACHE-1", Level.FAIL, Owner.YOU, text, todo, record.at)


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
    services_not_made,
    status_without_a_service,
    missed_limits,
    network_in_status,
    kept_in_its_class,
    kept_in_itself,
    failed_calls,
    unshared_storage,
    completion_called_again,
    *entries.CHECKS,
    *generation.CHECKS,
)
