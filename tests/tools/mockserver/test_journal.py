"""The journal: each exchange once and byte for byte, never a key, bounded, and safe to show."""

import gc
import json
import os
import sys
from base64 import b64encode
from threading import Thread
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from responders import Fixed, Journaled
from rows import rows

from workbook.api.opaque import SIMULATED_PREFIX
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response, Wire
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.journal import Entry, Journal

ID, OTHER, _THIRD = INSTRUMENT_IDS
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
CANARY = "CANARY-7f3a9c51e0b24d68/KEY+x"
CARD = "CANARYCARDDATA4929000000006Aa"
KEY = ("X-Api-Key", SIMULATED_KEY)
SEAL = Seal(7)


class Ticks:
    """A stopwatch that goes on by a quarter of a second each time it is read."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        self.at += 0.25
        return self.at


def answer(body=b"{}", status=200, headers=JSON_HEADERS, basis="lesson: assumed", wire=None):
    return Response(status, headers, body, basis, wire or Wire())


def exchanged(*requests, response=None, keys=(), **options):
    """A journal after these requests to one answer, or to a fresh service."""
    journal = Journal(**options)
    journaled = Journaled(Fixed(response) if response is not None else Service(), journal, keys)
    for request in requests:
        journaled.respond(request)
    return journal


def get(target=PATH, headers=(KEY,), body=b"", method="GET"):
    return Request(method, target, tuple(headers), body)


def post(body, headers=(KEY, ("content-type", "application/json")), target=PATH):
    return Request("POST", target, headers, body)


def only(journal):
    (one,) = journal.entries()
    return one


def everything(journal):
    """All that a journal gives away."""
    parts = [repr(journal), repr(journal.entries()), journal.to_jsonl()]
    return "\n".join([*parts, *(str(one) for one in journal.entries())])


def lines(journal):
    return [json.loads(line) for line in journal.to_jsonl().splitlines()]


def test_an_exchange_is_kept_byte_for_byte_in_the_order_in_which_it_was_said():
    body = b'{ "sdkOutput" :\r\n"\xff\x00"}\n'
    headers = (("B", " two "), KEY, ("a", "1"), ("b", "3"))
    service = Service()
    request = post(body, headers, f"{PATH}?x=%41&x")
    expected = Service().respond(request)
    journal = Journal(stopwatch=Ticks())
    assert Journaled(service, journal).respond(request) == expected
    one = only(journal)
    assert isinstance(one, Entry)
    assert (one.number, one.arrived, one.answered) == (1, 0.25, 0.5)
    assert (one.method, one.target, one.body) == ("POST", f"{PATH}?x=%41&x", body)
    assert one.headers == (("B", " two "), ("X-Api-Key", "[key]"), ("a", "1"), ("b", "3"))
    assert (one.operation, one.instrument, one.status) == ("POST", ID, expected.status)
    assert (one.response_headers, one.response_body, one.basis) == (expected.headers, expected.body, expected.basis)
    assert (one.fault, one.ending, one.key_in) == ("", "whole", ())


@pytest.mark.parametrize(
    ("method", "target", "operation", "instrument"),
    [
        ("GET", PATH, "GET", ID),
        ("POST", f"{PATH}?a=b", "POST", ID),
        ("GET", PATH.replace(ID, "a%2Fb%20c"), "GET", "a/b c"),
        ("PUT", PATH, None, ID),
        ("get", PATH, None, ID),
        ("GET", f"{PATH}/", None, None),
        ("GET", PATH.replace(ID, "a/b"), None, None),
        ("GET", PATH.replace(ID, ""), None, None),
        ("GET", "/", None, None),
        ("GET", "/bcl/v2/paymentInstruments/networkTokenActivationData", None, None),
    ],
)
@pytest.mark.rule("API-1", "API-2", "API-3")
def test_the_operation_and_the_instrument_are_read_from_the_path(method, target, operation, instrument):
    one = only(exchanged(get(target, method=method)))
    assert (one.operation, one.instrument) == (operation, instrument)


def test_a_fault_of_the_services_own_plan_is_journaled_once():
    plan = FaultPlan([Planned(fault("reset"), nth=1)])
    journal = Journal()
    journaled = Journaled(Service(plan=plan), journal)
    for _ in range(2):
        journaled.respond(get())
    assert [(one.number, one.fault, one.ending) for one in journal.entries()] == [
        (1, "reset", "reset"),
        (2, "", "whole"),
    ]


def test_a_responder_that_fails_is_journaled_once_and_still_fails():
    journal = Journal()
    with pytest.raises(RuntimeError, match="broken"):
        Journaled(Fixed(RuntimeError(f"broken {CARD}")), journal).respond(get())
    one = only(journal)
    assert (one.status, one.basis, one.response_body, one.ending) == (None, "no answer: RuntimeError", b"", "")
    assert CARD not in everything(journal)


def spelled(key):
    return {key, quote(key, safe=""), quote(key), key.lower(), b64encode(key.encode()).decode()}


EVERYWHERE = {
    "the header": get(headers=[("x-api-key", CANARY)]),
    "the header twice": get(headers=[("X-API-KEY", "another"), ("x-api-key", f" {CANARY} ")]),
    "a query": get(f"{PATH}?x-api-key={quote(CANARY, safe='')}", headers=()),
    "the published query": get(f"{PATH}?a=1&clientKey={CANARY}", headers=()),
    "the query as well": get(f"{PATH}?{CANARY}&a={CANARY}", headers=[("x-api-key", CANARY)]),
    "the path": get(f"/{quote(CANARY)}/{quote(CANARY, safe='')}", headers=[("x-api-key", CANARY)]),
    "the path, all encoded": get("/" + "".join(f"%{byte:02x}" for byte in CANARY.encode()), [("x-api-key", CANARY)]),
    "the method": get(method=CANARY, headers=[("x-api-key", CANARY)]),
    "a bearer": get(headers=[("Authorization", f"Bearer {CANARY}")]),
    "a cookie": get(headers=[("Cookie", f"key={CANARY}")]),
    "another header": get(headers=[("x-api-key", CANARY), (CANARY, "1"), ("user-agent", f"a {CANARY} b")]),
    "the body": post(f'{{"key": "{CANARY}"}}'.encode(), (("x-api-key", CANARY),)),
    "no JSON": post(f"key={CANARY}".encode(), (("x-api-key", CANARY),)),
    "a field's name": post(f'{{"{CANARY}": 1}}'.encode(), (("x-api-key", CANARY),)),
}
ECHO = answer(json.dumps({"detail": f"no {CANARY}"}).encode(), 400, (("x-echo", CANARY), ("server", CANARY)))


@pytest.mark.rule("REL-2")
@rows("where", EVERYWHERE)
@rows("response", [None, ECHO])
def test_a_key_is_in_no_entry_and_in_nothing_that_is_made_of_it(where, response):
    journal = exchanged(EVERYWHERE[where], response=response, keys=(CANARY,))
    one = only(journal)
    kept = repr([getattr(one, name) for name in Entry.__slots__])
    assert [form for form in spelled(CANARY) if form in kept + everything(journal)] == []


@pytest.mark.rule("REL-2")
def test_a_key_in_its_header_needs_no_knowing_and_elsewhere_it_is_marked():
    for where, places in {
        "the header": (),
        "the path": ("target",),
        "the body": ("body",),
        "the method": ("method",),
    }.items():
        one = only(exchanged(EVERYWHERE[where]))
        assert (one.key_in, CANARY in repr([getattr(one, name) for name in Entry.__slots__])) == (places, False)
    assert only(exchanged(EVERYWHERE["the header"], response=ECHO)).key_in == ("response",)


def test_a_short_key_is_hidden_in_its_header_and_the_rest_stays_as_it_was():
    one = only(exchanged(post(b'{"a": "abc"}', (("x-api-key", "a"), ("accept", "a")))))
    assert one.headers == (("x-api-key", "[key]"), ("accept", "a"))
    assert (one.body, one.key_in) == (b'{"a": "abc"}', ())


def sealed(content, serial=1):
    return SEAL.close(content, ID, serial, attempt=serial)


LEAKS = {
    "sdkOutput": post(json.dumps({"sdkOutput": CARD}).encode()),
    "another field": post(json.dumps({"output": CARD}).encode()),
    "a problem's field": post(json.dumps({"detail": CARD, "title": CARD, "sdkOutput": {"detail": CARD}}).encode()),
    "deeper": post(json.dumps({"a": [[{"sdkOutput": [CARD]}]]}).encode()),
    "very deep": post(b'{"a":' * 40 + json.dumps(CARD).encode() + b"}" * 40),
    "bare text": post(json.dumps(CARD).encode()),
    "no JSON": post(f"sdkOutput={CARD}".encode()),
    "cut JSON": post(json.dumps({"sdkOutput": CARD}).encode()[:-2]),
    "a query": get(f"{PATH}?sdkOutput={CARD}"),
    "a query's name": get(f"{PATH}?{CARD * 3}=1&{CARD}"),
    "the path": get(f"{BEFORE_ID}{CARD * 3}{AFTER_ID}"),
    "a header": get(headers=[KEY, ("x-debug", CARD)]),
    "a header's name": get(headers=[KEY, (CARD * 2, "1")]),
    "a marked one that is not ours": post(
        json.dumps({"sdkOutput": b64encode(b'{"simulated":"no","a":"' + CARD.encode() + b'"}').decode()}).encode()
    ),
    "a mark with more behind": post(json.dumps({"sdkOutput": SIMULATED_PREFIX + CARD}).encode()),
}


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("where", LEAKS)
def test_what_the_simulator_did_not_make_is_not_shown(where):
    journal = exchanged(LEAKS[where])
    told = everything(journal)
    assert CARD not in told
    assert b64encode(CARD.encode()).decode()[4:-4] not in told


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"sdkInput": CARD}),
        json.dumps({"sdkinput": CARD, "more": {"detail": CARD}}),
        json.dumps({"invalidFields": [{"name": "a", "value": CARD, "message": CARD}]}),
        json.dumps({"detail": CARD * 20}),
        CARD,
    ],
)
def test_nor_in_an_answer(body):
    assert CARD not in everything(exchanged(get(), response=answer(body.encode())))


def test_numbers_are_shown_only_where_a_status_belongs():
    body = b'{"pan": 4929000000006, "cvv": 123, "status": 400, "ok": true, "no": null, "x": 1e999}'
    ((one,), (other,)) = (lines(exchanged(post(body))), lines(exchanged(get(), response=answer(body))))
    hidden = {"pan": "[a number]", "cvv": "[a number]", "ok": True, "no": None, "x": "[a number]"}
    assert one["body"] == hidden | {"status": "[a number]"}
    assert other["responseBody"] == hidden | {"status": 400}


@pytest.mark.rule("REL-3")
def test_what_the_simulator_made_is_shown_whole():
    text = sealed(Content.OUTPUT)
    body = json.dumps({"sdkOutput": text}).encode()
    (one,) = lines(exchanged(post(body)))
    marked = {"simulated": True, "serial": 1, "paymentInstrumentId": ID, "length": len(text), "text": text}
    assert one["body"] == {"sdkOutput": {"kind": "output"} | marked}
    assert one["bodyLength"] == len(body)
    shown = one["responseBody"]["sdkInput"]
    assert (shown["kind"], SEAL.open(shown["text"]).content) == ("opc", "opc")


@pytest.mark.rule("REL-3")
def test_two_equal_secrets_can_be_told_from_two_others():
    journal = exchanged(*(post(json.dumps({"sdkOutput": text}).encode()) for text in (CARD, CARD, CARD[::-1])))
    first, second, third = (line["body"]["sdkOutput"] for line in lines(journal))
    assert first == second != third
    assert set(first) == {"length", "digest"}
    raw = [line["body"] for line in lines(exchanged(post(b"\xff1"), post(b"\xff1"), post(b"\xff2")))]
    assert raw[0] == raw[1] != raw[2]
    assert raw[0]["length"] == 2


def test_a_refusals_words_are_shown():
    (one,) = lines(exchanged(get(headers=())))
    assert one["responseBody"]["detail"] == "The header x-api-key is missing. Send it with every request."
    assert one["responseBody"]["status"] == 401


def test_a_line_holds_this():
    journal = exchanged(get(f"{PATH}?a=bc&de", headers=[KEY, ("accept", "*/*"), ("x-own", "abc")]), stopwatch=Ticks())
    (one,) = lines(journal)
    assert [one.pop(name) for name in ("responseBody", "responseLength")][1] > 0
    assert one == {
        "number": 1,
        "arrived": 0.25,
        "answered": 0.5,
        "method": "GET",
        "target": f"{PATH}?a=[2 characters]&[2 characters]",
        "operation": "GET",
        "instrument": ID,
        "headers": [["X-Api-Key", "[key]"], ["accept", "*/*"], ["x-own", "[3 characters]"]],
        "body": None,
        "bodyLength": 0,
        "status": 400,
        "responseHeaders": [["content-type", "application/json"]],
        "basis": "API-5; code: openapi; pairing: assumed",
        "fault": "",
        "ending": "whole",
        "keyIn": [],
    }


NAMES = st.sampled_from(["x-api-key", "content-type", "cookie", "accept", "authorization"]) | st.text()
HEADERS = st.lists(st.tuples(NAMES, st.text()), max_size=5).map(tuple)
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # half surrogate pairs too
TARGETS = st.sampled_from([PATH, f"{PATH}?", "*", f"{PATH}?a=b&&=c"]) | ANY_TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)
BODIES = st.binary() | JSON.map(lambda value: json.dumps(value).encode()) | st.just(b"[" * 5_000) | st.just(b"NaN")


REQUESTS = st.builds(Request, ANY_TEXT, TARGETS, HEADERS, BODIES)
RESPONSES = st.builds(answer, BODIES, st.integers(100, 599), HEADERS)


@given(REQUESTS, RESPONSES)
def test_whatever_is_exchanged_the_exports_are_json_and_bodies_are_kept(request, response):
    journal = exchanged(request, response=response)
    one = only(journal)
    assert len(lines(journal)) == 1
    assert journal.to_jsonl().isascii()
    assert "[key]" not in repr(one)
    if not one.key_in:
        assert (one.method, one.target, one.body) == (request.method, request.target, request.body)
        assert one.response_body == response.body


KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=8).filter(lambda key: key not in "[key]")


@pytest.mark.rule("REL-2")
@given(KEYS, st.binary(), TARGETS)
def test_whatever_the_key_is_it_is_not_kept(key, body, target):
    request = post(body + key.encode("latin-1"), (("x-api-key", key), ("b", f"b{key}")), f"{target}/{key}")
    one = only(exchanged(request, response=answer()))
    assert {"target", "headers", "body"} <= set(one.key_in)
    kept = [one.target, *(part for pair in one.headers for part in pair)]
    assert not any(key in text for text in kept)
    assert key.encode("latin-1") not in one.body


def test_many_requests_leave_no_more_than_the_limit():
    def kept():  # another test's server may still have entries of its own
        return sum(isinstance(one, Entry) and one.target == "/bounded" for one in gc.get_objects())

    journal = exchanged(*[get("/bounded")] * 100, limit=100)
    assert kept() == 100
    journaled = Journaled(Fixed(answer()), journal)
    for _ in range(1_000):
        journaled.respond(get("/bounded"))
    assert kept() == 100
    assert (len(journal), journal.count) == (100, 1_100)
    assert [one.number for one in journal.entries()] == [*range(1_001, 1_101)]
    assert repr(journal) == "Journal(100 of 1100 entries)"


def test_large_bodies_are_bounded_too_and_the_latest_is_always_kept():
    journal = exchanged(*[post(b"x" * 1_000)] * 100, byte_limit=20_000)
    assert sum(one.size for one in journal.entries()) <= 20_000
    assert len(journal) >= 5
    assert journal.count == 100
    assert len(exchanged(post(b"x" * 1_000), byte_limit=1)) == 1


def test_what_python_needs_for_a_header_counts_however_short_it_is():
    """180 MB of requests with short headers once made 4.4 GB."""
    journal = exchanged(*[Request("GET", "/", (("a", ""),) * 200)] * 10)
    headers = journal.entries()[0].headers
    needed = sys.getsizeof(headers) + sum(sys.getsizeof(("a", "b")) + 2 * sys.getsizeof("a") for _header in headers)
    assert journal.entries()[0].size >= needed


@pytest.mark.parametrize("limit", [0, -1])
def test_a_journal_without_room_is_refused(limit):
    with pytest.raises(ParameterError, match="1 entry or more"):
        Journal(limit)


def test_after_a_reset_it_counts_from_one_again_and_time_goes_on():
    journal = exchanged(get(), get(), stopwatch=Ticks())
    journal.reset()
    assert (len(journal), journal.count, journal.to_jsonl()) == (0, 0, "")
    Journaled(Service(), journal).respond(get())
    assert only(journal).number == 1
    assert only(journal).arrived > 1


def test_many_threads_leave_each_exchange_once():
    journal = Journal()
    journaled = Journaled(Fixed(answer()), journal)

    def ask(name):
        for number in range(200):
            journaled.respond(post(f"{name} {number}".encode()))

    threads = [Thread(target=ask, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert journal.count == len(journal) == 1_600
    assert [one.number for one in journal.entries()] == [*range(1, 1_601)]
    assert len({one.body for one in journal.entries()}) == 1_600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe")
def test_a_pipe_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="it is a pipe"):
        Journal(file=tmp_path / "pipe")


def test_a_journal_that_cannot_be_written_any_more_says_so_once_and_the_answer_stays(tmp_path, capsys):
    file = tmp_path / "folder" / "journal.jsonl"
    file.parent.mkdir()
    journal = Journal(file=file)
    journaled = Journaled(Service(), journal)
    assert journaled.respond(get()).status == 200
    file.unlink()
    file.mkdir()
    for _ in range(2):
        assert journaled.respond(get()).status == 200
    told = f"Cannot write the journal {file}: Is a directory. Exchange 2 and those after it are not in that file.\n"
    assert capsys.readouterr().err == told
    assert journal.count == len(journal) == 3
