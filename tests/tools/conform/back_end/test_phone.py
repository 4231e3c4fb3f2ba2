"""The phone makes its calls as the configuration says, and finds the sdkInput where it says."""

import asyncio
import base64
import json
import time

import pytest

from workbook.simulation.http import Response
from workbook.tools.conform.back_end.model import (
    BackEndOperation,
    Broke,
    Cardholder,
    Manner,
    PhoneCall,
    Surface,
    Target,
)
from workbook.tools.conform.back_end.phone import Phone
from workbook.tools.mockserver.server import running

ANN = Cardholder("ann", ("A",), (("authorization", "Bearer ann"),))
TEXT = base64.b64encode(b"\x00\xffbytes").decode()
GET = BackEndOperation("GET", "/cards/{id}")
CARD = "A/../B?ü"


class BackEnd:
    def __init__(self, body, status=200):
        self.body, self.status, self.came = body, status, []

    def respond(self, request):
        self.came.append(request)
        return Response(self.status, (("set-cookie", "a=b"),), self.body, "test")


def call(post, body, *, operation="POST", decoded=False, headers=(), status=200):
    """What a phone's call came to, and the request that arrived."""
    back_end = BackEnd(body, status)
    surface = Surface(GET, post, decoded, headers)

    async def make(url):
        async with Phone(Target(f"{url}/v1", {}, (ANN,)), surface) as phone:
            sent = TEXT if operation == "POST" else None
            return await phone.call(PhoneCall(1, operation, "ann", CARD, sent, session=ANN.session))

    with running(back_end) as url:
        got = asyncio.run(make(url))
    (request,) = back_end.came
    return got, request, dict(request.headers)


@pytest.mark.parametrize(
    ("post", "decoded", "body", "kind"),
    [
        (BackEndOperation("POST", "/p/{id}", sdk_output="/sdkOutput"), False, {"sdkOutput": TEXT}, "application/json"),
        (
            BackEndOperation("PUT", "/p", id="/card/id", sdk_output="/card/out"),
            False,
            {"card": {"id": CARD, "out": TEXT}},
            "application/json",
        ),
        (BackEndOperation("POST", "/p/{id}", sdk_output="raw"), False, TEXT.encode(), "text/plain; charset=utf-8"),
        (BackEndOperation("POST", "/p/{id}", sdk_output="raw"), True, b"\x00\xffbytes", "application/octet-stream"),
    ],
)
def test_the_sdk_output_stands_where_the_configuration_says(post, decoded, body, kind):
    _got, request, headers = call(post, b"{}", decoded=decoded)
    assert request.method == post.method
    assert request.target == f"/v1{post.path.replace('{id}', 'A%2F..%2FB%3F%C3%BC')}"
    assert (request.body if isinstance(body, bytes) else json.loads(request.body)) == body
    assert (headers["content-type"], headers["authorization"]) == (kind, "Bearer ann")


@pytest.mark.slow
@pytest.mark.parametrize("wait", [False, True])
def test_the_request_is_kept_as_it_left_also_where_no_answer_comes(wait):
    back_end = BackEnd(b"{}")

    def respond(request):
        if wait:
            time.sleep(1.5)
        return BackEnd.respond(back_end, request)

    async def make(url):
        post = BackEndOperation("POST", "/p/{id}", sdk_output="/sdkOutput")
        async with Phone(Target(url, {}, (ANN,), bound=0.4), Surface(GET, post)) as phone:
            return await phone.call(
                PhoneCall(1, "POST", "ann", "A", TEXT, session=ANN.session, manner=Manner.UPPER_CASE)
            )

    with running(type("Slow", (), {"respond": staticmethod(respond)})()) as url:
        got = asyncio.run(make(url))
    assert got.broke is (Broke.LATE if wait else Broke.NO)
    (arrived,) = back_end.came
    left = {name.lower(): value for name, value in got.request.headers}
    assert (got.request.method, got.request.target, got.request.body) == (arrived.method, arrived.target, arrived.body)
    assert left == {name.lower(): value for name, value in arrived.headers}
    assert "AUTHORIZATION" in dict(got.request.headers)
    assert "Bearer ann" not in repr(got)


def test_a_configured_content_type_wins():
    post = BackEndOperation("POST", "/p/{id}", sdk_output="/o")
    _got, request, _headers = call(post, b"{}", headers=(("content-type", "application/vnd.x+json"),))
    assert [value for name, value in request.headers if name == "content-type"] == ["application/vnd.x+json"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pointer", "body", "value"),
    [
        ("/sdkInput", b'{"sdkInput": "x"}', "x"),
        ("/a/0/~1b", b'{"a": [{"/b": " x\\u0000"}]}', " x\x00"),
        ("/a", b'{"a": 3}', None),
        ("/a", b'{"a": null}', None),
        ("/a/b", b'{"a": "text"}', None),
        ("/a/-", b'{"a": ["x"]}', None),
        ("/a", b"[]", None),
        ("/a", b"not JSON", None),
        ("/a", b"[" * 100_000, None),
        ("/a", b"\xff", None),
        ("raw", b" x\n", " x\n"),
        ("raw", b"\xff", None),
    ],
)
def test_the_sdk_input_is_found_where_the_configuration_says(pointer, body, value):
    got, _request, _headers = call(BackEndOperation("POST", "/p/{id}", sdk_output="/o", sdk_input=pointer), body)
    assert (got.value, got.body, got.status) == (value, body, 200)


def test_bytes_are_kept_as_the_text_that_the_api_gave():
    post = BackEndOperation("POST", "/p/{id}", sdk_output="raw", sdk_input="raw")
    got, _request, _headers = call(post, b"\x00\xffbytes", decoded=True)
    assert got.value == TEXT


def test_a_get_has_no_body():
    _got, request, headers = call(BackEndOperation("POST", "/p"), b"{}", operation="GET")
    assert (request.body, "content-type" in headers) == (b"", False)


@pytest.mark.rule("REL-8")
@pytest.mark.parametrize(
    ("manner", "header", "value"),
    [
        (Manner.EXPECTING, "expect", "100-continue"),
        (Manner.WITH_CHARSET, "content-type", "Application/JSON; charset=UTF-8"),
        (Manner.UNPACKED, "accept-encoding", "identity"),
    ],
)
def test_a_call_is_sent_in_every_manner_that_http_allows(manner, header, value):
    post, back_end = BackEndOperation("POST", "/p/{id}", sdk_output="/sdkOutput"), BackEnd(b"{}")

    async def make(url):
        async with Phone(Target(url, {}, (ANN,)), Surface(GET, post)) as phone:
            return await phone.call(PhoneCall(1, "POST", "ann", CARD, TEXT, manner=manner))

    with running(back_end) as url:
        assert asyncio.run(make(url)).status == 200
    (request,) = back_end.came
    assert (dict(request.headers)[header], json.loads(request.body)) == (value, {"sdkOutput": TEXT})


def test_the_app_asks_for_its_own_id_and_a_call_may_be_tampered_with():
    post, back_end = BackEndOperation("POST", "/p/{id}", sdk_output="/sdkOutput"), BackEnd(b"{}")

    def tamper(path, body, call):
        return f"{path}?id={call.other}", body + b" "

    async def make(url):
        async with Phone(Target(url, {}, (ANN,)), Surface(GET, post)) as phone:
            made = PhoneCall(1, "POST", "ann", "PI1", TEXT, card="c1", other="c2", tamper=tamper)
            return await phone.call(made)

    with running(back_end) as url:
        asyncio.run(make(url))
    (request,) = back_end.came
    assert (request.target, request.body[-1:]) == ("/p/c1?id=c2", b" ")
