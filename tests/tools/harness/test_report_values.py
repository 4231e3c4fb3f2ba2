"""A body in words: its shape stays, its values are told apart and never shown."""

import json
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.tools.harness.summary import Values


def value(digest, length=3, **more):
    return {"length": length, "digest": digest, **more}


MADE = {"simulated": True, "kind": "opc", "serial": 4}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (value("aa"), "⟨value A, 3 characters⟩"),
        ({"sdkInput": value("aa", **MADE)}, '{"sdkInput": ⟨value A: simulated OPC data #4, 3 characters⟩}'),
        ([value("aa"), value("bb"), value("aa")],
         "[⟨value A, 3 characters⟩, ⟨value B, 3 characters⟩, ⟨value A, 3 characters⟩]"),
        ({"length": 9, "simulated": True, "kind": "?"}, "⟨spoilt: simulated data, 9 characters⟩"),
        ({"status": 422, "open": None, "ok": True}, '{"status": 422, "open": null, "ok": true}'),
        ({"length": "9"}, '{"length": "9"}'),
        ({}, "{}"), ([], "[]"), (None, "null"), ("ü", '"ü"'),
    ],
)  # fmt: skip
def test_a_body_in_words(body, told):
    assert Values().text(body) == told


def test_letters_go_on_after_the_last():
    values = Values()
    letters = [values.text(value(str(number)))[7:].split(",")[0] for number in range(54)]
    assert letters[:26] == list(ascii_uppercase)
    assert letters[26:28] + letters[52:] == ["A1", "B1", "A2", "B2"]
    assert len(set(letters)) == 54


def test_only_what_stands_for_a_value_says_so():
    pieces = list(Values().pieces({"a": value("aa"), "b": 1}))
    assert [text for text, is_value in pieces if is_value] == ["⟨value A, 3 characters⟩"]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_a_body_without_values_is_its_json(body):
    assert json.loads(Values().text(body)) == body
