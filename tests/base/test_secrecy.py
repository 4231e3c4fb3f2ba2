"""A whole secret is found and masked however it is written, and nothing else is."""

import base64
import html
import json
import pickle
import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from workbook import ActivationDataClient
from workbook.base.secrecy import MASK, MISSING, Secret, SecretKind, Secrets, secrets_in_request, without_live_keys
from workbook.errors import ConfigurationError, LeakError

HEAVY = settings(max_examples=min(4 * settings().max_examples, 10_000))
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=4, max_size=40)
SENTENCES = re.compile(
    r"The API key is in quotes\. Leave them out: some files of settings keep them\.|"
    r"The API key ends in a line end\. Write it into its file with printf, not with echo\.|"
    r"The API key has (a line break|a blank|a control character|a character outside ASCII) at position \d+\. "
    r"Allowed: visible ASCII, no blanks\.|" + re.escape(MISSING)
)
AWKWARD = "it's\"a/key\\u0041"


@pytest.mark.rule("REL-2")
@rows(
    ("key", "why"),
    [
        (None, "WORKBOOK_API_KEY"),
        ("", "WORKBOOK_API_KEY"),
        (b"hush", "not bytes"),
        ("hush\n", "ends in a line end. Write it into its file with printf"),
        ("hush\r\n", "ends in a line end"),
        ("hu\nsh", "a line break at position 3"),
        ('"hush"', "is in quotes. Leave them out"),
        ("'hush'", "is in quotes"),
        (" hush", "a blank at position 1"),
        ("hush\x00", "a control character at position 5"),
        ("hush\x7f", "a control character"),
        ("hushé", "outside ASCII at position 5"),
    ],
)
def test_a_key_that_no_header_can_carry_is_refused_unseen(key, why):
    with pytest.raises(ConfigurationError, match=why) as caught:
        Secret(key).check()
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


@pytest.mark.slow
@pytest.mark.rule("REL-2")
@settings(HEAVY)
@given(st.text() | VISIBLE)
def test_keys_are_taken_or_refused_with_a_typed_error(key):
    try:
        secret = Secret(key)
        secret.check()
        assert secret.reveal() == key
    except ConfigurationError as error:
        # Only its own words and a number: a key may happen to be some of these words, such as "a bl".
        assert SENTENCES.fullmatch(str(error))  # noqa: PT017  # either way is fine


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


def secrets_of(key):
    return Secrets.of_keys(filter(None, [key]))


ODD_KEY = 'canary"key\\with/odd+é<signs>'
SPELLINGS = {
    "plain": str,
    "json": json.dumps,
    "json, not ascii": lambda text: json.dumps(text, ensure_ascii=False),
    "json in json": lambda text: json.dumps(json.dumps(text)),
    "html in json": lambda text: json.dumps(html.escape(text)),
    "html entities": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "url": lambda text: quote(text, safe=""),
    "url, all of it": lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
    "url, all of it in lower case": lambda text: "".join(f"%{octet:02x}" for octet in text.encode()),
    "url, one character in the middle": lambda text: f"{text[:9]}%{ord(text[9]):02X}{text[10:]}",
    "json, one character more": lambda text: json.dumps(text).replace("y", "\u0079", 1),
    "html, one character in the middle": lambda text: f"{text[:9]}&#x{ord(text[9]):x};{text[10:]}",
    "hex": lambda text: text.encode().hex(),
    "hex in upper case": lambda text: text.encode().hex().upper(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "markdown": lambda text: re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text),
    "url in json in json": lambda text: json.dumps(json.dumps({"a": quote(text, safe="")})),
    "url in url": lambda text: quote(quote(text, safe=""), safe=""),
    "html in html": lambda text: html.escape(html.escape(text)),
    "repr": repr,
}


@rows("spell", SPELLINGS.values())
@rows("key", [ODD_KEY, "canary-0123456789"])
def test_every_spelling_is_found_and_only_that_is_replaced(spell, key):
    secrets = secrets_of(key)
    text = f"before {spell(key)} after"
    assert secrets.found_in(text)
    cleaned = secrets.scrub(text)
    assert "[key]" in cleaned
    assert not secrets.found_in(cleaned)
    assert "canary" not in cleaned


def test_a_key_of_which_some_characters_are_escaped_is_cut_out_exactly():
    text = "first\n100% \\u0063anary-0123456789 here\nlast\n"
    assert secrets_of("canary-0123456789").scrub(text) == "first\n100% [key] here\nlast\n"
    assert secrets_of("canary-0123456789").scrub("a&b cana%72y-0123456789 b") == "a&b [key] b"


