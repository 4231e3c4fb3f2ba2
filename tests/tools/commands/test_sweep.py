"""`workbook sweep`: its exit codes, and what it prints."""

import importlib.util
import re

import pytest

from workbook.tools.commands import cli


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
    assert "smallest: handler = no card art" in printed
    assert "session.replay(\"platform=wallet handler='no card art'\")" in printed
    page = (tmp_path / "other" / "index.html").read_text()
    assert "handler = no card art" in page
    assert "handler = no card art" in (tmp_path / "other" / "summary.md").read_text()


def test_a_full_disk_is_a_sentence_and_the_code_of_usage(matrix, capsys, monkeypatch):
    monkeypatch.setattr(
        "workbook.tools.sweep.run.write_whole", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    assert cli.main([*matrix('platform = ["b"]\nphone = ["ready"]'), "--workers", "1"]) == 2
    assert "No space left" in capsys.readouterr().err


@pytest.mark.slow
def test_the_same_rows_make_the_same_page(matrix, tmp_path):
    words = matrix("platform = ['wallet']\nlatency = [3]")
    pages = []
    for name in ("one", "other"):
        cli.main([*words, "--out", str(tmp_path / name)])
        cli.main([*words, "--out", str(tmp_path / name)])  # the second start plays nothing, so its rate is 0
        pages.append((tmp_path / name / "index.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", "0"], "--workers is 0"),
        (["--limit", "-1"], "--limit is -1"),
        (["--limit", "0"], "--limit is 0"),
        (["--limit", "10000001"], "--limit is 10000001"),
        (["--app", "nothing:here"], "cannot be imported"),
        (["nowhere.toml"], "there is no such file"),
    ],
)
def test_a_wrong_option_is_told(words, said, capsys, tmp_path):
    assert cli.main(["sweep", *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_is_not_installed_is_told(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert cli.main(["sweep", "--scheduler", "tcp://x:1"]) == 2
    assert "--scheduler needs Dask, which is not installed: pip install" in capsys.readouterr().err


def test_its_matrix_is_printed(capsys):
    assert cli.main(["sweep", "--print"]) == 0
    assert "latency = " in capsys.readouterr().out


def test_the_folder_of_another_matrix_is_told_in_one_sentence(matrix, capsys, tmp_path):
    (tmp_path / "out" / "rows").mkdir(parents=True)
    (tmp_path / "out" / "rows" / "notes.txt").touch()
    assert cli.main(matrix('platform = ["b"]')) == 2
    said = f"{str(tmp_path / 'out')!r} holds the rows of another matrix. Name a new folder with --out."
    assert capsys.readouterr().err == f"workbook: {said}\n"
