"""What a back end sends arrives byte for byte, and so does what the API answers."""

import gzip
import json
import os
import socket
import threading
import time

import httpcore
import pytest
import requests

from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.faults import FAULTS, FaultKind, FaultPlan, Planned, fault
from workbook.simulation.http import Response
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.server import Server, answering, listening, make_certificate, on_thread, running
from workbook.tools.proxy import proxy as forwarding
from workbook.tools.proxy import upstream
from workbook.tools.proxy.upstream import HEADER, ApiOrigin, ProxyFailure, Upstream, for_the_back_end, trusting

PATH = f"/bcl/v2/paymentInstruments/{INSTRUMENT_IDS[0]}/networkTokenActivationData"
KEY = {"x-api-key": SIMULATED_KEY}
CLOSE = b"Connection: close\r\n"


def get(url, **more):
    with requests.Session() as session:
        session.trust_env = False
        return session.get(url, timeout=60, allow_redirects=False, **more)


# ---------------------------------------------------------------- byte for byte


@pytest.mark.rule("API-3", "REL-8")
@pytest.mark.parametrize(
    ("target", "prefix"),
    [
        *((PATH, prefix) for prefix in ("", "/base")),
        ("/a%2F..%2fb/%E2%82%ac?", ""),
        ("/x?a=%20&&b", "/base"),
        ("//double//", "/a/b"),
        ("/a/./b/../c", ""),
        ("/~'()*!$&;=@:,+[]|", "/base"),
        ("/?", "/base"),
    ],
)
def test_the_target_is_not_touched(target, prefix, raw, before, say):
    api = raw()
    with before(api.url + prefix) as (url, _kept):
        say(url, f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode() + CLOSE + b"\r\n")
    assert api.came[0][0].split(b"\r\n")[0] == f"GET {prefix}{target} HTTP/1.1".encode()


@pytest.mark.rule("API-4", "REL-2", "REL-8")
def test_headers_arrive_in_order_and_in_their_spelling_and_nothing_is_added(raw, before, say, monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "from-the-environment")
    api = raw()
    lines = [b"ZZZ-Last: 1", b"X-Api-KEY: k-123456789", b"x-a: \xe9", b"ACCEPT: b", b"Accept: a", b"x-empty:"]
    sent = b"\r\n".join([b"GET /x HTTP/1.1", lines[0], b"hOST: localhost:1", *lines[1:], CLOSE.strip(), b"", b""])
    with before(api.url) as (url, kept):
        say(url, sent)
    expected = [b"GET /x HTTP/1.1", b"Host: " + api.url.removeprefix("http://").encode(), *lines]
    assert [line.rstrip(b" ") for line in api.came[0][0].split(b"\r\n")] == expected
    assert api.came[0][1] == b""
    assert len(kept) == 1


