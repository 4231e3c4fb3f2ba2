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
    assert set(DIFFERENCE.added) == {*platform_a.PROVIDER, *platform_a.API_ERROR}


def test_the_way_back_is_the_reverse():
    back = difference(A_FROM_0_4_0.machine, A_BEFORE_0_4_0.machine)
    assert (back.removed, back.added, back.deprecated) == (DIFFERENCE.added, (), ())


def test_nothing_differs_from_itself():
    same = difference(A_FROM_0_4_0.machine, A_FROM_0_4_0.machine)
    assert list(same) == []
    assert str(same) == ""


def test_the_text_has_a_line_for_each_change():
    assert str(DIFFERENCE).splitlines() == [
        "deprecated createSdkOutput() in state 'tapped'",
        "deprecated provision(sdkInput, cardDisplayName, cardAddress) in state 'has OPC data'",
        "added      provision(cardDisplayName, cardAddress, opcProvider) in state 'tapped'",
        "added      fetchOpc(paymentInstrumentId, sdkOutput) in state 'SDK orchestrates'",
        "added      ProvisionResult.Failure in state 'SDK orchestrates'",
        "added      sdkInput (OPC data) in state 'fetching OPC data'",
        "added      no OPC data in state 'fetching OPC data'",
        "added      fetchOpc failed in state 'fetching OPC data'",
        "added      CannotBeProvisioned.ApiError in state 'checking'",
        "added      CannotBeProvisioned.ApiError in state 'asking once more'",
    ]
    assert repr(DIFFERENCE) == str(DIFFERENCE)


def test_the_markdown_table_is_well_formed():
    lines = DIFFERENCE._repr_markdown_().splitlines()
    assert {line.count("|") for line in lines} == {7}
    assert lines[2] == (
        "| deprecated | tapped | `createSdkOutput()` (deprecated) | making sdkOutput | make an sdkOutput "
        "| A-PROV-1 A-OUT-1 |"
    )
    assert lines[-1].endswith("| A-CAN-5 assumed |")
