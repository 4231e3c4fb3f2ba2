"""The judges of lesson 07: faults of the API are played, and what became of them is read from the runs."""

from typing import Any, Final, Literal

from workbook.checks.own_code import API_ERRORS
from workbook.flows import messages as m
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.plays.run import Run, run_of, screen_of
from workbook.lessons.session import session
from workbook.play.back_end import Network, back_end_over
from workbook.play.platform_a import PlatformARun
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.phones import PhoneA
from workbook.simulation.service import Service

IN_APP_B: Final = "platform B, in the app"


def sent(run: Run, method: str) -> int:
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
        posts=sent(run, "POST"),
        added=run.added,
        button=run.button,
        back_end_knows=not same,
    )


def byte_by_byte() -> Observed:
    """The answer to a POST comes byte by byte: with the good back end, and with one that waits 30 s."""
    good, patient = (
        session().break_it("dribble", "POST", platform=IN_APP_B, back_end=name) for name in ("good", "waits 30 s")
    )
    return Observed(
        good,
        used_up="carried the POST out" in good.summary["the API"],
        first_to_give_up="the wallet" if "too late" in good.summary["the app got"] else "the back end",
        with_30_s="the card is added" if patient.added else "the wallet gave up before",
    )


def wrong_but_genuine() -> Observed:
    """Genuine sdkInputs in the wrong place: an older one, and another card's."""
    break_it = session().break_it
    stale_get, stale_post = (break_it("sdkInput stale", operation) for operation in ("GET", "POST"))
    foreign_get, foreign_post = (break_it("sdkInput foreign", operation) for operation in ("GET", "POST"))
    other = bool(foreign_get.phone.cards) and not foreign_get.added
    refused = "sdkInput" not in foreign_get.summary["the back end got"]
    return Observed(
        foreign_get,
        stale_get="added" if stale_get.added else "not added",
        stale_post="added" if stale_post.added else "not added",
        foreign_get="another card is added" if other else "not added",
        foreign_post="another card is added" if foreign_post.phone.cards else "not added",
        back_end_refuses=refused,
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
        if (posts := sent(run, "POST")) > 1:
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
        if (gets := sent(run, "GET")) > 1:
            return Reason("", f"the API answered {name}, and the GET was sent {gets} times in vain.", run)
        if reason := passed_on(run, f"the API answered {name}"):
            return reason
    down = behind_a_fault(kind, "503 that says 500", nth=None)
    if (gets := sent(down, "GET")) > 5:  # as many as this exercise accepts
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
        "used_up": all(run.network.service.carried_out == {"GET": 1, "POST": 1} for run in runs),
        "received": all("sdkInput" in run.summary["the back end got"] for run in runs),
        "added": all(run.added for run in runs),
        "none_sent": not sent(unseen, "POST") or bool(unseen.network.service.carried_out["POST"]),
    }
    return Observed(runs[1], **{name: "proved" if proved else "open" for name, proved in facts.items()})
