"""The trace: append-only, redacted on the way out, the same lines each time."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace, shown
from workbook.play.platform_a import PlatformARun

REAL = "UkVBTC1sb29raW5nIG9wYXF1ZSBkYXRhLCB0aGF0IG5vYm9keSBtYXJrZWQ="


def record(message, at=0.0, kind=Kind.EVENT):
    return Record(at, kind, message, "before", "after", message.rules)


def made(*messages):
    trace = Trace("a trace")
    for at, message in enumerate(messages):
        trace.append(record(message, float(at)))
    return trace


def test_a_record_as_plain_values():
    assert Record(
        0.25, Kind.COMMAND, m.GetActivationData("PI1"), "a", "b", ("API-1",), 2, deprecated=True
    ).as_dict() == {
        "at": 0.25,
        "kind": "command",
        "from": "App",
        "to": "Back end",
        "name": "GetActivationData",
        "values": {"payment_instrument_id": "PI1"},
        "before": "a",
        "after": "b",
        "rules": ["API-1"],
        "attempt": 2,
        "deprecated": True,
        "source": "spec",
    }


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("value", [SdkInput(REAL), REAL], ids=["wrapped", "bare"])
def test_opaque_data_leaves_as_length_and_digest_only(value):
    trace = made(m.CreateCalled(value), m.FetchOpcCalled("PI1", value), m.ApiAnswered(200, ActivationData(value)))
    assert [set(next(v for v in one.values.values() if isinstance(v, dict))) for one in trace] == [
        {"length", "digest"}
    ] * 3
    assert REAL[:8] not in trace.to_jsonl()


@pytest.mark.rule("REL-3")
@given(st.text(max_size=30))
def test_bare_text_where_opaque_data_belongs_never_shows_and_never_raises(text):
    for name in ("sdk_input", "sdk_output"):
        assert json.dumps(shown(text, name))
        canary = f"CANARY-{text}"
        assert "CANARY" not in json.dumps(shown(canary, name))


def test_half_a_surrogate_pair_is_told_by_its_length():
    assert shown("\ud800x", "sdk_input") == "2 characters, no opaque data"
    assert made(m.CreateCalled("\ud800x")).to_jsonl()


@rows(
    ("value", "told"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (0.5, 0.5),
        ("text", "text"),
        (b"bytes", "bytes"),
        ([1, b"bytes"], [1, "bytes"]),
        ((), []),
        (object(), "object"),
    ],
)
def test_plain_values_are_shown_and_all_others_by_their_type(value, told):
    assert shown(value) == told


def test_simulated_data_is_told_by_what_it_is():
    bench = PlatformARun()
    bench.open()
    (received,) = bench.trace.select(m.ActivationDataReceived)
    told = received.values["sdk_input"]
    assert (told["simulated"], told["kind"], told["serial"]) == (True, "activation", 1)


def test_the_instance_that_create_carries_does_not_leave():
    assert record(m.CreateSuccess(object())).values == {}


def test_lines_are_json_objects_with_their_keys_in_one_order():
    lines = made(m.Opened("PI ü"), m.AddTapped()).to_jsonl().splitlines()
    keys = [list(json.loads(line)) for line in lines]
    assert (
        keys
        == [
            [
                "at",
                "kind",
                "from",
                "to",
                "name",
                "values",
                "before",
                "after",
                "rules",
                "attempt",
                "deprecated",
                "source",
            ]
        ]
        * 2
    )
    assert "ü" in lines[0]
    assert Trace().to_jsonl() == ""


def test_a_trace_is_a_sequence_that_only_grows():
    trace = made(m.Opened("PI1"), m.AddTapped(), m.AddTapped())
    assert len(trace) == len([*trace]) == 3
    assert trace[0].name == "Opened"
    assert [one.name for one in trace[1:]] == ["AddTapped", "AddTapped"]
    assert repr(trace) == "Trace('a trace', 3 records)"
    assert not {name for name in dir(trace) if name in {"remove", "pop", "clear", "__setitem__", "__delitem__"}}
    with pytest.raises(AttributeError):
        trace[0].at = 1.0


def test_records_are_selected_by_message_and_by_kind():
    trace = made(m.Opened("PI1"), m.AddTapped())
    trace.append(record(m.AddTapped(), 2.0, Kind.REFUSED))
    assert [one.at for one in trace.select(m.AddTapped)] == [1.0, 2.0]
    assert [one.at for one in trace.select(m.AddTapped, m.Opened, kind=Kind.EVENT)] == [0.0, 1.0]
    assert [one.at for one in trace.select(kind=Kind.REFUSED)] == [2.0]
    assert len(trace.select()) == 3
    assert [(one.at, message) for one, message in trace.seen(m.Opened)] == [(0.0, m.Opened("PI1"))]
    assert [one.at for one, _ in trace.seen(m.AddTapped, Kind.REFUSED)] == [2.0]


def test_time_is_rounded_to_microseconds():
    assert record(m.AddTapped(), 0.1 + 0.2).as_dict()["at"] == 0.3
    assert math.isclose(record(m.AddTapped(), 1 / 3).as_dict()["at"], 0.333333)


@pytest.mark.rule("REL-3")
def test_not_even_a_repr_of_a_record_shows_wrapped_data():
    assert REAL not in repr(record(m.FetchOpcCalled("PI1", SdkOutput(REAL))))
