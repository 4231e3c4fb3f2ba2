"""The record: what a comparison needs is in it, and nothing that a log must not hold."""

import base64
import gzip
import json
import stat
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.simulation.seal import Content, Seal
from workbook.tools.proxy.record import Head, Lines, Recording, layer, read_proxy_record, shape
from workbook.tools.proxy.upstream import ProxyFailure, ProxyReply

ID = "PI3222722322935MDMZ9J83KH"
PATH = f"/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
CANARY = "canary/0123+456789"
CARD = "Y2FyZCBkYXRhIG9mIGEgcmVhbCBjYXJk"
HEAD = Head("https://api.example", "2026-01-01T00:00:00+00:00")


def exchange(*, target=PATH, method="GET", headers=(("x-api-key", CANARY),), body=b"", answer=None, failure=None):
    answer = answer or Response(200, JSON_HEADERS, json.dumps({"sdkInput": CARD}).encode(), "real")
    reply = ProxyReply.failed(failure) if failure else ProxyReply(answer, "OK")
    return Request(method, target, headers, body), reply, (10.0, 10.5)


def line(one, **settings):
    return Lines(**settings).line(*one)


def told(one, **settings):
    return json.loads(line(one, **settings)[0])


def test_a_line_holds_what_a_comparison_needs():
    body = json.dumps({"sdkOutput": CARD}).encode()
    said = told(exchange(method="POST", body=body))
    assert said["operation"] == "POST"
    assert (said["instrument"], said["credential"]) == (ID, "k1")
    assert (said["arrived"], said["answered"]) == (10.0, 10.5)
    assert (said["status"], said["failure"], said["sent"]) == (200, "", True)
    assert said["bodyShape"] == {"": "object", "sdkOutput": "string"}
    assert said["responseShape"] == {"": "object", "sdkInput": "string"}
    assert said["responseHeaders"] == [["content-type", "application/json"]]


@pytest.mark.rule("REL-3")
def test_card_data_is_a_length_and_a_digest_which_is_the_same_within_a_run():
    lines = Lines()
    first, second = (json.loads(lines.line(*exchange())[0])["responseBody"]["sdkInput"] for _ in range(2))
    assert CARD not in json.dumps(first)
    assert (first, first["length"]) == (second, len(CARD))


@pytest.mark.rule("REL-3")
def test_simulated_data_is_shown_whole():
    text = Seal(7).close(Content.ACTIVATION, ID, 1)
    answer = Response(200, JSON_HEADERS, json.dumps({"sdkInput": text}).encode(), "real")
    assert told(exchange(answer=answer))["responseBody"]["sdkInput"]["text"] == text


def test_a_problem_keeps_its_short_values_and_not_its_sentences():
    problem = {"type": "about:blank", "title": "t" * 101, "status": 422, "detail": "Jane Doe", "errorCode": "30_031"}
    answer = Response(422, (), json.dumps({**problem, "instance": "/Jane"}).encode(), "real")
    written, _log = line(exchange(answer=answer))
    said = json.loads(written)["responseBody"]
    assert (said["errorCode"], said["status"], said["title"]) == ("30_031", 422, "[101 characters]")
    assert "Jane" not in written


BASIC = base64.b64encode(f"user:{CANARY}".encode()).decode()
ESCAPED = "".join(f"\\u{ord(one):04x}" for one in CANARY)
PLACES = {
    "header": {"headers": (("x-api-key", CANARY), ("user-agent", f"me {CANARY}"), ("x-other", CANARY))},
    "target": {"target": PATH.replace(ID, CANARY.replace("/", "%2F"))},
    "query": {"target": f"{PATH}?a={CANARY}"},
    "published parameter": {"headers": (), "target": f"{PATH}?clientKey={CANARY}"},
    "basic": {"headers": (("Authorization", f"Basic {BASIC}"),), "body": CANARY.encode()},
    "method": {"method": CANARY},
    "body": {"body": json.dumps({CANARY: CANARY}).encode()},
    "answer": {"answer": Response(400, (("server", CANARY),), json.dumps({"title": CANARY}).encode(), "real")},
    "escaped": {"answer": Response(400, (), f'{{"title": "{ESCAPED}"}}'.encode(), "real")},
    "packed": {
        "answer": Response(
            400, (("content-encoding", "gzip"),), gzip.compress(json.dumps({"errorCode": CANARY}).encode()), "real"
        )
    },
    "parameter answered": {
        "headers": (),
        "target": f"{PATH}?clientKey={CANARY.replace('+', '%2B')}",
        "answer": Response(400, (("server", CANARY),), json.dumps({"title": CANARY}).encode(), "real"),
    },
}


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("place", PLACES)
def test_a_key_stands_nowhere_in_the_record_nor_in_what_is_told(place):
    written, log = line(exchange(**PLACES[place]))
    for form in (CANARY, CANARY.replace("/", "%2F"), BASIC, ESCAPED, CANARY.replace("/", "\\/")):
        assert form not in written
        assert form not in log
    json.loads(written)


