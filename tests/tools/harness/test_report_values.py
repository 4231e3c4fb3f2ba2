"""A body in words: its shape stays, its values are told apart and never shown."""

import json
from dataclasses import replace
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.tools.harness.model import ReportedExchange, ReportedMessage, Verdict
from workbook.tools.harness.report import CaseRecord
from workbook.tools.harness.summary import FOREIGN, Values


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
    assert [piece for piece in pieces if piece[1]] == [("⟨value A, 3 characters⟩", "v5")]


def exchange(side, request, status, answer, at=0.0):
    asked, said = ReportedMessage(body=request), ReportedMessage(body=answer)
    return ReportedExchange(side, at, None, "POST", "/", "", asked, status, said)


LONG = value("long", 31)


@rows(
    ("sent", "status", "answered", "foreign"),
    [
        (LONG, 200, value("opc"), []),
        (value("cut", 27), 200, value("opc"), ["sent"]),
        (LONG, 200, value("cut"), ["answered"]),
        (LONG, 200, {"sdkInput": value("opc"), "says": value("?", 40)}, []),
        (LONG, 502, value("sorry", 40), []),
        (LONG, 200, {"length": 9, "simulated": True}, ["answered"]),
    ],
)
@pytest.mark.rule("API-7")
def test_a_value_that_a_back_end_hands_on_and_did_not_get_is_named_as_such(sent, status, answered, foreign):
    api = exchange("API", {"sdkOutput": sent}, 200, {"sdkInput": value("opc")})
    case = CaseRecord("one", Verdict.FAIL, exchanges=(api, exchange("phone", LONG, status, answered)))
    values = Values(case)
    values.text(LONG)
    told = {"sent": values.text(sent, handed_on=True)}
    values.text(value("opc"))
    told["answered"] = values.text(answered, handed_on=status == 200)
    assert [name for name, text in told.items() if FOREIGN in text] == foreign
    assert [text.count(FOREIGN) for name, text in told.items() if name in foreign] == [1] * len(foreign)
    for partial in (replace(case, left_out=3), replace(case, exchanges=case.exchanges[:1])):
        assert FOREIGN not in Values(partial).text(sent, handed_on=True)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_a_body_without_values_is_its_json(body):
    assert json.loads(Values().text(body)) == body
