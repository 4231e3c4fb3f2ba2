import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError, ExitCode
from workbook.lessons.lesson import CHECK_MIMETYPE
from workbook.tools.commands.runner.run import (
    CheckResult,
    Failure,
    NotebookRun,
    Report,
    RunOutcome,
    raised,
    read_checks,
    read_failures,
)
from workbook.tools.harness.output import to_junit
from workbook.tools.harness.report import from_json, to_json

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
        "01_bad",
        RunOutcome(ExitCode.FAILED, "a check failed"),
        2.0,
        (CheckResult(EVIL, passed=False, rule="A-CAN-2"),),
        written=True,
        failures=(Failure(EVIL, "A-CAN-2", f"check({EVIL})", "<svg></svg><meta http-equiv=refresh>"),),
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


def test_run_json_is_a_report_with_a_case_for_each_execution_and_each_check():
    record = from_json(to_json(Report(RUNS, {"seed": 9}, 8.0).as_record()))
    about = record.about
    assert (about.program, about.exit_code, about.seconds, about.partial) == ("workbook run", 4, 8.0, True)
    assert about.facts == {"parameter seed": "9"}
    assert [(case.name, case.verdict, case.rule, case.seconds) for case in record.cases[:2]] == [
        ("00_ok", "pass", "", 1.25), ("00_ok: fine", "pass", "A-CAN-2", 0.0)]  # fmt: skip
    assert record.details["parameters"] == {"seed": 9}
    assert record.details["notebooks"][0] == {
        "name": "00_ok",
        "status": "ok",
        "file": "00_ok.ipynb",
        "exercises": {"00.1": "done", "00.2": "untouched", "00.3": "wrong"},
    }
    (late,) = [case for case in record.cases if case.why.startswith("took longer than 4 s")]
    assert (late.verdict, late.name in about.unfinished) == ("fail", True)


def test_junit_is_well_formed_whatever_the_names_hold():
    suites = list(ET.fromstring(to_junit(Report(RUNS, {}, 8.0).as_record())))
    assert [(suite.get("tests"), suite.get("failures")) for suite in suites] == [
        ("2", "0"), ("2", "1"), ("1", "1"), ("1", "1")]  # fmt: skip
    assert [case.get("name") for case in suites[0].iter("testcase")] == ["00_ok", "00_ok: fine"]
    failed = next(case for case in suites[1].iter("testcase") if len(case))
    assert failed.get("name") == '01_bad: a "quoted" <b> & \ufffd\ufffd[31m\ufffd name\ufffd'


def test_what_is_written_holds_no_key(tmp_path):
    runs = (NotebookRun("00", raised("E", "canary-0123456789"), 1.0),)
    Report(runs, {"payment_instrument_id": "canary-0123456789"}, 1.0, interrupted=True).write(
        tmp_path, Secrets.of_keys(["canary-0123456789"])
    )
    assert json.loads((tmp_path / "run.json").read_text())["about"]["exit_code"] == 130
    assert not any("canary" in path.read_text() for path in tmp_path.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html", "junit.xml", "run.json", "run.md"]


def written(tmp_path, runs=RUNS, **more):
    Report(runs, {"seed": 9}, 8.0, again="-p seed=9", **more).write(tmp_path, Secrets.of_keys([]))
    return (tmp_path / "index.html").read_text(), (tmp_path / "run.md").read_text()


def test_the_page_says_first_what_failed_and_how_to_run_it_again(tmp_path):
    page, markdown = written(tmp_path)
    assert "<h1>1 of 4 notebooks failed.</h1>" not in page
    assert "<h1>3 of 4 notebooks failed.</h1>" in page
    words = re.sub("(?s)<style>.*?</style>|<[^>]*>", "", page)
    order = ["01_bad: the check", "Run it again: workbook run 01_bad -p seed=9", "00_ok", "The rules that"]
    assert sorted(order, key=words.index) == order
    assert "<svg></svg>&lt;meta http-equiv" in page
    assert "<b> &" not in page
    assert markdown.startswith("## 3 of 4 notebooks failed.\n")
    assert "Again: `workbook run 01_bad -p seed=9`" in markdown
    assert "| 00_ok | ok | 1.2 | 1 of 1 | 1 of 3 |" in markdown


def test_the_page_says_that_all_is_well_or_that_the_run_was_interrupted(tmp_path):
    page, markdown = written(tmp_path, RUNS[:1])
    assert "<h1>No notebook failed: 1 of 1 ran to the end, and 1 of 1 checks hold.</h1>" in page
    unchecked, _markdown = written(tmp_path, (replace(RUNS[0], checks=()),))
    assert "<h1>No notebook failed: 1 of 1 ran to the end, and there was no check.</h1>" in unchecked
    assert "Why, and" not in page
    assert "✗" not in markdown
    stopped = NotebookRun("04_open", RunOutcome(ExitCode.INTERRUPTED, "interrupted"), 0.0)
    told = "1 of 3 notebooks failed; 1 did not finish, because the run was interrupted."
    assert told in written(tmp_path, (*RUNS[:2], stopped), interrupted=True)[0]


def test_the_summary_of_a_ci_is_added_to_its_file(tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    report = Report((NotebookRun("00", raised("E", "canary-0123456789"), 1.0),), {}, 1.0)
    report.write(tmp_path, Secrets.of_keys(["canary-0123456789"]), summary)
    assert summary.read_text() == "before\n" + (tmp_path / "run.md").read_text()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        report.write(tmp_path, Secrets.of_keys([]), tmp_path / "no" / "summary.md")


def cell(source, *data, begun=True):
    metadata = {"papermill": {"start_time": "now" if begun else None}}
    return {"cell_type": "code", "source": [source], "metadata": metadata, "outputs": [{"data": one} for one in data]}


def fact(name, *, passed=False):
    return {"name": name, "passed": passed, "rule": None, "source": ""}


LESSON = json.dumps(
    {
        "cells": [
            cell("show()", {"text/html": ["<svg>", "</svg>"]}),
            {"cell_type": "markdown", "source": ["# x"], "metadata": {}},
            cell("check('é', False)", {"text/html": "✗", CHECK_MIMETYPE: fact("é")}),
            cell("x = check('hidden', False); table", {"text/html": "<table>"}),
            cell("check()", {CHECK_MIMETYPE: {"checks": [fact("é"), fact("hidden"), fact("good", passed=True)]}}),
            cell("never()", begun=False),
        ]
    }
)


def test_a_check_that_no_cell_showed_is_read_from_the_last_one_and_no_check_twice():
    assert [(one.name, one.passed) for one in read_checks(LESSON)] == [("é", False), ("hidden", False), ("good", True)]


def test_a_failure_has_its_cell_and_the_last_picture_until_then():
    checks = tuple(read_checks(LESSON))
    failed = list(read_failures(LESSON, RunOutcome(ExitCode.FAILED, "a check failed"), checks))
    assert failed == [
        Failure("é", None, "check('é', False)", "<svg></svg>"),
        Failure("hidden", None, "x = check('hidden', False); table", "<table>"),
    ]
    (why, *_) = read_failures(LESSON, RunOutcome(ExitCode.TIME_LIMIT, "too long"), ())
    assert why == Failure("too long", None, "check()", "<table>")
    assert list(read_failures("", raised("E", "no file"), ())) == [Failure("E: no file")]
    assert list(read_failures("", RunOutcome(ExitCode.FAILED, "strict"), ())) == [Failure("strict")]
