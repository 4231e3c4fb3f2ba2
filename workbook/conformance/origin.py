"""Where the phone's side may go: the configured origins, and nothing else.

An origin is checked when it is given and again by its addresses, which are looked up once for each client and then
kept: a name that changes its mind changes nothing. No redirect is followed, no proxy of the environment is used, no
cookie is kept, and what is answered is read up to a cap.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from ssl import SSLContext, create_default_context
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import httpx

from workbook.conformance.seen import Broke
from workbook.errors import ConfigurationError
from workbook.proxy.address import PORTS, allowed, every_address, literal

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable
    from types import TracebackType
    from urllib.parse import SplitResult

    from workbook.proxy.address import Resolve

    Content = bytes | AsyncIterable[bytes] | None

LARGEST = 4 * 1_048_576
"""Bytes of an answer that are read; the largest sdkInput of a case is 1 MiB."""
ALLOWED = "Allowed: http://host[:port][/prefix], or https."
TRIES, PAUSE = 3, 0.4
"""How often it is looked whether somebody listens, and seconds in between."""
CALLED = "workbook-conform"

_URL = re.compile(r"[!-~]+\Z")
_HOST = re.compile(r"[A-Za-z0-9_.-]+\Z")
_BREAKS: tuple[tuple[type[Exception], Broke], ...] = (
    (httpx.ConnectError, Broke.REFUSED),
    (httpx.ConnectTimeout, Broke.REFUSED),
    (httpx.TimeoutException, Broke.LATE),
    (httpx.HTTPError, Broke.LOST),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """One origin that may be contacted.

    Attributes:
        scheme: http or https.
        host: a name or an address, without brackets.
        port: of the host.
        prefix: what stands before each path; empty, or beginning with a slash and not ending in one.
        authority: what the header Host says.
    """

    scheme: str
    host: str
    port: int
    prefix: str
    authority: str

    @classmethod
    def of(cls, url: str) -> Self:
        """The origin that this URL names.

        Raises:
            ConfigurationError: it is no such URL, or one that is never contacted. A URL that may hold a secret is not
                repeated.
        """
        if why := wrong(url):
            shown = "" if re.search("[@?#]", url) else f" {url[:100]!r}"
            raise ConfigurationError(f"The address{shown} {why}. {ALLOWED}")
        parts = urlsplit(url.rstrip("/"))
        return cls(parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme], parts.path, parts.netloc)

    def url(self, path: str, address: str) -> str:
        """The URL of a path at one of its addresses."""
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}{self.prefix}{path}"

    async def addresses(self, resolve: Resolve | None = None) -> list[str]:
        """All its addresses, each of them one that may be contacted.

        Raises:
            ConfigurationError: one of them may not.
            OSError: it has none.
        """
        found = await every_address(self.host, self.port, resolve)
        if not all(allowed(ip_address(one)) for one in found):
            raise ConfigurationError(f"{self.host!r} leads to {FORBIDDEN}. Nothing is sent there.")
        return found


async def listens(origin: Origin, tries: int = TRIES) -> bool:
    """Whether a connection can be made; a program that is being started again gets a second."""
    for attempt in range(tries):
        await asyncio.sleep(PAUSE if attempt else 0)
        with suppress(OSError, TimeoutError):
            for address in await origin.addresses():
                async with asyncio.timeout(PAUSE * 2):
                    _reader, writer = await asyncio.open_connection(address, origin.port)
                writer.close()
                return True
    return False


FORBIDDEN = "a link-local, multicast or unspecified address, where no back end is"


def wrong(url: str) -> str:
    """Why this URL is no origin to contact, as the end of a sentence; empty where it is one."""
    if not _URL.match(url) or "\\" in url:
        return "is empty, or holds a blank, a backslash or a character outside ASCII"
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError:
        return "has no valid host and port"
    return next((why for test, why in _TESTS if test(parts)), "has no valid port" if port == 0 else "")


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    return bool(_HOST.match(host)) or (literal(host) is not None and "%" not in host)


def _is_forbidden(parts: SplitResult) -> bool:
    address = literal(parts.hostname or "")
    return address is not None and not allowed(address)


_TESTS: tuple[tuple[Callable[[SplitResult], object], str], ...] = (
    (lambda parts: parts.scheme not in PORTS, "has neither the scheme http nor https"),
    (lambda parts: "@" in parts.netloc, "holds a user name or a password"),
    (lambda parts: "?" in parts.geturl() or parts.query, "holds a query"),
    (lambda parts: "#" in parts.geturl() or parts.fragment, "holds a fragment"),
    (lambda parts: not _is_host(parts), "has no valid host"),
    (lambda parts: "//" in parts.path or _has_dots(parts.path), "has a prefix that is no plain path"),
    (_is_forbidden, f"is {FORBIDDEN}; for this machine give 127.0.0.1"),
)


def _has_dots(path: str) -> bool:
    return any(part.lower().replace("%2e", ".") in (".", "..") for part in path.split("/"))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one exchange.

    Attributes:
        status: None where no answer came.
        headers: in the order in which they came.
        body: unpacked; empty where there is none or it was too large.
        broke: why there is no answer.
    """

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    broke: Broke = Broke.NO


class Reach:
    """A client that goes to one origin.

    Args:
        origin: which.
        seconds: for which each step of an exchange is waited.
        resolve: looks up names; None asks the system.
    """

    def __init__(self, origin: Origin, seconds: float, resolve: Resolve | None = None) -> None:
        self._origin, self._resolve = origin, resolve
        self._addresses: list[str] = []
        self._client = httpx.AsyncClient(
            verify=_trusted() if origin.scheme == "https" else False,
            trust_env=False,
            follow_redirects=False,
            timeout=seconds,
            limits=httpx.Limits(max_connections=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": CALLED},
        )

    async def close(self) -> None:
        """No more exchanges."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        await self.close()

    async def exchange(
        self, method: str, path: str, headers: Iterable[tuple[str, str]] = (), content: Content = None
    ) -> Answer:
        """Ask once; whatever goes wrong on the way is part of the answer.

        Raises:
            ConfigurationError: the origin's name leads where nobody may go.
        """
        sent = [("host", self._origin.authority), *headers]
        answer = Answer(broke=Broke.REFUSED)
        for address in await self._found():
            answer = await self._tried(method, self._origin.url(path, address), sent, content)
            if answer.broke is not Broke.REFUSED:
                self._addresses = [address]
                break
        return answer

    async def _found(self) -> list[str]:
        try:
            self._addresses = self._addresses or await self._origin.addresses(self._resolve)
        except OSError:
            return []
        return self._addresses

    async def _tried(self, method: str, url: str, headers: list[tuple[str, str]], content: Content) -> Answer:
        named = {"sni_hostname": self._origin.host}
        try:
            async with self._client.stream(method, url, headers=headers, content=content, extensions=named) as answer:
                return await _read(answer)
        except httpx.HTTPError as error:
            return Answer(broke=next(broke for kind, broke in _BREAKS if isinstance(error, kind)))


async def _read(answer: httpx.Response) -> Answer:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > LARGEST:
            return Answer(answer.status_code, broke=Broke.HUGE)
    return Answer(answer.status_code, tuple(answer.headers.multi_items()), bytes(body))


@cache
def _trusted() -> SSLContext:
    """Whom this machine trusts; made once, because it takes long."""
    return create_default_context()
