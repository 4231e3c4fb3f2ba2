"""Where the phone's side may go: the configured origins, and nothing else.

An origin is checked when it is given and again by its addresses.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from workbook.errors import ConfigurationError
from workbook.proxy.address import PORTS, allowed, every_address, literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from urllib.parse import SplitResult

    from workbook.proxy.address import Resolve

ALLOWED = "Allowed: http://host[:port][/prefix], or https."
TRIES, PAUSE = 3, 0.4
"""How often it is looked whether somebody listens, and seconds in between."""

_URL = re.compile(r"[!-~]+\Z")
_HOST = re.compile(r"[A-Za-z0-9_.-]+\Z")


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

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine by its name or address alone; no name is looked up."""
        address = literal(self.host)
        return self.host == "localhost" or (address is not None and address.is_loopback)

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
        with suppress(OSError):
            for address in await origin.addresses():
                if await _listens(address, origin.port):
                    return True
    return False


async def _listens(address: str, port: int) -> bool:
    try:
        async with asyncio.timeout(PAUSE * 2):
            _reader, writer = await asyncio.open_connection(address, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


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
