"""A responder that keeps each of its exchanges in a journal, exactly once, whatever becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from workbook.simulation.http import Request, Response
    from workbook.simulation.journal import Journal
    from workbook.simulation.transport import Responder


class Journaled:
    """A responder with a journal around it.

    Args:
        responder: who answers.
        journal: where it is kept.
        keys: the API keys that may stand anywhere in an exchange, looked at anew for each; the one in the request's
            header is known anyway.
    """

    def __init__(self, responder: Responder, journal: Journal, keys: Collection[str] = ()) -> None:
        self.journal = journal
        self._responder = responder
        self._keys = keys

    def respond(self, request: Request) -> Response:
        """The responder's own answer, unchanged; an error of its own is kept too, and raised on."""
        ticket = self.journal.arrival()
        try:
            response = self._responder.respond(request)
        except Exception as error:
            self.journal.record(ticket, request, error, tuple(self._keys))
            raise
        self.journal.record(ticket, request, response, tuple(self._keys))
        return response
