"""The issuer's back end, the smallest correct one: it relays both operations and tells the app only what it needs.

Only the back end speaks to the HTTP API (API-13). It works with three kinds of API: the client over a simulated
transport, the client over a real network, and the direct port without HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData, CallProblem, parse_object
from workbook.errors import ApiStatusError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import World

TRY_LATER = "the card cannot be added now; try again later"
"""The only text that the app gets about a failure (REL-9)."""


class ActivationDataApi(Protocol):
    """What the back end needs of a client; `ActivationDataClient` is one."""

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data."""
        ...

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput."""
        ...


@dataclass(slots=True)
class Relayed:
    """One finished call of the back end: what happened on the way, and its answer or its error.

    Attributes:
        events: what happened, in order, with its time in seconds since the call began; the time is None where the
            API is simulated without a clock.
        sdk_input: the answer; None after a failure.
        error: what the call failed with; None after a success.
        took: seconds that the call took; None where the API is simulated without a clock.
    """

    events: list[tuple[float | None, Event]] = field(default_factory=list)
    sdk_input: Any = None
    error: WorkbookError | None = None
    took: float | None = None

    def settle(self, call: Callable[..., ActivationData], *given: object) -> None:
        """Make `call`, and keep its sdkInput or its error."""
        try:
            self.sdk_input = call(*given).sdk_input
        except WorkbookError as error:
            self.sdk_input, self.error = None, error

    def answer(self) -> SdkInput:
        """The sdkInput.

        Raises:
            WorkbookError: the call failed.
        """
        if self.error is not None:
            raise self.error
        answer: SdkInput = self.sdk_input
        return answer

    def timeline(self, seconds: float) -> Iterator[tuple[float, Event]]:
        """Each event with its time; without a time of its own, the request is at 0 s and what follows at `seconds`."""
        for at, event in self.events:
            yield at if at is not None else 0.0 if type(event) is m.ApiRequested else seconds, event


class BackEnd:
    """Relays both operations.

    Attributes:
        api: who answers.
        basis: called after each answer for what that answer rests on; a real API cannot say.
        stopwatch: gives seconds; None where the API is simulated without a clock.
        times_attempts: its exchanges give a time for each event.
    """

    times_attempts = False

    def __init__(
        self,
        api: ActivationDataApi,
        *,
        basis: Callable[[], str] = lambda: "",
        stopwatch: Callable[[], float] | None = None,
    ) -> None:
        self.api = api
        self.basis = basis
        self.stopwatch = stopwatch

    def get(self, payment_instrument_id: str) -> SdkInput:
        """The GET's sdkInput.

        Raises:
            ActivationDataError: the API gave none.
        """
        return self.exchange(payment_instrument_id).answer()

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> SdkInput:
        """The POST's sdkInput.

        Raises:
            ActivationDataError: the API gave none.
            OpaqueDataError: `sdk_output` is not one; nothing was sent.
        """
        output = sdk_output if isinstance(sdk_output, SdkOutput) else SdkOutput(sdk_output)
        return self.exchange(payment_instrument_id, output).answer()

    def exchange(self, payment_instrument_id: str, sdk_output: SdkOutput | None = None) -> Relayed:
        """The GET, or with an sdkOutput the POST; a failure is in the exchange and is not raised."""
        method = "GET" if sdk_output is None else "POST"
        exchange = Relayed([(None, m.ApiRequested(method, payment_instrument_id, sdk_output))])
        began = self.stopwatch() if self.stopwatch else 0.0
        if sdk_output is None:
            exchange.settle(self.api.get, payment_instrument_id)
        else:
            exchange.settle(self.api.post, payment_instrument_id, sdk_output)
        exchange.took = self.stopwatch() - began if self.stopwatch else None
        outcome: Event
        match exchange.error:
            case None:
                outcome = m.ApiAnswered(200, exchange.sdk_input, basis=self.basis())
            case ApiStatusError() as error:
                words = error_words(error.body, sdk_output.text if sdk_output else "")
                outcome = m.ApiAnswered(error.status, told=words, basis=self.basis())
            case error:
                outcome = m.ApiFailed(type(error).__name__, str(error))
        exchange.events.append((None, outcome))
        return exchange


def simulated_back_end(world: World | None = None) -> BackEnd:
    """A back end in front of the simulated service, without HTTP between them: the fastest one."""
    api = DirectApi(Service(world))
    return BackEnd(api, basis=lambda: api.basis)


def error_words(body: bytes, posted: str = "") -> str:
    """The code and the detail of an error body, for a trace; what was posted is taken out (REL-3, REL-9)."""
    fields = parse_object(body)
    if isinstance(fields, CallProblem):
        return ""
    words = [fields.get(name) for name in ("errorCode", "title", "detail")]
    text = ": ".join(word for word in words if isinstance(word, str))
    return (text.replace(posted, "[sdkOutput]") if posted else text)[:160]  # characters are enough for a trace
