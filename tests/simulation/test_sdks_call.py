"""A call under way: who listens, and that nothing of it stays behind."""

from workbook.flows import messages as m
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import CURRENT, Call, current, under_way


def test_what_is_seen_is_told_at_the_time_that_was_spent_until_then():
    told = []
    call = Call(PhoneB(), tell=lambda at, event: told.append((at, event)))
    call.seen(m.StorageRead(1))
    call.clock.sleep(0.25)
    call.seen(m.StorageRead(2))
    assert told == [(0.0, m.StorageRead(1)), (0.25, m.StorageRead(2))]


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
