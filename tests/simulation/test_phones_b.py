"""Platform B's phone: its facts, and the phones by name."""

import pytest

from workbook.flows.messages import LIMITS
from workbook.simulation.phones import PHONES_B


@pytest.mark.rule("B-DEL-3")
def test_a_named_phone_is_as_its_name_says():
    assert PHONES_B["back end takes 25 s"]("PI1").latencies.post == 25.0 > LIMITS["provision"].seconds
    assert PHONES_B["with a watch"]("PI1").watch is not None
    assert PHONES_B["ready"]("PI1").watch is None
