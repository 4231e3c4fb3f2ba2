"""A back end of one's own in a sweep: each fault once for each platform, at most so many calls a second, in seconds."""

import csv
import shutil
import sys
from itertools import pairwise

import pytest
from relays import FOLDER

from workbook.errors import ConfigurationError
from workbook.tools.commands import cli
from workbook.tools.sweep import summary
from workbook.tools.sweep.matrix import OWN_BACK_END, read_matrix
from workbook.tools.sweep.workers import faults_of, measured

MATRIX = """
platform = ["a", "b"]
phone = ["ready", "no wallet yet"]
fault = ["200", "403"]
operation = ["GET", "POST"]
"""


@pytest.fixture
def matrix(tmp_path):
    file = tmp_path / "matrix.toml"
    file.write_text(MATRIX)
    return file


def test_each_platform_meets_each_fault_once_whatever_the_phone(matrix):
    found = [*faults_of(read_matrix(matrix))]
    assert len(found) == len(set(found)) == 2 * (1 + 2)
    assert {platform for platform, *_ in found} == {"platform A", "platform B"}
    assert {(fault, operation) for _, fault, operation, _ in found} == {("200", "GET"), ("403", "GET"), ("403", "POST")}


@pytest.mark.slow
def test_its_calls_are_measured_beside_the_rows(matrix, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANN", "session-of-ann-7d1f")
    monkeypatch.setenv("BOB", "session-of-bob-93c2")
    file = tmp_path / "back-end.toml"
    shutil.copy(FOLDER / "back-end.toml", file)
    program = f"exec {sys.executable} {FOLDER / 'reference.py'}"
    text = file.read_text("utf-8").replace("exec ../../.venv/bin/python reference.py", program)
    file.write_text(text.replace("8655", "8659"))
    out = tmp_path / "out"
    words = ["sweep", str(matrix), "--out", str(out), "--back-end", str(file), "--rate", "50"]
    assert cli.main(words) in (0, 1), capsys.readouterr().err
    with (out / "back-end.csv").open(newline="") as lines:
        rows = [*csv.DictReader(lines)]
    answers = {(row["fault"], row["operation"], row["call"]): row["answer"] for row in rows}
    assert answers["200", "GET", "GET"] == answers["200", "GET", "POST"] == "200, an sdkInput"
    assert answers["403", "POST", "POST"].endswith("no sdkInput")
    assert answers["403", "POST", "GET"] == "200, an sdkInput"
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert all(one["platform"] <= other["platform"] for one, other in pairwise(rows))
    assert "session-of-ann" not in (out / "back-end.csv").read_text()

    # What it takes where nothing fails is one more latency of the matrix, and a second start calls nothing.
    played = summary.read_rows(out)
    own = played[played["latency"] == OWN_BACK_END]
    assert len(own) == len(played) / 2
    for platform, rows_of in own.groupby("platform", observed=True):
        plain = [row for row in rows if (row["fault"], row["call"]) == ("200", "GET")]
        mine = {round(float(row["seconds"]), 3) for row in plain if row["platform"] == f"platform {platform.upper()}"}
        assert set(rows_of["get"]) <= mine
    file.unlink()
    assert cli.main(words) in (0, 1)
    assert "0 played" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["one,two\n1,2\n", 'platform,fault,call,answer,seconds\nplatform A,200,GET,"200, an sdkInput",soon\n']
)
def test_what_is_no_measurement_is_refused(matrix, tmp_path, text):
    (tmp_path / "back-end.csv").write_text(text)
    with pytest.raises(ConfigurationError, match="is no measurement"):
        measured(tmp_path / "back-end.toml", read_matrix(matrix), tmp_path, 10)
