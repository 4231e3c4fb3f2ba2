"""Virtual time: nobody sleeps, and ties are broken by who came first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.play.loop import EventClock


@given(st.lists(st.floats(0, 1e6), max_size=40))
def test_items_come_in_the_order_of_time_and_then_of_arrival(delays):
    clock = EventClock()
    for number, delay in enumerate(delays):
        clock.after(delay, number)
    assert len(clock) == len(delays)
    taken = [(item, clock.now) for item in clock]
    assert len(clock) == 0
    assert taken == sorted(((n, d) for n, d in enumerate(delays)), key=lambda pair: (pair[1], pair[0]))


def test_what_is_put_on_the_clock_meanwhile_comes_too_and_counts_from_the_time_of_the_latest_item():
    clock = EventClock()
    clock.after(2.0, "first")
    taken = []
    for item in clock:
        taken.append((item, clock.now))
        if item == "first":
            clock.after(1.0, "third")
            clock.after(0.5, "second")
    assert taken == [("first", 2.0), ("second", 2.5), ("third", 3.0)]


def test_items_are_never_compared():
    clock = EventClock()
    clock.after(1.0, object())
    clock.after(1.0, object())
    assert len([*clock]) == 2


def test_nothing_due_moves_nothing():
    clock = EventClock()
    assert [*clock] == []
    assert (clock.now, bool(clock)) == (0.0, False)


def test_due_is_the_time_of_the_next_item():
    clock = EventClock()
    assert clock.due is None
    clock.after(2.0, "second")
    clock.after(1.0, "first")
    assert clock.due == 1.0
    next(iter(clock))
    assert (clock.now, clock.due) == (1.0, 2.0)


@given(st.lists(st.floats(0, 1e6), max_size=20), st.sets(st.integers(0, 25)))
def test_what_is_cancelled_never_comes_and_all_else_comes_in_its_order(delays, cancelled):
    clock = EventClock()
    tickets = {clock.after(delay, number): number for number, delay in enumerate(delays)}
    for ticket in cancelled:
        clock.cancel(ticket)
    kept = [(tickets[ticket], delays[tickets[ticket]]) for ticket in tickets if ticket not in cancelled]
    assert [(item, clock.now) for item in clock] == sorted(kept, key=lambda pair: (pair[1], pair[0]))


@pytest.mark.parametrize("ticket", [None, 0, 1, 99])
def test_cancelling_what_was_due_already_or_never_was_there_does_nothing(ticket):
    clock = EventClock()
    clock.after(0.0, "done")
    next(iter(clock))
    clock.after(1.0, "left")
    clock.cancel(ticket)
    clock.replace(ticket, "another")
    assert [*clock] == ["left"]


def test_an_item_can_be_cancelled_or_replaced_while_the_clock_runs():
    clock = EventClock()
    clock.after(0.0, "first")
    gone, changed = clock.after(1.0, "gone"), clock.after(2.0, "changed")
    clock.after(2.0, "last")
    taken = []
    for item in clock:
        taken.append((item, clock.now))
        clock.cancel(gone)
        clock.replace(changed, "in its stead")
    assert taken == [("first", 0.0), ("in its stead", 2.0), ("last", 2.0)]


def test_items_are_never_compared_when_one_is_cancelled():
    clock = EventClock()
    tickets = [clock.after(1.0, object()) for _ in range(3)]
    clock.cancel(tickets[1])
    assert len([*clock]) == 2
