"""The simulated service over real HTTP, on loopback: the same bytes as in-process, on a real socket.

uvicorn carries it; the application here only reads a body, up to the service's limit, and hands over.

A back end that is tried out against it has no phone, so nothing would make the sdkOutput that its POST needs:
`fresh_output` lets the SDK stand-in make one. What the service reads in it is sealed with the seed, so a command
in another terminal can make one for a running server.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
import signal
import socket
import sys
from contextlib import contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from workbook.errors import ConfigurationError, ParameterError, did_you_mean
from workbook.flows import messages as m
from workbook.simulation.device import Device
from workbook.simulation.direct import DirectApi
from workbook.simulation.http import AFTER_ID, BEFORE_ID, MAX_BODY, Request
from workbook.simulation.sdk_a import SdkA
from workbook.simulation.service import Service
from workbook.simulation.wire import AT_ONCE
from workbook.simulation.wire_out import LINE, carry_out, head
from workbook.simulation.world import INSTRUMENT_IDS, Credential, World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

    import uvicorn

    from workbook.simulation.http import Response

    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Tell = Callable[[str], None]

HIGHEST_PORT = 65535
SERIALS = range(1_000_000, 1_000_000_000)
"""What a fresh sdkOutput's serial is drawn from: too many for two to meet, and each still short enough to be shown."""
LONGEST_SEGMENT = 64
"""Characters of a path's segment that are logged; an id is shorter, and opaque data in the wrong place is not."""
LONGEST_PATH = 300
"""Characters of a path that are logged."""
OK = 200


def fresh_world(seed: int = 7) -> World:
    """The default world under a key made just now, for a server that others can reach on this machine."""
    return replace(World(seed=seed), credentials={f"SIMULATED-{secrets.token_urlsafe(18)}": Credential()})


def fresh_output(payment_instrument_id: str = INSTRUMENT_IDS[0], *, seed: int = 7) -> str:
    """An sdkOutput that the SDK stand-in makes now: no two are alike, and each is good for one POST.

    Args:
        payment_instrument_id: one of the default world's.
        seed: the seed of the server that it is for.

    Raises:
        ParameterError: no instrument has this id.
    """
    world = World(seed=seed)
    if payment_instrument_id not in world.instruments:
        hint = did_you_mean(payment_instrument_id, world.instruments)
        raise ParameterError(f"No payment instrument {payment_instrument_id[:40]!r}. {hint}")
    service = Service(world)
    sdk = SdkA(Device(outputs=secrets.choice(SERIALS)), service.seal, api_error=True)
    sdk.answer(m.CreateProvisioning(DirectApi(service).get(payment_instrument_id).sdk_input))
    _seconds, made = sdk.answer(m.CreateSdkOutput())
    return str(made.sdk_output.text)  # type: ignore[attr-defined]  # the outcome of that very command


def application(service: Service, tell: Tell | None = None) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """The service as an ASGI application; `tell` is called with one line for each request that was answered."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began = perf_counter()
        body = await _read(receive)
        if body is None:
            return
        request = _request(scope, body)
        response = service.respond(request)
        await _send(send, scope, response)
        if tell is not None:
            tell(_line(request, response, perf_counter() - began, service.world.credentials))

    return app


def _line(request: Request, response: Response, seconds: float, keys: Iterable[str]) -> str:
    """What is logged of a request: no header, no body, no query, nothing of a key."""
    told = _told(response)
    return f"{request.method} {_path(request.target, keys)} {response.status} {seconds * 1000:.1f} ms{told}"


def _told(response: Response) -> str:
    """Why it was refused, or which fault was played; a faulted body says nothing that could be logged."""
    if response.fault:
        return f"  fault: {response.fault}"
    return "" if response.status == OK else f"  {json.loads(response.body)['detail']}"


def _path(target: str, keys: Iterable[str]) -> str:
    """The path as it may be logged; a terminal obeys control characters, and anything may stand where an id belongs."""
    path = target.partition("?")[0]
    if any(key in unquote(path) for key in keys):
        return "[key]"
    segments = (one if len(one) <= LONGEST_SEGMENT else f"[{len(one)} characters]" for one in path.split("/"))
    return "/".join(segments).encode("unicode_escape").decode("ascii")[:LONGEST_PATH]


async def _read(receive: Receive) -> bytes | None:
    """The whole body, chunked or not, cut where it is seen to be too large; None when the peer left."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if len(body) <= MAX_BODY:
            body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body[: MAX_BODY + 1])


def _request(scope: Message, body: bytes) -> Request:
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    query = scope["query_string"].decode("latin-1")
    target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
    return Request(scope["method"], target, headers, body)


