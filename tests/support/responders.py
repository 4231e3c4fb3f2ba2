"""Responders: one with a fixed answer, and one whose exchanges a journal keeps, as in a mock server."""


class Fixed:
    """A responder with one answer, or one error."""

    def __init__(self, answer):
        self.answer = answer

    def respond(self, _request):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Journaled:
    def __init__(self, responder, journal, keys=()):
        self.responder, self.journal, self.keys = responder, journal, keys

    def respond(self, request):
        arrived = self.journal.now()
        try:
            response = self.responder.respond(request)
        except Exception as error:
            self.journal.record(arrived, request, error, self.keys)
            raise
        self.journal.record(arrived, request, response, self.keys)
        return response
