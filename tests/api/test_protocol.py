import base64
import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from workbook import SdkInput, SdkOutput
from workbook.api.protocol import (
    ActivationData,
    Answer,
    CallProblem,
    Settings,
    as_curl,
    as_sdk_output,
    build_get,
    build_post,
    judge_answer,
    parse_object,
)
from workbook.base.secrecy import Secret
from workbook.errors import (
    ApiStatusError,
    ConfigurationError,
    MalformedResponseError,
    OpaqueDataError,
    RedactedRequest,
    SdkInputError,
    WorkbookError,
)

HEAVY = settings.get_profile("api")
KEY = "canary-KEY"
HERE = Settings("https://api.example/p", KEY)
URL = "https://api.example/p/bcl/v2/paymentInstruments/PI1/networkTokenActivationData"


def answer(body, status=200, *headers):
    return Answer(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def judged(body, status=200):
    return judge_answer(answer(body, status), HERE.secret)


@pytest.mark.rule("API-1", "API-3", "API-4", "API-5", "API-14")
def test_get():
    request = build_get(HERE, "PI1")
    assert (request.method, request.url, request.body) == ("GET", URL, None)
    headers = dict(request.headers)
    assert headers["x-api-key"] == KEY
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert headers["accept-encoding"] == "identity"


@pytest.mark.rule("API-2", "API-4", "API-6", "API-7")
@pytest.mark.parametrize("output", ["YWJj", "é \n\u2028\U0001f600 "])
def test_post(output):
    request = build_post(HERE, "PI1", SdkOutput(output))
    assert (request.method, request.url, request.headers) == ("POST", URL, build_get(HERE, "PI1").headers)
    assert json.loads(request.body) == {"sdkOutput": output}
    assert as_sdk_output(output) == as_sdk_output(SdkOutput(output)) == SdkOutput(output)


@pytest.mark.parametrize(
    ("output", "kind", "why"),
    [
        (SdkInput("a"), ConfigurationError, "not SdkInput"),
        (b"a", ConfigurationError, "from_bytes"),
        (None, ConfigurationError, "NoneType"),
        ("", OpaqueDataError, "empty"),
        ("\ud800", OpaqueDataError, "surrogate"),
    ],
)
def test_only_an_sdk_output_is_posted(output, kind, why):
    with pytest.raises(kind, match=why):
        as_sdk_output(output)


@pytest.mark.rule("REL-2", "REL-3")
def test_nothing_that_holds_a_secret_prints_it():
    request = build_post(HERE, "PI1", SdkOutput("hush"))
    shown = f"{request} {HERE!r} {answer(b'hush')} {judged({'sdkInput': 'hush', KEY: KEY})}"
    assert "hush" not in shown
    assert KEY not in shown
    assert f"Request(POST {URL}, 20 bytes)" in shown
    assert request.redacted() == RedactedRequest("POST", URL, 20)


@pytest.mark.rule("API-9")
def test_unknown_fields_are_kept():
    data = judged({"sdkInput": "YWJj", "later": [1]})
    assert data == ActivationData(SdkInput("YWJj"), {"later": [1]})
    assert "1 unknown fields" in repr(data)
    assert hash(data) == hash(judged({"sdkInput": "YWJj"}))


@pytest.mark.rule("API-9")
@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({}, "is missing"),
        ({"sdkInput": None}, "is null"),
        ({"sdkInput": ""}, "is empty"),
        ({"sdkInput": 5}, "is not a string"),
        ({"sdkInput": {"a": 1}}, "is not a string"),
        ({"sdkInput": False}, "is not a string"),
        (b'{"sdkInput":"\\ud800"}', "surrogate"),
    ],
)
def test_a_200_without_a_usable_sdk_input(body, what):
    problem = judged(body)
    assert problem.kind is SdkInputError
    assert what in problem.message
    assert "API-9" in problem.message


def test_a_body_that_could_not_be_read_stays_a_problem():
    problem = CallProblem(MalformedResponseError, "x")
    assert judge_answer(Answer(200, (), b"", problem), HERE.secret) is problem
    assert judge_answer(Answer(500, (), b"part", problem), HERE.secret).extra == {"status": 500, "body": b"part"}


def test_a_status_error_says_what_the_api_said():
    body = {"title": "Forbidden", "detail": "no\x1b[31m role", "errorCode": "00_403", "status": 200}
    problem = judged(body, 403)
    assert problem.kind is ApiStatusError
    assert problem.message == "the API answered 403 (00_403 / Forbidden / no\\u001b[31m role)."
    assert problem.extra["status"] == 403


