import json
import logging
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.api import ActivationDataClient
from workbook.api.secret import MASK, MISSING, Secret, check_key, guard_logs
from workbook.errors import ConfigurationError

HEAVY = settings.get_profile("api")
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=4, max_size=40)
AWKWARD = "it's\"a/key\\u0041"


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "WORKBOOK_API_KEY"),
        ("", "WORKBOOK_API_KEY"),
        (b"hush", "not bytes"),
        ("hush\n", "a line break at position 5"),
        (" hush", "a blank at position 1"),
        ("hush\x00", "a control character at position 5"),
        ("hush\x7f", "a control character"),
        ("hushé", "outside ASCII at position 5"),
    ],
)
def test_a_key_that_no_header_can_carry_is_refused_unseen(key, why):
    with pytest.raises(ConfigurationError, match=why) as caught:
        check_key(key)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "key", "told"),
    [
        (None, None, f"No base address is given. Set WORKBOOK_BASE_URL or pass base_url. {MISSING}"),
        (None, "hush", "No base address is given. Set WORKBOOK_BASE_URL or pass base_url."),
        ("https://h", None, "No API key is given. Set WORKBOOK_API_KEY or pass api_key."),
    ],
)
def test_a_program_is_told_all_that_is_missing_at_once(monkeypatch, base_url, key, told):
    for name in ("WORKBOOK_BASE_URL", "WORKBOOK_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError) as caught:
        ActivationDataClient(base_url, key)
    assert str(caught.value) == told


@pytest.mark.rule("REL-2")
@settings(HEAVY)
@given(st.text() | VISIBLE)
def test_keys_are_taken_or_refused_with_a_typed_error(key):
    try:
        assert check_key(key) == key
    except ConfigurationError as error:
        assert len(key) < 4 or key not in str(error)  # noqa: PT017 - both ways out are fine


@pytest.mark.rule("REL-2")
@settings(HEAVY)
@given(VISIBLE.filter(lambda key: key not in MASK), st.text(), st.text())
def test_every_spelling_of_the_key_is_scrubbed(key, before, after):
    secret = Secret(key)
    spellings = [key, repr(key)[1:-1], json.dumps(key), repr(json.dumps(key)), key.replace("/", "\\/")]
    spellings.append("".join(f"\\u{ord(character):04x}" for character in key))
    for spelling in spellings:
        assert key not in secret.scrub(before + spelling + after)
        assert spelling not in secret.scrub(before + spelling + after)


def test_bytes_without_the_key_stay_as_they_came():
    data = bytes(range(256))
    assert Secret("hush").scrub_bytes(data) is data
    assert Secret("hush").scrub_bytes(b"\xffhush\xff") == b"\xff[key]\xff"
    assert Secret(AWKWARD).scrub(json.dumps(AWKWARD)) == f'"{MASK}"'


def test_a_secret_is_shown_and_pickled_nowhere():
    secret = Secret("hush")
    assert repr(secret) == str(secret) == f"{secret}" == "Secret([key])"
    assert secret.reveal() == "hush"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)


def test_a_wrong_secret_scrubs_nothing():
    assert Secret(None).scrub("a\\u0041") == "a\\u0041"


@pytest.mark.rule("REL-2")
def test_the_engine_s_own_log_is_scrubbed(caplog):
    guard_logs()
    secret = Secret("hush-hush")
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("httpcore.http11").debug("got %r", b"x: hush-hush")
    assert caplog.messages == ["got b'x: [key]'"]
    assert secret
