"""One origin, and no address that an API cannot have."""

import asyncio
import threading
from ipaddress import ip_address

import pytest
from rows import rows

from workbook.errors import ConfigurationError
from workbook.simulation.http import Request
from workbook.tools.proxy.upstream import ApiOrigin, ProxyFailure, Upstream


@pytest.mark.parametrize(
    ("url", "authority", "port", "prefix"),
    [
        ("https://api.example", "api.example", 443, ""),
        ("https://api.example:8443/v1/", "api.example:8443", 8443, "/v1"),
        ("http://127.0.0.1:80", "127.0.0.1:80", 80, ""),
        ("https://[2001:db8::1]:1/a", "[2001:db8::1]:1", 1, "/a"),
    ],
)
def test_a_url_is_taken_apart(url, authority, port, prefix):
    target = ApiOrigin.of(url)
    assert (target.authority, target.port, target.prefix) == (authority, port, prefix)
    assert target.base_url == url.rstrip("/")


@pytest.mark.rule("REL-2")
@rows(
    "url",
    [
        "http://api.example",
        "http://192.0.2.1",
        "https://user:canary-0123456789@api.example",
        "https://api.example/?key=canary-0123456789",
        "https://api.example/#canary-0123456789",
        "ftp://api.example",
        "api.example",
        "",
        "https://169.254.169.254",
        "https://[fe80::1]",
        "https://[::ffff:169.254.169.254]",
        "https://[2002:a9fe:a9fe::]",
        "https://[::169.254.169.254]",
        "https://[64:ff9b::169.254.169.254]",
        "https://[64:ff9b:1::a9fe:a9fe]",
        "https://0.0.0.0",
        "https://[::]",
        "https://224.0.0.1",
        "https://api.example/../x",
    ],
)
def test_a_url_that_cannot_be_is_refused_without_its_secrets(url):
    with pytest.raises(ConfigurationError, match=r"^--to") as refused:
        ApiOrigin.of(url)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("scheme", "found", "connected"),
    [
        ("https", ["192.0.2.1", "2001:db8::1"], "192.0.2.1"),
        ("https", ["192.0.2.1", "169.254.169.254"], None),
        ("https", ["fe80::1"], None),
        ("https", ["::ffff:169.254.1.1"], None),
        ("https", ["64:ff9b::a9fe:101"], None),
        ("https", ["64:ff9b::c000:201"], "64:ff9b::c000:201"),
        ("http", ["::1"], "::1"),
        ("http", ["127.0.0.1"], "127.0.0.1"),
        ("http", ["192.0.2.1"], None),
    ],
)
def test_a_name_is_checked_by_each_of_its_addresses(scheme, found, connected):
    target = ApiOrigin(scheme, "localhost", 443, "", "localhost")
    looked_up = target.addresses(lambda _host, _port: found)
    if connected:
        assert asyncio.run(looked_up)[0] == connected
    else:
        with pytest.raises(ConfigurationError, match="'localhost' leads to a link-local"):
            asyncio.run(looked_up)


def test_a_name_that_leads_to_a_forbidden_address_is_not_asked():
    api = Upstream(ApiOrigin.of("https://api.example"), resolve=lambda _host, _port: ["169.254.169.254"])
    assert asyncio.run(api.ask(Request("GET", "/x", ()))).failure is ProxyFailure.FORBIDDEN


def test_the_address_that_was_checked_is_the_one_that_is_asked(raw):
    """A name that changes its mind after the check changes nothing: it is looked up once."""
    api, asked = raw(), []

    def resolve(host, _port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    port = int(api.url.rpartition(":")[2])
    before = Upstream(ApiOrigin.of(f"http://localhost:{port}"), resolve=resolve)
    assert asyncio.run(before.ask(Request("GET", "/x", ()))).failure is None
    assert asked == ["localhost"]


@pytest.mark.parametrize("error", [OSError("gone"), UnicodeError("bad")])
def test_a_name_that_is_not_known_is_said_so(error):
    def resolve(_host, _port):
        raise error

    api = Upstream(ApiOrigin.of("https://api.example"), resolve=resolve)
    assert asyncio.run(api.ask(Request("GET", "/x", ()))).failure is ProxyFailure.UNREACHABLE


def test_a_look_up_that_hangs_ends_with_the_deadline():
    release = threading.Event()
    api = Upstream(
        ApiOrigin.of("https://api.example"),
        deadline=0.1,
        resolve=lambda _host, _port: ["192.0.2.1"] * release.wait(20),
    )
    try:
        assert asyncio.run(api.ask(Request("GET", "/x", ()))).failure is ProxyFailure.LATE
    finally:
        release.set()


def test_loopback_is_allowed_over_https_too():
    assert ApiOrigin.of("https://localhost:1").allows(ip_address("127.0.0.1"))
