"""Where the proxy may go: one origin, checked when it is given, and again by its address for each request."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbook.api.address import check_base_url
from workbook.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address
    from typing import TypeAlias

    Address: TypeAlias = IPv4Address | IPv6Address
    Resolve: TypeAlias = Callable[[str, int], list[str]]

PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Target:
    """The API that a proxy stands before.

    Attributes:
        scheme: https; or http, which goes to this machine only (REL-2).
        host: a name or an address, without brackets.
        port: of the host.
        prefix: what stands before each request's path; empty or beginning with a slash.
        authority: what the header Host says: the host, and the port where it is not the scheme's own.
    """

    scheme: str
    host: str
    port: int
    prefix: str
    authority: str

    @classmethod
    def of(cls, url: str) -> Target:
        """The target that this URL names.

        Raises:
            ConfigurationError: it is no such URL, or an address that is never connected to.
        """
        try:
            parts = urlsplit(check_base_url(url))
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace("base_url", "--to", 1)) from None
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        target = cls(parts.scheme, host, port, parts.path, parts.netloc)
        found = literal(host)
        if found is not None and not target.allows(found):
            raise ConfigurationError(f"--to {host} is an address that no API has. Give the API's public name.")
        return target

    @property
    def base_url(self) -> str:
        """The URL again."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    def allows(self, address: Address) -> bool:
        """Whether this address may be connected to: a cloud's metadata service has a link-local one."""
        return allowed(address) and (self.scheme != "http" or _inner(address).is_loopback)


def allowed(address: Address) -> bool:
    """Whether a request may ever go there: never to a link-local address, however it is wrapped."""
    inner = _inner(address)
    return not (inner.is_link_local or inner.is_multicast or inner.is_unspecified)


async def look_up(target: Target, resolve: Resolve | None = None) -> str | None:
    """The target's first address, checked; None where one of its addresses is not allowed.

    The very address that was checked is returned, so that a name which changes its mind afterwards changes nothing.

    Raises:
        OSError: the name has no address.
    """
    found = await every_address(target.host, target.port, resolve)
    return found[0] if all(target.allows(ip_address(one)) for one in found) else None


async def every_address(host: str, port: int, resolve: Resolve | None = None) -> list[str]:
    """All addresses of a host, unchecked; itself where it is one.

    Raises:
        OSError: the name has no address.
    """
    return [host] if literal(host) is not None else await _aside(resolve or addresses, host, port)


def addresses(host: str, port: int) -> list[str]:
    """The host's addresses, as the system has them; blocks.

    Raises:
        OSError: there is none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


async def _aside(resolve: Resolve, host: str, port: int) -> list[str]:
    """On a thread of its own: a look-up that hangs cannot be interrupted, only left behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[str] | OSError] = loop.create_future()

    def tell(answer: list[str] | OSError) -> None:
        if not future.done():
            future.set_result(answer)

    def run() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, _tried(resolve, host, port))

    Thread(target=run, name="look-up", daemon=True).start()
    answer = await future
    if isinstance(answer, OSError):
        raise answer
    return answer


def _tried(resolve: Resolve, host: str, port: int) -> list[str] | OSError:
    """An error is handed over, not raised on a thread that nobody looks at."""
    try:
        return resolve(host, port) or OSError("the host has no address")
    except (OSError, UnicodeError) as error:
        return error if isinstance(error, OSError) else OSError(str(error))


def literal(host: str) -> Address | None:
    """The address that this text is; None where it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address only wraps, else the address itself."""
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address
