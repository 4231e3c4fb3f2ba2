"""What is due when: nobody sleeps, and ties are broken by who came first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.play.loop import Agenda
from workbook.simulation.clock import VirtualClock

SECONDS = st.integers(0, 10**9).map(lambda milliseconds: milliseconds / 1000)


@given(st.lists(SECONDS, max_size=40))
def test_items_come_in_the_order_of_time_and_then_of_arrival(delays):
    agenda = Agenda(VirtualClock())
    for number, delay in enumerate(delays):
        agenda.after(delay, number)
    taken = [(item, agenda.now) for item in agenda]
    assert agenda.due is None
    assert taken == sorted(((n, d) for n, d in enumerate(delays)), key=lambda pair: (pair[1], pair[0]))


def test_what_is_put_on_the_agenda_meanwhile_comes_too_and_counts_from_the_time_of_the_latest_item():
    agenda = Agenda(VirtualClock())
    agenda.after(2.0, "first")
    taken = []
    for item in agenda:
        taken.append((item, agenda.now))
        if item == "first":
            agenda.after(1.0, "third")
            agenda.after(0.5, "second")
    assert taken == [("first", 2.0), ("second", 2.5), ("third", 3.0)]


def test_items_are_never_compared():
    agenda = Agenda(VirtualClock())
    agenda.after(1.0, object())
    agenda.after(1.0, object())
    assert len([*agenda]) == 2


def test_due_is_the_time_of_the_next_item():
    agenda = Agenda(VirtualClock())
    assert agenda.due is None
    agenda.after(2.0, "second")
    agenda.after(1.0, "first")
    assert agenda.due == 1.0
    next(iter(agenda))
    assert (agenda.now, agenda.due) == (1.0, 2.0)


@given(st.lists(SECONDS, max_size=20), st.sets(st.integers(0, 25)))
def test_what_is_cancelled_never_comes_and_all_else_comes_in_its_order(delays, cancelled):
    agenda = Agenda(VirtualClock())
    tickets = {agenda.after(delay, number): number for number, delay in enumerate(delays)}
    for ticket in cancelled:
        agenda.cancel(ticket)
    kept = [(tickets[ticket], delays[tickets[ticket]]) for ticket in tickets if ticket not in cancelled]
    assert [(item, agenda.now) for item in agenda] == sorted(kept, key=lambda pair: (pair[1], pair[0]))


@pytest.mark.parametrize("ticket", [None, 0, 1, 99])
def test_cancelling_what_was_due_already_or_never_was_there_does_nothing(ticket):
    agenda = Agenda(VirtualClock())
    agenda.after(0.0, "done")
    next(iter(agenda))
    agenda.after(1.0, "left")
    agenda.cancel(ticket)
    agenda.replace(ticket, "another")
    assert [*agenda] == ["left"]


def test_an_item_can_be_cancelled_or_replaced_while_the_agenda_runs():
    agenda = Agenda(VirtualClock())
    agenda.after(0.0, "first")
    gone, changed = agenda.after(1.0, "gone"), agenda.after(2.0, "changed")
    agenda.after(2.0, "last")
    taken = []
    for item in agenda:
        taken.append((item, agenda.now))
        agenda.cancel(gone)
        agenda.replace(changed, "in its stead")
    assert taken == [("first", 0.0), ("in its stead", 2.0), ("last", 2.0)]
