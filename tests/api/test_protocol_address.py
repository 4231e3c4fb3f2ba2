from contextlib import suppress
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows

from workbook.api.protocol import API_PATH, check_base_url, encode_id
from workbook.errors import ConfigurationError

HEAVY = settings.get_profile("api")


@pytest.mark.rule("API-1", "API-2", "API-14")
def test_the_path_carries_the_version():
    assert API_PATH == "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"


@pytest.mark.rule("API-3")
@pytest.mark.parametrize(
    ("given_id", "encoded"),
    [
        ("PI3222722322935MDMZ9J83KH", "PI3222722322935MDMZ9J83KH"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("a?b#c", "a%3Fb%23c"),
        ("%2e%2e", "%252e%252e"),
        ("é x", "%C3%A9%20x"),
        (".hidden", ".hidden"),
    ],
)
def test_an_id_is_encoded(given_id, encoded):
    assert encode_id(given_id) == encoded


@pytest.mark.rule("API-3")
@rows(
    ("bad", "why"),
    [
        (None, "NoneType"),
        (12345, "int"),
        ("", "'' is blank"),
        (" \t", "is blank"),
        (".", "dot segment"),
        ("..", "dot segment"),
        ("a\n", "control character"),
        ("\ud800", "surrogate"),
        ("x" * 201, "longer than 200 characters"),
        (" " + "x" * 200, "longer than 200"),
    ],
)
def test_an_id_that_cannot_be_used_is_refused(bad, why):
    with pytest.raises(ConfigurationError, match=why):
        encode_id(bad)


@pytest.mark.rule("API-3")
@settings(HEAVY)
@given(st.text() | st.text("./%?#\\@: a", max_size=8))
@example("a\u0085")
def test_an_id_never_changes_the_path(text):
    try:
        encoded = encode_id(text)
    except ConfigurationError:
        return
    parts = urlsplit(f"https://h{API_PATH.format(id=encoded)}")
    assert unquote(encoded) == text
    assert parts.path.split("/")[4] == encoded not in (".", "..")
    assert (parts.query, parts.fragment, parts.netloc) == ("", "", "h")


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.example",
        "https://api.example:8443/prefix/a%20b",
        "HTTPS://API.example",
        "http://localhost:8000",
        "http://127.9.9.9",
        "http://[::1]:80",
        "https://[2001:db8::1]",
    ],
)
def test_base_addresses_that_keep_the_key_secret(base_url):
    assert check_base_url(base_url) == check_base_url(base_url + "/") == base_url


@pytest.mark.rule("REL-2")
@rows(
    ("base_url", "why"),
    [
        (None, "NoneType"),
        ("", "empty"),
        ("///", "scheme"),
        ("https://a b", "blank"),
        ("https://a\\b", "backslash"),
        ("https://ä.example", "ASCII"),
        ("ftp://h", "scheme"),
        ("api.example", "scheme"),
        ("https://", "host"),
        ("https://h:0", "port"),
        ("https://h:", "port"),
        ("https://h:99999", "port"),
        ("https://[::1", "port"),
        ("https://[::1]x", "port"),
        ("https://a..b", "host"),
        ("https://[fe80::1%25eth0]", "host"),
        ("https://user:hush@h", "password"),
        ("https://h?clientKey=hush", "query"),
        ("https://h/#hush", "fragment"),
        ("https://h/a/../b", "prefix"),
        ("https://h/%2E%2e", "prefix"),
        ("https://h//a", "prefix"),
        ("https://h/a%zz", "prefix"),
        ("https://h/bcl/v2/", "added anyway"),
        ("http://api.example", "plain http"),
        ("http://127.0.0.1.example", "plain http"),
        ("http://192.168.0.1", "plain http"),
    ],
)
def test_base_addresses_that_are_refused(base_url, why):
    with pytest.raises(ConfigurationError, match=why) as caught:
        check_base_url(base_url)
    assert "hush" not in str(caught.value)


@settings(HEAVY)
@given(st.text() | st.text("htps:/@?#[]%.1a").map("https://".__add__))
def test_only_configuration_errors_come_out_of_addresses(text):
    with suppress(ConfigurationError):
        assert check_base_url(text).isascii()
