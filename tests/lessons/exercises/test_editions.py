"""Copies for learners, solvers and instructors, and the way back."""

import json
import os

import pytest
from texts import demand_none

from workbook.base.files import NOTEBOOKS
from workbook.errors import ConfigurationError
from workbook.lessons.exercises import editions
from workbook.lessons.exercises.editions import Edition, lay_out, make_edition, reset
from workbook.lessons.exercises.model import ExerciseState, exercise_named, lesson
from workbook.lessons.exercises.progress import PROGRESS, Progress, update
from workbook.tools.commands import cli

OWN = exercise_named("05.2")


def cell(kind, cell_id, source="", tags=()):
    metadata = {"tags": [*tags]} if tags else {}
    made = {"cell_type": kind, "id": cell_id, "metadata": metadata, "source": source}
    outputs = [{"output_type": "stream", "name": "stdout", "text": "out"}]
    return made if kind == "markdown" else made | {"outputs": outputs, "execution_count": 1}


def notebook(*cells):
    return {"cells": [*cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


LESSON = notebook(
    cell("markdown", "a", "# Title"),
    cell("code", "b", "1 + 1"),
    cell("markdown", "task-05-2"),
    cell("code", "exercise-05-2"),
    cell("code", "c", "run", tags=["answer"]),
)


def sources(laid):
    return {each["id"]: each["source"] for each in laid["cells"]}


def test_a_learner_gets_the_skeleton_and_no_output_that_gives_an_answer_away():
    laid = make_edition(LESSON, Edition.LEARNER)
    assert sources(laid) == {
        "a": "# Title",
        "b": "1 + 1",
        "task-05-2": editions.task(OWN),
        "exercise-05-2": OWN.skeleton,
        "c": "run",
    }
    assert {each["id"] for each in laid["cells"] if each.get("outputs")} == {"b"}
    assert OWN.solution not in json.dumps(laid)
    assert sources(make_edition(LESSON, Edition.SOLVED))["exercise-05-2"] == OWN.solution


def test_questions_are_a_table_below_the_task_and_say_the_same_choices_once():
    assert editions.task(exercise_named("03.1")).splitlines()[-6:] == [
        "| answer | question | choices |",
        "|---|---|---|",
        "| `posts` | how many POSTs reach the API? | `0`, `1`, `2` |",
        "| `posts_when_guarded` | and when the button is guarded? | the same |",
        "| `added` | is the card added? | `True`, `False` |",
        '| `reason` | the reason of the failure | `"InvalidSdkInput"`, `"ProvisioningInProgress"`, `"Timeout"` |',
    ]
    last = editions.task(exercise_named("09.1")).splitlines()[-1]
    assert last.startswith("| `first_to`, `second_to`, `third_to`, `fourth_to` | whom do you write to? | ")
    assert "| answer | question |" not in editions.task(exercise_named("05.5")), "the task shows the choices itself"


def test_an_instructor_also_gets_notes_mistakes_and_minutes():
    laid = sources(make_edition(LESSON, Edition.INSTRUCTOR))
    assert list(laid) == ["a", "b", "task-05-2", "exercise-05-2", "notes-05-2", "c"]
    assert OWN.notes in laid["notes-05-2"]
    told = {mistake.what: f"| {mistake.what} |" in laid["notes-05-2"] for mistake in OWN.mistakes}
    assert (told["catches nothing"], told["hands in nothing"]) == (True, False)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A learner's copy of one lesson, and the workbook's own notebooks that it was made from."""
    own = tmp_path / "own" / "notebooks"
    own.mkdir(parents=True)
    (own / "05_lesson.ipynb").write_text(json.dumps(LESSON))
    (own / "06_other.ipynb").write_text(json.dumps(notebook(cell("code", "x", "x"))))
    for module in ("workbook.base.files", "workbook.lessons.exercises.editions"):
        monkeypatch.setattr(f"{module}.NOTEBOOKS", own)
    folder = tmp_path / "copy"
    lay_out(folder)
    return folder, own


def answered(path, source="mine"):
    book = json.loads(path.read_text())
    for each in book["cells"]:
        each["source"] = source
    path.write_text(json.dumps(book))


def test_one_exercise_is_reset_after_a_backup_and_the_rest_stays(copy):
    folder, own = copy
    mine = folder / "notebooks" / "05_lesson.ipynb"
    answered(mine)
    file = folder / PROGRESS
    update(file, lambda progress: progress.note("05.2", ExerciseState.DONE).note("05.3", ExerciseState.DONE))
    kept = file.read_text()
    before = mine.read_text()
    assert reset(folder, "05.2", own) == (["05_lesson.ipynb"], folder / "backups")
    assert sources(json.loads(mine.read_text())) == {
        "a": "mine",
        "b": "mine",
        "task-05-2": editions.task(OWN),
        "exercise-05-2": OWN.skeleton,
        "c": "mine",
    }
    assert (folder / "backups" / "05_lesson.ipynb").read_text() == before
    assert {key: each.state for key, each in Progress.read(file).exercises.items()} == {
        "05.2": "untouched",
        "05.3": "done",
    }
    assert (folder / "backups" / "before-progress.json").read_text() == kept


def test_a_lesson_and_all_are_reset_whole(copy):
    folder, own = copy
    fresh = {path.name: path.read_text() for path in (folder / "notebooks").glob("*.ipynb")}
    for what, names in [("05", ["05_lesson.ipynb"]), ("all", ["05_lesson.ipynb", "06_other.ipynb"])]:
        for name in names:
            answered(folder / "notebooks" / name, what)
        assert reset(folder / "notebooks", what, own) == (names, folder / "backups")
        assert sorted(path.name for path in (folder / "backups").iterdir()) == [*names, "before-progress.json"]
        assert {path.name: path.read_text() for path in (folder / "notebooks").glob("*.ipynb")} == fresh
    assert '"all"' in (folder / "backups" / "05_lesson.ipynb").read_text(), "the latest reset's backup"


def test_a_lesson_whose_file_is_gone_or_broken_comes_back(copy, capsys):
    folder, own = copy
    mine = folder / "notebooks" / "05_lesson.ipynb"
    for content, said in [
        (json.dumps(notebook()), "The cell of exercise 05.2 is gone"),
        ("[" * 60_000, "cannot be read as a notebook"),
        ("{", "cannot be read as a notebook"),
    ]:
        mine.write_text(content)
        assert cli.main(["reset", "05.2", "--dir", str(folder)]) == 2
        assert f"{said}. Reset its lesson: workbook reset 05" in capsys.readouterr().err
    assert cli.main(["reset", "05", "--dir", str(folder)]) == 0
    assert capsys.readouterr().out == f"Reset 05 in 05_lesson.ipynb. Backup: {folder / 'backups'}\n"
    assert (folder / "backups" / "05_lesson.ipynb").read_text() == "{"
    mine.unlink()
    os.mkfifo(mine)
    assert cli.main(["reset", "05.2", "--dir", str(folder)]) == 2  # and does not wait for a writer
    mine.unlink()
    reset(folder, "05", own)
    assert sources(json.loads(mine.read_text()))["exercise-05-2"] == OWN.skeleton


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("05.22", "No exercise '05.22'. Did you mean '05.2'?"),
        ("99", "There is no lesson '99'"),
        ("", "There is no lesson ''"),
        ("everything", "There is no lesson 'everything'. Name one such as 05, an exercise such as 05.1, or all."),
    ],
)
def test_what_cannot_be_reset_is_explained(copy, capsys, what, said):
    assert cli.main(["reset", what, "--dir", str(copy[0])]) == 2
    assert said in capsys.readouterr().err
    assert not (copy[0] / "backups").exists()
    assert cli.main(["reset", "all", "--dir", str(copy[1])]) == 2
    assert "is no learner's copy: it has no progress.json. Make one: workbook new DIR" in capsys.readouterr().err


@pytest.mark.parametrize("edition", ["learner", "solved", "instructor"])
def test_new_lays_out_each_edition(tmp_path, edition):
    assert cli.main(["new", str(tmp_path / "mine"), "--edition", edition]) == 0
    names = sorted(path.name for path in (tmp_path / "mine" / "notebooks").glob("*.ipynb"))
    assert names == sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
    assert (tmp_path / "mine" / PROGRESS).exists() is (edition == "learner")
    for name in names:
        book = json.loads((tmp_path / "mine" / "notebooks" / name).read_text())
        assert book["metadata"][editions.EDITION] == edition


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_lesson_holds_its_exercises_in_order_as_the_tables_have_them(path):
    book = json.loads(path.read_text("utf-8"))
    ids = [each["id"] for each in book["cells"] if editions.EXERCISE_CELL.fullmatch(each["id"])]
    numbers = [own.id.replace(".", "-") for own in lesson(path.stem[:2]).values()]
    assert ids == [f"{part}-{number}" for number in numbers for part in ("task", "exercise")]
    stored = {each["id"]: "".join(each["source"]) for each in book["cells"]}
    filled = {each["id"]: "".join(each["source"]) for each in editions.fill_in(book)["cells"]}
    told = f"is not what its exercise says: `workbook render {path.stem[:2]}` fills it in"
    demand_none([f"notebooks/{path.name}: the cell {name} {told}" for name in filled if filled[name] != stored[name]])


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_copy_that_was_stopped_leaves_nothing(tmp_path, monkeypatch, error):
    def stop(*_):
        raise error

    monkeypatch.setattr(editions, "make_edition", stop)
    with pytest.raises((KeyboardInterrupt, ConfigurationError)):
        lay_out(tmp_path / "copy")
    assert [*tmp_path.iterdir()] == []


def test_a_copy_has_the_users_own_permissions_and_an_empty_folder_may_be_there(tmp_path):
    (tmp_path / "copy").mkdir()
    lay_out(tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode == tmp_path.joinpath("copy", "notebooks").stat().st_mode
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_no_backup_is_written_through_a_link(copy, capsys, tmp_path):
    folder, _own = copy
    (tmp_path / "elsewhere").mkdir()
    (folder / "backups").symlink_to(tmp_path / "elsewhere")
    assert cli.main(["reset", "05", "--dir", str(folder)]) == 2
    assert "is a symbolic link. Remove it" in capsys.readouterr().err
    assert [*(tmp_path / "elsewhere").iterdir()] == []
