from itertools import pairwise

import pytest
from plays import MACHINES

from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.flows.variants_b import B_LATER
from workbook.views.states_places import Column, Origin, moves, places, spine


def _where(machine):
    return places(machine, moves(machine))


def _spine(machine):
    found = [(place.row, state) for state, place in _where(machine).items() if place.column is Column.SPINE]
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
    assert {_where(A_FROM_0_4_0.machine)[state].column for state in deprecated} == {Column.BRANCH}
    assert set(deprecated) < set(_spine(A_BEFORE_0_4_0.machine))


@pytest.mark.rule("X-FLOW-1")
def test_the_extension_goes_down_in_the_document_s_order():
    assert _spine(B_LATER.extension())[:5] == [
        "list closed", "asking for the status", "app listed", "asking for pass entries", "cards offered",
    ]  # fmt: skip
    assert _spine(B_LATER.extension())[-1] == "added"


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_each_state_has_a_place_of_its_own_and_only_one_stands_at_the_top(machine):
    where = _where(machine)
    assert len(set(where.values())) == len(where) == len(machine.states)
    assert [state for state, place in where.items() if place.row == 0] == [str(machine.initial)]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_every_row_holds_a_state(machine):
    rows = {place.row for place in _where(machine).values()}
    assert rows == set(range(len(rows)))


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_the_spine_is_a_way_that_the_table_allows(machine):
    each = moves(machine)
    ways = {str(state): tuple(move for move in each if move.source == state) for state in machine.states}
    walked = spine(str(machine.initial), ways)
    used = [next(move for move in ways[one] if move.target == other) for one, other in pairwise(walked)]
    assert len(walked) == len(set(walked)) >= 9
    assert Origin.DEPRECATED not in {move.origin for move in used}


def test_a_move_gathers_all_rows_between_two_states():
    found = {move.name: move for move in moves(A_FROM_0_4_0.machine)}
    one = found["checking>not offered"]
    assert one.events == tuple(f"CannotBeProvisioned.{name}" for name in ("Error", "UnknownFailure", "ApiError"))
    assert one.origin is Origin.OURS
    assert found["asking once more>in the wallet"].origin is Origin.SPEC
    assert found["tapped>making sdkOutput"].origin is Origin.DEPRECATED
