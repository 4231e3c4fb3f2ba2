"""What is real with each source, what is not, and where the real world ends."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from workbook.benches.back_end import BackEnd
from workbook.flows import messages as m
from workbook.parameters import Parameters, Source

if TYPE_CHECKING:
    from workbook.api import ActivationDataClient
    from workbook.api.opaque import SdkInput, SdkOutput
    from workbook.simulation.direct import DirectApi
    from workbook.views.facts import Facts

SIMULATED_LIMITS = {
    "GET": "simulated: marked data, bound to the instrument",
    "POST": "simulated: takes an sdkOutput that the SDK stand-in made",
    "SDK, wallet": "simulated",
}
API_LIMITS = {
    "GET": "real: sent to the API with your key",
    "POST": "real only with sdk_output_file: an sdkOutput is made by the SDK on a device, and by nothing else",
    "SDK, wallet": "simulated: they need a store build, a live card and a phone",
    "after the GET": "a walk goes on with the simulator's own data; the real sdkInput is looked at and not used",
}
LIMITS = {Source.SIMULATED: SIMULATED_LIMITS, Source.API: API_LIMITS}
HANDED_OVER = "The GET was real. From here on all is simulated: only the SDK on a device can open a real sdkInput."
NOT_SENT = "Not sent to the API: this sdkOutput is simulated. The simulated service answers instead."


@dataclass(frozen=True, slots=True)
class NotPossible:
    """What cannot be done here, why, and what would make it possible."""

    why: str

    def __repr__(self) -> str:
        return f"Not possible here: {self.why}"


class RealBackEnd(BackEnd):
    """Makes the real GET, shows its answer, and then hands over to the simulation."""

    def __init__(self, client: ActivationDataClient, simulated: DirectApi) -> None:
        super().__init__(client, stopwatch=monotonic)
        self._simulated = simulated

    def get(self, payment_instrument_id: str) -> SdkInput:
        """The simulator's sdkInput, once the real GET has succeeded."""
        super().get(payment_instrument_id)
        self.seen(m.Noted(HANDED_OVER))
        return self._simulated.get(payment_instrument_id).sdk_input

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> SdkInput:
        """The simulator's OPC data; a simulated sdkOutput never goes to a real API."""
        self.took = None
        self.seen(m.Noted(NOT_SENT))
        return self._simulated.post(payment_instrument_id, sdk_output).sdk_input


def limits(source: str = Source.SIMULATED) -> Facts:
    """What is real with this source and what is not, and why.

    Raises:
        ParameterError: there is no such source.
    """
    from workbook.views.facts import facts  # noqa: PLC0415  # only a lesson looks

    chosen = Parameters.of(source=source).source
    return facts(f"source = {chosen.value!r}", LIMITS[chosen])
