"""Every state with every event, and any sequence of events: a row fires, or nothing changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from vocabulary import EVENTS, MACHINES, sample

from workbook.errors import OutOfOrderError

ANY_EVENT = st.sampled_from([sample(event) for event in EVENTS])


@rows("name", MACHINES)
def test_a_row_fires_or_the_event_is_refused_and_nothing_changes(name):
    machine = MACHINES[name]
    before = (machine.rows, machine.states, machine.final, dict(machine._table))
    fired = 0
    for state in machine.states:
        for event in map(sample, EVENTS):
            rows = [r for r in machine.rows if (r.state, r.event) == (state, type(event))]
            if rows:
                step = machine.step(state, event)
                assert (step.row, step.state) == (rows[0], rows[0].to)
                assert [type(command) for command in step.commands] == list(rows[0].commands)
                fired += 1
                continue
            with pytest.raises(OutOfOrderError) as caught:
                machine.step(state, event)
            allowed = ", ".join(r.event.__name__ for r in machine.rows if r.state == state) or "nothing"
            assert str(caught.value) == (
                f"{type(event).__name__} is not allowed in state '{state}' of {machine.name}. Allowed: {allowed}."
            )
    assert fired == len(machine.rows)
    assert before == (machine.rows, machine.states, machine.final, dict(machine._table))


@pytest.mark.parametrize("name", MACHINES)
@given(events=st.lists(ANY_EVENT, max_size=60))
def test_any_sequence_of_events_ends_in_a_state_of_the_table(name, events):
    machine = MACHINES[name]
    state = machine.initial
    for event in events:
        try:
            step = machine.step(state, event)
        except OutOfOrderError:
            assert type(event) not in machine.allowed(state)
            continue
        assert type(event) in machine.allowed(state)
        state = step.state
    assert state in machine.states


@pytest.mark.parametrize("name", MACHINES)
@given(choices=st.lists(st.integers(0, 99), min_size=60, max_size=60))
def test_whoever_does_only_what_is_allowed_is_never_stuck(name, choices):
    machine = MACHINES[name]
    state = machine.initial
    for choice in choices:
        allowed = machine.allowed(state)
        assert allowed
        state = machine.step(state, sample(allowed[choice % len(allowed)])).state


@rows("name", MACHINES)
def test_an_event_does_the_same_each_time(name):
    machine = MACHINES[name]
    for row in machine.rows:
        assert machine.step(row.state, sample(row.event)) == machine.step(row.state, sample(row.event))
