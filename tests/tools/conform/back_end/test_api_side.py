"""The API's side of a run: the certificates that it presents, and the proxy that leads to it."""

import gzip
import json
import re
import ssl

import httpx
import pytest

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.world import Instrument, World
from workbook.tools.conform.back_end.api_side import MockApi, ScriptedApi
from workbook.tools.conform.back_end.model import GET, Identity, Order
from workbook.tools.conform.back_end.session import read_unasked
from workbook.tools.mockserver.server import running

CARD = "PIAPISIDE00000001"
PATH = f"{BEFORE_ID}{CARD}{AFTER_ID}"


def asked(api, **how):
    """A GET by a client that verifies the API's certificate unless `how` says otherwise."""
    trusted = ssl.create_default_context(cafile=api.ca_file) if api.ca_file else True
    with httpx.Client(**{"verify": trusted, "trust_env": False} | how) as client:
        return client.get(f"{api.url}{PATH}", headers={"x-api-key": api.key, "content-type": "application/json"})


@pytest.fixture(scope="module")
def over_tls():
    with MockApi([CARD], tls=True) as api:
        yield api


@pytest.mark.rule("REL-2")
def test_a_client_that_verifies_accepts_the_apis_own_certificate_only(over_tls):
    assert asked(over_tls).status_code == 200
    words = {
        Identity.OTHER_AUTHORITY: "unable to get local issuer|self.signed",
        Identity.EXPIRED: "expired",
        Identity.OTHER_HOST: "IP address mismatch",
    }
    for identity, why in words.items():
        over_tls.present(identity)
        with pytest.raises(httpx.ConnectError, match=why):
            asked(over_tls)
        assert asked(over_tls, verify=False).status_code == 200
    over_tls.present(Identity.OWN)
    assert asked(over_tls).status_code == 200


def test_the_environment_names_the_authority_and_keeps_proxies_away(over_tls, monkeypatch):
    monkeypatch.setenv("no_proxy", "intra.example")
    said = read_unasked(over_tls)
    authorities = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    assert {said[name] for name in authorities} == {str(over_tls.ca_file)}
    assert said["no_proxy"] == said["NO_PROXY"] == "intra.example,127.0.0.1"
    with MockApi([CARD]) as api:
        assert read_unasked(api).keys() == {"no_proxy", "NO_PROXY"}


def test_the_listener_knows_the_connections_that_are_open():
    with MockApi([CARD]) as api, httpx.Client(trust_env=False, headers={"x-api-key": api.key}) as client:
        assert api.listener.connections == frozenset()
        assert [client.get(f"{api.url}{PATH}").status_code for _call in range(3)] == [200] * 3
        assert len(api.listener.connections) == 1


def test_no_two_answers_have_one_value_although_some_come_before_the_api_has_done_anything():
    api = ScriptedApi(World(instruments={CARD: Instrument(CARD)}))
    request = Request("GET", PATH, (("x-api-key", api.key), ("content-type", "application/json")), b"")
    values = []
    for orders in [(), (Order(GET, fault="JSON of the wrong type"),)] * 2:
        api.order(CARD, orders, "")
        values.append(re.search(rb'"sdkInput": ?"([^"]+)"', api.respond(request).body)[1])
    assert len(set(values)) == 4


def answer_of(*said):
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
    response, given = answer_of(*said)
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
