"""uvicorn's protocol, which also tells the application about the connection that a request came by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from workbook.simulation.packet import Packed
from workbook.simulation.wire_out import LINE, Line

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class LineProtocol(HttpToolsProtocol):
    """Puts a `Line` into the scope of each request, and tells it when nobody waits at its other end.

    Its transport is `Packed`.

    Every method calls the next class's, so it can be combined with other subclasses of uvicorn's protocol.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        """A peer has come."""
        super().connection_made(transport)
        packed: Any = Packed(transport, self.loop)
        self.transport = packed
        self.line = Line(packed)
        self._extensions: Any = {LINE: self.line}
        self._overtaken: list[RequestResponseCycle] = []

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

    def on_headers_complete(self) -> None:
        """A request may come while the one before it is still being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            waiting = [cycle for cycle in self._overtaken if not cycle.response_complete]
            self._overtaken = [*waiting, self.cycle]
        super().on_headers_complete()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn has no opinion, and asyncio closes
        """The peer says no more, yet listens perhaps: what it has asked is answered, if it need not wait for that."""
        if self.cycle is None or self.cycle.more_body:
            return False
        self.shutdown()
        return self.scheme == "http"  # TLS knows no half of a connection

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        self.line.leave()

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer has left, or was left."""
        super().connection_lost(exc)
        for cycle in self._overtaken:  # uvicorn tells only the latest, and would complain of the others
            cycle.disconnected = not cycle.response_complete
        self.line.lose()
