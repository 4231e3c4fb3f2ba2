"""A peer's limits: how large the head of its request may be, and how long it may take to send one.

uvicorn leaves both open: a request that arrives a byte a minute holds a connection for ever, and a header without an
end is kept in memory. With `wire_out` this is the only module that knows uvicorn's protocol class.
"""

from __future__ import annotations

from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

MAX_HEAD = 65_536
"""Bytes of a request's first line and headers (assumed; the document shows no limit, GAP-2)."""
REQUEST_WITHIN = 30.0
"""Seconds that a whole request may take, from its first byte or the connection on (assumed)."""

TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which gives up on a peer that sends too much or too slowly.

    A connection has one alarm, however many requests come: when it goes off it looks how long there still is.
    """

    within = REQUEST_WITHIN

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head = 0
        self._in_head = True
        self._refused = False
        self._until = inf
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A connection that never sends anything is given up as well."""
        super().connection_made(transport)
        self._begin()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Look at no more of a head that is too large, however it is cut; a body may come in the same piece."""
        if self._refused:
            return
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD:
            self._refuse(TOO_LARGE)

    def on_message_begin(self) -> None:
        """Another request begins, perhaps on a kept connection."""
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        """The head is whole; the body has a cap of its own."""
        self._in_head = False
        if sum(map(len, chain.from_iterable(self.headers))) + len(self.url) > MAX_HEAD:
            self._refuse(TOO_LARGE)
        if not self._refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body, unless nobody reads it any more."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The whole request is here: from now on the server takes the time."""
        self._until = inf
        if not self._refused:
            super().on_message_complete()

    def _begin(self) -> None:
        self._head, self._in_head = 0, True
        self._until = self.loop.time() + self.within

    def _look(self) -> None:
        left = self._until - self.loop.time()
        if left > 0:
            self._alarm = self.loop.call_later(min(left, self.within), self._look)
        else:
            self._refuse(TOO_SLOW)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _refuse(self, answer: bytes) -> None:
        self._disarm()
        if not self._refused:
            self._refused = True
            self.transport.write(answer)
            self.transport.close()
