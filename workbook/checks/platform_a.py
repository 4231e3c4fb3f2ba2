"""What a trace shows of an app on platform A."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.flows import messages as m
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.flows.messages import Message
    from workbook.trace import Trace

SYMPTOMS: dict[type[Message], Symptom] = {
    m.InvalidSdkInput: Symptom(
        "A-CREATE-3", Level.FAIL, Owner.YOU, "create refused the sdkInput: {r.why}.",
        "Hand the GET's sdkInput to create as the exact text that the API sent, decoded not once.",
    ),
    m.WalletPayNotSupported: Symptom(
        "A-CREATE-2", Level.WARN, Owner.OPERATOR, "The wallet payment service is not supported here.",
        "Check whether the card is set up for this wallet; until it is, the app hides its button.",
    ),
    m.CanProvisionError: Symptom(
        "A-CAN-3", Level.WARN, Owner.YOU, "canProvision ended in Error: {r.throwable}.",
        "Log the throwable, offer no button, and ask again when the page is opened again.",
    ),
    m.UnknownFailure: Symptom(
        "A-CAN-4", Level.WARN, Owner.YOU, "canProvision ended in UnknownFailure.",
        "Offer no button and ask again later. If it stays, check that the app is allowlisted (A-ALLOW-1).",
    ),
    m.ApiError: Symptom(
        "A-CAN-5", Level.WARN, Owner.OPERATOR, "The wallet provider's API answered {r.status_code}.",
        "Look the statusCode up. 15009: have the application id and the fingerprint allowlisted (A-ALLOW-2).",
    ),
    m.SdkOutputFailed: Symptom(
        "A-ASYNC-1", Level.FAIL, Owner.YOU, "createSdkOutput gave no sdkOutput: {r.why}.",
        "Query the result's outcome before using it, and enable the button again.",
    ),
}  # fmt: skip
"""Outcomes that need a word whenever they occur."""

FAILURES: dict[str, tuple[Level, Owner, str]] = {
    "Canceled": (
        Level.NOTE,
        Owner.NOBODY,
        "The cardholder changed their mind: enable the button again, show no error.",
    ),
    "InvalidSdkInput": (
        Level.FAIL,
        Owner.YOU,
        "Hand over the POST's sdkInput, as it came, once, for this very attempt.",
    ),
    "OpcFetchError": (Level.FAIL, Owner.YOU, "Look into your fetchOpc and your back end's log: no OPC data came."),
}
"""The failures (sdk-a) that call for something of their own."""

ANY_FAILURE = (Level.WARN, Owner.YOU, "Enable the button again and say that the card was not added.")


def failures(trace: Trace) -> Iterator[Finding]:
    """Attempts that ended in ProvisionResult.Failure; overlapping taps have a check of their own."""
    for record, failure in trace.seen(m.ProvisionFailure, Kind.EVENT):
        level, owner, todo = FAILURES.get(failure.reason, ANY_FAILURE)
        why = f" ({failure.why})" if failure.why else ""
        text = f"provision ended in Failure: {failure.reason}{why}."
        yield Finding("A-PROV-3", level, owner, text, todo, record.at)


def overlapping_taps(trace: Trace) -> Iterator[Finding]:
    """Taps that began a second attempt on top of one under way (A-BTN-1), and what came of it (A-BTN-2)."""
    rapid = [r for r in trace.select(m.AddTapped, kind=Kind.EVENT) if "A-BTN-2" in r.rules]
    if not rapid:
        return
    todo = "Disable the button from the tap until the flow completes or is terminated."
    text = f"{len(rapid)} tap(s) began another attempt while one was under way."
    yield Finding("A-BTN-1", Level.FAIL, Owner.YOU, text, todo, rapid[0].at)
    for record, failure in trace.seen(m.ProvisionFailure, Kind.EVENT):
        if failure.reason == "InvalidSdkInput" and record.at > rapid[0].at:
            text = "The overlapping attempts ended in InvalidSdkInput, as the document warns."
            yield Finding("A-BTN-2", Level.FAIL, Owner.YOU, text, todo, record.at)


def unguarded_button(trace: Trace) -> Iterator[Finding]:
    """A tap after which an app left its button alone, though no second one came (A-BTN-1); by hand there is no app."""
    taps = trace.select(m.AddTapped, kind=Kind.EVENT)
    played = trace.select(m.Opened) and trace.select(m.ProvisionWithProviderCalled, m.CreateSdkOutputCalled)
    if not taps or not played or trace.select(m.DisableButton) or any("A-BTN-2" in r.rules for r in taps):
        return
    text = (
        "The app left its button enabled while the card was being added: a second tap would have begun another attempt."
    )
    todo = "Disable the button from the tap until the flow completes or is terminated."
    yield Finding("A-BTN-1", Level.FAIL, Owner.YOU, text, todo, taps[0].at)


def refused_taps(trace: Trace) -> Iterator[Finding]:
    """Taps that a disabled button kept away, on either platform."""
    rule = "B-START-1" if any(trace.seen(m.ServiceCalled)) else "A-BTN-1"
    for record in trace.select(m.AddTapped, kind=Kind.REFUSED):
        text = f"A tap came while the app was '{record.before}' and began nothing: the button was not enabled."
        yield Finding(rule, Level.NOTE, Owner.NOBODY, text, "Nothing to do; this is how it should be.", record.at)


APP_CALLS = (m.CreateCalled, m.CanProvisionCalled, m.CreateSdkOutputCalled, m.ProvisionCalled,
             m.ProvisionWithProviderCalled)  # fmt: skip


def calls_out_of_order(trace: Trace) -> Iterator[Finding]:
    """Calls of the app's own code that the document does not allow where they were made."""
    for record in trace.select(*APP_CALLS, kind=Kind.REFUSED):
        text = (
            f"{record.message.says} was called while the app was '{record.before}', which the document does not show."
        )
        todo = "Follow the order: create, canProvision, then on tap what the variant prescribes."
        yield Finding(record.message.rules[0], Level.FAIL, Owner.YOU, text, todo, record.at)


