"""Judges of what goes over the wire (lessons 01 and 06): odd answers, values that are relayed, faults of the API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from workbook.base.values import quoted
from workbook.checks.own_code import API_ERRORS
from workbook.errors import ApiStatusError, MalformedResponseError, SdkInputError
from workbook.flows import messages as m
from workbook.lessons.exercises.model import Observed, Reason, first_finding, first_reason
from workbook.lessons.run import Run, run_of, screen_of
from workbook.lessons.session import session
from workbook.play.back_end import Network, back_end_over
from workbook.play.own_code import exception_words, own_line
from workbook.play.platform_a import PlatformARun
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.phones import PhoneA
from workbook.simulation.service import Service


def kinds_of_answers() -> Observed:
    """What kind of answer the client makes of each."""
    opened = session()
    names = {"missing": "sdkInput missing", "web_page": "not JSON", "redirect": "redirect", "cut_off": "JSON truncated"}
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


def reads_the_answer(read: Any) -> Reason | Observed:
    """`sdk_input_of(answer)` returns the value of a good answer, and raises for every other."""
    value = session().activation_data().text
    try:
        got = read(Answer(200, json.dumps({"sdkInput": value, "aFieldOfTomorrow": 1}).encode()))
    except (AttributeError, NameError, TypeError) as error:
        text = f"your function raised {exception_words(error)}. An answer has status, body and json()."
        return Reason("", f"{text} {own_line(error)}".rstrip())
    except Exception as error:  # noqa: BLE001  # whatever it is, a good answer was refused
        text = f"your function raised {type(error).__name__} for a good answer. Unknown fields are no error."
        return Reason("API-9", f"{text} {own_line(error)}".rstrip())
    spaced = read(Answer(200, json.dumps({"sdkInput": SPACED}).encode())) if got == value else SPACED
    reason = first_reason(
        (got is None, "API-9", "your function returned None for a good answer. Return its sdkInput."),
        (not isinstance(got, str), "API-7",
         f"your function returned a value of type {type(got).__name__} for a good answer; relay the text itself."),
        (got != value, "API-7", (f"your function returned {len(str(got))} characters, and the API's value has "
         f"{len(value)}; relay it unchanged.")),
        (spaced != SPACED, "API-7", (f"for the sdkInput {quoted(SPACED)} your function returned {quoted(spaced)}; "
         "relay blanks and line breaks, too.")),
    )  # fmt: skip
    return reason or _taken_for_a_success(read) or Observed(session().wire())


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


IN_APP_B: Final = "platform B, in the app"


def count_sent(run: Run, method: str) -> int:
    """How many requests of this method left the back end."""
    return sum(isinstance(record.message, m.ApiRequested) and record.message.method == method for record in run.trace)


def lost_post() -> Observed:
    """The answer to a POST is lost, before and after the API has done its part."""
    break_it = session().break_it
    run = break_it("reset", "POST", "after")
    before = break_it("reset", "POST", "before")
    same = run.summary["the back end got"] == before.summary["the back end got"]
    return Observed(
        run,
        used_up="carried the POST out" in run.summary["the API"],
        posts=count_sent(run, "POST"),
        added=run.added,
        button=run.button,
        back_end_knows=not same,
    )


def wrong_but_genuine() -> Observed:
    """Genuine sdkInputs in the wrong place: an older one, and another card's."""
    break_it = session().break_it
    stale_get, stale_post = (break_it("sdkInput stale", operation) for operation in ("GET", "POST"))
    foreign_get, foreign_post = (break_it("sdkInput foreign", operation) for operation in ("GET", "POST"))
    other = bool(foreign_get.phone.cards) and not foreign_get.added
    return Observed(
        foreign_get,
        stale_get="added" if stale_get.added else "not added",
        stale_post="added" if stale_post.added else "not added",
        foreign_get="another card is added" if other else "not added",
        foreign_post="another card is added" if foreign_post.phone.cards else "not added",
        back_end_refuses="sdkInput" not in foreign_get.summary["the back end got"],
    )


def behind_a_fault(
    back_end: Any,
    name: str = "",
    operation: Literal["GET", "POST"] = "GET",
    nth: int | None = 1,
    moment: Literal["before", "after"] = "before",
) -> Run:
    """Platform A's whole flow with the learner's own back end in front of one fault; an empty name means no fault."""
    plan = FaultPlan([Planned(fault(name), operation, nth=nth, moment=moment)] if name else [])
    phone = PhoneA()
    run = PlatformARun(phone=phone, back_end=back_end_over(back_end, Network(Service(plan=plan))))
    before = screen_of(phone)
    run.walk()
    return run_of(run, before)


