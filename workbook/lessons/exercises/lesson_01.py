"""The judges of lesson 01: the client's view of odd answers, the way of a value, and the learner's own relay."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from workbook.base.rules import Level, rule
from workbook.base.values import quoted
from workbook.errors import (
    ActivationDataError,
    ApiStatusError,
    MalformedResponseError,
    MaybeSentError,
    NotSentError,
    RedactedRequest,
    SdkInputError,
)
from workbook.lessons.exercises.model import Observed, Reason
from workbook.lessons.session import session
from workbook.play.own_code import exception_words, own_line


def kinds_of_answers() -> Observed:
    """What kind of answer the client makes of each."""
    opened = session()
    names = {"missing": "sdkInput missing", "web_page": "not JSON", "redirect": "redirect", "cut_off": "cut off"}
    kinds = {ApiStatusError: "error status", SdkInputError: "unusable 200", MalformedResponseError: "unusable 200"}
    facts = {name: kinds[type(opened.ask(answer).error)] for name, answer in names.items()}
    return Observed(opened.wire(answer="sdkInput missing"), **facts)


@dataclass(frozen=True)
class Answer:
    """An answer as an HTTP client gives it."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The body as JSON; raises ValueError where it is none."""
        return json.loads(self.body)


# An unexpected value of the API: a relay leaves its blanks and its line break unchanged (API-7).
SPACED: Final = " an\nsdkInput "


def reads_the_answer(read: Any) -> Reason | Observed:  # noqa: PLR0911  # one reason each
    """`sdk_input_of(answer)` returns the value of a good answer, and raises for every other."""
    value = session().activation_data().text
    good = Answer(200, json.dumps({"sdkInput": value, "aFieldOfTomorrow": 1}).encode())
    try:
        got = read(good)
    except (AttributeError, NameError, TypeError) as error:
        text = f"your function raised {exception_words(error)}. An answer has status, body and json()."
        return Reason("", f"{text} {own_line(error)}".rstrip())
    except Exception as error:  # noqa: BLE001  # whatever it is, a good answer was refused
        text = f"your function raised {type(error).__name__} for a good answer. Unknown fields are no error."
        return Reason("API-9", f"{text} {own_line(error)}".rstrip())
    if got is None:
        return Reason("API-9", "your function returned None for a good answer. Return its sdkInput.")
    if not isinstance(got, str):
        what = f"{type(got).__name__}"
        return Reason(
            "API-7", f"your function returned a value of type {what} for a good answer; relay the text itself."
        )
    if got != value:
        return Reason(
            "API-7",
            f"your function returned {len(got)} characters, and the API's value has {len(value)}; relay it unchanged.",
        )
    if (got := read(Answer(200, json.dumps({"sdkInput": SPACED}).encode()))) != SPACED:
        text = f"for the sdkInput {quoted(SPACED)} your function returned {quoted(got)}"
        return Reason("API-7", f"{text}; relay blanks and line breaks, too.")
    return _taken_for_a_success(read) or Observed(session().wire())


def _taken_for_a_success(read: Any) -> Reason | None:
    """The first of the unusable answers for which `read` raises nothing."""
    unusable = {
        "200 with {}": Answer(200, b"{}"),
        '200 with {"sdkInput": null}': Answer(200, b'{"sdkInput": null}'),
        '200 with {"sdkInput": ""}': Answer(200, b'{"sdkInput": ""}'),
        '200 with {"sdkInput": 7}': Answer(200, b'{"sdkInput": 7}'),
        "500 with a filled sdkInput": Answer(500, b'{"sdkInput": "c3VycHJpc2U="}'),
        "200 with [1]": Answer(200, b"[1]"),
        "200 with a web page": Answer(200, b"<html>"),
    }
    for name, answer in unusable.items():
        try:
            got = read(answer)
        except Exception:  # noqa: BLE001, S112  # as it should: the caller answers 502
            continue
        text = f"for the answer {name} your function returned {quoted(got)}; raise, so that it never becomes a success."
        return Reason("REL-6", text)
    return None


