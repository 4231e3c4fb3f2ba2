"""What the history has acknowledged is there after a restart, however it ended; foreign files stay as they are."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.support.seats import progress, work
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.progress import Progress
from workbook.tools.course.board import History


def sent(*args, **exercises):
    return Progress.of(json.dumps(progress(*args, **exercises)))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "board.sqlite"


def test_a_seat_and_a_token_are_the_same_after_a_restart_and_nobody_else_reads_the_file(file):
    with closing(History(file)) as history:
        token = history.token("learners")
        assert history.token("trainer") != token
        assert history.keep(sent("owl", _03_1=work(passed=2)))
    with closing(History(file)) as history:
        assert history.token("learners") == token
        assert [*history.seats] == ["owl"]
        assert [at.minute for at in history.passed()] == [58]
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_newest_stays_whatever_comes_last_and_the_same_twice_is_once(file):
    old, new = sent("owl", _03_1=work(last=5)), sent("owl", _03_1=work(last=1))
    with closing(History(file)) as history:
        assert [history.keep(content) for content in (old, new, old, new)] == [True, True, False, True]
        assert history.seats["owl"].last.minute == 59
        assert history.keep(sent("owl", "03.1", hand=0, _03_1=work(last=1)))  # a hand, without a new answer
        assert history.seats["owl"].help
        assert history.keep(new)
        assert history.seats["owl"].help is None


def test_what_was_solved_stays_in_the_curve_when_it_is_reset(file):
    with closing(History(file)) as history:
        history.keep(sent("owl", _03_1=work(passed=9), _03_2=work(last=9)))
        history.keep(sent("owl", _03_1=work(last=2), _03_2=work(last=9)))
        history.keep(sent("owl", _03_1=work(passed=1), _03_2=work(last=9)))
        assert [at.minute for at in history.passed()] == [51]


def test_two_boards_do_not_write_one_file(file):
    with closing(History(file)), pytest.raises(ConfigurationError, match="another board uses it"):
        History(file)


def test_the_files_of_others_stay_as_they_are(file, tmp_path):
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE t (x)")
    before = file.read_bytes()
    with pytest.raises(ConfigurationError, match="of another program"):
        History(file)
    text = tmp_path / "notes.txt"
    text.write_text("my notes, and no database at all, " * 200)
    with pytest.raises(ConfigurationError, match="cannot be used: file is not a database"):
        History(text)
    link = tmp_path / "link"
    link.symlink_to(text)
    with pytest.raises(ConfigurationError, match="cannot be used"):
        History(link)
    assert (file.read_bytes(), text.read_text()[:8]) == (before, "my notes")
    with pytest.raises(ConfigurationError, match="No such file"):
        History(tmp_path / "nowhere" / "board.sqlite")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such kill")
def test_what_was_acknowledged_survives_a_kill(file):
    program = (
        "import sys; from pathlib import Path; from tests.support.seats import sent, work\n"
        "from workbook.tools.course.board import History\n"
        "from workbook.lessons.exercises.progress import Progress\n"
        f"history = History(Path({str(file)!r}))\n"
        "for n in range(1000):\n"
        "    history.keep(Progress.of(sent(f'seat-{n}', _03_1=work())))\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    with process, process.stdout:
        for line in process.stdout:
            if int(line) >= 20:
                os.kill(process.pid, signal.SIGKILL)
                break
        told = [int(line), *map(int, process.stdout.read().split())]
    with closing(History(file)) as history:
        assert {f"seat-{n}" for n in range(told[-1] + 1)} <= set(history.seats)
