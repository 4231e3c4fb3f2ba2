"""Incidents: a known failure is played by number and not named; the learner finds its cause, its owner and the message.

The failures are rows of the diagnosis catalogue. What is shown is what a team would have: the phone, and the lines that
app, SDK and back end have logged. The findings, and the simulator's own reasons, stay hidden until the answer is right.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any, Final

from workbook.base.values import whole
from workbook.checks.diagnosis import CatalogueRow, row
from workbook.flows.trace import Kind, Record
from workbook.lessons.exercises.asking import Feedback
from workbook.lessons.exercises.judges_incidents import CAUSE_OF_ROW, IN_THE_LOG, acting, wrong_message
from workbook.lessons.exercises.judging import ExerciseState, Verdict, judge
from workbook.lessons.exercises.model import Exercise, ExerciseKind, Observed, Question, Reason
from workbook.lessons.plays.run import Run
from workbook.views.film import film
from workbook.views.html import View, tag, trust
from workbook.views.phone import KeyScreens
from workbook.views.table import Table, facts, paragraph, preformat

# The cause of each row that is played as an incident: the incidents have the numbers 1 to 13, in no order of the rows.
CAUSES: Final = {number: CAUSE_OF_ROW[number] for number in (2, 7, 9, 13, 15, 19, 29, 30)} | {
    1: "the key is wrong",
    10: "the text was not decoded",
    16: "no wallet on this phone",
    39: "app and extension share no storage",
    40: "the GETs come one after the other",
}


@dataclass(frozen=True, slots=True, repr=False)
class Incident(View):
    """One failure, as the people who have it see it.

    Attributes:
        exercise: what is asked, with the choices.
        phone: what the phone showed.
        log: what app, SDK and back end have logged.
        codes: what the message must hold, so that its receiver finds the attempt.
    """

    exercise: Exercise
    phone: KeyScreens
    log: str
    codes: tuple[str, ...]

    def answer(self, *, cause: object = ..., owner: object = ..., message: object = "") -> Feedback:
        """Hand in what you found.

        Args:
            cause: one of the causes that the incident lists.
            owner: who has to act.
            message: what you send to the owner; needed where that is not you.

        Returns:
            The verdict, with `hint(1)` to `hint(3)`; `run` is what was played, once the answer is right.
        """
        verdict = judge(self.exercise, (), {"cause": cause, "owner": owner})
        if verdict.state is ExerciseState.DONE and self.exercise.asks["owner"].read(owner) != "you":
            times = re.findall(r"\d\d:\d\d:\d\d", self.log)
            time = next((time for time in times if time in str(message)), times[-1])
            wanted = {"the time": time} | {f"the code {code}": code for code in self.codes}
            if wrong := wrong_message(message, wanted):
                verdict = Verdict(ExerciseState.WRONG, replace(wrong, text=f"the message: {wrong.text}"))
        return Feedback(self.exercise, verdict)

    def text(self) -> str:
        """The phone, the log, and what is asked."""
        return f"{self.exercise.title}\n\n{self.phone.text()}\n\n{self.log}\n\n{self._asked.text()}"

    def html(self) -> str:
        """The same."""
        head = paragraph(tag("b", self.exercise.title))
        return tag("div", head, trust(self.phone.html()), preformat(self.log), trust(self._asked.html()))

    @property
    def _asked(self) -> Table:
        asked = [(name, f"{question.asks} {question.text}") for name, question in self.exercise.asks.items()]
        said = [("message", "what do you send, if somebody else has to act?"), ("answer", self.exercise.skeleton)]
        return facts("What to find", [*asked, *said])


def row_of_incident(number: int) -> CatalogueRow:
    """The row of the catalogue that an incident plays.

    Raises:
        ParameterError: there is no incident of this number.
    """
    shuffled = Random("incidents").sample(sorted(CAUSES), len(CAUSES))  # noqa: S311  # a game
    return row(shuffled[whole("incident", number, least=1, most=len(CAUSES)) - 1])


def incident(number: int, opened: Any) -> Incident:
    """Play an incident in a session; `opened` is one whose data are simulated.

    Raises:
        ParameterError: there is no incident of this number.
    """
    found = row_of_incident(number)
    run: Run = play_row(found, opened)
    later = Random(f"{opened.parameters.seed} {number}").randrange(20_000)  # noqa: S311  # a game
    first = datetime(2026, 3, 2, 10) + timedelta(seconds=later)  # noqa: DTZ001  # a clock on a wall
    key, _opaque, card = IN_THE_LOG
    shown = [_line(first, record) for record in run.trace if record.kind in {Kind.EVENT, Kind.EXCHANGE}]
    log = "\n".join([f"{first:%H:%M:%S}.000 DEBUG relay: card {card}, x-api-key {key}", *shown])
    codes = tuple(re.findall(r"status(?:_code)?=(?!200)(\d+)", log)[-1:])
    pictures = film(run.trace, run.machine, run.before)
    phone = KeyScreens(replace(pictures, title=pictures.title.partition(",")[0]))  # the rest may tell the cause
    return Incident(_exercise(number, found, run), phone, log, codes)


def play_row(found: CatalogueRow, opened: Any) -> Any:
    """Play a row of the catalogue in a session: everything is as it should be, but for the row's cause.

    Raises:
        KeyError: the row has no play on a phone.
    """
    platform_a, platform_b, wallet = opened.platform_a, opened.platform_b, opened.wallet
    plays: Mapping[str, Callable[..., Any]] = {
        "fault": opened.break_it,
        "phone_a": platform_a.play,
        "taps": lambda: platform_a.play(taps=3, guarded=False),
        "phone_b": platform_b.play,
        "app_b": lambda app, phone="ready": platform_b.play(phone, app=app, pages=2),
        "wallet": lambda phone: wallet.play(phone=phone),
        "wallet_handler": lambda handler, phone="app was opened": wallet.play(handler, phone),
        "authorization": lambda name: wallet.play(authorization=name),
    }
    verb, *settings = found.play
    return plays[verb](*settings)


def _line(first: datetime, record: Record) -> str:
    """One line of the log: only what the sender or the receiver would know; of opaque data its digest (REL-3)."""
    known = ("method", "status", "told", "attempts", "took", "ending", "reason", "status_code", "case", "where",
             "found", "out_of_reach", "call", "error")  # fmt: skip
    step = record.as_dict()
    values = {name: value for name, value in step["values"].items() if name in known and value not in {None, ""}}
    if (data := step["values"].get("sdk_input")) is not None:
        empty = isinstance(data, str) and data.startswith("0 ")
        values["sdkInput"] = "empty" if empty else sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:6]
    time = f"{first + timedelta(seconds=step['at']):%H:%M:%S.%f}"[:-3]
    words = " ".join(f"{name}={value}" for name, value in values.items())
    return f"{time} {step['from']} > {step['to']}: {step['name']} {words}".rstrip()


def _exercise(number: int, found: CatalogueRow, run: Run) -> Exercise:
    """What is asked, and why each other answer is wrong: what its own row would show."""
    cause, owner = CAUSES[found.number], acting(found)
    causes: dict[object, Reason] = {
        name: Reason(next(iter(row(other).rules), ""), f"then you would see that {row(other).sign}.")
        for other, name in CAUSES.items()
    }
    others: tuple[object, ...] = ("the operator", "the scheme", "you")
    theirs = Reason(next(iter(found.rules), ""), "the cause is right, and somebody else has to fix it.")
    skeleton = f"session.incident({number}).answer(cause=..., owner=...)"
    solution = f"session.incident({number}).answer(cause={cause!r}, owner={owner!r}, message=...)"
    return Exercise(
        id=f"incident {number}", kind=ExerciseKind.FIND, minutes=5, task="",
        title=f"Incident {number}: adding a card does not go as it should", notes="", mistakes=(),
        skeleton=skeleton, solution=solution,
        hints=(
            "How far did it get? Start after the last step that worked. Whose words are in the lines before the end?",
            f"Is it so that {found.sign}?",
            f"Make sure: {found.check}",
        ),
        remark=f"It is {found.title}. _.run shows what was played.",
        asks={"cause": Question("what is it?", tuple(sorted(CAUSES.values())), causes),
              "owner": Question("who has to act first?", others, dict.fromkeys(others, theirs))},
        judge=lambda: Observed(run, cause=cause, owner=owner),
    )  # fmt: skip
