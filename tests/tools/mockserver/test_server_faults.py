"""Faults on the wire, read with bare sockets: what is asserted is what the kernel says and which bytes came."""

import asyncio
import errno
import json
import re
import socket
import threading
import time
from contextlib import contextmanager

import pytest

from workbook.simulation.faults import FaultPlan, Planned
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request, Response
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.serve import log_line
from workbook.tools.mockserver.server import head, running

PATH = f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}"
ASK = f"GET {PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {SIMULATED_KEY}\r\n\r\n".encode()
LONG = 30.0
SLACK = 10.0


class Watched(Service):
    """Lets a test see the server's loop."""

    loop = None

    def respond(self, request):
        self.loop = asyncio.get_running_loop()
        return super().respond(request)

    def answering(self):
        return sum("_answer_later" in repr(one) for one in asyncio.all_tasks(self.loop))


@contextmanager
def connected(url):
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        yield connection


@contextmanager
def faulty(*planned):
    """A connection to a server that plays these, and its service."""
    service = Watched(plan=FaultPlan(planned))
    with running(service) as url, connected(url) as connection:
        yield connection, service


def read_all(connection):
    """What came, and the error that ended it; None for an orderly end."""
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
    except OSError as error:
        return data, error.errno
    return data, None


def asked(name, times=1, **settings):
    """The head's lines, the body's bytes, and how the connection ended."""
    with faulty(Planned.of(fault=name, **settings)) as (connection, service):
        connection.sendall(ASK * times)
        data, ending = read_all(connection)
        assert settles(lambda: not service.answering())
    top, _, body = data.partition(b"\r\n\r\n")
    return top.decode().split("\r\n"), body, ending


def settles(said, seconds=SLACK):
    until = time.monotonic() + seconds
    while not said() and time.monotonic() < until:
        time.sleep(0.005)
    return said()


def right_body():
    with running() as url, connected(url) as connection:
        connection.sendall(ASK.replace(b"host", b"connection: close\r\nhost"))
        return read_all(connection)[0].partition(b"\r\n\r\n")[2]


@pytest.fixture(scope="module")
def whole():
    return right_body()


@pytest.fixture(autouse=True)
def _quiet_server(capfd):
    """No fault makes the server complain."""
    yield
    assert capfd.readouterr().err == ""


def test_a_reset_is_a_reset():
    assert asked("reset") == ([""], b"", errno.ECONNRESET)


def test_a_close_is_an_orderly_end_without_a_byte():
    assert asked("close") == ([""], b"", None)


def test_a_fault_after_the_first_request_ends_a_kept_connection(whole):
    lines, rest, ending = asked("reset", times=2, nth=2)
    assert lines[0] == "HTTP/1.1 200 OK"
    assert rest in (b"", whole)  # a reset may overtake what was not read yet
    assert ending == errno.ECONNRESET


@pytest.mark.parametrize("name", ["reset", "close", "truncated body", "bad chunk"])
def test_a_request_that_was_sent_too_early_is_lost_with_its_connection(name):
    _lines, _body, ending = asked(name, times=2, nth=1)
    assert ending in (None, errno.ECONNRESET)


def test_a_latency_comes_before_the_first_byte_and_keeps_the_connection():
    with faulty(Planned.of(fault="latency", seconds=0.2)) as (connection, _service):
        for serial in (1, 2):
            began = time.monotonic()
            connection.sendall(ASK)
            first = connection.recv(1)
            assert 0.18 < time.monotonic() - began < 0.2 + SLACK
            top, _, body = read_answer(connection, first)
            assert b"200 OK" in top
            assert serial == Service().seal.open(json.loads(body)["sdkInput"]).serial


