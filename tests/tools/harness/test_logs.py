"""The log is read from where it stood before the back end was called, by line, whatever becomes of the file."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import Seen, WholeRun
from workbook.tools.harness.program import OVERLAP, PIECE, LogPosition, Logs, LogSpan


@pytest.fixture
def path(tmp_path):
    return tmp_path / "relay.log"


def append(path, text):
    with path.open("a", newline="") as file:
        file.write(text)


def told(lines):
    return [(line.number, line.text) for line in lines]


def test_what_stood_there_before_is_not_read_and_lines_are_counted_from_the_files_beginning(path):
    path.write_text("old\nolder\n")
    logs = Logs([path])
    append(path, "new\r\nnewer")
    assert told(logs.rest()) == [(3, "new"), (4, "newer")]


def test_a_line_that_was_not_ended_belongs_to_both(path):
    logs = Logs([path])
    append(path, "first half, ")
    began = logs.positions()
    append(path, "second half\n")
    assert told(logs.since(began)) == [(1, "second half")]


@pytest.mark.parametrize("change", [lambda path: path.rename(f"{path}.1"), lambda path: path.write_text("")])
def test_a_file_that_was_rotated_or_cut_is_read_from_its_beginning(path, change):
    append(path, "a long line that was there\n")
    logs = Logs([path])
    change(path)
    append(path, "new\n")
    assert told(logs.rest()) == [(1, "new")]


def test_a_file_that_comes_later_is_read_and_one_that_never_comes_is_named(path, tmp_path):
    logs = Logs([path, tmp_path / "never.log"])
    assert told(logs.rest()) == []
    append(path, "new\n")
    assert (told(logs.rest()), logs.rest().missing()) == ([(1, "new")], ("never.log",))


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_whatever_is_written_each_line_has_its_number(tmp_path_factory, pieces):
    path = tmp_path_factory.getbasetemp() / "any.log"
    path.write_bytes(b"")
    logs, marks = Logs([path]), []
    for piece in pieces:
        marks.append(logs.positions())
        with path.open("ab") as file:
            file.write(piece)
    written = [line.rstrip(b"\r\n").decode("utf-8", "replace") for line in b"".join(pieces).split(b"\n")]
    lines = told(logs.rest())
    assert lines == [(number, text) for number, text in enumerate(written, 1) if text or number < len(written)] or (
        b"\r" in b"".join(pieces)
    )


def test_a_very_long_line_comes_in_pieces_that_overlap(path):
    logs, secret = Logs([path]), "KEY-0123456789"
    text = f"{'a' * (PIECE - 7)}{secret}{'b' * PIECE}"
    append(path, f"{text}\nnext\n")
    *pieces, last = told(logs.rest())
    assert {number for number, _text in pieces} == {1}
    assert last == (2, "next")
    assert max(len(text) for _number, text in pieces) <= PIECE + OVERLAP
    assert any(secret in text for _number, text in pieces)
    assert pieces[0][1] + "".join(text[OVERLAP:] for _number, text in pieces[1:]) == text


@pytest.mark.slow
def test_a_log_of_one_line_takes_little_memory_to_judge(path):
    path.write_text("deadbeef" * 20_000)
    case = CASES["relay.log.no-opaque-data-ever"]
    log = LogSpan({path: LogPosition()}, {path: LogPosition(at=path.stat().st_size)})
    tracemalloc.start()
    misses = list(case.judge(Seen((), (), log, run=WholeRun(values=(("PI1", "a-value-that-is-not-in-the-log"),)))))
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert misses == []
    assert most < 2_000_000  # it was 64 times the line, 25 MB
