"""What a trace shows of an app on platform A."""

from collections.abc import Iterator
from functools import cache
from math import inf

from workbook.base.rules import Owner
from workbook.checks import api
from workbook.checks.finding import Check, Finding, Severity, Symptom, by_cause
from workbook.flows import messages as m
from workbook.flows.messages import Actor, Event
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import VARIANTS_A
from workbook.simulation.wallet import CANCELED, NOT_ALLOWLISTED

_GUARD = "Disable the button from the tap until the flow completes or is terminated."


def failures(trace: Trace) -> Iterator[Finding]:
    """Attempts that ended in ProvisionResult.Failure; what overlapping taps cause has a check of its own."""
    once = "Hand over the sdkInput of this attempt's own POST, as it came (that it works only once is assumed: GAP-3)."
    advice = {  # for the failures (sdk-a) that need advice of their own
        CANCELED: (Severity.NOTE, Owner.NOBODY,
                     "The cardholder changed their mind: enable the button again, show no error."),
        "InvalidSdkInput": (Severity.FAIL, Owner.YOU, once),
        "OpcFetchError": (Severity.FAIL, Owner.YOU,
                          "Look into your fetchOpc and your back end's log: no OPC data came."),
    }  # fmt: skip
    other = (Severity.WARN, Owner.YOU, "Enable the button again and say that the card was not added.")
    for record, failure in trace.seen(m.ProvisionFailure, Kind.EVENT):
        level, owner, todo = advice.get(failure.reason, other)
        if failure.reason == "OpcFetchError" and api.gave_nothing(trace, record.at):
            level, owner, todo = Severity.NOTE, Owner.NOBODY, api.IN_ORDER
        if not (_overlapped(trace, record.at) and failure.reason == "InvalidSdkInput"):
            why, todo = by_cause(failure.why, todo)
            because = f" because {why}" if why else ""  # the document shows none of its fields (GAP-4)
            reason = f"{failure.reason} (sdk-a){because}" if failure.reason else "it does not say why"
            text = f"provision ended in Failure: {reason}."
            yield Finding("A-PROV-3", level, owner, text, todo, record.at)


def _overlapped(trace: Trace, until: float = inf) -> list[Record]:
    """The taps before `until` that began another attempt while one was under way."""
    # The table says so (its rows for a tap in a busy state rest on A-BTN-2), and not the time between two taps.
    taps = trace.select(m.AddTapped, kind=Kind.EVENT)
    return [record for record in taps if "A-BTN-2" in record.rules and record.at < until]


def overlapping_taps(trace: Trace) -> Iterator[Finding]:
    """Taps that began another attempt while one was under way (A-BTN-1), and what came of it (A-BTN-2)."""
    if not (rapid := _overlapped(trace)):
        return
    began = "A tap" if len(rapid) == 1 else f"{len(rapid)} taps"
    text = f"{began} began another attempt while one was under way."
    yield Finding("A-BTN-1", Severity.FAIL, Owner.YOU, text, _GUARD, rapid[0].at)
    for record, failure in trace.seen(m.ProvisionFailure, Kind.EVENT):
        if failure.reason == "InvalidSdkInput" and record.at > rapid[0].at:
            because = f": {failure.why}" if failure.why else ""
            text = f"An attempt ended in InvalidSdkInput, as is likely after quick taps{because}."
            yield Finding("A-BTN-2", Severity.FAIL, Owner.YOU, text, f"The data is fine. {_GUARD}", record.at)


def unguarded_button(trace: Trace) -> Iterator[Finding]:
    """The app did not disable its button after a tap, and no second tap came (A-BTN-1); calls by hand have no app."""
    taps = trace.select(m.AddTapped, kind=Kind.EVENT)
    played = trace.select(m.Opened) and trace.select(m.ProvisionWithProviderCalled, m.CreateSdkOutputCalled)
    guarded = {record.attempt for record in trace.select(m.DisableButton)}
    # If a second tap came through, `overlapping_taps` says so, and says it better: here the mistake did no harm yet.
    if not played or any("A-BTN-2" in tap.rules for tap in taps):
        return
    for tap in taps:
        if tap.attempt not in guarded:
            text = (
                "The app left its button enabled while the card was being added: a second tap begins another attempt."
            )
            yield Finding("A-BTN-1", Severity.FAIL, Owner.YOU, text, _GUARD, tap.at)


def refused_taps(trace: Trace) -> Iterator[Finding]:
    """Taps that began nothing, on either platform, whether the button was enabled or not."""
    rule = "B-START-1" if any(trace.seen(m.ServiceCalled)) else "A-BTN-1"
    enabled: bool | None = None
    for record in trace.select(m.AddTapped, m.ShowButton, m.EnableButton, m.HideButton, m.DisableButton):
        if record.kind is Kind.COMMAND:
            enabled = isinstance(record.message, m.ShowButton | m.EnableButton)
        elif record.kind is Kind.REFUSED:
            text = f"A tap came while the app was '{record.before}' and began nothing"
            if enabled is None:
                todo = "Open the card's page first."
                yield Finding("FLOW-4", Severity.NOTE, Owner.YOU, f"{text}: there was no button yet.", todo, record.at)
            elif enabled:
                text += ", though the button was enabled."
                yield Finding(rule, Severity.FAIL, Owner.YOU, text, _GUARD, record.at)
            else:
                text += ": the button was not enabled."
                todo = "Nothing to do; this is how it should be."
                yield Finding(rule, Severity.NOTE, Owner.NOBODY, text, todo, record.at)


