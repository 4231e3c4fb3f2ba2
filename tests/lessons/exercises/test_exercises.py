"""Every exercise: its solution is done, its skeleton is not, and each typical mistake gets a reason of its own."""

import pytest
from texts import demand_none

from workbook.base.files import NOTEBOOKS
from workbook.base.rules import rules
from workbook.lessons.exercises.asking import Feedback, judge
from workbook.lessons.exercises.judges_app import provides_the_opc_data
from workbook.lessons.exercises.model import ExerciseKind, ExerciseState, all_exercises, answer_in

EXERCISES = all_exercises()
KNOWN = {rule.id for rule in rules()}
SLOW = ("06.3", "06.6", "06.7", "05.4", "05.5", "05.6", "07.2", "08.1")
"""They judge a back end over HTTP, an app or a project, or a wallet that waits: ten mistakes take up to seconds."""
every = pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(exercise, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, exercise in EXERCISES.items()
    ],
)


def verdict_on(exercise, cell):
    args, named = answer_in(cell)
    return judge(exercise, args, named, cell)


@every
def test_it_is_complete_its_solution_is_done_and_its_skeleton_is_not(exercise):
    verdict = verdict_on(exercise, exercise.solution)
    assert (verdict.state, verdict.reason) == (ExerciseState.DONE, None)
    assert verdict_on(exercise, exercise.skeleton).state is ExerciseState.UNTOUCHED
    assert len(exercise.hints) == len(set(exercise.hints)) == 3
    assert len(exercise.mistakes) >= 10
    assert 1 <= exercise.minutes <= 15
    assert all((exercise.title, exercise.task, exercise.notes))
    rules_named = {mistake.says.partition(": ")[0] for mistake in exercise.mistakes} & KNOWN
    assert rules_named, "at least one mistake names a rule"


@every
def test_each_typical_mistake_gets_a_reason_of_its_own(exercise):
    said = {mistake.what: str(verdict_on(exercise, mistake.cell).reason) for mistake in exercise.mistakes}
    place = f"workbook/lessons/exercises/lesson_{exercise.id[:2]}.toml: {exercise.id}"
    demand_none([
        f"{place}, {mistake.what}: the judge says {said[mistake.what]!r}, and not {mistake.says!r}"
        for mistake in exercise.mistakes if said[mistake.what] != mistake.says
    ])  # fmt: skip
    assert len(set(said.values())) == len(exercise.mistakes)


@every
def test_the_run_agrees_with_the_answers_that_are_called_right(exercise):
    if not exercise.asks:
        return
    facts = exercise.judge().facts
    for name, question in exercise.asks.items():
        assert [choice for choice in question.choices if choice not in question.why] == [facts[name]]
        assert {reason.rule for reason in question.why.values()} <= KNOWN | {""}


def test_there_are_enough_of_each_kind():
    kinds = [exercise.kind for exercise in EXERCISES.values()]
    assert len(kinds) >= 40
    assert kinds.count(ExerciseKind.PREDICT) >= 10
    assert kinds.count(ExerciseKind.FIND) + kinds.count(ExerciseKind.FIX) >= 10
    assert kinds.count(ExerciseKind.WRITE) >= 5
    lessons = [exercise_id[:2] for exercise_id in EXERCISES]
    assert sorted(set(lessons)) == [path.stem[:2] for path in sorted(NOTEBOOKS.glob("*.ipynb"))]
    assert min(lessons.count(number) for number in lessons) >= 2


class Odd:
    """An object that fails at every touch."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = None


def recursive(*given, **named):
    return recursive(*given, **named)


ODD = [
    None, True, 7, "", "text", b"bytes", [], {}, ..., object(), object, int, Odd(), Odd, Exception(), print,
    lambda: None, lambda *_given, **_named: Odd(), recursive, iter([]),
]  # fmt: skip
"""What somebody might hand in by mistake."""


@every
def test_whatever_is_handed_in_gets_a_reason_and_raises_nothing(exercise):
    for odd in ODD:
        args, named = ((), dict.fromkeys(exercise.asks, odd)) if exercise.asks else ((odd,), {})
        verdict = judge(exercise, args, named)
        assert verdict.state is not ExerciseState.DONE, odd
        assert verdict.reason.text
        shown = Feedback(exercise, verdict)
        assert shown.text()
        assert shown.html()


class Hiding:
    """It hands on something else where its back end has no answer."""

    def __init__(self, relay):
        self.relay = relay

    def fetch_opc(self, card, sdk_output):
        try:
            return self.relay.provision(card, sdk_output)
        except TimeoutError:
            return self.relay.activation_data(card)


def test_a_provider_that_returns_something_for_a_lost_answer_hides_it():
    said = provides_the_opc_data(Hiding)
    assert (said.rule, "your provider hid it (it returned something)" in said.text) == ("REL-6", True)
