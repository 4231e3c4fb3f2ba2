from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ran import MISS, NAMES, recorded, result

from workbook.errors import ParameterError
from workbook.tools.harness import compare as comparing
from workbook.tools.harness.compare import CaseChange
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import RunRecord
from workbook.tools.harness.results import AnyReport, ReportedCase, ReportKind, of_record

NAME = NAMES[0]
OTHER = replace(MISS, observed="something else")


def compare(*reports):
    return comparing.compare(*(of_record(one) if isinstance(one, RunRecord) else one for one in reports))


def record(verdict=None, misses=(MISS,), name=NAME, **about):
    """A run of one case; of none without a verdict."""
    if verdict is None:
        return replace(recorded(**about), cases=())
    verdict = Verdict(verdict)
    missed = misses if verdict in (Verdict.FAIL, Verdict.WARN, Verdict.KNOWN, Verdict.FLAKY) else ()
    return recorded(result(name, verdict, missed), **about)


@pytest.mark.parametrize(
    ("before", "now", "change", "exit_code"),
    [
        ("pass", "pass", None, 0),
        ("note", "pass", None, 0),
        ("not testable", "harness error", None, 0),
        ("pass", "fail", CaseChange.WORSE, 1),
        ("pass", "warn", CaseChange.WORSE, 1),
        ("pass", "known", CaseChange.WORSE, 1),
        ("not testable", "fail", CaseChange.WORSE, 1),
        ("warn", "fail", CaseChange.GRAVER, 1),
        ("known", "fail", CaseChange.GRAVER, 1),
        ("pass", "not testable", CaseChange.LOST, 1),
        ("fail", "harness error", CaseChange.LOST, 1),
        ("fail", "disabled", CaseChange.LOST, 1),
        ("fail", "fail", CaseChange.STILL, 0),
        ("fail", "known", CaseChange.MILDER, 0),
        ("fail", "pass", CaseChange.FIXED, 0),
        ("flaky", "note", CaseChange.FIXED, 0),
        ("not testable", "pass", CaseChange.DECIDED, 0),
        ("not looked at", "pass", CaseChange.DECIDED, 0),
        ("pass", "not looked at", CaseChange.LOST, 1),
        (None, "fail", CaseChange.NEW, 0),
        ("fail", None, CaseChange.GONE, 0),
    ],
)
def test_what_became_of_a_case(before, now, change, exit_code):
    old, new = (record(verdict) for verdict in (before, now))
    got = compare(old, new)
    assert [one.change for one in got.changed] == ([change] if change else [])
    assert got.exit_code == exit_code
    assert got.same == (0 if change else 1)


def test_another_reason_is_told_and_another_time_is_none():
    slow = [replace(MISS, observed=f"status 500, no sdkInput, after {seconds} s") for seconds in ("0.1", "12")]
    assert compare(record("fail", slow[:1]), record("fail", slow[1:])).changed[0].change is CaseChange.STILL
    (one,) = compare(record("fail", (MISS, slow[0])), record("fail", (MISS, OTHER))).changed
    assert one.change is CaseChange.REASON
    assert one.gone == ("API-1: expected the sdkInput as the API gave it, observed status 500, no sdkInput",)
    assert one.come == ("API-1: expected the sdkInput as the API gave it, observed something else",)


@pytest.mark.parametrize("about", [{"interrupted": True}, {"only": ("relay.post.*",)}])
def test_a_case_that_a_partial_run_did_not_have_is_not_gone(about):
    got = compare(record("fail"), record(None, **about))
    assert [one.change for one in got.changed] == [CaseChange.NOT_RUN]
    assert got.exit_code == 0
    assert any("new run is a partial one" in note for note in got.notes)


def test_another_line_of_a_log_is_the_same_reason():
    told = "it stands in app.log, line {}, and in {} more lines; the line, without its values: {} key"
    first, second = (replace(MISS, observed=told.format(*one)) for one in ((3, 4, "a"), (5, 6, "b")))
    assert compare(record("fail", (first,)), record("fail", (second,))).changed[0].change is CaseChange.STILL


def test_runs_of_different_back_ends_are_compared_with_a_note():
    got = compare(record("pass", base_url="http://a"), record("pass", base_url="http://b"))
    assert got.notes == ("base url was http://a, and is http://b now.",)
    assert "Note: base url was http://a, and is http://b now." in got.text()


def both():
    """Two runs between which everything happened."""
    old = [result(NAMES[0], Verdict.PASS), result(NAMES[1]), result(NAMES[2]), result(NAMES[3]), result(NAMES[4])]
    new = [result(NAMES[0]), result(NAMES[1], Verdict.PASS), result(NAMES[2]), result(NAMES[3], misses=(OTHER,)),
           result(NAMES[5], Verdict.PASS)]  # fmt: skip
    return recorded(*old), recorded(*new)


