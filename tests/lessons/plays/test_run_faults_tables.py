"""The tables of faults: complete, and what they say of a back end was found by running it."""

import pytest

from workbook.base.rules import rule
from workbook.errors import ParameterError
from workbook.lessons.plays.faults import WAYS_TO_ADD, back_end_table, fault_table
from workbook.lessons.session import outcomes, session
from workbook.play.back_end import BACK_ENDS
from workbook.simulation.faults import FAULTS


def test_every_fault_is_in_one_group_with_its_sentence_and_source():
    rows = [row for view in fault_table().views for row in view.rows]
    assert [row[0] for row in rows] == [*FAULTS]
    assert [(row[2], row[3]) for row in rows] == [(one.source, one.sentence) for one in FAULTS.values()]


def test_what_can_be_set_is_named_with_the_number_it_has_otherwise():
    rows = {row[0]: row[1] for view in fault_table().views for row in view.rows}
    assert rows["reset"] == "-"
    assert rows["uniform latency"] == "least = 0.1, most = 0.9"
    assert rows["gzip bomb"] == "bytes = 20,000,000"
    assert rows["redirect"] == "status = 302, location"


def test_every_fault_has_its_outcome_for_both_operations():
    table = outcomes()
    assert table.head == ("fault", "GET", "POST", "source of the fault")
    assert [(row[0], row[3]) for row in table.rows] == [(name, fault.source) for name, fault in FAULTS.items()]


OUTCOMES = {
    "200": ("sdkInput; added", "sdkInput; added"),
    "503 that says 500": ("sdkInput, asked twice; added", "ApiStatusError; not added"),
    "reset": ("sdkInput, asked twice; added", "MaybeSentError; not added"),
    "dribble": ("sdkInput, asked twice; added", "DeadlineError; not added"),
    "sdkInput missing": ("SdkInputError; not added", "SdkInputError; not added"),
    "sdkInput foreign": ("sdkInput; another card added", "sdkInput; not added"),
}


@pytest.mark.rule("REL-1", "REL-6")
@pytest.mark.parametrize("fault", OUTCOMES)
def test_an_outcome_is_what_a_run_came_to(fault):
    (row,) = [row[1:3] for row in outcomes().rows if row[0] == fault]
    assert row == OUTCOMES[fault]
    assert ("; added" in row[1]) == session().break_it(fault, "POST").added


def test_a_post_is_never_asked_again_by_the_good_back_end():
    assert not [row for row in outcomes("before").rows if "asked" in row[2]]


def test_the_platforms_stand_side_by_side():
    table = session().on_each_platform("reset")
    assert [row[0] for row in table.rows] == [*WAYS_TO_ADD]
    assert [row[3].partition(":")[0] for row in table.rows] == ["no sdkInput", "nil", "nil"]
    assert session().on_each_platform("latency", "GET", seconds=1.0).rows[0][1] == "4.39 s"


def test_every_back_end_names_a_rule_that_exists_or_none():
    rows = back_end_table().rows
    assert [row[0] for row in rows] == [*BACK_ENDS]
    assert [rule(row[1]).id for row in rows if row[1] != "none"] == [row[1] for row in rows if row[1] != "none"]


def test_a_wrong_moment_is_explained():
    with pytest.raises(ParameterError, match="moment"):
        outcomes("later")
