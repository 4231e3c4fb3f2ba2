"""Whatever a learner hands in, there is a verdict with a reason, and never an error."""

import asyncio
import time

import pytest

from workbook.errors import ParameterError
from workbook.lessons.exercises.asking import judge
from workbook.lessons.exercises.model import Exercise, ExerciseState, Observed, Reason, all_exercises, answer_in
from workbook.play.own_code import run_to_end

EXERCISES = all_exercises()
SKELETON = """
def answer(x):
    return ...

wb.exercise("99.1", answer)
"""


def exercise(judge, kind="write", skeleton=SKELETON, **asks):
    texts = dict.fromkeys(("title", "task", "notes"), "t") | {"skeleton": skeleton, "solution": skeleton}
    texts["hints"] = ["1", "2", "3"]
    return Exercise.of({"id": "99.1", "kind": kind, "minutes": 1, "asks": asks, **texts}, judge)


def calls(answer):
    return Observed() if answer(1) == 2 else Reason("API-1", "it is not 2.")


def verdict(cell, played=calls, seconds=10.0, **words):
    args, named = answer_in(cell)
    return judge(exercise(played, **words), args, named, cell, seconds)


def handed_in(body, head="def f(x):"):
    return f"{head}\n    {body}\nwb.exercise('99.1', f)"


def refuse(answer):
    raise ParameterError(f"No handler {answer}.")


@pytest.mark.parametrize(
    ("cell", "words", "state", "said"),
    [
        (handed_in("return x + 1"), {}, ExerciseState.DONE, "None"),
        (handed_in("return x"), {}, ExerciseState.WRONG, "API-1: it is not 2."),
        (SKELETON, {"kind": "fix"}, ExerciseState.UNTOUCHED, "API-1: it is not 2."),  # the symptom
        ("wb.exercise('99.1', lambda x: 7)", {"played": refuse}, ExerciseState.WRONG, "No handler <function"),
        *((f"wb.exercise('99.1'{given})", {}, ExerciseState.WRONG, 'give exactly one answer: wb.exercise("99.1", MY_')
          for given in ("", ", 1, 2", ", answer=1")),
    ],
)  # fmt: skip
def test_a_right_answer_is_done_and_any_other_has_a_reason(cell, words, state, said):
    found = verdict(cell, **words)
    assert (found.state, str(found.reason)[: len(said)]) == (state, said)


def test_the_skeleton_is_recognised_in_any_layout():
    assert verdict(SKELETON).state is ExerciseState.UNTOUCHED
    assert (
        verdict('def answer(x):  # later\n\n    return   ...\nwb.exercise("99.1", answer)').state
        is ExerciseState.UNTOUCHED
    )
    assert verdict('def answer(x):\n    return None\nwb.exercise("99.1", answer)').state is ExerciseState.WRONG


@pytest.mark.parametrize(
    ("head", "body", "played"),
    [
        ("def f(x):", "while True: pass", calls),
        ("def f(x):", "while True:\n        try: pass\n        except BaseException: pass", calls),
        ("async def f(x):", "while True: pass", lambda f: run_to_end(f, 1)),
    ],
    ids=["loop", "catches everything", "coroutine"],
)
def test_an_endless_loop_ends(head, body, played):
    begun = time.monotonic()
    found = verdict(handed_in(body, head), played, seconds=0.3)
    assert "had not ended after 0.3 s of real time" in found.reason.text
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("define", ["def f(x):", "async def f(x):"])
def test_an_error_shows_the_learners_own_line(define):
    def plays(answer):
        value = answer(1)
        return calls(lambda _x: asyncio.run(value) if asyncio.iscoroutine(value) else value)

    said = verdict(f"{define}\n    y = 1\n    return x / 0\nwb.exercise('99.1', f)", plays).reason.text
    assert said == "your code raised ZeroDivisionError. Your cell, line 3: return x / 0"


CLASS = """
class MyHandler(wb.ReferenceHandler):
    def status(self):
        return ...

wb.exercise("99.1", MyHandler)
"""
FUNCTION = "hand in the function itself, answer without parentheses."
KIND = "hand in the class itself, MyHandler without parentheses."


