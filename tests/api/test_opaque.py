import base64
import json
import pickle
import re
import traceback

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows

from workbook import ActivationDataClient, SdkInput, SdkOutput
from workbook.api.opaque import LAYERS, SIMULATED_PREFIX, wrong_layer
from workbook.errors import OpaqueDataError, WorkbookError

HEAVY = settings.get_profile("api")
JSON = b'{"a":1}'
B64 = base64.b64encode(JSON).decode()


def simulated(**fields):
    return SdkInput.from_bytes(json.dumps({"simulated": "not card data", **fields}, separators=(",", ":")).encode())


@pytest.mark.rule("API-7")
@pytest.mark.parametrize("text", ["YWJj", "ümlaut", " blanks  ", "line\n", "\U0001f600"])
def test_platform_a_gets_the_text_untouched(text):
    assert SdkInput(text).text == text


@pytest.mark.rule("API-8")
@settings(HEAVY)
@given(st.binary(min_size=1, max_size=80))
def test_bytes_make_the_round_trip(data):
    assert SdkOutput.from_bytes(data).data == data


@pytest.mark.rule("API-8")
@settings(HEAVY)
@given(st.text(min_size=1) | st.text("ABab019+/=-_\n", min_size=1))
@example("YWJj====")
@example("YWK=")
def test_decoding_is_strict_and_errors_name_a_layer(text):
    wrong = None
    try:
        assert base64.b64encode(SdkInput(text).data).decode() == text
    except OpaqueDataError as error:
        wrong = error
    assert wrong is None or LAYERS[wrong.layer] in str(wrong)


LAYER_CASES = [
    ("not-text", 5),
    ("not-text", b"\xff\xfe"),
    ("not-text", "\ud800"),
    ("empty", ""),
    ("empty", "  "),
    ("empty", b""),
    ("quoted", f'"{B64}"'),
    ("quoted", f"'{B64}'"),
    ("quoted", f'\\"{B64}\\"'),
    ("decoded-once-too-often", JSON),
    ("decoded-once-too-often", JSON.decode()),
    ("printed", "{length = 812, bytes = 0x82b70eee 7f1a5039 ... bc35e1a5 }"),
    ("printed", "<5d34bb34 1970d779 0cd7>"),
    ("printed", "<Buffer 7b 22 61 ... 12 more bytes>"),
    ("printed", "812 bytes"),
    ("printed", f'Optional("{B64}")'),
    ("printed", "Optional(812 bytes)"),
    ("printed", f"b'{B64}'"),
    ("printed", "[B@1f2e3d"),
    ("printed", "[object Object]"),
    ("printed", "123, 34, 99, -101, 114"),
    ("line-breaks", "YWJj\nYWJj"),
    ("line-breaks", "YWJj\\nYWJj"),
    ("url-safe", "YW-_"),
    ("alphabet", "YWJj YWJj"),
    ("alphabet", "YWJj%3D"),
    ("alphabet", "é"),
    ("padding", "YWI"),
    ("padding", "YWJj===="),
    ("padding", "YW=jYWJj"),
    ("padding", "A==="),
    ("pad-bits", "YWK="),
    ("encoded-twice", base64.b64encode(B64.encode()).decode()),
    (None, B64),
    (None, B64.encode()),
    (None, base64.b64encode(b"abcd").decode()),
    (None, base64.b64encode(b"\xff").decode()),
]


@rows(("layer", "value"), LAYER_CASES)
def test_diagnosis(layer, value):
    assert wrong_layer(value) == layer


def test_every_layer_has_a_case():
    assert {layer for layer, _ in LAYER_CASES} | {"not-json"} == {*LAYERS, None}


@pytest.mark.parametrize(
    ("layer", "data"), [("encoded-twice", b"abcd"), ("not-json", b"[1]"), ("not-json", b"\xff"), (None, JSON)]
)
def test_the_field_profile_also_asks_for_json(layer, data):
    assert wrong_layer(base64.b64encode(data), expect_json=True) == layer


def test_check_raises_what_data_lets_pass():
    twice = SdkInput.from_bytes(B64.encode())
    assert twice.data == B64.encode()
    with pytest.raises(OpaqueDataError, match="encoded-twice"):
        twice.check()
    fine = SdkInput.from_bytes(JSON)
    assert fine.check(expect_json=True) is fine


@rows(
    ("value", "layer", "words"),
    [
        (None, "not-text", "null"),
        (True, "not-text", "a boolean"),
        (1, "not-text", "a number"),
        (["x"], "not-text", "a list"),
        ({}, "not-text", "an object"),
        (b"x", "not-text", "bytes"),
        ("", "empty", "empty"),
        ("\udfff", "not-text", "surrogate"),
    ],
)
def test_a_value_that_is_no_text_is_refused_and_says_what_stood_there(value, layer, words):
    with pytest.raises(OpaqueDataError, match=words) as caught:
        SdkInput(value)
    assert caught.value.layer == layer
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "self = SdkInput(" in "".join(shown.format())