@cache
def answers() -> tuple[type[Event], ...]:
    """What the app waits for on platform A: all that the tables bring to it, except the cardholder's own acts."""
    events = dict.fromkeys(event for variant in VARIANTS_A.values() for event in variant.machine.events)
    return tuple(event for event in events if event.receiver is Actor.APP and event.sender is not Actor.CARDHOLDER)


def late_answers(trace: Trace) -> Iterator[Finding]:
    """Outcomes that arrived when the app no longer waited for them."""
    for record in trace.select(*answers(), kind=Kind.REFUSED):
        text = f"“{record.message.says}” arrived while the app was '{record.before}', which does not wait for it."
        todo = (
            "Find the call that began before the last one had ended. Allow one attempt at a time, with the button "
            "disabled from the tap until the flow completes or is terminated."
        )
        yield Finding("A-BTN-1", Severity.WARN, Owner.YOU, text, todo, record.at)


def deprecated_calls(trace: Trace) -> Iterator[Finding]:
    """Calls that this variant advises against (A-OUT-1, A-PROV-4)."""
    for record in trace:
        if record.deprecated:
            rule = "A-OUT-1" if isinstance(record.message, m.CreateSdkOutputCalled) else "A-PROV-4"
            todo = "Migrate: remove createSdkOutput(), implement OpcProvider, call the new provision (A-MIG-1)."
            yield Finding(
                rule, Severity.WARN, Owner.YOU, f"{record.message.says} is deprecated from 0.4.0.", todo, record.at
            )


def configuration_issue(trace: Trace) -> Iterator[Finding]:
    """A card that was just added, yet could be added again (A-CAN-6): a mistake, or on purpose."""
    on_purpose = False
    for record in trace.select(m.AskCanProvision, m.VerificationPending, m.ReportToContact):
        if not isinstance(record.message, m.ReportToContact):
            on_purpose = isinstance(record.message, m.VerificationPending)
        elif on_purpose:
            text = "canProvision says CanBeProvisioned on purpose: the card waits for an identity check (sdk-a)."
            todo = "Report nothing; once the cardholder is verified, another call of provision completes it."
            yield Finding("A-CAN-6", Severity.NOTE, Owner.NOBODY, text, todo, record.at)
        else:
            text = "canProvision says CanBeProvisioned for a card that is in the wallet: a card configuration issue."
            todo = (
                "Report it to the operator's implementation contact to have the card scheme configuration verified. "
                "(Exception, sdk-a: a card that waits for an identity check is answered this way on purpose.)"
            )
            yield Finding("A-CAN-6", Severity.FAIL, Owner.OPERATOR, text, todo, record.at)


PLATFORM_A_CHECKS: tuple[Check, ...] = (
    Symptom(
        m.InvalidSdkInput, "A-CREATE-3", Severity.FAIL, Owner.YOU, "create refused the sdkInput: {why}.",
        "Hand the GET's sdkInput to create as the exact text that the API sent.",
    ),
    Symptom(
        m.WalletPayNotSupported, "A-CREATE-2", Severity.WARN, Owner.YOU,
        "create found the wallet payment service not supported.",
        "Offer no button (assumed). This phone lacks the wallet payment service; or, if other cards work on it, this "
        "card's supportedWallets lack the wallet (inferred): then write to the operator.",
    ),
    Symptom(
        m.CanProvisionError, "A-CAN-3", Severity.WARN, Owner.YOU, "canProvision ended in Error: {r.throwable}.",
        "Log the throwable, offer no button, and ask again when the page is opened again (assumed).",
    ),
    Symptom(
        m.UnknownFailure, "A-CAN-4", Severity.WARN, Owner.YOU, "canProvision ended in UnknownFailure.",
        "Offer no button, and ask again later (assumed). The document names no cause; one to rule out is an app that "
        "is not allowlisted (A-ALLOW-1, assumed).",
    ),
    Symptom(
        m.ApiError, "A-CAN-5", Severity.WARN, Owner.YOU,
        "canProvision ended in ApiError: the wallet provider's API answered {r.status_code}.",
        "Offer no button (assumed), and look the statusCode up in the wallet provider's reference.",
        when=lambda error: error.status_code != NOT_ALLOWLISTED,
    ),
    Symptom(
        m.ApiError, "A-CAN-5", Severity.WARN, Owner.OPERATOR,
        "canProvision ended in ApiError {r.status_code}: the app is not allowlisted (wallet).",
        "Offer no button (assumed). Write to the implementation contact, with the application id and the fingerprint: "
        "the operator has the app allowlisted (A-ALLOW-2).",
        when=lambda error: error.status_code == NOT_ALLOWLISTED,
    ),
    Symptom(
        m.SdkOutputFailed, "A-ASYNC-1", Severity.FAIL, Owner.YOU, "createSdkOutput gave no sdkOutput: {why}.",
        "Query the result's outcome before using it, and enable the button again.",
    ),
    failures,
    overlapping_taps,
    unguarded_button,
    refused_taps,
    Symptom(
        (m.CreateCalled, m.CanProvisionCalled, m.CreateSdkOutputCalled, m.ProvisionCalled,
         m.ProvisionWithProviderCalled),
        "", Severity.FAIL, Owner.YOU,
        "{says} was called while the app was '{before}', which the document does not show.",
        "Follow the order: create, canProvision, then on tap what the variant prescribes.",
        refused=True,
    ),
    late_answers,
    deprecated_calls,
    configuration_issue,
)  # fmt: skip
