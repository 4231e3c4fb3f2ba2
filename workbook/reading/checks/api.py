"""What a trace shows of the back end and the HTTP API, whichever platform asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from workbook.api.exchange import is_transient
from workbook.base.rules import Owner
from workbook.flows import messages as m
from workbook.flows.messages import Message, limit_of
from workbook.flows.trace import Record, Trace
from workbook.reading.checks.finding import Check, Finding, Severity, Symptom

# First, what can be seen only if the back end's every attempt was watched: what it repeated, believed and waited for.

PATIENCE = limit_of("provision").seconds
"""Seconds that the wallet waits (wallet)."""
CROSSED = (
    "Compare the id that the SDK gives your code with the card of the page, and refuse a different one. "
    "Then find out who crossed two cards: the app, or a back end that mixed up two requests (REL-4)."
)
DEADLINE = f"Set a deadline for the whole call, retries included, well below {PATIENCE:g} s."
LOST = ("MaybeSentError", "DeadlineError")
"""Errors after which it is unknown whether the request arrived; the first is transient."""
CALL = (m.ApiRequested, m.ApiAnswered, m.ApiFailed, m.ApiCallEnded)


def calls(trace: Trace) -> Iterator[list[Record]]:
    """The records of each call that was watched to its end: requests, what came of them, and last the end."""
    call: list[Record] = []
    for record in trace.select(*CALL):
        if isinstance(record.message, m.ApiRequested) and not isinstance(record.message, m.ApiAskedAgain):
            call = []
        call.append(record)
        if isinstance(record.message, m.ApiCallEnded):
            # A call that failed before it sent anything has an end and no request: nothing is known of the API then.
            if len(call) > 1:
                yield call
            call = []


def posted_again(trace: Trace) -> Iterator[Finding]:
    """A POST that may have arrived and was sent again (REL-1)."""
    for record, again in trace.seen(m.ApiAskedAgain):
        if again.method == "POST":
            text = "The back end sent the POST again by itself, though the first one may have arrived."
            todo = "Send it once. The cardholder taps again, and that attempt has a new sdkOutput."
            yield Finding("REL-1", Severity.FAIL, Owner.YOU, text, todo, record.at)


WAITS = (m.StartBudget, m.StopBudget, m.Opened, m.ApiRequested, m.ApiCallEnded)
"""What shows whether the wallet was waiting when a call of the back end began."""


def waited_too_long(trace: Trace) -> Iterator[Finding]:
    """A call that took as long as the wallet waits on platform B, or longer (REL-5).

    The wallet waits for the extension's calls and for the app's delegate; for any other call no limit is known.
    """
    waiting: m.StartBudget | None = None
    limited: m.StartBudget | None = None
    for record in trace.select(*WAITS):
        match record.message:
            case m.StartBudget() as waiting:
                pass
            case m.StopBudget() | m.Opened():
                waiting = None
            case m.ApiRequested() as request if not isinstance(request, m.ApiAskedAgain):
                limited = waiting
            case m.ApiCallEnded() as over if over.took >= PATIENCE:
                text, todo = f"The {over.method} kept the back end waiting for {over.took:g} s", DEADLINE
                if limited is not None:
                    limit = limit_of(limited.call)
                    text = f"{text}; the wallet waits {limit.seconds:g} s for {limit.call}() ({limit.source})."
                    yield Finding("REL-5", Severity.FAIL, Owner.YOU, text, todo, record.at)
                else:
                    text = f"{text}. No limit is shown for this call; the cardholder looks at a page that does nothing."
                    yield Finding("REL-5", Severity.WARN, Owner.YOU, text, todo, record.at)


def passed_on_nothing(trace: Trace) -> Iterator[Finding]:
    """A 200 without a usable sdkInput that was passed on as if it had one (REL-6)."""
    for record, answer in trace.seen(m.ApiAnswered):
        if answer.sdk_input == "":
            text = "A 200 without a usable sdkInput was passed on to the app as a success."
            todo = "Look for an sdkInput that is text and not empty (API-9); without it the call has failed."
            yield Finding("REL-6", Severity.FAIL, Owner.YOU, text, todo, record.at)


def followed_redirects(trace: Trace) -> Iterator[Finding]:
    """A request that went on to where a redirect pointed, with the key (REL-2)."""
    for record, followed in trace.seen(m.RedirectFollowed):
        if followed.with_key:
            text = f"The API key went to another origin than the API's: {followed.location}"
            todo = "Switch redirects off in the HTTP client, and have this key replaced."
            yield Finding("REL-2", Severity.FAIL, Owner.YOU, text, todo, record.at)


def gave_up_at_once(trace: Trace) -> Iterator[Finding]:
    """A GET that met a transient error and was not repeated, though nothing forbids it (REL-1 binds the POST)."""
    for call in calls(trace):
        over: Any = call[-1].message
        outcome: Any = call[-2].message
        transient = outcome.error == LOST[0] if isinstance(outcome, m.AnswerLost) else False
        if isinstance(outcome, m.ApiAnswered):
            transient = is_transient("GET", outcome.status)
        if over.method == "GET" and over.attempts == 1 and transient:
            text = "The GET failed with a transient error, and the back end gave up after one attempt."
            todo = "Repeat the GET a few times, with growing random pauses: only a POST must not be repeated (REL-1)."
            yield Finding("REL-1", Severity.WARN, Owner.YOU, text, todo, call[-1].at)


def lost_answers(trace: Trace) -> Iterator[Finding]:
    """Calls without an answer; the consequence depends on the method (REL-1)."""
    for call in calls(trace):
        over: Any = call[-1].message
        outcome = call[-2].message
        if isinstance(outcome, m.AnswerLost):
            text = f"No answer to the {over.method}: {outcome.fault} ({outcome.error})."
            yield Finding("REL-1", Severity.NOTE, Owner.NOBODY, text, MEANS[over.method], call[-1].at)


MEANS = {
    "GET": "Nothing is lost: tell the app to try again later, and read again then.",
    "POST": "Whether it was carried out is unknown: tell the app that it failed. A new tap makes a new sdkOutput.",
}
"""What a lost answer means, by what was asked."""


def refused_answers(trace: Trace) -> Iterator[Finding]:
    """A 200 that is of no use and was rightly refused (API-9); the operator has to find its source."""
    for record, refused in trace.seen(m.AnswerRefused):
        text = f"A 200 of no use was refused, as it should be: {refused.fault} ({refused.error})."
        todo = "Report it, with the time and without the body; look for a proxy that changes answers."
        yield Finding("API-9", Severity.WARN, Owner.OPERATOR, text, todo, record.at)


# What a trace shows of every back end, watched attempt by attempt or not.

IN_ORDER = "That is right: the app says that the card was not added, and the cardholder's next tap is a new attempt."
"""What to do when the API gave nothing and your side made no mistake."""


def gave_nothing(trace: Trace, at: float) -> bool:
    """Whether the latest API call up to `at` gave no sdkInput: an error, no answer, or an answer that was refused."""
    outcomes = [record.message for record in trace.select(m.ApiAnswered, m.ApiFailed) if record.at <= at]
    return bool(outcomes) and getattr(outcomes[-1], "sdk_input", None) is None


SYMPTOMS: dict[type[Message], Symptom] = {
    m.ApiFailed: Symptom(
        "API-9", Severity.FAIL, Owner.YOU, "The back end got no usable answer: {r.error}.",
        "Tell the app that it failed; never pass on an answer without sdkInput.",
    ),
}  # fmt: skip
"""Messages that are a finding whenever they occur."""

STATUSES: dict[int, tuple[Owner, str, str]] = {
    400: (Owner.YOU, "the request is not well formed", "Compare the request with API-4 to API-6."),
    401: (Owner.YOU, "no valid key", "Send x-api-key with every request, with this environment's key (API-4)."),
    403: (Owner.OPERATOR, "the credential lacks the role", "Ask for the activation-data role (API-15)."),
    422: (Owner.YOU, "the instrument or the sdkOutput cannot be used",
          "Check the id and the instrument's state; make a new sdkOutput for each attempt."),
    429: (Owner.OPERATOR, "too many requests", "Ask for your limits (GAP-2)."),
}  # fmt: skip
"""The likely meaning of a status (assumed): the document shows no status (GAP-1), so no status breaks its rules."""
AGAIN = {"GET": "Wait as long as Retry-After says, then ask again. ", "POST": "Do not send it again (REL-1). "}
"""What to do after a 429, by the method."""
REDIRECT = "Correct the address; following would take the key to another place (REL-2)."


def statuses(trace: Trace) -> Iterator[Finding]:
    """Answers of the HTTP API other than 200; one is only a note if the back end asked again."""
    exchange = trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed)
    method = ""
    for record, following in zip_longest(exchange, exchange[1:]):
        match record.message:
            case m.ApiRequested():
                method = record.message.method
            case m.ApiAnswered(status) if following is not None and isinstance(following.message, m.ApiAskedAgain):
                text = f"The HTTP API answered {status}, and the back end asked again."
                yield Finding(
                    "GAP-1", Severity.NOTE, Owner.NOBODY, text, "Nothing to do, unless it happens often.", record.at
                )
            case m.ApiAnswered(status) if status != 200:  # the one success
                other = REDIRECT if 300 <= status < 400 else "Try again later."  # every redirect
                owner, meaning, todo = STATUSES.get(status, (Owner.OPERATOR, "", other))
                text = f"The HTTP API answered {status}{meaning and f', most likely: {meaning} (assumed)'}."
                todo = AGAIN.get(method, "") + todo if status == 429 else todo  # too many requests
                yield Finding("GAP-1", Severity.FAIL, owner, text, todo, record.at)
            case _:
                pass


def crossed_instruments(trace: Trace) -> Iterator[Finding]:
    """Requests for another payment instrument than the one that was opened (API-3)."""
    opened = {event.payment_instrument_id for _record, event in trace.seen(m.Opened)}
    if not opened:
        return
    for record, request in trace.seen(m.ApiRequested):
        if request.payment_instrument_id not in opened:
            text = "The request names another payment instrument than the one that was opened."
            yield Finding("API-3", Severity.FAIL, Owner.YOU, text, CROSSED, record.at)


CHECKS: tuple[Check, ...] = (
    statuses,
    crossed_instruments,
    posted_again,
    waited_too_long,
    passed_on_nothing,
    followed_redirects,
    gave_up_at_once,
    lost_answers,
    refused_answers,
)
