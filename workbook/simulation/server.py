"""The stand-in over real HTTP and TLS, on loopback: the same bytes as in-process, on a real socket.

uvicorn carries it, one server for each listener, in one process and one event loop.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from workbook.simulation.asgi import application
from workbook.simulation.control import PREFIX
from workbook.simulation.handout import for_a_person, handout
from workbook.simulation.listening import base_url, is_loopback, listening
from workbook.simulation.service import Service
from workbook.simulation.stand import DEFAULT, Stand
from workbook.simulation.tls import LOOPBACK, Certificate, make_certificate

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    import uvicorn

    from workbook.simulation.transport import Responder

    Line = tuple[uvicorn.Server, socket.socket]

WARNING = "Warning: everybody who can reach {host} can use this server. Its data is simulated; its control API is not."


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to serve.

    Attributes:
        host: a loopback address, unless `allow_remote`.
        port: 0 takes any free one; TLS always takes another free one.
        as_json: print one line of JSON.
        seed: of all that the service makes; None takes the scenario's.
        quiet: log no requests.
        scenario: a scenario's name or file.
        state: a file that keeps the worlds over a restart.
        tls: serve https as well, with a throw-away certificate.
        control: serve the control API as well.
        basis: test mode: every answer says in a header what it rests on.
        allow_remote: let others than this machine in.
    """

    host: str = "127.0.0.1"
    port: int = 0
    as_json: bool = False
    seed: int | None = None
    quiet: bool = False
    scenario: str = DEFAULT
    state: Path | None = None
    tls: bool = False
    control: bool = False
    basis: bool = False
    allow_remote: bool = False


def serve(options: Options | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code.

    What a client needs is printed first, and then one line for each request goes to stderr.

    Raises:
        ConfigurationError: an address cannot be had, or a file is not in order.
    """
    options = options or Options()
    with ExitStack() as stack:
        plain = stack.enter_context(_listener(options, options.port))
        stand = stack.enter_context(closing(_stand(options)))
        lines = [(_server(stand, options), plain)]
        addresses = {"base_url": base_url(plain)}
        if options.tls:
            addresses |= _add_tls(stack, stand, options, lines)
        if options.control:
            addresses |= {"control_url": f"{addresses['base_url']}{PREFIX}", "control_token": stand.token}
        asyncio.run(_until_signal(lines, lambda: _announce(stand, options, addresses)))
    return 0


def _listener(options: Options, port: int) -> socket.socket:
    return listening(options.host, port, allow_remote=options.allow_remote)


def _stand(options: Options) -> Stand:
    return Stand(
        options.scenario, seed=options.seed, state=options.state, names=[options.host], basis_header=options.basis
    )


def _add_tls(stack: ExitStack, stand: Stand, options: Options, lines: list[Line]) -> dict[str, str]:
    """A second listener with a certificate that goes when the server goes; what to tell of it."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="workbook-tls-")))
    certificate = make_certificate(folder, {*LOOPBACK, options.host} - {"0.0.0.0", "::"})  # noqa: S104  # not bound to
    secure = stack.enter_context(_listener(options, 0))
    lines.append((_server(stand, options, certificate), secure))
    return {"tls_base_url": base_url(secure, "https"), "ca_file": str(certificate.ca_file)}


def _server(stand: Stand, options: Options, certificate: Certificate | None = None) -> uvicorn.Server:
    tell = None if options.quiet else _log
    control = stand.control if options.control else None
    return made(application(stand, tell, keys=lambda: stand.worlds.keys, control=control), certificate)


def made(app: Any, certificate: Certificate | None = None) -> uvicorn.Server:
    """A server for this application; it listens where it is told to and leaves signals alone."""
    import uvicorn  # noqa: PLC0415  # only a server needs it

    from workbook.simulation.line_guard import GuardedLine  # noqa: PLC0415  # it imports uvicorn too

    config = uvicorn.Config(
        app,
        http=GuardedLine,
        loop="asyncio",  # as `serve` has it: uvicorn would take another one wherever it is installed
        ws="none",
        lifespan="off",
        log_config=None,  # it would set up logging for the whole process, each server anew, and let a line slip through
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # nobody stands in between, and nobody asks who a peer is
        server_header=False,
        date_header=False,  # `head` writes it: an answer may have a Date of its own
        timeout_graceful_shutdown=2,
        ssl_certfile=None if certificate is None else certificate.chain_file,
        ssl_keyfile=None if certificate is None else certificate.key_file,
    )
    server = uvicorn.Server(config)
    server.capture_signals = _no_capture  # type: ignore[method-assign]
    return server


@contextmanager
def _no_capture() -> Iterator[None]:
    """Uvicorn raises a captured signal again after its shutdown, which would end a clean stop with a kill."""
    yield


def _announce(stand: Stand, options: Options, addresses: dict[str, str]) -> None:
    """Connections wait in the backlog from here on, so what is printed is true at once."""
    told = handout(stand.world, addresses, stand.keys)
    if options.allow_remote and not is_loopback(options.host):
        _log(WARNING.format(host=options.host))
    sys.stdout.write(f"{json.dumps(told)}\n" if options.as_json else for_a_person(told, stand.world))
    sys.stdout.flush()


def _log(line: str) -> None:
    with suppress(OSError):  # nobody reads any more, which is no reason to stop serving
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


async def _until_signal(lines: list[Line], announce: Callable[[], None]) -> None:
    """Whoever reads what is announced may stop the servers at once: their signals are heard by then."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for server, _listener in lines:
            server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    announce()
    await asyncio.gather(*(server.serve(sockets=[listener]) for server, listener in lines))


@contextmanager
def running(responder: Responder | None = None) -> Iterator[str]:
    """Whoever answers on a free loopback port, on a thread, for as long as the block lasts; yields its base URL."""
    with listening("127.0.0.1", 0) as listener:
        server = made(application(responder or Service()))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield base_url(listener)
        finally:
            server.should_exit = True
            thread.join()
