import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ran import MISS, NAMES, recorded, result

from workbook.errors import ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import Result
from workbook.tools.harness.report import About, CaseChange, CaseRecord, RunRecord, compare_reports

OTHER = replace(MISS, observed="something else")


def record(verdict=None, misses=(MISS,), **about):
    """A run of one case; of none without a verdict."""
    if verdict is None:
        return replace(recorded(**about), cases=())
    missed = misses if verdict in ("fail", "warn", "known") else ()
    return recorded(result(NAMES[0], Verdict(verdict), missed), **about)


def and_one_that_passes(run):
    return replace(run, cases=(*run.cases, CaseRecord("in both", Verdict.PASS)))


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        ("pass", "pass", None),
        ("note", "pass", None),
        ("not testable", "harness error", None),
        ("pass", "fail", CaseChange.WORSE),
        ("pass", "warn", CaseChange.WARNS),
        ("pass", "known", CaseChange.WORSE),
        ("not testable", "fail", CaseChange.WORSE),
        ("warn", "fail", CaseChange.WORSE),
        ("known", "fail", CaseChange.WORSE),
        ("pass", "not testable", CaseChange.LOST),
        ("fail", "harness error", CaseChange.LOST),
        ("pass", "not looked at", CaseChange.LOST),
        ("pass", None, CaseChange.LOST),
        ("note", None, CaseChange.LOST),
        ("fail", "fail", CaseChange.STILL),
        ("fail", "known", CaseChange.STILL),
        ("fail", "warn", CaseChange.STILL_WARNS),
        ("warn", "warn", CaseChange.STILL_WARNS),
        ("fail", "pass", CaseChange.FIXED),
        ("not testable", "pass", CaseChange.FIXED),
        ("not looked at", "pass", CaseChange.FIXED),
        (None, "fail", CaseChange.NEW),
        ("fail", None, CaseChange.GONE),
        ("not looked at", None, CaseChange.GONE),
        ("not applicable", None, CaseChange.GONE),
    ],
)
def test_what_became_of_a_case(before, now, change):
    got = compare_reports(and_one_that_passes(record(before)), and_one_that_passes(record(now)))
    assert [case.change for case in got.changed] == ([change] if change else [])
    assert got.exit_code == (change in (CaseChange.WORSE, CaseChange.WARNS, CaseChange.LOST))
    assert got.same == (1 if change else 2)
    assert ("fails" in got.text()) is (change is CaseChange.WORSE)


@pytest.mark.parametrize("old", [None, "pass", "fail", "not testable"])
@pytest.mark.parametrize("new", [None, "not testable", "not looked at", "harness error"])
def test_a_run_that_decided_nothing_is_compared_with_nothing(old, new):
    with pytest.raises(ParameterError, match=r"The second report has no case with a verdict"):
        compare_reports(record(old), record(new))


def test_a_free_port_is_no_other_address():
    old, new = (record("pass", base_url=f"http://127.0.0.1:{port}") for port in (40001, 40002))
    assert compare_reports(old, new).notes == ()


def test_in_a_notebook_a_run_of_some_cases_is_compared_with_the_same_cases():
    whole = recorded(result(NAMES[0]), result(NAMES[1], Verdict.PASS))
    again = recorded(result(NAMES[0], Verdict.PASS), only=(NAMES[0],))
    assert Result(whole).changes(Result(again)).rows == ((CaseChange.FIXED, NAMES[0], "fail, now pass"),)
    assert compare_reports(whole, again).exit_code == 1


def test_another_reason_is_shown_and_another_time_or_line_of_a_log_is_none():
    slow = [replace(MISS, observed=f"status 500, no sdkInput, after {seconds} s") for seconds in ("0.1", "12")]
    (same,) = compare_reports(record("fail", slow[:1]), record("fail", slow[1:])).changed
    assert (same.gone, same.come) == ((), ())
    (other,) = compare_reports(record("fail", (MISS, slow[0])), record("fail", (MISS, OTHER))).changed
    assert other.gone == ("API-1: expected the sdkInput as the API gave it, observed status 500, no sdkInput",)
    assert other.come == ("API-1: expected the sdkInput as the API gave it, observed something else",)
    told = "it stands in app.log, line {}, and in {} more lines; the line, without its values: {} key"
    first, second = (replace(MISS, observed=told.format(*at)) for at in ((3, 4, "a"), (5, 6, "b")))
    (same,) = compare_reports(record("fail", (first,)), record("fail", (second,))).changed
    assert (same.gone, same.come) == ((), ())


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ({"base_url": "http://a"}, {"base_url": "http://b"}, "base url was http://a, and is http://b now."),
        ({}, {"facts": {"parameter seed": "8"}}, "parameter seed was not given, and is 8 now."),
        ({}, {"interrupted": True}, "The new run is a partial one: it may have left out the cases"),
        ({"only": ("relay.post.*",)}, {}, "The old run is a partial one"),
        ({"started": "2026-01-03T00:00:00Z"}, {}, "The first report is the later one (2026-01-03T00:00:00Z): did you"),
    ],
)
def test_what_a_reader_must_know_of_two_runs_is_a_note(old, new, note):
    got = compare_reports(record("pass", **old), record("pass", **new))
    assert len(got.notes) == 1
    assert got.notes[0].startswith(note)
    assert f"Note: {note}" in got.text()


