"""Which values of headers are secrets, and which parts of them travel alone."""

import base64

import pytest

from workbook.tools.conform.back_end.model import FromEnvironment, secret_values, suspect_header
from workbook.tools.harness.report import canaries_in, is_weak, session_secrets


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(
    "name", ["Authorization", "x-auth", "Cookie", "x-token", "client_secret", "Password", "sessionid", "x-credential",
             "X-Signature", "x-api-key"],
)  # fmt: skip
def test_the_name_of_a_header_says_that_it_holds_a_secret(name):
    assert suspect_header(name, "x") == "its name says that it holds a secret"


@pytest.mark.parametrize(
    ("value", "looks"),
    [
        ("Bearer x", True),
        ("basic eA==", True),
        ("token x", True),
        ("abcdefgh12345678", True),
        ("abcdefgh1234567", False),
        ("1234567890123456", False),
        ("abcdefghijklmnopqr", False),
        ("application/json", False),
    ],
)
def test_a_value_looks_like_a_secret_by_its_scheme_or_by_its_letters_and_digits(value, looks):
    assert (suspect_header("x-trace", value) == "it looks like a secret") is looks
    assert [*secret_values([("x-trace", value)])] == [value] * looks


def test_a_value_from_the_environment_is_a_secret_whatever_it_looks_like():
    assert [*secret_values([("x-app", FromEnvironment("demo")), ("x-app", "demo")])] == ["demo"]


@pytest.mark.parametrize(
    ("value", "weak"),
    [
        ("platform", True),
        ("x" * 15, True),
        ("x" * 16, False),
        ("127.0.0.1", True),
        ("127.0.0.1:8080", True),
        ("application/json; charset=utf-8", True),
        ("abc1", False),
        ("a b", False),
    ],
)
def test_a_plain_word_an_address_and_a_media_type_are_no_secrets(value, weak):
    assert is_weak(value) is weak


def test_the_parts_of_a_session_that_travel_alone_are_secrets_too():
    assert {*session_secrets(["Bearer c0ffee", "sid=s3cret; path"])} == {
        "Bearer c0ffee", "c0ffee", "sid=s3cret; path", "sid=s3cret", "s3cret"
    }  # fmt: skip
    assert [*session_secrets(["platform", "127.0.0.1"])] == []


def test_a_canary_is_found_in_a_value_and_in_its_base64():
    canary = "canary-0123456789abcdef01"
    inner = base64.b64encode(f"x{canary}-1".encode()).decode()
    assert canaries_in(f"y{canary}z") == canaries_in(inner) == {canary}
    assert canaries_in("canary-0123") == canaries_in("none at all") == set()
