"""A responder whose exchanges a journal keeps, as `Worlds` does it for each of its worlds."""


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
