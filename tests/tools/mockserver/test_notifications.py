"""Notifications, over real HTTP on loopback: to the receiver that comes with the workbook, and to hostile ones."""

import json
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from time import monotonic, sleep
from urllib.request import Request as Call
from urllib.request import urlopen

import anyio
import notifications as receiver
import pytest

from workbook.errors import ParameterError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request, Response
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.control import Control
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.mockserver.notifications import CREATED, UPDATED, Notifier

FIRST = INSTRUMENT_IDS[0]
POST = Request("POST", f"{BEFORE_ID}{FIRST}{AFTER_ID}", ())


class Listening:
    """The receiver to copy, on a thread, and every request that it got."""

    def __init__(self):
        self.tokens, self.headers, self.bodies = receiver.Tokens(), [], []

    def url(self, path="/notifications"):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    @contextmanager
    def running(self):
        outer = self

        class Handler(receiver.Handler):
            def do_POST(self):  # noqa: N802 - the library's name
                outer.headers.append(dict(self.headers))
                super().do_POST()

        self.server = receiver.ThreadingHTTPServer(("127.0.0.1", 0), type("H", (Handler,), {"tokens": self.tokens}))
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            thread.join()
            self.server.server_close()


@pytest.fixture
def listening():
    with Listening().running() as one:
        yield one


def sent(url, *calls, seconds=2.0):
    """What the log says of these notifications."""
    lines = []
    notifier = Notifier(url, lines.append, seconds=seconds)
    for call in calls:
        call(notifier)
    notifier.close()
    return lines


def answered(status):
    return Response(status, (), b"{}", "assumed")


def test_a_successful_post_is_notified_with_its_source_and_the_mark(listening):
    (line,) = sent(listening.url(), lambda one: one.exchanged(POST, answered(200)))
    assert line.startswith("networkToken.created #1 answered with 204 ")
    (known,) = listening.tokens.known.values()
    assert known == {"card": FIRST, "status": "active", "decision": "approved"}
    (headers,) = listening.headers
    assert "openapi" in headers["x-workbook-basis"]
    assert "assumed" in headers["x-workbook-basis"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [(POST, 422), (Request("GET", POST.target, ()), 200), (Request("POST", "/elsewhere", ()), 200)],
)
def test_nothing_else_is_notified(listening, request_, status):
    assert sent(listening.url(), lambda one: one.exchanged(request_, answered(status))) == []


def test_updates_keep_their_token_both_spellings_are_one_decision_and_closed_is_final(listening):
    def all_of_them(notifier):
        notifier.notify(CREATED, FIRST, decision="requireAuthentication", status="inactive")
        notifier.notify(UPDATED, FIRST, decision="requiresAuthentication", status="suspended")
        notifier.notify(UPDATED, FIRST, status="closed")
        with pytest.raises(ParameterError, match="closed, which is final"):
            notifier.notify(UPDATED, FIRST)
        notifier.notify(CREATED, FIRST)

    assert len(sent(listening.url(), all_of_them)) == 4
    assert [one["status"] for one in listening.tokens.known.values()] == ["closed", "active"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("networkToken.deleted", FIRST), "Did you mean 'networkToken"),
        ((CREATED, ""), "1 to 200 characters"),
        ((CREATED, 7), "1 to 200 characters"),
    ],
)
def test_a_word_that_is_none_is_refused(words, says):
    with pytest.raises(ParameterError, match=says):
        Notifier("http://127.0.0.1:1/").notify(*words)


@pytest.mark.parametrize(
    "url",
    ["", "ftp://h/", "file:///etc/passwd", "http://", "http://user:secret-1@h/", "http://h/#f", "http://h:0/",
     "http://h:99999/", "http://[::1", "http://h/\n", "http://hé/", "gopher://h", None],
)  # fmt: skip
def test_an_address_that_is_no_plain_http_is_refused_and_no_secret_in_it_is_repeated(url):
    with pytest.raises(ParameterError, match="http or https URL") as caught:
        Notifier(url)
    assert "secret-1" not in str(caught.value)