HEADLINE = (
    "Something got worse: 1 newly failing, 1 failing for another reason, 1 still failing, 1 fixed, 1 new, 1 gone, "
    "0 as before."
)


def test_the_text_tells_what_got_worse_first():
    assert (
        compare(*both()).text()
        == f"""\
{HEADLINE}

Newly failing (1): did not fail before, and does now
  {NAMES[0]}: pass, now fail
    + API-1: expected the sdkInput as the API gave it, observed another value

Failing for another reason (1): failed before and does now, and not for the same reasons
  {NAMES[3]}: fail
    - API-4: expected the sdkInput as the API gave it, observed another value
    + API-4: expected the sdkInput as the API gave it, observed something else

Still failing (1): failed before and does now, for the same reasons
  {NAMES[2]}: fail

Fixed (1): failed before, and passes now
  {NAMES[1]}: fail, now pass
    - API-2: expected the sdkInput as the API gave it, observed another value

New (1): is unknown to the older report, so it is never worse by itself
  {NAMES[5]}: not there, now pass

Gone (1): was there before, and is not now
  {NAMES[4]}: fail, now not there
"""
    )


def test_the_markdown_tells_the_same():
    text = compare(*both()).to_markdown()
    assert text.startswith("# What changed\n\n**Something got worse: 1 newly failing")
    for change in (
        CaseChange.WORSE,
        CaseChange.REASON,
        CaseChange.STILL,
        CaseChange.FIXED,
        CaseChange.NEW,
        CaseChange.GONE,
    ):
        assert f"## {change.capitalize()} (1)" in text
    assert "  - Now: API-4: expected the sdkInput as the API gave it, observed something else" in text


RUNS = {verdict: record(verdict) for verdict in Verdict}


@pytest.mark.parametrize("one", Verdict)
@pytest.mark.parametrize("other", Verdict)
def test_what_got_worse_one_way_did_not_get_worse_the_other_way_unless_nobody_can_tell(one, other):
    there, back = compare(RUNS[one], RUNS[other]), compare(RUNS[other], RUNS[one])
    if there.exit_code and back.exit_code:
        changes = {case.change for case in (*there.changed, *back.changed)}
        assert changes <= {CaseChange.LOST, CaseChange.WORSE}
        assert CaseChange.LOST in changes
    assert {CaseChange.WORSE, CaseChange.GRAVER, CaseChange.LOST} >= {
        case.change for case in there.changed if there.exit_code
    }


def test_nothing_changed_is_said():
    got = compare(record("pass"), record("pass"))
    assert got.text() == "Nothing got worse: 1 as before.\n"
    assert (got.exit_code, got.same) == (0, 1)


@given(st.text(max_size=30))
def test_no_text_breaks_the_lines(text):
    hostile = replace(MISS, observed=f"x {text}")
    got = compare(record("fail"), record("fail", (hostile,), base_url=text))
    lines = got.text().split("\n")
    assert all(line.isprintable() for line in lines)
    assert sum(line.startswith("Failing for another reason") for line in lines) == 1


def report(*cases, kind=ReportKind.RUN, **more):
    return AnyReport(kind, tuple(cases), "", **more)


def took(*seconds, name="it", verdict=Verdict.PASS):
    return ReportedCase(name, verdict, seconds=seconds)


def changes(old, new):
    return [(one.name, one.change) for one in compare(old, new).changed]


def test_two_kinds_are_not_compared():
    with pytest.raises(ParameterError, match=r"is of workbook run, the second of workbook sweep\. Compare two of one"):
        compare(report(), report(kind=ReportKind.SWEEP))


def test_the_later_report_first_is_told():
    got = compare(report(started="2026-01-02T00:00:00Z"), report(started="2026-01-01T00:00:00Z"))
    assert got.notes == ("The first report is the later one (2026-01-02T00:00:00Z): did you mean the other order?",)


FEW = [took(1.0 + number / 100, name=f"other {number}") for number in range(20)]


@pytest.mark.parametrize(
    ("before", "now", "slower"),
    [
        ((1.0,), (2.9,), False),  # too few to know the noise: three times as long is chance
        ((1.0,), (3.1,), True),
        ((0.01,), (0.1,), False),  # ten times as long, and nobody notices
        ((0.1,), (1.0,), False),  # a single time on a busy machine
        ((3.1,), (1.0,), False),
        ((1.0,), (), False),
        ((0.9, 1.0, 9.0), (1.1, 1.0, 1.2), False),  # the middle counts, and no single late one
        ([0.2 + n / 1000 for n in range(40)], [0.5 + n / 1000 for n in range(40)], True),
        ([0.2 + n / 50 for n in range(40)], [0.5 + n / 50 for n in range(40)], False),  # both are spread widely
        ([0.02 + n / 9000 for n in range(40)], [0.1 + n / 9000 for n in range(40)], False),
    ],
)
def test_slower_is_what_noise_does_not_explain(before, now, slower):
    got = compare(report(took(*before)), report(took(*now)))
    assert [one.change for one in got.changed] == [CaseChange.SLOWER] * slower
    assert got.exit_code == slower


