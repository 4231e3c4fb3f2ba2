"""How long the wallet waits: each limit has its rule, its source, and what missing it means."""

import pytest

from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS
from workbook.flows.variants import SURFACES, VARIANTS_B

TABLE = {
    "status": (0.1, "X-STATUS-3", "spec"),
    "pass_entries": (20.0, "X-ENTRIES-3", "spec"),
    "remote_pass_entries": (20.0, "X-ENTRIES-3", "spec"),
    "generate_add_payment_pass_request_for_pass_entry_with_identifier": (20.0, "X-GEN-1", "wallet"),
    "provision": (20.0, "B-DEL-3", "wallet"),
}


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3", "B-DEL-3")
def test_the_limits_are_the_document_s_two_and_the_wallet_platform_s():
    assert {name: (one.seconds, one.rules[0], one.source) for name, one in LIMITS.items()} == TABLE


def test_a_limit_says_what_missing_it_means_and_is_told_with_its_unit():
    assert all(one.missed and rule(one.rules[0]) for one in LIMITS.values())
    assert [str(m.StartStatusBudget(seconds=one)) for one in (0.1, 1.0, 12.5)] == ["100 ms", "1 s", "12.5 s"]


def test_every_budget_that_a_table_starts_is_a_limit_and_every_limit_is_started_by_a_table():
    machines = [one.machine for one in VARIANTS_B.values()]
    machines += [one.extension(surface) for one in VARIANTS_B.values() for surface in SURFACES]
    started = {command for machine in machines for row in machine.rows for command in row.commands}
    assert {one for one in started if issubclass(one, m.StartBudget)} == set(m.BUDGETS)