@pytest.mark.parametrize(
    ("skeleton", "answer", "said"),
    [
        (SKELETON, "7", f"you handed in 7; {FUNCTION}"),
        (SKELETON, "int", f"you handed in a value of type type; {FUNCTION}"),
        (SKELETON, "lambda: 2", "your function cannot be called as answer(x): too many positional arguments."),
        (CLASS, "len", f"you handed in a value of type builtin_function_or_method; {KIND}"),
        (CLASS, "int", "your class int is not derived from ReferenceHandler, as MyHandler was."),
        (CLASS.replace("wb.ReferenceHandler", "object"), "int", "your class int has no method status()."),
    ],
)  # fmt: skip
def test_an_answer_of_another_kind_is_explained(skeleton, answer, said):
    assert str(verdict(f"wb.exercise('99.1', {answer})", skeleton=skeleton).reason) == said


ASKS = {
    "added": ["", [True, "REL-1", "it is lost."], [False]],
    "posts": ["", [1], [2, "REL-1", "one tap, one POST."]],
}
ASKED = 'wb.exercise("99.1", added=..., posts=...)'


@pytest.mark.parametrize(
    ("given", "state", "said"),
    [
        ("added=False, posts=1", ExerciseState.DONE, "None"),
        ("added=..., posts=...", ExerciseState.UNTOUCHED, "change this cell and run it."),
        ("added=True, posts=2", ExerciseState.WRONG, "REL-1: added=True: it is lost."),
        ("added=False, posts=2", ExerciseState.WRONG, "REL-1: posts=2: one tap, one POST."),
        ("added=False", ExerciseState.WRONG, "posts has no answer yet. Choose 1 or 2."),
        ("added=0, posts=1", ExerciseState.WRONG, "added is 0. Choose True or False."),
        ("added='no', posts=1", ExerciseState.WRONG, "added is 'no'. Choose True or False."),
        ("aded=True", ExerciseState.WRONG, f"there is no question 'aded'. Answer so: {ASKED}."),
        ("False, 1", ExerciseState.WRONG, f"answer by name: {ASKED}."),
    ],
)
def test_questions_are_compared_with_a_run(given, state, said):
    found = verdict(
        f"wb.exercise('99.1', {given})",
        lambda: Observed("run", added=False, posts=1),
        kind="predict",
        skeleton=ASKED,
        **ASKS,
    )
    assert (found.state, str(found.reason)) == (state, said)
    assert found.run == ("run" if state is ExerciseState.DONE else None), (
        "a prediction shows nothing before it was right"
    )


@pytest.mark.parametrize(
    "order", ["51234", "5,1,2,3,4", "5 -> 1 -> 2 -> 3 -> 4", [5, 1, 2, 3, 4], ("5", "1", "2", "3", "4")]
)
def test_an_order_counts_however_its_numbers_are_separated(order):
    assert judge(EXERCISES["02.3"], (order,), {}).state is ExerciseState.DONE


def test_no_list_of_choices_gives_the_right_one_away_by_its_place():
    questions = [question for each in EXERCISES.values() for question in each.asks.values()]
    right = [next(choice for choice in question.choices if choice not in question.why) for question in questions]
    last = [question.text.endswith(repr(choice)) for question, choice in zip(questions, right, strict=True)]
    assert 0 < sum(last) < len(last) * 2 / 3
    for each in EXERCISES.values():  # the same choices are in the same order for each question
        texts = {frozenset(question.choices): question.text for question in each.asks.values()}
        assert all(texts[frozenset(question.choices)] == question.text for question in each.asks.values())


def test_a_slip_in_the_code_is_not_blamed_on_the_answer():
    def read(answer):
        return answer.json()["sdkInput"] if answer.status_code == 200 else None

    reason = str(judge(EXERCISES["01.2"], (read,), {}).reason)
    assert reason.startswith("your function raised AttributeError: status_code. An answer has status, body and json().")


@pytest.mark.parametrize("lesson", ["03.2", "06.3"])
def test_a_class_that_cannot_be_made_is_told_why(lesson):
    class MyBackEnd:
        def get(self, card):
            return card

        post = fetch_opc = get

    assert "TypeError: " in str(judge(EXERCISES[lesson], (MyBackEnd,), {}).reason)
    assert "takes no arguments" in str(judge(EXERCISES[lesson], (MyBackEnd,), {}).reason)
