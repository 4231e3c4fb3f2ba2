"""An answer of the API is compressed for a request that says so, as a gateway in between may do, and for no other."""

import gzip
import json

import httpx
import pytest

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.tools.conform.back_end.api_side import ScriptedApi
from workbook.tools.conform.back_end.model import GET, Order
from workbook.tools.mockserver.server import running


def answered(*said):
    upstream = ScriptedApi()
    card = next(iter(upstream.world.instruments))
    upstream.order(card, [Order(GET, packed=True)], "canary")
    headers = (("x-api-key", upstream.key), ("content-type", "application/json"), *said)
    response = upstream.respond(Request("GET", f"{BEFORE_ID}{card}{AFTER_ID}", headers, b""))
    return response, upstream.arrived()[0].given


@pytest.mark.parametrize(
    ("said", "packed"),
    [
        ((), False),
        ((("accept-encoding", "identity"),), False),
        ((("accept-encoding", "deflate, gzip;q=0"),), False),
        ((("Accept-Encoding", "deflate, GZIP;q=0.5, br"),), True),
        ((("accept-encoding", "br"), ("accept-encoding", "gzip")), True),
    ],
)
def test_it_is_compressed_for_whoever_says_so(said, packed):
    response, given = answered(*said)
    assert (("content-encoding", "gzip") in response.headers) is packed
    body = gzip.decompress(response.body) if packed else response.body
    assert json.loads(body)["sdkInput"] == given


def test_an_answer_in_chunks_is_whole_for_whoever_reads_it():
    upstream = ScriptedApi()
    card = next(iter(upstream.world.instruments))
    upstream.order(card, [Order(GET, chunked=True)], "canary")
    with running(upstream) as url:
        headers = {"x-api-key": upstream.key, "content-type": "application/json"}
        answers = [httpx.get(f"{url}{BEFORE_ID}{card}{AFTER_ID}", headers=headers, trust_env=False) for _ in range(2)]
    assert [answer.headers["transfer-encoding"] for answer in answers] == ["chunked", "chunked"]
    assert [answer.json()["sdkInput"] for answer in answers] == [given.given for given in upstream.arrived()]
