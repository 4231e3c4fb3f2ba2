"""The API's side: the stand-in service, as strict as ever, with what a case orders in between.

It keeps every request raw, for judging. Where an order gives a value of its own, the service is not asked: a case may
send and answer what no SDK would make, to see it arrive unchanged.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbook.conformance.seen import Arrived
from workbook.simulation.fault import Chance
from workbook.simulation.faults import fault
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Response
from workbook.simulation.service import Service
from workbook.simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbook.conformance.script import Order
    from workbook.simulation.http import Request
    from workbook.simulation.seal import Seal

OPERATIONS = ("GET", "POST")
GZIP = re.compile(r"(x-)?gzip(?!.*;\s*q=0(\.0*)?\s*$)")
"""One of the encodings that a request accepts, where it is this one and not refused."""
DRAW = 0.5
"""What a fault draws on: the middle, so that the same case is the same case."""


class Upstream:
    """Answers as the API would, and remembers what it was asked.

    Args:
        world: what there is; its first credential's key is the one that the back end is given.

    Attributes:
        key: that key.
    """

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self.key = next(iter(self.world.credentials))
        self._service = Service(self.world)
        self._orders: dict[str, list[tuple[Order, str]]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._arrived: list[Arrived] = []
        self._number = 0
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Upstream({len(self._arrived)} requests)"

    @property
    def seal(self) -> Seal:
        """What its data is sealed with."""
        return self._service.seal

    def order(self, instrument: str, orders: Iterable[Order], canary: str) -> None:
        """What is answered for this instrument from now on; an empty list lets the service answer again."""
        with self._lock:
            self._orders[instrument] = [(one, canary) for one in orders]
            for operation in OPERATIONS:
                self._counts.pop((instrument, operation), None)

    def forget(self) -> None:
        """Keep nothing of the requests so far: many rounds would fill the memory with them."""
        with self._lock:
            self._arrived.clear()

    def arrived(self, since: int = 0) -> tuple[Arrived, ...]:
        """The requests that are kept, without so many of the first."""
        with self._lock:
            return tuple(self._arrived[since:])

    def respond(self, request: Request) -> Response:
        """The answer, kept with its request."""
        at = monotonic()
        operation, instrument = _meant(request)
        with self._lock:
            order, canary = self._due(operation, instrument)
            response, given = self._answer(request, order, canary)
            self._number += 1
            self._arrived.append(Arrived(self._number, at, request, response, operation, instrument, given))
        return response

    def _due(self, operation: str, instrument: str) -> tuple[Order | None, str]:
        """The order that takes this request."""
        count = self._counts[instrument, operation] = self._counts.get((instrument, operation), 0) + 1
        for order, canary in self._orders.get(instrument, ()):
            if order.operation == operation and order.nth in (None, count):
                return order, canary
        return None, ""

    def _answer(self, request: Request, order: Order | None, canary: str) -> tuple[Response, str | None]:
        if order is None:
            return _with_value(self._service.respond(request))
        if order.fault is None:
            plain, given = _with_value(self._plain(request, order, canary))
            return _packed(plain, request) if order.packed else plain, given
        return self._faulted(request, order)

    def _plain(self, request: Request, order: Order, canary: str) -> Response:
        """A 200 with the order's own value, or with what the service would answer, and more fields beside it."""
        if order.value is None:
            answer = self._service.respond(request)
            fields: Mapping[str, object] = json.loads(answer.body)
        else:
            answer = Response(200, JSON_HEADERS, b"", "case: assumed")
            fields = {"sdkInput": order.value(canary)}
        return replace(answer, body=json.dumps({**fields, **order.more}, ensure_ascii=False).encode())

    def _faulted(self, request: Request, order: Order) -> tuple[Response, str | None]:
        """The service is asked where the fault comes after it has done its work; before, only what it would say."""
        planned = fault(str(order.fault)).but(**order.settings)
        asked = order.moment == "after" or planned.harmless
        answer = self._service.respond(request) if asked else Service(self.world).respond(request)
        response = planned.played(answer, Chance(DRAW, self.seal))
        return response, _with_value(response)[1]


def _meant(request: Request) -> tuple[str, str]:
    """The operation and the instrument; both empty where the request is neither of the two operations."""
    path = request.target.partition("?")[0]
    inner = path.removeprefix(BEFORE_ID).removesuffix(AFTER_ID)
    ours = path == f"{BEFORE_ID}{inner}{AFTER_ID}" and "/" not in inner and bool(inner)
    return (request.method, unquote(inner)) if ours and request.method in OPERATIONS else ("", "")


def _packed(response: Response, request: Request) -> Response:
    """The answer as a gateway in between hands it on: compressed for whoever says that it may be, and for no other."""
    said = ",".join(value for name, value in request.headers if name.lower() == "accept-encoding")
    if not any(GZIP.match(one.strip()) for one in said.lower().split(",")):
        return response
    headers = (*response.headers, ("content-encoding", "gzip"), ("vary", "accept-encoding"))
    return replace(response, headers=headers, body=gzip.compress(response.body, mtime=0))


def _with_value(response: Response) -> tuple[Response, str | None]:
    """The answer, and the sdkInput that a lenient reader would find in it."""
    try:
        value = json.loads(response.body)["sdkInput"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return response, None
    return response, value if isinstance(value, str) else None
