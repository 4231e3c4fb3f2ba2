"""Only who asks for this server by its own name is answered: a web page that points its name at loopback is not.

A browser on this machine may be told that a stranger's name means 127.0.0.1, and its page may then read what a server
here answers. The Host header still says the stranger's name, which gives it away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbook.simulation.http import PROBLEM_HEADERS, Request, Response
from workbook.simulation.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
FOREIGN = Problem(421, "00_421", "Misdirected request", "assumed")


class Responder(Protocol):
    """Whoever answers."""

    def respond(self, request: Request, /) -> Response:
        """The answer to `request`."""
        ...


class OwnHost:
    """Answers requests for this server's own names, and refuses the rest before anybody looks at them."""

    def __init__(self, responder: Responder, names: Iterable[str] = ()) -> None:
        self._responder = responder
        self._names = LOOPBACK | {_bare(name) for name in names}

    def respond(self, request: Request) -> Response:
        """The answer, or 421 for a foreign name."""
        host = request.header("host")
        if host is None or _bare(host) in self._names:  # HTTP/1.0 has none
            return self._responder.respond(request)
        detail = f"This server does not go by that name. Ask for {', '.join(sorted(self._names))}."
        return Response(FOREIGN.status, PROBLEM_HEADERS, FOREIGN.body(detail), FOREIGN.basis)


def _bare(host: str) -> str:
    """A host without its port, in small letters; an IPv6 address keeps or gets its brackets."""
    host = host.strip().lower().removesuffix(".")
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    if host.count(":") > 1:
        return f"[{host}]"
    return host.partition(":")[0]
