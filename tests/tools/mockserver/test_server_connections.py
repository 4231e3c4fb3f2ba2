"""What HTTP allows a peer to do with its connection, on real sockets: in one piece, half closed, and with a reset."""

import asyncio
import errno
import json
import socket
import ssl
import time
from contextlib import contextmanager
from unittest.mock import Mock

import pytest
from responders import Fixed

from workbook.simulation.faults import FaultPlan, Planned
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Response, Wire
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.server import Connection, Server, listening, make_certificate, running

ID = INSTRUMENT_IDS[0]
SEAL = Seal(7)
MANY = 50


def head(*lines, method="GET", instrument=ID, version="1.1"):
    first = f"{method} {BEFORE_ID}{instrument}{AFTER_ID} HTTP/{version}"
    return "\r\n".join([first, "host: localhost", f"x-api-key: {SIMULATED_KEY}", *lines, "", ""]).encode()


def post(serial):
    data = json.dumps({"sdkOutput": SEAL.close(Content.OUTPUT, ID, serial, attempt=serial)}).encode()
    return head("content-type: application/json", f"content-length: {len(data)}", method="POST") + data


@pytest.fixture
def peer():
    with running() as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            yield connection


def read_all(connection):
    told = b""
    while more := connection.recv(65536):
        told += more
    return told


def answers(told):
    """The status line, the headers and the body of each answer, and nothing in between."""
    found = []
    while told:
        top, _, rest = told.partition(b"\r\n\r\n")
        first, *lines = top.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = int(headers["content-length"])
        found.append((first, headers, json.loads(rest[:length])))
        told = rest[length:]
    return found


