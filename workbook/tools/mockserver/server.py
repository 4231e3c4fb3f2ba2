"""HTTP/1.1 on a real socket, for the simulated API, the proxy and the API side of `conform`.

A `Server` takes requests on one or more listening sockets, in one event loop, and gives each to one function: a
`Request` goes in, a `Response` comes out (with the faults of its `wire`), or a `RawAnswer`, which is sent byte for
byte. h11 parses requests; everything else of the connection is here, because a fault such as a reset or
a truncated body has to be written on the transport itself, which no server library offers in its public API.

An answer that is there at once is written without a task: one system call for each answer.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
import struct
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from inspect import isawaitable
from ipaddress import ip_address
from itertools import chain
from logging import getLogger
from math import inf
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import h11

from workbook.base.files import ScratchFolder
from workbook.base.terminal import at_first_signal, visible
from workbook.base.values import check_port
from workbook.errors import ConfigurationError
from workbook.simulation.http import AT_ONCE, MAX_BODY, PHRASES, UNANSWERED, Ending, Request, Responder, Response, half
from workbook.simulation.service import Service

if TYPE_CHECKING:  # it brings cryptography, which only TLS needs
    import trustme

# Bytes of a request's first line and headers (assumed; the document shows no limit, GAP-2).
MAX_HEAD = 65_536
# The values of the header Host that mean this machine, without a port.
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})

# The status for a request whose first line and headers are larger than that.
REQUEST_HEAD_TOO_LARGE = 431

LOGGER = getLogger("workbook.server")
# For a handler that waits: set once the peer, whose request it answers, has left or sends no more.
LEAVING: ContextVar[asyncio.Event | None] = ContextVar("leaving", default=None)


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer that is sent as it is.

    Attributes:
        head: the status line and the headers, each with its line end, without the empty line behind them.
        body: the bytes of the body; empty where the answer has none.
        chunked: whether the body travels in chunks.
    """

    head: bytes = field(repr=False)
    body: bytes = field(repr=False)
    chunked: bool = False


AnyAnswer: TypeAlias = Response | RawAnswer
# Answers a request, at once or later; it runs in the server's event loop.
Handler = Callable[[Request], AnyAnswer | Awaitable[AnyAnswer]]
# Gets each request, its answer, and the seconds from one to the other, after the answer was written.
Log = Callable[[Request, AnyAnswer, float], None]


def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {PHRASES.get(status, '')}\r\n"


def head(response: Response) -> str:
    """The status line and the headers; a Date is added where the answer has none of its own."""
    headers = [*response.headers, response.wire.framing(response.body)]
    if not any(name == "date" for name, _value in headers):
        headers.append(("date", formatdate(usegmt=True)))
    return _status_line(response.status) + "".join([f"{name}: {value}\r\n" for name, value in headers])


# How a connection works. h11 parses what arrives, each request with a parser of its own, because answers are not
# written through it; a complete request is queued.
# `_answer_waiting` takes requests from the queue, one at a time, so that answers leave in the order of their requests
# however many a peer sends ahead (pipelining). An answer that is there at once is written in the same call. One that
# takes time (the proxy's, a wait of the control API, a fault with a pause) becomes the connection's only task, and the
# queue waits for it. Above 16 requests, or when the peer does not take its answers, reading stops: TCP then slows the
# peer down, and no peer can fill the memory.
#
# Three flags tell how a connection ends. `_deaf`: nothing that still arrives counts. `_ending`: it is closed when the
# answers that are due are written. `_leaving`: no pause of a fault is waited for any longer.


def new_parser() -> h11.Connection:
    """What parses one request."""
    return h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)