def test_from_bytes_takes_bytes():
    with pytest.raises(OpaqueDataError, match="takes bytes, not str"):
        SdkInput.from_bytes("x")


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("show", [repr, str, "{}".format, "{:>70}".format, lambda x: f"{x!r}", lambda x: "%s" % x])  # noqa: UP031  # every way to print
def test_nothing_that_prints_shows_the_value(show):
    shown = show(SdkInput("secret-text"))
    assert "secret" not in shown
    assert "SdkInput(11 characters, digest " in shown


@pytest.mark.rule("REL-3")
def test_summary_of_real_data_is_length_and_digest():
    summary = SdkInput("secret-text").summary()
    assert summary == {"length": 11, "digest": summary["digest"]}
    assert summary["digest"] in repr(SdkInput("secret-text"))
    assert len(summary["digest"]) == 8


def test_simulated_data_is_described_in_words():
    value = simulated(kind="activation", serial=1, paymentInstrumentId="PI0000")
    assert SIMULATED_PREFIX == "eyJzaW11bGF0ZWQi"
    assert value.is_simulated
    assert repr(value) == f"SdkInput(SIMULATED activation #1 for PI0000, {len(value.text)} characters)"
    assert value.summary() == {
        "simulated": True,
        "kind": "activation",
        "serial": 1,
        "paymentInstrumentId": "PI0000",
        "length": len(value.text),
    }


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": "x" * 41, "serial": -1, "paymentInstrumentId": ["a"]},
        {"serial": True},
        {"kind": "canary-key", "serial": 1, "paymentInstrumentId": "PI0000"},
        {"simulated": True, "kind": "opc", "serial": 1, "paymentInstrumentId": "PI0000"},
    ],
)
def test_a_mark_alone_prints_nothing_else(fields):
    value = simulated(**fields)
    assert repr(value) == f"SdkInput(SIMULATED, {len(value.text)} characters)"


@pytest.mark.rule("REL-2")
def test_a_key_in_forged_simulated_data_is_not_printed():
    client = ActivationDataClient("https://api.example", "canary-key-0123456789")
    value = simulated(kind="opc", serial=2, paymentInstrumentId="canary-key-0123456789")
    assert repr(value) == f"SdkInput(SIMULATED opc #2, {len(value.text)} characters)"
    assert "paymentInstrumentId" not in value.summary()
    client.close()


@pytest.mark.parametrize("tail", ["!", "", "AAAA"])
def test_a_broken_mark_is_tolerated(tail):
    assert "SIMULATED" in repr(SdkInput(SIMULATED_PREFIX + tail))


@settings(HEAVY)
@given(st.text())
def test_only_typed_errors_come_out(text):
    try:
        value = SdkInput(SIMULATED_PREFIX + text) if len(text) % 2 else SdkInput(text)
        assert repr(value)
        assert value.summary()["length"] == len(value.text)
        value.check(expect_json=True)
    except WorkbookError:
        pass


def test_values_compare_within_their_kind():
    assert SdkInput("a") == SdkInput("a") != SdkOutput("a")
    assert len({SdkInput("a"), SdkInput("a"), SdkInput("b")}) == 2
    assert pickle.loads(pickle.dumps(SdkOutput("a"))) == SdkOutput("a")
    with pytest.raises(AttributeError):
        SdkInput("a").text = "b"


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("serial", [True, -1, 2**70, "1", None])
def test_a_serial_that_the_simulator_would_not_write_is_not_described(serial):
    assert "serial" not in simulated(kind="opc", serial=serial, paymentInstrumentId="PI0000").summary()


@pytest.mark.rule("API-7", "API-8")
@rows(
    ("layer", "words"),
    [
        ("not-text", "This is not text."),
        ("empty", "The value is empty."),
        ("quoted", "quotes around it"),
        ("decoded-once-too-often", "This is decoded data, not base64 text."),
        ("printed", "lost in the program that wrote it, such as the app, and not on the way"),
        ("line-breaks", "wrapped into lines"),
        ("url-safe", "url-safe alphabet (- and _)"),
        ("alphabet", "characters that base64 does not have"),
        ("padding", "The padding (=)"),
        ("pad-bits", "bits that no encoder writes"),
        ("encoded-twice", "are base64 text again. Encode once only."),
        ("not-json", "no JSON object inside"),
    ],
)
def test_each_wrong_layer_is_told_with_what_to_do(layer, words):
    assert words in LAYERS[layer]
    assert re.fullmatch(r"[A-Z].*\.", LAYERS[layer])
    assert len(LAYERS) == 12
