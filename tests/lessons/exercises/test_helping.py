"""The two buttons below an exercise."""

import pytest

import workbook as wb
from workbook.lessons.exercises.asking import Feedback
from workbook.lessons.exercises.helping import Helper
from workbook.lessons.exercises.model import EXERCISE_MIMETYPE, exercise_named
from workbook.lessons.exercises.progress import PROGRESS, Progress

WRONG = {"posts": 2, "posts_when_guarded": 1, "added": True, "reason": "InvalidSdkInput"}


@pytest.fixture
def helper(tmp_path, monkeypatch):
    (tmp_path / PROGRESS).write_text(Progress.begun().text())
    monkeypatch.chdir(tmp_path)
    return Helper(wb.exercise("03.1", **WRONG))


def parts(helper):
    said, hints, (more, hand), told, _keys = (getattr(child, "children", child) for child in helper.widget().children)
    return said, hints, more, hand, told


def test_each_press_shows_one_more_hint_and_the_solution_comes_with_the_last(helper, tmp_path):
    said, hints, more, _hand, _told = parts(helper)
    own = exercise_named("03.1")
    assert "Hint" not in said.value
    assert own.solution not in said.value
    for number in (1, 2, 3):
        assert more.description == f"Hint {number}"
        more.click()
        assert f"<b>Hint {number}: </b>" in hints.value
        assert f"Hint {number + 1}" not in hints.value
        assert Progress.read(tmp_path / PROGRESS).exercises["03.1"].hints == number
        assert ("wb.exercise" in hints.value) is (number == 3)
    assert more.layout.display == "none"


def test_a_learner_who_tried_nothing_gets_hints_and_no_solution(tmp_path, helper):
    looked = Helper(wb.exercise("03.1", **dict.fromkeys(WRONG, ...)))
    *_, more, _hand, _told = parts(looked)
    for _ in range(3):
        more.click()
    assert "Hint 3" in parts(looked)[1].value
    assert "wb.exercise" not in parts(looked)[1].value


def test_the_hand_goes_up_and_down(helper, tmp_path):
    *_, hand, told = parts(helper)
    assert hand.description == "I need help"
    hand.click()
    assert hand.description == "Lower my hand"
    assert "Your hand is up for 03.1" in told.value
    assert Progress.read(tmp_path / PROGRESS).help.exercise == "03.1"
    assert parts(Helper(wb.exercise("03.1", **WRONG)))[3].description == "Lower my hand", "it is still up"
    hand.click()
    assert Progress.read(tmp_path / PROGRESS).help is None


def test_a_right_answer_needs_no_more_hints(helper):
    done = wb.exercise("03.1", **WRONG | {"added": False})
    assert parts(Helper(done))[2].layout.display == "none"
    assert "The solution" in parts(Helper(done))[0].value


def test_what_is_stored_has_the_hints_folded_and_no_button(helper):
    stored = helper._repr_mimebundle_()
    assert stored[EXERCISE_MIMETYPE] == {"id": "03.1", "state": "wrong"}
    assert stored["text/html"].count("<summary>Hint") == 3
    assert "I need help" not in stored["text/html"]
    assert isinstance(helper.feedback, Feedback)
