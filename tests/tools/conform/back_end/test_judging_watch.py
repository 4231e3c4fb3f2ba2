"""What is looked for in every answer of a run, and where it is not taken for what it is not."""

import pytest
import reference
import relays
from seen_values import FIRST, HOST, KEY, call, dropped, request

from workbook.tools.conform.back_end.judging import SecretWatch
from workbook.tools.conform.back_end.model import Broke, Exposed
from workbook.tools.harness.model import Verdict

PORT = HOST.rpartition(":")[2]


def told(*calls, arrived=None):
    watch = SecretWatch(KEY, HOST)
    watch.scan_answers("relay.get.path", calls, [request()] if arrived is None else arrived)
    return [(one.secret, one.where) for one in watch.exposures]


@pytest.mark.rule("REL-2", "REL-9")
@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (call(), None),
        (call(status=504, value=None, body=KEY[3:12].encode()), Exposed.KEY),
        (call(headers=(("x-debug", KEY),)), Exposed.KEY),
        (call(value=f"ERROR {KEY}", body=f'{{"sdkInput": "ERROR {KEY}"}}'.encode()), Exposed.KEY),
        (call(status=502, value=None, body=f"connect to {HOST}".encode()), Exposed.HOST),
        (call(status=502, value=None, body=f"host='127.0.0.1', port={PORT}".encode()), Exposed.HOST),
        (call(status=502, value=None, body=f"request {PORT} took {PORT} us".encode()), None),
        (call(status=504, value=None, body=b"\xff" + KEY.encode()), Exposed.KEY),
        (dropped(partial=f"content-length: 900\n{KEY}".encode()), Exposed.KEY),
        (dropped(Broke.LATE, partial=f"x-upstream: http://{HOST}/\n".encode()), Exposed.HOST),
    ],
)
def test_an_answer_is_looked_at_whatever_became_of_it(one, wanted):
    assert [secret for secret, _where in told(one)] == ([wanted] if wanted else [])


def test_it_says_where_and_never_what():
    watch = SecretWatch(KEY, HOST)
    watch.scan_answers("relay.get.path", [call(status=504, value=None, body=KEY.encode())], ())
    (found,) = watch.exposures
    assert (found.case, found.where) == ("relay.get.path", "an answer with status 504")
    assert KEY not in f"{found!r}{watch!r}"
    assert watch.answers == 1
    watch.scan_answers("relay.get.path", [call(), dropped(partial=b"", headers=())], ())
    assert watch.answers == 2  # what brought nothing is no answer


def test_what_the_api_gave_is_no_leak_even_where_it_was_changed():
    given = f"{FIRST}{KEY[4:]}{FIRST}"
    for value in (given, given[:-3]):
        assert told(call(value=value), arrived=[request(value=given)]) == []


class BreaksOffWithTheKey(reference.Relay):
    """Where the API fails its answer ends early, after a header with the key."""

    class Handler(reference.Handler):
        def send(self, status, document):
            if status == 200:
                return super().send(status, document)
            self.send_response(status)
            self.send_header("x-debug", self.relay.api_key)
            self.send_header("content-length", "100")
            self.end_headers()
            self.wfile.write(b"{")
            self.close_connection = True
            return None


@pytest.mark.slow
@pytest.mark.rule("REL-2")
def test_an_answer_that_broke_off_is_looked_at_too(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": BreaksOffWithTheKey})
    monkeypatch.setattr(relays.broken, "handler", lambda kind: kind.Handler)
    fault, ever = relays.results("mine", ["relay.get.fault-500", "relay.answer.no-key-ever"])
    assert fault.seen.calls[0].broke is Broke.LOST
    assert ever.verdict is Verdict.FAIL
    assert "an answer that broke off, in relay.get.fault-500" in ever.misses[0].observed
