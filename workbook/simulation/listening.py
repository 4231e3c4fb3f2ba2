"""Where a server listens: on this machine, unless it was told otherwise in so many words."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from workbook.errors import ConfigurationError

HIGHEST_PORT = 65535


def listening(host: str, port: int, *, allow_remote: bool = False) -> socket.socket:
    """A listening socket, on a loopback address unless others are let in.

    Raises:
        ConfigurationError: the address is not loopback, or it cannot be had.
    """
    if not allow_remote and not is_loopback(host):
        raise ConfigurationError(
            f"The host {host!r} is not a loopback address. Use 127.0.0.1, ::1 or localhost; or, on a network that you "
            "trust, say --allow-remote as well."
        )
    if not 0 <= port <= HIGHEST_PORT:
        raise ConfigurationError(f"There is no port {port}. Choose one up to {HIGHEST_PORT}, or 0 for any free one.")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        message = f"Cannot listen on {host} port {port}: {error}. Choose another port, or 0 for any free one."
        raise ConfigurationError(message) from None
    # Connections inherit it. Without, headers and body leave as two packets, and the second waits 40 ms for an ack.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


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
