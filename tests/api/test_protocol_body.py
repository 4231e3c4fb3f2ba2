import gzip
import json
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from workbook.api.protocol import BodyReader, CallProblem, parse_object
from workbook.errors import MalformedResponseError, ResponseTooLargeError

HEAVY = settings.get_profile("api")


def read(data, cap=100, encoding="", length=None, size=7):
    reader = BodyReader(cap, encoding, length)
    for start in range(0, len(data), size):
        if reader.feed(data[start : start + size]):
            break
    return reader.finish()


@rows("encoding", ["", "identity", " Identity ", "gzip", "x-gzip"])
@rows("size", [0, 1, 99, 100])
def test_bodies_up_to_the_cap_come_out_whole(encoding, size):
    data = bytes(range(size))
    wire = gzip.compress(data) if "gzip" in encoding else data
    assert read(wire, encoding=encoding) == data


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_one_byte_over_the_cap_is_too_large(encoding):
    data = bytes(101)
    problem = read(gzip.compress(data) if encoding else data, encoding=encoding, size=1000)
    assert problem.kind is ResponseTooLargeError
    assert "100 bytes" in problem.message


@pytest.mark.parametrize("length", ["101", "9" * 19, "9" * 5000])
def test_a_declared_giant_is_refused_unread(length):
    reader = BodyReader(100, "", length)
    assert reader.problem.kind is ResponseTooLargeError
    assert reader.feed(b"x") is reader.problem
    assert reader.partial() == b""


@pytest.mark.parametrize("length", ["100", "-1", "", "x", "٣٣٣٣", "1e9"])
def test_an_odd_declared_length_is_ignored(length):
    assert read(b"abc", length=length) == b"abc"


@pytest.mark.parametrize(
    ("wire", "encoding", "why"),
    [
        pytest.param(b"junk", "gzip", "cannot be decoded", id="junk"),
        pytest.param(b"", "gzip", "cut short", id="nothing"),
        pytest.param(gzip.compress(b"abc")[:-1], "gzip", "cut short", id="cut"),
        pytest.param(gzip.compress(b"abc") + b"x", "gzip", "after", id="after"),
        pytest.param(b"abc", "br", "neither", id="br"),
        pytest.param(b"abc", "gzip, gzip", "neither", id="twice"),
        pytest.param(zlib.compress(b"abc"), "deflate", "neither", id="deflate"),
    ],
)
def test_what_cannot_be_decoded_is_malformed(wire, encoding, why):
    problem = read(wire, encoding=encoding, size=1000)
    assert problem.kind is MalformedResponseError
    assert why in problem.message


def test_a_gzip_bomb_is_never_inflated():
    bomb = gzip.compress(bytes(50_000_000))
    tracemalloc.start()
    problem = read(bomb, cap=1000, encoding="gzip", size=65536)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.kind is ResponseTooLargeError
    assert peak < 1_000_000


def test_gzip_that_never_yields_a_byte_ends_too():
    problem = read(gzip.compress(b"")[:10] + b"\x00\x00\x00\xff\xff" * 2000, encoding="gzip", size=1000)
    assert problem.kind is ResponseTooLargeError


def test_what_was_read_is_kept_for_an_error():
    reader = BodyReader(3)
    reader.feed(b"ab")
    reader.feed(b"cdef")
    assert reader.partial() == b"abc"


@settings(HEAVY)
@given(st.binary(max_size=60), st.sampled_from(["", "gzip"]), st.binary(max_size=60))
def test_reading_gives_bytes_or_a_problem(wire, encoding, data):
    assert isinstance(read(wire, 50, encoding), bytes | CallProblem)
    assert read(gzip.compress(data), 60, "gzip") == data


@rows(
    ("body", "why"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"[1]", "not an object"),
        (b"\xff", "UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"x":{"a":1,"a":2}}', "twice"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "NaN or Infinity"),
        (b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
    ],
)
def test_json_is_parsed_strictly(body, why):
    problem = parse_object(body)
    assert problem.kind is MalformedResponseError
    assert why in problem.message


@pytest.mark.rule("API-9")
@settings(HEAVY)
@given(st.binary() | st.text().map(str.encode) | st.text('{}[]",:019aN\\').map(str.encode))
def test_parsing_gives_an_object_or_a_problem(body):
    assert isinstance(parse_object(body), dict | CallProblem)


@settings(HEAVY)
@given(
    st.dictionaries(
        st.text(max_size=5),
        st.none() | st.integers() | st.text(max_size=9) | st.lists(st.floats(-1, 1), max_size=3),
        max_size=4,
    )
)
def test_every_object_is_understood(value):
    assert parse_object(json.dumps(value).encode()) == value


def test_a_body_that_is_no_object_is_told_with_what_is_expected_and_whom_to_ask():
    problem = parse_object(b"[]")
    assert problem.kind is MalformedResponseError
    assert problem.message == (
        "the answer cannot be read: its JSON is not an object. Expected: a JSON object that carries sdkInput (API-9). "
        "Ask the API's operator, or look for a proxy."
    )
