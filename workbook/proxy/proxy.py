"""`workbook proxy`: the proxy on loopback, until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from workbook.proxy.address import Target
from workbook.proxy.exact_line import ExactLine
from workbook.proxy.forwarding import application
from workbook.proxy.recording import Head, Recording
from workbook.proxy.upstream import DEADLINE, Upstream, trusting
from workbook.simulation.listening import base_url, listening
from workbook.simulation.server import made
from workbook.simulation.tls import make_certificate

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from workbook.proxy.forwarding import Exchange, Keep
    from workbook.simulation.tls import Certificate

    Line = tuple[Any, socket.socket]

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to stand in between.

    Attributes:
        to: the real API's base URL.
        port: 0 takes any free one; TLS always takes another free one.
        tls: serve https as well, with a throw-away certificate.
        ca_file: the authority to trust instead of the public ones.
        deadline: seconds for a whole exchange with the API.
        out: the record; None makes a name of the moment.
        append: go on with a record that is there.
        pseudonyms: keep no id of a payment instrument as it is.
        as_json: print the addresses, and at the end the summary, as a line of JSON each.
        quiet: log no requests.
    """

    to: str
    port: int = 0
    tls: bool = False
    ca_file: Path | None = None
    deadline: float = DEADLINE
    out: Path | None = None
    append: bool = False
    pseudonyms: bool = False
    as_json: bool = False
    quiet: bool = False


def serve(options: Options) -> int:
    """Pass everything on until SIGINT or SIGTERM, then say what was recorded; returns the exit code.

    Raises:
        ConfigurationError: an address, a file or a limit is not in order; nothing was sent.
    """
    target = Target.of(options.to)
    upstream = Upstream(target, trusting(options.ca_file), options.deadline)
    began = datetime.now(UTC)
    head = Head(target.base_url, began.isoformat(timespec="seconds"), options.pseudonyms)
    path = options.out or Path(f"proxy-{began:%Y%m%dT%H%M%SZ}.jsonl")
    with ExitStack() as stack:
        plain = stack.enter_context(listening(LOOPBACK, options.port))
        recording = stack.enter_context(closing(Recording(path, head, append=options.append)))
        app = application(upstream, _keep(recording, None if options.quiet else _log))
        lines: list[Line] = [(server(app), plain)]
        addresses = {"base_url": base_url(plain), "to": target.base_url, "record": str(path)}
        if options.tls:
            addresses |= _add_tls(stack, app, lines)
        asyncio.run(_until_signal(lines, lambda: _announce(addresses, recording, as_json=options.as_json)))
        _sum_up(recording, as_json=options.as_json)
    return 0


def server(app: Any, certificate: Certificate | None = None) -> Any:
    """The stand-in's own server for this application, which keeps heads as they are."""
    one = made(app, certificate)
    one.config.http = ExactLine
    return one


@contextmanager
def running(upstream: Upstream, keep: Keep) -> Iterator[str]:
    """A proxy on a free port, on a thread, for as long as the block lasts; yields its base URL."""
    with listening(LOOPBACK, 0) as listener:
        one = server(application(upstream, keep))
        thread = Thread(target=one.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield base_url(listener)
        finally:
            one.should_exit = True
            thread.join()


def _keep(recording: Recording, tell: Callable[[str], None] | None) -> Keep:
    """Records each exchange; a disk that is full must not cost the back end its answer, and must not be hidden."""

    def keep(exchange: Exchange) -> None:
        try:
            told = recording.keep(exchange)
        except OSError as error:
            _log(f"Not recorded: {error.strerror or error}.")
            return
        if tell is not None:
            tell(told)

    return keep


def _add_tls(stack: ExitStack, app: Any, lines: list[Line]) -> dict[str, str]:
    """A second listener with a certificate that goes when the proxy goes; what to tell of it."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="workbook-tls-")))
    certificate = make_certificate(folder)
    secure = stack.enter_context(listening(LOOPBACK, 0))
    lines.append((server(app, certificate), secure))
    return {"tls_base_url": base_url(secure, "https"), "ca_file": str(certificate.ca_file)}


def _announce(addresses: dict[str, str], recording: Recording, *, as_json: bool) -> None:
    """Connections wait in the backlog from here on, so what is printed is true at once."""
    if recording.cut:
        _log(f"The last line of {recording.path} was unfinished and is taken away.")
    if as_json:
        return _say(json.dumps(addresses))
    lines = [f"{name}: {value}" for name, value in addresses.items()]
    _say("\n".join([*lines, "Point your back end at base_url instead of the API. Stop with Ctrl-C."]))
    return None


def _sum_up(recording: Recording, *, as_json: bool) -> None:
    command = f"workbook drift {quote(str(recording.path))}"
    if as_json:
        return _say(json.dumps({"exchanges": recording.count, "record": str(recording.path), "next": command}))
    noun = "exchange" if recording.count == 1 else "exchanges"
    _say(f"{recording.count} {noun} in {recording.path}. Compare them with the simulator: {command}")
    return None


def _say(text: str) -> None:
    with suppress(OSError):  # nobody reads any more, which is no reason to stop
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def _log(line: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


async def _until_signal(lines: list[Line], announce: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for one, _listener in lines:
            one.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    announce()
    await asyncio.gather(*(one.serve(sockets=[listener]) for one, listener in lines))
