"""What the tests of the client share: a clock that only moves when told, raw sockets."""

import random
import socket
import struct
import threading

import anyio
import httpx
import pytest

from workbook import ActivationDataClient, AsyncActivationDataClient, RetryPolicy

KEY = "canary-KEY-0123456789"
OUTPUT = "canary-sdk-output"
INPUT = "canary-sdk-input"


class VirtualClock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.time, self.naps = 0.0, []

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.time += seconds

    async def asleep(self, seconds):
        self.sleep(seconds)


class RawServer:
    """A listener on loopback: `script(connection, request)` answers each request; all requests are kept."""

    def __init__(self, script):
        self.script, self.requests, self._open = script, [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                while request := read_request(connection):
                    self.requests.append(request)
                    if self.script(connection, request) != "keep":
                        return
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for connection in self._open:
            connection.close()


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data and data[:1] != b"\x16":  # a TLS hello has no blank line
        data += (more := connection.recv(65536))
        if not more:
            return b""
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(x.split(b":")[1]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def ok(body, *headers):
    lines = ["HTTP/1.1 200 OK", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Caller:
    """One call, in either client, as a plain function."""

    def __init__(self, method, *, is_async):
        self.method, self.is_async = method, is_async

    def __call__(self, base_url="https://api.example", key=KEY, handler=None, **options):
        options.setdefault("retries", RetryPolicy(attempts=1))
        options.setdefault("random", random.Random(7))
        if handler is not None:
            options["transport"] = httpx.MockTransport(handler)
        arguments = ("PI1",) if self.method == "get" else ("PI1", OUTPUT)
        if self.is_async:
            return anyio.run(self._async, base_url, key, options, arguments)
        with ActivationDataClient(base_url, key, **options) as client:
            return getattr(client, self.method)(*arguments)

    async def _async(self, base_url, key, options, arguments):
        async with AsyncActivationDataClient(base_url, key, **options) as client:
            return await getattr(client, self.method)(*arguments)


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def serve():
    servers = []

    def start(script):
        servers.append(RawServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(params=["get", "post"])
def method(request):
    return request.param


@pytest.fixture(params=["sync", "async"])
def call(request, method):
    return Caller(method, is_async=request.param == "async")


@pytest.fixture
def wire():
    """The helpers of this module, for scripts."""
    return type("Wire", (), {"ok": staticmethod(ok), "reset": staticmethod(reset)})


@pytest.fixture
def canaries():
    return KEY, OUTPUT, INPUT