def ways_of_a_value() -> Observed:
    """What happened to each value, in the words of the SDK stand-in."""
    create: Callable[..., Any] = session().platform_a.create
    damages = {"first": "quoted", "second": "decoded", "third": "encoded twice"}
    outcomes = {name: create(damage=damage) for name, damage in damages.items()}
    said = {name: re.search(r"\((.*?)\)", outcome.why) for name, outcome in outcomes.items()}
    return Observed(outcomes["first"], **{name: found[1] for name, found in said.items() if found})


class Script:
    """A call to the API that meets these outcomes, one after the other; the last one again and again."""

    def __init__(self, *outcomes: object) -> None:
        self.outcomes = outcomes
        self.calls = 0

    def call(self) -> object:
        """The next outcome, returned or raised."""
        outcome = self.outcomes[min(self.calls, len(self.outcomes) - 1)]
        self.calls += 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@dataclass(frozen=True)
class Case:
    """What `send` must make of one script: so many calls, and this end.

    The document says nothing about sending again; a rule of practice is about a POST (REL-1).
    """

    method: str
    what: str
    calls: int
    ends: object
    outcomes: tuple[object, ...]

    def judge(self, send: Callable[..., object]) -> Reason | None:
        """How `send` differs from it."""
        script = Script(*self.outcomes)
        try:
            got: object = send(self.method, script.call)
        except ActivationDataError as error:
            got = error
        if script.calls != self.calls:
            made = "one call" if script.calls == 1 else f"{script.calls or 'no'} calls"
            rule = "REL-1" if self.method == "POST" else ""
            return Reason(rule, f"for {self.what} your function made {made}; {self.calls} is right.")
        if got is self.ends:
            return None
        ended = f"raised {type(got).__name__}" if isinstance(got, Exception) else f"returned {quoted(got)}"
        raises = isinstance(self.ends, Exception)
        must = f"raise that {type(self.ends).__name__}" if raises else "return what the call returned"
        return Reason("REL-6" if raises else "", f"for {self.what} your function {ended}; {must}.")


def refused(answer: str) -> Exception:
    """The client's own error for this answer."""
    error: Exception = session().ask(answer).error
    return error


def repeats_what_may_be_repeated(send: Any) -> Reason | Observed:
    """`send(method, call)` repeats a GET that may be repeated, at most three calls in all, and never a POST."""
    value, request = "an sdkInput", RedactedRequest("GET", "/an-example", 0)
    send("GET", Script(value).call)  # an error here has the learner's line
    lost = MaybeSentError("no answer came", request=request, elapsed=3.0, attempts=1)
    never_left = NotSentError("no connection", request=request, elapsed=0.1, attempts=1)
    busy = ApiStatusError("too many requests", request=request, elapsed=0.1, attempts=1, status=429, body=b"")
    broken, no_key, no_value = refused("500"), refused("401"), refused("sdkInput missing")
    cases = (
        Case("GET", "a GET that was answered", 1, value, (value,)),
        Case("POST", "a POST without an answer (MaybeSentError)", 1, lost, (lost, value)),
        Case("POST", "a POST that was answered 500", 1, broken, (broken, value)),
        Case("GET", "a GET that was answered 500 and then 200", 2, value, (broken, value)),
        Case("GET", "a GET without an answer (MaybeSentError), and then 200", 2, value, (lost, value)),
        Case("GET", "a GET that was answered 401", 1, no_key, (no_key,)),
        Case("GET", "a GET that was answered 429 and then 200", 2, value, (busy, value)),
        Case("GET", "a GET whose 200 has no sdkInput", 1, no_value, (no_value,)),
        Case("GET", "a GET that was answered 500 each time", 3, broken, (broken,)),
        Case("GET", "a GET that never left (NotSentError), and then 200", 2, value, (never_left, value)),
        Case("POST", "a POST that was answered", 1, value, (value,)),
    )
    return next(filter(None, (case.judge(send) for case in cases)), None) or Observed(session().wire("POST"))


def what_is_said_of_a_value() -> Observed:
    """Which statements about the values a rule of the document makes; a gap or a practice makes none."""
    rules = {"starts": "API-10", "how_long": "GAP-3", "once": "GAP-3", "not_kept": "REL-7", "back_to_sdk": "API-11"}
    said = {name: "said" if rule(of).level is Level.MUST else "open" for name, of in rules.items()}
    return Observed(session().wire("POST", answer="422"), **said)
