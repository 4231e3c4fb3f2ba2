"""The issuer's back end, the smallest that is right: it relays, and it tells the app nothing it need not know.

It alone speaks to the HTTP API (API-13). It is the seam for three worlds: the client over a simulated
transport, the client over a real network, and the direct port that skips HTTP altogether.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbook.api.body import parse_object
from workbook.api.opaque import SdkOutput
from workbook.api.problem import Problem
from workbook.errors import ActivationDataError, ApiStatusError, ConfigurationError
from workbook.flows import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.api.opaque import SdkInput
    from workbook.api.protocol import ActivationData
    from workbook.errors import WorkbookError
    from workbook.flows.messages import Event

LONGEST = 160
"""As many characters of an error body's words as a trace keeps."""

TRY_LATER = "activation data is not available; try again later"
"""All that the app is told of a failure (REL-9)."""


class ActivationDataApi(Protocol):
    """What the back end needs of a client; `ActivationDataClient` is one."""

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data."""
        ...

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput."""
        ...


class BackEnd:
    """Relays both operations and reports each exchange to `seen`.

    Attributes:
        api: whoever answers.
        seen: called with the request and with the answer, as events that no table steps.
        basis: asked after each answer what it rests on; the real API cannot say.
        took: seconds that the latest call took by `stopwatch`; None where time is virtual.
        at: seconds into the call at which what is reported happened; None where nobody times the attempts.
    """

    at: float | None = None

    def __init__(
        self,
        api: ActivationDataApi,
        *,
        seen: Callable[[Event], None] = lambda _event: None,
        basis: Callable[[], str] = lambda: "",
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        self.api = api
        self.seen = seen
        self.basis = basis
        self.took: float | None = None
        self._stopwatch = stopwatch

    def get(self, payment_instrument_id: str) -> SdkInput:
        """The GET's sdkInput.

        Raises:
            ActivationDataError: the API gave none.
        """
        self.seen(m.ApiRequested("GET", payment_instrument_id))
        return self._relay(lambda: self.api.get(payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> SdkInput:
        """The POST's sdkInput.

        Raises:
            ActivationDataError: the API gave none.
        """
        output = sdk_output if isinstance(sdk_output, SdkOutput) else SdkOutput(sdk_output)
        self.seen(m.ApiRequested("POST", payment_instrument_id, output))
        return self._relay(lambda: self.api.post(payment_instrument_id, output), output.text)

    def _relay(self, call: Callable[[], ActivationData], posted: str = "") -> SdkInput:
        try:
            answer = self._timed(call)
        except ApiStatusError as error:
            self.seen(m.ApiAnswered(error.status, told=self._told(error.body, posted), basis=self.basis()))
            raise
        except (ActivationDataError, ConfigurationError) as error:
            self.seen(self._failed(error))
            raise
        self.seen(m.ApiAnswered(200, answer.sdk_input, basis=self.basis()))
        return answer.sdk_input

    def _told(self, body: bytes, posted: str) -> str:
        return told(body, posted)

    def _failed(self, error: WorkbookError) -> Event:
        return m.ApiFailed(type(error).__name__, str(error))

    def _timed(self, call: Callable[[], ActivationData]) -> ActivationData:
        if self._stopwatch is None:
            return call()
        began = self._stopwatch()
        try:
            return call()
        finally:
            self.took = self._stopwatch() - began


def told(body: bytes, posted: str = "") -> str:
    """The words of an error body for a trace: its code and its detail, without what was posted (REL-3, REL-9)."""
    fields = parse_object(body)
    if isinstance(fields, Problem):
        return ""
    words = [fields.get(name) for name in ("errorCode", "title", "detail")]
    text = ": ".join(word for word in words if isinstance(word, str))
    return (text.replace(posted, "[sdkOutput]") if posted else text)[:LONGEST]
