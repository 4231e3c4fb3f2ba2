"""The migration, read off the two tables."""

import pytest

from workbook.flows import messages as m
from workbook.flows import platform_a
from workbook.flows.machine import difference
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0

DIFFERENCE = difference(A_BEFORE_0_4_0.machine, A_FROM_0_4_0.machine)


@pytest.mark.rule("A-MIG-1")
def test_migrating_removes_no_row_deprecates_the_two_calls_and_adds_the_provider():
    assert DIFFERENCE.removed == ()
    assert [row.event for row in DIFFERENCE.deprecated] == [m.CreateSdkOutputCalled, m.ProvisionCalled]
    later = {row for row in A_FROM_0_4_0.rows if row.event in A_BEFORE_0_4_0.facts.lacks}
    assert set(DIFFERENCE.added) == {*platform_a.PROVIDER, *later}


def test_the_way_back_is_the_reverse():
    back = difference(A_FROM_0_4_0.machine, A_BEFORE_0_4_0.machine)
    assert (back.removed, back.added, back.deprecated) == (DIFFERENCE.added, (), ())


def test_nothing_differs_from_itself():
    same = difference(A_FROM_0_4_0.machine, A_FROM_0_4_0.machine)
    assert list(same) == []
    assert str(same) == ""


def test_the_text_has_a_line_for_each_change():
    lines = str(DIFFERENCE).splitlines()
    assert lines[:2] == [
        "deprecated createSdkOutput() in state 'tapped'",
        "deprecated provision(sdkInput, cardDisplayName, cardAddress) in state 'has OPC data'",
    ]
    assert len(lines) == 2 + len(DIFFERENCE.added)
    assert "added      provision(cardDisplayName, cardAddress, opcProvider) in state 'tapped'" in lines
    assert repr(DIFFERENCE) == str(DIFFERENCE)
