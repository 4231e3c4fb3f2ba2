"""What a person sees while cases run."""

import sys
from types import SimpleNamespace

import pytest
from ran import MISS, NAME, result

from workbook.tools.harness.model import Verdict
from workbook.tools.harness.summary import Cell, RunProgress, Terminal, cell_progress


def test_a_case_that_needs_a_look_is_one_line_and_a_pass_is_none(capsys):
    terminal = Terminal()
    terminal.begin(4)
    terminal.ended(result(verdict=Verdict.PASS))
    terminal.ended(result())
    for _ in range(3):
        terminal.ended(result(verdict=Verdict.NOT_TESTABLE, misses=(), why="no logs"))
    terminal.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"fail           {NAME}: expected {MISS.expected}, observed {MISS.observed}",
        f"not testable   {NAME}: no logs",
        "and 2 cases more: no logs",
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "The API's side listens at http://127.0.0.1:1\n"),
        ({"A": "1", "B": "2"}, "A=1\nB=2\n"),
    ],
)
def test_the_values_to_configure_go_to_stdout(values, words, capsys):
    Terminal().exported(values, "http://127.0.0.1:1")
    assert capsys.readouterr() == (words, "")


def test_a_terminal_has_a_bar(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    terminal = Terminal()
    terminal.begin(2)
    terminal.ended(result(verdict=Verdict.PASS))
    terminal.ended(result())
    terminal.close()
    terminal.close()
    told = capsys.readouterr().err
    assert "| 0/2 " in told
    assert told.endswith("\r")
    assert f"fail           {NAME}" in told


def test_progress_that_is_not_shown_takes_everything(capsys):
    hidden = RunProgress()
    hidden.exported({"A": "1"}, "x")
    hidden.say("x")
    hidden.begin(1)
    hidden.ended(result())
    hidden.close()
    assert capsys.readouterr() == ("", "")


def test_a_notebook_has_a_bar_while_there_is_enough_to_wait_for(monkeypatch):
    displayed = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, **_how: displayed.append(bundle))
    for total in (99, 100):  # fewer cases than 100 have none
        cell = Cell()
        cell.begin(total)
        for _ in range(total):
            cell.ended(result())
        cell.close()
    (bundle,) = displayed
    assert bundle["text/plain"] == "A bar showed the progress of 100 cases."
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_only_a_kernel_is_a_notebook(monkeypatch):
    assert cell_progress() is None
    for shell, expected in ((SimpleNamespace(kernel=object()), True), (SimpleNamespace(), False), (None, False)):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert isinstance(cell_progress(), Cell) is expected
