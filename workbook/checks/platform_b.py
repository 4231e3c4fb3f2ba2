"""What a trace shows of an app on platform B."""

from collections.abc import Iterator
from typing import Any

from workbook.api.opaque import LAYERS
from workbook.base.rules import Owner
from workbook.checks import api
from workbook.checks.finding import Check, Finding, Severity, Symptom, by_cause
from workbook.errors import OpaqueDataError
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS, Message
from workbook.flows.trace import Kind, Record, Trace

# The cases (sdk-b) that need advice of their own.
CASE_ADVICE: dict[str, tuple[Severity, Owner, str]] = {
    "invalidSDKInput": (Severity.FAIL, Owner.YOU,
                        "Hand over the answer's sdkInput as bytes, unchanged, for this card."),
    "walletNotSupported": (Severity.WARN, Owner.OPERATOR,
                           "Show no button; have the card set up for this wallet, as its data must say (sdk-b)."),
    "presentationFailure": (Severity.FAIL, Owner.YOU,
                            "Put the entitlement on the app (sdk-b)."),
    "delegateNotSet": (Severity.FAIL, Owner.YOU,
                       "Pass the delegate to start, and keep it alive until it has finished."),
    "userCancelled": (Severity.NOTE, Owner.NOBODY,
                      "The cardholder changed their mind: enable the button; this is no error."),
}  # fmt: skip


def cases(trace: Trace) -> Iterator[Finding]:
    """Errors of the SDK: what to do depends on the case, and on whether the back end had an sdkInput."""
    arrived: dict[type[Message], str] = {
        m.ServiceRefused: "No ProvisioningService could be made",
        m.StartThrew: "start threw",
        m.FinishedWithError: "didFinishProvisioning came with an error",
        m.FinishedCancelled: "didFinishProvisioning came with an error",
    }
    other = (Severity.WARN, Owner.YOU, "Enable the button again, tell the cardholder, and log the error.")
    for record in trace.select(*arrived, kind=Kind.EVENT):
        message: Any = record.message
        level, owner, todo = CASE_ADVICE.get(message.case, other)
        if isinstance(message, m.FinishedWithError) and _no_sdk_input(trace, record):
            level, owner, todo = Severity.NOTE, Owner.NOBODY, api.IN_ORDER
        why, todo = by_cause(message.why, todo)
        because = f" because {why}" if why else ""
        text = f"{arrived[type(message)]}: {message.case} (sdk-b){because}."
        yield Finding(message.rules[0], level, owner, text, todo, record.at)


def _no_sdk_input(trace: Trace, ended: Record) -> bool:
    """Whether this attempt ended because its back end had no sdkInput, and not by the app's own delegate."""
    nil = [record for record in trace.select(m.NoSdkInput) if record.attempt == ended.attempt]
    failed = any(isinstance(record.message, m.DelegateFailed) for record in nil)
    return bool(nil) and (not failed or api.gave_nothing(trace, nil[-1].at))


def own_nil(trace: Trace) -> Iterator[Finding]:
    """A nil of the delegate's own making (B-DEL-3)."""
    for record, failed in trace.seen(m.DelegateFailed):
        text = f"The delegate gave the SDK nil: {failed.reason}."
        if not api.gave_nothing(trace, record.at):
            todo = "Look into your provision, then into the back end's log. Nil is for an attempt that has no sdkInput."
            yield Finding("B-DEL-3", Severity.FAIL, Owner.YOU, text, todo, record.at)
        else:
            yield Finding("B-DEL-3", Severity.NOTE, Owner.NOBODY, text, api.IN_ORDER, record.at)


def damaged_on_the_way(trace: Trace) -> Iterator[Finding]:
    """A GET's sdkInput with a layer too many or too few: it was damaged on its way to the app (API-8)."""
    for record, saved in trace.seen(m.SaveSdkInput):
        if not saved.sdk_input:
            continue  # the back end passed on nothing, which has a check of its own
        try:
            saved.sdk_input.check()
        except OpaqueDataError as error:
            text = f"The sdkInput did not reach the app as base64 text, as the API sends it (sdk-b): {error.layer}."
            yield Finding("API-8", Severity.FAIL, Owner.YOU, text, LAYERS[error.layer], record.at)


def overlooked_watch(trace: Trace) -> Iterator[Finding]:
    """A canAddCardDetails that got another value than activate() returned, or false without asking (B-WATCH-1).

    A trace of calls by hand opens no page; it does not show whether the app asked.
    """
    by_hand = not trace.select(m.Opened)
    answer: bool | None = None
    for record in trace.select(m.WatchActivated, m.CanAddCardDetailsCalled, kind=Kind.EVENT):
        match record.message:
            case m.WatchActivated(is_watch_activated):
                answer = is_watch_activated
            case m.CanAddCardDetailsCalled(given) if answer not in (None, given):
                yield _overlooked("was given another value than activate() had returned.", Severity.FAIL, record)
            case m.CanAddCardDetailsCalled(False) if answer is None and not by_hand:
                yield _overlooked(
                    "was given false, and the app had not asked WatchAvailability.activate().", Severity.WARN, record
                )


