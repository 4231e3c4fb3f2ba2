"""A total deadline for blocking sockets: every single wait is cut to what is left of the call.

httpx knows only a timeout per read, so a peer that sends ten bytes a second outlives any of them. Here the
network layer below it looks up when the current call must end, and waits no longer than that: in DNS, connect,
TLS handshake, read and write. The async client has a cancel scope for that; it only needs connections that are
closed when a scope ends their handshake.
"""

from __future__ import annotations

import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from ipaddress import ip_address
from typing import Any, Self

import anyio

from workbook.api.library import httpcore, httpx
from workbook.api.net import system_addresses

_POOL: dict[str, Any] = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}
_PIECE = 16_384  # bytes per write: a slow reader is noticed between two of them


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

    def note(self) -> None:
        """A wait ran into its timeout: remember whether it was the deadline's."""
        self.passed |= self._cut


_ENDLESS = Expiry()
_current: ContextVar[Expiry] = ContextVar("expiry", default=_ENDLESS)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every wait ends with the call."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what is there."""
        expiry = _current.get()
        try:
            return self._inner.read(max_bytes, expiry.cut(timeout, httpcore.ReadTimeout))
        except httpcore.TimeoutException:
            expiry.note()
            raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it, piece by piece."""
        expiry = _current.get()
        try:
            for start in range(0, len(buffer), _PIECE):
                piece = buffer[start : start + _PIECE]
                self._inner.write(piece, expiry.cut(timeout, httpcore.WriteTimeout))
        except httpcore.TimeoutException:
            expiry.note()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Shake hands."""
        expiry = _current.get()
        try:
            cut = expiry.cut(timeout, httpcore.ConnectTimeout)
            return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, cut))
        except httpcore.TimeoutException:
            expiry.note()
            raise

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows about itself."""
        return self._inner.get_extra_info(info)


class DeadlineBackend(httpcore.NetworkBackend):
    """Makes connections whose every wait ends with the call.

    Args:
        resolve: looks up a host's addresses; it may block, because it runs in a thread of its own.
    """

    def __init__(self, resolve: Callable[[str, int], list[str]] | None = None) -> None:
        self._inner = httpcore.SyncBackend()
        self._resolve = resolve or system_addresses

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
        try:
            total = Expiry(expiry.cut(timeout, httpcore.ConnectTimeout) or math.inf)
            return self._first(self._addresses(host, port, total), port, local_address, socket_options, total)
        except httpcore.TimeoutException:
            expiry.note()
            raise

    def _first(
        self, addresses: list[str], port: int, local: str | None, options: Any, total: Expiry
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in addresses:
            try:
                left = total.cut(None, httpcore.ConnectTimeout)
                return DeadlineStream(self._inner.connect_tcp(address, port, left, local, options))
            except httpcore.ConnectError as refused:
                failure = refused
        raise failure

    def _addresses(self, host: str, port: int, total: Expiry) -> list[str]:
        """The host's addresses; a look-up that hangs is left behind: it cannot be interrupted."""
        try:
            return [str(ip_address(host))]
        except ValueError:
            found: list[list[str]] = []

        def look() -> None:
            try:
                found.append(self._resolve(host, port))
            except (OSError, UnicodeError):  # no addresses, rather than an error that nothing on this thread sees
                found.append([])

        thread = threading.Thread(target=look, name="look-up", daemon=True)
        thread.start()
        thread.join(total.cut(None, httpcore.ConnectTimeout))
        if not found:
            raise httpcore.ConnectTimeout
        return found[0]


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
        self.read, self.write = inner.read, inner.write  # type: ignore[method-assign]  # no layer where none is needed

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

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
                await self._inner.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows about itself."""
        return self._inner.get_extra_info(info)


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
