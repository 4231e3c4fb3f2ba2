"""A load generator on bare sockets, so cheap that what is measured is the server; it ends by itself.

Each connection is kept and has one request under way. Whoever calls this should run in another process than the server.
"""

import re
import selectors
import socket
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice

PATIENCE = 10.0
"""Seconds without any answer after which a server counts as gone."""
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Outcome:
    """What came of a load.

    Attributes:
        seconds: from the first request to the last answer.
        statuses: how often each status was answered.
        waits: seconds from each request to its whole answer, in the order of the answers.
        gone: whether the server ended it.
    """

    seconds: float = 0.0
    statuses: Counter = field(default_factory=Counter)
    waits: list = field(default_factory=list)
    gone: bool = False

    @property
    def rate(self):
        """Requests a second."""
        return len(self.waits) / self.seconds


class Peer:
    """One kept connection and the request that is under way on it."""

    __slots__ = ("began", "data", "request", "socket")

    def __init__(self, connection):
        self.socket = connection

    def ask(self, request):
        self.request, self.data = request, b""
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def read(self):
        """The status and the body, once they are whole.

        Raises:
            ConnectionError: the server is gone.
        """
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionResetError
        self.data += data
        head, blank, body = self.data.partition(b"\r\n\r\n")
        if not blank or len(body) < int(LENGTH.search(head)[1]):
            return None
        return int(head[9:12]), body


def load(address, requests, connections, heard=lambda _request, _status, _body: None):
    """Send these requests over so many connections, and wait for every answer.

    Args:
        address: host and port.
        requests: bytes; iterated only as fast as they are sent.
        connections: how many, each kept until the end.
        heard: called with each request, its status and its body, outside of what is timed.
    """
    outcome, requests = Outcome(), iter(requests)
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        began = time.perf_counter()
        try:
            for request in islice(requests, connections):
                peer = Peer(stack.enter_context(socket.create_connection(address, PATIENCE)))
                peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                peer.socket.settimeout(None)
                selector.register(peer.socket, selectors.EVENT_READ, peer)
                peer.ask(request)
            while selector.get_map():
                _turn(selector, requests, heard, outcome)
        except ConnectionError:
            outcome.gone = True
        outcome.seconds = time.perf_counter() - began
    return outcome


def _turn(selector, requests, heard, outcome):
    """Take what has arrived, and send as many more."""
    ready = selector.select(PATIENCE)
    if not ready:
        raise ConnectionAbortedError
    for key, _events in ready:
        peer = key.data
        answer = peer.read()
        if answer is None:
            continue
        outcome.waits.append(time.perf_counter() - peer.began)
        outcome.statuses[answer[0]] += 1
        heard(peer.request, *answer)
        following = next(requests, None)
        if following is None:
            selector.unregister(peer.socket)
        else:
            peer.ask(following)
