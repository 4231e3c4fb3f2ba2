"""`wb.exercise`: hand in an answer and see what the judge says, or see how far all exercises are.

The answer is played, whatever it is, and nothing that it does gets out as an error.
"""

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from workbook.base.rules import rule
from workbook.base.values import flag, quoted, whole
from workbook.errors import ConfigurationError, ParameterError
from workbook.lessons.exercises.model import (
    EXERCISE_MIMETYPE,
    LESSONS,
    Exercise,
    ExerciseKind,
    ExerciseState,
    Observed,
    Reason,
    answer_in,
    exercise_named,
    lesson,
)
from workbook.lessons.exercises.progress import PROGRESS, Progress, has_board, not_reached, post, progress_file, update
from workbook.play.own_code import StoppedError, exception_words, own_line, within
from workbook.views.html import View, join, tag, trust, unbroken
from workbook.views.table import INK, Stack, paragraph, preformat, snapshot, statement, table

# The file name of a cell that is ours, so that it never hides a line of the learner's.
OUR_CELL: Final = "the workbook's cell"


SIGN_OF_STATE: Final = {ExerciseState.UNTOUCHED: "○", ExerciseState.WRONG: "✗", ExerciseState.DONE: "✓"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one answer.

    Attributes:
        state: how far it is.
        reason: why it is not done; None when it is.
        run: what was played, to look at; None where nothing was.
        kind: what was wrong, in a short word where the reason names no rule.
        rows: for each question whether its answer is right, the answer, and why: the rule and the reason.
    """

    state: ExerciseState
    reason: Reason | None = None
    run: object = field(default=None, compare=False)
    kind: str = "answer"
    rows: tuple[tuple[bool, str, Reason], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Feedback(View):
    """What the judge says of one answer, with the hints.

    Attributes:
        exercise: the exercise that was answered.
        verdict: what the judge says.
        unkept: what to know of the progress: why it could not be kept; empty where it was, or where none is kept.
        file: where it is kept; None outside a learner's copy.
    """

    exercise: Exercise
    verdict: Verdict
    unkept: str = ""
    file: Path | None = None

    @property
    def done(self) -> bool:
        """Whether the answer is right."""
        return self.verdict.state is ExerciseState.DONE

    @property
    def tried(self) -> bool:
        """Whether a wrong answer was given: only then is the solution offered."""
        return self.verdict.state is ExerciseState.WRONG

    @property
    def open_questions(self) -> bool:
        """Whether there are questions, and none of them has an answer."""
        return bool(self.exercise.asks) and self.verdict.state is ExerciseState.UNTOUCHED

    @property
    def run(self) -> Any:
        """What was played with the answer: `wb.show(_.run, "messages")`. None where nothing was."""
        return self.verdict.run

    @property
    def solution(self) -> str:
        """A cell that is right."""
        return self.exercise.solution

    def hint(self, number: int) -> str:
        """A hint, from 1 to 3; each says more than the one before.

        Raises:
            ParameterError: there is no hint of this number.
        """
        hint = self.exercise.hints[whole("number", number, least=1, most=len(self.exercise.hints)) - 1]
        keep(self.file, lambda progress: progress.hint(self.exercise.id, number))
        return hint

    def help(self, *, up: bool = True) -> str:
        """Raise the hand, so that the trainer sees who needs help; False lowers it. Says what was done."""
        flag("up", up)
        exercise = self.exercise.id
        if self.file is None:
            return "A hand can be raised in a learner's copy only: workbook lab"
        if not up:
            return keep(self.file, lambda progress: progress.lower_hand(exercise)) or "Your hand is down."
        if problem := keep(self.file, lambda progress: progress.raise_hand(exercise)):
            return problem
        if has_board(self.file):
            return f"Your hand is up for {exercise}: the trainer's board shows it."
        return "No trainer's board is connected to this copy. The hints are in hint(1) to hint(3)."

    @property
    def _sentence(self) -> str:
        """The rule that the answer breaks, in the ledger's words."""
        reason = self.verdict.reason
        return str(rule(reason.rule)) if reason and reason.rule else ""

    @property
    def _verdict_line(self) -> str:
        if self.done:
            return f"done. {self.exercise.remark}".rstrip()
        right = [row[0] for row in self.verdict.rows]
        return f"not yet: {f'{sum(right)} of {len(right)} right.' if right else self.verdict.reason}"

    @property
    def _predicted(self) -> bool:
        """Whether there is something to see that was predicted right; nothing is shown before."""
        return self.done and self.exercise.kind is ExerciseKind.PREDICT and self.run is not None

    def text(self) -> str:
        """The verdict, the rule, and what to call next."""
        lines = [f"{SIGN_OF_STATE[self.verdict.state]} {self.exercise.id} {self._verdict_line}"]
        lines += [f"  {'✓' if right else '✗'} {answer}: {reason}" for right, answer, reason in self.verdict.rows]
        lines += [f"  {line}" for line in (self._sentence, self.unkept) if line]
        if self.tried:
            run = ", _.run" if self.run is not None else ""
            hand = ", _.help()" if self.file else ""
            lines.append(f"  Next: _.hint(1) to _.hint(3), _.solution{run}{hand}.")
        elif self._predicted:
            lines.append("  Next: _.run.")
        return "\n".join(lines)

    def html(self) -> str:
        """The same; each hint opens the next one, and the last one opens the solution once something was tried."""
        state = self.verdict.state
        below = [_fold("The solution", preformat(self.solution))] if self.done or self.tried else []
        if not self.done:
            for number, hint in reversed(list(enumerate(self.exercise.hints, 1))):
                below = [_fold(f"Hint {number}", paragraph(unbroken(hint)), *below)]
        mark = tag("span", SIGN_OF_STATE[state], role="img", aria_label=state.value)
        if self._predicted:
            below.insert(0, _fold("What you predicted", trust(snapshot(self.run).html())))
        head = paragraph(mark, " ", tag("b", self.exercise.id), " ", unbroken(self._verdict_line))
        for right, answer, reason in self.verdict.rows:
            sign = tag("span", "✓" if right else "✗", role="img", aria_label="right" if right else "wrong")
            head = join(head, paragraph(sign, " ", tag("code", answer), ": ", unbroken(str(reason))))
        small = [paragraph(tag("small", unbroken(line))) for line in (self._sentence, self.unkept) if line]
        edge = {
            ExerciseState.UNTOUCHED: "border-color2, #757575",
            ExerciseState.WRONG: "warn-color1, #b26a00",
            ExerciseState.DONE: "success-color1, #1d6b3f",
        }[state]
        style = f"border-left:5px solid var(--jp-{edge});padding-left:0.6em;color:{INK}"
        return tag("div", head, *small, *below, style=style)

    def state_for_runner(self) -> dict[str, Any]:
        """The exercise's id and state by their media type, as they are left in the notebook."""
        return {EXERCISE_MIMETYPE: {"id": self.exercise.id, "state": self.verdict.state.value}}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The verdict, and what is left in the notebook for a runner."""
        return {"text/plain": self.text(), "text/html": self.html(), **self.state_for_runner()}


def _fold(summary: str, *inside: object) -> str:
    return tag("details", tag("summary", summary), tag("div", *inside, style="margin:0.3em 0 0.3em 0.8em"))


def exercise(exercise_id: str = "", *answer: object, **answers: object) -> View:
    """Hand in an answer to an exercise; without an id, see how far all exercises are.

    The judge plays the answer, and says *done*, or *not yet* with a reason and the rule that it rests on. It never
    raises because of an answer. In a learner's copy (`workbook new`) the progress is kept in `progress.json`.

    Args:
        exercise_id: such as `05.1`, as the lesson has it.
        answer: your class or function.
        answers: your answers by name, where the exercise asks questions.

    Returns:
        The verdict with `hint(1)` to `hint(3)`, `solution` and `run`; or a table of all exercises.

    Raises:
        ParameterError: there is no such exercise; names the nearest.

    Example:
        >>> wb.exercise("05.2", wb.ReferenceHandler).verdict.reason.text
        'your class leaves status() to the reference handler; write it yourself.'
    """
    file = progress_file(Path.cwd())
    if not exercise_id and not answer and not answers:
        return how_far(file)
    cell = "".join(linecache.getlines(inspect.stack(0)[1].filename))
    return hand_in(exercise_named(exercise_id), answer, answers, cell, file)


def hand_in(
    chosen: Exercise, answer: tuple[object, ...], answers: dict[str, object], cell: str, file: Path | None
) -> Feedback:
    """Judge an answer, and keep the progress in the copy's file, if there is one."""
    verdict = judge(chosen, answer, answers, cell)
    state = verdict.state if answer or answers else ExerciseState.UNTOUCHED  # without an answer one may ask for help
    unkept = keep(file, lambda progress: progress.note(chosen.id, state, verdict.kind))
    return Feedback(chosen, verdict, unkept, file)


def keep(file: Path | None, change: Callable[[Progress], Progress]) -> str:
    """Change the progress in a copy's file, and say what the learner should know; empty where all went well."""
    if file is None:
        return ""
    try:
        note = update(file, change)
    except OSError as error:
        return f"Your progress could not be kept in {PROGRESS}: {error.strerror or error}."
    post(file)
    return note


def how_far(file: Path | None) -> View:
    """How far the exercises of each lesson are, by this progress file; none is kept outside a learner's copy."""
    if file is None:
        return statement("Your progress is kept in a copy of the lessons only. Make one: workbook lab")
    try:
        progress = Progress.read(file)
    except (OSError, ConfigurationError) as error:
        return statement(f"Your progress cannot be read: {error}")
    rows, done, total = [], 0, 0
    for number in LESSONS:
        exercises = lesson(number).values()
        states = {each.id: progress.state(each.id) for each in exercises}
        marks = "  ".join(f"{each} {SIGN_OF_STATE[state]}" for each, state in states.items())
        left = [each.minutes for each in exercises if states[each.id] is not ExerciseState.DONE]
        done, total = done + len(exercises) - len(left), total + len(exercises)
        rows.append((number, f"{len(exercises) - len(left)} of {len(exercises)}", f"{sum(left)} min", marks))
    shown = table(f"Exercises: {done} of {total} done (seat {progress.seat})", ("lesson", "done", "left", "each"), rows)
    board = not_reached.get(file, "")
    post(file)  # once more
    if not board:
        return shown
    warning = statement(f"The trainer's board was not reached: {board}. Nothing is lost; it is tried again.")
    return Stack((warning, shown))


# Judging one answer.


def judge(
    exercise: Exercise, args: tuple[object, ...], named: Mapping[str, object], cell: str = "", seconds: float = 10.0
) -> Verdict:
    """Judge one answer; raises nothing but what stops the whole process.

    Args:
        exercise: what was asked.
        args: the answer, by position.
        named: the answers by name.
        cell: the code of the cell that hands it in; the skeleton's is recognised.
        seconds: of real time that the answer may take; the longest judge takes about one.
    """
    named = {name: exercise.asks[name].read(value) if name in exercise.asks else value for name, value in named.items()}
    if slip := _slip(exercise, args, named):
        return Verdict(ExerciseState.WRONG, slip, kind="form")
    untouched = all(value is ... for value in named.values()) if named else _is_skeleton(cell, exercise.skeleton)
    if untouched and (exercise.asks or exercise.kind is not ExerciseKind.FIX):
        return Verdict(ExerciseState.UNTOUCHED, Reason("", "change this cell and run it."))
    kind = "answer"
    try:
        seen = exercise.judge() if exercise.asks else within(seconds, exercise.judge, args[0])
    except StoppedError as stopped:
        advice = stopped.line or "Look for a loop or a wait that never ends"
        kind, seen = "too slow", Reason("", f"your code had not ended after {seconds:g} s of real time. {advice}.")
    except ParameterError as error:  # such as for an object that cannot be a handler
        kind, seen = "form", Reason("", str(error))
    except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
        kind, seen = "raised", Reason("", f"your code raised {exception_words(error)}. {own_line(error)}".rstrip())
    rows = tuple(_rows(exercise, named, seen)) if isinstance(seen, Observed) else ()
    if wrong := [(answer, reason) for right, answer, reason in rows if not right]:
        answer, reason = wrong[0]
        first = Reason(reason.rule, f"{answer}: {reason.text}")
        return Verdict(ExerciseState.WRONG, first, None, reason.rule or kind, rows)
    if isinstance(seen, Observed):
        return Verdict(ExerciseState.DONE, run=seen.run, rows=rows)
    # the untouched mistake of an exercise to fix shows its symptom, too
    return Verdict(ExerciseState.UNTOUCHED if untouched else ExerciseState.WRONG, seen, seen.run, seen.rule or kind)


def _slip(  # noqa: PLR0911  # one sentence for each slip
    exercise: Exercise, args: tuple[object, ...], named: Mapping[str, object]
) -> Reason | None:
    """What is wrong with the form of an answer."""
    if not exercise.asks:
        if len(args) != 1 or named:
            return Reason("", f"give exactly one answer: {exercise.call}.")
        return _wrong_kind(
            args[0], answer_in(exercise.skeleton, OUR_CELL)[0][0], answer_in(exercise.solution, OUR_CELL)[0][0]
        )
    if args:
        return Reason("", f"answer by name: {exercise.call}.")
    if strange := [name for name in named if name not in exercise.asks]:
        return Reason("", f"there is no question {quoted(strange[0])}. Answer so: {exercise.call}.")
    if all(value is ... for value in named.values()) and len(named) == len(exercise.asks):
        return None  # the skeleton
    for name, question in exercise.asks.items():
        value = named.get(name, ...)
        if value is ...:
            return Reason("", f"{name} has no answer yet. Choose {question.text}.")
        if not any(type(value) is type(choice) and value == choice for choice in question.choices):
            return Reason("", f"{name} is {quoted(value)}. Choose {question.text}.")
    return None


def _wrong_kind(answer: Any, skeleton: Any, solution: Any) -> Reason | None:  # noqa: PLR0911  # one sentence each
    """What is wrong with an answer that cannot be called as the solution can."""
    if isinstance(solution, type):
        base, name = solution.__base__ or object, solution.__name__
        if not isinstance(answer, type):
            return Reason("", f"you handed in {quoted(answer)}; hand in the class itself, {name} without parentheses.")
        if not issubclass(answer, base):
            return Reason("", f"your class {answer.__name__} is not derived from {base.__name__}, as {name} was.")
        both = [method for method in vars(skeleton) if method in vars(solution) and method[0] != "_"]
        if missing := [method for method in both if not callable(getattr(answer, method, None))]:
            return Reason("", f"your class {answer.__name__} has no method {missing[0]}().")
    if isinstance(solution, FunctionType):
        name, takes = solution.__name__, inspect.signature(solution)
        if not callable(answer) or isinstance(answer, type):
            return Reason(
                "", f"you handed in {quoted(answer)}; hand in the function itself, {name} without parentheses."
            )
        try:
            inspect.signature(answer).bind(*takes.parameters)
        except TypeError as error:
            return Reason("", f"your function cannot be called as {name}{takes}: {error}.")
        except ValueError:  # a function in C may not say what it takes
            return None
    return None


def _rows(exercise: Exercise, named: Mapping[str, object], seen: Observed) -> Iterator[tuple[bool, str, Reason]]:
    """The answers to questions beside what a run shows: of a right one the reason is why another would be wrong."""
    for name, question in exercise.asks.items():
        given = named[name]
        right = seen.facts[name] == given or given not in question.why  # several may be right
        wrong = next(((other, why) for other, why in question.why.items() if other != given), None)
        why_not = replace(wrong[1], text=f"not {wrong[0]!r}: {wrong[1].text}") if wrong else Reason("", "all are right")
        yield right, f"{name}={given!r}", why_not if right else question.why[given]


def _is_skeleton(cell: str, skeleton: str) -> bool:
    """Whether a cell still has the skeleton's code, in whatever layout."""
    try:
        return ast.dump(ast.parse(cell)) == ast.dump(ast.parse(skeleton))
    except SyntaxError:  # such as a notebook's own command
        return False
