"""A back end that is watched attempt by attempt: it reports what it sent when, and what came of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbook.benches.back_end import BackEnd
from workbook.benches.line import what_was_played, words_of
from workbook.errors import MalformedResponseError, ResponseTooLargeError, WorkbookError
from workbook.flows import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.api.opaque import SdkInput, SdkOutput
    from workbook.api.protocol import ActivationData
    from workbook.benches.back_end import ActivationDataApi
    from workbook.benches.line import Line
    from workbook.flows.messages import Event

SDK_INPUT, NO_SDK_INPUT = "sdkInput", "a 200 without sdkInput"
"""How a call ends that raises no error."""
LOST_POST = "The API has carried the POST out: its sdkOutput is used up. Nobody will ever know the answer."


class _Call(NamedTuple):
    """The call under way."""

    method: str
    payment_instrument_id: str
    posted: str
    began: float


class WatchedBackEnd(BackEnd):
    """Relays as `BackEnd` does, and reports each attempt at its own moment.

    Args:
        api: makes its requests over `line`, and waits by its clock.
        line: what lies between.
    """

    at = 0.0

    def __init__(self, api: ActivationDataApi, line: Line) -> None:
        super().__init__(api, basis=self._rests_on, stopwatch=line.clock.now)
        self.line = line
        self._call = _Call("", "", "", 0.0)

    def get(self, payment_instrument_id: str) -> SdkInput:
        """The GET's sdkInput, see `BackEnd.get`."""
        return self._watched(lambda: BackEnd.get(self, payment_instrument_id), "GET", payment_instrument_id)

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> SdkInput:
        """The POST's sdkInput, see `BackEnd.post`."""
        return self._watched(
            lambda: BackEnd.post(self, payment_instrument_id, sdk_output),
            "POST",
            payment_instrument_id,
            str(getattr(sdk_output, "text", sdk_output)),
        )

    def _watched(self, relayed: Callable[[], SdkInput], method: str, instrument: str, posted: str = "") -> SdkInput:
        self.line.begin()
        self.at = 0.0
        self._call = _Call(method, instrument, posted, self.line.clock.now())
        ending = SDK_INPUT
        try:
            answer = relayed()
            ending = SDK_INPUT if answer else NO_SDK_INPUT
            return answer  # noqa: TRY300  # what came is what is told of
        except WorkbookError as error:
            ending = type(error).__name__
            raise
        finally:
            self._over(ending)

    def _over(self, ending: str) -> None:
        attempts, took = self.line.attempts, self.took or 0.0
        if (
            self._call.method == "POST"
            and ending not in (SDK_INPUT, NO_SDK_INPUT)
            and any(one.carried_out for one in attempts)
        ):
            self.seen(m.Noted(LOST_POST))
        self.seen(m.ApiCallEnded(self._call.method, len(attempts), round(took, 3), ending))

    def _timed(self, call: Callable[[], ActivationData]) -> ActivationData:
        try:
            return super()._timed(call)
        finally:
            for at, event in self.line.between(self._call.payment_instrument_id, self._call.posted):
                self.at = at - self._call.began
                self.seen(event)
            self.at = self.took or 0.0

    def _failed(self, error: WorkbookError) -> Event:
        fault = self.line.attempts[-1].response.fault if self.line.attempts else ""
        if not fault:
            return super()._failed(error)
        refused = isinstance(error, MalformedResponseError | ResponseTooLargeError)
        return (m.AnswerRefused if refused else m.AnswerLost)(type(error).__name__, what_was_played(fault), fault)

    def _told(self, body: bytes, posted: str) -> str:
        return words_of(body, posted)

    def _rests_on(self) -> str:
        return self.line.attempts[-1].response.basis if self.line.attempts else ""