def test_keys_have_names_in_the_order_in_which_they_come():
    lines = Lines()
    keys = ("one-12345", "two-12345", "one-12345", "")
    named = [json.loads(lines.line(*exchange(headers=(("X-API-Key", key),)))[0])["credential"] for key in keys]
    assert named == ["k1", "k2", "k1", None]


@pytest.mark.parametrize(
    ("one", "instrument"),
    [
        (ID, ID),
        ("a%2Fb", "a/b"),
        ("x" * 65, "PIRECORDED000000000000001"),
        ("%0A", "PIRECORDED000000000000001"),
        ("%F0%9F%98%80", "PIRECORDED000000000000001"),
    ],
)
def test_ids_are_kept_or_get_a_pseudonym(one, instrument):
    text = Seal(7).close(Content.OUTPUT, one, 1)
    made = exchange(target=PATH.replace(ID, one), body=json.dumps({"sdkOutput": text}).encode())
    said = told(made)
    assert said["instrument"] == instrument
    if instrument.startswith("PIRECORDED"):
        assert one not in json.dumps(said)
        assert text not in json.dumps(said)


def test_a_failure_is_recorded_as_the_proxys():
    said = told(exchange(failure=ProxyFailure.RESET))
    assert (said["failure"], said["sent"]) == ("reset", True)
    assert told(exchange(failure=ProxyFailure.UNREACHABLE))["sent"] is False


