import json
from xml.etree import ElementTree as ET

from workbook.base.secrecy import Secrets
from workbook.commands.runner.run import CheckResult, NotebookRun, Report, RunOutcome, raised
from workbook.errors import ExitCode

EVIL = 'a "quoted" <b> & \x00\x1b[31m\ufffe name\ud800'
RUNS = (
    NotebookRun(
        "00_ok",
        RunOutcome(ExitCode.OK),
        1.25,
        (CheckResult("fine", passed=True, rule="A-CAN-2"),),
        {"00.1": "done", "00.2": "untouched", "00.3": "wrong"},
        written=True,
    ),
    NotebookRun(
        "01_bad", RunOutcome(ExitCode.FAILED, "a check failed"), 2.0, (CheckResult(EVIL, passed=False),), written=True
    ),
    NotebookRun("02_error", raised("ValueError", EVIL, f"\n{EVIL}\n1 / 0"), 0.5),
    NotebookRun("03_long", RunOutcome(ExitCode.TIME_LIMIT, "took longer than 4 s"), 4.0),
)


def test_the_worst_end_decides():
    ends = [RunOutcome(ExitCode(code)) for code in (0, 1, 3, 4, 5, 130)]
    assert [end.status for end in ends] == [
        "ok", "check-failed", "error", "time-limit", "kernel-died", "interrupted"
    ]  # fmt: skip
    assert raised("E", "m").exit_code == 3
    runs = [NotebookRun(str(at), end, 1.0) for at, end in enumerate(ends)]
    for count in range(1, len(ends) + 1):
        assert Report(tuple(reversed(runs[:count])), {}, 1.0).exit_code == ends[count - 1].exit_code
    assert Report((), {}, 1.0).exit_code == 0


def test_an_error_names_its_cell_by_the_first_line():
    told = raised("ValueError", "bad", f"\nfirst = {'x' * 99}\nsecond").why
    assert told == f"ValueError in the cell that begins 'first = {'x' * 52}'... (107 characters): bad"
    assert raised("SystemExit", "early").why == "SystemExit: early"


def test_the_line_of_a_notebook_counts_its_exercises():
    assert str(RUNS[0]) == "ok           00_ok  1.2 s  1/1 checks  1/3 exercises"


def test_run_json_is_versioned():
    content = Report(RUNS, {"seed": 9}, 8.0).as_dict()
    assert {key: content[key] for key in ("version", "exit_code", "interrupted", "seconds", "parameters")} == {
        "version": 1,
        "exit_code": 4,
        "interrupted": False,
        "seconds": 8.0,
        "parameters": {"seed": 9},
    }
    assert content["notebooks"][0] == {
        "name": "00_ok",
        "status": "ok",
        "seconds": 1.25,
        "file": "00_ok.ipynb",
        "error": None,
        "checks": [{"name": "fine", "passed": True, "rule": "A-CAN-2"}],
        "exercises": {"00.1": "done", "00.2": "untouched", "00.3": "wrong"},
    }
    assert content["notebooks"][3]["error"].startswith("took longer than 4 s")


def test_junit_is_well_formed_whatever_the_names_hold():
    suites = list(ET.fromstring(Report(RUNS, {}, 8.0).to_junit()))
    counts = [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites]
    assert counts == [("5", "0", "0"), ("2", "1", "0"), ("1", "0", "1"), ("1", "0", "1")]
    cases = [case.get("name") for case in suites[0]]
    assert cases == ["execution", "fine (A-CAN-2)", "exercise 00.1", "exercise 00.2", "exercise 00.3"]
    skipped = [[(one.tag, one.get("message")) for one in case] for case in suites[0][2:]]
    assert skipped == [[], [("skipped", "not begun")], [("skipped", "answered, and not right yet")]]
    assert suites[1][1][0].get("message") == 'a "quoted" <b> & [31m name'


def test_what_is_written_holds_no_key(tmp_path):
    runs = (NotebookRun("00", raised("E", "canary-0123456789"), 1.0),)
    Report(runs, {"payment_instrument_id": "canary-0123456789"}, 1.0, interrupted=True).write(
        tmp_path, Secrets.of_keys(["canary-0123456789"])
    )
    assert json.loads((tmp_path / "run.json").read_text())["exit_code"] == 130
    assert not any("canary" in path.read_text() for path in tmp_path.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["junit.xml", "run.json"]