SPELLINGS = {
    "swapped": str.swapcase,
    "reversed": lambda key: key[::-1],
    "base32": lambda key: base64.b32encode(key.encode()).decode(),
    "base85": lambda key: base64.b85encode(key.encode()).decode(),
    "twice": lambda key: base64.b64encode(base64.b64encode(key.encode())).decode(),
    "octal": lambda key: "".join(f"\\{ord(character):o}" for character in key),
    "numbers": lambda key: " ".join(str(ord(character)) for character in key),
    "colons": lambda key: key.encode().hex(":"),
    "spaced": " ".join,
    "dashed": "-".join,
}
"""Spellings of a key that nobody scrubs for."""


@pytest.mark.rule("REL-2", "REL-3")
@rows("spell", SPELLINGS.values())
def test_what_a_peer_repeats_is_not_quoted(spell):
    spelled = spell("live-Key-8f3a9c1e7b2d4a60")
    assert (
        judged({"detail": f"wrong value {spelled} given"}, 401).message == "the API answered 401 (wrong value … given)."
    )
    output = "c2ltdWxhdGVk" * 19
    message = judged({"detail": f"sdkOutput {output} is not valid"}, 422).message
    assert message == "the API answered 422 (sdkOutput … is not valid)."


def test_the_words_of_a_peer_are_quoted():
    words = "paymentInstrumentId is not active: ask your implementation contact for it"
    assert judged({"detail": words, "errorCode": "ACTIVATION_DATA_UNAVAILABLE"}, 422).message.endswith(
        f"(ACTIVATION_DATA_UNAVAILABLE / {words})."
    )


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", {}, {"title": 5, "detail": ""}])
def test_other_bodies_are_kept_and_not_quoted(body):
    problem = judged(body, 500)
    assert problem.message == "the API answered 500."
    assert problem.extra["body"] == answer(body).body


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_redirects_are_errors(status):
    assert "never followed" in judged(b"", status).message


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("padding", ["", "x" * 185, "x" * 300])
def test_an_echoed_key_is_scrubbed(padding):
    problem = judged({"detail": f"{padding}bad key {KEY}", "echo": KEY}, 401)
    assert KEY not in problem.message
    assert "canary" not in problem.message
    assert KEY.encode() not in problem.extra["body"]
    assert len(problem.message) < 260


@pytest.mark.rule("REL-2")
def test_a_key_in_disguise_is_scrubbed_too():
    body = b'{"detail":"' + b"".join(b"\\u%04x" % byte for byte in KEY.encode()) + b'"}'
    problem = judged(body, 401)
    assert "[key]" in problem.message
    assert problem.extra["body"] == b'{"detail":"[key]"}'
    assert parse_object(body)["detail"] == KEY


def test_headers_are_found_in_any_case():
    found = answer(b"", 200, ("Retry-After", "1"), ("X", "a"), ("x", "b"))
    assert (found.header("retry-after"), found.header("x"), found.header("y")) == ("1", "a, b", None)


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(("base_url", "key"), [("https://api.example", "a b"), ("http://api.example", "k")])
def test_settings_are_checked(base_url, key):
    with pytest.raises(ConfigurationError):
        Settings(base_url, key)
    assert Settings("https://h", Secret("k")).secret.reveal() == "k"


@pytest.mark.rule("API-9", "REL-2")
@settings(HEAVY)
@given(
    st.integers(100, 599) | st.just(200),
    st.binary()
    | st.dictionaries(
        st.sampled_from(["sdkInput", "title", "detail", "errorCode"]), st.text() | st.none() | st.just(KEY)
    ).map(lambda fields: json.dumps(fields).encode()),
)
def test_any_answer_is_data_or_a_typed_problem(status, body):
    result = judged(body, status)
    if isinstance(result, CallProblem):
        error = result.error(RedactedRequest("GET", URL, 0), 0.0, 2)
        assert isinstance(error, WorkbookError)
        assert KEY not in str(error)
        assert str(error).isprintable()
    else:
        assert result.sdk_input.text


@pytest.mark.rule("API-4")
@rows("method", ["GET", "POST"])
def test_a_curl_command_asks_what_the_client_asks_and_holds_no_secret(method):
    words = shlex.split(as_curl(method, "/path", sends=method == "POST"))
    assert words[:4] == ["curl", "-X", method, "$BASE_URL/path"]
    sent = dict(build_get(Settings("https://host.invalid", "any-key-at-all"), "PI1").headers) | {
        "x-api-key": "$WORKBOOK_API_KEY"
    }
    asked = dict(word.split(": ") for word in words if ": " in word and "sdkOutput" not in word)
    assert len(asked) == 3
    assert asked.items() <= sent.items()
    assert [json.loads(word) for word in words if "sdkOutput" in word] == [{"sdkOutput": "$SDK_OUTPUT"}] * (
        method == "POST"
    )
