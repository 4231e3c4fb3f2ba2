"""Where a request may go: addresses looked up, and the ones that are never connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Thread
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], list[str]]

PORTS = {"https": 443, "http": 80}


def allowed(address: Address) -> bool:
    """Whether a request may go there: never to a link-local, multicast or unspecified address, wrapped or not."""
    real = inner(address)
    return not (real.is_link_local or real.is_multicast or real.is_unspecified)


async def every_address(host: str, port: int, resolve: Resolve | None = None) -> list[str]:
    """All addresses of a host, unchecked; the host itself where it is an address.

    A name is looked up on a thread of its own: a look-up that hangs cannot be interrupted, only left behind.

    Raises:
        OSError: the name has no address.
    """
    if literal(host) is not None:
        return [host]
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[str] | OSError] = loop.create_future()

    def tell(answer: list[str] | OSError) -> None:
        if not future.done():
            future.set_result(answer)

    def run() -> None:
        answer: list[str] | OSError  # an exception on this thread would be seen by nothing
        try:
            answer = (resolve or system_addresses)(host, port) or OSError("the host has no address")
        except (OSError, UnicodeError) as error:
            answer = error if isinstance(error, OSError) else OSError(str(error))
        with suppress(RuntimeError):  # the loop is closed: the look-up was left behind
            loop.call_soon_threadsafe(tell, answer)

    Thread(target=run, name="look-up", daemon=True).start()
    answer = await future
    if isinstance(answer, OSError):
        raise answer
    return answer


WRAPPING = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("::/96"))
"""Networks whose addresses end in an IPv4 address: those of NAT64 (RFC 6052, 8215), and compatible ones (RFC 4291)."""


def literal(host: str) -> Address | None:
    """This text as an IP address; None where it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def inner(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address that only wraps one, else the address itself."""
    if not isinstance(address, IPv6Address) or address.is_loopback or address.is_unspecified:
        return address
    if any(address in network for network in WRAPPING):
        return IPv4Address(address.packed[-4:])
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


def system_addresses(host: str, port: int) -> list[str]:
    """The host's addresses, as the system has them; blocks.

    Raises:
        OSError: there is none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
