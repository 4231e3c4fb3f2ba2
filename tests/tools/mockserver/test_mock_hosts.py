"""A server that only its own names reach."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.http import Request
from workbook.tools.mockserver.mock import MockServer

ANSWERED = 404
"""What the service answers where the host passes: there is no such path."""


def asked(host, *names):
    headers = () if host is None else (("Host", host),)
    return MockServer(names=names).respond(Request("GET", "/", headers))


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:99", "localhost.", None]
)
def test_its_own_names_are_answered(host):
    assert asked(host).status == ANSWERED


@pytest.mark.parametrize(
    "host", ["example.org", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "", "[::2]", "10.0.0.1"]
)
def test_a_foreign_name_is_refused_and_not_repeated(host):
    answer = asked(host)
    told = json.loads(answer.body)
    assert (answer.status, told["status"]) == (421, 421)
    assert "localhost" in told["detail"]
    assert not host or host not in told["detail"]


def test_a_server_on_another_address_answers_to_that_too():
    assert asked("10.0.0.5:8443", "10.0.0.5").status == ANSWERED
    assert asked("[fe80::1]:8443", "fe80::1").status == ANSWERED
    assert asked("10.0.0.6", "10.0.0.5").status == 421


@given(st.text(max_size=40))
def test_whatever_stands_in_the_header_is_answered_or_refused(host):
    assert asked(host).status in (ANSWERED, 421)