@pytest.mark.parametrize("key", [None, "", "seven77"])
def test_no_key_or_a_short_one_changes_nothing(key):
    secrets = secrets_of(key)
    assert not secrets.found_in("seven77")
    assert secrets.scrub("seven77") == "seven77"


def test_the_key_comes_from_the_environment_and_its_repr_is_silent():
    secrets = Secrets.of_environment({"WORKBOOK_API_KEY": "canary-0123456789"})
    assert secrets.found_in("x canary-0123456789")
    assert repr(secrets) == "Secrets(some)"
    assert repr(Secrets.of_environment({})) == "Secrets(none)"


@pytest.mark.rule("REL-2")
def test_two_clients_share_a_key_and_it_is_scrubbed_until_the_last_of_them_is_gone():
    first, second = Secret("SHARED-between-2-clients"), Secret("SHARED-between-2-clients")
    assert first.scrub.__self__ is second.scrub.__self__
    said = "an error that repeats SHARED-between-2-clients"
    del first
    assert without_live_keys(said) == f"an error that repeats {MASK}"
    del second
    assert without_live_keys(said) == said


@rows(
    ("headers", "target", "secrets"),
    [
        ([("X-API-Key", " k1 ")], "", ["k1", "k1"]),
        ([("authorization", "Bearer t1")], "", ["Bearer t1", "t1"]),
        ([("authorization", "Basic dTpw")], "", ["Basic dTpw", "dTpw", "u", "p"]),
        ([("authorization", "Basic no base64")], "", ["Basic no base64", "base64"]),
        ([("accept", "Bearer t1")], "", []),
        ([], "/x?clientKey=k%201&a=b", ["k%201", "k 1"]),
        ([], "/x?client%4bey=k1", ["k1", "k1"]),
        ([], "/x?keys=k1&b", []),
        ([], "clientkey=k1", []),
    ],
)
def test_each_published_way_to_send_a_secret_is_known(headers, target, secrets):
    assert [*secrets_in_request(headers, target)] == secrets


@pytest.mark.parametrize(("length", "found"), [(7, False), (8, True), (12, True)])
def test_a_secret_is_searched_for_from_eight_characters_on(length, found):
    key = "k3yQ-Zx81+Lm"[:length]
    assert bool(Secrets.of_keys([key])) is found
    assert (MASK in Secrets.of_keys([key]).scrub(f"a {key} b {base64.b64encode(key.encode()).decode()}")) is found


@pytest.mark.rule("REL-2")
def test_a_key_with_a_dull_stretch_inside_is_masked_whole():
    key = f"abcd{'0' * 30}efgh"
    for written in (key, key.replace("d", "\\u0064"), base64.b64encode(key.encode()).decode()[:-2]):
        assert Secrets.of_keys([key]).scrub(f"a {written} b") == f"a {MASK} b"
    assert Secrets.of_keys(["0" * 13]).scrub(f"a {'0' * 13} b") == f"a {MASK} b"


def test_very_many_secrets_are_found_as_few_are():
    keys = [f"{number:03}-k3yQ&Zx81+Lm" for number in range(200)]
    text = " ".join(("a", keys[0], html.escape(keys[1]), keys[2].encode().hex(), keys[199], "b"))
    assert Secrets.of_keys(keys).scrub(text) == f"a {MASK} {MASK} {MASK} {MASK} b"
    assert Secrets.of_keys(keys).scrub("nothing") == "nothing"


def test_opaque_data_with_a_quote_in_it_is_found_as_json_has_it():
    value = 'a1B2"c3D4e5F6g7H8'
    assert Secrets([(SecretKind.OPAQUE, value)]).scrub(json.dumps([value])) == f'["{MASK}"]'


def test_the_error_names_the_text_and_the_kind_and_never_the_secret():
    key = "k3yQ-Zx81+Lm-very-long"
    search = Secrets.of_keys([key])
    search.check({"a": "nothing"})
    for text in (key, key.encode().hex(), quote(key, safe="")):
        with pytest.raises(LeakError) as error:
            search.check({"a": "nothing", "conform.html": f"x{text}x"})
        assert "conform.html would contain the API key." in str(error.value)
        assert key not in str(error.value)
    assert search.cleaned("nothing") == "nothing"
    assert search.cleaned(f"x{key}") == f"[the API key was here, {len(key) + 1} characters]"


def test_a_word_of_a_secret_is_recognised_from_five_characters_on():
    search = Secrets.of_keys(["hello-k3yQZx81"])
    assert (search.has_part("hello"), search.has_part("hell"), search.has_part("world")) == (True, False, False)
    assert search.has_part("xx-k3yQZx81-yy")
