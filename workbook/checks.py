"""Checks: a trace in, findings out. Record first, judge later.

Each check is one small function over the whole trace, and each finding names the rule, whose job it
is, and what to do. Nothing here runs anything; the same trace gives the same findings for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from workbook.flows import messages as m
from workbook.trace import Kind, Record, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.flows.messages import Message

    Check = Callable[[Trace], Iterator["Finding"]]


class Owner(StrEnum):
    """Whose job it is."""

    YOU = "you"
    OPERATOR = "operator"
    WALLET_PROVIDER = "wallet provider"
    SCHEME = "scheme"
    NOBODY = "nobody"


class Level(StrEnum):
    """How bad it is: wrong, doubtful, or only worth knowing."""

    FAIL = "fail"
    WARN = "warn"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a trace shows.

    Attributes:
        rule: the id of the rule it rests on.
        owner: whose job it is.
        text: what happened.
        todo: what to do about it.
        at: when, in seconds since the run began.
    """

    rule: str
    level: Level
    owner: Owner
    text: str
    todo: str
    at: float

    def __str__(self) -> str:
        return f"{self.level.upper()} {self.rule} (owner: {self.owner}) {self.text} {self.todo}"


@dataclass(frozen=True, slots=True)
class Symptom:
    """A message that is a finding wherever it occurs; `text` may name the message's own fields."""

    rule: str
    level: Level
    owner: Owner
    text: str
    todo: str

    def found(self, record: Record) -> Finding:
        """The finding for one record."""
        return Finding(self.rule, self.level, self.owner, self.text.format(r=record.message), self.todo, record.at)


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
    m.ApiFailed: Symptom(
        "API-9", Level.FAIL, Owner.YOU, "The back end got no usable answer: {r.error}.",
        "Tell the app that it failed; never pass on an answer without sdkInput.",
    ),
}  # fmt: skip
"""Outcomes that need a word whenever they occur."""

STATUSES: dict[int, tuple[str, Owner, str, str]] = {
    400: ("API-6", Owner.YOU, "400, the request is not well formed", "Compare the request with API-4 to API-6."),
    401: ("API-4", Owner.YOU, "401, no valid key", "Send x-api-key with every request, with this environment's key."),
    403: ("API-15", Owner.OPERATOR, "403, the credential lacks the role", "Ask for the activation-data role."),
    422: ("API-3", Owner.YOU, "422, the instrument or the sdkOutput cannot be used",
          "Check the id and the instrument's state; make a new sdkOutput for each attempt."),
}  # fmt: skip
"""What a status most likely means. Which code stands for what is not in the document (GAP-1)."""


def check(trace: Trace) -> list[Finding]:
    """Every finding of every check, in the order of time."""
    found = [finding for one in CHECKS for finding in one(trace)]
    return sorted(found, key=lambda finding: finding.at)


def symptoms(trace: Trace) -> Iterator[Finding]:
    """Outcomes that need a word whenever they occur."""
    for record in trace:
        symptom = SYMPTOMS.get(type(record.message))
        if symptom and record.kind is not Kind.REFUSED:
            yield symptom.found(record)


def statuses(trace: Trace) -> Iterator[Finding]:
    """Answers of the HTTP API other than 200."""
    for record, answer in trace.seen(m.ApiAnswered):
        status = answer.status
        if status != 200:  # noqa: PLR2004  # the one status that is a success
            rule, owner, text, todo = STATUSES.get(status, ("GAP-1", Owner.OPERATOR, f"{status}", "Try again later."))
            yield Finding(rule, Level.FAIL, owner, f"The HTTP API answered {text}.", todo, record.at)


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


def refused_taps(trace: Trace) -> Iterator[Finding]:
    """Taps that a disabled button kept away."""
    for record in trace.select(m.AddTapped, kind=Kind.REFUSED):
        text = f"A tap came while the app was '{record.before}' and began nothing: the button was not enabled."
        yield Finding("A-BTN-1", Level.NOTE, Owner.NOBODY, text, "Nothing to do; this is how it should be.", record.at)


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


def late_answers(trace: Trace) -> Iterator[Finding]:
    """Outcomes that arrived when nobody waited for them any more."""
    for record in trace.select(kind=Kind.REFUSED):
        if not isinstance(record.message, (m.Opened, m.AddTapped, *APP_CALLS)):
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


def crossed_instruments(trace: Trace) -> Iterator[Finding]:
    """Requests for another payment instrument than the one that was opened (API-3)."""
    opened = {event.payment_instrument_id for _record, event in trace.seen(m.Opened)}
    for record, request in trace.seen(m.ApiRequested):
        if request.payment_instrument_id not in opened:
            text = "The request names another payment instrument than the one that was opened."
            yield Finding(
                "API-3", Level.FAIL, Owner.YOU, text, "Take the id from the cardholder's own card.", record.at
            )


CHECKS: tuple[Check, ...] = (
    symptoms,
    statuses,
    failures,
    overlapping_taps,
    refused_taps,
    calls_out_of_order,
    late_answers,
    deprecated_calls,
    configuration_issue,
    crossed_instruments,
)