@given(
    target=st.text(st.characters(max_codepoint=255)).map("/".__add__),
    headers=st.lists(st.tuples(st.sampled_from(["x-api-key", "Authorization", "accept"]), st.text(max_size=20))),
    body=st.binary() | st.just(b"1" * 5000),
    encoding=st.sampled_from(["", "gzip", "br"]),
)
def test_any_exchange_has_a_line_that_is_read_again(target, headers, body, encoding, tmp_path_factory):
    answer = Response(200, (("content-encoding", encoding),), body, "real")
    path = tmp_path_factory.mktemp("any") / "r"
    recording = Recording(path, HEAD)
    recording.keep(*exchange(target=target, headers=tuple(headers), body=body, answer=answer))
    recording.close()
    assert len(read_proxy_record(path).exchanges) == 1


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", {"": "empty"}),
        (b"<html>", {"": "not JSON"}),
        (b"\xff", {"": "not JSON"}),
        (b"[" * 100_000, {"": "not JSON"}),
        (b'{"a": NaN}', {"": "not JSON"}),
        (b"null", {"": "null"}),
        (b'{"a": "", "b": 1.5, "c": true}', {"": "object", "a": "empty string", "b": "number", "c": "boolean"}),
        (b'{"a": [{"b": "x"}]}', {"": "object", "a": "array", "a[]": "object", "a[].b": "string"}),
        (b'{"4111111111111111": 1, "": 2}', {"": "object", "[16 characters]": "number", "[0 characters]": "number"}),
    ],
)
def test_a_shape_is_names_and_types(body, expected):
    assert shape(body) == expected


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.floats(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_body_has_a_shape_that_is_bounded_and_says_no_value(value):
    found = shape(json.dumps(value).encode())
    assert "" in found
    assert len(found) <= 100
    assert set(found.values()) <= {"null", "boolean", "string", "empty string", "number", "array", "object", "not JSON"}


@pytest.mark.rule("API-8")
@pytest.mark.parametrize(("text", "expected"), [(CARD, None), ("a-_b", "url-safe"), ("e30=\n", "line-breaks")])
def test_the_layer_of_opaque_text_is_named(text, expected):
    assert layer(json.dumps({"sdkInput": text}).encode(), "sdkInput") == expected


# ---------------------------------------------------------------- the file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "record.jsonl"


def written(path, count=2):
    recording = Recording(path, HEAD)
    for _ in range(count):
        recording.keep(*exchange())
    recording.close()


def test_a_record_is_private_whole_after_each_line_and_read_again(path):
    recording = Recording(path, HEAD)
    for count in range(1, 4):
        recording.keep(*exchange())
        assert len(read_proxy_record(path).exchanges) == recording.count == count
    recording.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = read_proxy_record(path)
    assert (found.to, found.notes) == ("https://api.example", ())
    assert [(one.line, one.number) for one in found.exchanges] == [(2, 1), (3, 2), (4, 3)]


def test_a_record_is_never_written_over(path):
    written(path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"is there already\. Give another --out\."):
        Recording(path, HEAD)
    assert path.read_bytes() == before


def test_a_line_that_a_kill_cut_is_left_out(path):
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    found = read_proxy_record(path)
    assert (len(found.exchanges), found.notes) == (
        1,
        ("The last line is left out: it is unfinished, as after a kill.",),
    )


def test_a_place_that_cannot_be_written_is_explained(tmp_path):
    with pytest.raises(ConfigurationError, match=r"Cannot write the record .*: No such file or directory"):
        Recording(tmp_path / "no" / "x.jsonl", HEAD)


def test_a_full_disk_leaves_no_half_line(path, monkeypatch):
    recording = Recording(path, HEAD)
    recording.keep(*exchange())
    whole = path.read_bytes()
    real = __import__("os").write

    def full(file, data):
        if len(data) > 40:
            return real(file, data[:40])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(OSError, match="No space left"):
        recording.keep(*exchange())
    monkeypatch.undo()
    assert path.read_bytes() == whole
    recording.keep(*exchange())
    recording.close()
    assert len(read_proxy_record(path).exchanges) == 2


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("{", ""),
        ("[]", ""),
        ("", ""),
        ('{"number": Infinity}', "number"),
        ('{"number": 1e999}', "number"),
        ({"sent": None}, "sent"),
        ({"status": "200"}, "status"),
        ({"status": True}, "status"),
        ({"status": 10**40}, "status"),
        ({"headers": [["a"]]}, "headers"),
        ({"bodyShape": {"": 1}}, "bodyShape"),
        ({"operation": "PUT"}, "operation"),
    ],
)
def test_a_line_that_is_wrong_is_told_by_its_number(line, where, path):
    written(path)
    lines = path.read_text().splitlines()
    lines[1] = line if isinstance(line, str) else json.dumps(json.loads(lines[1]) | line)
    path.write_text("".join(f"{one}\n" for one in lines))
    with pytest.raises(ConfigurationError) as refused:
        read_proxy_record(path)
    assert f"line 2 is not as a proxy writes it{where and f' (see {where}'}" in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}\n", '{"format": "workbook proxy record", "version": 2}\n', "x" * 100])
def test_another_file_is_no_record(text, path):
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="is no record of a proxy, or one in another version"):
        read_proxy_record(path)


def test_no_file_and_a_directory_are_explained(tmp_path):
    with pytest.raises(ConfigurationError, match=r"Cannot read .*: No such file or directory"):
        read_proxy_record(tmp_path / "none")
    with pytest.raises(ConfigurationError, match="it is not a regular file"):
        read_proxy_record(tmp_path)


@given(st.binary(max_size=300))
def test_any_line_is_read_or_refused(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("any") / "r"
    written(path, 1)
    with path.open("ab") as file:
        file.write(noise)
    whole = noise.count(b"\n")
    with pytest.raises(ConfigurationError, match="line 3") if whole else nullcontext():
        assert len(read_proxy_record(path).exchanges) == 1
