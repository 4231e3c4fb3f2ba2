import base64
import html
import json
import pickle
import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook import ActivationDataClient
from workbook.base.secrecy import (
    MASK,
    MISSING,
    FromEnvironment,
    Secret,
    SecretKind,
    Secrets,
    canaries_in,
    each_text,
    is_weak,
    secret_values,
    secrets_in_request,
    session_secrets,
    suspect_header,
    without_live_keys,
)
from workbook.errors import ConfigurationError, LeakError

HEAVY = settings(max_examples=2_000, deadline=None, derandomize=True, database=None)
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=4, max_size=40)
SENTENCES = re.compile(
    r"api_key has (a line break|a blank|a control character|a character outside ASCII) at position \d+\. "
    r"Allowed: visible ASCII, no blanks\.|" + re.escape(MISSING)
)
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


@pytest.mark.slow
@pytest.mark.rule("REL-2")
@settings(HEAVY)
@given(VISIBLE.filter(lambda key: key not in MASK), st.text(), st.text())
def test_every_spelling_of_the_key_is_scrubbed(key, before, after):
    secret = Secret(key)
    spellings = [key, repr(key)[1:-1], json.dumps(key), repr(json.dumps(key))]
    spellings.append(json.dumps(key)[1:-1].replace("/", "\\/"))
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
    "without its last two characters": lambda text: text[:-2],
    "repr": repr,
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("key", [ODD_KEY, "canary-0123456789"])
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


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), safe=st.booleans())
def test_base64_is_found_wherever_the_key_stands_in_it(before, after, safe):
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    text = encode(before + ODD_KEY.encode() + after).decode()
    assert Secrets.of_keys([ODD_KEY]).found_in(text)


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


@pytest.mark.parametrize(("length", "found"), [(7, False), (8, True), (12, True)])
def test_a_secret_is_searched_for_from_eight_characters_on(length, found):
    key = "k3yQ-Zx81+Lm"[:length]
    assert bool(Secrets.of_keys([key])) is found
    assert (MASK in Secrets.of_keys([key]).scrub(f"a {key} b {base64.b64encode(key.encode()).decode()}")) is found


def test_a_part_of_twelve_characters_is_hidden_and_one_of_eleven_is_not():
    key = "a1B2c3D4e5F6g7H8i9J0"
    search = Secrets.of_keys([key])
    assert (search.scrub(key[:12]), search.scrub(key[3:15]), search.scrub(key[:11])) == (MASK, MASK, key[:11])


@pytest.mark.parametrize(("kind", "part"), [(SecretKind.SESSION, 16), (SecretKind.CANARY, 25), (SecretKind.OPAQUE, 16)])
def test_a_part_of_any_other_secret_is_hidden_from_so_many_characters_on(kind, part):
    value = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    for search in (Secrets([(kind, value)]), Secrets(many=[(kind, value)])):
        assert MASK not in search.scrub(value[3 : part + 2])
        assert value[3 : part + 3] not in search.scrub(value[3 : part + 3])


@pytest.mark.parametrize(
    ("kind", "in_base64", "in_hexadecimal"),
    [(SecretKind.SESSION, True, True), (SecretKind.CANARY, True, False), (SecretKind.OPAQUE, False, False)],
)
def test_very_many_secrets_are_searched_for_in_the_encodings_that_are_likely(kind, in_base64, in_hexadecimal):
    value = b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    encoded = base64.b64encode(value).decode(), value.hex()
    found = [search.scrub(text) != text for text in encoded for search in (Secrets(many=[(kind, value.decode())]),)]
    assert found == [in_base64, in_hexadecimal]
    assert all(Secrets([(kind, value.decode())]).scrub(text) != text for text in encoded)


def test_opaque_data_with_a_quote_in_it_is_found_as_json_has_it():
    value = 'a1B2"c3D4e5F6g7H8'
    assert Secrets(many=[(SecretKind.OPAQUE, value)]).scrub(json.dumps([value])) == f'["{MASK}"]'


def test_a_part_of_few_different_characters_gives_nothing_away():
    search = Secrets.of_keys(["-" * 30 + "k3yQZx81", "ab" * 15 + "k3yQZx81", "abcd" * 8 + "k3yQZx81"])
    assert search.scrub("-" * 20) == "-" * 20
    assert search.scrub("ab" * 10) == "ab" * 10
    assert search.scrub("abcd" * 5) == MASK


def test_the_error_names_the_text_the_kind_and_the_encoding_and_never_the_secret():
    key = "k3yQ-Zx81+Lm-very-long"
    search = Secrets.of_keys([key])
    search.check({"a": "nothing"})
    for text, form in (
        (key, "plain"),
        (key.encode().hex(), "as hexadecimal"),
        (quote(key, safe=""), "percent-encoded"),
    ):
        with pytest.raises(LeakError) as error:
            search.check({"a": "nothing", "conform.html": f"x{text}x"})
        assert f"conform.html would contain the API key ({form})" in str(error.value)
        assert key not in str(error.value)
    assert search.cleaned("nothing") == "nothing"
    assert search.cleaned(f"x{key}") == f"[the API key was here, {len(key) + 1} characters]"


def test_a_word_of_a_secret_is_recognised_from_five_characters_on():
    search = Secrets.of_keys(["hello-k3yQZx81"])
    assert (search.has_part("hello"), search.has_part("hell"), search.has_part("world")) == (True, False, False)
    assert search.has_part("xx-k3yQZx81-yy")


def test_every_text_of_a_document_is_changed_names_included_and_nothing_else():
    document = {"a": ["b", 1, None, True, {"c": "d"}], "e": 2.5}
    assert each_text(document, str.upper) == {"A": ["B", 1, None, True, {"C": "D"}], "E": 2.5}


@pytest.mark.parametrize(("part", "shown"), [("ab" * 10, "ab" * 10), ("abcd" * 5, MASK)])
def test_four_different_characters_are_enough_to_give_something_away(part, shown):
    assert Secrets.of_keys([f"K3yQZx81{part}{part}"]).scrub(f" {part} ") == f" {shown} "


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ('k3y"Zx81Lm', json.dumps(json.dumps('k3y"Zx81Lm')[1:-1])[1:-1]),
        ("kéy-Zx81", ascii("kéy-Zx81")[1:-1]),
        ("k3y Zx81 Lm", "k3y+Zx81+Lm"),
        ("é\x07k3y-Zx81", repr("é\x07k3y-Zx81")[1:-1]),
    ],
)
def test_a_secret_in_a_rarer_spelling_is_cut_out_exactly(key, written):
    assert Secrets.of_keys([key]).scrub(f"a {written} b") == f"a {MASK} b"
