"""A learner's copy on a hub: what is handed out again never overwrites what the learner has written."""

import json
import os
import sys
from pathlib import Path

import pytest

from workbook.errors import ConfigurationError
from workbook.lessons.exercises.judging import ExerciseState
from workbook.lessons.exercises.progress import PROGRESS, Progress, update
from workbook.tools.course.hub import hand_out, start_server


@pytest.fixture
def lessons(tmp_path):
    folder = tmp_path / "lessons"
    (folder / "notebooks").mkdir(parents=True)
    for name in ("00.ipynb", "01.ipynb"):
        (folder / "notebooks" / name).write_text(f"{name}, first")
    return folder


@pytest.fixture
def copy(tmp_path, lessons):
    hand_out(lessons, tmp_path / "copy")
    return tmp_path / "copy"


def contents(copy):
    return {
        str(path.relative_to(copy)): path.read_text()
        for path in copy.rglob("*")
        if path.name[0] != "." and path.is_file()
    }


def test_a_new_seat_gets_every_lesson(copy):
    assert contents(copy) == {"notebooks/00.ipynb": "00.ipynb, first", "notebooks/01.ipynb": "01.ipynb, first"}


def test_a_mended_lesson_replaces_one_that_nobody_has_changed_and_lies_beside_one_that_was(copy, lessons):
    (copy / "notebooks" / "01.ipynb").write_text("mine")
    for name in ("00.ipynb", "01.ipynb"):
        (lessons / "notebooks" / name).write_text("mended")
    hand_out(lessons, copy)
    told = {"notebooks/00.ipynb": "mended", "notebooks/01.ipynb": "mine", "mended/notebooks/01.ipynb": "mended"}
    assert contents(copy) == told
    (copy / "mended" / "notebooks" / "01.ipynb").write_text("mine as well")
    hand_out(lessons, copy)
    assert contents(copy) == told | {"mended/notebooks/01.ipynb": "mine as well"}


def test_a_file_that_its_owner_deleted_does_not_come_back_before_it_is_mended(copy, lessons):
    (copy / "notebooks" / "00.ipynb").unlink()
    hand_out(lessons, copy)
    assert list(contents(copy)) == ["notebooks/01.ipynb"]
    (lessons / "notebooks" / "00.ipynb").write_text("mended")
    hand_out(lessons, copy)
    assert contents(copy)["notebooks/00.ipynb"] == "mended"


def test_what_was_broken_off_is_done_at_the_next_start(copy, lessons, monkeypatch):
    (lessons / "notebooks" / "00.ipynb").write_text("mended")
    with monkeypatch.context() as patched:
        patched.setattr(
            "workbook.tools.course.hub.write_whole", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full"))
        )
        with pytest.raises(OSError, match="disk full"):
            hand_out(lessons, copy)
    hand_out(lessons, copy)  # the lesson is there, and the record does not know it yet
    assert contents(copy)["notebooks/00.ipynb"] == "mended"
    assert not (copy / "mended").exists()
    assert json.loads((copy / ".handed-out.json").read_text()).keys() == {"notebooks/00.ipynb", "notebooks/01.ipynb"}


def test_the_seat_becomes_a_quiet_server_on_its_copy(tmp_path, lessons, monkeypatch):
    became = []
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "execve", lambda *words: became.append(words))
    monkeypatch.setenv("WORKBOOK_SEAT", "amber-heron")
    start_server(lessons)
    ((program, words, environment),) = became
    private = Path(environment["JUPYTER_PATH"].split(os.pathsep)[0])
    assert (program, words[1:3]) == (sys.executable, ["-m", "jupyterhub.singleuser"])
    assert "--LabApp.news_url=None" in words
    assert (private / "kernels" / "python3" / "kernel.json").is_file()
    copy = tmp_path / "home" / "provisioning-workbook"
    assert (copy / "notebooks" / "00.ipynb").is_file()
    progress = copy / PROGRESS
    assert Progress.read(progress).seat == "amber-heron"
    update(progress, lambda now: now.note("03.1", ExerciseState.DONE))
    (lessons / PROGRESS).write_text("of another copy")
    start_server(lessons)  # the next day
    assert Progress.read(progress).state("03.1") is ExerciseState.DONE
    assert not (copy / "mended").exists()


def test_a_home_that_cannot_be_written_is_one_sentence(tmp_path, lessons, monkeypatch):
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(ConfigurationError, match=r"Cannot write into .*home.*: Not a directory"):
        start_server(lessons)
