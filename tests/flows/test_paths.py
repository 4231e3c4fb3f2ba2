"""Every way through each table, and the proof that no row stands idle."""

from collections import Counter
from typing import get_args

import pytest
from rows import rows
from vocabulary import MACHINES, VARIANTS, routes, sample

from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.flows.platform_a import BUSY_A, FINAL_A, State
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED

S = State
LOOPS = {(S.READY, "CanProvisionCalled")} | {(state, "AddTapped") for state in BUSY_A}
"""The only rows that lead back to where the same attempt has been: asking again, and taps without a guard."""


@pytest.mark.parametrize("name", VARIANTS)
def test_every_path_can_be_walked_and_ends_where_an_attempt_is_over(name):
    machine = VARIANTS[name].machine
    paths = list(machine.paths())
    assert paths
    for path in paths:
        state = machine.initial
        for row in path:
            step = machine.step(state, sample(row.event))
            assert step.row == row
            state = step.state
        assert state in machine.final
        assert not any(row.to in machine.final for row in path[:-1])
    assert len({tuple(row.event for row in path) for path in paths}) == len(paths)


@pytest.mark.rule("FLOW-1", "FLOW-2")
@pytest.mark.parametrize(
    ("variant", "ends"),
    [
        (A_BEFORE_0_4_0, {S.UNAVAILABLE: 3, S.IN_WALLET: 1, S.ADDED: 1, S.FAILED: 3}),
        (A_FROM_0_4_0, {S.UNAVAILABLE: 3, S.IN_WALLET: 1, S.ADDED: 4, S.FAILED: 7}),
        (A_NOT_MIGRATED, {S.UNAVAILABLE: 3, S.IN_WALLET: 1, S.ADDED: 4, S.FAILED: 7}),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_paths_of_each_variant_are_counted_by_their_ends(variant, ends):
    failures = {*get_args(m.CanProvisionFailure)} - {*variant.facts.lacks}
    assert Counter(path[-1].to for path in variant.machine.paths()) == ends | {S.NOT_OFFERED: len(failures)}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_row_is_on_some_path_or_leaves_a_final_state_or_is_a_known_loop(name):
    machine = VARIANTS[name].machine
    starts = [machine.initial, *sorted(machine.final)]
    on_a_path = {row for start in starts for path in routes(machine, start) for row in path}
    leaves = {row for row in machine.rows if row.state in FINAL_A}
    drawn = {row for row in machine.rows if not row.of_another_attempt}
    rest = {(row.state, row.event.__name__) for row in drawn - on_a_path - leaves}
    assert rest == {loop for loop in LOOPS if loop in {(row.state, row.event.__name__) for row in machine.rows}}


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("name", [name for name in VARIANTS if "not guarded" not in name])
def test_the_button_is_disabled_from_the_tap_until_the_path_ends(name):
    machine = VARIANTS[name].machine
    tapped = [path for path in machine.paths() if any(row.event is m.AddTapped for row in path)]
    assert tapped
    for path in tapped:
        tap = next(index for index, row in enumerate(path) if row.event is m.AddTapped)
        assert m.DisableButton in path[tap].commands
        assert {row.state for row in path[tap + 1 :]} <= set(BUSY_A)
        assert not any(m.EnableButton in row.commands for row in path[tap:-1])
        assert (m.EnableButton in path[-1].commands) == (path[-1].to is S.FAILED)
    assert not any(row.event is m.AddTapped for row in machine.rows if row.state in BUSY_A)


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("name", [name for name in VARIANTS if "not guarded" not in name])
def test_every_tap_disables_the_button_a_second_attempts_too(name):
    taps = [row for row in VARIANTS[name].machine.rows if row.event is m.AddTapped]
    assert {row.state for row in taps} == {S.READY, S.FAILED, S.STILL_OFFERED}
    assert {row.commands[0] for row in taps} == {m.DisableButton}


@pytest.mark.rule("A-BTN-2")
@pytest.mark.parametrize("name", [name for name in VARIANTS if "not guarded" in name])
def test_without_a_guard_a_tap_comes_through_in_every_busy_state_and_the_button_is_left_alone(name):
    machine = VARIANTS[name].machine
    taps = {row.state: row for row in machine.rows if row.event is m.AddTapped}
    assert set(taps) == {S.READY, S.FAILED, S.STILL_OFFERED} | (set(BUSY_A) & set(machine.states))
    assert {row.to for row in taps.values()} == {S.TAPPED}
    commands = {command for row in machine.rows for command in row.commands}
    assert commands & {m.DisableButton, m.EnableButton} == set()


@pytest.mark.rule("FLOW-4")
@pytest.mark.parametrize("name", VARIANTS)
def test_a_flow_begins_in_the_app_and_ends_there(name):
    machine = VARIANTS[name].machine
    assert machine.allowed(machine.initial) == (m.Opened,)
    assert (m.Opened.sender, m.Opened.receiver) == (m.Actor.CARDHOLDER, m.Actor.APP)
    for path in machine.paths():
        assert path[-1].event.receiver is m.Actor.APP
        assert all(command.sender is m.Actor.APP for command in path[-1].commands)
    ends = {
        (row.event, row.to): row.commands[0]
        for row in machine.rows
        if row.state is S.CONFIRMING and not row.of_another_attempt
    }
    assert ends[m.AlreadyExistsInWallet, S.IN_WALLET] is m.HideButton
    assert ends[m.CanBeProvisioned, S.STILL_OFFERED] is m.ShowButton


@pytest.mark.rule("API-13")
@rows("name", MACHINES)
def test_no_row_has_app_or_extension_speak_to_the_api(name):
    rows = MACHINES[name].rows
    messages = {row.event for row in rows} | {command for row in rows for command in row.commands}
    assert {m.Actor.API} & {end for one in messages for end in (one.sender, one.receiver)} == set()


@rows("name", MACHINES)
def test_every_row_names_its_rules_and_says_whether_it_is_ours(name):
    for row in MACHINES[name].rows:
        assert row.rules
        assert [rule(rule_id).id for rule_id in row.rules] == [*row.rules]
        assert row.source in {"spec", "assumed", "wallet", "inferred", row.event.source}