@pytest.mark.rule("API-7", "REL-8")
@pytest.mark.parametrize("body", [b"", b'{"sdkOutput": "\xc3\xa9\\u00e9"}', b"\x00\xff" * 700, b"x" * 200_000])
def test_a_body_arrives_as_it_is_in_its_own_framing(body, raw, before, say):
    api = raw()
    head = b"POST /x HTTP/1.1\r\nHost: localhost\r\n" + CLOSE
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in (body[:5], body[5:]) if one)
    with before(api.url) as (url, _kept):
        say(url, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        say(url, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    (plain, plain_body), (chunked, chunked_body) = api.came
    assert b"\r\nContent-Length: %d" % len(body) in plain
    assert plain_body == body
    assert b"\r\nTransfer-Encoding: chunked" in chunked
    assert b"ontent-" not in chunked
    one = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
    assert chunked_body == one + b"0\r\n\r\n"


def test_hop_by_hop_headers_stay_behind_and_the_key_cannot_be_named_as_one(raw, before, say):
    api = raw()
    hops = b"Connection: close, x-hop, x-api-key\r\nX-Hop: 1\r\nTE: trailers\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\n"
    with before(api.url) as (url, _kept):
        say(url, b"GET /x HTTP/1.1\r\nHost: localhost\r\n" + hops + b"x-api-key: k-123456789\r\n\r\n")
    assert api.came[0][0].split(b"\r\n")[2:] == [b"x-api-key: k-123456789"]


ANSWERS = {
    "spelling": b"HTTP/1.1 299 What Ever\r\nX-B: 1\r\nDATE: yesterday\r\nx-b: 2\r\nContent-LENGTH: 3\r\n\r\nabc",
    "chunks": b"HTTP/1.1 200 OK\r\nTRANSFER-Encoding: chunked\r\nX-A: b\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "nothing": b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
    "unchanged": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
    "odd status": b"HTTP/1.1 799 \r\ncontent-length: 0\r\n\r\n",
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_arrives_byte_for_byte(name, raw, before, say):
    api = raw(ANSWERS[name])
    with before(api.url) as (url, kept):
        answer = say(url, b"GET /x HTTP/1.1\r\nHost: localhost\r\n" + CLOSE + b"\r\n")
    assert answer.replace(b"connection: close\r\n", b"", 1) == ANSWERS[name]
    assert (len(api.came), kept[0].reply.failure) == (1, None)


def test_an_answer_that_ends_with_its_connection_gets_a_length(raw, before, say):
    api = raw(b"HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nabc")
    with before(api.url) as (url, _kept):
        answer = say(url, b"GET /x HTTP/1.1\r\nHost: localhost\r\n" + CLOSE + b"\r\n")
    assert answer == b"HTTP/1.1 200 OK\r\nX-A: b\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc"


def test_a_peer_of_http_1_0_gets_no_chunks(raw, before, say):
    api = raw(ANSWERS["chunks"])
    with before(api.url) as (url, _kept):
        answer = say(url, b"GET /x HTTP/1.0\r\n\r\n")
    assert answer == b"HTTP/1.1 200 OK\r\nX-A: b\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc"


@pytest.mark.rule("REL-8")
def test_a_peer_that_waits_for_100_continue_gets_it_and_so_does_the_api(raw, before, say):
    api = raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    head = b"POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\n" + CLOSE
    with before(api.url) as (url, _kept):
        answer = say(url, head + b"\r\nx")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert b"\r\nExpect: 100-continue" in api.came[0][0]


def test_head_is_answered_without_a_body_and_the_connection_goes_on(raw, before):
    api = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    with before(api.url) as (url, _kept), requests.Session() as session:
        session.trust_env = False
        answers = [session.head(f"{url}/x", timeout=60) for _ in range(3)]
    assert [(one.status_code, one.headers["content-length"], one.content) for one in answers] == [(200, "5", b"")] * 3


def test_gzip_is_passed_on_packed(raw, before, say):
    packed = gzip.compress(b"{}" * 500, mtime=0)
    api = raw(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)
    with before(api.url) as (url, _kept):
        answer = say(url, b"GET /x HTTP/1.1\r\nHost: localhost\r\n" + CLOSE + b"\r\n")
    assert answer.endswith(b"\r\n\r\n" + packed)
    assert b"accept-encoding" not in api.came[0][0].lower()


# ---------------------------------------------------------------- what goes no further


@pytest.mark.parametrize(
    ("lines", "failure"),
    [
        (b"GET /x HTTP/1.1\r\nHost: example.org\r\n", "misdirected"),
        (b"GET http://example.org/x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/../x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/%2e%2E/x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a%2f..%5cx HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/..;/x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/..;v=1/x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/%252e%252e/x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/%25252e./x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
        (b"GET /a/%2525252525252e./x HTTP/1.1\r\nHost: localhost\r\n", "bad-request"),
    ],
)
def test_only_what_is_below_the_base_path_goes_on(lines, failure, raw, before, say):
    api = raw()
    with before(f"{api.url}/base") as (url, kept):
        answer = say(url, lines + CLOSE + b"\r\n")
    assert api.came == []
    assert f"{HEADER}: {failure}".encode() in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["title"] == "The proxy says so, not the API"
    assert kept[0].reply.failure == failure


def test_bodies_over_the_cap_are_not_passed_on(raw, before, monkeypatch):
    monkeypatch.setattr(forwarding, "LARGEST_REQUEST", 1000)
    monkeypatch.setattr(upstream, "LARGEST_ANSWER", 1000)
    api = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + b"x" * 1001)
    with before(api.url) as (url, _kept), requests.Session() as session:
        session.trust_env = False
        refused = session.post(f"{url}/x", data=b"x" * 1001, timeout=60)
        assert (refused.status_code, refused.headers[HEADER], api.came) == (413, "request-too-large", [])
        large = session.post(f"{url}/x", data=b"x" * 1000, timeout=60)
        assert (large.status_code, large.headers[HEADER]) == (502, "too-large")


# ---------------------------------------------------------------- an API that fails


BROKEN = {
    "closed": b"",
    "garbage": b"SSH-2.0-x\r\n\r\n",
    "cut": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
    "garbage, switching": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_none_is_the_proxys_word(name, raw, before):
    api = raw(BROKEN[name])
    with before(api.url, deadline=5.0) as (url, kept):
        answer = get(f"{url}/x")
    assert (answer.status_code, answer.headers[HEADER]) == (502, name.partition(",")[0])
    assert answer.json()["errorCode"] == f"proxy_{name.partition(',')[0]}"
    assert kept[0].reply.failure == name.partition(",")[0]


def test_a_deadline_holds_over_everything(before):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with before(f"http://127.0.0.1:{port}", deadline=0.2) as (url, _kept):
            answer = get(f"{url}/x")
    assert (answer.status_code, answer.headers[HEADER]) == (504, "late")


@pytest.mark.parametrize("deadline", [0, -1, 1e9, float("nan")])
def test_a_deadline_that_is_none_is_explained(deadline):
    with pytest.raises(ParameterError, match=r"--deadline is .* Give seconds"):
        Upstream(ApiOrigin.of("http://127.0.0.1:1"), deadline=deadline)


def test_an_api_may_be_down_and_come_back(before):
    with listening("127.0.0.1", 0) as kept:
        port = kept.getsockname()[1]
    with before(f"http://127.0.0.1:{port}") as (url, _kept):
        assert get(url + PATH, headers=KEY).headers[HEADER] == "unreachable"
        with listening("127.0.0.1", port) as listener:
            server = Server(answering(Service()))
            server.listen(listener)
            with on_thread(server):
                assert get(url + PATH, headers=KEY).status_code == 200
        assert get(url + PATH, headers=KEY).headers[HEADER] == "unreachable"


SHORT = {"seconds": 0.05, "least": 0.01, "most": 0.02, "median": 0.01, "p99": 0.02}
OUTCOMES = {
    "stall before headers": "closed",
    "stall after headers": "cut",
    "reset": "reset",
    "close": "closed",
    "truncated body": "cut",
    "missing last chunk": "cut",
    "bad chunk": "cut",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_comes_through(name, before):
    settings = {} if FAULTS[name].kind is FaultKind.LIMIT or name == "dribble" else FAULTS[name].settings
    own = {key: value for key, value in SHORT.items() if key in settings}
    played = fault(name).but(seconds=0.0001) if name == "dribble" else fault(name).but(**own)
    with running(Service(plan=FaultPlan([Planned(played)]))) as api, before(api, deadline=10.0) as (url, kept):
        host = url.removeprefix("http://")
        connection = httpcore.ConnectionPool()
        through = connection.request("GET", url + PATH, headers={"host": host, **KEY})
        connection.close()
    assert kept[0].reply.failure == OUTCOMES.get(name)
    said = dict(through.headers).get(HEADER.encode())
    assert said == (OUTCOMES[name].encode() if name in OUTCOMES else None)
    assert (through.status, through.content) == (kept[0].reply.response.status, kept[0].reply.response.body)


@pytest.mark.slow
@pytest.mark.rule("REL-4")
def test_fifty_at_once_each_get_their_own_answer(raw, before):
    answers = {}

    class Echo:
        def respond(self, request):
            time.sleep(0.001)
            return Response(200, (), request.target.encode(), "test")

    with running(Echo()) as api, before(api) as (url, kept):

        def ask(number):
            answers[number] = get(f"{url}/{number}").content

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {number: f"/{number}".encode() for number in range(50)}
    assert sorted(one.request.target for one in kept) == sorted(f"/{number}" for number in range(50))


def test_a_proxy_that_is_named_in_the_environment_is_not_used(raw, before, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with running() as api, before(api) as (url, _kept):
        assert get(url + PATH, headers=KEY).status_code == 200


# ---------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    certificate = make_certificate(tmp_path_factory.mktemp("tls"))
    with running(certificate=certificate) as url:
        yield int(url.rpartition(":")[2]), certificate.ca_file


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_an_api_with_a_private_authority_is_reached_when_that_is_trusted(host, secure, before):
    port, ca_file = secure
    with before(f"https://{host}:{port}", tls=trusting(ca_file)) as (url, _kept):
        assert get(url + PATH, headers=KEY).status_code == 200


def test_a_certificate_that_is_not_trusted_or_not_the_hosts_ends_it(secure, before):
    port, ca_file = secure
    for settings in ({}, {"tls": trusting(ca_file), "resolve": lambda _host, _port: ["127.0.0.1"]}):
        host = "other.example" if settings else "localhost"
        with before(f"https://{host}:{port}", **settings) as (url, kept):
            answer = get(url + PATH, headers=KEY)
        assert (answer.status_code, answer.headers[HEADER]) == (502, "tls")
        assert kept[0].reply.failure is ProxyFailure.TLS


def test_a_ca_file_that_never_ends_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="it is not a regular file"):
        trusting(tmp_path / "pipe")


@pytest.mark.parametrize("content", [None, "not a certificate", ""])
def test_a_ca_file_that_is_none_is_explained(content, tmp_path):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"Cannot use --ca-file .*ca\.pem: .* Give a PEM file\."):
        trusting(path)


@pytest.mark.rule("REL-8")
def test_an_answer_in_chunks_has_no_length_for_a_client_to_read_it_by():
    both = (("Content-Length", "50"), ("Transfer-Encoding", "chunked"), ("a", "b"))
    response = Response(200, both, b"x", "real")
    assert for_the_back_end(response, "GET", chunks=True) == ([*both[1:]], "transfer-encoding")
    assert for_the_back_end(response, "GET", chunks=False) == ([both[2], ("content-length", "1")], "content-length")
