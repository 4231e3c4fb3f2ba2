"""`workbook phone`: serves the phones that apps' SDK stand-ins call, one device and one back end for each client.

The phones' protocol, and the back end behind each app, are served on loopback. A run has one key. Each client (`hello`)
has a world and a device of its own, so two apps never mix; its back end is at an address of its own.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any
from urllib.parse import unquote

from jsonpointer import JsonPointer

from workbook.base.values import choice, lookup, quoted
from workbook.errors import OpaqueDataError, OutOfOrderError, ParameterError, WorkbookError
from workbook.flows.variants import VariantA, VariantB, variant_a, variant_b
from workbook.play.back_end import TRY_LATER
from workbook.simulation.http import JSON_HEADERS, Ending, Request, Response, Wire
from workbook.simulation.seal import HardSeal
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_CARDS, World
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.device import Device, DeviceA, PhoneReply
from workbook.tools.conform.app.device_b import DeviceB
from workbook.tools.conform.back_end.model import GET, POST, RAW, SURFACE, Surface
from workbook.tools.conform.back_end.phone import text_at
from workbook.tools.mockserver.server import LEAVING, Server, base_url, is_own_host, listening

# What JSON has to escape, and a letter beyond ASCII: the end of an sdkOutput, where a case asks for it.
JSON_ESCAPES = '"\\\n\u00e9'


# The issuer's back end behind an app. The document does not show how an app speaks to it: the routes are the
# integrator's own (`Surface`), so one configuration serves `workbook conform`, which tests the back end, and `workbook
# conform app`, which plays it.


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """What the back end answers instead of the sdkInput. All of it is made up: the integrator decides the contract.

    Attributes:
        status: of the answer.
        body: of the answer; None for one with `sdk_input` at its place.
        sdk_input: None or a text.
        ending: how its bytes end.
    """

    status: int = 200
    body: bytes | None = None
    sdk_input: str | None = None
    ending: Ending = Ending.WHOLE


# Every way in which the back end fails, by its name. Where the body is cut, the cut is in the sdkInput.
WRONG_ANSWERS: Mapping[str, WrongAnswer] = {
    **{
        str(status): WrongAnswer(status, json.dumps({"error": TRY_LATER}).encode())
        for status in (401, 403, 404, 500, 502, 503)
    },
    "empty body": WrongAnswer(body=b""),
    "no sdkInput": WrongAnswer(body=b"{}"),
    "sdkInput null": WrongAnswer(),
    "sdkInput empty": WrongAnswer(sdk_input=""),
    "no JSON": WrongAnswer(body=b"<html>Please log in.</html>"),
    "connection cut": WrongAnswer(body=b"", ending=Ending.RESET),
    "cut in the middle": WrongAnswer(sdk_input="SIMULATED" * 9, ending=Ending.TRUNCATED),
}


@dataclass(slots=True)
class Arrival:
    """One request of the app.

    Attributes:
        at: when it arrived, in seconds of the monotonic clock.
        operation: GET or POST; empty where it is neither.
        card: the id in it.
        request: as it came.
        sdk_output: what the POST carries; None where it carries none.
        answered: when its answer left; None while it is held.
        status: of the answer.
        given: the sdkInput of the answer; None where there is none.
        session: whether the session was presented.
        misplaced: why a value is not where the surface has it, in words; empty where each is.
        leaving: set once the app no longer waits for the answer; None where there is no network.
    """

    at: float
    operation: str
    card: str
    request: Request = field(repr=False)
    sdk_output: str | None = field(default=None, repr=False)
    answered: float | None = None
    status: int | None = None
    given: str | None = field(default=None, repr=False)
    session: bool = False
    misplaced: str = ""
    leaving: asyncio.Event | None = field(default=None, repr=False)

    @property
    def left(self) -> bool:
        """Whether the app no longer waits for the answer."""
        return self.leaving is not None and self.leaving.is_set()


class PlayedBackEnd:
    """The back end of one app.

    Args:
        surface: its two operations.
        seed: of the simulated service behind it.
        session: what the app has to present in the header `authorization`; empty where it presents nothing.

    Attributes:
        arrivals: every request so far.
        failing: by operation, the name of what it does wrong, one of `WRONG_ANSWERS`.
        held: by operation, an event that an answer waits for.
        escapes: the answers' JSON escapes each slash, as some servers do.
        swaps: the operations that are answered with an sdkInput of another card.
    """

    def __init__(self, surface: Surface, *, seed: int = 7, session: str = "") -> None:
        self.arrivals: list[Arrival] = []
        self.failing: dict[str, str] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.escapes, self.swaps = False, set[str]()
        self._operations = {GET: surface.get, POST: surface.post}
        self._session = session
        service = Service(World(seed=seed))
        service.seal = HardSeal(seed)
        self._api = DirectApi(service)

    @property
    def busy(self) -> bool:
        """Whether a request waits for its answer."""
        return any(arrival.answered is None for arrival in self.arrivals)

    def fail(self, operation: str, how: str) -> None:
        """From here on answer this operation with one of `WRONG_ANSWERS`; an empty text ends that.

        Raises:
            ParameterError: there is no such answer.
        """
        self.failing.pop(operation, None)
        if how:
            lookup("answer", how, WRONG_ANSWERS)
            self.failing[operation] = how

    def waiting(self, operation: str) -> bool:
        """Whether a request of this operation waits for its answer."""
        return any(arrival.answered is None for arrival in self.came(operation))

    def left(self, operation: str) -> bool:
        """Whether the app has stopped waiting for every answer of this operation."""
        return all(arrival.left for arrival in self.came(operation))

    def came(self, operation: str) -> list[Arrival]:
        """The requests of one operation."""
        return [arrival for arrival in self.arrivals if arrival.operation == operation]

    async def respond(self, request: Request) -> Response:
        """The answer to one request of the app; its target is without the back end's own prefix."""
        arrival = self._read(request)
        arrival.leaving = LEAVING.get()
        self.arrivals.append(arrival)
        try:
            if (held := self.held.get(arrival.operation)) is not None:
                await held.wait()
            answer = self._answer(arrival)
            arrival.status = answer.status
            return answer
        finally:
            arrival.answered = monotonic()

    def _answer(self, arrival: Arrival) -> Response:
        if arrival.operation in self.failing:
            wrong = WRONG_ANSWERS[self.failing[arrival.operation]]
            body = self._body(arrival, wrong.sdk_input) if wrong.body is None else wrong.body
            return answered(wrong.status, body, wrong.ending)
        if not arrival.operation:
            why = "The app's back end has no such route. Is the surface configured as the app calls it?"
            return answered(404, {"error": why})
        if self._session and not arrival.session:
            return answered(401, {"error": "The app presented no session."})
        try:
            if arrival.operation in self.swaps:
                other = next(card for card in INSTRUMENT_IDS if card != arrival.card)
                arrival.given = self._api.get(other).sdk_input.text
            elif arrival.operation == GET:
                arrival.given = self._api.get(arrival.card).sdk_input.text
            else:
                sdk_output = (arrival.sdk_output or "").removesuffix(JSON_ESCAPES)
                arrival.given = self._api.post(arrival.card, sdk_output).sdk_input.text
        except OpaqueDataError:
            return answered(400, {"error": "There is no sdkOutput at its place in the body."})
        except WorkbookError:
            unknown = f"No card {quoted(arrival.card)} is simulated. These are: {', '.join(SIMULATED_CARDS)}."
            known = arrival.card in SIMULATED_CARDS
            return answered(502 if known else 404, {"error": TRY_LATER if known else unknown})
        return answered(200, self._body(arrival, arrival.given))

    def _body(self, arrival: Arrival, sdk_input: str | None) -> bytes:
        """The answer's body, with this sdkInput where the surface has it."""
        place = self._operations[arrival.operation].sdk_input
        if place == RAW:
            return (sdk_input or "").encode()
        document: Any = sdk_input
        for part in reversed(JsonPointer(place).parts):
            document = {part: document}
        text = json.dumps(document)
        return (text.replace("/", "\\/") if self.escapes else text).encode()

    def _read(self, request: Request) -> Arrival:
        path = request.target.partition("?")[0]
        session = (request.header("authorization") or "").removeprefix("Bearer ") == self._session
        for name, operation in self._operations.items():
            before, _id, after = operation.path.partition("{id}")
            inner = path.removeprefix(before).removesuffix(after)
            fits = path == before + inner + after and inner and "/" not in inner
            if request.method == operation.method and (fits if _id else path == before):
                card = unquote(inner) if _id else text_at(operation.id, request.body) or ""
                raw = operation.sdk_output == RAW
                output = request.body.decode("utf-8", "replace") if raw else text_at(operation.sdk_output, request.body)
                places = [place for place in (operation.id, None if raw else operation.sdk_output) if place]
                why = "; ".join(filter(None, (_nothing_at(place, request.body) for place in places)))
                return Arrival(monotonic(), name, card, request, sdk_output=output, session=session, misplaced=why)
        return Arrival(monotonic(), "", "", request, session=session)


