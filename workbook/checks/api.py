"""What a trace shows of the back end and the HTTP API, whichever platform asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from workbook.api.exchange import is_transient
from workbook.base.rules import Owner
from workbook.checks.finding import Check, Finding, Severity, Symptom
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS
from workbook.flows.trace import Record, Trace

# First, what can be seen only if the back end's every attempt was watched: what it repeated, believed and waited for.


def calls(trace: Trace) -> Iterator[list[Record]]:
    """The records of each call that was watched to its end: requests, what came of them, and last the end."""
    call: list[Record] = []
    for record in trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed, m.ApiCallEnded):
        if isinstance(record.message, m.ApiRequested) and not isinstance(record.message, m.ApiAskedAgain):
            call = []
        call.append(record)
        if isinstance(record.message, m.ApiCallEnded):
            # A call that failed before it sent anything has an end and no request: nothing is known of the API then.
            if len(call) > 1:
                yield call
            call = []


def waited_too_long(trace: Trace) -> Iterator[Finding]:
    """A call that took as long as the wallet waits on platform B, or longer (REL-5).

    The wallet waits for the extension's calls and for the app's delegate; for any other call no limit is known.
    """
    waiting: m.StartBudget | None = None
    limited: m.StartBudget | None = None
    for record in trace.select(m.StartBudget, m.StopBudget, m.Opened, m.ApiRequested, m.ApiCallEnded):
        match record.message:
            case m.StartBudget() as budget:
                waiting = budget
            case m.StopBudget() | m.Opened():
                waiting = None
            case m.ApiRequested() as request if not isinstance(request, m.ApiAskedAgain):
                limited = waiting
            case m.ApiCallEnded() as over if (
                over.took >= (limit := LIMITS[limited.call if limited else "provision"]).seconds
            ):
                text = f"The {over.method} kept the back end waiting for {over.took:g} s"
                todo = f"Set a deadline for the whole call, retries included, well below {limit}"
                if limited is not None:
                    text = f"{text}; the wallet waits {limit} for {limit.call}() ({limit.source})."
                    yield Finding("REL-5", Severity.FAIL, Owner.YOU, text, f"{todo}.", record.at)
                else:
                    text = f"{text}. No limit is shown for this call; the cardholder looks at a page that does nothing."
                    yield Finding("REL-5", Severity.WARN, Owner.YOU, text, f"{todo} (assumed).", record.at)


def gave_up_at_once(trace: Trace) -> Iterator[Finding]:
    """A GET that met a transient error and was not repeated, though nothing forbids it (REL-1 binds the POST)."""
    for call in calls(trace):
        over: Any = call[-1].message
        outcome: Any = call[-2].message
        transient = isinstance(outcome, m.AnswerLost) and outcome.error == "MaybeSentError"
        if isinstance(outcome, m.ApiAnswered):
            transient = is_transient("GET", outcome.status)
        if over.method == "GET" and over.attempts == 1 and transient:
            text = "The GET failed with a transient error, and the back end gave up after one attempt (assumed)."
            todo = "Repeat the GET a few times, with growing random pauses: only a POST must not be repeated (REL-1)."
            yield Finding("REL-1", Severity.WARN, Owner.YOU, text, todo, call[-1].at)


def lost_answers(trace: Trace) -> Iterator[Finding]:
    """Calls without an answer; the consequence depends on the method (REL-1)."""
    for call in calls(trace):
        over: Any = call[-1].message
        outcome = call[-2].message
        if isinstance(outcome, m.AnswerLost):
            text = f"No answer to the {over.method}: {outcome.fault} ({outcome.error})."
            todo = "Nothing is lost: tell the app to try again later, and read again then."
            if over.method == "POST":
                todo = "Whether it was carried out is unknown: tell the app that it failed. "
                todo += "A new tap makes a new sdkOutput."
            yield Finding("REL-1", Severity.NOTE, Owner.NOBODY, text, todo, call[-1].at)


# What a trace shows of every back end, watched attempt by attempt or not.

# What to do when the API gave nothing and your side made no mistake.
IN_ORDER = "That is right: the app says that the card was not added, and the cardholder's next tap is a new attempt."


def gave_nothing(trace: Trace, at: float) -> bool:
    """Whether the latest API call up to `at` gave no sdkInput: an error, no answer, or an answer that was refused."""
    outcomes = [record.message for record in trace.select(m.ApiAnswered, m.ApiFailed) if record.at <= at]
    return bool(outcomes) and outcomes[-1].value("sdk_input") is None


def statuses(trace: Trace) -> Iterator[Finding]:
    """Answers of the HTTP API other than 200; one is only a note if the back end asked again.

    What a status means is assumed: the document shows no status (GAP-1), so no status breaks its rules.
    """
    exchange = trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed)
    method = ""
    for record, following in zip_longest(exchange, exchange[1:]):
        match record.message:
            case m.ApiRequested():
                method = record.message.method
            case m.ApiAnswered(status) if following is not None and isinstance(following.message, m.ApiAskedAgain):
                text = f"The HTTP API answered {status}, and the back end asked again."
                todo = "Nothing to do, unless it happens often."
                yield Finding("GAP-1", Severity.NOTE, Owner.NOBODY, text, todo, record.at)
            case m.ApiAnswered(status) if status != 200:  # the one success
                owner, meaning, todo = _meaning(status, method)
                why = f", most likely: {meaning} (assumed)" if meaning else ""
                why = ", and the one success is 200 (assumed)" if 200 < status < 300 else why
                yield Finding("GAP-1", Severity.FAIL, owner, f"The HTTP API answered {status}{why}.", todo, record.at)


def _meaning(status: int, method: str) -> tuple[Owner, str, str]:
    """Whose job a status is, what it most likely means (empty where nothing is known), and what to do."""
    again = {"GET": "Wait as long as Retry-After says, then ask again. ", "POST": "Do not send it again (REL-1). "}
    known = {
        400: (Owner.YOU, "the request is not well formed", "Compare the request with API-4 to API-6."),
        401: (Owner.YOU, "no valid key", "Send x-api-key with every request, with this environment's key (API-4)."),
        403: (Owner.OPERATOR, "the credential lacks the role", "Ask for the activation-data role (API-15)."),
        404: (Owner.YOU, "another path or address", "Compare method and path with API-1 and API-2, letter by letter."),
        422: (Owner.YOU, "the sdkOutput was used or changed", "Send each attempt's own sdkOutput, once and unchanged.")
             if method == "POST" else
             (Owner.OPERATOR, "the instrument's state or type", "Ask for the state and type of this instrument."),
        429: (Owner.OPERATOR, "too many requests", f"{again.get(method, '')}Ask for your limits (GAP-2)."),
    }  # fmt: skip
    if 300 <= status < 400:  # every redirect
        return Owner.YOU, "", "Correct the address; following would take the key to another place (REL-2)."
    return known.get(status, (Owner.OPERATOR, "", "Try again later."))


def crossed_instruments(trace: Trace) -> Iterator[Finding]:
    """Requests for another payment instrument than the one that was opened (API-3)."""
    opened = {event.payment_instrument_id for _record, event in trace.seen(m.Opened)}
    if not opened:
        return
    for record, request in trace.seen(m.ApiRequested):
        if request.payment_instrument_id not in opened:
            text = "The request names another payment instrument than the one that was opened."
            todo = (
                "Compare the id that the SDK gives your code with the card of the page, and refuse a different one. "
                "Then find out who crossed two cards: the app, or a back end that mixed up two requests (REL-4)."
            )
            yield Finding("API-3", Severity.FAIL, Owner.YOU, text, todo, record.at)


BACK_END_CHECKS: tuple[Check, ...] = (
    Symptom(
        m.ApiFailed, "API-9", Severity.FAIL, Owner.YOU, "The back end got no usable answer: {r.error}.",
        "Tell the app that it failed; never pass on an answer without sdkInput.",
    ),
    statuses,
    crossed_instruments,
    Symptom(
        m.ApiAskedAgain, "REL-1", Severity.FAIL, Owner.YOU,
        "The back end sent the POST again by itself, though the first one may have arrived.",
        "Send it once. The cardholder taps again, and that attempt has a new sdkOutput.",
        when=lambda again: again.method == "POST",
    ),
    waited_too_long,
    Symptom(
        m.ApiAnswered, "REL-6", Severity.FAIL, Owner.YOU,
        "A 200 without a usable sdkInput was passed on to the app as a success.",
        "Look for an sdkInput that is text and not empty (API-9); without it the call has failed.",
        when=lambda answered: answered.value("sdk_input") == "",
    ),
    Symptom(
        m.RedirectFollowed, "REL-2", Severity.FAIL, Owner.YOU,
        "The API key went to another origin than the API's: {r.location}",
        "Switch redirects off in the HTTP client, and have this key replaced.",
        when=lambda followed: followed.with_key,
    ),
    gave_up_at_once,
    lost_answers,
    Symptom(
        m.AnswerRefused, "API-9", Severity.WARN, Owner.OPERATOR,
        "A 200 of no use was refused, as it should be: {r.fault} ({r.error}).",
        "Report it, with the time and without the body; look for a proxy that changes answers.",
    ),
)  # fmt: skip


# What a good back end does about each kind of failure: on a GET and on a POST. The kinds are those
# that a back end can distinguish, so each is recognised by what the back end received.


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about one kind of failure.

    Attributes:
        kind: what it is.
        seen_as: how a back end sees it: an error's class, or a status.
        on_get: what a good back end does about it on a GET.
        on_post: likewise on a POST.
        fits: whether this outcome of a call, a message of the trace, is of this kind.
    """

    kind: str
    seen_as: str
    on_get: str
    on_post: str
    fits: Callable[[Any], bool] = field(repr=False)


