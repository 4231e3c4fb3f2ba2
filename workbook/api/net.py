"""The way to a server: when every wait of it ends."""

from __future__ import annotations

import math
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Thread
from typing import Any, Self, TypeAlias

import anyio
import httpcore
import httpx

from workbook.api.protocol import literal

# Looks up a host's addresses; may block, and raises OSError where there is none.
Resolve: TypeAlias = Callable[[str, int], list[str]]


def look_up(host: str, port: int, resolve: Resolve | None = None) -> Future[list[str]]:
    """All addresses of a host, unchecked; the host itself where it is an address.

    A name is looked up on a thread of its own: a look-up that hangs cannot be interrupted, only left behind. The future
    fails with an OSError where the name has no address.
    """
    answer: Future[list[str]] = Future()
    answer.set_running_or_notify_cancel()  # whoever waits may go away; the thread then still has a place for its answer

    def run() -> None:
        try:  # an exception on this thread would be seen by nothing
            if resolve is None:
                entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
            else:
                addresses = resolve(host, port)
            if not addresses:
                raise OSError("the host has no address")  # noqa: TRY301  # a resolver's own error goes the same way
            answer.set_result(addresses)
        except (OSError, UnicodeError) as error:
            answer.set_exception(error if isinstance(error, OSError) else OSError(str(error)))

    if literal(host) is not None:
        answer.set_result([host])
    else:
        Thread(target=run, name="look-up", daemon=True).start()
    return answer


# A total deadline for blocking sockets: every single wait is cut to what is left of the call.
#
# httpx knows only a timeout per read, so a peer that sends ten bytes a second outlives any of them. Here the network
# layer below it looks up when the current call must end, and waits no longer than that: in DNS, connect, TLS handshake,
# read and write. The async client has a cancel scope for that; it only needs connections that are closed when a scope
# ends their handshake.


class Expiry:
    """When the current call ends; as a context, it ends every wait of this thread's network calls by then.

    Attributes:
        at: seconds of `time.monotonic`.
        passed: whether a wait was cut short because of it.
    """

    __slots__ = ("_cut", "_token", "at", "passed")

    def __init__(self, seconds: float = math.inf) -> None:
        self.at = time.monotonic() + seconds
        self.passed = self._cut = False

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _current.reset(self._token)

    def cut(self, timeout: float | None, late: type[httpcore.TimeoutException]) -> float | None:
        """The timeout, no longer than what is left.

        Raises:
            httpcore.TimeoutException: no time is left; its type is `late`.
        """
        left = self.at - time.monotonic()
        if left <= 0:
            self.passed = True
            raise late
        self._cut = timeout is None or left < timeout
        return (None if left == math.inf else left) if self._cut else timeout

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Around a wait: if it runs into its timeout, remember whether it was the deadline's."""
        try:
            yield
        except httpcore.TimeoutException:
            self.passed |= self._cut
            raise


_current: ContextVar[Expiry] = ContextVar("expiry", default=Expiry())  # noqa: B039  # an endless one; nothing changes it


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every wait ends with the call."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        # no layer where none is needed
        self.close, self.get_extra_info = inner.close, inner.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there."""
        expiry = _current.get()
        with expiry.noted():
            return self._inner.read(max_bytes, expiry.cut(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it, in pieces of 16 KiB: a slow reader is noticed between two of them."""
        expiry, piece = _current.get(), 16_384
        with expiry.noted():
            for start in range(0, len(buffer), piece):
                self._inner.write(buffer[start : start + piece], expiry.cut(timeout, httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Shake hands, or close."""
        expiry = _current.get()
        try:
            with expiry.noted():
                cut = expiry.cut(timeout, httpcore.ConnectTimeout)
                return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, cut))
        except BaseException:
            self.close()
            raise


class DeadlineBackend(httpcore.NetworkBackend):
    """Makes connections whose every wait ends with the call.

    Args:
        resolve: looks up names; None asks the system.
    """

    def __init__(self, resolve: Resolve | None = None) -> None:
        self._inner = httpcore.SyncBackend()
        self._resolve = resolve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers; the timeout holds for all of them together."""
        expiry = _current.get()
        with expiry.noted():
            total = Expiry(expiry.cut(timeout, httpcore.ConnectTimeout) or math.inf)
            failure: Exception = httpcore.ConnectError("the host has no address")
            try:
                wait = total.cut(None, httpcore.ConnectTimeout)
                addresses = look_up(host, port, self._resolve).result(wait)
            except TimeoutError:
                raise httpcore.ConnectTimeout from None
            except OSError:
                raise failure from None
            for address in addresses:
                try:
                    left = total.cut(None, httpcore.ConnectTimeout)
                    stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
                    return DeadlineStream(stream)
                except httpcore.ConnectError as refused:
                    failure = refused
            raise failure


_POOL: dict[str, Any] = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}


class DeadlineTransport(httpx.HTTPTransport):
    """httpx's own transport over `DeadlineBackend`; HTTP/1.1, no proxy, nothing from the environment.

    Args:
        tls: whom to trust.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls, trust_env=False)
        # httpx has no parameter for the network layer, httpcore has one: we reach in only here and below.
        self._pool = httpcore.ConnectionPool(ssl_context=tls, network_backend=DeadlineBackend(), **_POOL)


class GuardedStream(httpcore.AsyncNetworkStream):
    """An async connection that is closed when its TLS handshake is cancelled; httpcore would leak it."""

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner
        self.read, self.write, self.aclose = inner.read, inner.write, inner.aclose  # type: ignore[method-assign]
        self.get_extra_info = inner.get_extra_info  # type: ignore[method-assign]

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
    ) -> httpcore.AsyncNetworkStream:
        """Shake hands, or close."""
        try:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise


class GuardedBackend(httpcore.AnyIOBackend):
    """Makes guarded connections, on asyncio and trio."""

    async def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore.AsyncNetworkStream:
        """Connect; the arguments are httpcore's."""
        return GuardedStream(await super().connect_tcp(*args, **kwargs))


class GuardedTransport(httpx.AsyncHTTPTransport):
    """The async counterpart of `DeadlineTransport`.

    Args:
        tls: whom to trust.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(ssl_context=tls, network_backend=GuardedBackend(), **_POOL)
