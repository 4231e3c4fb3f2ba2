"""The direct port: the client's own request builder and judge, with the service called in between.

No HTTP library takes part, so this imports nowhere near httpx and runs where there is no network at
all. What a request looks like and what an answer means are the same code as the client's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.api.problem import Problem
from workbook.api.protocol import Answer, Settings, build_get, build_post, judge
from workbook.simulation.service import Request, Service
from workbook.simulation.world import SIMULATED_KEY

if TYPE_CHECKING:
    from workbook.api.opaque import SdkOutput
    from workbook.api.protocol import ActivationData
    from workbook.api.protocol import Request as Built

ORIGIN = "https://simulated.invalid"
"""Where the simulated service pretends to be. The top-level name can never exist."""


class DirectApi:
    """An `ActivationDataClient` without HTTP.

    Attributes:
        basis: what the latest answer rests on, see `Response.basis`.
    """

    def __init__(self, service: Service | None = None, *, api_key: str = SIMULATED_KEY) -> None:
        self.service = service or Service()
        self.basis = ""
        self._settings = Settings(ORIGIN, api_key)

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data (API-1)."""
        return self._exchange(build_get(self._settings, payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> ActivationData:
        """Exchange an sdkOutput (API-2)."""
        return self._exchange(build_post(self._settings, payment_instrument_id, sdk_output))

    def _exchange(self, built: Built) -> ActivationData:
        target = built.url.removeprefix(ORIGIN)
        response = self.service.respond(Request(built.method, target, built.headers, built.body or b""))
        self.basis = response.basis
        judged = judge(Answer(response.status, response.headers, response.body), self._settings.secret)
        if isinstance(judged, Problem):
            raise judged.error(built.redacted(), elapsed=0.0, attempts=1)
        return judged
