"""The address at which the API's side listens, and the other one to which a redirect would lead.

It can be away for a while and come back at the same address. Every connection is cut when it goes.
"""

from __future__ import annotations

from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Self

from workbook.errors import ConfigurationError
from workbook.simulation.asgi import application
from workbook.simulation.listening import base_url, listening
from workbook.simulation.server import made

if TYPE_CHECKING:
    import socket
    from types import TracebackType

    import uvicorn

    from workbook.simulation.transport import Responder

LOOPBACK = "127.0.0.1"
TRIES, PAUSE = 20, 0.1
"""How often a port that is taken is tried again, and seconds in between."""


class Line:
    """One listening address on loopback, for as long as the block lasts.

    Args:
        responder: who answers there.
        port: 0 takes any free one.
    """

    def __init__(self, responder: Responder, port: int = 0) -> None:
        self._responder = responder
        self._listener = listening(LOOPBACK, port)
        self.base_url = base_url(self._listener)
        self._port: int = self._listener.getsockname()[1]
        self._server: uvicorn.Server | None = None
        self._thread: Thread | None = None

    def __repr__(self) -> str:
        return f"Line({self.base_url}, {'up' if self._server else 'down'})"

    def __enter__(self) -> Self:
        self._serve(self._listener)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self.down()

    def up(self) -> None:
        """Listen again, at the same address."""
        if self._server is None:
            self._listener = self._again()
            self._serve(self._listener)

    def down(self) -> None:
        """Be away: nobody listens, and every connection is gone."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join()
        self._listener.close()
        self._server = self._thread = None

    def _again(self) -> socket.socket:
        """The same port once more; somebody's outgoing connection may have borrowed it for a moment."""
        for _ in range(TRIES - 1):
            try:
                return listening(LOOPBACK, self._port)
            except ConfigurationError:
                sleep(PAUSE)
        return listening(LOOPBACK, self._port)

    def _serve(self, listener: socket.socket) -> None:
        self._server = made(application(self._responder))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
