"""What a state file may hold of an exchange: what is shown anyway, and by what two bodies are told apart."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response
from workbook.simulation.journal import Journal
from workbook.simulation.journal_entry import entry
from workbook.simulation.journal_export import as_dict, is_shown_whole, shown_only
from workbook.simulation.kept_entry import kept_entry, stand_in
from workbook.simulation.plain import UNREADABLE
from workbook.simulation.seal import Content, Seal
from workbook.simulation.world import INSTRUMENT_IDS

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
    kept = shown_only(one, SALT)
    assert as_dict(kept) == json.loads(json.dumps(as_dict(one)))
    assert kept_entry(kept.told, kept.body) == kept
    assert kept.told.isascii()
    assert (kept.number, kept.arrived, kept.answered, kept.status) == (3, 0.25, 0.5, 200)
    assert (kept.operation, kept.instrument is None) == (one.operation, one.instrument is None)
    assert (kept.size, shown_only(kept, b"another")) == (len(kept.told) + len(kept.body), kept)


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
    one = shown_only(exchange(**request_), SALT)
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
def test_only_a_body_that_is_shown_whole_gets_a_long_digest(body, whole):
    assert is_shown_whole(body.encode()) is whole
    assert len(stand_in(b"x", SALT, shown_whole=whole)) == len("[1 bytes, digest ]") + (32 if whole else 8)


@given(st.binary(), st.binary())
def test_bodies_are_told_apart_by_what_stands_in_for_them(body, other):
    assert (stand_in(body, SALT, shown_whole=False) == stand_in(other, SALT, shown_whole=False)) == (body == other)
    assert not body or stand_in(body, SALT, shown_whole=False) != stand_in(body, b"pepper", shown_whole=False)


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
    with pytest.raises(UNREADABLE):
        kept_entry(json.dumps(said), b"")


def test_a_journal_changes_its_entries_when_it_begins_to_be_kept():
    journal = Journal()
    for _ in range(2):
        journal.record(journal.arrival(), Request("POST", PATH, (), CARD.encode()), Response(200, (), b"", "assumed"))
        before = journal.to_jsonl(), journal.to_har()
        journal.keep_shown_only(SALT)
        assert (journal.to_jsonl(), journal.to_har()) == before
        assert CARD.encode() not in journal.entries()[-1].body
    assert journal.entries()[0].body == journal.entries()[1].body
