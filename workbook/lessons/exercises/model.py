"""What an exercise is, and what holds them: `lesson_NN.toml` the words, `judges_*.py` the judges."""

from __future__ import annotations

import linecache
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from workbook.base.values import lookup
from workbook.checks import Severity

# The lessons that have exercises, by number.
LESSONS: Final = tuple(
    sorted(
        path.name[7:9]
        for path in files(__package__).iterdir()
        if path.name.startswith("lesson_") and path.name.endswith(".toml")
    )
)
# What a cell's output leaves for a runner: the exercise's id and state.
EXERCISE_MIMETYPE: Final = "application/vnd.workbook.exercise+json"


class ExerciseKind(StrEnum):
    """What the learner does."""

    PREDICT = "predict"
    FIND = "find"
    FIX = "fix"
    WRITE = "write"


class ExerciseState(StrEnum):
    """How far an exercise is."""

    UNTOUCHED = "untouched"
    WRONG = "wrong"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an answer is not right yet.

    Attributes:
        rule: the id of the rule that it breaks; empty for a slip such as a missing answer.
        text: what this answer did, and what must be.
        run: where it can be seen; None where nothing was played.
    """

    rule: str
    text: str
    run: object = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}" if self.rule else self.text


class Observed:
    """What a judge saw: `run` to look at, and for an exercise with questions the true answers by their names."""

    def __init__(self, run: object = None, **facts: object) -> None:
        self.run = run
        self.facts = facts


Judge = Callable[..., Reason | Observed]


def first_finding(run: Any, beside: Any = None) -> Reason | None:
    """The first of the run's findings that is a failure, else the first warning, as a reason; None without any.

    `beside` is the same played with a good answer: what is found there, too, comes from the fault that was played.
    """
    known = {finding.text for finding in beside.findings} if beside else set()
    for level in (Severity.FAIL, Severity.WARN):
        for finding in run.findings:
            if finding.level is level and finding.text not in known:
                return Reason(finding.rule, f"{finding.text} {finding.todo}", run)
    return None


def first_reason(*rows: tuple[bool, str, str], run: object = None) -> Reason | None:
    """The reason of the first row that is wrong; a row says whether it is, the rule, and what the answer did."""
    return next((Reason(rule, text, run) for wrong, rule, text in rows if wrong), None)


@dataclass(frozen=True, slots=True)
class Question:
    """One question with a fixed choice of answers.

    Attributes:
        asks: the question; empty where the task says it.
        choices: what may be answered, sorted: in the table's order the right one would be the last.
        why: for each wrong choice, why it is wrong.
    """

    asks: str
    choices: tuple[object, ...]
    why: Mapping[object, Reason]

    @classmethod
    def of(cls, asks: str, *rows: list[Any]) -> Question:
        """From the rows of a table: a wrong choice with its rule and its reason, the right one alone."""
        choices = sorted(
            (row[0] for row in rows), key=lambda choice: (isinstance(choice, str), choice is False, choice)
        )
        return cls(asks, tuple(choices), {row[0]: Reason(*row[1:]) for row in rows if len(row) > 1})

    def read(self, answer: object) -> object:
        """The choice that this answer names, in small or capital letters; any other answer comes back unchanged."""
        same = (choice for choice in self.choices if isinstance(choice, str) and isinstance(answer, str)
                and choice.casefold() == answer.strip().casefold())  # fmt: skip
        return next(same, answer)

    @property
    def text(self) -> str:
        """The choices in words."""
        return " or ".join(map(repr, self.choices))


@dataclass(frozen=True, slots=True)
class Mistake:
    """A typical wrong first answer.

    Attributes:
        what: the mistake in a few words.
        cell: the whole cell.
        says: the reason that it is given, with its rule.
    """

    what: str
    cell: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One exercise.

    Attributes:
        id: the lesson's number and its own, such as `05.1`.
        kind: what the learner does.
        title: in a few words.
        minutes: that a learner takes.
        task: what to do, as Markdown.
        skeleton: the cell as the learner finds it.
        solution: the cell that is right.
        hints: three, each saying more than the one before.
        notes: for the instructor, as Markdown.
        remark: the words after *done*; empty where there are none.
        asks: its questions by name; empty where the answer is code.
        mistakes: typical wrong first answers.
        judge: plays the answer.
    """

    id: str
    kind: ExerciseKind
    title: str
    minutes: int
    task: str
    skeleton: str
    solution: str
    hints: tuple[str, ...]
    notes: str
    remark: str
    asks: Mapping[str, Question]
    mistakes: tuple[Mistake, ...]
    judge: Judge

    @classmethod
    def of(cls, fields: dict[str, Any], judge: Judge) -> Exercise:
        """From its table in a `lesson_NN.toml`."""
        texts: dict[str, str] = {name: fields[name].strip("\n") for name in ("task", "skeleton", "solution", "notes")}
        call = f'wb.exercise("{fields["id"]}", '

        def cell(row: dict[str, str]) -> str:
            match row:
                case {"answer": answer}:
                    return f"{call}{answer})"
                case {"cell": whole}:
                    return whole.strip("\n")
            assert texts["solution"].count(row["old"]) == 1, row  # noqa: S101  # a table of ours
            return texts["solution"].replace(row["old"], row["new"])

        return cls(
            id=fields["id"], kind=ExerciseKind(fields["kind"]), title=fields["title"], minutes=fields["minutes"],
            hints=tuple(fields["hints"]), remark=fields.get("remark", ""),
            asks={name: Question.of(*rows) for name, rows in fields.get("asks", {}).items()},
            mistakes=tuple(Mistake(row["what"], cell(row), row["says"]) for row in fields.get("mistakes", ())),
            judge=judge, **texts,
        )  # fmt: skip

    @property
    def call(self) -> str:
        """How an answer is handed in, for a sentence."""
        given = ", ".join(f"{name}=..." for name in self.asks) or "MY_ANSWER"
        return f'wb.exercise("{self.id}", {given})'


