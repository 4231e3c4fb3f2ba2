"""What a good back end does about each kind of failure: on a GET, on a POST, and towards the app.

The kinds are those that a back end can distinguish, so each is recognised by what the back end received.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbook.flows import messages as m
from workbook.flows.trace import Trace

LATER = "one sentence, the same for every failure (REL-9)"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about one kind of failure.

    Attributes:
        kind: what it is.
        seen_as: how a back end sees it: an error's class, or a status.
        on_get: what a good back end does about it on a GET.
        on_post: likewise on a POST.
        to_app: what the back end tells the app.
        fits: whether this outcome of a call, a message of the trace, is of this kind.
    """

    kind: str
    seen_as: str
    on_get: str
    on_post: str
    to_app: str
    fits: Callable[[Any], bool] = field(repr=False)


def _error(*names: str) -> Callable[[Any], bool]:
    return lambda outcome: isinstance(outcome, m.ApiFailed) and outcome.error in names


def _status(low: int, high: int) -> Callable[[Any], bool]:
    return lambda outcome: isinstance(outcome, m.ApiAnswered) and low <= outcome.status < high


def _of_no_use(outcome: Any) -> bool:
    passed_on = isinstance(outcome, m.ApiAnswered) and outcome.sdk_input == ""
    return passed_on or isinstance(outcome, m.AnswerRefused)


def _any(*kinds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda outcome: any(fits(outcome) for fits in kinds)


ADVICE = (
    Advice(
        "it never left",
        "NotSentError",
        "send it again",
        "send it again: it cannot have arrived",
        f"nothing, unless every attempt fails: then {LATER}",
        _error("NotSentError"),
    ),
    Advice(
        "no answer",
        "MaybeSentError, DeadlineError: it may have arrived",
        "ask again, a few times, with growing random pauses, within the deadline (REL-5)",
        "never send it again by itself (REL-1): the next tap makes a new sdkOutput",
        LATER,
        # a lost answer without an error is one after which the back end asked again
        _error("MaybeSentError", "DeadlineError", ""),
    ),
    Advice(
        "busy or broken",
        "429, 5xx: usually it passes",
        "ask again, not before Retry-After, within the deadline (REL-5)",
        "do not send it again: an answer means that it arrived (REL-1)",
        LATER,
        _any(_status(429, 430), _status(500, 600)),
    ),
    Advice(
        "refused",
        "400, 401, 403, 404, 409, 422",
        "do not ask again; log the code, and find who acts (GAP-1)",
        "do not send it again; log the code. 422: is each sdkOutput posted once, for its own card (assumed)?",
        LATER,
        _any(_status(201, 300), _status(400, 429), _status(430, 500)),
    ),
    Advice(
        "sent elsewhere",
        "3xx",
        "do not follow: the key would go along (REL-2); correct the address",
        "the same",
        LATER,
        _status(300, 400),
    ),
    Advice(
        "a 200 of no use",
        "SdkInputError, MalformedResponseError, ResponseTooLargeError",
        "refuse it (API-9); report it",
        "refuse it (API-9), do not send it again (REL-1); report it",
        f"never a success without sdkInput (REL-6): {LATER}",
        _of_no_use,
    ),
    Advice(
        "looks right",
        "a 200 with an sdkInput: what is wrong inside, if anything, a back end cannot see (GAP-3)",
        "relay it as it came (API-7, API-8), fetch anew for each attempt (REL-7), keep cards apart (REL-4)",
        "the same",
        "the sdkInput",
        lambda outcome: isinstance(outcome, m.ApiAnswered) and outcome.status == 200,  # the one success
    ),
)
"""Each kind of failure, from the harmless to the hidden."""


def advice_for(trace: Trace, method: str) -> Advice | None:
    """The advice for the first failure of this method's calls, or for a success if none failed; None without a call.

    A fault on the sdkInput itself looks like a success to a back end.
    """
    asked, outcomes = "", list[Any]()  # what came of each request of this method, in the order of time
    for record in trace.select(m.ApiRequested, m.ApiAnswered, m.ApiFailed):
        message: Any = record.message
        if isinstance(message, m.ApiRequested):
            asked = message.method
        elif asked == method:
            outcomes.append(message)
    found = [next((one for one in ADVICE if one.fits(each)), None) for each in outcomes]
    return next((one for one in found if one not in (None, ADVICE[-1])), ADVICE[-1] if outcomes else None)