class Connection(asyncio.Protocol):
    """One connection of a peer: its requests are answered one after the other, in their order.

    A peer that sends too large a head (`MAX_HEAD`) or too slowly (`within`) is refused and closed. A pause that
    a fault asks for ends when the peer leaves or the server stops.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._parser = new_parser()
        self._head: h11.Request | None = None  # of the request whose body is read
        self._body = bytearray()
        self._waiting: deque[tuple[Request, bool]] = deque()
        self._task: asyncio.Task[None] | None = None  # makes or writes an answer that takes time
        self._leaving = asyncio.Event()
        self._lost = asyncio.Event()
        self._deaf = False  # what the peer sends is ignored
        self._ending = False  # the connection closes after the answers that are due
        self._write_paused = self._read_paused = self._begun = False
        self._until, self._idle = inf, False
        self._alarm: asyncio.TimerHandle | None = None

    # ------------------------------------------------------------ the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the clock for the first request: a connection that never sends anything is refused as well."""
        self._transport: Any = transport
        if len(self._server.connections) >= self._server.most_connections:
            self._refuse(503, "Too many connections.")
            return
        self._server.connections.add(self)
        self._until = self._loop.time() + self._server.within
        self._watch()

    def connection_lost(self, _error: Exception | None) -> None:
        """End all pauses; an answer that is still being made is finished, because a proxy records it."""
        self._deaf = True
        if self._alarm is not None:
            self._alarm.cancel()
        self._leaving.set()
        self._lost.set()
        self._waiting.clear()
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Parse, and answer what is complete by then."""
        refused = 0
        try:
            self._receive(data)
            while not self._deaf and self._take(self._parser.next_event()):
                pass
        except h11.RemoteProtocolError as error:  # its text repeats what the peer sent
            refused = error.error_status_hint
        self._answer_waiting()
        if refused:
            self._refuse(refused, "" if refused == REQUEST_HEAD_TOO_LARGE else "Invalid HTTP request received.")

    def _receive(self, data: bytes) -> None:
        """Give bytes to the parser; with the first ones a request begins, perhaps the next one of a connection."""
        if not self._begun:
            data = data.lstrip(b"\r\n")  # RFC 9112, 2.2
        if data and not self._deaf:
            if not self._begun:
                self._begun, self._idle = True, False
                self._until = self._loop.time() + self._server.within
            self._parser.receive_data(data)

    def eof_received(self) -> bool:
        """Finish the answer that is being made, and close; without one, or over TLS, close at once.

        TCP cannot distinguish a peer that left from one with no more to send, so every pause ends here.
        """
        if self._task is None:
            return False
        self._deaf = self._ending = True
        self._leaving.set()
        return self._transport.get_extra_info("ssl_object") is None

    def pause_writing(self) -> None:
        """Read nothing more from a peer that does not take its answers."""
        self._write_paused = True
        self._regulate()

    def resume_writing(self) -> None:
        """Go on reading."""
        self._write_paused = False
        self._regulate()

    def _regulate(self) -> None:
        stop = self._write_paused or len(self._waiting) > 16
        if stop is not self._read_paused and not self._transport.is_closing():
            self._read_paused = stop
            self._transport.pause_reading() if stop else self._transport.resume_reading()

    # ------------------------------------------------------------ limits

    def _watch(self) -> None:
        """One timer for the connection, however many requests come: it looks how much time is left."""
        left = self._until - self._loop.time()
        if left > 0:
            self._alarm = self._loop.call_later(min(left, self._server.idle), self._watch)
        elif self._idle:
            self._shut()
        else:
            self._refuse(408)

    def _refuse(self, status: int, text: str = "") -> None:
        """Answer for the server itself, and close; where another answer is being made, close after that one."""
        if not self._deaf:
            self._deaf = self._ending = True
            if self._task is None:
                headers = f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(text)}\r\n"
                self._transport.write(f"{_status_line(status)}{headers}connection: close\r\n\r\n{text}".encode())
                self._shut()

    # ------------------------------------------------------------ the parser

    def _take(self, event: object) -> bool:
        """Take what the parser has found; False where it needs more."""
        match event:
            case h11.Request():
                self._head, self._body = event, bytearray()
                size = len(event.target) + sum(map(len, chain.from_iterable(event.headers.raw_items())))
                if size > MAX_HEAD or len(event.headers) > 200:  # assumed
                    self._refuse(REQUEST_HEAD_TOO_LARGE)
                self._continue()
            case h11.Data():
                if (
                    len(self._body) <= self._server.most_body
                ):  # more than that is recognised as too large, and forgotten
                    self._body += event.data
            case h11.EndOfMessage() if self._head is not None:
                self._complete(self._head)
            case _:
                return False
        return True

    def _complete(self, head: h11.Request) -> None:
        """Queue the request; from now on the time is the server's."""
        keep = self._parser.their_state is not h11.MUST_CLOSE
        rest, _closed = self._parser.trailing_data
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.raw_items())
        method, target, version = (part.decode("latin-1") for part in (head.method, head.target, head.http_version))
        body = bytes(self._body[: self._server.most_body + 1])
        self._waiting.append((Request(method, target, headers, body, version), keep))
        self._parser, self._begun, self._until, self._deaf = new_parser(), False, inf, not keep
        self._receive(rest)

    def _continue(self) -> None:
        waits = self._parser.they_are_waiting_for_100_continue
        if waits and self._task is None and not self._waiting and not self._deaf:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # ------------------------------------------------------------ the answers

    def _answer_waiting(self) -> None:
        """Answer the queued requests until one takes time; its task goes on with the rest."""
        while self._waiting and self._task is None and not self._transport.is_closing():
            request, keep = self._waiting.popleft()
            began = perf_counter()
            try:
                answer = self._server.answer(request)
            except Exception:
                LOGGER.exception("A request could not be answered.")  # a defect of the handler must not end the server
                self._failed()
                return
            if isinstance(answer, RawAnswer) or (isinstance(answer, Response) and answer.wire == AT_ONCE):
                self._write(request, answer, keep=keep)
                self._done(request, answer, began, keep=keep)
            else:
                self._task = self._loop.create_task(self._answer_later(request, answer, began, keep=keep))
                self._server.tasks.add(self._task)
                self._task.add_done_callback(self._server.tasks.discard)
        self._regulate()

    async def _answer_later(
        self, request: Request, coming: AnyAnswer | Awaitable[AnyAnswer], began: float, *, keep: bool
    ) -> None:
        """Wait for an answer, write it as its wire says, and go on with the queue."""
        LEAVING.set(self._leaving)
        try:
            answer = await coming if isawaitable(coming) else coming
            keep = keep and not (self._ending and not self._waiting)
            if isinstance(answer, RawAnswer) or answer.wire == AT_ONCE:
                self._write(request, answer, keep=keep)
            else:
                keep = await self._play(request, answer, keep=keep)
            self._task = None
            self._done(request, answer, began, keep=keep)
        except asyncio.CancelledError:  # the server stops
            self._shut()
        except Exception:
            LOGGER.exception("A request could not be answered.")
            self._failed()
        finally:
            self._task = None
        self._answer_waiting()

    def _done(self, request: Request, answer: AnyAnswer, began: float, *, keep: bool) -> None:
        if not keep:
            self._deaf = True
            self._shut()
        elif not self._waiting and self._until == inf:
            self._until, self._idle = self._loop.time() + self._server.idle, True
        self._continue()
        if self._server.log is not None:
            self._server.log(request, answer, perf_counter() - began)

    def _failed(self) -> None:
        self._task, self._deaf = None, False
        self._refuse(500, "Internal Server Error")

    def _write(self, request: Request, answer: AnyAnswer, *, keep: bool) -> None:
        """Write a whole answer in one piece: one system call, one TLS record, one wake-up of the peer."""
        if self._lost.is_set():
            return
        closing = b"" if keep else b"connection: close\r\n"
        if isinstance(answer, RawAnswer):
            start, body, chunked = answer.head, answer.body, answer.chunked
        else:
            start, body, chunked = head(answer).encode(), answer.body, False
        if request.method == "HEAD":
            body = b""
        elif chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
        self._transport.write(b"".join((start, closing, b"\r\n", body)))

    async def _play(self, request: Request, response: Response, *, keep: bool) -> bool:
        """Write an answer with its faults; returns whether the connection may be used again."""
        wire, body = response.wire, response.body
        if not await self._pause(wire.before_headers):
            return await self._close()
        if wire.ending is Ending.RESET:
            own = self._transport.get_extra_info("socket")  # wrapped, yet its options can be set
            # Closing a socket that lingers for 0 s sends RST instead of FIN. The two numbers are shorter on Windows.
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("hh" if os.name == "nt" else "ii", 1, 0))
            self._transport.abort()
            await self._lost.wait()
            return False
        if wire.ending in UNANSWERED:
            return await self._close()
        chunked = wire.in_chunks
        ending = b"" if keep else b"connection: close\r\n"
        piece_before = head(response).encode() + ending + b"\r\n"
        for seconds, piece in wire.pieces(body) if request.method != "HEAD" else ():
            if seconds:
                self._transport.write(piece_before)
                piece_before = b""
                if not await self._pause(seconds):
                    return await self._close()
            self._transport.write(piece_before + (b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece))
            piece_before = b""
        match wire.ending:
            case Ending.BAD_CHUNK:
                piece_before += b"no size\r\n"
            case Ending.WRONG_LENGTH:
                piece_before += body[half(body) :]
            case Ending.WHOLE if chunked:
                piece_before += b"0\r\n\r\n"
            case _:
                pass  # what is written is all
        self._transport.write(piece_before)
        return keep if wire.ending is Ending.WHOLE else await self._close()

    async def _pause(self, seconds: float) -> bool:
        """Wait; returns False, without waiting on, when the peer has left or the server stops."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), seconds)
        return not self._leaving.is_set()

    def _shut(self) -> None:
        """Close once: after a second close of TLS, asyncio of Python 3.11.2 cannot cut the connection any more."""
        if not self._transport.is_closing():
            self._transport.close()

    async def _close(self) -> bool:
        """Send what is written and then FIN; a peer that does not take it within a second is cut off."""
        self._deaf = True
        self._shut()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._lost.wait(), 1.0)
        self._transport.abort()
        await self._lost.wait()
        return False

    # ------------------------------------------------------------ the end

    def leave(self) -> None:
        """End every pause, and close when the answer that is being made is written: the server stops."""
        self._deaf = self._ending = True
        self._waiting.clear()
        self._leaving.set()
        if self._task is None:
            self._shut()

    def abort(self) -> None:
        """Cut the connection now."""
        self._transport.abort()


@dataclass(eq=False, repr=False, kw_only=True)
class Server:
    """Answers the requests that arrive at its listening sockets.

    Args:
        answer: see `Handler`.
        log: see `Log`.
        most_body: bytes of a request's body that `answer` gets at most, plus one byte of a larger one.
        within: seconds that a whole request may take to arrive, from the connection or its first byte on (assumed).
        idle: seconds after which a connection without a request is closed; it may take up to twice as long.
    """

    answer: Handler = field(kw_only=False)
    log: Log | None = field(default=None, kw_only=False)
    most_body: int = MAX_BODY
    within: float = 30.0
    idle: float = 5.0

    def __post_init__(self) -> None:
        self.connections: set[Connection] = set()
        self.most_connections = _most_connections()
        self.tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[tuple[socket.socket, ssl.SSLContext | None]] = []
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._abrupt = False

    def listen(self, listener: socket.socket, certificate: Certificate | None = None) -> None:
        """Take the connections of this socket too, with TLS where there is a certificate; call it before `serve`."""
        self._listeners.append((listener, None if certificate is None else certificate.context()))

    async def serve(self, ready: Callable[[], None] | None = None) -> None:
        """Answer until `stop` is called; `ready` is called when connections are taken."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_unless_no_descriptor)
        listening = [
            await self._loop.create_server(lambda: Connection(self), sock=listener, ssl=context, backlog=BACKLOG)
            for listener, context in self._listeners
        ]
        if ready is not None:
            ready()
        await self._stopping.wait()
        for each in listening:
            each.close()
        for connection in [*self.connections]:
            connection.abort() if self._abrupt else connection.leave()
        until = self._loop.time() + 2.0  # for the answers that are still being made or written
        while (self.connections or self.tasks) and not self._abrupt and self._loop.time() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # it happens once per server: an event for two sets is not worth it
        for task in [*self.tasks]:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for connection in [*self.connections]:
            connection.abort()
        for _turn in range(5):  # of the loop, in which the transports close their sockets
            await asyncio.sleep(0)

    def stop(self, *, abrupt: bool = False) -> None:
        """End `serve`, from any thread: soon, or `abrupt` by cutting every connection."""
        self._abrupt = abrupt
        if self._loop is None:
            self._stopping.set()
        else:
            self._loop.call_soon_threadsafe(self._stopping.set)


