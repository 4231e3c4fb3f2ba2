"""The network between a back end and the simulated service, on virtual time; it records each request and answer.

The service, the transport and the client are the real ones of this package. A stall of 30 s takes no real time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import MalformedResponseError, ResponseTooLargeError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.runs.back_end import ActivationDataApi, BackEnd, Relayed, error_words
from workbook.simulation.faults import TOLD
from workbook.simulation.faults import fault as fault_named
from workbook.simulation.http import Ending, Request, Response
from workbook.simulation.phones import LatenciesA
from workbook.simulation.service import Decided, Service

LATENCIES = {"GET": LatenciesA().get, "POST": LatenciesA().post}
"""Seconds that an answer without a fault takes (assumed)."""


class VirtualClock:
    """A client's `clock`: time passes only when `sleep` is called."""

    def __init__(self) -> None:
        self._now = 0.0

    def __repr__(self) -> str:
        return f"VirtualClock({self._now:g} s)"

    def now(self) -> float:
        """Seconds since it was made."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass; counted in whole nanoseconds."""
        self._now = round(self._now + seconds, 9)

    async def asleep(self, seconds: float) -> None:
        """Let time pass, in the async client."""
        self.sleep(seconds)


class CountingService(Service):
    """The simulated service, which counts how often it carried out each operation."""

    carried_out: Counter[str]

    def _decide(self, request: Request) -> Decided:
        answer, remember = super()._decide(request)

        def counted() -> None:
            remember()
            self.carried_out[request.method] += answer.status == 200

        return answer, counted

    @classmethod
    def of(cls, service: Service) -> CountingService:
        """A new service with the same world and plan."""
        made = cls(service.world, service.plan)
        made.carried_out = Counter()
        return made


@dataclass(slots=True)
class Attempt:
    """One request and its answer.

    Attributes:
        began: seconds on the line's clock.
        ended: likewise: when the answer, or the client's patience, was over.
        carried_out: the API did what it was asked.
    """

    began: float
    ended: float
    request: Request
    response: Response = field(repr=False)
    carried_out: bool

    @property
    def lost(self) -> bool:
        """Whether the answer did not arrive whole in time; only then does a client drop a faulted 200."""
        dropped = self.response.status == 200 and bool(self.response.fault)
        return dropped or self.response.wire.ending not in (Ending.WHOLE, Ending.WRONG_LENGTH)  # both look whole


class Network:
    """The network between a back end and the service; the transport's responder, and its `pause`.

    Attributes:
        clock: virtual time; give it to the client.
        service: answers the requests.
        attempts: those of the call under way, or of the latest.
        asked: how often each operation was asked for, over all calls.
        played: how many answers a fault was played on.
    """

    def __init__(self, service: Service, latencies: Mapping[str, float] = LATENCIES) -> None:
        self.clock = VirtualClock()
        self.service = CountingService.of(service)
        self.attempts: list[Attempt] = []
        self.asked: Counter[str] = Counter()
        self.played = 0
        self._noted: list[tuple[float, Event]] = []
        self._latencies = latencies

    def __repr__(self) -> str:
        return f"Network({self.asked.total()} requests)"

    def respond(self, request: Request) -> Response:
        """The service's answer, after the time that it takes."""
        # The service answers at once, and then the clock moves: nobody waits, and an answer that comes too late for its
        # client was given all the same. Executions are counted: a faulted answer may not show one.
        began, before = self.clock.now(), self.service.carried_out[request.method]
        response = self.service.respond(request)
        self.clock.sleep(self._latencies[request.method])
        carried_out = self.service.carried_out[request.method] > before
        self.attempts.append(Attempt(began, self.clock.now(), request, response, carried_out))
        self.asked[request.method] += 1
        self.played += bool(response.fault)
        return response

    def pause(self, seconds: float) -> None:
        """The answer under way takes so much longer."""
        self.clock.sleep(seconds)
        self.attempts[-1].ended = self.clock.now()

    def note(self, event: Event) -> None:
        """Report what a back end does beside its requests."""
        self._noted.append((self.clock.now(), event))

    def begin(self) -> None:
        """Another call begins."""
        self.attempts, self._noted = [], []

    def between(self, payment_instrument_id: str, posted: str) -> list[tuple[float, Event]]:
        """What happened between a call's first request and its outcome, in the order of time."""
        events = list(self._noted)
        for attempt, following in pairwise(self.attempts):
            events.append((attempt.ended, _outcome(attempt, posted)))
            pause = round(following.began - attempt.ended, 3)
            again = m.ApiAskedAgain(following.request.method, payment_instrument_id, pause=pause)
            events.append((following.began, again))
        return sorted(events, key=itemgetter(0))


