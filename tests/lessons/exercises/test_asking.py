"""What a learner sees after a cell, and the progress that it leaves."""

import json
import linecache
import re

import pytest

import workbook as wb
from workbook.errors import ParameterError
from workbook.lessons.exercises.asking import Feedback, judge
from workbook.lessons.exercises.model import EXERCISE_MIMETYPE, all_exercises, answer_in, exercise_named
from workbook.lessons.exercises.progress import PROGRESS, Progress

OWN = exercise_named("05.2")


class Vanishes(wb.ReferenceHandler):
    def status(self):
        return wb.ExtensionProvisioningService(sdk_input=self.back_end.get(self.cards[0])).extension_status(
            requires_authentication=True
        )


class Listed(wb.ReferenceHandler):
    def status(self):
        return super().status()


def test_not_yet_names_the_reason_the_rules_sentence_and_the_next_step():
    said = repr(wb.exercise("05.2", Vanishes)).splitlines()
    assert said[0].startswith("✗ 05.2 not yet: X-STATUS-3: status() makes 1 network call.")
    assert said[1].startswith("  X-STATUS-3 (must): status() completes within 100 ms")
    assert said[2:] == ["  Next: _.hint(1) to _.hint(3), _.solution, _.run."]


def test_the_verdict_on_a_prediction_comes_first_and_its_run_is_folded():
    right = wb.exercise("03.1", posts=2, posts_when_guarded=1, added=False, reason="InvalidSdkInput")
    first, *rows, last = right.text().splitlines()
    assert (first, last) == ("✓ 03.1 done.", "  Next: _.run.")
    assert [row[:4] for row in rows] == ["  ✓ "] * 4
    html = right.html()
    assert html.index("done.") < html.index("<details><summary>What you predicted") < html.index("<table")
    wrong = wb.exercise("03.1", posts=2, posts_when_guarded=1, added=True, reason="InvalidSdkInput")
    assert "What you predicted" not in wrong.html()
    next_cell = wb.exercise("00.1", posts="Back end", makes_sdk_output="SDK", wallet_needs="POST", button="disabled")
    assert next_cell.text().startswith("✓ 00.1 done. The messages beside the phone show it.\n")
    assert "What you predicted" not in next_cell.html()
    assert repr(wb.exercise("05.2", Listed)) == "✓ 05.2 done."


def test_each_answer_is_right_or_wrong_with_one_reason():
    half = wb.exercise("00.1", posts="App", makes_sdk_output="SDK", wallet_needs="POST", button="hidden")
    first, *rows = half.text().splitlines()[:5]
    assert first == "✗ 00.1 not yet: 2 of 4 right."
    assert [row.split(": ", 2)[:2] for row in rows] == [
        ["  ✗ posts='App'", "API-13"],
        ["  ✓ makes_sdk_output='SDK'", "API-7"],
        ["  ✓ wallet_needs='POST'", "API-11"],
        ["  ✗ button='hidden'", "A-BTN-1"],
    ]
    assert re.findall('aria-label="(right|wrong)"', half.html())[1:] == ["wrong", "right", "right", "wrong"]


def test_hints_come_one_at_a_time():
    answer = wb.exercise("05.2", Vanishes)
    assert [answer.hint(number) for number in (1, 2, 3)] == list(OWN.hints)
    with pytest.raises(ParameterError, match="from 1 to 3"):
        answer.hint(4)
    html = answer.html()
    places = [html.index(text) for text in ("Hint 1", "Hint 2", "Hint 3", "The solution")]
    assert places == sorted(places)
    assert html.count("<details>") == html.count("</details>") == 4
    assert html.index("</details>") > places[3], "each hint is inside the one before"


def test_the_solution_is_not_offered_before_something_was_tried():
    args = wb.exercise("05.2", Listed).solution
    assert args == OWN.solution
    untouched = Feedback(OWN, judge(OWN, *answer_in(OWN.skeleton), OWN.skeleton))
    assert "Next:" not in untouched.text()
    assert "Hint 3" in untouched.html()
    assert "The solution" not in untouched.html()


def test_the_output_leaves_the_state_for_a_runner():
    bundle = json.loads(json.dumps(wb.exercise("05.2", Vanishes)._repr_mimebundle_()))
    assert bundle[EXERCISE_MIMETYPE] == {"id": "05.2", "state": "wrong"}
    assert {"text/plain", "text/html"} < bundle.keys()


def test_an_unknown_exercise_is_explained():
    with pytest.raises(ParameterError, match=r"No exercise '05\.20'\. Did you mean '05\.2'\?"):
        wb.exercise("05.20", Vanishes)
    with pytest.raises(ParameterError, match=r"No exercise 5\.2"):
        wb.exercise(5.2, Vanishes)


