"""The simulated service over real HTTP, on loopback: the same bytes as in-process, on a real socket.

uvicorn carries it; the application here only reads a body, up to the service's limit, and hands over.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import socket
import sys
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from threading import Thread
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError
from workbook.simulation.service import MAX_BODY, Request, Service
from workbook.simulation.world import Credential, World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    import uvicorn

    from workbook.simulation.service import Response

    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

HIGHEST_PORT = 65535


def fresh_world(seed: int = 7) -> World:
    """The default world under a key made just now, for a server that others can reach on this machine."""
    return replace(World(seed=seed), credentials={f"SIMULATED-{secrets.token_urlsafe(18)}": Credential()})


def application(service: Service) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """The service as an ASGI application."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _read(receive)
        if body is not None:
            await _send(send, service.respond(_request(scope, body)))

    return app


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


async def _send(send: Send, response: Response) -> None:
    headers = [(name.encode(), value.encode()) for name, value in response.headers]
    headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


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


def _server(service: Service) -> uvicorn.Server:
    import uvicorn  # noqa: PLC0415  # only a server needs it

    config = uvicorn.Config(
        application(service),
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(*, host: str = "127.0.0.1", port: int = 0, as_json: bool = False) -> int:
    """Serve until SIGINT or SIGTERM; prints the base URL, the key and the ids first. Returns the exit code.

    Raises:
        ConfigurationError: the address cannot be had.
    """
    world = fresh_world()
    with listening(host, port) as listener:
        server = _server(Service(world))
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
    lines = [json.dumps(told)] if as_json else [f"{name}: {_shown(value)}" for name, value in told.items()]
    closing = [] if as_json else ["Simulated data only. Stop with Ctrl-C."]
    sys.stdout.write("\n".join([*lines, *closing]) + "\n")
    sys.stdout.flush()


def _shown(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


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
