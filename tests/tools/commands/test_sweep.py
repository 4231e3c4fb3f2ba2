"""`workbook sweep`: its exit codes, and what it prints."""

import importlib.util
import re
from pathlib import Path

import pytest

from workbook.tools.commands import cli
from workbook.tools.sweep import summary, workers
from workbook.tools.sweep.matrix import OWN_BACK_END
from workbook.tools.sweep.workers import chunk_file


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Play in this process."""
    monkeypatch.setattr(
        workers, "in_processes", lambda matrix, chunks, _n: ((at, chunk_file(matrix, of)) for at, of in chunks.items())
    )


@pytest.fixture
def matrix(tmp_path):
    def written(text):
        (tmp_path / "matrix.toml").write_text(text)
        return ["sweep", str(tmp_path / "matrix.toml"), "--out", str(tmp_path / "out")]

    return written


@pytest.mark.slow
def test_no_failure_ends_with_0_and_failures_with_1(matrix, capsys, tmp_path):
    assert cli.main([*matrix('phone = ["ready", "cardholder cancels"]'), "--workers", "1"]) == 0
    told = rf"no failure in 5 combinations; 5 played in \d+ s; see {re.escape(str(tmp_path / 'out/index.html'))}\n"
    assert re.fullmatch(told, capsys.readouterr().out)
    assert cli.main(matrix('platform = ["wallet"]\nhandler = ["reference", "no card art"]')) == 2
    assert "another matrix" in capsys.readouterr().err
    words = matrix('platform = ["wallet"]\nhandler = ["reference", "no card art"]')
    assert cli.main([*words, "--out", str(tmp_path / "other")]) == 1
    printed = capsys.readouterr().out
    assert "smallest, which 1 have: handler = no card art" in printed
    assert "session.replay(\"platform=wallet handler='no card art'\")" in printed
    page = (tmp_path / "other" / "index.html").read_text()
    assert page.count("<svg") == 1
    assert "handler = no card art" in page
    assert "handler = no card art" in (tmp_path / "other" / "summary.md").read_text()


def test_a_back_end_is_measured_into_the_folder_of_the_sweep(matrix, monkeypatch, tmp_path):
    asked = []

    def measured(file, _matrix, out, rate):
        asked.append((file, out, rate, out.is_dir()))
        return {"a": {"get": [1.5]}, "b": {"get": [2.5]}}

    monkeypatch.setattr(workers, "measured", measured)
    assert cli.main([*matrix("platform = ['a']"), "--back-end", "back-end.toml", "--rate", "2"]) == 0
    assert asked == [(Path("back-end.toml"), tmp_path / "out", 2.0, True)]
    played = summary.read_rows(tmp_path / "out")
    assert [*played["latency"]] == ["usual", OWN_BACK_END]
    assert [*played["get"][1:]] == [1.5]


@pytest.mark.slow
def test_the_same_rows_make_the_same_page(matrix, tmp_path):
    words = matrix("platform = ['wallet']\nlatency=['slow']\n[latencies]\nslow = { median = 3.0, p99 = 15.0 }")
    pages = []
    for name in ("one", "other"):
        cli.main([*words, "--out", str(tmp_path / name)])
        cli.main([*words, "--out", str(tmp_path / name)])  # the second start plays nothing, so its rate is 0
        pages.append((tmp_path / name / "index.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dask", "--scheduler", "tcp://x:1"], "Leave one of them out"),
        (["--workers", "0"], "--workers is 0"),
        (["--limit", "-1"], "--limit is -1"),
        (["--limit", "10000001"], "--limit is 10000001"),
        (["--app", "nothing:here"], "cannot be imported"),
        (["nowhere.toml"], "there is no such file"),
        (["--durations", "nowhere.csv"], "nowhere.csv: cannot be read"),
    ],
)
def test_a_wrong_option_is_told(words, said, capsys, tmp_path):
    assert cli.main(["sweep", *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_is_not_installed_is_told(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert cli.main(["sweep"]) == 2
    assert "sweep needs the package pandas, which is not installed: pip install" in capsys.readouterr().err


def test_its_matrix_is_printed(capsys):
    assert cli.main(["sweep", "--print"]) == 0
    assert "[latencies]" in capsys.readouterr().out