@cache
def lesson(number: str) -> Mapping[str, Exercise]:
    """The exercises of a lesson by id, in its order."""
    tables = tomllib.loads(files(__package__).joinpath(f"lesson_{number}.toml").read_text("utf-8"))
    return {table["id"]: Exercise.of(table, partial(_ask, table["judge"])) for table in tables["exercise"]}


def _ask(judge: str, *answer: object) -> Reason | Observed:
    """What a judge says, such as `wallet.late_status`. Its module is loaded only now: no layout needs a judge."""
    module, _, name = judge.partition(".")
    seen: Reason | Observed = getattr(import_module(f"{__package__}.judges_{module}"), name)(*answer)
    return seen


def all_exercises() -> dict[str, Exercise]:
    """Every exercise by id, in the lessons' order."""
    return {key: value for number in LESSONS for key, value in lesson(number).items()}


def exercise_named(exercise_id: object) -> Exercise:
    """The exercise with this id, such as `05.1`.

    Raises:
        ParameterError: there is none; names the nearest.
    """
    number = exercise_id[:2] if isinstance(exercise_id, str) else ""
    return lookup("exercise", exercise_id, lesson(number) if number in LESSONS else all_exercises())


class _Catcher:
    """Stands for `wb` in a cell of ours: `exercise` keeps the answer, and every other name is the workbook's."""

    answer: tuple[tuple[object, ...], dict[str, object]]

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("workbook"), name)

    def exercise(self, _exercise_id: str, *args: object, **named: object) -> None:
        """Keep the answer instead of judging it."""
        self.answer = args, named


def answer_in(cell: str, file: str = "Your cell") -> tuple[tuple[object, ...], dict[str, object]]:
    """What a cell of ours hands to `wb.exercise` after the id: by position and by name.

    `file` is what errors call the cell.
    """
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    catcher = _Catcher()
    exec(compile(cell, file, "exec"), {"__name__": "__main__", "wb": catcher})  # noqa: S102  # a cell of ours
    return catcher.answer
