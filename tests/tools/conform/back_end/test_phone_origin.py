"""Only the configured origin is contacted, wherever a name or an answer points."""

import asyncio
import gzip
import socket
import ssl
import threading
import tracemalloc
from contextlib import closing

import pytest
import trustme
from rows import rows

from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.model import Broke, PhoneCall
from workbook.tools.conform.back_end.phone import LARGEST_READ, OriginClient
from workbook.tools.harness.origin import Origin, wrong_origin
from workbook.tools.harness.program import listens


class Raw:
    """Answers each connection with the same bytes, and keeps what arrived."""

    def __init__(self, answer, tls=None):
        self.answer, self.tls, self.came = answer, tls, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            try:
                with self.tls.wrap_socket(connection, server_side=True) if self.tls else connection as line:
                    line.settimeout(5)
                    self.came.append(line.recv(65536))
                    line.sendall(self.answer)
            except OSError:
                continue

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def answer(status, *headers, body=b"{}"):
    return "\r\n".join([f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *headers, "", ""]).encode() + body


def asked(origin, *, times=1, seconds=5.0):
    async def ask():
        calls = [PhoneCall(number, "GET", "", "") for number in range(times)]
        async with OriginClient(origin, seconds) as client:
            for call in calls:
                await client.exchange(call, "GET", "/a?b=1", [("x-one", "1")])
        return calls

    return asyncio.run(ask())


@rows(
    ("url", "why"),
    [
        ("http://127.0.0.1:8080", ""),
        ("https://relay.example/v1/", ""),
        ("http://[::1]:8080", ""),
        ("http://10.0.0.1", ""),
        ("", "is empty"),
        ("relay.example", "has neither the scheme"),
        ("file:///etc/passwd", "has neither the scheme"),
        ("http://", "has no valid host"),
        ("http://h:99999", "has no valid host and port"),
        ("http://h:0", "has no valid host and port"),
        ("http://a:canary@h", "holds a user name"),
        ("http://h?canary", "holds a query"),
        ("http://h#canary", "holds a fragment"),
        ("http://h/../x", "has a prefix"),
        ("http://h/%2e%2e/x", "has a prefix"),
        ("http://h\\@evil", "is empty, or holds"),
        ("http://169.254.169.254", "is a link-local"),
        ("http://[fe80::1]", "is a link-local"),
        ("http://[::ffff:169.254.169.254]", "is a link-local"),
        ("http://[2002:a9fe:a9fe::]", "is a link-local"),
        ("http://0.0.0.0:80", "is a link-local"),
        ("http://224.0.0.1", "is a link-local"),
    ],
)
def test_what_is_no_origin_is_refused_without_its_secrets(url, why):
    assert wrong_origin(url).startswith(why)
    assert bool(why) == bool(wrong_origin(url))
    if why:
        with pytest.raises(ConfigurationError) as refused:
            Origin.of(url)
        assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "found",
    [["169.254.169.254"], ["127.0.0.1", "fe80::1"], ["::ffff:169.254.1.1"], ["0.0.0.0"]],
)
def test_a_name_that_leads_to_a_forbidden_address_is_never_asked(found):
    with pytest.raises(ConfigurationError, match=r"'relay\.example' leads to a link-local"):
        asyncio.run(Origin.of("http://relay.example").addresses(lambda _host, _port: found))


@pytest.mark.parametrize("host", ["2852039166", "0xa9fea9fe", "169.16689662"])
def test_nor_is_an_odd_spelling_of_one(host):
    with pytest.raises(ConfigurationError, match="leads to a link-local"):
        asyncio.run(Origin.of(f"http://{host}").addresses())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_not_followed(status):
    with closing(Raw(answer(200))) as other:
        location = f"location: http://127.0.0.1:{other.port}/x"
        with closing(Raw(answer(status, location))) as raw:
            (got,) = asked(Origin.of(f"http://127.0.0.1:{raw.port}"))
        assert (got.status, other.came) == (status, [])


def test_no_cookie_and_no_proxy_is_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with closing(Raw(answer(200, "set-cookie: session=first", "connection: close"))) as raw:
        asked(Origin.of(f"http://127.0.0.1:{raw.port}"), times=2)
        assert len(raw.came) == 2
        assert b"cookie" not in raw.came[1].lower()


@pytest.mark.parametrize(
    ("said", "broke"),
    [
        (b"", Broke.LOST),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", Broke.LOST),
        (b"garbage\r\n\r\n", Broke.NO_HTTP),
        (answer(200, "content-encoding: gzip"), Broke.SPOILT),
        (answer(200, body=b"x" * (LARGEST_READ + 1)), Broke.HUGE),
    ],
)
def test_what_breaks_is_part_of_the_answer(said, broke):
    with closing(Raw(said)) as raw:
        assert asked(Origin.of(f"http://127.0.0.1:{raw.port}"))[0].broke is broke


@pytest.mark.slow
@pytest.mark.parametrize(("coding", "layers"), [("gzip", 1), ("gzip, gzip", 2)])
def test_a_small_answer_that_unpacks_to_very_much_takes_little_memory(coding, layers):
    body = b"0" * 64_000_000
    for _ in range(layers):
        body = gzip.compress(body)
    with closing(Raw(answer(200, f"content-encoding: {coding}", body=body))) as raw:
        tracemalloc.start()
        (got,) = asked(Origin.of(f"http://127.0.0.1:{raw.port}"))
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 6 * LARGEST_READ
    assert (got.broke, got.body) == ((Broke.HUGE, b"") if layers == 1 else (Broke.NO, body))


def test_nobody_and_silence_are_told_apart():
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        origin = Origin.of(f"http://127.0.0.1:{port}")
        assert asked(origin, seconds=0.3)[0].broke is Broke.LATE
        assert asyncio.run(listens(origin))
    assert asked(origin)[0].broke is Broke.REFUSED
    assert not asyncio.run(listens(origin, 1))


def test_whoever_listens_at_the_second_address_of_a_name_is_there(monkeypatch):
    async def both(_origin):
        return ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(Origin, "addresses", both)
    with closing(Raw(answer(200))) as raw:
        assert asyncio.run(listens(Origin.of(f"http://localhost:{raw.port}"), 1))


def test_a_name_without_an_address_is_nobody():
    assert asked(Origin.of("http://relay.invalid"))[0].broke is Broke.REFUSED


def test_https_checks_the_name_and_not_the_address(monkeypatch):
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("relay.example").configure_cert(tls)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    monkeypatch.setattr("workbook.tools.conform.back_end.phone.trusting_context", lambda _ca_file: trusted)
    with closing(Raw(answer(200), tls)) as raw:
        here = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", raw.port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_given, **_named: here)
        assert asked(Origin.of(f"https://relay.example:{raw.port}"))[0].status == 200
        assert asked(Origin.of(f"https://other.example:{raw.port}"))[0].broke is Broke.UNTRUSTED
