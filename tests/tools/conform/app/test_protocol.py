"""The protocol: what each call takes, and what a wrong one is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.base.files import NOTEBOOKS
from workbook.errors import ParameterError
from workbook.simulation.phones import PHONES_A
from workbook.simulation.wallet import PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.phone import WRONG_ANSWERS

GOOD: dict[str, dict[str, Any]] = {
    "hello": {"platform": "A", "variant": "from-0.4.0", "protocol": 1},
    "create": {"sdkInput": "c2RrSW5wdXQ="},
    "canProvision": {"provisioning": 1},
    "createSdkOutput": {"provisioning": 1},
    "provision": {"provisioning": 1, "sdkInput": "x", "cardDisplayName": "Card"},
    "provisionWithProvider": {"provisioning": 1, "cardDisplayName": "Card", "countryCode": "DE"},
    "activity": {"turn": 1, "there": True},
    "opc": {"turn": 1, "sdkInput": "x"},
    "noOpc": {"turn": 1, "threw": "IOException"},
    "cancelled": {"turn": 1},
    "makeService": {"sdkInput": "c2RrSW5wdXQ="},
    "activateWatch": {"instance": 1},
    "canAddCard": {"service": 1},
    "canAddCardDetails": {"service": 1, "isWatchActivated": True},
    "start": {"service": 1},
    "goOn": {"turn": 1},
    "sdkInput": {"turn": 1, "sdkInput": "x"},
    "noSdkInput": {"turn": 1},
    "makeExtensionService": {"sdkInputs": ["x"]},
    "passEntries": {"service": 1},
    "remotePassEntries": {"service": 1},
    "generate": {"service": 1, "identifier": "x", "certificateChain": ["x"], "nonce": "x", "nonceSignature": "x"},
    "holds": {"card": "x", "onWatch": False},
    "usePhone": {"name": "ready"},
    "useBackEnd": {"operation": "POST", "fails": "500"},
    "next": {"turn": 0, "button": "shown"},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=5,
)


def test_every_call_has_an_example_here_and_is_in_the_manual_with_all_names() -> None:
    assert set(GOOD) == set(p.PHONE_CALLS)
    manual = (NOTEBOOKS / "reference" / "phone.md").read_text("utf-8")
    names = [*GOOD, *PHONES_A, *WRONG_ANSWERS, *PROVISION_FAILURES, *INSTRUMENT_IDS]
    assert [name for name in names if f"`{name}`" not in manual] == []


@rows("name", GOOD)
def test_a_good_call_is_read(name: str) -> None:
    call = p.read(name, json.dumps({"client": "app", **GOOD[name]}).encode())
    assert isinstance(call, p.PHONE_CALLS[name])
    assert call.client == "app"


@rows("name", GOOD)
def test_each_field_that_is_missing_or_wrong_is_named(name: str) -> None:
    for field in {"client": "app", **GOOD[name]}:
        without = {key: value for key, value in {"client": "app", **GOOD[name]}.items() if key != field}
        for wrong in (without | {field: {"a": "secret"}}, *([without] if field in _required(name) else [])):
            with pytest.raises(ParameterError, match=field) as error:
                p.read(name, json.dumps(wrong).encode())
            assert "secret" not in str(error.value)


def _required(name: str) -> set[str]:
    return set(p.PHONE_CALLS[name].model_json_schema()["required"])


@given(st.sampled_from(sorted(GOOD)), st.dictionaries(st.sampled_from(["client", "turn", "sdkInput", "x"]), JSON))
def test_a_wrong_call_gets_a_clear_error_and_nothing_else(name: str, fields: dict[str, Any]) -> None:
    body = json.dumps(fields).encode()
    try:
        call = p.read(name, body)
    except ParameterError:
        with pytest.raises(ParameterError, match=rf"\A{name}: .*[.?}}]\Z"):
            p.read(name, body)
    else:
        assert call.client == fields["client"]


@given(st.text(max_size=30), st.binary(max_size=60))
def test_any_bytes_get_a_clear_error(name: str, body: bytes) -> None:
    with pytest.raises(ParameterError):
        p.read(name, body + b"!")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('{"client": "app", "turn": 1, "sdkInput": "%s"}' % ("x" * p.LONGEST_MESSAGE), "has more than 4,194,304 bytes"),
        ('{"client": "app", "turn": %s, "sdkInput": "x"}' % ("1" * 5_000), "opc: "),
        ("[" * 100_000 + "]" * 100_000, "the body is no JSON object"),
        ('{"client": "app"', "the body is no JSON object"),
        ("[]", "the body is no JSON object"),
    ],
    ids=["long", "digits", "nested", "no JSON", "a list"],
)
def test_a_body_that_cannot_be_taken_is_told_the_true_reason(body: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        p.read("opc", body.encode())


@pytest.mark.parametrize("character", ["x", "\\/"])
def test_the_longest_text_that_the_manual_allows_is_read(character: str) -> None:
    body = '{"client": "app", "turn": 1, "sdkInput": "%s"}' % (character * 1_048_576)
    call = p.read("opc", body.encode())
    assert isinstance(call, p.Opc)
    assert len(call.sdk_input) == 1_048_576
