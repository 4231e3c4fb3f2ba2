"""Variants are data: flow and facts apart, and a name that is nearly right is explained."""

from dataclasses import replace

import pytest
from vocabulary import VARIANTS as ALL

from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED


@pytest.mark.rule("A-CAN-5")
@pytest.mark.parametrize("rows", [A_BEFORE_0_4_0.rows, A_FROM_0_4_0.rows], ids=["before", "from"])
@pytest.mark.parametrize("facts", [A_BEFORE_0_4_0.facts, A_FROM_0_4_0.facts], ids=["earlier", "later"])
def test_flow_and_facts_make_any_pair(rows, facts):
    machine = replace(A_FROM_0_4_0, rows=rows, facts=facts).machine
    assert (m.ApiError in machine.events) == (facts is A_FROM_0_4_0.facts)


@pytest.mark.rule("A-OUT-1", "A-PROV-4")
def test_only_the_two_calls_are_deprecated_and_only_from_0_4_0():
    def marked(one):
        return {row.event for row in one.machine.rows if row.deprecated}

    assert marked(A_BEFORE_0_4_0) == set()
    assert marked(A_FROM_0_4_0) == marked(A_NOT_MIGRATED) == {m.CreateSdkOutputCalled, m.ProvisionCalled}


@pytest.mark.parametrize("name", ALL)
def test_a_variant_is_printed_and_titled_with_what_sets_it_apart(name):
    one = ALL[name]
    assert one.name in repr(one)
    assert one.name.replace("-", " ") in one.title
    assert ("not guarded" in repr(one)) == ("not guarded" in one.title) == (not one.guarded)
