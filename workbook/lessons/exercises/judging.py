"""Judging: the learner's answer is played, whatever it is, and nothing that it does gets out as an error."""

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import FunctionType
from typing import Any, Final

from workbook.base.values import quoted
from workbook.errors import ParameterError
from workbook.lessons.exercises.model import Exercise, ExerciseKind, Observed, Reason, answer_in
from workbook.play.own_code import StoppedError, exception_words, own_line, within

# The file name of a cell that is ours, so that it never hides a line of the learner's.
OUR_CELL: Final = "the workbook's cell"


class ExerciseState(StrEnum):
    """How far an exercise is."""

    UNTOUCHED = "untouched"
    WRONG = "wrong"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one answer.

    Attributes:
        state: how far it is.
        reason: why it is not done; None when it is.
        run: what was played, to look at; None where nothing was.
        kind: what was wrong, in a short word where the reason names no rule.
    """

    state: ExerciseState
    reason: Reason | None = None
    run: object = field(default=None, compare=False)
    kind: str = "answer"


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
        seen = _compare(exercise, named) if exercise.asks else within(seconds, exercise.judge, args[0])
    except StoppedError as stopped:
        advice = stopped.line or "Look for a loop or a wait that never ends"
        kind, seen = "too slow", Reason("", f"your code had not ended after {seconds:g} s of real time. {advice}.")
    except ParameterError as error:  # such as for an object that cannot be a handler
        kind, seen = "form", Reason("", str(error))
    except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
        kind, seen = "raised", Reason("", f"your code raised {exception_words(error)}. {own_line(error)}".rstrip())
    if isinstance(seen, Observed):
        return Verdict(ExerciseState.DONE, run=seen.run)
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


def _compare(exercise: Exercise, named: Mapping[str, object]) -> Reason | Observed:
    """The answers to questions beside what a run shows; the first wrong one gives the reason."""
    seen = exercise.judge()
    if isinstance(seen, Reason):
        raise TypeError(f"{exercise.id}: the judge of an exercise with questions returns what it saw.")
    for name, question in exercise.asks.items():
        if seen.facts[name] != named[name]:
            reason = question.why[named[name]]
            return Reason(reason.rule, f"{name}={named[name]!r}: {reason.text}")
    return seen


def _is_skeleton(cell: str, skeleton: str) -> bool:
    """Whether a cell still has the skeleton's code, in whatever layout."""
    try:
        return ast.dump(ast.parse(cell)) == ast.dump(ast.parse(skeleton))
    except SyntaxError:  # such as a notebook's own command
        return False