@pytest.fixture
def progress(tmp_path, monkeypatch):
    """The progress file of a learner's copy, in whose notebooks we are."""
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    (tmp_path / PROGRESS).write_text(Progress.begun().text())
    return tmp_path / PROGRESS


def test_a_learners_copy_keeps_the_progress_and_the_start_page_shows_it(progress):
    assert "05.2 ○" in wb.exercise().text()
    wb.exercise("05.2", Vanishes)
    assert "05.2 ✗" in wb.exercise().text()
    wb.exercise("05.2", Listed)
    wb.exercise("05.2", Vanishes)
    assert "05.2 ✓" in wb.exercise().text(), "what was done once stays done"
    assert f"Exercises: 1 of {len(all_exercises())} done" in wb.exercise().text()
    own = Progress.read(progress).exercises["05.2"]
    assert (own.attempts, own.wrong, own.passed is None) == (2, {"X-STATUS-3": 1}, False)


def hands_over(**_):
    raise ValueError("my secret word")


def test_a_wrong_answer_is_counted_by_its_kind_and_never_by_its_text(progress):
    wb.exercise("03.1", posts=2, posts_when_guarded=1, added=True, reason="my secret word")
    wb.exercise("03.1", posts=2, posts_when_guarded=1, added=True, reason="InvalidSdkInput")
    wb.exercise("03.2", hands_over)
    read = Progress.read(progress)
    assert [*read.exercises["03.1"].wrong] == ["form", "A-BTN-2"]
    assert read.now == "03.2"
    answer = wb.exercise("05.2", Vanishes)
    for number in (1, 2, 2, 1):
        answer.hint(number)
    assert Progress.read(progress).exercises["05.2"].hints == 2
    assert "secret" not in progress.read_text()


def test_elsewhere_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wb.exercise("05.2", Listed)
    assert list(tmp_path.iterdir()) == []
    assert wb.exercise("03.1").help() == "A hand can be raised in a learner's copy only: workbook lab"
    assert wb.exercise().text() == "Your progress is kept in a copy of the lessons only. Make one: workbook lab"


def test_progress_that_cannot_be_written_is_said_and_nothing_is_raised(progress, monkeypatch):
    before = progress.read_bytes()

    def full(*_given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbook.lessons.exercises.progress.write_whole", full)
    said = repr(wb.exercise("05.2", Listed))
    assert said.endswith("  Your progress could not be kept in progress.json: No space left on device.")
    assert progress.read_bytes() == before


def test_the_case_of_an_answers_letters_does_not_matter():
    right = wb.exercise("00.1", posts="back end", makes_sdk_output="sdk", wallet_needs=" Post", button="Disabled")
    assert right.done
    wrong = wb.exercise("00.1", posts="app", makes_sdk_output="SDK", wallet_needs="POST", button="disabled")
    assert str(wrong.verdict.reason).startswith("API-13: posts='App'")
    assert not wb.exercise("03.1", posts="2", posts_when_guarded=1, added=False, reason="InvalidSdkInput").done


def test_looking_at_an_exercise_is_no_attempt_and_help_is_one_call_away(progress, monkeypatch):
    look = wb.exercise("03.1")
    assert look.help() == "No trainer's board is connected to this copy. The hints are in hint(1) to hint(3)."
    monkeypatch.setenv("WORKBOOK_BOARD", "http://127.0.0.1:9")
    monkeypatch.setenv("WORKBOOK_BOARD_TOKEN", "token")
    assert Progress.read(progress).exercises["03.1"].attempts == 0
    assert look.help() == "Your hand is up for 03.1: the trainer's board shows it."
    assert Progress.read(progress).help.exercise == "03.1"
    assert look.help(up=False) == "Your hand is down."
    assert Progress.read(progress).help is None
    with pytest.raises(ParameterError, match="up"):
        look.help(up="yes")


def test_a_run_without_a_learner_keeps_nothing(progress, monkeypatch):
    before = progress.read_text()
    monkeypatch.setenv("WORKBOOK_UNATTENDED", "1")
    assert wb.exercise("05.2", Vanishes).file is None
    assert progress.read_text() == before


def test_a_cell_that_is_still_the_skeletons_is_no_attempt(progress):
    """The code of the cell that calls is compared, in whatever layout."""
    skeleton = OWN.skeleton.replace("\n", "  # mine\n", 1)
    for file, source in (("skeleton", skeleton), ("other", f"'mine'\n{skeleton}")):
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), {"wb": wb, "__name__": "__main__"})
        assert Progress.read(progress).exercises["05.2"].attempts == (file == "other")
