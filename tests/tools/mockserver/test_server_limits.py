"""A peer that sends too much or too slowly is given up; one that sends a great deal properly is not."""

import json
import re
import socket
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

from workbook.simulation.http import Response
from workbook.tools.mockserver.server import MAX_HEAD, Server, listening, on_thread

SOON = 1.0
"""Seconds that a request may take here."""


def size_of_body(request):
    return Response(200, (), json.dumps(len(request.body)).encode(), "test")


@contextmanager
def server(within):
    one = Server(size_of_body, within=within)
    with listening("127.0.0.1", 0) as listener:
        one.listen(listener)
        with on_thread(one):
            yield listener.getsockname()


@pytest.fixture(scope="module")
def patient():
    with server(30.0) as address:
        yield address


@pytest.fixture(scope="module")
def impatient():
    with server(SOON) as address:
        yield address


def received(peer):
    """One whole answer, or what came before the connection was closed."""
    told = b""
    while not whole(told) and (data := peer.recv(65536)):
        told += data
    return told


def whole(told):
    found = re.search(rb"content-length: (\d+)\r\n(?:.*\r\n)*?\r\n", told)
    return found is not None and len(told) >= found.end() + int(found[1])


def answered(address, *pieces, every=0.0):
    """What the server says to these pieces, sent with so many seconds between."""
    with socket.create_connection(address, timeout=60) as peer:
        try:
            for piece in pieces:
                peer.sendall(piece)
                time.sleep(every)
            return received(peer)
        except (ConnectionResetError, BrokenPipeError):
            return b""


def given_up(told, status):
    """Refused with this status, or closed so soon after it that a peer who goes on sending sees only the reset."""
    return told == b"" or told.startswith(b"HTTP/1.1 " + status)


def head(*lines):
    return b"\r\n".join((b"POST / HTTP/1.1", b"host: localhost", *lines, b"", b""))


def test_a_large_body_in_one_piece_with_its_head_is_no_flood(patient):
    body = b"x" * 500_000
    assert answered(patient, head(b"content-length: 500000") + body).endswith(b"500000")


def test_many_small_headers_are_answered_up_to_the_limit(patient):
    lines = [b"x-%05d: %s" % (number, b"y" * 300) for number in range(198)]
    assert len(head(b"content-length: 0", *lines)) < MAX_HEAD
    assert b"200 OK" in answered(patient, head(b"content-length: 0", *lines))


def test_above_its_descriptors_a_server_refuses_connections_instead_of_failing_to_accept():
    one = Server(size_of_body)
    one.most_connections = 2
    with listening("127.0.0.1", 0) as listener:
        one.listen(listener)
        with on_thread(one), ExitStack() as peers:
            address, request = listener.getsockname(), head(b"content-length: 0")
            first, second = (peers.enter_context(socket.create_connection(address, timeout=60)) for _ in range(2))
            for peer in (first, second):
                peer.sendall(request)
                assert received(peer).startswith(b"HTTP/1.1 200")
            assert answered(address).startswith(b"HTTP/1.1 503 ")
            first.close()
            until = time.monotonic() + 60
            while not (answer := answered(address, request)).startswith(b"HTTP/1.1 200") and time.monotonic() < until:
                time.sleep(0.01)
            assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of descriptors are Unix's")
def test_a_server_takes_no_more_connections_than_it_has_descriptors(monkeypatch):
    import resource  # not on Windows

    monkeypatch.setattr(resource, "getrlimit", lambda _what: (256, 256))
    assert Server(size_of_body).most_connections == 64


@pytest.mark.parametrize(
    "lines",
    [
        [b"x-%05d: %s" % (number, b"y" * 100) for number in range(MAX_HEAD // 100)],
        [b"x: " + b"y" * (MAX_HEAD + 1)],
        [b"x:"] * 201,
    ],
    ids=["many headers", "one header", "many empty headers"],
)
def test_a_head_that_is_too_large_is_refused(patient, lines):
    assert answered(patient, head(b"content-length: 0", *lines)).startswith(b"HTTP/1.1 431 ")


def test_a_request_with_two_hosts_is_refused_because_nobody_can_say_which_one_is_meant(patient):
    told = answered(patient, head(b"content-length: 0", b"host: 127.0.0.1", b"Host: another.example"))
    assert told.startswith(b"HTTP/1.1 400 ")
    assert answered(patient, head(b"content-length: 0", b"x-host: 127.0.0.1")).startswith(b"HTTP/1.1 200 ")


def test_a_header_without_an_end_is_given_up_before_it_fills_the_memory(patient):
    pieces = [b"GET / HTTP/1.1\r\nx: ", *[b"y" * 20_000] * 10]
    assert given_up(answered(patient, *pieces, every=0.01), b"431")
    with socket.create_connection(patient, timeout=60) as peer, pytest.raises(OSError):  # noqa: PT012  # reset or closed
        peer.sendall(b"GET / HTTP/1.1\r\nx: ")
        for _ in range(1000):
            peer.sendall(b"y" * 20_000)
            time.sleep(0.001)


def test_a_request_line_that_is_too_long_is_refused(patient):
    assert answered(patient, b"GET /" + b"a" * (MAX_HEAD + 1) + b" HTTP/1.1\r\nHost: h\r\n\r\n").startswith(
        b"HTTP/1.1 431 "
    )


@pytest.mark.slow
def test_a_request_that_arrives_a_byte_at_a_time_is_given_up(impatient):
    slow = [bytes([one]) for one in head(b"content-length: 0")]
    assert given_up(answered(impatient, *slow, every=SOON / 10), b"408")
    assert answered(impatient, slow[0], every=SOON * 1.5).startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_a_body_that_never_ends_is_given_up(impatient):
    assert answered(impatient, head(b"content-length: 9"), b"x", every=SOON * 1.5).startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_a_connection_that_says_nothing_is_given_up(impatient):
    with socket.create_connection(impatient, timeout=60) as peer:
        assert peer.recv(100).startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_a_kept_connection_has_the_time_again_for_each_request(impatient):
    with socket.create_connection(impatient, timeout=60) as peer:
        for _ in range(3):
            time.sleep(SOON * 0.4)
            peer.sendall(head(b"content-length: 1") + b"x")
            assert b"200 OK" in received(peer)


def test_two_requests_in_one_piece_are_both_answered(patient):
    with socket.create_connection(patient, timeout=60) as peer:
        peer.sendall((head(b"content-length: 1") + b"x") * 2)
        told = b""
        while told.count(b"200 OK") < 2:
            told += peer.recv(65536)
