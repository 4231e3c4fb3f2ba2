"""Every kind of report is read as the same model, and what is none is refused in a sentence."""

import json
from dataclasses import replace

import pytest
from ran import MISS, NAMES, recorded, result

from workbook.errors import ConfigurationError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.reports import to_json, write_reports
from workbook.tools.harness.results import ReportKind, of_record, read_report, report_file

RUN = {
    "version": 1,
    "interrupted": False,
    "parameters": {"seed": 7},
    "notebooks": [
        {"name": "01_a", "status": "check-failed", "seconds": 3.2, "error": "a check failed",
         "checks": [{"name": "shown", "passed": True, "rule": "A-CAN-1"},
                    {"name": "shown", "passed": False, "rule": None}],
         "exercises": {"01.1": "wrong"}},
        {"name": "02_b", "status": "time-limit", "seconds": 300.0, "error": "took longer than 300 s", "checks": []},
    ],
}  # fmt: skip
SWEEP = {
    "version": 1,
    "kind": "sweep",
    "matrix": "62425c36aa11bb22",
    "rows": 3066,
    "failed": 80,
    "outcomes": {"added": 807},
    "failures": [{"kind": "X-ENTRIES-1: late", "rows": 37, "smallest": {"get": "2.651 s or more"}, "share": 1.0}],
    "durations": {"pass_entries": {"p50": 0.29, "p95": 8.32}},
}


def written(folder, document, name="run.json"):
    (folder / name).write_text(json.dumps(document) if not isinstance(document, str) else document)
    return folder / name


def test_a_run_of_notebooks_has_a_case_for_each_execution_and_each_check(tmp_path):
    report = read_report(written(tmp_path, RUN))
    assert [(case.name, case.verdict, case.reasons, case.rule) for case in report.cases] == [
        ("01_a", "pass", (), ""),
        ("01_a: shown", "pass", (), "A-CAN-1"),
        ("01_a: shown (2)", "fail", (), ""),
        ("02_b", "fail", ("took longer than 300 s",), ""),
    ]
    assert report.cases[0].seconds == (3.2,)
    assert (report.kind, report.partial, report.facts) == (ReportKind.RUN, True, {"parameter seed": "7"})
    assert report.headline == "Notebooks: 2. Checks: 2. Failed: 2."


def test_a_sweep_has_a_case_for_each_kind_of_failure_and_each_call(tmp_path):
    report = read_report(written(tmp_path, SWEEP))
    (failure,), (call,) = report.cases, report.timed
    assert (failure.name, failure.times, failure.reasons) == (
        "X-ENTRIES-1: late", 37, ("smallest combination: get 2.651 s or more",))  # fmt: skip
    assert (call.name, call.seconds) == ("95 of 100 calls of pass_entries", (8.32,))
    assert report.headline == "80 of 3,066 combinations failed, in 1 ways."


@pytest.mark.parametrize("kind", [ReportKind.CONFORM, ReportKind.APP, ReportKind.PREFLIGHT])
def test_the_reports_of_cases_say_what_made_them(tmp_path, kind):
    record = recorded(result(NAMES[0], Verdict.FAIL), program=f"workbook {kind}")
    report = read_report(written(tmp_path, to_json(record)))
    assert report == of_record(record)
    assert report.kind is kind
    (case,) = report.cases
    assert (case.rule, case.seconds) == ("API-1", (0.3,))
    assert case.reasons == (f"API-1: expected {MISS.expected}, observed {MISS.observed}",)


def test_the_calls_of_a_back_end_are_timed_and_those_of_an_app_are_not():
    """In front of an app the workbook is the back end."""
    (calls,) = of_record(recorded(result(NAMES[0], Verdict.PASS))).timed
    assert calls.name == "all calls that lead to a POST"
    assert calls.seconds == pytest.approx((0.25,))
    assert of_record(recorded(program="workbook conform app")).timed == ()


def test_a_reason_has_neither_durations_nor_places_in_a_log():
    told = "it stands in app.log, line {}, and in {} more lines, after {} s"
    reasons = [of_record(recorded(result(misses=(replace(MISS, observed=told.format(*at)),)))).cases[0].reasons
               for at in ((3, 4, "0.1"), (5, 6, "12"))]  # fmt: skip
    assert reasons[0] == reasons[1]


def test_a_folder_stands_for_its_only_report(tmp_path):
    write_reports(recorded(), tmp_path)
    assert report_file(tmp_path) == tmp_path / "conform.json"
    written(tmp_path, RUN)
    with pytest.raises(ConfigurationError, match=r"has several reports: conform.json, run.json\. Name"):
        report_file(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"has no report\. Name the conform.json"):
        report_file(tmp_path / "empty")
    (tmp_path / "empty" / "proxy-1.jsonl").touch()
    assert report_file(tmp_path / "empty").name == "proxy-1.jsonl"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (json.dumps(RUN)[:-30], r"is no JSON \(line 1\); it may be cut off\. Name"),
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"notebooks": NaN}', "is no JSON"),
        ("[1, 2]", "is no report of the workbook. Name"),
        ('{"tests": [], "summary": {}}', "is no report of the workbook"),
        ('{"notebooks": [{"name": 1}], "version": 1}', "not as the workbook writes it, at 'notebooks.0.name'"),
        (json.dumps(RUN | {"version": 2}), "at 'version'"),
        (json.dumps(SWEEP | {"failures": [{"kind": "x"}]}), "at 'failures.0.rows'"),
        ('{"format": 9, "about": {}, "cases": []}', "it is of format 9"),
        ('{"format": 1, "about": {}, "cases": []}', "about has no 'target'"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(tmp_path, content, told):
    with pytest.raises(ConfigurationError, match=told):
        read_report(written(tmp_path, content))


def test_bytes_that_are_no_text_and_a_missing_file_are_refused(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
    for path in (tmp_path / "x.json", tmp_path / "nothing.json"):
        with pytest.raises(ConfigurationError, match=r"is no JSON|Cannot read"):
            read_report(path)


@pytest.mark.slow
def test_a_file_of_a_gigabyte_is_refused_before_it_is_parsed(tmp_path):
    huge = tmp_path / "run.json"
    with huge.open("wb") as file:
        file.truncate(1 << 30)  # a hole: it takes no room on the disk
    with pytest.raises(ConfigurationError, match=r"is larger than 268,435,456 bytes"):
        read_report(huge)
