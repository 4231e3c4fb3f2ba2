"""The one file of a learner's progress: what is counted, and what it survives."""

import json
import os
import signal
import subprocess
import sys
import time
import types
from datetime import UTC, datetime, timedelta

import pytest

from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import ExerciseState
from workbook.lessons.exercises.progress import PROGRESS, Progress, progress_file, update

START = datetime(2026, 11, 26, 9, 50, tzinfo=UTC)
WRONG, DONE, UNTOUCHED = ExerciseState.WRONG, ExerciseState.DONE, ExerciseState.UNTOUCHED


def at(minutes):
    return START + timedelta(minutes=minutes)


@pytest.fixture
def begun():
    return Progress.of({"version": 1, "seat": "blue-heron"})


def test_the_document_is_the_one_that_boards_take(begun):
    learnt = begun.note("03.1", WRONG, "A-CAN-2", at(0)).note("03.1", WRONG, "form", at(3)).hint("03.1", 1, at(5))
    learnt = learnt.note("03.1", WRONG, "A-CAN-2", at(8)).raise_hand("03.1", at(8))
    assert json.loads(learnt.text()) == {
        "version": 1,
        "seat": "blue-heron",
        "now": "03.1",
        "help": {"exercise": "03.1", "since": "2026-11-26T09:58:00Z"},
        "exercises": {
            "03.1": {
                "state": "wrong",
                "attempts": 3,
                "wrong": {"A-CAN-2": 2, "form": 1},
                "hints": 1,
                "first": "2026-11-26T09:50:00Z",
                "last": "2026-11-26T09:58:00Z",
                "passed": None,
                "minutes": 8.0,
            }
        },
    }
    assert Progress.of(learnt.text()) == learnt
    assert learnt.last == at(8)
    assert begun.exercises == {}, "a progress never changes"


def test_a_break_is_no_work_and_what_follows_a_pass_is_not_counted(begun):
    learnt = begun.note("03.1", WRONG, "form", at(0)).note("03.1", WRONG, "form", at(10)).note("03.1", DONE, at=at(21))
    own = learnt.note("03.1", WRONG, "form", at(22)).note("03.1", DONE, at=at(23)).exercises["03.1"]
    assert (own.minutes, own.attempts, own.wrong) == (10.0, 3, {"form": 2})
    assert (own.state, own.passed, own.last) == (DONE, at(21), at(23))


def test_the_time_from_one_exercise_to_the_next_is_work_on_the_next(begun):
    learnt = begun.note("03.1", DONE, at=at(0)).note("03.2", UNTOUCHED, at=at(1)).note("03.2", DONE, at=at(4))
    assert [each.minutes for each in learnt.exercises.values()] == [0, 4]
    own = learnt.note("03.3", WRONG, "form", at(9)).note("03.3", WRONG, "form", at(0)).exercises["03.3"]
    assert (own.last, own.minutes) == (at(9), 5), "a clock that goes back does no harm"


def test_a_raised_hand_goes_down_by_hand_and_when_its_exercise_is_done(begun):
    up = begun.raise_hand("03.1", at(0))
    assert up.raise_hand("03.1", at(2)).help.since == at(0)
    assert up.raise_hand("03.2", at(2)).help.exercise == "03.2"
    assert up.lower_hand().help is None
    assert up.note("03.2", DONE, at=at(1)).help == up.help
    assert up.note("03.1", DONE, at=at(1)).help is None
    assert up.note("03.1", DONE, at=at(1)).raise_hand("03.1").note("03.1", DONE, at=at(2)).help is None


def test_a_reset_exercise_is_untouched_and_newer_than_what_was(begun):
    learnt = begun.note("03.1", DONE, at=at(0)).note("03.2", DONE, at=at(1)).raise_hand("03.2", at(1))
    again = learnt.reset(["03.2", "03.3"], at(2))
    assert [*again.exercises] == ["03.1", "03.2"]
    assert (again.state("03.2"), again.state("03.1"), again.help, again.last) == (UNTOUCHED, DONE, None, at(2))


