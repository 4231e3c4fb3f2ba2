"""The API that a back end is tried against: the simulated service, with a case's orders in front of it.

It keeps every request raw, for judging. Where an order has a value of its own, the service is not asked: a case may
answer with what no real API sends, to see it arrive unchanged.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import secrets
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Self

from workbook.api.opaque import json_text
from workbook.base.files import ScratchFolder
from workbook.errors import ConfigurationError
from workbook.simulation.faults import Chance, FaultKind, fault
from workbook.simulation.http import JSON_HEADERS, Request, Responder, Response, Wire, header_values
from workbook.simulation.service import Memory, Service
from workbook.simulation.world import Credential, Instrument, World
from workbook.tools.conform.back_end.model import Arrived, Identity, Order
from workbook.tools.mockserver import server as mockserver
from workbook.tools.mockserver.journal import operation_of
from workbook.tools.mockserver.server import LEAVING, LOOPBACK, Certificate, Server, base_url, listening, new_authority


class ScriptedApi:
    """Answers as the API would, or as a case orders, and remembers every request.

    Args:
        world: its first credential's key is the one that the back end is given.

    Attributes:
        key: that key.
        seal: what its data is sealed with.
        serials: of the sdkOutputs that were made for it; it refuses one that comes again.
    """

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self.key = next(iter(self.world.credentials))
        self._service = Service(self.world)
        self.seal = self._service.seal
        self._orders: dict[str, list[tuple[Order, str]]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._arrived: list[Arrived] = []
        self._number = 0
        self.serials = count(1)
        self._lock = Lock()

    def order(self, instrument: str, orders: Iterable[Order], canary: str) -> None:
        """Answer for this instrument by these orders from now on; without any, the service answers again."""
        with self._lock:
            self._orders[instrument] = [(order, canary) for order in orders]
            for operation in ("GET", "POST"):
                self._counts.pop((instrument, operation), None)

    def arrived(self, since: int = 0) -> tuple[Arrived, ...]:
        """The kept requests, without the first `since` of them."""
        with self._lock:
            return tuple(self._arrived[since:])

    def when_asked(self, operation: str, instrument: str, sdk_output: str | None, since: float) -> float | None:
        """When the first request of a call arrived, a moment after `since`; None where none has."""
        at = None
        with self._lock:
            for request in reversed(self._arrived):
                if request.at < since:
                    break
                if (request.operation, request.instrument) == (operation, instrument) and (
                    sdk_output in (None, request.sdk_output)
                ):
                    at = request.at
        return at

    def respond(self, request: Request) -> Response:
        """Answer; keep request, answer, and the sdkInput that a lenient reader would find in it."""
        at = monotonic()
        known, named = operation_of(request.method, request.target)
        operation, instrument = (known, named or "") if known else ("", "")
        with self._lock:
            count = self._counts[instrument, operation] = self._counts.get((instrument, operation), 0) + 1
            due = (
                (order, canary)
                for order, canary in self._orders.get(instrument, ())
                if order.operation == operation and order.nth in (None, count)
            )
            order, canary = next(due, (None, ""))
            response = self._service.respond(request) if order is None else self._ordered(request, order, canary)
            value = json_text(response.body, "sdkInput")
            if order is not None and order.packed and order.fault is None:
                response = _pack(response, request)
            if order is not None and order.chunked:
                response = replace(response, wire=Wire(chunked=True))
            self._number += 1
            self._arrived.append(Arrived(self._number, at, request, response, operation, instrument, value))
        return response

    def _ordered(self, request: Request, order: Order, canary: str) -> Response:
        """The answer of an order: a fault, or a 200 with the order's value or the service's, and more fields."""
        if order.fault is not None:
            planned = fault(str(order.fault)).but(**order.settings)
            carried_out = planned.harmless or planned.kind is FaultKind.OPAQUE  # the answer is a whole one
            moves_state = order.moment == "after" or carried_out
            answer = (self._service if moves_state else self._apart()).respond(request)
            return planned.played(answer, Chance(0.5, self.seal))  # always the middle: a case is the same each time
        if order.value is None:
            answer = self._service.respond(request)
            fields = json.loads(answer.body)
        else:
            answer = Response(200, JSON_HEADERS, b"", "case: assumed")
            fields = {"sdkInput": order.value(canary)}
        text = json.dumps({**fields, **order.more}, ensure_ascii=False)
        # half a surrogate pair becomes an escape of JSON
        return replace(answer, body=text.encode("utf-8", "backslashreplace"))

    def _apart(self) -> Service:
        """A service of which nothing remains; no other answer has the values that it gives."""
        service = Service(self.world)
        serial = 1_000_000 + self._number  # far from what a run comes to
        service.memory = defaultdict(lambda: Memory(serial, serial))
        return service


def _pack(response: Response, request: Request) -> Response:
    """The answer as a gateway passes it on: compressed, if the request accepts that."""
    accepted = ",".join(header_values(request.headers, "accept-encoding"))
    gzip_allowed = re.compile(r"(x-)?gzip(?!.*;\s*q=0(\.0*)?\s*$)")  # q=0 refuses
    if not any(gzip_allowed.match(encoding.strip()) for encoding in accepted.lower().split(",")):
        return response
    headers = (*response.headers, ("content-encoding", "gzip"), ("vary", "accept-encoding"))
    return replace(response, headers=headers, body=gzip.compress(response.body, mtime=0))


def certificates(folder: Path) -> Mapping[Identity, Certificate]:
    """A certificate for each identity; the back end is to trust the authority of the first only."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    own, stranger = new_authority(), new_authority()
    issued = {
        Identity.OWN: (own, own.issue_cert(*LOOPBACK)),
        Identity.OTHER_AUTHORITY: (stranger, stranger.issue_cert(*LOOPBACK)),
        Identity.EXPIRED: (own, own.issue_cert(*LOOPBACK, not_after=yesterday)),
        Identity.OTHER_HOST: (own, own.issue_cert("another-host.example")),
    }
    write = mockserver.write_certificate
    return {identity: write(folder / identity.name.lower(), *pair) for identity, pair in issued.items()}