def good_back_end(kind: Any) -> Reason | Observed:  # noqa: PLR0911  # one reason each
    """A GET is asked again where that can help, a POST is sent once, and no failure looks like a success."""
    ordinary = behind_a_fault(kind)
    if reason := passed_on(ordinary, "all went well") or first_finding(ordinary):
        return reason
    lost: tuple[tuple[str, Literal["before", "after"]], ...] = (
        ("reset", "after"),
        ("503 that says 500", "before"),
        ("stall before headers", "after"),
    )
    for name, moment in lost:
        run = behind_a_fault(kind, name, "POST", moment=moment)
        if (posts := count_sent(run, "POST")) > 1:
            return Reason("REL-1", f"one tap and the fault {name!r}: the POST was sent {posts} times.", run)
        if reason := passed_on(run, f"the POST met {name!r}"):
            return reason
    for name in ("reset", "503 that says 500", "429 in seconds"):
        run = behind_a_fault(kind, name)
        if not run.added:
            text = f"one GET met {name!r}, the next would have worked, and the cardholder got no card."
            return Reason("", text, run)
    for name in ("403", "404"):
        run = behind_a_fault(kind, name, nth=None)
        if (gets := count_sent(run, "GET")) > 1:
            return Reason("", f"the API answered {name}, and the GET was sent {gets} times in vain.", run)
        if reason := passed_on(run, f"the API answered {name}"):
            return reason
    down = behind_a_fault(kind, "503 that says 500", nth=None)
    if (gets := count_sent(down, "GET")) > 5:  # as many as this exercise accepts
        return Reason("", f"the API stayed down, and one page sent {gets} GETs; a few are enough.", down)
    return passed_on(down, "the API stayed down") or Observed(ordinary)


def passed_on(run: Run, when: str) -> Reason | None:
    """A failure that the app was told as a success, or code that failed, when this was played."""
    method = ""
    for record in run.trace:
        match record.message:
            case m.ApiRequested() as request:
                method = request.method.lower()
            case m.CodeFailed() as failed if not failed.error.startswith(API_ERRORS):
                text = f"{when}, and your {failed.call}() ended in {failed.error}, which is none of the API's errors."
                return Reason("REL-9", f"{text} {failed.line}", run)
            case m.Noted(text) if text.startswith("The back end returns"):
                return Reason(
                    "REL-6", f"{when}, and your {method}() returned nothing; raise the error, or return the data.", run
                )
            case m.ApiCallEnded() as ended if ended.ending == "OpaqueDataError":
                return Reason(
                    "REL-6", f"{when}, and your {method}() returned text that is no sdkInput, as if it were one.", run
                )
    return None


def three_traces() -> Observed:
    """Which rule each of four back ends breaks, as the checks find it in its trace."""
    break_it = session().break_it
    runs = {
        "first": break_it("reset", "POST", "after", back_end="sends the POST again"),
        "second": break_it("sdkInput missing", "POST", back_end="believes every 200"),
        "third": break_it("redirect", "POST", back_end="follows redirects"),
        "fourth": break_it("stall before headers", "POST", platform=IN_APP_B, back_end="waits 30 s"),
    }
    return Observed(None, **{
        name: next(finding.rule for finding in run.findings if finding.rule.startswith("REL-"))
        for name, run in runs.items()
    })  # fmt: skip


def what_a_log_proves() -> Observed:
    """What is so in every run that leaves the same log at the API; and a POST that left and is in no log."""
    break_it = session().break_it
    runs = [break_it("200", "POST"), break_it("reset", "POST", "after"), break_it("sdkInput stale", "POST")]
    unseen = break_it("reset", "POST", "before")
    facts = {
        "used_up": all(run.network.carried_out(method) == 1 for run in runs for method in ("GET", "POST")),
        "received": all("sdkInput" in run.summary["the back end got"] for run in runs),
        "added": all(run.added for run in runs),
        "none_sent": not count_sent(unseen, "POST") or bool(unseen.network.carried_out("POST")),
    }
    return Observed(runs[1], **{name: "proved" if proved else "open" for name, proved in facts.items()})