def _nothing_at(place: str, body: bytes) -> str:
    """Why a body has no text at this place, in words; empty where it has one."""
    if text_at(place, body) is not None:
        return ""
    try:
        document = json.loads(body)
    except ValueError:
        return "the body is no JSON"
    names = ", ".join(document)[:200] if isinstance(document, dict) else ""
    return f"nothing at {place}; the body has: {names or 'no names'}"


def answered(status: int, body: bytes | Mapping[str, Any], ending: Ending = Ending.WHOLE) -> Response:
    """An answer of what the workbook plays for an app."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, JSON_HEADERS, content, "the document shows no back end of an app", Wire(ending=ending))


@dataclass
class Client:
    """One app in front of the phone: its device, its back end, and who plays its cardholder.

    Attributes:
        device: the phone.
        back_end: the issuer's back end behind the app.
        prefix: where that back end is, below the server's address.
        on_next: takes what the app's process did, and returns its next action; None where a person plays.
    """

    device: Device
    back_end: PlayedBackEnd
    prefix: str
    on_next: Callable[[p.Next], Awaitable[PhoneReply]] | None = field(default=None, repr=False)


@dataclass(eq=False, repr=False)
class PhoneServer:
    """The phones of a run, and the back ends of their apps.

    Args:
        surface: the routes of the back end that each app calls.
        phone: the name of the phone of a new client; each platform has phones of its own.
        pace: multiplies the SDK's seconds.
        seed: of everything simulated.
        log: called with each line about what happens.

    Attributes:
        key: what each call has to carry.
        clients: by their names.
        on_hello: called with each new client, before its next call is read.
        on_stray: called with each request that is for another machine.
    """

    surface: Surface = SURFACE
    phone: str = "ready"
    pace: float = field(default=1.0, kw_only=True)
    seed: int = field(default=7, kw_only=True)
    log: Callable[[str], None] | None = field(default=None, kw_only=True)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(18), init=False)
    clients: dict[str, Client] = field(default_factory=dict, init=False)
    url: str = field(default="", init=False)
    on_hello: Callable[[Client], None] = field(default=lambda _client: None, kw_only=True)
    on_stray: Callable[[Request], None] = field(default=lambda _request: None, kw_only=True)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables by which the stand-in finds this server, and the ids of all cards."""
        cards = ",".join(INSTRUMENT_IDS)
        return {"WORKBOOK_PHONE_URL": self.url, "WORKBOOK_PHONE_KEY": self.key, "WORKBOOK_PHONE_CARDS": cards}

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[None]:
        """Serve in this event loop for as long as the block lasts; `url` says where.

        Raises:
            ConfigurationError: the port is taken.
        """
        server, ready = Server(self.respond, most_body=p.LONGEST_MESSAGE), asyncio.Event()
        with listening("127.0.0.1", port) as listener:
            server.listen(listener)
            self.url = base_url(listener)
            task = asyncio.create_task(server.serve(ready.set))
            await ready.wait()
            try:
                yield
            finally:
                for client in self.clients.values():
                    client.device.process_ended()
                server.stop()
                await task

    async def respond(self, request: Request) -> Response:
        """The answer to a call of the protocol, or to a request of an app to its back end."""
        if not is_own_host(request):
            self.on_stray(request)
            return answered(403, {"error": "This server is for this machine only."})
        if request.target.startswith("/back-end/"):
            return await self._back_end(request)
        try:
            return answered(200, await self._called(request))
        except ParameterError as error:
            return answered(400, {"error": str(error)})
        except OutOfOrderError as error:
            return answered(409, {"error": str(error)})
        except WorkbookError as error:
            return answered(401, {"error": str(error)})

    async def _called(self, request: Request) -> PhoneReply:
        prefix = f"/phone/v{p.PROTOCOL_VERSION}/"
        if request.method != "POST" or not request.target.startswith(prefix):
            raise ParameterError(f"Each call is a POST to {prefix} and the name of the call; this request is not.")
        if not hmac.compare_digest((request.header("x-workbook-key") or "").encode(), self.key.encode()):
            raise WorkbookError("The header x-workbook-key has to carry the key that `workbook phone` printed.")
        call = p.read(request.target.removeprefix(prefix).partition("?")[0], request.body)
        if isinstance(call, p.Hello):
            return self._hello(call)
        client = lookup("client", call.client, self.clients)
        match call:
            case p.UsePhone():
                client.device.use(call.name, call.card or INSTRUMENT_IDS[0])
                return {}
            case p.UseBackEnd():
                client.back_end.fail(choice("operation", call.operation, (GET, POST)), call.fails)
                return {}
            case p.Next():
                if client.on_next is None:
                    raise OutOfOrderError("A person plays the cardholder here. `workbook conform app` drives an app.")
                return await client.on_next(call)
            case _:
                return await client.device.answer(call)

    def _hello(self, call: p.Hello) -> PhoneReply:
        """A process begins: it keeps the phone of its client, if there is one, and its memory is new."""
        if call.protocol != p.PROTOCOL_VERSION:
            raise ParameterError(
                f"This workbook speaks version {p.PROTOCOL_VERSION} of the protocol, and the stand-in speaks "
                f"{call.protocol}. Write its files again: workbook native kotlin DIR."
            )
        platform = choice("platform", call.platform, ("A", "B"))
        variant: VariantA | VariantB = variant_a(call.variant) if platform == "A" else variant_b(call.variant)
        if (client := self.clients.get(call.client)) is None:
            if len(self.clients) >= 1_000:  # each keeps its trace and its requests
                raise OutOfOrderError("This phone has 1,000 clients, which is the most. Start `workbook phone` anew.")
            client = self.clients[call.client] = self.new(call.client, variant)
            self.on_hello(client)
        else:
            client.device.process_ended()
        return {"variant": variant.name, "backEnd": f"{self.url}{client.prefix}"}

    def new(self, name: str, variant: VariantA | VariantB, number: int = 1, *, session: str = "") -> Client:
        """A client with a new phone and a new back end, which demands this session."""
        device: Device
        if isinstance(variant, VariantB):
            device = DeviceB(name, variant, seed=self.seed, pace=self.pace)
        else:
            device = DeviceA(name, variant, seed=self.seed, pace=self.pace)
        device.use(self.phone, INSTRUMENT_IDS[0])
        device.log = self.log or device.log
        back_end = PlayedBackEnd(self.surface, seed=self.seed, session=session)
        return Client(device, back_end, f"/back-end/{name}/{number}")

    async def _back_end(self, request: Request) -> Response:
        """Route a request of an app to the back end of its client."""
        for client in self.clients.values():
            if request.target.startswith(f"{client.prefix}/"):
                inner = request.target.removeprefix(client.prefix)
                return await client.back_end.respond(replace(request, target=inner))
        return answered(404, {"error": "No app has its back end here, or the case that it belonged to is over."})