def _outcome(attempt: Attempt, posted: str) -> Event:
    """What came of an attempt, as far as it can be seen from outside the back end."""
    response = attempt.response
    if attempt.lost:
        return m.AnswerLost("", what_was_played(response.fault), response.fault)
    if response.status == 200:
        return m.ApiAnswered(200, sdk_input_in(response), basis=response.basis)
    return m.ApiAnswered(
        response.status, told=_without_fault_words(error_words(response.body, posted)), basis=response.basis
    )


def sdk_input_in(response: Response) -> Any:
    """The sdkInput of an answer that is not checked; empty text where there is none."""
    body = b"".join(piece for _seconds, piece in response.wire.pieces(response.body))
    try:
        value = json.loads(body).get("sdkInput")
    except (ValueError, AttributeError, RecursionError):
        value = None
    return SdkInput(value) if isinstance(value, str) and value else ""


def what_was_played(fault: str) -> str:
    """What was played, and where that is known from."""
    played = fault_named(fault)
    return f"{played.sentence.rstrip('.')}: {played.source}"


def _without_fault_words(words: str) -> str:
    """An error body's words without those that only say that it is a fault: the basis says which."""
    return words.removesuffix(f": {TOLD}")


# A back end that is watched attempt by attempt: when it sent each request, and the outcome.


class BackEndFailed(WorkbookError):  # noqa: N818  # the words of a trace
    """A back end of the integrator's own gave no sdkInput, and not because of an answer of the API."""


class WatchedBackEnd(BackEnd):
    """Relays as `BackEnd` does, and gives each attempt its own time.

    Args:
        api: makes its requests over `line`, and waits by its clock.
        line: the network between the back end and the API.
    """

    times_attempts = True

    def __init__(self, api: ActivationDataApi, line: Network) -> None:
        def basis() -> str:
            return line.attempts[-1].response.basis if line.attempts else ""

        super().__init__(api, basis=basis, stopwatch=line.clock.now)
        self.line = line

    def exchange(self, payment_instrument_id: str, sdk_output: SdkOutput | None = None) -> Relayed:
        """The exchange of `BackEnd`, its attempts in between, and how the call ended."""
        self.line.begin()
        began, posted = self.line.clock.now(), sdk_output.text if sdk_output else ""
        exchange = super().exchange(payment_instrument_id, sdk_output)
        attempts, took, error = self.line.attempts, exchange.took or 0.0, exchange.error
        fault = attempts[-1].response.fault if attempts else ""
        (_at, requested), (_at, outcome) = exchange.events
        if attempts and isinstance(error, BackEndFailed):
            outcome = _outcome(attempts[-1], posted)
            outcome = replace(outcome, error=str(error)) if isinstance(outcome, m.AnswerLost) else outcome
        elif isinstance(outcome, m.ApiAnswered):
            outcome = replace(outcome, told=_without_fault_words(outcome.told))
        elif fault:
            refused = isinstance(error, MalformedResponseError | ResponseTooLargeError)
            outcome = (m.AnswerRefused if refused else m.AnswerLost)(
                type(error).__name__, what_was_played(fault), fault
            )
        between = [(at - began, event) for at, event in self.line.between(payment_instrument_id, posted)]
        after = [(at, event) for at, event in between if at == took and isinstance(event, m.Noted | m.CodeFailed)]
        between = [timed for timed in between if timed not in after]
        exchange.events = [(0.0, requested), *between, (took, outcome), *after]
        if not attempts and (error is None or isinstance(error, BackEndFailed)):
            exchange.events = [
                *between,
                *after,
                (took, m.Noted("The back end answers by itself: it did not ask the API.")),
            ]
        if error is not None and sdk_output is not None and any(attempt.carried_out for attempt in attempts):
            lost = "The API has carried the POST out: its sdkOutput is used up. Nobody will ever know the answer."
            exchange.events.append((took, m.Noted(lost)))
        without_error = "sdkInput" if exchange.sdk_input else "a 200 without sdkInput"
        ending = type(error).__name__ if error else without_error
        method = "GET" if sdk_output is None else "POST"
        exchange.events.append((took, m.ApiCallEnded(method, len(attempts), round(took, 3), ending)))
        return exchange
