"""The server's protocol as a proxy needs it: heads go by as they are, in both directions.

uvicorn writes header names in small letters, wherever they come from, and takes the target apart. A back end whose
spelling of a header matters is exactly what a proxy is put in front of, so the spelling is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.simulation.line_guard import GuardedLine

if TYPE_CHECKING:
    import asyncio

EXACT = "workbook.exact"
"""The scope's extension that holds the request's `Exact`."""
_CLOSING = b"connection: close\r\n"


class HeadWriter:
    """Stands before a connection: where the server writes the head of an answer, ours goes out instead."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head: bytes | None = None

    def next_head(self, head: bytes) -> None:
        """Send this instead of the next thing that is written: a status line and headers, each with its line end."""
        self._head = head

    def write(self, data: bytes) -> None:
        """Send it, or the head that was set; whether the connection closes is still the server's to say."""
        head, self._head = self._head, None
        if head is not None:
            data = head + _CLOSING * (_CLOSING in data) + b"\r\n"
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@dataclass(frozen=True, slots=True)
class Exact:
    """A request's head as it came.

    Attributes:
        target: the raw request target.
        headers: raw, in order; trailers are not among them.
        writer: of the answer's head.
    """

    target: bytes
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    writer: HeadWriter = field(repr=False)


class ExactLine(GuardedLine):
    """Puts an `Exact` into the scope of each request."""

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._came: list[tuple[bytes, bytes]] = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, in the peer's own spelling."""
        self._came.append((name, value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        writer = HeadWriter(self.transport)
        self.scope["extensions"][EXACT] = Exact(self.url, tuple(self._came), writer)  # type: ignore[assignment]
        super().on_headers_complete()
        if self.cycle is not None and self.cycle.scope is self.scope:
            self.cycle.transport = writer  # type: ignore[assignment]  # all that it asks of one