async def _send(send: Send, scope: Message, response: Response) -> None:
    if response.wire != AT_ONCE:
        return await carry_out(send, scope["extensions"][LINE], response)
    await send(head(response))
    return await send({"type": "http.response.body", "body": response.body})


def listening(host: str, port: int) -> socket.socket:
    """A listening socket on a loopback address.

    Raises:
        ConfigurationError: the address is not loopback, or it cannot be had.
    """
    if host != "localhost" and not _is_loopback(host):
        raise ConfigurationError(f"The host {host!r} is not a loopback address. Use 127.0.0.1, ::1 or localhost.")
    if not 0 <= port <= HIGHEST_PORT:
        raise ConfigurationError(f"There is no port {port}. Choose one up to {HIGHEST_PORT}, or 0 for any free one.")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        message = f"Cannot listen on {host} port {port}: {error}. Choose another port, or 0 for any free one."
        raise ConfigurationError(message) from None
    # Connections inherit it. Without, headers and body leave as two packets, and the second waits 40 ms for an ack.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def base_url(listener: socket.socket) -> str:
    """The URL to configure a back end with."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _server(service: Service, tell: Tell | None = None) -> uvicorn.Server:
    import uvicorn  # noqa: PLC0415  # only a server needs it

    from workbook.simulation.wire_protocol import LineProtocol  # noqa: PLC0415  # it imports uvicorn too

    config = uvicorn.Config(
        application(service, tell),
        http=LineProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,  # `head` writes it: an answer may have a Date of its own
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(*, host: str = "127.0.0.1", port: int = 0, as_json: bool = False, seed: int = 7, quiet: bool = False) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code.

    What a client needs is printed first, and then one line for each request goes to stderr.

    Args:
        host: a loopback address.
        port: 0 takes any free one.
        as_json: print one line of JSON.
        seed: of all that the service makes.
        quiet: log no requests.

    Raises:
        ConfigurationError: the address cannot be had.
    """
    world = fresh_world(seed)
    with listening(host, port) as listener:
        server = _server(Service(world), None if quiet else _log)
        server.capture_signals = _no_capture  # type: ignore[method-assign]
        asyncio.run(_until_signal(server, listener, lambda: _announce(listener, world, as_json=as_json)))
    return 0


def _announce(listener: socket.socket, world: World, *, as_json: bool) -> None:
    """Connections wait in the backlog from here on, so what is printed is true at once."""
    told = {
        "base_url": base_url(listener),
        "api_key": next(iter(world.credentials)),
        "payment_instrument_ids": list(world.instruments),
    }
    outputs = {one: fresh_output(one, seed=world.seed) for one in world.instruments}
    json_line = json.dumps(told | {"sdk_outputs": outputs})
    sys.stdout.write(f"{json_line}\n" if as_json else _for_a_person(told, next(iter(outputs.items())), world.seed))
    sys.stdout.flush()


def _for_a_person(told: Mapping[str, Any], first: tuple[str, str], seed: int) -> str:
    """The same as text, and both calls to be pasted into a terminal."""
    lines = [f"{name}: {value if isinstance(value, str) else ' '.join(value)}" for name, value in told.items()]
    instrument, output = first
    url = f"{told['base_url']}{BEFORE_ID}{instrument}{AFTER_ID}"
    command = ["curl", "-H", f"x-api-key: {told['api_key']}", "-H", "content-type: application/json"]
    another = "workbook sdk-output" if seed == World().seed else f"workbook sdk-output --seed {seed}"
    return "\n".join(
        [
            *lines,
            f"\nThe GET:\n{shlex.join([*command, url])}",
            f"\nThe POST:\n{shlex.join([*command, '--data', json.dumps({'sdkOutput': output}), url])}",
            f"\nAn sdkOutput can be exchanged once. For another: {another}",
            "Simulated data only. Stop with Ctrl-C.\n",
        ]
    )


def _log(line: str) -> None:
    with suppress(OSError):  # nobody reads any more, which is no reason to stop serving
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


@contextmanager
def _no_capture() -> Iterator[None]:
    """Uvicorn raises a captured signal again after its shutdown, which would end a clean stop with a kill."""
    yield


async def _until_signal(server: uvicorn.Server, listener: socket.socket, announce: Callable[[], None]) -> None:
    """Whoever reads what is announced may stop the server at once: its signals are heard by then."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)  # noqa: FBT003  # setattr's value
    announce()
    await server.serve(sockets=[listener])


@contextmanager
def running(service: Service | None = None) -> Iterator[str]:
    """The service on a free loopback port, on a thread, for as long as the block lasts; yields its base URL."""
    with listening("127.0.0.1", 0) as listener:
        server = _server(service or Service())
        server.capture_signals = _no_capture  # type: ignore[method-assign]
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield base_url(listener)
        finally:
            server.should_exit = True
            thread.join()
