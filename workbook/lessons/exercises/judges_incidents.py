"""Judges of lesson 09, and incidents to play.

A judge diagnoses the incidents of a task, and reads a message as its receiver would. A played incident is a row of the
diagnosis catalogue that is given by number and not named; the learner finds its cause, its owner and the message. What
is shown is what a team would have: the phone, and the lines that app, SDK and back end have logged. The findings, and
the simulator's own reasons, stay hidden until the answer is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any, Final

from workbook.base.values import quoted, whole
from workbook.checks.diagnosis import CatalogueRow, diagnose, row
from workbook.flows.trace import Kind, Record
from workbook.lessons.exercises.asking import Feedback, Verdict, judge
from workbook.lessons.exercises.model import Exercise, ExerciseKind, ExerciseState, Observed, Question, Reason, lesson
from workbook.lessons.run import Run
from workbook.views.film import film
from workbook.views.html import View, tag, trust
from workbook.views.phone import KeyScreens
from workbook.views.table import Table, facts, paragraph, preformat

# The cause of each row of the catalogue, as the exercises name it.
CAUSE_OF_ROW: Final = {
    2: "the role is missing",
    7: "an empty answer was believed",
    9: "the limits do not nest",
    12: "an old answer was used again",
    13: "two attempts at once",
    15: "not on the allowlist",
    19: "the card configuration",
    24: "fetchOpc failed",
    29: "no entitlement",
    30: "the scheme does not know the app",
    32: "the scheme refused",
    39: "status() is too slow",
}


OWNERS: Final = {"operator": "the operator", "scheme": "the scheme", "you": "you"}


def acting(found: CatalogueRow) -> tuple[str, ...]:
    """Who may have to act, as the incidents say it; the likeliest first."""
    return tuple(OWNERS[owner] for owner in found.owners if owner in OWNERS)


def incidents(exercise_id: str) -> Observed:
    """The four logs in the text of an exercise: the likeliest cause of each, and whom to write to."""
    logs = re.findall(r"^```text[^\n]*\n(.*?)^```", lesson("09")[exercise_id].task + "\n", re.DOTALL | re.MULTILINE)
    facts: dict[str, str] = {}
    for name, log in zip(("first", "second", "third", "fourth"), logs, strict=True):
        row = diagnose(log).likely[0].row
        receiver = "nobody" if row.owners[0] == "you" else f"the {row.to}"
        facts |= {name: CAUSE_OF_ROW[row.number], f"{name}_to": receiver}
    return Observed(None, **facts)


incidents_1, incidents_2, incidents_3 = (partial(incidents, f"09.{number}") for number in (1, 2, 3))

# What must not leave the house, with the rule and why: key, sdkOutput, card.
IN_THE_LOG: Final = {
    "key-of-the-back-end-5f20c1": (
        "REL-2",
        "the API key is in it: whoever reads the message can call the API. Replace the key today",
    ),
    "eyJub25jZSI6IjdmM2EiLCJjZXJ0aWZpY2F0ZXMiOlsiTUlJQjAwIl19": (
        "REL-3",
        "the sdkOutput is in it, and that is card data",
    ),
    "PI3222722322935MDMZ9J83KH": (
        "REL-3",
        "the whole payment instrument id is in it; a few of its characters find the attempt as well",
    ),
}


def log_of(request: str, status: int, code: str, time: str) -> str:
    """A back end's log of one failed POST, with everything in it that must not leave the house."""
    key, opaque, card = IN_THE_LOG
    body = f'{{"status": {status}, "errorCode": "{code}", "requestId": "{request}", "detail": "no"}}'
    return "\n".join([
        f"{time} INFO relay: POST /paymentInstruments/{card}/networkTokenActivationData",
        f"{time} DEBUG relay: x-api-key: {key}",
        f'{time} DEBUG relay: body {{"sdkOutput": "{opaque}"}}',
        f"{time} ERROR relay: {body}",
    ])  # fmt: skip


def ready_to_send(write: Callable[[str], Any], longest: int = 15) -> Reason | Observed:
    """A message that finds the attempt, tells nobody a secret, and has at most `longest` lines."""
    for asked in (
        ("req-77a1c0", 403, "00_403", "2026-03-02T10:15:04Z"),
        ("req-0b9e12", 422, "30_031", "2026-05-19T23:59:58Z"),
    ):
        message = write(log_of(*asked))
        if not isinstance(message, str) or not message.strip():
            return Reason("", f"your function returned {quoted(message)}. Return the message, as text.")
        names = ("the requestId", "the HTTP status", "the errorCode", "the time")
        if wrong := wrong_message(message, dict(zip(names, map(str, asked), strict=True)), longest):
            return wrong
    return Observed()


def wrong_message(message: object, wanted: Mapping[str, str], longest: int = 15) -> Reason | None:
    """What is wrong with a message that has to hold what is wanted, by name, and nothing that is secret."""
    if not isinstance(message, str) or not message.strip():
        return Reason("", f"it is {quoted(message)}. Write what you send, as text.")
    for secret, (rule, why) in IN_THE_LOG.items():
        if secret in message or secret[: len(secret) // 2] in message:
            return Reason(rule, f"{why}.")
    if missing := [name for name, value in wanted.items() if value not in message]:
        found_by = next(iter(wanted.values()))
        return Reason("GAP-1", f"your message lacks {', '.join(missing)}: without it nobody finds {found_by}.")
    if (lines := len(message.splitlines())) > longest:
        return Reason("GAP-1", f"your message has {lines} lines; nobody reads more than {longest}.")
    return None


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
    cause, acts = CAUSES[found.number], acting(found)
    causes: dict[object, Reason] = {
        name: Reason(next(iter(row(other).rules), ""), f"then you would see that {row(other).sign}.")
        for other, name in CAUSES.items()
    }
    owners = tuple(OWNERS.values())
    theirs = Reason(next(iter(found.rules), ""), "the cause is right, and somebody else has to fix it.")
    skeleton = f"session.incident({number}).answer(cause=..., owner=...)"
    solution = f"session.incident({number}).answer(cause={cause!r}, owner={acts[0]!r}, message=...)"
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
              "owner": Question("who has to act?", owners, {each: theirs for each in owners if each not in acts})},
        judge=lambda: Observed(run, cause=cause, owner=acts[0]),
    )  # fmt: skip