def test_seats_are_made_up_or_named_by_who_made_the_copy(monkeypatch):
    assert len({Progress.begun().seat for _ in range(50)}) > 45
    monkeypatch.setenv("WORKBOOK_SEAT", "seat-07")
    assert Progress.begun().seat == "seat-07"
    monkeypatch.setenv("WORKBOOK_SEAT", "<b>")
    with pytest.raises(ConfigurationError, match=r"This is no progress of a learner \(see seat\)"):
        Progress.begun()


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "{",
        "[" * 60_000,
        "\udcff",
        "[]",
        '{"version": 2, "seat": "a"}',
        '{"version": 1, "seat": "a", "code": "x"}',
        '{"version": 1, "seat": "a", "exercises": {"03.1": {}}}',
        '{"version": 1, "seat": "a", "help": {"exercise": "<b>", "since": "2026-11-26T09:50:00Z"}}',
        '{"version": 1, "seat": "a", "now": "03.1", "exercises": {"03.1": {"first": "2026-11-26T09:50:00"}}}',
        " " * 1_048_577,
    ],
    ids=range(11),
)
def test_a_damaged_file_is_put_aside_and_a_new_one_begins(tmp_path, damaged):
    file = tmp_path / PROGRESS
    for _time in range(2):
        file.write_text(damaged, errors="surrogateescape")
        told = update(file, lambda progress: progress.note("03.1", WRONG, "form"))
        assert told == "progress.json was damaged. It is now progress.damaged.json, and a new one begins."
        assert (tmp_path / "progress.damaged.json").read_text(errors="surrogateescape") == damaged
    assert update(file, lambda progress: progress.note("03.1", WRONG, "form")) == ""
    assert Progress.read(file).exercises["03.1"].attempts == 2


def test_a_copy_is_found_from_its_top_and_its_notebooks(tmp_path):
    (tmp_path / "notebooks").mkdir()
    assert progress_file(tmp_path / "notebooks") is None
    update(tmp_path / PROGRESS, lambda progress: progress)
    assert progress_file(tmp_path / "notebooks") == progress_file(tmp_path) == tmp_path / PROGRESS


def refuse(*_):
    raise OSError(38, "Function not implemented")


@pytest.mark.parametrize("fcntl", [None, {}, {"LOCK_EX": 2, "flock": refuse}], ids=["missing", "empty", "refusing"])
def test_where_there_are_no_locks_the_progress_is_kept_all_the_same(tmp_path, monkeypatch, fcntl):
    """In a browser's kernel the module is empty or missing; a file system may refuse."""
    monkeypatch.setitem(sys.modules, "fcntl", None if fcntl is None else types.SimpleNamespace(**fcntl))
    update(tmp_path / PROGRESS, lambda progress: progress.raise_hand("03.1"))
    assert Progress.read(tmp_path / PROGRESS).help.exercise == "03.1"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_an_error_and_the_file_stays(tmp_path):
    file = tmp_path / PROGRESS
    file.write_text(Progress.begun().text())
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="Permission denied"):
        update(file, lambda progress: progress.note("03.1", WRONG, "form"))
    assert Progress.read(file).exercises == {}


WRITER = """
import resource, sys
from pathlib import Path
from workbook.lessons.exercises.model import ExerciseState
from workbook.lessons.exercises.progress import update
file, exercise, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if len(sys.argv) > 4:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
for _time in range(times):
    update(file, lambda progress: progress.note(exercise, ExerciseState.WRONG, "form"))
    print("kept", flush=True)
"""


def writer(*given):
    command = [sys.executable, "-c", WRITER, *map(str, given)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_kernels_at_once_lose_nothing_and_one_that_is_killed_damages_nothing(tmp_path):
    """What was told as kept is kept; the last one may be kept as well without having been told."""
    file = tmp_path / PROGRESS
    writers = [writer(file, exercise, 100) for exercise in ("03.1", "03.1")] + [writer(file, "03.2", 1_000_000)]
    assert writers[2].stdout.readline() == "kept\n"
    time.sleep(0.2)
    writers[2].send_signal(signal.SIGKILL)
    told = [process.stdout.read().count("kept") for process in writers]  # with what was read ahead of the first line
    for process in writers:
        process.communicate()
    own = Progress.read(file).exercises
    assert (own["03.1"].attempts, own["03.1"].wrong) == (200, {"form": 200})
    assert told[2] + 1 <= own["03.2"].attempts <= told[2] + 2
    update(file, lambda progress: progress)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{PROGRESS}.lock", PROGRESS], "no draft is left"


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(tmp_path):
    file = tmp_path / PROGRESS
    update(file, lambda progress: progress.note("03.1", WRONG, "form"))
    before = file.read_bytes()
    full = writer(file, "03.2", 1, 100)
    assert "File too large" in full.communicate()[1]
    assert (full.returncode, file.read_bytes()) == (1, before)
