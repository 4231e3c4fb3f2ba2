"""Platform B's messages that hold an sdkInput bare: whatever prints them does not print it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.api.opaque import SdkInput
from workbook.flows import messages as m


@pytest.mark.rule("REL-3")
@given(st.binary(max_size=20).map(lambda data: b"CANARY" + data) | st.text().map(lambda text: f"CANARY{text}"))
def test_no_message_prints_the_sdk_input_that_it_holds(canary):
    for message in (m.ServiceCalled, m.CreateService, m.ReturnSdkInput, m.SdkInputReceived):
        for held in (canary, [canary], {"sdkInput": canary}):
            made = message(held)
            assert repr(made) == f"{made}" == f"{message.__name__}(sdk_input=<{type(held).__name__}>)"
            assert made == message(held)


def test_a_message_prints_an_sdk_input_that_redacts_itself():
    held = SdkInput("Q0FOQVJZ")
    assert repr(m.SdkInputReceived(held)) == f"SdkInputReceived(sdk_input={held!r})"
    assert "Q0FOQVJZ" not in repr(held)
