"""`workbook compare` on files: every kind, as text and Markdown, and what it refuses."""

import json
from dataclasses import asdict

import pytest
from ran import NAMES, recorded, result

from workbook.tools.commands import cli
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import write_reports
from workbook.tools.harness.report import About, RunRecord, to_json
from workbook.tools.proxy.record import Head


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two reports of a back end: one case newly fails."""
    monkeypatch.chdir(tmp_path)
    write_reports(recorded(result(NAMES[0], Verdict.PASS)), tmp_path / "old")
    write_reports(recorded(result(NAMES[0])), tmp_path / "new")
    return tmp_path


def test_a_folder_or_a_file_and_the_exit_code(two, capsys):
    assert cli.main(["compare", "old", "new/conform.json"]) == 1
    assert capsys.readouterr().out.startswith("Something got worse: 1 newly failing, 0 as before.\n")
    assert cli.main(["compare", "new", "old"]) == 0
    assert "1 fixed" in capsys.readouterr().out


def test_a_file_is_written_whole(two, capsys):
    assert cli.main(["compare", "old", "new", "--out", "changes.txt"]) == 1
    assert capsys.readouterr().out == "Something got worse: 1 newly failing, 0 as before. See changes.txt\n"
    assert (two / "changes.txt").read_text().startswith("Something got worse: 1 newly failing")
    assert cli.main(["compare", "old", "new", "--out", "nowhere/x.txt"]) == 2
    assert "--out 'nowhere/x.txt' cannot be written" in capsys.readouterr().err


def test_two_drifts_say_since_when_the_real_api_differs(two, capsys, recording):
    """What was there before is no news."""
    for name, statuses in [("old", [200] * 30), ("new", [200] * 24 + [503] * 6)]:
        recording(two / f"{name}.jsonl", statuses)
        assert cli.main(["drift", f"{name}.jsonl", "--json"]) == 1
        (two / f"{name}-drift").mkdir()
        (two / f"{name}-drift" / "drift.json").write_text(capsys.readouterr().out)
    assert cli.main(["compare", "old-drift", "new-drift/drift.json"]) == 1
    out = capsys.readouterr().out
    worse = out.partition("Still warned")[0]
    assert worse.startswith("Something got worse: 1 newly failing, 1 still warned, ")
    assert "GET 503: pass, now fail\n    + contradicts what is published: 503; the simulator: 200\n" in worse
    assert cli.main(["compare", "new-drift", "old-drift"]) == 0
    assert "1 fixed" in capsys.readouterr().out


@pytest.fixture
def recording():
    """Writes a recording of GETs of one instrument, as the proxy does."""

    def write(path, statuses):
        lines = [asdict(Head("http://a", "now"))]
        for number, status in enumerate(statuses, 1):
            shape = {"": "object", "sdkInput": "string"} if status == 200 else {"": "object"}
            lines.append({
                "number": number, "arrived": 1.0, "answered": 1.1, "method": "GET", "target": "/",
                "operation": "GET", "instrument": "PI1", "headers": [], "body": None, "bodyLength": 0,
                "status": status, "responseHeaders": [], "responseBody": None, "responseLength": 9, "keyIn": [],
                "credential": "k1", "bodyShape": {}, "bodyLayer": None, "failure": "", "sent": True,
                "responseShape": shape, "responseLayer": None,
            })  # fmt: skip
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    return write


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["old", "nothing"], "Cannot read 'nothing'"),
        (["old", "."], "'.' has no report. Name one file"),
        (["old", "run.json"], "is of workbook conform, the second of workbook run. Compare two of one kind."),
        (["old", "cut.json"], "is not a report of this version"),
        (["old", "other.jsonl"], "is not a report of this version"),
        (["old"], "Try: workbook compare --help"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(two, capsys, words, told):
    (two / "run").mkdir()
    (two / "run.json").write_text(to_json(RunRecord(About(program="workbook run"), ()))) if "." not in words else None
    (two / "cut.json").write_text((two / "new" / "conform.json").read_text()[:1000])
    (two / "other.jsonl").write_text("{}\n") if "." not in words else None
    assert cli.main(["compare", *words]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""
