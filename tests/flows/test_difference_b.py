"""From the earlier variant to the later one, read off the two tables: what the document lists and nothing else."""

import pytest

from workbook.flows import messages as m
from workbook.flows import platform_b
from workbook.flows.machine import difference
from workbook.flows.variants import B_EARLIER, B_LATER

DIFFERENCE = difference(B_EARLIER.machine, B_LATER.machine)
ASKING = {m.CanAddCardCalled, m.WatchActivateCalled, m.WatchActivated, m.CanAddCardDetailsCalled}
DELEGATE = {m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled}


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-WATCH-1", "B-DEL-1", "B-DEL-2")
def test_the_two_differ_in_how_they_ask_and_in_what_the_delegate_is_given_and_in_nothing_else():
    assert DIFFERENCE.removed == tuple(row for row in platform_b.ROWS_B if row.event in B_LATER.facts.lacks)
    assert DIFFERENCE.added == tuple(row for row in platform_b.ROWS_B if row.event in B_EARLIER.facts.lacks)
    assert DIFFERENCE.deprecated == ()
    assert {row.event for row in (*DIFFERENCE.removed, *DIFFERENCE.added)} == ASKING | DELEGATE


def test_the_way_back_is_the_reverse():
    back = difference(B_LATER.machine, B_EARLIER.machine)
    assert (back.removed, back.added) == (DIFFERENCE.added, DIFFERENCE.removed)


def test_the_earlier_variant_knows_no_watch_at_all():
    commands = {command for row in B_EARLIER.machine.rows for command in row.commands}
    assert m.ActivateWatch not in commands
    assert {m.WatchActivateCalled, m.WatchActivated} & set(B_EARLIER.machine.events) == set()


@pytest.mark.rule("X-ART-1", "X-PLIST-2")
def test_the_facts_differ_in_the_four_ways_that_the_document_lists_and_in_the_version():
    earlier, later = B_EARLIER.facts.shown("field"), B_LATER.facts.shown("field")
    assert {name for name in earlier if earlier[name] != later[name]} == {
        "availability", "watch availability", "delegate", "card art", "extension point key", "version",
    }  # fmt: skip
    assert B_EARLIER.facts.shown()["version"] == B_LATER.facts.shown()["version"]
