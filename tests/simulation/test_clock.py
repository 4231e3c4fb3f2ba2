"""Virtual time: nobody sleeps, and ties are broken by who came first."""

from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.clock import Clock


@given(st.lists(st.floats(0, 1e6), max_size=40))
def test_items_come_in_the_order_of_time_and_then_of_arrival(delays):
    clock = Clock()
    for number, delay in enumerate(delays):
        clock.after(delay, number)
    assert len(clock) == len(delays)
    taken = [(item, clock.now) for item in clock]
    assert len(clock) == 0
    assert taken == sorted(((n, d) for n, d in enumerate(delays)), key=lambda pair: (pair[1], pair[0]))


def test_what_is_put_on_the_clock_meanwhile_comes_too_and_counts_from_the_time_of_the_latest_item():
    clock = Clock()
    clock.after(2.0, "first")
    taken = []
    for item in clock:
        taken.append((item, clock.now))
        if item == "first":
            clock.after(1.0, "third")
            clock.after(0.5, "second")
    assert taken == [("first", 2.0), ("second", 2.5), ("third", 3.0)]


def test_items_are_never_compared():
    clock = Clock()
    clock.after(1.0, object())
    clock.after(1.0, object())
    assert len([*clock]) == 2


def test_nothing_due_moves_nothing():
    clock = Clock()
    assert [*clock] == []
    assert (clock.now, bool(clock)) == (0.0, False)
