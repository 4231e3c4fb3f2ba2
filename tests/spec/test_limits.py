"""Limits, as far as platform A has any: one provisioning attempt at a time."""

from dataclasses import replace

import pytest

from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.platform_a import PlatformARun
from workbook.simulation.phones import PhoneA

BOTH = pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)


@pytest.mark.rule("A-BTN-1")
@BOTH
@pytest.mark.parametrize("failure", [None, "Canceled"], ids=["completes", "is terminated"])
def test_the_button_is_disabled_from_the_tap_until_the_flow_completes_or_is_terminated(variant, failure):
    bench = PlatformARun(variant, phone=PhoneA(provision_failure=failure))
    bench.open()
    bench.tap(10, every=0.2)
    ends = (m.ProvisionSuccess, m.ProvisionFailure)
    (disabled,) = [record.at for record in bench.trace.select(m.DisableButton)]
    (ended,) = [record.at for record in bench.trace.select(*ends)]
    refused = [record.at for record in bench.trace.select(m.AddTapped)][1:]
    assert disabled == bench.trace.select(m.AddTapped)[0].at
    assert all(disabled < at < ended for at in refused)
    assert len(bench.trace.select(m.ApiRequested)) == 2
    assert bench.button == ("shown" if failure else "hidden")


@pytest.mark.rule("A-BTN-2")
@BOTH
def test_rapid_taps_without_the_limit_end_in_invalid_sdk_input(variant):
    bench = PlatformARun(replace(variant, guarded=False))
    bench.open()
    bench.tap(3)
    assert [record.message.reason for record in bench.trace.select(m.ProvisionFailure)] == ["InvalidSdkInput"] * 3
    assert {"A-BTN-1", "A-BTN-2"} <= {finding.rule for finding in check(bench.trace)}
