"""At the end of a course, every token, key and history is deleted, and each learner's own work stays."""

from contextlib import closing

import pytest

from workbook.errors import ConfigurationError
from workbook.tools.commands import cli
from workbook.tools.course.board import History
from workbook.tools.course.end import leavings


@pytest.fixture
def room(tmp_path):
    """A history with all that lies beside it, and one learner's copy."""
    history = tmp_path / "board.sqlite"
    History(history).close()
    for name in ("board.join.json", "board.pem", "board.ca.pem"):
        (tmp_path / name).touch()
    copy = tmp_path / "copies" / "owl"
    copy.mkdir(parents=True)
    for name in (".board.json", "progress.json", "lesson.ipynb"):
        (copy / name).touch()
    return history, copy


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_it_says_what_it_would_delete_and_then_does_it(room, capsys):
    history, copy = room
    argv = ["course", "end", "--folder", str(copy.parent), "--history", str(history)]
    assert cli.main(argv) == 0
    said = capsys.readouterr().out
    assert said.count("to be deleted (say --yes): ") == 5
    assert "What stays: each learner's own copy, its notebooks and answers with its progress" in said
    assert len(files(history.parent)) == 7
    assert cli.main([*argv, "--yes"]) == 0
    assert files(history.parent) == ["lesson.ipynb", "progress.json"]
    assert cli.main([*argv, "--yes", "--progress"]) == 0
    assert files(history.parent) == ["lesson.ipynb"]
    assert cli.main([*argv, "--yes"]) == 0


def test_a_board_that_runs_and_the_file_of_another_program_are_let_be(room):
    history, copy = room
    with closing(History(history)), pytest.raises(ConfigurationError, match="another board uses it"):
        leavings(copy, history)
    history.write_text("notes " * 1000)
    with pytest.raises(ConfigurationError, match="not a database"):
        leavings(None, history)
    with pytest.raises(ConfigurationError, match="There is no folder"):
        leavings(copy / "nowhere", history)


def test_a_link_is_deleted_and_not_what_it_leads_to(room, tmp_path):
    history, copy = room
    mine = tmp_path / "mine.json"
    mine.write_text("mine")
    (copy / ".board.json").unlink()
    (copy / ".board.json").symlink_to(mine)
    assert cli.main(["course", "end", "--folder", str(copy.parent), "--history", str(history), "--yes"]) == 0
    assert mine.read_text() == "mine"
    assert not (copy / ".board.json").is_symlink()


def test_the_secrets_of_a_hub_go_and_its_lessons_and_homes_stay(room):
    history, copy = room
    hub = copy.parent
    for name in ("seats.json", "ca.pem", "private/pass-phrase", "private/worlds/w1", "lessons/00.ipynb"):
        (hub / name).parent.mkdir(parents=True, exist_ok=True)
        (hub / name).touch()
    assert cli.main(["course", "end", "--folder", str(hub), "--history", str(history), "--yes"]) == 0
    assert files(hub) == ["00.ipynb", "lesson.ipynb", "progress.json", "seats.json"]