def _error(*names: str) -> Callable[[Any], bool]:
    return lambda outcome: isinstance(outcome, m.ApiFailed) and outcome.error in names


def _status(*ranges: range) -> Callable[[Any], bool]:
    return lambda outcome: isinstance(outcome, m.ApiAnswered) and any(outcome.status in statuses for statuses in ranges)


# Each kind of failure, from the harmless to the hidden. For all of them the app gets one sentence (REL-9).
REMEDIES = (
    Advice(
        "never left", "NotSentError",
        "retry", "you may retry: it cannot have arrived",
        _error("NotSentError"),
    ),
    Advice(
        "may have arrived", "MaybeSentError, DeadlineError: no answer came",
        "retry after a random pause, within the limit of the call (REL-5)",
        "do not retry (REL-1): the next tap makes a new sdkOutput",
        # a lost answer without an error is one after which the back end asked again
        _error("MaybeSentError", "DeadlineError", ""),
    ),
    Advice(
        "status: busy", "429, 5xx: it usually passes (assumed)",
        "retry, not before Retry-After (REL-5)",
        "do not retry: an answer means that it arrived (REL-1)",
        _status(range(429, 430), range(500, 600)),
    ),
    Advice(
        "status: refused", "400, 401, 403, 404, 409, 422",
        "do not retry; log the code (GAP-1). 422: the operator looks at the card's state (assumed)",
        "do not retry; log the code. 422: you used or changed the sdkOutput (assumed)",
        _status(range(201, 300), range(400, 429), range(430, 500)),
    ),
    Advice(
        "status: redirect", "3xx",
        "do not follow it: the key would go along (REL-2). Correct the address", "the same",
        _status(range(300, 400)),
    ),
    Advice(
        "unusable 200", "SdkInputError, MalformedResponseError, ResponseTooLargeError",
        "refuse it (API-9), do not retry; report it",
        "the same (REL-1)",
        lambda outcome: isinstance(outcome, m.AnswerRefused) or outcome.value("sdk_input") == "",
    ),
    Advice(
        "usable 200", "a filled sdkInput: a back end cannot see a mistake inside it (GAP-3)",
        "relay it as it came (API-7, API-8), fetch anew for each page (REL-7), keep cards apart (REL-4)", "the same",
        _status(range(200, 201)),  # the one success
    ),
)  # fmt: skip


def advice_for(trace: Trace, method: str) -> Advice | None:
    """The advice for the first failure of this method's calls, or for a success if none failed; None without a call.

    A fault on the sdkInput itself looks like a success to a back end.
    """
    requested, outcomes = "", list[Any]()  # what came of each request of this method, in the order of time
    for record in trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed):
        message: Any = record.message
        if isinstance(message, m.ApiRequested):
            requested = message.method
        elif requested == method:
            outcomes.append(message)
    found = [next((one for one in REMEDIES if one.fits(each)), None) for each in outcomes]
    return next((one for one in found if one not in (None, REMEDIES[-1])), REMEDIES[-1] if outcomes else None)
