"""The row engine: what a step is, what a refusal says, and every contradiction that a table can hold."""

from enum import StrEnum

import pytest

from workbook.errors import DefinitionError, OutOfOrderError
from workbook.flows import messages as m
from workbook.flows.machine import Machine, Row, assumed, row, wallet


class Door(StrEnum):
    SHUT = "shut"
    OPEN = "open"
    GONE = "gone"
    ATTIC = "the attic"


GOOD = (
    *row(Door.SHUT, m.Opened, Door.OPEN, m.GetActivationData, rules="API-1 API-10"),
    *row(Door.OPEN, m.AddTapped, Door.GONE, m.ShowButton, m.HideButton, source="assumed"),
    *row((Door.SHUT, Door.OPEN), m.UnknownFailure, Door.GONE),
)


def door(*more, final=(Door.GONE,), rows=GOOD):
    return Machine("a door", (*rows, *more), initial=Door.SHUT, final=final)


def test_a_good_table_is_taken():
    machine = door()
    assert machine.states == (Door.SHUT, Door.OPEN, Door.GONE)
    assert machine.events == (m.Opened, m.AddTapped, m.UnknownFailure)
    assert machine.final == {Door.GONE}
    assert repr(machine) == "Machine('a door', 3 states, 4 rows)"


BROKEN = {
    "two rows for one event": ((row(Door.SHUT, m.Opened, Door.GONE), {}), "2 rows for Opened in state 'shut'"),
    "a state that is never reached": ((row(Door.ATTIC, m.Opened, Door.GONE), {}), "state 'the attic' is never reached"),
    "a state that leads nowhere": (
        (row(Door.OPEN, m.CanBeProvisioned, Door.ATTIC), {}),
        "state 'the attic' leads to no final state",
    ),
    "two states that lead to each other only": (
        (row(Door.OPEN, m.CanBeProvisioned, Door.ATTIC) + row(Door.ATTIC, m.Opened, Door.ATTIC), {}),
        "state 'the attic' leads to no final state",
    ),
    "a final state that is never reached": (
        ((), {"final": (Door.GONE, Door.ATTIC)}),
        "state 'the attic' is never reached",
    ),
    "two rows too many": (
        (row(Door.SHUT, m.Opened, Door.GONE) + row(Door.SHUT, m.Opened, Door.SHUT), {}),
        "3 rows for Opened in state 'shut'",
    ),
    "a command whose field the event lacks": (
        (row(Door.OPEN, m.CanBeProvisioned, Door.GONE, m.PostSdkOutput), {}),
        "CanBeProvisioned has no payment_instrument_id, sdk_output for PostSdkOutput",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_refused_when_it_is_defined(name):
    (rows, settings), problem = BROKEN[name]
    with pytest.raises(DefinitionError) as caught:
        door(*rows, **settings)
    assert str(caught.value) == f"The table 'a door' cannot be used: {problem}"


def test_every_problem_is_listed_at_once():
    both = row(Door.SHUT, m.Opened, Door.GONE) + row(Door.OPEN, m.CanBeProvisioned, Door.GONE, m.ReturnOpc)
    with pytest.raises(DefinitionError, match=r"2 rows for Opened .*; CanBeProvisioned has no sdk_input for ReturnOpc"):
        door(*both)


def test_a_step_says_where_to_and_hands_out_commands_with_the_events_values():
    step = door().step(Door.SHUT, m.Opened("PI1"))
    assert step.state is Door.OPEN
    assert step.commands == (m.GetActivationData("PI1"),)
    assert step.row == Row(
        Door.SHUT, m.Opened, Door.OPEN, (m.GetActivationData,), ("API-1", "API-10"), "spec", ("spec",)
    )


def test_commands_come_in_the_rows_order():
    step = door().step(Door.OPEN, m.AddTapped())
    assert step.commands == (m.ShowButton(), m.HideButton())
    assert step.row.source == "assumed"


@pytest.mark.parametrize(
    ("state", "event", "said"),
    [
        (Door.OPEN, m.Opened("PI1"), "Opened is not allowed in state 'open' of a door. Allowed: AddTapped, Unknown"),
        (Door.GONE, m.AddTapped(), "AddTapped is not allowed in state 'gone' of a door. Allowed: nothing."),
    ],
)
def test_a_refusal_names_the_state_the_event_and_what_is_allowed(state, event, said):
    with pytest.raises(OutOfOrderError) as caught:
        door().step(state, event)
    assert str(caught.value).startswith(said)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_subclass_of_an_event_is_another_event():
    class Knocked(m.AddTapped):
        pass

    with pytest.raises(OutOfOrderError, match="Knocked is not allowed"):
        door().step(Door.OPEN, Knocked())


def test_a_row_without_a_command_lacks_the_source_of_that_command_too():
    (mixed,) = row(Door.SHUT, m.Opened, Door.OPEN, assumed(m.HideButton), m.ShowButton, wallet(m.EnableButton))
    assert (mixed.command_sources, mixed.source) == (("assumed", "spec", "wallet"), "assumed")
    less = mixed.without(m.HideButton)
    assert (less.commands, less.command_sources, less.source) == (
        (m.ShowButton, m.EnableButton), ("spec", "wallet"), "wallet"
    )  # fmt: skip
    assert mixed.without(m.HideButton, m.EnableButton).source == "spec"
    assert mixed.without() == mixed


def test_rules_are_given_as_a_text_or_as_ids():
    assert row(Door.SHUT, m.Opened, Door.OPEN, rules=("API-1", "API-2")) == row(
        [Door.SHUT], m.Opened, Door.OPEN, rules="API-1 API-2"
    )
    assert row(Door.SHUT, m.Opened, Door.OPEN)[0].rules == ()
