import math
import socket
import ssl
import threading
import time

import httpcore
import pytest

from workbook.api.net import DeadlineBackend, DeadlineStream, DeadlineTransport, Expiry


class Inner(httpcore.NetworkStream):
    """Notes the timeouts it is given; `late` makes it run into them."""

    def __init__(self, late=None):
        self.late, self.timeouts, self.closed = late, [], False

    def _wait(self, timeout):
        self.timeouts.append(timeout)
        if self.late:
            raise self.late

    def read(self, max_bytes, timeout=None):
        self._wait(timeout)
        return b"x"

    def write(self, buffer, timeout=None):
        self._wait(timeout)

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self._wait(timeout)
        return self

    def close(self):
        self.closed = True

    def get_extra_info(self, info):
        return info


STEPS = [
    (lambda stream, timeout: stream.read(1, timeout), httpcore.ReadTimeout),
    (lambda stream, timeout: stream.write(b"x", timeout), httpcore.WriteTimeout),
    (lambda stream, timeout: stream.start_tls(None, "h", timeout), httpcore.ConnectTimeout),
]


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(("step", "late"), STEPS)
def test_every_wait_is_cut_to_what_is_left(step, late):
    inner = Inner()
    with Expiry(10.0):
        step(DeadlineStream(inner), 5.0)
        step(DeadlineStream(inner), 50.0)
        step(DeadlineStream(inner), None)
    step(DeadlineStream(inner), None)
    assert inner.timeouts[0] == 5.0
    assert 9.0 < inner.timeouts[1] <= 10.0
    assert 9.0 < inner.timeouts[2] <= 10.0
    assert inner.timeouts[3] is None


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(("step", "late"), STEPS)
@pytest.mark.parametrize(("timeout", "passed"), [(5.0, False), (50.0, True)])
def test_a_timeout_is_known_as_the_deadline_s_or_not(step, late, timeout, passed):
    with Expiry(10.0) as expiry, pytest.raises(late):
        step(DeadlineStream(Inner(late)), timeout)
    assert expiry.passed is passed


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(("step", "late"), STEPS)
def test_nothing_is_begun_after_the_deadline(step, late):
    inner = Inner()
    with Expiry(-1.0) as expiry, pytest.raises(late):
        step(DeadlineStream(inner), 5.0)
    assert expiry.passed
    assert inner.timeouts == []


@pytest.mark.parametrize("seconds", [-1.0, 10.0])
def test_a_connection_without_its_handshake_is_closed(seconds):
    inner = Inner(httpcore.ConnectTimeout)
    with Expiry(seconds), pytest.raises(httpcore.ConnectTimeout):
        DeadlineStream(inner).start_tls(None, "h", 5.0)
    assert inner.closed


def test_a_large_body_is_written_piece_by_piece():
    inner = Inner()
    DeadlineStream(inner).write(bytes(40_000), 5.0)
    assert len(inner.timeouts) == 3


def test_the_rest_is_passed_on():
    inner = Inner()
    stream = DeadlineStream(inner)
    stream.close()
    assert inner.closed
    assert stream.get_extra_info("socket") == "socket"


def test_an_endless_expiry_cuts_nothing():
    assert Expiry().cut(None, httpcore.ReadTimeout) is None
    assert Expiry().cut(3.0, httpcore.ReadTimeout) == 3.0
    assert Expiry().at == math.inf


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("resolve", [None, lambda host, port: ["127.0.0.2", "127.0.0.1"]])
def test_the_first_address_that_answers_is_taken(port, resolve):
    stream = DeadlineBackend(resolve).connect_tcp("localhost", port, 5.0)
    assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
    stream.close()


@pytest.mark.parametrize("error", [OSError("no such host"), UnicodeError("label too long")])
def test_a_host_without_address_is_a_connect_error(error):
    def resolve(host, port):
        raise error

    with pytest.raises(httpcore.ConnectError, match="no address"):
        DeadlineBackend(resolve).connect_tcp("h", 1, 5.0)


@pytest.mark.rule("REL-5")
def test_a_look_up_that_hangs_is_left_behind():
    release = threading.Event()
    start = time.monotonic()
    with Expiry(0.05) as expiry, pytest.raises(httpcore.ConnectTimeout):
        DeadlineBackend(lambda host, port: release.wait(5) and []).connect_tcp("h", 1, 5.0)
    release.set()
    assert expiry.passed
    assert time.monotonic() - start < 2


def test_nothing_comes_from_the_environment():
    transport = DeadlineTransport(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    assert isinstance(transport._pool._network_backend, DeadlineBackend)
    assert not transport._pool._http2
    transport.close()
