"""The rows of a sweep are the same to the byte, whoever plays them; and what failed, with the smallest combination."""

import ast
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import workbook
from workbook.base.children import python_command
from workbook.errors import ConfigurationError
from workbook.tools.sweep.matrix import from_spec, read_matrix, spec
from workbook.tools.sweep.run import (
    EXITED,
    Player,
    code_digest,
    open_cluster,
    open_pool,
    play_carefully,
    play_chunk,
    play_out,
    prepare_folder,
    read_rows,
    shrink,
    summarise,
    sweep,
)


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "rows").iterdir()}


def test_a_second_start_plays_what_is_missing_and_what_is_damaged(own_code, in_this_process, capsys):
    matrix, out = read_matrix(own_code / "matrix.toml", app="planted_code:good"), own_code / "one"
    assert sweep(matrix, out, in_this_process)[0] == 2 * 2 * 3 * 7
    whole = files(out)
    (out / "rows/000001.jsonl").unlink()
    (out / "rows/000002.jsonl").write_bytes(whole["000002.jsonl"][:-9])
    (out / "rows/000003.jsonl").write_bytes(whole["000002.jsonl"])
    (out / "rows/000000.jsonl").write_text('[1]\n"foreign"\n')
    assert sweep(matrix, out, in_this_process)[0] == 4 * 2
    assert files(out) == whole
    capsys.readouterr()
    assert sweep(matrix, out, in_this_process)[0] == 0
    assert "84/84 [" in capsys.readouterr().err
    manifest = {"version": 3, "matrix": matrix.digest, "rows": 84, "code": code_digest(matrix)}
    assert json.loads((out / "manifest.json").read_text()) == manifest
    rows = [*read_rows(out)]
    assert [row["number"] for row in rows] == [*matrix.numbers()]
    assert {row["failure"] for row in rows} == {""}


def played(matrix, out, executor):
    """How many were played, and the failures of the rows that are there then."""
    return sweep(matrix, out, executor)[0], {row["failure"] for row in read_rows(out)}


def test_code_that_was_edited_is_played_again(own_code, in_this_process, monkeypatch):
    code, helper, out = own_code / "edited_code.py", own_code / "helper_of_mine.py", own_code / "out"
    ends = []
    code.write_text("import helper_of_mine\n\ndef fetch(card, out):\n    return helper_of_mine.fetch(card, out)\n")
    for text in ("import planted_code\nfetch = planted_code.good\n", "def fetch(*_):\n    raise OSError\n"):
        helper.write_text(text)
        for name in ("edited_code", "helper_of_mine"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        matrix = read_matrix(own_code / "matrix.toml", app="edited_code:fetch", limit=5)
        ends += [played(matrix, out, in_this_process), played(matrix, out, in_this_process)]
    (first, good), (again, _), (second, bad), (last, _) = ends
    assert (first, again, second, last) == (5, 0, 5, 0)
    assert good == {""}
    assert any("OSError" in failure for failure in bad)


def test_rows_of_another_version_of_the_workbook_are_played_again(own_code, in_this_process):
    matrix, out = read_matrix(own_code / "matrix.toml", limit=3), own_code / "out"
    assert [sweep(matrix, out, in_this_process)[0] for _ in range(2)] == [3, 0]
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | {"code": "of before"}))
    assert [sweep(matrix, out, in_this_process)[0] for _ in range(2)] == [3, 0]


def test_a_short_sweep_has_a_file_of_rows_for_each_worker(own_code, in_this_process):
    matrix, out = read_matrix(own_code / "matrix.toml", limit=6), own_code / "out"
    sweep(matrix, out, in_this_process)
    assert len(files(out)) == 6
    assert [row["number"] for row in read_rows(out)] == [*matrix.numbers()]


def test_the_folder_of_another_matrix_is_refused(tmp_path):
    matrix = read_matrix(None)
    prepare_folder(matrix, tmp_path, 5)
    prepare_folder(matrix, tmp_path, 5)
    with pytest.raises(ConfigurationError, match="another matrix"):
        prepare_folder(read_matrix(None, limit=9), tmp_path, 5)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        prepare_folder(matrix, tmp_path, 5)
    with pytest.raises(ConfigurationError, match=r"^--out '.*manifest\.json' cannot be used: "):
        prepare_folder(matrix, tmp_path / "manifest.json", 5)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "rows" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="another matrix"):
        prepare_folder(matrix, tmp_path, 5)


@pytest.mark.slow
def test_code_that_ends_its_process_costs_the_row_in_which_it_does(own_code):
    matrix, out = read_matrix(own_code / "matrix.toml", app="planted_code:exits", limit=10), own_code / "out"
    assert sweep(matrix, out, partial(open_pool, 2))[0] == 10
    rows = [*read_rows(out)]
    exited = [row for row in rows if row["outcome"] == "exited"]
    assert {row["card"] for row in exited} == {"second"}
    assert 0 < len(exited) < len(rows) == 10
    assert {row["failure"] for row in exited} == {EXITED}


