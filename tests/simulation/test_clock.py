"""Virtual time: it passes where it is spent, exactly, and for what goes side by side once."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.clock import VirtualClock


def test_a_virtual_clock_passes_when_it_is_told_to():
    clock = VirtualClock()
    clock.sleep(0.1)
    clock.sleep(0.2)
    asyncio.run(clock.asleep(0.3))
    assert (clock.now(), clock.after(0.1)) == (0.6, 0.7)


@pytest.mark.rule("X-STATUS-3")
@pytest.mark.parametrize("parts", [[0.1] * 10, [0.006, 0.094], [0.006] + [0.047] * 2, [0.3, 0.6, 0.1]])
def test_parts_that_make_up_a_limit_exactly_are_exactly_that_limit(parts):
    clock = VirtualClock()
    for part in parts:
        clock.sleep(part)
    assert clock.now() in {0.1, 1.0}


@given(st.lists(st.lists(st.integers(0, 10**6), max_size=4), max_size=5), st.integers(0, 10**6))
def test_side_by_side_the_slowest_decides_and_one_after_the_other_they_add_up(branches, first):
    clock = VirtualClock()
    clock.sleep(first / 1000)
    with clock.side_by_side() as next_one:
        for branch in branches:
            next_one()
            for part in branch:
                clock.sleep(part / 1000)
    assert clock.now() == pytest.approx((first + max(map(sum, branches), default=0)) / 1000)


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_side_by_side_ends_where_the_slowest_was_also_when_one_raises(raised):
    clock = VirtualClock()

    def two_that_fail():
        with clock.side_by_side() as next_one:
            next_one()
            clock.sleep(2.0)
            next_one()
            clock.sleep(1.0)
            raise raised

    with pytest.raises(raised):
        two_that_fail()
    assert clock.now() == 2.0