def both():
    """Two runs between which everything happened."""
    old = [result(NAMES[0], Verdict.PASS), result(NAMES[1]), result(NAMES[2]), result(NAMES[3]), result(NAMES[4])]
    new = [result(NAMES[0]), result(NAMES[1], Verdict.PASS), result(NAMES[2]), result(NAMES[3], misses=(OTHER,)),
           result(NAMES[5], Verdict.PASS)]  # fmt: skip
    return recorded(*old), recorded(*new)


def test_the_text_tells_what_got_worse_first_and_the_markdown_the_same():
    got = compare_reports(*both())
    assert (
        got.text()
        == f"""\
Something got worse: 1 newly failing, 2 still failing, 1 fixed, 1 unknown before, 1 gone, 0 as before.

Newly failing (1): fails, and did not before, or failed less gravely
  {NAMES[0]}: pass, now fail
    + API-1: expected the sdkInput as the API gave it, observed another value

Still failing (2): failed before, and does now
  {NAMES[2]}: fail
  {NAMES[3]}: fail
    - API-4: expected the sdkInput as the API gave it, observed another value
    + API-4: expected the sdkInput as the API gave it, observed something else

Fixed (1): failed, had a warning or was not decided before, and passes now
  {NAMES[1]}: fail, now pass
    - API-2: expected the sdkInput as the API gave it, observed another value

Unknown before (1): is not in the older report, so it is never worse by itself
  {NAMES[5]}: not there, now pass

Gone (1): did not pass before, and is not in the later report
  {NAMES[4]}: fail, now not there
"""
    )
    assert compare_reports(record("pass"), record("pass")).text() == "Nothing got worse: 1 as before.\n"


def test_what_got_worse_one_way_did_not_get_worse_the_other_way_unless_nobody_can_tell():
    runs = [and_one_that_passes(record(verdict)) for verdict in Verdict]
    for first in runs:
        for second in runs:
            there, back = compare_reports(first, second), compare_reports(second, first)
            changes = {case.change for case in (*there.changed, *back.changed)}
            assert CaseChange.LOST in changes or not (there.exit_code and back.exit_code)


@given(st.text(max_size=30))
def test_no_text_breaks_the_lines(text):
    hostile = replace(MISS, observed=f"x {text}")
    lines = compare_reports(record("fail"), record("fail", (hostile,), base_url=text)).text().split("\n")
    assert all(line.isprintable() for line in lines)
    assert sum(line.startswith("Still failing") for line in lines) == 1


def report(*cases, program="workbook sweep", **about):
    return RunRecord(About(program=program, **about), cases)


def changes(old, new):
    return [(case.name, case.change) for case in compare_reports(old, new).changed]


def test_reports_of_two_commands_are_not_compared():
    with pytest.raises(ParameterError, match=r"is of workbook run, the second of workbook sweep\. Compare two of one"):
        compare_reports(report(program="workbook run"), report())


def test_two_cases_of_one_name_are_two():
    once, again = CaseRecord("shown", Verdict.PASS), CaseRecord("shown", Verdict.FAIL)
    assert changes(report(once, once), report(once, again)) == [("shown (2)", CaseChange.WORSE)]


def test_what_tried_the_same_knows_what_the_other_does_not_name():
    late, lost = CaseRecord("late", Verdict.FAIL), CaseRecord("lost", Verdict.FAIL)
    old, new = (report(case, tried="m") for case in (late, lost))
    assert changes(old, new) == [("lost", CaseChange.WORSE), ("late", CaseChange.FIXED)]
    assert changes(old, report(lost, tried="another")) == [("lost", CaseChange.NEW), ("late", CaseChange.GONE)]


def test_cases_that_changed_for_one_reason_are_told_together():
    names = [f"case {number}" for number in range(30)]
    passed = (CaseRecord(name, Verdict.PASS) for name in names)
    unclear = (CaseRecord(name, Verdict.NOT_TESTABLE, why="<it> did not start") for name in names)
    got = compare_reports(*(and_one_that_passes(report(*cases)) for cases in (passed, unclear)))
    assert got.text().count("did not start") == 1
    assert "    and 29 more: case 1, case 2, case 3, …\n" in got.text()


def test_the_manual_gives_each_change_its_exit_code():
    page = (Path(__file__).parents[3] / "notebooks/reference/ci.md").read_text("utf-8")
    rows = re.findall(r"^\| (\*.*?\*) \| .* \| (\d) \|$", page, re.MULTILINE)
    told = {name: code for names, code in rows for name in re.findall(r"\*([^*]+)\*", names)}
    assert told == {change.value: f"{change.is_worse:d}" for change in CaseChange}
