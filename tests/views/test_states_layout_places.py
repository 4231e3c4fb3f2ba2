from types import SimpleNamespace
from typing import get_args

import pytest
from plays import MACHINES
from rows import rows
from states_layout import MoveOrigin, moves, places

from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0


@rows("machine", MACHINES)
def test_each_state_has_a_place_of_its_own_and_only_one_stands_at_the_top(machine):
    where = places(machine)
    assert len(set(where.values())) == len(where) == len(machine.states)
    assert [state for state, place in where.items() if place.row == 0] == [str(machine.initial)]


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