ANSWERS = (m.ActivationDataReceived, m.ActivationDataFailed, m.CreateSuccess, m.WalletPayNotSupported,
           m.InvalidSdkInput, m.CanBeProvisioned, m.AlreadyExistsInWallet, m.CanProvisionError, m.UnknownFailure,
           m.ApiError, m.SdkOutputCreated, m.SdkOutputFailed, m.FetchOpcCalled, m.OpcReceived, m.OpcFailed,
           m.ProvisionSuccess, m.ProvisionFailure)  # fmt: skip
"""Whatever the app waits for on platform A."""


def late_answers(trace: Trace) -> Iterator[Finding]:
    """Outcomes that arrived when nobody waited for them any more."""
    for record in trace.select(*ANSWERS, kind=Kind.REFUSED):
        text = f"{record.name} arrived while the app was '{record.before}' and was ignored."
        todo = "One attempt at a time: an answer to an older attempt must not touch the newer one."
        yield Finding("A-BTN-1", Level.WARN, Owner.YOU, text, todo, record.at)


def deprecated_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that this variant advises against (A-OUT-1, A-PROV-4)."""
    for record in trace:
        if record.deprecated:
            rule = "A-OUT-1" if isinstance(record.message, m.CreateSdkOutputCalled) else "A-PROV-4"
            todo = "Migrate: remove createSdkOutput(), implement OpcProvider, call the new provision (A-MIG-1)."
            yield Finding(
                rule, Level.WARN, Owner.YOU, f"{record.message.says} is deprecated from 0.4.0.", todo, record.at
            )


CONFIGURATION_ISSUE = Symptom(
    "A-CAN-6",
    Level.FAIL,
    Owner.OPERATOR,
    "canProvision says CanBeProvisioned for a card that is in the wallet: a card configuration issue.",
    "Report it to the operator's implementation contact to have the card scheme configuration verified. "
    "(Exception, sdk-a: a card that waits for an identity check is answered this way on purpose.)",
)
IDENTITY_CHECK = Symptom(
    "A-CAN-6",
    Level.NOTE,
    Owner.NOBODY,
    "canProvision says CanBeProvisioned on purpose: the card waits for an identity check (sdk-a).",
    "Report nothing; provision again completes it once the cardholder is verified.",
)


def configuration_issue(trace: Trace) -> Iterator[Finding]:
    """A card that was just added, yet could be added again (A-CAN-6), and why."""
    meaning = CONFIGURATION_ISSUE
    for record in trace.select(m.AskCanProvision, m.VerificationPending, m.ReportToContact):
        match record.message:
            case m.ReportToContact():
                yield meaning.found(record)
            case m.VerificationPending():
                meaning = IDENTITY_CHECK
            case _:
                meaning = CONFIGURATION_ISSUE


CHECKS: tuple[Check, ...] = (
    failures,
    overlapping_taps,
    unguarded_button,
    refused_taps,
    calls_out_of_order,
    late_answers,
    deprecated_calls,
    configuration_issue,
)
