"""Platform B's in-app tables: every way through each, and the proof that no row stands idle."""

from collections import Counter

import pytest
from vocabulary import IN_APP_B, routes, sample

from workbook.flows import messages as m
from workbook.flows.platform_b import BUSY_B, FINAL_B, State
from workbook.flows.variants import B_EARLIER, B_LATER

S = State
TELLING = [name for name in IN_APP_B if "not told" not in name]
OFFERED = {S.READY, S.FAILED, S.STILL_OFFERED}
LOOPS = {(S.READY, m.CanAddCardCalled), (S.READY, m.CanAddCardDetailsCalled)}
"""The only rows that lead back to where the same attempt has been: asking again."""


@pytest.fixture(params=IN_APP_B)
def machine(request):
    return IN_APP_B[request.param].machine


@pytest.fixture(params=TELLING)
def telling(request):
    return IN_APP_B[request.param].machine


def events(path):
    return [row.event for row in path]


def test_every_path_can_be_walked_and_ends_where_an_attempt_is_over(machine):
    paths = list(machine.paths())
    assert paths
    for path in paths:
        state = machine.initial
        for row in path:
            step = machine.step(state, sample(row.event))
            assert step.row == row
            state = step.state
        assert state in machine.final == set(FINAL_B)
        assert not any(row.to in machine.final for row in path[:-1])
    assert len({tuple(events(path)) for path in paths}) == len(paths)


@pytest.mark.rule("FLOW-3")
@pytest.mark.parametrize(
    ("variant", "ends"),
    [
        (B_EARLIER, {S.UNAVAILABLE: 2, S.IN_WALLET: 1, S.ADDED: 3, S.FAILED: 11}),
        (B_LATER, {S.UNAVAILABLE: 2, S.IN_WALLET: 2, S.ADDED: 6, S.FAILED: 22}),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_paths_of_each_variant_are_counted_by_their_ends(variant, ends):
    assert Counter(path[-1].to for path in variant.machine.paths()) == ends


def test_every_row_is_on_some_path_or_leaves_a_final_state_or_is_a_named_loop(machine):
    starts = [machine.initial, *sorted(machine.final)]
    on_a_path = {row for start in starts for path in routes(machine, start) for row in path}
    leaves = {row for row in machine.rows if row.state in machine.final}
    rest = {(row.state, row.event) for row in machine.rows if row not in on_a_path | leaves}
    assert rest == {loop for loop in LOOPS if loop in {(row.state, row.event) for row in machine.rows}}


def test_only_what_missing_the_time_leads_to_rests_on_the_wallet_platform(machine):
    rows = {(row.state, row.event) for row in machine.rows if row.event_source == "wallet"}
    assert rows == {(S.POSTING, m.DelegateTimeSpent), (S.TOO_LATE, m.FinishedWithError)}


@pytest.mark.rule("FLOW-4")
def test_a_flow_begins_in_the_app_and_ends_there(machine):
    assert machine.allowed(machine.initial) == (m.Opened,)
    assert (m.Opened.sender, m.Opened.receiver) == (m.Actor.CARDHOLDER, m.Actor.APP)
    for path in machine.paths():
        assert path[-1].event.receiver is m.Actor.APP
        assert all(command.sender is m.Actor.APP for command in path[-1].commands)
    actors = {end for row in machine.rows for one in (row.event, *row.commands) for end in (one.sender, one.receiver)}
    assert m.Actor.EXTENSION not in actors


def test_a_silent_app_is_the_same_but_for_what_the_cardholder_is_told():
    for name in TELLING:
        told, silent = IN_APP_B[name].machine, IN_APP_B[f"{name}, failure not told"].machine
        assert len(told.rows) == len(silent.rows)
        for one, other in zip(told.rows, silent.rows, strict=True):
            assert (one.state, one.event, one.to, one.rules) == (other.state, other.event, other.to, other.rules)
            assert other.commands == tuple(command for command in one.commands if command is not m.TellFailure)


@pytest.mark.rule("B-DEL-3")
def test_the_time_of_the_delegate_begins_with_its_call_and_is_stopped_or_spent_on_each_way_out(machine):
    begins = {row.to for row in machine.rows if m.StartProvisionBudget in row.commands}
    ends = [row for row in machine.rows if row.state is S.POSTING]
    assert begins == {S.POSTING}
    assert {
        row.to for row in machine.rows if row.to is S.POSTING and m.StartProvisionBudget not in row.commands
    } == set()
    assert {row.event: m.StopBudget in row.commands for row in ends} == {
        m.SdkInputReceived: True,
        m.NoSdkInput: True,
        m.DelegateFailed: True,
        m.DelegateTimeSpent: False,
    }
    assert [row for row in machine.rows if m.StopBudget in row.commands and row.state is not S.POSTING] == []


def test_the_button_is_disabled_from_the_tap_until_the_path_ends(telling):
    for row in telling.rows:
        if row.event is m.AddTapped:
            assert row.state in OFFERED
            assert m.DisableButton in row.commands
    assert {row.to for row in telling.rows if row.event is m.AddTapped} == {S.TAPPED}
    for path in telling.paths():
        after = path[events(path).index(m.AddTapped) + 1 :] if m.AddTapped in events(path) else ()
        assert {row.state for row in after} <= set(BUSY_B)
        assert not any(m.EnableButton in row.commands for row in after[:-1])