def _unless_no_descriptor(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error, except that no descriptor is left for a connection: asyncio accepts it a second later."""
    error = context.get("exception")
    if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
        loop.default_exception_handler(context)


def _most_connections() -> int:
    """The descriptors this process may have, less those of one burst and 64 others; 10,000 at most.

    asyncio accepts up to `BACKLOG` connections at a stroke, before one of them can be refused.
    """
    most = 10_000
    try:
        import resource  # not on Windows
    except ImportError:
        return most
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if soft < 0 else max(1, min(soft - BACKLOG - 64, most))


# Where a server listens: on this machine, unless others are let in explicitly.

# Connections that wait to be accepted; connections beyond these wait a second or more.
BACKLOG = 128


def listening(host: str, port: int, *, allow_remote: bool = False) -> socket.socket:
    """A listening socket, on a loopback address unless others are let in; port 0 takes any free one.

    Raises:
        ConfigurationError: the address is not loopback, or it cannot be had.
    """
    if not allow_remote and not is_loopback(host):
        raise ConfigurationError(
            f"The host {host!r} is not a loopback address. Use 127.0.0.1, ::1 or localhost; or, on a network that you "
            "trust, say --allow-remote as well."
        )
    check_port(port)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        of_system = error.errno is not None and error.errno > 0  # Python's own text repeats the address
        reason = os.strerror(error.errno or 0) if of_system else "there is no such host"
        message = f"Cannot listen on {host} port {port}: {reason}. Choose another port, or 0 for any free one."
        raise ConfigurationError(message) from None
    # Without this, which connections inherit, a second small write waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


Listener = tuple[socket.socket, "Certificate | None"]


def listeners(
    stack: ExitStack, host: str, port: int, *, tls: bool, allow_remote: bool = False
) -> tuple[list[Listener], dict[str, str]]:
    """What a command listens on (http, and https on another free port if asked for), and what it announces.

    Args:
        stack: closes the sockets, and removes the throw-away certificate.
        host: an address, as `listening` takes it.
        port: of http.
        tls: whether there is https as well.
        allow_remote: whether the address may be another than loopback.

    Raises:
        ConfigurationError: as `listening`.
    """
    plain = stack.enter_context(listening(host, port, allow_remote=allow_remote))
    opened: list[Listener] = [(plain, None)]
    addresses = {"base_url": base_url(plain)}
    if tls:
        folder = Path(stack.enter_context(ScratchFolder()))
        certificate = make_certificate(folder, {*LOOPBACK, host} - {"0.0.0.0", "::"})  # compared  # noqa: S104
        secure = stack.enter_context(listening(host, 0, allow_remote=allow_remote))
        opened.append((secure, certificate))
        addresses |= {"tls_base_url": base_url(secure, "https"), "ca_file": str(certificate.ca_file)}
    return opened, addresses


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def base_url(listener: socket.socket, scheme: str = "http") -> str:
    """The URL to configure a back end with."""
    host, port = listener.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def is_own_host(request: Request, names: Iterable[str] = ()) -> bool:
    """Whether the header Host names this machine or one of `names`; a request without it (HTTP/1.0) passes.

    Guards against DNS rebinding: a web page whose own name suddenly resolves to 127.0.0.1 could otherwise read what
    this server answers, with the browser's consent. Its requests still carry the page's name as their Host.
    """
    host = request.header("host")
    if host is None:
        return True
    bare = host_name(host)
    return bare in LOOPBACK_HOSTS or bare in map(host_name, names)


def host_name(host: str) -> str:
    """A host without its port, in small letters; an IPv6 address keeps or gets its brackets."""
    host = host.strip().lower().removesuffix(".")
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return f"[{host}]" if host.count(":") > 1 else host.partition(":")[0]


# A throw-away certificate authority, for clients that insist on https.
#
# It is made anew at each start, and serve signs one certificate with it. No private key stays on the disk, so nobody
# can sign anything else later. A client that trusts `ca.pem` trusts this server and nothing more.

# The names that a certificate is good for.
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Certificate:
    """A server's certificate.

    Attributes:
        ca_file: the authority that a client has to trust.
        issued: by that authority, with the server's private key.
    """

    ca_file: Path
    issued: trustme.LeafCert = field(repr=False)

    def context(self) -> ssl.SSLContext:
        """What a server needs to speak TLS 1.2 or later."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.issued.configure_cert(context)
        return context


def make_certificate(folder: Path, names: Iterable[str] = LOOPBACK) -> Certificate:
    """Make an authority and a certificate for `names`; a client finds the authority in `folder`.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    authority = new_authority()
    return write_certificate(folder, authority, authority.issue_cert(*names))


def new_authority() -> trustme.CA:
    """An authority whose key is in memory only."""
    import trustme

    return trustme.CA(organization_name="workbook, simulated data only")


def write_certificate(folder: Path, authority: trustme.CA, issued: trustme.LeafCert) -> Certificate:
    """A certificate that this authority issued; the authority's own is written into a folder for its owner only.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    ca_file = folder / "ca.pem"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ca_file.unlink(missing_ok=True)
        ca_file.touch(mode=0o600)
        authority.cert_pem.write_to_path(ca_file)
    except OSError as error:
        raise ConfigurationError(f"Cannot write the certificate into {str(folder)!r}: {error}.") from None
    return Certificate(ca_file, issued)


# How a server runs: in the main thread until a signal, or on a thread of its own.


def run_until_signal(server: Server, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C, SIGTERM or SIGHUP (a closed terminal); `ready` is called when connections are taken."""
    at_first_signal(server.stop)
    asyncio.run(server.serve(ready))


def print_log(line: str) -> None:
    """Write a line to stderr; a closed stderr is no reason to stop serving."""
    with suppress(OSError):
        sys.stderr.write(f"{visible(line)}\n")
        sys.stderr.flush()


@contextmanager
def on_thread(server: Server, *, abrupt: bool = False) -> Iterator[None]:
    """Serve on a thread for as long as the block lasts; `abrupt` cuts every connection at the end."""
    ready = Event()

    def serve() -> None:
        try:
            asyncio.run(server.serve(ready.set))
        finally:
            ready.set()

    thread = Thread(target=serve, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        server.stop(abrupt=abrupt)
        thread.join()


@contextmanager
def running(
    responder: Responder | None = None, *, certificate: Certificate | None = None, log: Log | None = None
) -> Iterator[str]:
    """Serve on a free loopback port, on a thread, for as long as the block lasts; yields the base URL.

    Args:
        responder: answers; None takes a fresh simulated service.
        certificate: serve https with it.
        log: called for each answer.
    """
    server = Server(answering(responder or Service()), log)
    with listening("127.0.0.1", 0) as listener:
        server.listen(listener, certificate)
        with on_thread(server):
            yield base_url(listener, "http" if certificate is None else "https")


def answering(responder: Responder) -> Callable[[Request], Response]:
    """A handler that asks `responder`; the absolute form of a target (RFC 9112, 3.2.2) reaches it as its path."""

    def answer(request: Request) -> Response:
        if not request.target.startswith("/") and "://" in request.target:
            request = replace(request, target="/" + request.target.partition("://")[2].partition("/")[2])
        return responder.respond(request)

    return answer