@pytest.mark.slow
def test_an_answer_that_never_ends_is_left_in_time_and_a_redirect_is_not_followed(listening):
    dripping = socket.create_server(("127.0.0.1", 0))

    def drip():
        peer, _address = dripping.accept()
        with peer, pytest.raises(OSError):  # noqa: PT012
            peer.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                peer.sendall(b"x")
                sleep(0.02)

    thread = threading.Thread(target=drip)
    thread.start()
    began = monotonic()
    (line,) = sent(
        f"http://127.0.0.1:{dripping.getsockname()[1]}/", lambda one: one.notify(CREATED, FIRST), seconds=0.2
    )
    thread.join()
    dripping.close()
    assert "no answer (ReadTimeout)" in line
    assert monotonic() - began < 20  # a limit that an endless answer breaks; no measurement
    receiver_ = listening.server.RequestHandlerClass
    receiver_.answer = lambda self, _status: (
        self.send_response(307), self.send_header("location", listening.url()), self.end_headers()
    )  # fmt: skip
    (line,) = sent(listening.url(), lambda one: one.notify(CREATED, FIRST))
    assert "answered with 307" in line
    assert len(listening.headers) == 1


def test_nobody_there_is_a_line_in_the_log_without_the_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (line,) = sent(f"http://127.0.0.1:{port}/?token=secret-1", lambda one: one.notify(CREATED, FIRST))
    assert "no answer (ConnectError)" in line
    assert "secret-1" not in line


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b"[]", {}, 400),
        (b'{"event": "other", "decision": "approved", "networkToken": {"status": "active"}}', {}, 400),
        (b"x" * 65_537, {}, 413),
    ],
)
def test_the_receiver_refuses_what_is_no_notification(listening, body, headers, status):
    with pytest.raises(OSError, match=str(status)):
        urlopen(Call(listening.url(), body, headers), timeout=5)


def test_the_receiver_takes_a_notification_once():
    tokens = receiver.Tokens()
    body = {"event": UPDATED, "number": 1, "decision": "declined", "paymentInstrumentId": FIRST,
            "networkToken": {"id": "NT1", "status": "active"}}  # fmt: skip
    assert [tokens.take(body), tokens.take(body)] == ["declined, active", "seen before"]


def test_the_control_api_sends_one_and_says_so_where_nobody_is_notified(listening):
    mock = MockServer()
    control = Control(mock, "a-token-of-tests-1")
    bearer = (("authorization", "Bearer a-token-of-tests-1"),)

    def ask(**fields):
        return anyio.run(
            control.respond, Request("POST", "/workbook/control/notify", bearer, json.dumps(fields).encode())
        )

    assert b"--notify URL" in ask(paymentInstrumentId=FIRST).body
    mock.notifier = Notifier(listening.url())
    assert json.loads(ask(event=CREATED, paymentInstrumentId=FIRST, decision="declined").body) == {"number": 1}
    assert ask(paymentInstrumentId=FIRST, status="gone").status == 400
    mock.notifier.close()
    assert [one["decision"] for one in listening.tokens.known.values()] == ["declined"]


@pytest.mark.slow
def test_serve_notifies_of_a_post(listening):
    command = [sys.executable, "-m", "workbook", "serve", "--json", "--notify", listening.url()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            known = json.loads(process.stdout.readline())
            body = json.dumps({"sdkOutput": known["sdk_outputs"][FIRST]}).encode()
            headers = {"x-api-key": known["api_key"], "content-type": "application/json"}
            urlopen(Call(known["base_url"] + POST.target, body, headers), timeout=10).close()
        finally:
            process.terminate()
        assert "networkToken.created #1 answered with 204" in process.stderr.read()
    assert [one["card"] for one in listening.tokens.known.values()] == [FIRST]
