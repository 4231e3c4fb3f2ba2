"""The direct port: the client's own request builder and judge, with the service called in between.

No HTTP library takes part, so this imports nowhere near httpx and runs where there is no network at
all. What a request looks like and what an answer means are the same code as the client's.

A fault on the wire fails as in the client under its default limits, yet in no time: waits are added up and never
waited for. A call is tried once, so a fault that is meant for one request is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.api.body import BodyReader
from workbook.api.options import Options
from workbook.api.problem import Problem
from workbook.api.protocol import Answer, Settings, build_get, build_post, find_header, judge
from workbook.api.retry import Kind
from workbook.errors import DeadlineError, MaybeSentError
from workbook.simulation.http import Request
from workbook.simulation.service import Service
from workbook.simulation.wire import AT_ONCE, Ending
from workbook.simulation.world import SIMULATED_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.api.opaque import SdkOutput
    from workbook.api.protocol import ActivationData
    from workbook.api.protocol import Request as Built
    from workbook.simulation.http import Response

ORIGIN = "https://simulated.invalid"
"""Where the simulated service pretends to be. The top-level name can never exist."""
LIMITS = Options()
"""The client's own."""

BREACHES: Mapping[Ending, Kind] = {
    Ending.RESET: Kind.READ,
    Ending.CLOSED: Kind.PROTOCOL,
    Ending.TRUNCATED: Kind.PROTOCOL,
    Ending.NO_LAST_CHUNK: Kind.PROTOCOL,
    Ending.BAD_CHUNK: Kind.PROTOCOL,
}
"""What the client calls them; the other endings look whole to it."""


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
        lost = None if response.wire == AT_ONCE else _lost(response)
        judged = lost or judge(_read(response), self._settings.secret)
        if isinstance(judged, Problem):
            raise judged.error(built.redacted(), elapsed=0.0, attempts=1)
        return judged


def _lost(response: Response) -> Problem | None:
    """What comes of a wire that is not as it should be; None when the answer arrives all the same."""
    wire = response.wire
    waits = [wire.before_headers, *(seconds for seconds, _piece in wire.pieces(response.body))]
    if max(waits) > LIMITS.timeouts.read:
        return _may_have_arrived(Kind.READ_TIMEOUT)
    if sum(waits) > LIMITS.deadline:
        return Problem(DeadlineError, f"{Kind.DEADLINE.value}. The request may have arrived.", {"sent": True})
    return _may_have_arrived(BREACHES[wire.ending]) if wire.ending in BREACHES else None


def _may_have_arrived(kind: Kind) -> Problem:
    return Problem(MaybeSentError, f"{kind.value}. The request may have arrived. It is not sent again by itself.")


def _read(response: Response) -> Answer:
    """What can be read of an answer, under the client's cap."""
    reader = BodyReader(LIMITS.max_body, find_header(response.headers, "content-encoding") or "")
    for _seconds, piece in response.wire.pieces(response.body):
        reader.feed(piece)
    body = reader.finish()
    if isinstance(body, Problem):
        return Answer(response.status, response.headers, reader.partial(), body)
    return Answer(response.status, response.headers, body)
