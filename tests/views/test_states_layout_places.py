from itertools import pairwise
from types import SimpleNamespace
from typing import get_args

import pytest
from plays import MACHINES
from rows import rows
from states_layout import GRIDS, Column, MoveOrigin, moves, places

from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, B_LATER


def _spine(machine):
    found = [(place.row, state) for state, place in places(machine).items() if place.column is Column.SPINE]
    return [state for _row, state in sorted(found)]


@pytest.mark.rule("FLOW-2")
def test_the_way_that_goes_well_is_the_spine():
    assert _spine(A_FROM_0_4_0.machine) == [
        "idle", "fetching sdkInput", "has sdkInput", "creating", "created", "checking", "button shown", "tapped",
        "SDK orchestrates", "fetching OPC data", "wallet provisions", "added", "asking once more", "in the wallet",
    ]  # fmt: skip


@pytest.mark.rule("FLOW-1")
def test_deprecated_calls_are_a_branch_in_the_later_variant_and_the_spine_in_the_earlier():
    deprecated = ["making sdkOutput", "posting sdkOutput", "has OPC data"]
    assert {places(A_FROM_0_4_0.machine)[state].column for state in deprecated} == {Column.BRANCH}
    assert set(deprecated) < set(_spine(A_BEFORE_0_4_0.machine))


@pytest.mark.rule("X-FLOW-1")
def test_the_extension_goes_down_in_the_document_s_order():
    assert _spine(B_LATER.extension())[:5] == [
        "list closed", "asking for the status", "app listed", "asking for pass entries", "cards offered",
    ]  # fmt: skip
    assert _spine(B_LATER.extension())[-1] == "added"


@rows("machine", MACHINES)
def test_each_state_has_a_place_of_its_own_and_only_one_stands_at_the_top(machine):
    where = places(machine)
    assert len(set(where.values())) == len(where) == len(machine.states)
    assert [state for state, place in where.items() if place.row == 0] == [str(machine.initial)]


@rows("machine", MACHINES)
def test_every_row_holds_a_state(machine):
    rows = {place.row for place in places(machine).values()}
    assert rows == set(range(len(rows)))


@rows("machine", MACHINES)
def test_the_spine_is_a_way_that_the_table_allows_without_deprecated_calls(machine):
    used = {move.name: move.origin for move in moves(machine)}
    steps = [f"{before}>{after}" for before, after in pairwise(_spine(machine))]
    assert len(steps) >= 8
    assert not {MoveOrigin.DEPRECATED} & {used[step] for step in steps}


def test_every_row_of_a_grid_has_three_cells_at_most_and_no_state_is_there_twice():
    for grid in GRIDS:
        cells = [[cell.strip() for cell in line.split("|")] for line in grid.strip().splitlines()]
        assert {len(row) for row in cells} <= {2, 3}
        states = [state for row in cells for state in row if state]
        assert len(states) == len(set(states))


def test_a_machine_with_a_state_in_no_grid_is_refused_by_name():
    machine = SimpleNamespace(name="platform C", states=("idle", "elsewhere"))
    with pytest.raises(LookupError, match="has all states of platform C: elsewhere, idle"):
        places(machine)


def test_a_move_gathers_all_rows_between_two_states():
    found = {move.name: move for move in moves(A_FROM_0_4_0.machine)}
    one = found["checking>not offered"]
    assert one.events == tuple(outcome.says for outcome in get_args(m.CanProvisionFailure))
    assert one.origin is MoveOrigin.OURS
    assert found["asking once more>in the wallet"].origin is MoveOrigin.SPEC
    assert found["tapped>making sdkOutput"].origin is MoveOrigin.DEPRECATED
