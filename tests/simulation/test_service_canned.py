"""Answers that are wrong in one way each: all of them make the client raise, and none reaches a network."""

import pytest
from rows import rows

from workbook import ActivationDataClient, RetryPolicy
from workbook.errors import ActivationDataError, ParameterError
from workbook.simulation.service import CANNED, ORIGIN, CannedService
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import SIMULATED_KEY


@pytest.mark.rule("API-9")
@rows("name", CANNED)
def test_no_canned_answer_passes_for_activation_data(name):
    transport = SimulatedTransport(CannedService(name))
    with (
        ActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport, retries=RetryPolicy(attempts=1)) as client,
        pytest.raises(ActivationDataError) as caught,
    ):
        client.get("PI1")
    assert SIMULATED_KEY not in str(caught.value)
    assert "assumed" in transport.basis


def test_a_misspelt_answer_is_explained():
    with pytest.raises(ParameterError, match=r"No answer 'sdkInput mising'. Did you mean 'sdkInput missing'\?"):
        CannedService("sdkInput mising")
