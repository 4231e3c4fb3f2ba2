"""An upstream of raw bytes, and a proxy before any upstream."""

import socket
import ssl
import threading
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from workbook.simulation.http import Request
from workbook.tools.mockserver.server import Server, base_url, listening, on_thread
from workbook.tools.proxy.proxy import LARGEST_REQUEST, forwarding
from workbook.tools.proxy.upstream import ApiOrigin, ProxyReply, Upstream

NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody; an API on plain http needs no more, and loading the public authorities takes time."""


class Raw:
    """Answers each connection with the same bytes, and keeps what arrived, byte for byte."""

    def __init__(self, answer):
        self.answer = answer
        self.came = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                self.came.append(read_request(connection))
                connection.sendall(self.answer)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(60)


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lower = head.lower()
    if b"\r\ntransfer-encoding: chunked" in lower:
        done = lambda: body.endswith(b"0\r\n\r\n")  # noqa: E731  # beside its twin
    else:
        length = int(lower.partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0] or b"0")
        done = lambda: len(body) >= length  # noqa: E731
    while not done() and (piece := connection.recv(65536)):
        body += piece
    return head, body


@pytest.fixture
def raw():
    made = []

    def make(answer=b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"):
        made.append(Raw(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Kept(NamedTuple):
    """An exchange as the proxy hands it on."""

    request: Request
    reply: ProxyReply
    times: tuple[float, float]


@contextmanager
def proxy_before(url, **settings):
    """A proxy's URL, and the exchanges that it kept."""
    kept = []
    if url.startswith("http:"):
        settings.setdefault("tls", NOBODY)
    server = Server(
        forwarding(Upstream(ApiOrigin.of(url), **settings), lambda *exchange: kept.append(Kept(*exchange))),
        most_body=LARGEST_REQUEST,
    )
    with listening("127.0.0.1", 0) as listener:
        server.listen(listener)
        with on_thread(server):
            yield base_url(listener), kept


@pytest.fixture
def before():
    return proxy_before


def talk(url, data, *, shut=False):
    """Send bytes, and read until the proxy closes."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(data)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


@pytest.fixture
def say():
    return talk
