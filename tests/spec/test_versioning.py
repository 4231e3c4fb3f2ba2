"""Versioning: the path's segment, the library's versions, and what 0.4.0 changes."""

import pytest

from workbook.api.protocol import API_PATH
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.simulation.http import BEFORE_ID


@pytest.mark.rule("API-14")
def test_the_path_carries_v2():
    assert API_PATH.split("/")[1:3] == BEFORE_ID.split("/")[1:3] == ["bcl", "v2"]


@pytest.mark.rule("A-DEP-1")
def test_the_wallet_providers_library_in_each_variant():
    assert {facts.name: facts.push_provisioning_library for facts in (A_BEFORE_0_4_0.facts, A_FROM_0_4_0.facts)} == {
        "earlier": "18.3.3",
        "later": "18.8.0",
    }


@pytest.mark.rule("A-CAN-5")
def test_api_error_is_a_fact_of_the_later_variant_only():
    assert m.ApiError in A_BEFORE_0_4_0.facts.lacks
    assert A_FROM_0_4_0.facts.lacks == ()


@pytest.mark.rule("A-DEP-1", "A-PROV-1", "A-PROV-2")
def test_the_presets_pair_each_flow_with_its_facts():
    pairs = [(one.name, one.facts, one.two_step, one.guarded) for one in (A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED)]
    assert pairs == [
        ("before-0.4.0", A_BEFORE_0_4_0.facts, True, True),
        ("from-0.4.0", A_FROM_0_4_0.facts, False, True),
        ("from-0.4.0, app not migrated", A_FROM_0_4_0.facts, True, True),
    ]


@pytest.mark.rule("A-OUT-1", "A-PROV-4", "A-PROV-2")
def test_0_4_0_introduces_one_call_and_deprecates_two():
    before, after = A_BEFORE_0_4_0.machine, A_FROM_0_4_0.machine
    assert m.ProvisionWithProviderCalled not in before.events
    assert m.ProvisionWithProviderCalled in after.events
    assert {row.event.says for row in after.rows if row.deprecated} == {
        "createSdkOutput()",
        "provision(sdkInput, cardDisplayName, cardAddress)",
    }