class Gate:
    """Holds each request at the API while it is shut: its answer waits. It opens for all of them at once.

    Attributes:
        left: when the first peer went away while its request was held: the back end gave it up. Infinite for never.
    """

    def __init__(self) -> None:
        self._shut = False
        self.left = inf

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Hold the requests that arrive during the block."""
        self._shut, self.left = True, inf
        try:
            yield
        finally:
            self._shut = False

    def passing(self, answer: Response) -> Response | Coroutine[None, None, Response]:
        """The answer, at once or when the gate opens."""
        return self._hold(answer) if self._shut else answer

    async def _hold(self, answer: Response) -> Response:
        leaving = LEAVING.get() or asyncio.Event()
        while self._shut and not leaving.is_set():
            with suppress(TimeoutError):  # the gate is opened from another thread
                await asyncio.wait_for(leaving.wait(), 0.01)
        if self._shut:
            self.left = min(self.left, monotonic())
        return answer


class Listener:
    """One address on loopback where a responder answers, for as long as the block lasts.

    It can go away and come back at the same address, with `down` and `up`; going away cuts every connection.

    Args:
        responder: answers.
        port: 0 takes any free one.
        certificate: serve https with it; None serves http.

    Attributes:
        gate: what its answers pass.
    """

    def __init__(self, responder: Responder, port: int = 0, certificate: Certificate | None = None) -> None:
        self._answer = mockserver.answering(responder)
        self.gate = Gate()
        self.certificate = certificate
        self._socket = listening("127.0.0.1", port)
        self.base_url = base_url(self._socket, "http" if certificate is None else "https")
        self._port: int = self._socket.getsockname()[1]
        self._running = ExitStack()

    def __enter__(self) -> Self:
        self._serve()
        return self

    def __exit__(self, *_error: object) -> None:
        self.down()

    @property
    def connections(self) -> frozenset[mockserver.Connection]:
        """The connections that are open now."""
        return frozenset(self._server.connections)

    def up(self) -> None:
        """Listen again at the same address; another program's outgoing connection may hold the port for a moment."""
        if self._socket.fileno() >= 0:  # it is open
            return
        for tries_left in reversed(range(20)):
            try:
                self._socket = listening("127.0.0.1", self._port)
                break
            except ConfigurationError:
                if not tries_left:
                    raise
                sleep(0.1)
        self._serve()

    def down(self) -> None:
        """Stop listening, and cut every connection."""
        self._running.close()

    def _serve(self) -> None:
        # What a back end leaves open is counted before an idle connection is closed, after this many seconds.
        self._server = Server(lambda request: self.gate.passing(self._answer(request)), idle=60)
        self._server.listen(self._running.enter_context(self._socket), self.certificate)
        self._running.enter_context(mockserver.on_thread(self._server, abrupt=True))


class MockApi:
    """The API at one address, and another address where a redirect would lead, for as long as the block lasts.

    with MockApi(["PI1", "PI2"]) as side:
        ...  # configure a back end with side.url and side.key

    Args:
        cards: ids of the payment instruments that the API knows.
        key: for the back end; None makes a fresh one.
        port: 0 takes any free one.
        profile: of the service.
        seed: of everything that is simulated.
        tls: serve https with a certificate of an authority made for this run.

    Attributes:
        url: the address to configure.
        upstream: the API.
        elsewhere: the API at the other address.
        listener: where the API listens.
        other: where a redirect leads.
        ca_file: the authority that the back end has to trust; None without TLS.

    Raises:
        ConfigurationError: the port cannot be had.
    """

    def __init__(
        self,
        cards: Iterable[str],
        *,
        key: str | None = None,
        port: int = 0,
        profile: str = "spec",
        seed: int = 7,
        tls: bool = False,
    ) -> None:
        self.key = key or f"KEY-{secrets.token_urlsafe(24)}"
        instruments = {card: Instrument(card) for card in cards}
        world = World(instruments, {self.key: Credential()}, seed=seed, profile=profile)
        self.upstream = ScriptedApi(world)
        self.elsewhere = ScriptedApi(world)
        self._stack = ExitStack()
        self._certificates: Mapping[Identity, Certificate] = {}
        if tls:
            self._certificates = certificates(Path(self._stack.enter_context(ScratchFolder())))
        own = self._certificates.get(Identity.OWN)
        self.ca_file = None if own is None else own.ca_file
        self.listener = Listener(self.upstream, port, own)
        self.url = self.listener.base_url
        self.other = Listener(self.elsewhere)

    def __enter__(self) -> Self:
        for server in (self.listener, self.other):
            self._stack.enter_context(server)
        return self

    def present(self, identity: Identity | None) -> None:
        """Answer with this certificate from now on, on new connections; None goes away. Connections before are cut."""
        certificate = None if identity is None else self._certificates.get(identity)
        if identity is None or certificate is not self.listener.certificate:
            self.listener.down()
            self.listener.certificate = certificate
        if identity is not None:
            self.listener.up()

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
