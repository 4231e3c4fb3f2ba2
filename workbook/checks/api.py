"""What a trace shows of the HTTP API, whichever platform asked."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.flows import messages as m

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.flows.messages import Message
    from workbook.trace import Trace

SYMPTOMS: dict[type[Message], Symptom] = {
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
    429: ("GAP-2", Owner.OPERATOR, "429, too many requests", "Wait as long as Retry-After says; ask for your limits."),
}  # fmt: skip
"""What a status most likely means. Which code stands for what is not in the document (GAP-1)."""
REDIRECT = "Correct the address; following would take the key to another place (REL-2)."


def statuses(trace: Trace) -> Iterator[Finding]:
    """Answers of the HTTP API other than 200; one after which the back end asked again is only worth knowing."""
    exchange = trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed)
    for record, following in zip_longest(exchange, exchange[1:]):
        answer = record.message
        if isinstance(answer, m.ApiAnswered) and answer.status != 200:  # noqa: PLR2004  # the one success
            again = following is not None and isinstance(following.message, m.ApiAskedAgain)
            yield _passing(answer.status, record.at) if again else _failed(answer.status, record.at)


def _failed(status: int, at: float) -> Finding:
    todo = REDIRECT if 300 <= status < 400 else "Try again later."  # noqa: PLR2004  # every redirect
    rule, owner, text, todo = STATUSES.get(status, ("GAP-1", Owner.OPERATOR, f"{status}", todo))
    return Finding(rule, Level.FAIL, owner, f"The HTTP API answered {text}.", todo, at)


def _passing(status: int, at: float) -> Finding:
    text = f"The HTTP API answered {status}, and the back end asked again."
    return Finding("GAP-1", Level.NOTE, Owner.NOBODY, text, "Nothing to do, unless it happens often.", at)


def crossed_instruments(trace: Trace) -> Iterator[Finding]:
    """Requests for another payment instrument than the one that was opened (API-3)."""
    opened = {event.payment_instrument_id for _record, event in trace.seen(m.Opened)}
    if not opened:
        return
    for record, request in trace.seen(m.ApiRequested):
        if request.payment_instrument_id not in opened:
            text = "The request names another payment instrument than the one that was opened."
            yield Finding(
                "API-3", Level.FAIL, Owner.YOU, text, "Take the id from the cardholder's own card.", record.at
            )


CHECKS: tuple[Check, ...] = (statuses, crossed_instruments)
