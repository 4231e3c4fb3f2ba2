"""Both clients against raw sockets: what a broken or hostile peer does, byte for byte."""

import logging
import socket
import ssl
import threading
import time
import traceback

import httpx
import pytest

from workbook import ActivationDataClient, RetryPolicy
from workbook.errors import ApiStatusError, DeadlineError, MaybeSentError, NotSentError

GOOD = b'{"sdkInput":"YWJj"}'


def send(data):
    return lambda connection, request: connection.sendall(data)


def rst(wire, before=b""):
    def script(connection, request):
        connection.sendall(before)
        if before:
            time.sleep(0.05)
        wire.reset(connection)

    return script


@pytest.mark.rule("API-1", "API-2", "API-3", "API-4", "API-5", "API-6")
def test_what_stands_on_the_wire(serve, wire, call, method, canaries):
    server = serve(send(wire.ok(GOOD)))
    assert call(server.url).sdk_input.text == "YWJj"
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    path = b"/bcl/v2/paymentInstruments/PI1/networkTokenActivationData"
    assert line == method.upper().encode() + b" " + path + b" HTTP/1.1"
    assert b"x-api-key: " + canaries[0].encode() in headers
    assert b"content-type: application/json" in headers
    assert body == (b"" if method == "get" else b'{"sdkOutput":"canary-sdk-output"}')


@pytest.mark.rule("API-3")
def test_an_id_stays_one_segment_on_the_wire(serve, wire):
    server = serve(send(wire.ok(GOOD)))
    with ActivationDataClient(server.url, "k") as client:
        client.get("../a?b#%2e")
    assert server.requests[0].startswith(b"GET /bcl/v2/paymentInstruments/..%2Fa%3Fb%23%252e/networkToken")


def test_one_connection_serves_many_calls(serve, wire):
    ports = set()

    def script(connection, request):
        ports.add(connection.getpeername())
        connection.sendall(wire.ok(GOOD, "set-cookie: a=b"))
        return "keep"

    server = serve(script)
    with ActivationDataClient(server.url, "k") as client:
        for _ in range(5):
            client.with_options(deadline=30.0).get("PI1")
    assert len(ports) == 1
    assert not any(b"cookie" in request for request in server.requests)


FAULTS = {
    "reset in the body": lambda wire: rst(wire, b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"),
    "no HTTP": lambda _wire: send(b"hush hush\r\n\r\n"),
}
"""What the simulated service cannot do; its own faults are in test_client_faults."""


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_typed_error_and_a_post_is_sent_once(serve, wire, call, fault):
    server = serve(FAULTS[fault](wire))
    with pytest.raises(MaybeSentError) as caught:
        call(server.url, retries=RetryPolicy(attempts=2, base=0.0))
    assert caught.value.attempts == len(server.requests) == (2 if call.method == "get" else 1)
    assert "hush" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.rule("REL-1")
def test_nobody_listens(call):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(NotSentError):
            call(f"http://127.0.0.1:{unused.getsockname()[1]}")


SLOW = {
    "dribbled headers": (b"HTTP/1.1 200 OK\r\nx: ", b"x"),
    "dribbled body": (b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", b"x"),
    "stall": (b"", b""),
}
"""What a peer sends first, and then again and again: it comes to no end until the call has ended."""


@pytest.mark.slow
@pytest.mark.rule("REL-1", "REL-5")
@pytest.mark.parametrize("slow", SLOW)
def test_the_deadline_holds_whatever_the_peer_does(serve, call, slow):
    first, then = SLOW[slow]

    def answer(connection, _request):
        connection.sendall(first)
        for _time in range(1200):  # a minute, so that a call without a deadline ends, too
            if over.wait(0.05):
                return
            connection.sendall(then)

    for deadline in (0.3, 1.0, 3.0, 30.0):  # a busy machine may be late to send
        server, over, start = serve(answer), threading.Event(), time.monotonic()
        with pytest.raises(DeadlineError) as caught:
            call(server.url, deadline=deadline, retries=RetryPolicy())
        assert deadline - 0.02 <= time.monotonic() - start
        over.set()
        if caught.value.sent and server.requests:
            break
    assert caught.value.sent
    assert len(server.requests) == 1


@pytest.mark.rule("REL-5")
def test_a_handshake_that_hangs_was_not_sent(serve, call):
    """The TLS hello leaves, but no byte of the request."""
    server = serve(lambda connection, request: time.sleep(1.0))
    with pytest.raises(DeadlineError, match="Nothing was sent") as caught:
        call(server.url.replace("http:", "https:"), deadline=0.2)
    assert caught.value.sent is False


@pytest.mark.rule("REL-2")
def test_a_peer_that_is_not_trusted_gets_nothing(serve, call):
    server = serve(send(b"hush"))
    with pytest.raises(NotSentError):
        call(server.url.replace("http:", "https:"), tls=ssl.create_default_context(), deadline=20.0)


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_key_goes_to_no_other_origin(serve, wire, call, status):
    other = serve(send(wire.ok(GOOD)))
    answer = f"HTTP/1.1 {status} Moved\r\nlocation: {other.url}/x\r\ncontent-length: 0\r\n\r\n"
    server = serve(send(answer.encode()))
    with pytest.raises(ApiStatusError, match="never followed") as caught:
        call(server.url)
    assert caught.value.status == status
    assert other.requests == []


@pytest.mark.slow
@pytest.mark.rule("REL-2", "REL-3")
def test_the_log_of_the_engine_shows_no_canary(serve, call, caplog, canaries):
    key, _, given = canaries
    echo = f"HTTP/1.1 401 No\r\nx-echo: {key}\r\ncontent-length: 0\r\n\r\n"
    server = serve(send(echo.encode()))
    with caplog.at_level(logging.DEBUG), pytest.raises(ApiStatusError):
        call(server.url)
    broken = serve(send(f"HTTP/1.1 200 OK\r\nx echo {key}\r\n\r\n".encode()))
    with caplog.at_level(logging.DEBUG), pytest.raises(MaybeSentError):
        call(broken.url)
    good = serve(send(b"HTTP/1.1 200 OK\r\n\r\n" + b'{"sdkInput":"%s"}' % given.encode()))
    with caplog.at_level(logging.DEBUG):
        call(good.url)
    assert "send_request_headers" in caplog.text
    assert "[key]" in caplog.text
    for canary in canaries:
        assert canary not in caplog.text


def test_threads_share_a_client(serve, wire):
    def script(connection, request):
        name = request.split(b"/")[4]
        connection.sendall(wire.ok(b'{"sdkInput":"%s"}' % name))
        return "keep"

    server, wrong = serve(script), []
    with ActivationDataClient(server.url, "k") as client:

        def work(number):
            for turn in range(20):
                name = f"PI{number}x{turn}"
                if client.get(name).sdk_input.text != name:
                    wrong.append(name)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_foreign_transport_over_the_network_works_too(serve, wire):
    server = serve(send(wire.ok(GOOD)))
    with ActivationDataClient(server.url, "k", transport=httpx.HTTPTransport()) as client:
        assert client.get("PI1").sdk_input.text == "YWJj"
