"""`workbook phone`: serves the phones' protocol, and the back end behind each app, on loopback.

A run has one key. Each client (`hello`) has a world and a device of its own, so two apps never mix; its back end is at
an address of its own.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from workbook.app import protocol as p
from workbook.app.back_end import PlayedBackEnd
from workbook.app.device import Device, PhoneReply
from workbook.base.values import choice, lookup
from workbook.errors import OutOfOrderError, ParameterError, WorkbookError
from workbook.flows.variants import VARIANTS_A, variant_a
from workbook.harness.model import GET, POST, SURFACE, Surface
from workbook.mockserver.server import Server, base_url, is_own_host, listening
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.simulation.phones import NUMBERS, PHONES_A, PhoneA
from workbook.simulation.world import INSTRUMENT_IDS

BACK_END = "/back-end/"
BASIS = "the workbook's own protocol"
PLATFORM_B = (
    "Platform B's calls are not served: its apps are in Swift, and there is no stand-in for them here yet. "
    "Only platform A is served."
)


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


class PhoneServer:
    """The phones of a run.

    Args:
        surface: the routes of the back end that each app calls.
        phone: makes the phone of a new client; an ordinary one by default.
        pace: multiplies the SDK's seconds.
        seed: of everything simulated.
        log: called with each line about what happens.

    Attributes:
        key: what each call has to carry.
        clients: by their names.
        on_hello: called with each new client, before its next call is read.
    """

    def __init__(
        self,
        surface: Surface = SURFACE,
        phone: Callable[[], PhoneA] = PhoneA,
        *,
        pace: float = 1.0,
        seed: int = 7,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self.key = secrets.token_urlsafe(18)
        self.clients: dict[str, Client] = {}
        self.url = ""
        self._surface, self._phone, self._pace, self._seed = surface, phone, pace, seed
        self._log = log
        self.on_hello: Callable[[Client], None] = lambda _client: None

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
        server, ready = Server(self.respond, most_body=p.LONGEST), asyncio.Event()
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
            return _answered(403, {"error": "This server is for this machine only."})
        if request.target.startswith(BACK_END):
            return await self._back_end(request)
        try:
            return _answered(200, await self._called(request))
        except ParameterError as error:
            return _answered(400, {"error": str(error)})
        except OutOfOrderError as error:
            return _answered(409, {"error": str(error)})
        except WorkbookError as error:
            return _answered(401, {"error": str(error)})

    async def _called(self, request: Request) -> PhoneReply:
        if request.method != "POST" or not request.target.startswith(p.PREFIX):
            raise ParameterError(f"Each call is a POST to {p.PREFIX} and the name of the call; this request is not.")
        if not hmac.compare_digest((request.header(p.KEY_HEADER) or "").encode(), self.key.encode()):
            raise WorkbookError(f"The header {p.KEY_HEADER} has to carry the key that `workbook phone` printed.")
        call = p.read(request.target.removeprefix(p.PREFIX).partition("?")[0], request.body)
        if isinstance(call, p.Hello):
            return self._hello(call)
        client = lookup("client", call.client, self.clients)
        match call:
            case p.UsePhone():
                card = call.card or INSTRUMENT_IDS[0]
                client.device.phone = replace(lookup("phone", call.name, PHONES_A)(card), number=next(NUMBERS))
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
        if call.protocol != p.VERSION:
            raise ParameterError(
                f"This workbook speaks version {p.VERSION} of the protocol, and the stand-in speaks {call.protocol}. "
                "Write its files again: workbook native kotlin DIR."
            )
        if call.platform != "A":
            raise ParameterError(PLATFORM_B)
        variant = variant_a(call.variant)
        known = self.clients.get(call.client)
        if known is None:
            self.clients[call.client] = self.new(call.client, variant.name)
            self.on_hello(self.clients[call.client])
        else:
            known.device.process_ended()
        return {"variant": variant.name, "backEnd": f"{self.url}{self.clients[call.client].prefix}"}

    def new(self, name: str, variant: str, number: int = 1, *, session: str = "") -> Client:
        """A client with a new phone and a new back end, which demands this session."""
        device = Device(name, VARIANTS_A[variant], self._phone(), seed=self._seed, pace=self._pace)
        if self._log is not None:
            device.log = self._log
        back_end = PlayedBackEnd(self._surface, seed=self._seed, session=session)
        return Client(device, back_end, f"{BACK_END}{name}/{number}")

    async def _back_end(self, request: Request) -> Response:
        """Route a request of an app to the back end of its client."""
        for client in self.clients.values():
            if request.target.startswith(f"{client.prefix}/"):
                inner = request.target.removeprefix(client.prefix)
                return await client.back_end.respond(replace(request, target=inner))
        return _answered(404, {"error": "No app has its back end here, or the case that it belonged to is over."})


def _answered(status: int, document: PhoneReply) -> Response:
    return Response(status, JSON_HEADERS, json.dumps(document).encode(), BASIS)
