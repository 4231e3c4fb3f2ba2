"""A call under way: its time, who listens, several things at once, and that nothing of it stays behind."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.flows import messages as m
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import CURRENT, Call, current, under_way


def test_what_is_seen_is_told_at_the_time_that_was_spent_until_then():
    told = []
    call = Call(PhoneB(), tell=lambda at, event: told.append((at, event)))
    call.seen(m.StorageRead(1))
    call.spend(0.25)
    call.seen(m.StorageRead(2))
    assert told == [(0.0, m.StorageRead(1)), (0.25, m.StorageRead(2))]


@pytest.mark.rule("X-STATUS-3")
@pytest.mark.parametrize("parts", [[0.1] * 10, [0.006, 0.094], [0.006] + [0.047] * 2, [0.3, 0.6, 0.1]])
def test_parts_that_make_up_a_limit_exactly_are_exactly_that_limit(parts):
    call = Call(PhoneB())
    for part in parts:
        call.spend(part)
    assert call.spent in {0.1, 1.0}


@given(st.lists(st.integers(0, 10**10), max_size=20))
def test_nanoseconds_add_up(nanoseconds):
    call = Call(PhoneB())
    for each in nanoseconds:
        call.spend(each / 10**9)
    assert call.spent == sum(nanoseconds) / 10**9


@given(st.lists(st.lists(st.integers(0, 10**6), max_size=4), max_size=5), st.integers(0, 10**6))
def test_side_by_side_the_slowest_decides_and_one_after_the_other_they_add_up(branches, first):
    call = Call(PhoneB())
    call.spend(first / 1000)
    with call.side_by_side() as next_one:
        for branch in branches:
            next_one()
            for part in branch:
                call.spend(part / 1000)
    assert call.spent == pytest.approx((first + max(map(sum, branches), default=0)) / 1000)


def test_what_happens_side_by_side_is_told_at_its_own_time():
    told = []
    call = Call(PhoneB(), tell=lambda at, event: told.append((at, event.found)))
    call.spend(1.0)
    with call.side_by_side() as next_one:
        for takes in (3, 1, 2):
            next_one()
            call.spend(takes)
            call.seen(m.StorageRead(takes))
    assert told == [(4.0, 3), (2.0, 1), (3.0, 2)]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_side_by_side_ends_where_the_slowest_was_also_when_one_raises(raised):
    paces = []
    call = Call(PhoneB(), pace=paces.append)

    def two_that_fail():
        with call.side_by_side() as next_one:
            next_one()
            call.spend(2.0)
            next_one()
            call.spend(1.0)
            raise raised

    with pytest.raises(raised):
        two_that_fail()
    assert call.spent == 2.0
    call.spend(0.5)
    assert paces == [2.0, 0.5]


def test_in_real_time_what_goes_side_by_side_is_waited_for_once():
    paces = []
    call = Call(PhoneB(), pace=paces.append)
    call.spend(1.0)
    with call.side_by_side() as next_one:
        for takes in (0.2, 0.7, 0.3):
            next_one()
            call.spend(takes)
            with call.side_by_side() as inner:
                inner()
                call.spend(0.1)
    assert paces == [1.0, pytest.approx(0.8)]
    assert call.spent == pytest.approx(1.8)


def test_without_a_call_under_way_each_stands_alone_on_a_new_phone():
    assert CURRENT.get() is None
    assert current() is not current()
    assert current().phone is not current().phone


def test_a_call_is_current_while_it_is_under_way_and_an_inner_one_instead_of_it():
    outer, inner = Call(PhoneB()), Call(PhoneB())
    with under_way(outer) as given_back:
        assert given_back is outer is current()
        with under_way(inner):
            assert current() is inner
        assert current() is outer
    assert CURRENT.get() is None


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_it_is_reset_whatever_is_raised(raised):
    with pytest.raises(raised), under_way(Call(PhoneB())):
        raise raised
    assert CURRENT.get() is None


def test_another_thread_sees_the_call_only_in_a_copy_of_the_context():
    call = Call(PhoneB())
    with under_way(call), ThreadPoolExecutor(1) as pool:
        assert pool.submit(CURRENT.get).result() is None
        assert pool.submit(copy_context().run, current).result() is call
