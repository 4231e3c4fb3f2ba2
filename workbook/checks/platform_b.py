"""What a trace shows of an app on platform B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.flows import messages as m
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.flows.messages import Message
    from workbook.trace import Record, Trace

SYMPTOMS: dict[type[Message], Symptom] = {
    m.FinishedWithNeither: Symptom(
        "B-FIN-1", Level.WARN, Owner.YOU, "didFinishProvisioning came with neither a pass nor an error.",
        "Treat it as not added: enable the button again, and ask once more when the page is opened.",
    ),
    m.NoSdkInput: Symptom(
        "B-DEL-3", Level.FAIL, Owner.YOU, "The delegate returned nil: {r.reason}.",
        "Look into the back end's log: the POST gave no sdkInput. The cardholder is told that it failed.",
    ),
    m.WatchSessionTakenOver: Symptom(
        "B-WATCH-2", Level.FAIL, Owner.YOU,
        "WatchAvailability was made {r.instances} times: the latest took the watch session from the others (sdk-b).",
        "Create one for the whole app and keep it; other watch features of the app lose their session.",
    ),
}  # fmt: skip
"""Outcomes that need a word whenever they occur."""

DECODE = "Decode the base64 of the JSON once and hand over the bytes (API-8); platform A takes the text."
CASES: dict[str, tuple[Level, Owner, str]] = {
    "invalidSDKInput": (Level.FAIL, Owner.YOU, "Hand over the answer's sdkInput as bytes, unchanged, for this card."),
    "walletNotSupported": (Level.WARN, Owner.OPERATOR, "Have the card set up for this wallet; show no button until."),
    "presentationFailure": (Level.FAIL, Owner.YOU,
                            "Put the provisioning entitlement on the app; a simulator or development build has none."),
    "delegateNotSet": (Level.FAIL, Owner.YOU, "Pass the delegate to start, and keep it alive until it has finished."),
    "userCancelled": (Level.NOTE, Owner.NOBODY, "The cardholder changed their mind: enable the button, show no error."),
}  # fmt: skip
"""The cases (sdk-b) that call for something of their own."""

ANY_CASE = (Level.WARN, Owner.YOU, "Enable the button again, tell the cardholder, and log the error.")

SAYS: dict[type[Message], str] = {
    m.ServiceRefused: "No ProvisioningService could be made",
    m.StartThrew: "start threw",
    m.FinishedWithError: "didFinishProvisioning came with an error",
}
"""The three ways in which a case arrives."""


def cases(trace: Trace) -> Iterator[Finding]:
    """Errors of the SDK, by their case: what to do depends on it, and on nothing else."""
    for record in trace.select(*SAYS, kind=Kind.EVENT):
        message: Any = record.message
        level, owner, todo = CASES.get(message.case, ANY_CASE)
        text = f"{SAYS[type(message)]}: {message.case} (sdk-b), {message.why}."
        yield Finding(message.rules[0], level, owner, text, todo, record.at)


def text_for_bytes(trace: Trace) -> Iterator[Finding]:
    """Base64 text where bytes belong (API-8): the classic mistake on platform B."""
    for record in trace.select(m.ServiceCalled, m.ReturnSdkInput):
        message: Any = record.message
        if isinstance(message.sdk_input, str):
            text = f"{message.says} was given text where platform B takes bytes."
            yield Finding("API-8", Level.FAIL, Owner.YOU, text, DECODE, record.at)


def overlooked_watch(trace: Trace) -> Iterator[Finding]:
    """CanAddCardDetails told that there is no watch, by an app that never looked or did not listen (B-WATCH-1)."""
    answer: bool | None = None
    for record in trace.select(m.WatchActivated, m.CanAddCardDetailsCalled, kind=Kind.EVENT):
        match record.message:
            case m.WatchActivated(is_watch_activated):
                answer = is_watch_activated
            case m.CanAddCardDetailsCalled(told) if answer not in (None, told):
                yield _overlooked("was told something else than activate() had answered.", Level.FAIL, record)
            case m.CanAddCardDetailsCalled(False) if answer is None:
                yield _overlooked("was told that there is no watch, and nobody had looked.", Level.WARN, record)


def _overlooked(what: str, level: Level, record: Record) -> Finding:
    todo = "Ask WatchAvailability.activate() first and hand its answer on, or the watch gets no card."
    return Finding("B-WATCH-1", level, Owner.YOU, f"canAddCardDetails {what}", todo, record.at)


def still_offered(trace: Trace) -> Iterator[Finding]:
    """CanAddCard stays true for a card that was added: on one place only, or hidden by the scheme (B-CAN-3)."""
    for record, seen in trace.seen(m.StillMissing):
        if seen.hidden_by_scheme:
            text = "canAddCard stays true for a card that is in the wallet: the app does not see it there."
            todo = "Have the app entered among the card's associated applications at the scheme."
            yield Finding("B-CAN-3", Level.FAIL, Owner.OPERATOR, text, todo, record.at)
        elif not (seen.phone and seen.watch):
            place = "watch" if seen.watch else "phone"
            text = f"The card was added, and the {place} still lacks it: the button stays for the {place}."
            yield Finding("B-CAN-3", Level.NOTE, Owner.NOBODY, text, "Nothing to do; say which it is for.", record.at)


def too_late(trace: Trace) -> Iterator[Finding]:
    """A delegate that took longer than the wallet waits (wallet)."""
    for record, spent in trace.seen(m.BudgetSpent, Kind.EVENT):
        if spent.call == "provision":
            text = "The delegate's provision took more than 20 s: its answer is ignored and no card is added (wallet)."
            todo = "Keep the back end's own time limits well below 20 s, retries included (REL-5)."
            yield Finding("B-DEL-3", Level.FAIL, Owner.YOU, text, todo, record.at)


def hidden_failure(trace: Trace) -> Iterator[Finding]:
    """A failure that the cardholder was not told of; they see a button and no word (B-DEL-3, B-FIN-1)."""
    nil = False
    failed: Record | None = None
    for record in trace.select(m.ReturnNil, *SAYS, m.FinishedWithNeither, m.TellFailure, m.AddTapped):
        match record.message:
            case m.AddTapped():
                nil, failed = False, None
            case m.ReturnNil():
                nil = True
            case m.TellFailure():
                failed = None
            case m.ServiceRefused():
                pass
            case _:
                failed = record
    if failed is not None and getattr(failed.message, "case", "") != "userCancelled":
        what = "nil" if nil else "an error"
        text = f"The attempt ended with {what}, and the cardholder was told nothing."
        todo = "Say that the card was not added and that they may try again."
        yield Finding("B-DEL-3" if nil else "B-FIN-1", Level.FAIL, Owner.YOU, text, todo, failed.at)


CHECKS: tuple[Check, ...] = (
    cases,
    text_for_bytes,
    overlooked_watch,
    still_offered,
    too_late,
    hidden_failure,
)
