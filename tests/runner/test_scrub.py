import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.runner.scrub import Scrubber

KEY = 'canary"key\\with/odd+é<signs>'
SPELLINGS = {
    "plain": str,
    "json": json.dumps,
    "json, not ascii": lambda text: json.dumps(text, ensure_ascii=False),
    "json in json": lambda text: json.dumps(json.dumps(text)),
    "html in json": lambda text: json.dumps(html.escape(text)),
    "url": lambda text: quote(text, safe=""),
    "hex": lambda text: text.encode().hex(),
    "repr": repr,
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("key", [KEY, "canary-0123456789"])
def test_every_spelling_is_found_and_removed(spell, key):
    scrubber = Scrubber(key)
    text = f"before {spell(key)} after"
    assert scrubber.found_in(text)
    cleaned = scrubber.clean(text)
    assert "[key]" in cleaned
    assert not scrubber.found_in(cleaned)
    assert "canary" not in cleaned


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), safe=st.booleans())
def test_base64_is_found_wherever_the_key_stands_in_it(before, after, safe):
    encode = base64.urlsafe_b64encode if safe else base64.b64encode
    text = encode(before + KEY.encode() + after).decode()
    assert Scrubber(KEY).found_in(text)


@pytest.mark.parametrize("key", [None, "", "seven77"])
def test_no_key_or_a_short_one_changes_nothing(key):
    scrubber = Scrubber(key)
    assert not scrubber.found_in("seven77")
    assert scrubber.clean("seven77") == "seven77"


def test_the_key_comes_from_the_environment_and_its_repr_is_silent():
    scrubber = Scrubber.of_environment({"WORKBOOK_API_KEY": "canary-0123456789"})
    assert scrubber.found_in("x canary-0123456789")
    assert repr(scrubber) == "Scrubber(a key)"
    assert repr(Scrubber.of_environment({})) == "Scrubber(no key)"
