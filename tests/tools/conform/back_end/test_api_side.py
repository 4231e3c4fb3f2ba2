"""The API's side of a run: the certificates that it presents, and the proxy that leads to it."""

import gzip
import json
import re
import socket
import ssl
from contextlib import ExitStack, closing

import httpx
import pytest

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.world import Instrument, World
from workbook.tools.conform.back_end.api_side import MockApi, ProxyTrap, ScriptedApi
from workbook.tools.conform.back_end.model import GET, Identity, Order
from workbook.tools.conform.back_end.session import proxy_and_authority
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


def test_a_proxy_of_the_environment_leads_to_the_api_and_nowhere_else(over_tls):
    assert asked(over_tls, proxy=over_tls.proxy.base_url).status_code == 200
    with MockApi([CARD]) as api:
        assert (asked(api).status_code, api.proxy.count) == (200, 0)
        assert (asked(api, proxy=api.proxy.base_url).status_code, api.proxy.count) == (200, 1)
        with httpx.Client(proxy=api.proxy.base_url, trust_env=False) as client:
            assert client.get("http://another-host.example/").status_code == 502
        assert (api.proxy.count, api.proxy.foreign) == (1, 1)
    assert over_tls.proxy.count == 1


def test_the_environment_names_the_authority_and_the_proxy(over_tls):
    said = proxy_and_authority(over_tls, proxy=True)
    authorities = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    proxies = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    assert {said[name] for name in authorities} == {str(over_tls.ca_file)}
    assert {said[name] for name in proxies} == {over_tls.proxy.base_url}
    assert said["no_proxy"] == said["NO_PROXY"] == ""
    with MockApi([CARD]) as api:
        assert proxy_and_authority(api, proxy=False) == {}


def test_the_listener_knows_the_connections_that_are_open():
    with MockApi([CARD]) as api, httpx.Client(trust_env=False, headers={"x-api-key": api.key}) as client:
        assert api.listener.connections == frozenset()
        assert [client.get(f"{api.url}{PATH}").status_code for _call in range(3)] == [200] * 3
        assert len(api.listener.connections) == 1


@pytest.mark.rule("REL-2")
def test_a_burst_of_connections_to_the_proxy_waits_in_its_queue_and_is_not_turned_away():
    """One that is turned away comes again a second later, and the back end would be called late for it."""
    trap = ProxyTrap("127.0.0.1:9")
    with closing(trap.socket), ExitStack() as burst:
        for _one in range(64):  # nothing accepts them yet
            burst.enter_context(socket.create_connection(trap.server_address, timeout=0.5))


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