def _overlooked(what: str, level: Severity, record: Record) -> Finding:
    todo = "Ask WatchAvailability.activate() first and hand its answer on, or the watch gets no card."
    return Finding("B-WATCH-1", level, Owner.YOU, f"canAddCardDetails {what}", todo, record.at)


def still_offered(trace: Trace) -> Iterator[Finding]:
    """A canAddCard still true for an added card: the card is in one place only, or the scheme hides it (inferred)."""
    for record, seen in trace.seen(m.StillMissing):
        rule = "B-CAN-2" if any(trace.seen(m.CanAddCardDetailsCalled)) else "B-CAN-1"
        if seen.hidden_by_scheme:
            text = "canAddCard stays true for a card that is in the wallet: the app does not see it there (inferred)."
            todo = "Have the scheme list the app among the card's associated applications (inferred)."
            yield Finding(rule, Severity.WARN, Owner.OPERATOR, text, todo, record.at)
        else:
            place = "watch" if seen.watch else "phone"
            text = f"The card is in the wallet, and the {place} still lacks it: the button stays for the {place}."
            todo = f"No mistake; label the button “Add to {place}” (assumed)."
            yield Finding(rule, Severity.NOTE, Owner.NOBODY, text, todo, record.at)


def hidden_failure(trace: Trace) -> Iterator[Finding]:
    """A failure that the app did not tell the cardholder about; they see a button and no text (APP-4)."""
    told_in = {record.attempt for record in trace.select(m.TellFailure)}
    nil = {record.attempt for record in trace.select(m.ReturnNil)}
    for record in trace.select(m.StartThrew, m.FinishedWithError, m.FinishedWithNeither, kind=Kind.EVENT):
        if record.attempt in told_in or isinstance(record.message, m.FinishedCancelled):
            continue
        what = "nil" if record.attempt in nil else "a failure"
        text = f"The attempt ended with {what}, and the app told the cardholder nothing (assumed: it should)."
        todo = "Say that the card was not added and that they may try again."
        yield Finding("APP-4", Severity.FAIL, Owner.YOU, text, todo, record.at)


_BYTES = "Hand over the bytes: decode the base64 of the JSON once (sdk-b); platform A takes the text (API-7)."

PLATFORM_B_CHECKS: tuple[Check, ...] = (
    Symptom(
        m.FinishedWithNeither, "B-FIN-1", Severity.WARN, Owner.YOU,
        "didFinishProvisioning came with neither a pass nor an error.",
        "Treat it as not added (GAP-12, assumed): enable the button again, and ask once more when the page is opened.",
    ),
    Symptom(
        m.NoSdkInput, "B-DEL-3", Severity.NOTE, Owner.NOBODY,
        "The back end had no sdkInput, and the delegate returned nil: {r.reason}.",
        api.IN_ORDER,
    ),
    Symptom(
        m.WatchSessionTakenOver, "B-WATCH-2", Severity.FAIL, Owner.YOU,
        "WatchAvailability was made {r.instances} times: the latest took the watch session from the others (sdk-b).",
        "Create one for the whole app and keep it; other watch features of the app lose their session.",
    ),
    cases,
    own_nil,
    Symptom(
        m.ServiceCalled, "API-8", Severity.FAIL, Owner.YOU,
        "The initialiser was given text where platform B takes bytes.", _BYTES,
        when=lambda called: isinstance(called.sdk_input, str),
    ),
    Symptom(
        m.ReturnSdkInput, "API-8", Severity.FAIL, Owner.YOU,
        "The delegate's provision returned text where platform B takes bytes.", _BYTES,
        when=lambda returned: isinstance(returned.sdk_input, str),
    ),
    damaged_on_the_way,
    overlooked_watch,
    still_offered,
    Symptom(
        (m.BudgetSpent, m.DelegateTimeSpent), "B-DEL-3", Severity.FAIL, Owner.YOU,
        f"The delegate's provision took more than {LIMITS['provision']}: its answer is ignored and no card is added "
        "(wallet).",
        f"Keep the back end's own time limits well below {LIMITS['provision']}, retries included (REL-5).",
        when=lambda spent: spent.call == "provision",
    ),
    hidden_failure,
    Symptom(
        (m.ServiceCalled, m.WatchActivateCalled, m.CanAddCardCalled, m.CanAddCardDetailsCalled, m.StartCalled),
        "", Severity.FAIL, Owner.YOU,
        "{says} was called while the app was '{before}', where no such call is shown.",
        "Follow the order: the service, then what this variant asks, then on tap start (FLOW-3).",
        refused=True,
    ),
)  # fmt: skip
