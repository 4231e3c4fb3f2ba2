"""A faulted answer on a real connection: what the ASGI server does not do by itself is done to its transport.

Heads and honest bytes go the server's usual way; only the breach is written by hand. The waits end when the peer
leaves or the server shuts down, so neither waits for a stall.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from contextlib import suppress
from email.utils import formatdate
from functools import lru_cache
from time import time
from typing import TYPE_CHECKING, Any

from workbook.simulation.wire import UNANSWERED, Ending, half

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from workbook.simulation.http import Response

    Message = dict[str, Any]
    Send = Callable[[Message], Awaitable[None]]

LINE = "workbook.benches.line"
"""The scope's extension that holds the connection's `Line`."""
GRACE = 1.0
"""Seconds that a peer has to take what is left in the buffer, once the connection is being closed."""
# Closing a socket that lingers for 0 s sends RST. The two numbers are wider everywhere but on Windows.
NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


def _nothing(_body: bytes) -> bytes:
    return b""


LAST_WORDS: Mapping[Ending, Callable[[bytes], bytes]] = {
    Ending.BAD_CHUNK: lambda _body: b"no size\r\n",
    Ending.WRONG_LENGTH: lambda body: body[half(body) :],
}
"""What is written by hand after the readable part of a body, before the connection is closed."""


class Line:
    """One connection, as far as a fault needs it.

    Attributes:
        transport: to write to and to close.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self._leaving = asyncio.Event()
        self._lost = asyncio.Event()

    def leave(self) -> None:
        """The server shuts down: nobody waits any longer."""
        self._leaving.set()

    def lose(self) -> None:
        """The connection is gone."""
        self._leaving.set()
        self._lost.set()

    async def pause(self, seconds: float) -> bool:
        """Wait so many seconds; False at once when the peer has left or the server shuts down."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), seconds)
        return not self._leaving.is_set()

    async def close(self) -> None:
        """Send what is written and then FIN; a peer that takes nothing is cut off."""
        self.transport.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._lost.wait(), GRACE)
        self.transport.abort()
        await self._lost.wait()  # only then does the server know that there is nothing left to answer

    async def reset(self) -> None:
        """Send RST."""
        own: Any = self.transport.get_extra_info("socket")  # wrapped, yet its options can be set
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.transport.abort()
        await self._lost.wait()


def head(response: Response) -> Message:
    """The status and the headers; a Date is added where the answer has none of its own."""
    headers = [*response.headers, response.wire.framing(response.body)]
    if not any(name == "date" for name, _value in headers):
        headers.append(("date", _date(int(time()))))
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    return {"type": "http.response.start", "status": response.status, "headers": encoded}


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


async def carry_out(send: Send, line: Line, response: Response) -> None:
    """Answer as the response's wire has it; returns when all is written, or the connection is gone."""
    ending = response.wire.ending
    if not await _begun(send, line, response):
        await line.close()
    elif ending is Ending.WHOLE:
        await send({"type": "http.response.body"})
    elif ending is Ending.RESET:
        await line.reset()
    else:
        line.transport.write(LAST_WORDS.get(ending, _nothing)(response.body))
        await line.close()


async def _begun(send: Send, line: Line, response: Response) -> bool:
    """Send all that is honest of an answer; False when it was cut short."""
    wire = response.wire
    if not await line.pause(wire.before_headers):
        return False
    if wire.ending in UNANSWERED:
        return True
    await send(head(response))
    for seconds, piece in wire.pieces(response.body):
        if not await line.pause(seconds):
            return False
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    return True