def test_the_noise_of_single_times_is_that_of_the_other_cases():
    one, two = report(took(1.0), *FEW), report(took(1.7), *FEW)
    assert changes(one, two) == [("it", CaseChange.SLOWER)]  # the others took as long as before
    assert "it: 1.00 s (0.82 to 1.22 s by chance), now 1.70 s (1.39 to 2.08 s)" in compare(one, two).text()
    unsteady = [replace(case, seconds=(case.seconds[0] * (1.5 if n % 2 else 1.0),)) for n, case in enumerate(FEW)]
    assert changes(one, report(took(1.7), *unsteady)) == []


def test_a_machine_that_is_slower_as_a_whole_is_told_and_makes_nothing_worse():
    busy = [replace(case, seconds=(case.seconds[0] * 3,)) for case in FEW]
    got = compare(report(*FEW), report(*busy))
    assert got.notes == ("Everything took 3.0 times as long: another machine, a busy one, or a slower subject.",)
    assert got.exit_code == 0
    assert changes(report(took(1.0), *FEW), report(took(9.0), *busy)) == [("it", CaseChange.SLOWER)]


def test_the_time_of_what_fails_says_nothing():
    assert changes(report(took(1.0, verdict=Verdict.FAIL)), report(took(9.0))) == [("it", CaseChange.FIXED)]
    failing = [report(took(seconds, verdict=Verdict.FAIL)) for seconds in (1.0, 9.0)]
    assert changes(*failing) == [("it", CaseChange.STILL)]


def test_what_tried_the_same_knows_what_the_other_does_not_name():
    late, lost = ReportedCase("late", Verdict.FAIL, times=3), ReportedCase("lost", Verdict.FAIL)
    old, new = (report(case, kind=ReportKind.SWEEP, tried="m") for case in (late, lost))
    assert changes(old, new) == [("lost", CaseChange.WORSE), ("late", CaseChange.FIXED)]
    other = replace(new, tried="another matrix")
    assert changes(old, other) == [("lost", CaseChange.NEW), ("late", CaseChange.GONE)]
    assert compare(old, other).exit_code == 0
    more = report(replace(late, times=4), kind=ReportKind.SWEEP, tried="m")
    assert changes(old, more) == [("late", CaseChange.GRAVER)]
    assert "late: fail (3 times), now fail (4 times)" in compare(old, more).text()
    assert changes(old, replace(more, tried="another matrix")) == [("late", CaseChange.STILL)]


def test_the_page_loads_nothing_and_shows_text_as_text():
    hostile = replace(MISS, observed="<script>alert(1)</script><img src=x>")
    name = "<b>a & b</b>"
    old = report(ReportedCase(name, Verdict.PASS))
    page = compare(old, report(ReportedCase(name, Verdict.FAIL, (hostile.observed,)))).to_html()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in page
    assert 'class="headline is-fail"' in page
    assert "http" not in page.split("</style>")[1]
    markdown = compare(old, report(ReportedCase(name, Verdict.FAIL, (hostile.observed,)))).to_markdown()
    assert "\\<script>" in markdown


def test_cases_that_changed_for_one_reason_are_told_together():
    names = [f"case {number}" for number in range(30)]
    old = report(*(ReportedCase(name, Verdict.PASS) for name in names))
    new = report(*(ReportedCase(name, Verdict.NOT_TESTABLE, ("<it> did not start",)) for name in names))
    got = compare(old, new)
    assert got.text().count("did not start") == 1
    assert "    and 29 more: case 1, case 2, case 3, …\n" in got.text()
    page, markdown = got.to_html(), got.to_markdown()
    assert (page.count("did not start"), markdown.count("did not start")) == (1, 1)
    assert all(f">{name}<" in page for name in names)
    assert "And 29 more: `case 1`, `case 2`" in markdown


def test_what_was_only_measured_is_no_case():
    old, new = (report(timed=(took(*[seconds] * 20, name="all calls"),)) for seconds in (0.1, 0.5))
    got = compare(old, new)
    assert [(one.name, one.change) for one in got.changed] == [("all calls", CaseChange.SLOWER)]
    assert got.headline == "Something got worse: 1 slower, 0 as before."
    assert compare(old, report()).changed == ()
    assert compare(old, old).headline == "Nothing got worse: 0 as before."


def test_the_virtual_seconds_of_one_matrix_have_no_noise():
    old, new = (
        report(timed=(took(seconds, name="95 of 100 calls"),), kind=ReportKind.SWEEP, tried="m")
        for seconds in (1.0, 1.2)
    )
    assert changes(old, new) == [("95 of 100 calls", CaseChange.SLOWER)]
    assert changes(new, old) == changes(old, replace(new, tried="another matrix")) == []
