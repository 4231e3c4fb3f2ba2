"""Platform B's phone: its facts, and the phones by name."""

import pytest

from workbook.flows.messages import LIMITS
from workbook.simulation.phones import PHONES_B, PhoneB
from workbook.simulation.wallet import Watch


def test_two_phones_share_nothing():
    one, other = PhoneB(watch=Watch()), PhoneB(watch=Watch())
    one.add("PI1", "both")
    one.storage.save("PI1", b"x")
    assert (other.cards, other.watch.cards, other.storage.values(), other.watch_sessions) == (set(), set(), {}, 0)


@pytest.mark.rule("B-DEL-3")
def test_a_named_phone_is_as_its_name_says():
    assert PHONES_B["back end takes 25 s"]("PI1").latencies.post == 25.0 > LIMITS["provision"].seconds
    assert PHONES_B["with a watch"]("PI1").watch is not None
    assert PHONES_B["ready"]("PI1").watch is None