def read_answer(connection, data=b""):
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    top, _, body = data.partition(b"\r\n\r\n")
    length = next(int(line[16:]) for line in top.split(b"\r\n") if line.startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    return top, length, body


@pytest.mark.slow
def test_a_dribble_comes_byte_by_byte_and_whole(whole):
    with faulty(Planned.of(fault="dribble", seconds=0.002)) as (connection, _service):
        connection.sendall(ASK)
        pieces = [connection.recv(65536)]
        while not b"".join(pieces).endswith(whole):
            pieces.append(connection.recv(65536))
        assert len(pieces) > 5  # a busy machine may read many at once
        connection.sendall(ASK)  # the connection is kept
        assert connection.recv(8) == b"HTTP/1.1"


WAITING = ["latency", "stall before headers", "stall after headers", "dribble"]


@pytest.mark.parametrize("leave", ["FIN", "RST"])
@pytest.mark.parametrize("name", WAITING)
def test_a_wait_ends_when_the_peer_leaves(name, leave):
    with faulty(Planned.of(fault=name, seconds=LONG)) as (connection, service):
        connection.sendall(ASK)
        assert settles(lambda: service.loop is not None and service.answering() == 1)
        if leave == "RST":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
        assert settles(lambda: not service.answering())


@pytest.mark.parametrize("name", WAITING)
def test_a_wait_ends_when_the_server_stops(name):
    threads = threading.active_count()
    with faulty(Planned.of(fault=name, seconds=LONG)) as (connection, service):
        connection.sendall(ASK)
        assert settles(lambda: service.loop is not None)
        began = time.monotonic()
    assert time.monotonic() - began < SLACK
    assert threading.active_count() == threads


def test_many_stalls_at_once_hold_nobody_up():
    service = Watched(plan=FaultPlan([Planned.of(fault="stall before headers", seconds=LONG, operation="GET")]))
    with running(service) as url:
        waiting = [connected(url) for _ in range(20)]
        for one in waiting:
            one.__enter__().sendall(ASK)
        assert settles(lambda: service.loop is not None and service.answering() == 20)
        with connected(url) as connection:
            connection.sendall(ASK.replace(b"GET", b"PUT", 1))
            assert connection.recv(12) == b"HTTP/1.1 405"
        for one in waiting:
            one.__exit__(None, None, None)


@pytest.mark.slow
def test_a_peer_that_takes_nothing_is_cut_off():
    """More than all buffers hold, a peer that does not read, and the connection is to be closed."""
    rules = (Planned.of(fault="huge body", bytes=64_000_000, nth=1), Planned.of(fault="close", nth=2))
    with faulty(*rules) as (connection, service):
        connection.sendall(ASK * 2)
        assert settles(lambda: service.loop is not None)
        assert settles(lambda: service.answering() == 0, 1.0 + SLACK)


def test_an_answer_has_one_date_its_own_where_it_brings_one():
    lines, _body, _ending = asked_closing("429 at a date")
    assert [line for line in lines if line.startswith("date")] == ["date: Thu, 01 Jan 2026 00:00:00 GMT"]
    lines, _body, _ending = asked_closing("429 in seconds")
    assert sum(line.startswith("date: ") for line in lines) == 1


def asked_closing(name):
    with faulty(Planned.of(fault=name)) as (connection, _service):
        connection.sendall(ASK.replace(b"host", b"connection: close\r\nhost"))
        data, ending = read_all(connection)
    top, _, body = data.partition(b"\r\n\r\n")
    return top.decode().split("\r\n"), body, ending


def test_a_head_names_the_bodys_length():
    told = head(Response(200, (("content-type", "x"),), b"four", ""))
    assert told.split("\r\n")[:3] == ["HTTP/1.1 200 OK", "content-type: x", "content-length: 4"]


@pytest.mark.parametrize("name", ["502", "redirect", "gzip bomb", "503 that says 500"])
def test_the_log_names_the_fault_and_reads_no_body_of_it(name):
    request = Request("GET", PATH, (("x-api-key", SIMULATED_KEY),))
    response = Service(plan=FaultPlan([Planned.of(fault=name)])).respond(request)
    said = log_line(request, response, 0.1, ()).partition(" ms  ")[2]
    assert re.fullmatch(rf"fault: {re.escape(name)}(; [a-z ]*: [a-z-]+|; [a-z-]+)*", said)
    assert response.body[:20] == b"" or response.body[:20].decode("latin-1") not in said
