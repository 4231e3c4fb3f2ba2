"""Migration to 0.4.0: its three steps, seen in the apps, the tables, and the findings."""

import pytest

from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.machine import difference
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.play.platform_a import PROVIDER_CALLS, TWO_STEP_CALLS, PlatformARun


@pytest.mark.rule("A-MIG-1")
def test_the_three_steps_are_what_tells_the_two_apps_apart():
    old, new = set(TWO_STEP_CALLS.values()), set(PROVIDER_CALLS.values())
    assert old - new == {m.CreateSdkOutputCalled, m.ProvisionCalled}  # 1. remove createSdkOutput
    assert new - old == {m.ProvisionWithProviderCalled}  # 3. call the new provision
    added = {row.event for row in difference(A_BEFORE_0_4_0.machine, A_FROM_0_4_0.machine).added}
    assert m.FetchOpcCalled in added  # 2. implement OpcProvider


@pytest.mark.rule("A-MIG-1", "A-OUT-1", "A-PROV-4")
def test_whoever_has_not_migrated_still_adds_the_card_and_is_told_the_three_steps():
    trace = PlatformARun(A_NOT_MIGRATED).walk()
    assert trace.select(m.ProvisionSuccess)
    findings = check(trace)
    assert [finding.rule for finding in findings] == ["A-OUT-1", "A-PROV-4"]
    for finding in findings:
        assert "remove createSdkOutput(), implement OpcProvider, call the new provision" in finding.todo


@pytest.mark.rule("A-MIG-1")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
def test_before_and_after_nothing_is_deprecated(variant):
    assert not any(record.deprecated for record in PlatformARun(variant).walk())
