"""What a state file may hold of an exchange: what is shown anyway, and by what two bodies are told apart."""

import json
from dataclasses import replace
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response
from workbook.simulation.seal import Content, Seal
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.journal import (
    Journal,
    as_dict,
    body_digest,
    entry,
    is_shown_whole,
    length_and_run,
    persistent_entry,
    read_entry,
)
from workbook.tools.mockserver.state import MALFORMED

ID = INSTRUMENT_IDS[0]
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
CARD = "CANARYCARDDATA4929000000006Aa"
SALT = b"salt" * 4
OWN = Seal(7).close(Content.OUTPUT, ID, 1, attempt=1)

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # half surrogate pairs too
HEADERS = st.lists(st.tuples(st.sampled_from(["x-api-key", "accept", "x-a"]) | ANY_TEXT, ANY_TEXT), max_size=4)
BODIES = (
    st.binary()
    | st.just(json.dumps({"sdkOutput": OWN}).encode())
    | ANY_TEXT.map(lambda text: json.dumps(text).encode())
)


def exchange(body=b"", response=b"{}", target=PATH, headers=()):
    return entry(
        3, (0.25, 0.5), Request("POST", target, headers, body), Response(200, JSON_HEADERS, response, "assumed")
    )


@given(BODIES, BODIES, ANY_TEXT, HEADERS.map(tuple))
def test_whatever_is_exchanged_it_is_shown_alike_and_comes_back(body, response, target, headers):
    one = exchange(body, response, target, headers)
    kept = persistent_entry(one, SALT)
    assert as_dict(kept) == json.loads(json.dumps(as_dict(one)))
    assert read_entry(kept.text, kept.body.decode()) == kept
    assert kept.text.isascii()
    assert (kept.number, kept.arrived, kept.answered, kept.status) == (3, 0.25, 0.5, 200)
    assert (kept.operation, kept.instrument is None) == (one.operation, one.instrument is None)
    assert kept.size >= len(kept.text) + len(kept.body)


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize(
    "request_",
    [
        {"body": json.dumps({"sdkOutput": CARD}).encode()},
        {"body": CARD.encode()},
        {"response": json.dumps({"sdkInput": CARD, "detail": {"a": CARD}}).encode()},
        {"target": f"{PATH}?a={CARD}"},
        {"target": f"/{CARD * 3}"},
        {"headers": (("x-debug", CARD), (CARD * 2, "1"))},
    ],
)
def test_nothing_of_card_data_is_left(request_):
    one = persistent_entry(exchange(**request_), SALT)
    assert CARD not in repr([getattr(one, name) for name in (*type(one).__slots__, *type(one).__base__.__slots__)])


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize(
    ("body", "whole"),
    [
        (json.dumps({"sdkOutput": OWN}), True),
        (json.dumps({"sdkOutput": OWN}, separators=(",", ":")), True),
        (json.dumps({"sdkOutput": CARD}), False),
        (json.dumps({"sdkOutput": OWN, "more": 7}), False),
        (json.dumps({"sdkOutput": OWN, "x" * 50: OWN}), False),
        (f'{{"sdkOutput": "{CARD}", "sdkOutput": "{OWN}"}}', False),
        (json.dumps([OWN]), False),
        (OWN, False),
        ("", False),
    ],
)
def test_what_is_shown_whole_is_simulated_and_nothing_else(body, whole):
    assert is_shown_whole(body.encode()) is whole


@pytest.mark.rule("REL-3")
def test_who_has_the_file_cannot_find_a_body_by_trying():
    """A card number of a known bank with known last digits has a million candidates, and the salt is in the file."""
    body = json.dumps({"sdkOutput": CARD}).encode()
    kept = persistent_entry(exchange(body), SALT)
    for size in range(4, 65):  # one to three bytes may stand anywhere by chance
        assert blake2b(body, key=SALT, digest_size=size).hexdigest() not in kept.text + kept.body.decode()


@given(st.binary(), st.binary())
def test_bodies_are_told_apart_by_what_stands_in_for_them(body, other):
    assert (body_digest(body, SALT, shown_whole=False) == body_digest(other, SALT, shown_whole=False)) == (
        body == other
    )
    assert not body or body_digest(body, SALT, shown_whole=True) != body_digest(body, b"pepper", shown_whole=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.pop("number"),
        lambda said: said.update(number="1"),
        lambda said: said.update(number=True),
        lambda said: said.update(answered=float("inf")),
        lambda said: said.update(headers=[["a"]]),
        lambda said: said.update(responseHeaders=7),
        lambda said: said.update(keyIn=None),
    ],
)
def test_what_is_no_entry_is_not_read(change):
    said = as_dict(exchange())
    change(said)
    with pytest.raises(MALFORMED):
        read_entry(json.dumps(said), "")


def test_a_persistent_journal_keeps_no_body_and_says_the_same_as_another():
    persistent, other = Journal(stopwatch=lambda: 0.0), Journal(stopwatch=lambda: 0.0)
    persistent.persist(SALT)
    for journal in (persistent, other):
        for _ in range(2):
            request = Request("POST", PATH, (), CARD.encode())
            journal.record(journal.now(), request, Response(200, (), b"", "assumed"))
    assert persistent.to_har() == other.to_har()
    assert CARD.encode() not in persistent.entries()[-1].body
    assert persistent.entries()[0].body == persistent.entries()[1].body


def test_a_body_of_a_real_sdk_is_compared_by_its_length_within_one_run_and_only_where_its_digest_stands_for_it():
    said_once = exchange(CARD.encode())
    (length, run), (again, same_run) = (length_and_run(persistent_entry(said_once, SALT)) for _ in range(2))
    assert (length, run) == (again, same_run) == (len(CARD.encode()), run)
    assert run
    assert length_and_run(said_once) is None
    said = persistent_entry(said_once, SALT).body
    assert length_and_run(replace(said_once, body=said)) is None
