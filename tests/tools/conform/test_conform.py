"""What a lesson shows of a run besides the record: one case with both its sides, the cases, what changed."""

from dataclasses import replace

import pytest
import ran

from workbook.errors import ParameterError
from workbook.simulation.http import JSON_HEADERS, Response
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import Broke
from workbook.tools.conform.notebook import case_table
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import Result, case_view
from workbook.tools.harness.report import compare_reports, record


def recorded(*results):
    return record(list(results), ran.ABOUT)


def of(*both):
    return Result(recorded(ran.result(seen=ran.seen(*both)))).case(ran.NAME)


def test_a_case_says_what_was_expected_and_who_has_to_act():
    told = of().text()
    assert told.startswith(f"✗ fail {ran.NAME}")
    for words in (CASES[ran.NAME].says, ran.MISS.expected, ran.MISS.observed, ran.MISS.todo, "for you"):
        assert " ".join(words.split()[:4]) in told


def test_both_sides_stand_in_the_order_of_time():
    heading, _rule, *rows = of().text().split("Both sides, in the order of time\n")[1].splitlines()
    assert heading.split() == ["from", "to", "what"]
    ends = [line.split("  ")[1].strip() for line in rows if not line.startswith("    ")]
    assert ends == ["phone", "back end", "API", "back end"]


def test_equal_values_have_one_letter_and_no_value_is_shown():
    told = of().text()
    assert told.count("⟨value A: simulated sdkOutput") == 2
    assert told.count("⟨value B: simulated OPC data") == 2
    html = of().html()
    assert not [name for name, secret in ran.SECRETS.items() if secret in told + html]


def test_no_time_and_no_header_comes_into_it():
    told = of(ran.call(began=5.0, ended=9.5), ran.arrived(at=6.0)).text()
    assert "4.5" not in told
    assert "application/json" not in told


def test_what_became_of_an_answer_stands_behind_it():
    cut = Response(200, JSON_HEADERS, ran.told(sdkInput=ran.INPUT), "fault: reset; content: assumed", fault="reset")
    told = of(
        ran.call(status=None, body=b"", value=None, broke=Broke.LATE), replace(ran.arrived(), response=cut)
    ).text()
    assert "(fault: The connection is reset (RST) instead of an answer; content: assumed)" in " ".join(told.split())
    assert f"no answer ({Broke.LATE.value})" in " ".join(told.split())


def test_the_apps_of_two_platforms_have_a_table_each():
    case = recorded(ran.result()).cases[0]
    twice = replace(
        case,
        exchanges=tuple(replace(one, platform=app) for app in ("platform A", "platform B") for one in case.exchanges),
    )
    told = case_view(twice).text()
    assert told.count("Both sides with the app of platform") == 2
    assert told.count("⟨value A: simulated sdkOutput") == 4


def test_a_case_without_a_miss_says_what_its_verdict_means():
    told = Result(recorded(ran.result(verdict=Verdict.PASS))).case(ran.NAME)
    assert "The back end did what the rule asks for." in told.text()
    untested = ran.result(verdict=Verdict.NOT_TESTABLE, misses=(), seen=None, why="no logs")
    nothing = Result(recorded(untested)).case(ran.NAME)
    assert "no logs" in nothing.text()
    assert "Both sides" not in nothing.text()


def test_a_case_that_was_not_run_is_refused_with_one_that_was():
    with pytest.raises(ParameterError, match=f"Did you mean '{ran.NAME}'"):
        Result(recorded(ran.result())).case(f"{ran.NAME}t")


def test_the_cases_are_a_table():
    told = case_table("isolation").rows
    assert [row[0] for row in told] == [name for name, case in CASES.items() if case.group == "isolation"]
    assert len(case_table().rows) == len(CASES)
    with pytest.raises(ParameterError, match="No case"):
        case_table("isolated")


def test_what_changed_is_what_compare_says_without_what_was_left_out():
    old = recorded(*(ran.result(name) for name in ran.NAMES[:3]))
    new = recorded(ran.result(ran.NAMES[0], Verdict.PASS), ran.result(ran.NAMES[1]))
    new = replace(new, about=replace(new.about, only=("some",)))
    shown = Result(old).changes(Result(new))
    assert shown.title == compare_reports(replace(old, cases=old.cases[:2]), new).headline
    assert [row[:2] for row in shown.rows] == [("still failing", ran.NAMES[1]), ("fixed", ran.NAMES[0])]


def test_what_is_shown_first_has_a_heading_for_each_column():
    told = Result(recorded(ran.result(seen=ran.seen()))).shown().text()
    heads = [line.split() for line in told.splitlines() if line.startswith(("  group ", "  case "))]
    assert [head[0] for head in heads] == ["group", "case"]
    assert heads[0][1:] == ["✗", "fail"]
    assert heads[1] == ["case", "verdict", "rule", "expected;", "observed"]
