"""What a case saw: every call on the phone's side and every request on the API's side, raw, for judging only.

Opaque data and the key stand in here as they travelled, because judging compares bytes. Nothing of it has a repr, and
nothing leaves but through `exchange`, which redacts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.conformance.target import BY_STATUS
from workbook.conformance.watch import NOTHING, Watched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.conformance.logs import Line
    from workbook.simulation.http import Request, Response

SUCCESS = range(200, 300)


@unique
class Broke(StrEnum):
    """Why a call has no answer."""

    NO = ""
    REFUSED = "no connection could be made"
    LOST = "the connection broke before the answer was complete"
    LATE = "no answer came in time"
    CANCELLED = "the phone gave up, as the case has it"
    NO_HTTP = "what came is no HTTP, or not in order"
    HUGE = "the answer was larger than anything that could be one"
    SPOILT = "the answer could not be unpacked as its content-encoding says"
    UNTRUSTED = "the back end's certificate does not hold"
    NO_TLS = "no TLS connection could be made"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the phone.

    Attributes:
        number: its place among the case's calls, from 1.
        operation: GET or POST: which of the back end's two operations.
        cardholder: whose session it was made with, by name.
        instrument: the payment instrument.
        sent: the sdkOutput that the phone handed over; None on the GET.
        began: when, in seconds since the run began, monotonic.
        ended: likewise.
        status: the answer's; None where none came.
        headers: the answer's.
        body: the answer's.
        value: the sdkInput where the configuration says that it stands; None where none stands there.
        broke: why there is no answer.
        why: more of that, in words without a secret.
        request: as it left the phone, with everything that HTTP adds; None where it never got so far.
        partial: of an answer that broke off or came too late, what had come: its headers and its body's beginning.
    """

    number: int
    operation: str
    cardholder: str
    instrument: str
    sent: str | None = field(repr=False)
    began: float
    ended: float
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    value: str | None = field(default=None, repr=False)
    broke: Broke = Broke.NO
    why: str = ""
    request: Request | None = field(default=None, repr=False)
    partial: bytes = field(default=b"", repr=False)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began

    @property
    def succeeded(self) -> bool:
        """Whether the app would take it for a success: a status of 2xx and an sdkInput that is not empty."""
        return self.status in SUCCESS and bool(self.value)

    @property
    def reported_success(self) -> bool:
        """Whether the back end says that it succeeded, sdkInput or not."""
        return self.status in SUCCESS


@dataclass(frozen=True, slots=True)
class Arrived:
    """One request that reached the API's side, and what was answered.

    Attributes:
        number: its place among all of the run, from 1.
        at: when, on the same clock as a call.
        request: as it came.
        response: as it was given.
        operation: GET or POST where it is one of the API's two operations, else empty.
        instrument: the payment instrument, percent-decoded; empty where the path is another.
        given: the sdkInput that was answered; None where there was none.
        elsewhere: it came to another origin, where a redirect pointed.
    """

    number: int
    at: float
    request: Request = field(repr=False)
    response: Response = field(repr=False)
    operation: str = ""
    instrument: str = ""
    given: str | None = field(default=None, repr=False)
    elsewhere: bool = False

    @property
    def sdk_output(self) -> str | None:
        """The sdkOutput that it brought; None where none stands there."""
        try:
            value = json.loads(self.request.body)["sdkOutput"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that one case saw.

    Attributes:
        calls: the phone's side, in the order in which they began.
        arrived: the API's side, in the order of arrival.
        log: what the back end wrote into its log files meanwhile, by line; only where the case looks at that.
        key: the API key that it was given.
        host: the API's host and port, as the back end was told them.
        bound: seconds within which an answer has to come.
        recovery: seconds that the back end was given after a fault.
        values: opaque data of the whole run, each with its payment instrument and cut to its beginning; only for a
            case that looks at the whole run.
        missing: the names of the log files that were never written; likewise.
        watched: what stood in the run's answers and requests that does not belong there; likewise.
        failures: how the back end tells the app of a failure: by the `status`, or in the `body` of any answer.
    """

    calls: tuple[Call, ...]
    arrived: tuple[Arrived, ...]
    log: Iterable[Line] = field(default=(), repr=False)
    key: str = field(default="", repr=False)
    host: str = ""
    bound: float = 20.0
    recovery: float = 0.0
    values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    missing: tuple[str, ...] = ()
    watched: Watched = NOTHING
    failures: str = BY_STATUS

    def asked(self, operation: str) -> tuple[Call, ...]:
        """The phone's calls of one operation."""
        return tuple(call for call in self.calls if call.operation == operation)

    def came(self, operation: str) -> tuple[Arrived, ...]:
        """The requests of one operation that reached the API."""
        return tuple(one for one in self.arrived if one.operation == operation and not one.elsewhere)

    @property
    def strays(self) -> tuple[Arrived, ...]:
        """The requests that are neither of the two operations."""
        return tuple(one for one in self.arrived if not one.operation and not one.elsewhere)

    def opaque(self) -> Iterator[tuple[str, str]]:
        """Every opaque value that went either way in this case, after its payment instrument."""
        yield from ((call.instrument, call.sent) for call in self.calls if call.sent)
        yield from ((one.instrument, one.given) for one in self.arrived if one.given)