def said(answer):
    opened = SEAL.open(answer[2]["sdkInput"])
    return opened.content, opened.serial


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_requests_that_do_not_wait_for_answers_are_all_answered_in_order(peer, pieces):
    asked = b"".join(head() + post(serial) for serial in range(1, MANY + 1))
    size = -(-len(asked) // pieces)
    for start in range(0, len(asked), size):
        peer.sendall(asked[start : start + size])
    peer.shutdown(socket.SHUT_WR)
    told = [said(answer) for answer in answers(read_all(peer))]
    assert told == [(kind, serial) for serial in range(1, MANY + 1) for kind in ("activation", "opc")]


def test_a_request_behind_one_that_is_refused_is_answered(peer):
    peer.sendall(head(instrument="unknown") + head("connection: close"))
    first, second = answers(read_all(peer))
    assert (first[0], said(second)) == ("HTTP/1.1 422 Unprocessable Content", ("activation", 1))


@pytest.mark.parametrize("asked", [head(), post(1)], ids=["GET", "POST"])
def test_a_peer_that_says_no_more_gets_its_whole_answer_and_then_the_end(peer, asked):
    peer.sendall(asked)
    peer.shutdown(socket.SHUT_WR)
    ((first, _headers, body),) = answers(read_all(peer))
    assert (first, "sdkInput" in body) == ("HTTP/1.1 200 OK", True)


@pytest.mark.slow
def test_a_large_answer_to_a_peer_that_says_no_more_is_whole():
    plan = FaultPlan([Planned.of(fault="huge body", bytes=20_000_000)])
    with running(Service(plan=plan)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(head())
            connection.shutdown(socket.SHUT_WR)
            time.sleep(0.2)  # the server has read the end by now, and waits for somebody to read
            top, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}" in top.decode().split("\r\n")
    assert len(body) >= 20_000_000


def asked_of(answer, sent):
    """All that comes of these bytes, from a server that answers so."""
    with running(Fixed(answer)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(sent)
            return read_all(connection)


def test_an_answer_in_chunks_ends_with_an_empty_one():
    told = asked_of(Response(200, (), b"whole", "assumed", wire=Wire(chunked=True)), head("connection: close"))
    assert told.endswith(b"\r\n\r\n5\r\nwhole\r\n0\r\n\r\n")


def test_a_defect_of_who_answers_is_a_500_and_not_the_end(caplog):
    told = asked_of(LookupError("a defect"), head("connection: close"))
    assert told.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    records = [each for each in caplog.records if each.name == "workbook.server"]  # not another test's late thread
    assert [(each.message, str(each.exc_info[1])) for each in records] == [
        ("A request could not be answered.", "a defect")
    ]


@pytest.mark.parametrize(("over", "stays"), [(None, True), (object(), False)], ids=["TCP", "TLS"])
def test_the_half_of_a_connection_that_is_left_serves_for_the_answer_under_way_but_not_over_tls(over, stays):
    async def eof():
        connection = Connection(Server(lambda _request: None))
        transport = Mock(asyncio.Transport)
        transport.get_extra_info.side_effect = {"ssl_object": over}.get
        connection.connection_made(transport)
        connection._task = Mock()
        return connection.eof_received()

    assert asyncio.run(eof()) is stays


def test_an_abrupt_stop_ends_an_answer_under_way_and_then_the_server():
    async def serve():
        answering, ended = asyncio.Event(), []

        async def answer(_request):
            answering.set()
            await asyncio.sleep(60)

        server = Server(answer)
        with listening("127.0.0.1", 0) as listener:
            server.listen(listener)
            task = asyncio.create_task(server.serve())
            _reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(head())
            await answering.wait()
            server.stop(abrupt=True)
            ended.append(await asyncio.wait_for(task, 10))
            writer.close()
        return ended, server.connections

    assert asyncio.run(serve()) == ([None], set())


@pytest.mark.parametrize("part", [head()[:40], post(1)[:-5]], ids=["head", "body"])
def test_a_peer_that_leaves_before_its_request_is_whole_gets_nothing(peer, part):
    peer.sendall(part)
    peer.shutdown(socket.SHUT_WR)
    assert read_all(peer) == b""


def test_a_kept_connection_ends_when_its_peer_says_so(peer):
    peer.sendall(head())
    assert peer.recv(65536).startswith(b"HTTP/1.1 200")
    peer.shutdown(socket.SHUT_WR)
    assert read_all(peer) == b""


@pytest.mark.parametrize(
    ("lines", "version"),
    [((), "1.0"), (("connection: close",), "1.1"), (("Connection: Close",), "1.1"), (("connection: close",), "1.0")],
)
def test_a_peer_that_asks_once_gets_one_answer_and_the_end(peer, lines, version):
    peer.sendall(head(*lines, version=version))
    ((first, headers, body),) = answers(read_all(peer))
    assert (first, headers["connection"], "sdkInput" in body) == ("HTTP/1.1 200 OK", "close", True)


@pytest.mark.rule("API-2")
def test_a_body_is_asked_for_where_its_sender_waits_for_that(peer):
    top, _, data = post(1).partition(b"\r\n\r\n")
    peer.sendall(top + b"\r\nExpect: 100-continue\r\n\r\n")
    assert peer.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
    (answer,) = answers(read_all(peer))
    assert said(answer) == ("opc", 1)


@pytest.mark.rule("API-2")
@pytest.mark.parametrize("cut", [None, 40, -20])
def test_a_request_that_offers_another_protocol_is_read_with_its_body(peer, cut):
    # Java's own client offers HTTP/2 with each request in clear text, and sends the body of HTTP/1.1 behind it
    offer = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\ncontent-type"
    data = post(1).replace(b"content-type", offer)
    for piece in (data[:cut], data[cut:]) if cut else (data,):
        peer.sendall(piece)
        time.sleep(0.01)
    peer.sendall(head("connection: close"))
    (first, _headers, document), (second, *_rest) = answers(read_all(peer))
    assert first.startswith("HTTP/1.1 200")
    assert "sdkInput" in document
    assert second.startswith("HTTP/1.1 200")


def test_thousands_of_offers_in_one_write_are_all_declined(peer):
    offer = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n"
    peer.sendall(offer * 4000 + head("connection: close"))
    found = [first for first, *_rest in answers(read_all(peer))]
    assert (len(found), found[-1], set(found[:-1])) == (4001, "HTTP/1.1 200 OK", {"HTTP/1.1 404 Not Found"})


def test_header_names_in_odd_case_and_a_body_in_chunks(peer):
    data = post(1).partition(b"\r\n\r\n")[2]
    first = head("CONTENT-Type: application/json", "Transfer-ENCODING: chunked", method="POST")
    peer.sendall(first.replace(b"x-api-key", b"X-aPi-KeY"))
    for start in range(0, len(data), 50):
        piece = data[start : start + 50]
        peer.sendall(b"%X;ext=1\r\n%s\r\n" % (len(piece), piece))
    peer.sendall(b"0\r\nX-Trailer: 1\r\n\r\n")
    peer.shutdown(socket.SHUT_WR)
    (answer,) = answers(read_all(peer))
    assert said(answer) == ("opc", 1)


@pytest.mark.rule("API-3")
@pytest.mark.parametrize(
    ("instrument", "status"),
    [
        (ID, 200),
        (f"%{ord(ID[0]):02X}{ID[1:]}", 200),
        ("".join(f"%{ord(one):02x}" for one in ID), 200),
        (f"{ID}%20", 422),
        ("%C3%A9", 422),
        ("%ff%00", 422),
        ("~!$&'()*+,;:@", 422),
        ("%", 422),
        ("caf\u00e9", 400),
        ("a b", 400),
    ],
    ids=["raw", "first", "whole", "blank", "UTF-8", "no text", "marks", "no code", "raw UTF-8", "raw blank"],
)
def test_an_id_is_decoded_once_and_what_no_target_may_hold_is_refused(peer, instrument, status):
    peer.sendall(head("connection: close", instrument=instrument))
    assert read_all(peer).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls") / "new")


@contextmanager
def secure(certificate, *planned):
    """A server with TLS that plays these, and its address."""
    service = Service(plan=FaultPlan([Planned.of(fault=name) for name in planned]))
    with running(service, certificate=certificate) as url:
        host, _, port = url.removeprefix("https://").partition(":")
        yield host, int(port)


class Below:
    """A TLS client that does its own reading and writing, so it sees what happens to the connection below."""

    def __init__(self, connection, certificate):
        self.connection = connection
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=certificate.ca_file)
        self._tls = context.wrap_bio(self._in, self._out, server_hostname="localhost")
        self._until(self._tls.do_handshake)

    def ask(self, data):
        self._tls.write(data)
        return self._until(lambda: self._tls.read(65536))

    def _until(self, step):
        """Take this step as soon as there are bytes enough for it."""
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                self.connection.sendall(self._out.read())
                self._in.write(self.connection.recv(65536))
            else:
                self.connection.sendall(self._out.read())
                return done


def test_a_reset_over_tls_is_a_reset_of_the_connection_below(certificate):
    """What a library makes of it is its own affair: many take the ECONNRESET of the system for a plain end."""
    with secure(certificate, "reset") as address, socket.create_connection(address, timeout=60) as connection:
        with pytest.raises(ConnectionResetError) as caught:
            Below(connection, certificate).ask(head())
        assert caught.value.errno == errno.ECONNRESET


@pytest.mark.parametrize("fault", ["stall before headers", "stall after headers", "dribble", "truncated body"])
def test_a_peer_that_leaves_during_a_fault_over_tls_leaves_no_word_in_the_log(certificate, fault, caplog):
    """Asyncio of Python 3.11.2 cannot cut a connection that was closed twice; later ones let that pass."""
    context = ssl.create_default_context(cafile=certificate.ca_file)
    with (
        secure(certificate, fault) as address,
        socket.create_connection(address, timeout=60) as connection,
        context.wrap_socket(connection, server_hostname="localhost") as peer,
    ):
        peer.sendall(head("connection: close"))
        time.sleep(0.1)  # it leaves when the server has begun with the answer
    told = [record.getMessage() for record in caplog.records if record.name != "relay"]  # of a test before this one
    assert told == []


def test_an_answer_over_tls_is_one_record(certificate):
    with secure(certificate) as address, socket.create_connection(address, timeout=60) as connection:
        (answer,) = answers(Below(connection, certificate).ask(head()))  # a read gives no more than a record
    assert said(answer) == ("activation", 1)
