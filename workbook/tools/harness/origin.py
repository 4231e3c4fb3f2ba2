"""Where a tool's request may go: one origin, checked when it is given, and again by its addresses."""

from __future__ import annotations

import asyncio
import re
import ssl
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Self, TypeAlias
from urllib.parse import urlsplit

from workbook.api.net import Resolve, look_up
from workbook.api.protocol import literal, wrong_url
from workbook.errors import ConfigurationError

Address: TypeAlias = IPv4Address | IPv6Address


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
