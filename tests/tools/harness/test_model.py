"""The framework alone: a tool whose cases see a number stands on it, with no call, no script and no back end."""

from datetime import date

import pytest

from workbook.base.rules import Owner
from workbook.errors import DefinitionError
from workbook.tools.harness.model import Case, CaseResult, Known, Miss, Verdict, apply_baseline, choose_cases, gravest
from workbook.tools.harness.output import to_html, to_junit, to_markdown
from workbook.tools.harness.report import About, CaseChange, compare_reports, from_json, record, to_json
from workbook.tools.harness.summary import by_group, headline


def case(name, group, least):
    def judge(number):
        if number < least:
            yield Miss(f"{least} or more", str(number), "Take a larger number.")

    return Case(f"number.{group}.{name}", f"The number is {least} or more.", "API-1", group, judge)


NUMBERS = {one.name: one for one in (case("one", "small", 1), case("ten", "large", 10), case("two", "small", 2))}
ABOUT = About("numbers", "nowhere", 7, "2026-01-02T03:04:05Z", 0.0, 0, "numbers 5", versions={"workbook": "0.1.0"})


def judged(number):
    results = []
    for one in NUMBERS.values():
        misses = tuple(one.judge(number))
        results.append(CaseResult(one, gravest(misses, one.rule), misses))
    return results


def test_cases_of_any_kind_are_chosen_judged_reported_and_compared():
    assert [one.name for one in choose_cases(NUMBERS, ["large"])] == ["number.large.ten"]
    before, now = (record(judged(number), ABOUT) for number in (1, 5))
    assert headline(now) == "1 of 3 cases did not hold: 1 fail, 2 pass."
    assert by_group(now) == [("small", [0, 2]), ("large", [1, 0])]  # in the order of the cases
    assert [(one.name, one.change) for one in compare_reports(before, now).changed] == [
        ("number.large.ten", CaseChange.STILL), ("number.small.two", CaseChange.FIXED),
    ]  # fmt: skip
    assert from_json(to_json(now)) == now
    assert all("number.large.ten" in form(now) for form in (to_html, to_junit, to_markdown))


def test_a_known_failure_of_any_kind_of_case_is_marked():
    marked, stale = apply_baseline((Known("large", "later"),), judged(5), NUMBERS, date(2026, 1, 1))
    assert [result.verdict for result in marked] == [Verdict.PASS, Verdict.KNOWN, Verdict.PASS]
    assert stale == ()


def test_each_verdict_has_a_mark_an_owner_and_a_sentence():
    assert [verdict for verdict in Verdict if not (verdict.mark and verdict.owner and verdict.meaning)] == []
    for verdict in Verdict:
        assert verdict.meaning[0].isupper()
        assert verdict.meaning.endswith(".")
    nobody = {Verdict.PASS, Verdict.NOTE, Verdict.NOT_APPLICABLE}
    assert {verdict for verdict in Verdict if verdict.owner is Owner.NOBODY} == nobody
    assert Verdict.HARNESS_ERROR.owner is Owner.WORKBOOK
    assert [owner.in_a_sentence for owner in (Owner.YOU, Owner.WORKBOOK)] == ["you", "the workbook"]


@pytest.mark.parametrize("name", ["one", "number.one", "number.Large.ten", "number.large.ten.more"])
def test_a_name_of_another_form_is_refused(name):
    with pytest.raises(DefinitionError, match="A case is named like"):
        Case(name, "says", "API-1", "large", lambda _number: iter(()))
