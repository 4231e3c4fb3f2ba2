"""What a trace shows of a back end whose every attempt was watched: what it repeated, believed and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.api.retry import is_transient
from workbook.checks.finding import Finding, Level, Owner
from workbook.flows import messages as m
from workbook.flows.limits import limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.trace import Record, Trace

PATIENCE = limit("provision").seconds
"""Seconds that the wallet waits (wallet)."""
LOST = ("MaybeSentError", "DeadlineError")
"""Errors after which nobody knows whether the request arrived."""
CALL = (m.ApiRequested, m.ApiAnswered, m.ApiFailed, m.ApiCallEnded)


def calls(trace: Trace) -> Iterator[list[Record]]:
    """The records of each call that was watched to its end: requests, what came of them, and the end, last."""
    call: list[Record] = []
    for record in trace.select(*CALL):
        if isinstance(record.message, m.ApiRequested) and not isinstance(record.message, m.ApiAskedAgain):
            call = []
        call.append(record)
        if isinstance(record.message, m.ApiCallEnded):
            if len(call) > 1:
                yield call
            call = []


def posted_again(trace: Trace) -> Iterator[Finding]:
    """A POST that may have arrived and was sent again (REL-1)."""
    for record, again in trace.seen(m.ApiAskedAgain):
        if again.method == "POST":
            text = "The POST was sent again by itself, though the one before may have arrived."
            todo = "Send it once. The cardholder taps again, and that attempt has a new sdkOutput."
            yield Finding("REL-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def waited_too_long(trace: Trace) -> Iterator[Finding]:
    """A call that took as long as the wallet waits, or longer (REL-5)."""
    for record, over in trace.seen(m.ApiCallEnded):
        if over.took >= PATIENCE:
            text = f"The {over.method} kept the back end waiting for {over.took:g} s; the wallet waits {PATIENCE:g} s."
            todo = "Set a deadline for the whole call, retries included, well below that."
            yield Finding("REL-5", Level.FAIL, Owner.YOU, text, todo, record.at)


def passed_on_nothing(trace: Trace) -> Iterator[Finding]:
    """A 200 without a usable sdkInput that was passed on as if it had one (REL-6)."""
    for record, answer in trace.seen(m.ApiAnswered):
        if answer.sdk_input == "":
            text = "A 200 without a usable sdkInput was passed on to the app as a success."
            todo = "Look for an sdkInput that is text and not empty (API-9); without it the call has failed."
            yield Finding("REL-6", Level.FAIL, Owner.YOU, text, todo, record.at)


def followed_redirects(trace: Trace) -> Iterator[Finding]:
    """A request that went on to where a redirect pointed, with the key (REL-2)."""
    for record, followed in trace.seen(m.RedirectFollowed):
        if followed.with_key:
            text = f"The API key went to another origin than the API's: {followed.location}"
            todo = "Switch redirects off in the HTTP client, and have this key replaced."
            yield Finding("REL-2", Level.FAIL, Owner.YOU, text, todo, record.at)


def gave_up_at_once(trace: Trace) -> Iterator[Finding]:
    """A GET that failed in passing and was not asked again, though nothing forbids it (REL-1 binds the POST)."""
    for call in calls(trace):
        over, outcome = _ended(call), call[-2].message
        if over.method == "GET" and over.attempts == 1 and _in_passing(outcome):
            text = "The GET failed in passing, and the back end gave up after one attempt."
            todo = "Ask again, a few times, with growing random pauses: reading changes nothing. REL-1 binds the POST."
            yield Finding("REL-1", Level.WARN, Owner.YOU, text, todo, call[-1].at)


def _ended(call: list[Record]) -> Any:
    return call[-1].message


def _in_passing(outcome: Any) -> bool:
    """Whether asking again could have helped; a deadline that passed leaves no time for it."""
    if isinstance(outcome, m.ApiAnswered):
        return is_transient("GET", outcome.status)
    return isinstance(outcome, m.AnswerLost) and outcome.error == LOST[0]


def lost_answers(trace: Trace) -> Iterator[Finding]:
    """Calls whose answer never came: what that means depends on what was asked (REL-1)."""
    for call in calls(trace):
        over, outcome = _ended(call), call[-2].message
        if isinstance(outcome, m.AnswerLost):
            text = f"No answer to the {over.method}: {outcome.fault} ({outcome.error})."
            yield Finding("REL-1", Level.WARN, Owner.NOBODY, text, MEANS[over.method], call[-1].at)


MEANS = {
    "GET": "Nothing is lost: tell the app to try again later, and read again then.",
    "POST": "Nobody knows whether it was carried out: tell the app that it failed. A new tap makes a new sdkOutput.",
}
"""What a lost answer means, by what was asked."""


def refused_answers(trace: Trace) -> Iterator[Finding]:
    """A 200 that is of no use, and was refused (API-9): so it should be, and somebody has to mend its source."""
    for record, refused in trace.seen(m.AnswerRefused):
        text = f"A 200 of no use was refused, as it should be: {refused.fault} ({refused.error})."
        todo = "Report it, with the time and without the body; look for a proxy that changes answers."
        yield Finding("API-9", Level.WARN, Owner.OPERATOR, text, todo, record.at)


CHECKS: tuple[Check, ...] = (
    posted_again,
    waited_too_long,
    passed_on_nothing,
    followed_redirects,
    gave_up_at_once,
    lost_answers,
    refused_answers,
)