@pytest.mark.slow
def test_code_that_holds_the_interpreter_costs_the_row_in_which_it_does(own_code):
    line = "platform=a card=second app=planted_code:holds"
    matrix = replace(read_matrix(own_code / "matrix.toml", app="planted_code:holds"), patience=0.1)
    number = next(n for n in matrix.numbers() if spec(matrix.combination(n)) == line)
    assert [row["failure"] for row in play_carefully(matrix, [number])] == [EXITED]


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_sweep_whose_code_holds_the_interpreter_ends_at_once_and_leaves_no_process(own_code, sent):
    words = ["sweep", str(own_code / "matrix.toml"), "--app", "planted_code:holds", "--workers", "2"]
    process = subprocess.Popen(
        python_command("-m", "workbook", *words),
        cwd=own_code,
        env=os.environ | {"PYTHONPATH": str(Path(workbook.__file__).parents[1])},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.PIPE,  # the workers hold its other end
    )
    while not [*own_code.glob("held-*")]:  # code of a worker holds the interpreter
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(sent)
    assert process.communicate()[0] == b""  # comes back when nobody has the other end any more
    assert process.returncode == (-sent if sent == signal.SIGKILL else 130)


def test_code_that_hangs_or_exits_the_interpreter_becomes_a_row(own_code):
    matrix = replace(read_matrix(own_code / "matrix.toml", app="planted_code:hangs"), patience=0.1)
    second = [n for n in matrix.numbers() if matrix.combination(n)["card"] == "second"][:1]
    (row,) = play_chunk(matrix, second)
    assert "fetchOpc() had not ended" in row["failure"]
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:Delegate")
    earlier = [n for n in matrix.numbers() if matrix.combination(n)["variant"] == "earlier"][:1]
    (row,) = play_chunk(matrix, earlier)
    assert row["failure"] == "it raised SystemExit"


@pytest.mark.slow
@pytest.mark.nightly
def test_a_scheduler_that_is_not_there_is_told(own_code):
    with pytest.raises(ConfigurationError, match=r"^No scheduler at 'tcp://127\.0\.0\.1:9': "):
        sweep(read_matrix(own_code / "matrix.toml"), own_code / "out", partial(open_cluster, "tcp://127.0.0.1:9"))


@pytest.mark.slow
@pytest.mark.nightly
def test_a_cluster_plays_the_same_rows(own_code, in_this_process):
    from distributed import LocalCluster  # it takes a second to import

    matrix = read_matrix(own_code / "matrix.toml", limit=20)
    sweep(matrix, own_code / "here", in_this_process)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        assert sweep(matrix, own_code / "there", partial(open_cluster, cluster.scheduler_address))[0] == 20
    assert [*read_rows(own_code / "there")] == [*read_rows(own_code / "here")]


@pytest.fixture
def failures(own_code, in_this_process):
    """Sweeps code of the integrator's own in this process; returns the kinds of failure in its report."""

    def find(**options):
        matrix, out = read_matrix(own_code / "matrix.toml", **options), own_code / "out"
        document = summarise(matrix, out, *sweep(matrix, out, in_this_process))
        assert json.loads((out / "sweep.json").read_text())["details"] == document
        return document["failures"]

    return find


def replays(kind):
    """Whether the line to replay shows the kind."""
    combination = from_spec(ast.literal_eval(kind["replay"].removeprefix("session.replay")))
    return kind["kind"] in Player(2.0).failures(combination, play_out(combination, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "planted"),
    [
        (
            {"app": "planted_code:planted"},
            {
                "ValueError": "card=third",
                "KeyError": "card=second fault=403 operation=POST",
                "InvalidSdkInput": "fault=409 operation=POST",
            },
        ),
        ({"app": "planted_code:Delegate"}, {"SystemExit": "variant=earlier"}),
        ({"handler": "planted_code:Handler"}, {"LookupError": "phone='first card is there already' cards=3"}),
    ],
    ids=["app", "delegate", "handler"],
)
def test_a_planted_bug_is_found_with_its_smallest_combination(failures, options, planted):
    kinds = failures(**options)
    for error, needed in planted.items():
        kind = next(kind for kind in kinds if error in kind["kind"])
        smallest = {name: value for name, value in kind["smallest"].items() if name not in ("app", "handler")}
        assert set(smallest) == set(re.findall(r"(\w+)=", needed))
        assert needed in kind["replay"]
        assert replays(kind)


def shown(line):
    """The first kind of failure of this combination, and the combination."""
    combination = from_spec(line)
    return Player(2.0).failures(combination, play_out(combination, 2.0))[0], combination


def test_what_a_failure_does_not_need_becomes_ordinary():
    kind, combination = shown("platform=wallet handler='no card art' phone='with a watch' surface=watch cards=3 seed=9")
    assert shrink(kind, combination, 2.0) == from_spec("platform=wallet handler='no card art'")


def test_rows_are_counted_by_kind(tmp_path, monkeypatch):
    monkeypatch.setattr("workbook.tools.sweep.run.find_smallest", lambda _kind, combination, _patience: combination)
    (tmp_path / "rows").mkdir()
    failures = {3: "", 5: "one\nother", 8: "other", 9: ""}
    rows = [{"number": number, "outcome": "done", "failure": failure} for number, failure in failures.items()]
    (tmp_path / "rows" / "000000.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    document = summarise(read_matrix(None), tmp_path, 4, 1.0)
    assert (document["rows"], document["failed"], document["outcomes"]) == (4, 2, {"done": 4})
    assert [(kind["kind"], kind["rows"]) for kind in document["failures"]] == [("other", 2), ("one", 1)]
    assert len({kind["replay"] for kind in document["failures"]}) == 1
