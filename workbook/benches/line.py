"""What lies between a back end and the simulated service, on virtual time: it keeps what passes, and nobody sleeps.

The service, the transport and the client are the real ones of this package; a stall of 30 seconds costs none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from workbook.benches.back_end import told
from workbook.flows import messages as m
from workbook.simulation.device import Latencies
from workbook.simulation.faults import FAULTS
from workbook.simulation.faults_http import TOLD
from workbook.simulation.service import Service
from workbook.simulation.wire import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.messages import Event
    from workbook.simulation.http import Request, Response
    from workbook.simulation.service import Decided

WHOLE = (Ending.WHOLE, Ending.WRONG_LENGTH)
"""Endings that look whole to a client."""
LATENCIES = {"GET": Latencies().get, "POST": Latencies().post}
"""Seconds that an answer without a fault takes (assumed)."""


class VirtualClock:
    """Time that passes when it is told to; a client's `clock`."""

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
            self.carried_out[request.method] += answer.status == 200  # noqa: PLR2004  # the one success

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
        """No answer arrived, or not all of it in time: what else would make a client drop a 200?"""
        return self.response.wire.ending not in WHOLE or self.response.status == 200  # noqa: PLR2004  # the one success


class Line:
    """What lies between a back end and the service; the transport's responder, and its `pause`.

    Attributes:
        clock: virtual; give it to the client.
        service: who answers.
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
        return f"Line({self.asked.total()} requests)"

    def respond(self, request: Request) -> Response:
        """The service's answer, after the time that it takes."""
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

    def between(self, payment_instrument_id: str, posted: str) -> Iterator[tuple[float, Event]]:
        """What happened between a call's first request and its outcome, in the order of time."""
        yield from sorted([*self._again(payment_instrument_id, posted), *self._noted], key=_at)

    def _again(self, payment_instrument_id: str, posted: str) -> Iterator[tuple[float, Event]]:
        for one, following in pairwise(self.attempts):
            yield one.ended, _outcome(one, posted)
            pause = round(following.began - one.ended, 3)
            yield following.began, m.ApiAskedAgain(following.request.method, payment_instrument_id, pause=pause)


def _at(noted: tuple[float, Event]) -> float:
    return noted[0]


def _outcome(attempt: Attempt, posted: str) -> Event:
    """What came of an attempt that was not the last."""
    response = attempt.response
    if attempt.lost:
        return m.AnswerLost("", what_was_played(response.fault), response.fault)
    return m.ApiAnswered(response.status, told=words_of(response.body, posted), basis=response.basis)


def what_was_played(fault: str) -> str:
    """What was played, and where that is known from."""
    return f"{FAULTS[fault].sentence.rstrip('.')}: {FAULTS[fault].source}"


def words_of(body: bytes, posted: str) -> str:
    """An error body's words, without those that only say that it is a fault: the basis says which."""
    return told(body, posted).removesuffix(f": {TOLD}")
