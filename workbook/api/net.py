"""The way to a server: where a request may go, and when every wait of it ends."""

from __future__ import annotations

import asyncio
import math
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Thread
from typing import Any, Self, TypeAlias
from urllib.parse import urlsplit

import anyio
import httpcore
import httpx

from workbook.api.protocol import literal, wrong_url
from workbook.errors import ConfigurationError

Address: TypeAlias = IPv4Address | IPv6Address
# Looks up a host's addresses; may block, and raises OSError where there is none.
Resolve: TypeAlias = Callable[[str, int], list[str]]


# Where a request may go: one origin, checked when it is given, and again by its addresses.


@dataclass(frozen=True, slots=True)
class Origin:
    """One origin that may be contacted.

    Attributes:
        scheme: http or https.
        host: a name or an address, without brackets.
        port: of the host.
        prefix: of each path; empty, or beginning with a slash and not ending in one.
        authority: the value of the header Host: the host, and the port where it is not the scheme's own.
    """

    scheme: str
    host: str
    port: int
    prefix: str
    authority: str

    @classmethod
    def of(cls, url: str) -> Self:
        """The origin of this URL.

        Raises:
            ConfigurationError: it is no such URL, or one that is never contacted. A URL that may hold a secret is not
                repeated.
        """
        if why := wrong_origin(url):
            named = "" if re.search("[@?#]", url) else f" {url[:100]!r}"
            raise ConfigurationError(f"The address{named} {why}. Allowed: http://host[:port][/prefix], or https.")
        return cls.parse(url)

    @classmethod
    def parse(cls, url: str) -> Self:
        """The origin of a URL that is one, unchecked."""
        parts = urlsplit(url.rstrip("/"))
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
        return cls(parts.scheme, parts.hostname or "", port, parts.path, parts.netloc)

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine, by its name or address alone; no name is looked up."""
        address = literal(self.host)
        return self.host == "localhost" or (address is not None and address.is_loopback)

    def url(self, path: str, address: str) -> str:
        """The URL of a path at one of its addresses."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.prefix}{path}"

    def allows(self, address: Address) -> bool:
        """Whether this address may be connected to: never a link-local, multicast or unspecified one, wrapped or not.

        A cloud's metadata service, which hands out credentials, has a link-local address.
        """
        real = inner(address)
        return not (real.is_link_local or real.is_multicast or real.is_unspecified)

    async def addresses(self, resolve: Resolve | None = None) -> list[str]:
        """All its addresses. Connect to these very ones: a name server may give others the next time.

        Raises:
            ConfigurationError: one of them may not be connected to.
            OSError: it has none.
        """
        addresses = await asyncio.wrap_future(look_up(self.host, self.port, resolve))
        if not all(self.allows(ip_address(address)) for address in addresses):
            raise ConfigurationError(f"{self.host!r} leads to {_NO_BACK_END}. Nothing is sent there.")
        return addresses


_NO_BACK_END = "a link-local, multicast or unspecified address, where no back end is"


def wrong_origin(url: str) -> str:
    """Why this URL is no origin to contact, as the end of a sentence; empty where it is one."""
    if why := wrong_url(url.rstrip("/")):
        return why
    origin = Origin.parse(url)
    address = literal(origin.host)
    return "" if address is None or origin.allows(address) else f"is {_NO_BACK_END}; for this machine give 127.0.0.1"


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


def inner(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address that only wraps one, else the address itself."""
    if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
        return address
    # networks whose addresses end in an IPv4 address: NAT64 (RFC 6052, 8215), compatible ones (RFC 4291)
    if any(address in IPv6Network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")):
        return IPv4Address(address.packed[-4:])
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


def tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """The TLS error that caused an error; None where there is none."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, ssl.SSLError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


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
