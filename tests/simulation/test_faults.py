"""Each fault does what its sentence says, to the byte, and only that."""

import gzip
import json
from email.utils import parsedate_to_datetime
from statistics import median, quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.errors import ParameterError
from workbook.simulation.faults import EDITED, FAULTS, PLACEHOLDER, Chance, FaultKind, fault
from workbook.simulation.http import AT_ONCE, JSON_HEADERS, Ending, Response, Wire
from workbook.simulation.seal import Content, Damaged, Seal
from workbook.simulation.world import INSTRUMENT_IDS

SEAL = Seal(7)
TEXT = SEAL.close(Content.OPC, INSTRUMENT_IDS[0], 4, attempt=9)
ANSWER = Response(200, JSON_HEADERS, json.dumps({"sdkInput": TEXT}).encode(), "API-2; content: assumed")
REFUSAL = Response(422, JSON_HEADERS, b'{"status": 422}', "API-3; code: openapi")
STATUSES = [name for name, one in FAULTS.items() if one.kind in (FaultKind.STATUS, FaultKind.LIMIT)]
WIRES = {
    "stall before headers": Wire(before_headers=30.0, ending=Ending.CLOSED),
    "stall after headers": Wire(after_headers=30.0, ending=Ending.TRUNCATED),
    "dribble": Wire(every=0.1),
    "reset": Wire(ending=Ending.RESET),
    "close": Wire(ending=Ending.CLOSED),
    "truncated body": Wire(ending=Ending.TRUNCATED),
    "missing last chunk": Wire(ending=Ending.NO_LAST_CHUNK),
    "bad chunk": Wire(ending=Ending.BAD_CHUNK),
    "wrong content-length": Wire(ending=Ending.WRONG_LENGTH),
    "latency": Wire(before_headers=0.5),
    "uniform latency": Wire(before_headers=0.5),
    "log-normal latency": Wire(before_headers=0.2),
}


def played(name, answer=ANSWER, draw=0.5, **values):
    return fault(name).but(**values).played(answer, Chance(draw, SEAL))


def opened(name, **values):
    return SEAL.open(json.loads(played(name, **values).body)["sdkInput"])


def header(response, name):
    return dict(response.headers).get(name)


@rows("name", FAULTS)
def test_a_fault_says_what_it_does_and_an_answer_says_which_it_was(name):
    one = FAULTS[name]
    assert one.name == name
    assert one.sentence.endswith(".")
    assert one.source in ("assumed", "openapi")
    assert "0x" not in repr(one)
    answer = played(name)
    assert answer == played(name)
    if name == "200":
        assert answer is ANSWER
        return
    assert answer.fault == name
    assert f"fault: {name}; " in answer.basis
    assert "assumed" in answer.basis
    assert (ANSWER.basis in answer.basis) is one.harmless


@rows("name", [name for name in FAULTS if name != "200"])
def test_no_two_faults_are_the_same(name):
    others = [played(other, draw=0.3) for other in FAULTS if other != name]
    mine = played(name, draw=0.3)
    assert not any(
        (mine.status, mine.headers, mine.body, mine.wire) == (o.status, o.headers, o.body, o.wire) for o in others
    )


@rows("name", WIRES)
def test_a_fault_of_the_way_changes_nothing_but_the_way(name):
    answer = played(name)
    assert (answer.status, answer.headers, answer.body) == (200, ANSWER.headers, ANSWER.body)
    assert answer.wire.before_headers == pytest.approx(WIRES[name].before_headers)
    assert (answer.wire.after_headers, answer.wire.every, answer.wire.ending) == (
        WIRES[name].after_headers,
        WIRES[name].every,
        WIRES[name].ending,
    )


def test_only_these_faults_are_on_the_way():
    assert {name for name in FAULTS if played(name).wire != AT_ONCE} == set(WIRES)


DRAWS = [(one + 0.5) / 1_000 for one in range(1_000)]


def test_latencies_follow_their_distributions():
    flat = [played("uniform latency", draw=draw, least=0.2, most=0.6).wire.before_headers for draw in DRAWS]
    assert (round(min(flat), 2), round(median(flat), 2), round(max(flat), 2)) == (0.2, 0.4, 0.6)
    skewed = [played("log-normal latency", draw=draw, median=0.3, p99=1.2).wire.before_headers for draw in DRAWS]
    assert median(skewed) == pytest.approx(0.3, rel=0.01)
    assert quantiles(skewed, n=100)[-1] == pytest.approx(1.2, rel=0.02)


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_no_latency_is_endless(draw):
    for name, values in (("log-normal latency", {"median": 0.001, "p99": 3600.0}), ("uniform latency", {})):
        assert 0 <= played(name, draw=draw, **values).wire.before_headers <= 3600


@rows("name", STATUSES)
def test_a_fault_of_the_status_answers_with_it_whatever_was_right(name):
    answer = played(name)
    assert str(answer.status) == ("302" if name == "redirect" else name.split()[0])
    assert played(name, REFUSAL).body == answer.body
    assert header(answer, "content-type") in {"application/json", "text/html", None}
    if answer.body.startswith(b'{"type": "about:blank"'):
        document = json.loads(answer.body)
        assert list(document) == ["type", "title", "status", "detail", "errorCode"]
        assert document["status"] == (500 if name.startswith("503") else answer.status)


def test_what_is_published_is_tagged_so():
    published = {name for name, one in FAULTS.items() if one.source == "openapi"}
    assert published == {"200", "400", "401", "403", "422", "500", "503 that says 500"}
    assert json.loads(played("503 that says 500").body)["errorCode"] == "99_500"


def test_retry_after_comes_in_three_forms_or_not_at_all():
    assert header(played("429 without Retry-After"), "retry-after") is None
    assert header(played("429 in seconds", seconds=7), "retry-after") == "7"
    at_a_date = played("429 at a date", seconds=90)
    now, then = (parsedate_to_datetime(header(at_a_date, name)) for name in ("date", "retry-after"))
    assert (then - now).total_seconds() == 90
    garbage = header(played("429 with garbage"), "retry-after")
    assert not garbage.isdigit()
    with pytest.raises(ValueError, match="Invalid date"):
        parsedate_to_datetime(garbage)


def test_a_redirect_leads_to_another_origin():
    answer = played("redirect", status=308, location="https://other.invalid/x")
    assert (answer.status, header(answer, "location"), answer.body) == (308, "https://other.invalid/x", b"")
    assert header(played("redirect"), "location") == "https://elsewhere.invalid/"


def test_gzip_that_is_none_and_gzip_that_is_too_much():
    assert header(played("bad gzip"), "content-encoding") == "gzip"
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(played("bad gzip").body)
    bomb = played("gzip bomb", bytes=3_000_000)
    assert header(bomb, "content-encoding") == "gzip"
    assert len(bomb.body) < 10_000
    assert len(gzip.decompress(bomb.body)) == 3_000_000
    assert list(json.loads(gzip.decompress(bomb.body))) == ["sdkInput"]


@pytest.mark.parametrize("size", [100, 1_234_567])
def test_a_huge_body_has_just_this_size(size):
    body = played("huge body", bytes=size).body
    assert len(body) == size
    assert list(json.loads(body)) == ["sdkInput"]


def test_json_that_is_wrong_is_wrong_as_it_is_called():
    assert ANSWER.body.startswith(played("JSON truncated").body)
    assert json.loads(played("JSON null").body) is None
    assert json.loads(played("JSON of the wrong type").body) == [{"sdkInput": TEXT}]
    with pytest.raises(RecursionError):
        json.loads(played("JSON nested deep").body)
    twice = json.loads(played("JSON with duplicate keys").body, object_pairs_hook=list)
    assert twice == [("sdkInput", TEXT), ("sdkInput", TEXT)]
    for name in ("JSON truncated", "not JSON"):
        with pytest.raises(ValueError, match=r"Expecting value|Unterminated"):
            json.loads(played(name).body)


def test_an_sdk_input_is_missing_or_none_at_all():
    assert json.loads(played("sdkInput missing").body) == {}
    assert json.loads(played("sdkInput null").body) == {"sdkInput": None}
    assert json.loads(played("sdkInput empty").body) == {"sdkInput": ""}


@pytest.mark.rule("API-11", "API-12")
def test_an_sdk_input_is_anothers_an_earlier_one_or_changed():
    foreign, stale = opened("sdkInput foreign"), opened("sdkInput stale")
    assert (foreign.payment_instrument_id, foreign.serial, foreign.claims["attempt"]) == (INSTRUMENT_IDS[1], 4, 9)
    assert (stale.payment_instrument_id, stale.serial, stale.claims["attempt"]) == (INSTRUMENT_IDS[0], 3, 8)
    assert isinstance(opened("sdkInput damaged"), Damaged)
    assert isinstance(opened("sdkInput damaged", damage="cut off"), Damaged)
    activation = SEAL.close(Content.ACTIVATION, INSTRUMENT_IDS[1], 1, brand="example")
    answer = Response(200, JSON_HEADERS, json.dumps({"sdkInput": activation}).encode(), "")
    other = SEAL.open(json.loads(played("sdkInput foreign", answer).body)["sdkInput"])
    assert (other.payment_instrument_id, other.claims["brand"]) == (INSTRUMENT_IDS[0], "example")


@pytest.mark.parametrize("name", [name for name in FAULTS if name.startswith("sdkInput")])
def test_a_refusal_has_no_sdk_input_that_could_be_spoilt(name):
    assert played(name, REFUSAL) is REFUSAL


def test_a_body_is_spoilt_under_any_status():
    spoilt = played("JSON truncated", REFUSAL)
    assert (spoilt.status, spoilt.body) == (422, b'{"statu')


REFUSED = {
    "unknown": ("latency", {"secnds": 1}, r"no setting 'secnds'. Did you mean 'seconds'\?"),
    "none to set": ("reset", {"seconds": 1}, r"'reset' has no setting 'seconds'. It has none\."),
    "text": ("latency", {"seconds": "1"}, r"is '1'. Allowed: a number, 0 to 3600\."),
    "a truth": ("latency", {"seconds": True}, r"is True"),
    "below": ("latency", {"seconds": -0.1}, r"is -0\.1"),
    "not a number": ("latency", {"seconds": float("nan")}, r"is nan"),
    "endless": ("latency", {"seconds": float("inf")}, r"is inf"),
    "half a byte": ("huge body", {"bytes": 100.5}, r"Allowed: a whole number, 100 to 268435456\."),
    "a status": ("redirect", {"status": 200}, r"Allowed: one of 301, 302, 303, 307, 308\."),
    "a truth for a status": ("redirect", {"status": True}, r"is True"),
    "two lines": ("redirect", {"location": "a\r\nx-y: z"}, r"Allowed: printable ASCII text"),
    "no text": ("redirect", {"location": ""}, r"Allowed: printable ASCII text"),
    "a damage": ("sdkInput damaged", {"damage": "none"}, r"Allowed: one of 'decoded', "),
    "falling": ("uniform latency", {"least": 2, "most": 1}, r"contradict each other. Allowed: least <= most\."),
    "falling by default": ("log-normal latency", {"median": 5}, r"Allowed: median <= p99\."),
}


@rows("name", REFUSED)
def test_a_setting_that_cannot_be_is_explained(name):
    which, values, message = REFUSED[name]
    with pytest.raises(ParameterError, match=message):
        fault(which).but(**values)


def test_setting_one_value_keeps_the_others():
    once = fault("uniform latency").but(most=5.0)
    assert once.but(least=2).values == {"most": 5.0, "least": 2}
    assert fault("uniform latency").values == {}


def test_an_answer_written_by_hand_may_hold_the_right_sdk_input():
    edited = played(EDITED.name, status=201, body=f'{{"sdkInput": "{PLACEHOLDER}", "more": 1}}')
    assert (edited.status, json.loads(edited.body)) == (201, {"sdkInput": TEXT, "more": 1})
    assert header(edited, "content-type") == "application/json"
    plain = played(EDITED.name, status=503, body=f"Later {PLACEHOLDER}")
    assert (plain.status, plain.body.decode()) == (503, f"Later {TEXT}")
    assert header(plain, "content-type") == "text/plain"
    assert played(EDITED.name, REFUSAL, body=PLACEHOLDER).body.decode() == PLACEHOLDER


def test_each_setting_says_which_field_of_a_form_it_needs():
    settings = [setting for one in (*FAULTS.values(), EDITED) for setting in one.settings.values()]
    assert {setting.kind for setting in settings} == {"number", "choice", "text", "body"}
    for setting in settings:
        assert setting.fits(setting.default)
        assert setting.kind == "text" or not setting.fits(None)
        assert set(setting.limits) == {"number": {"least", "most"}, "choice": {"known"}}.get(setting.kind, set())
        if setting.kind == "number":
            assert all(setting.fits(setting.limits[end]) for end in ("least", "most"))
            assert not setting.fits(setting.limits["least"] - 1)
            assert not setting.fits(setting.limits["most"] + 1)


@pytest.mark.parametrize(
    ("wire", "chunks"),
    [(Wire(), False), (Wire(chunked=True), True), (Wire(ending=Ending.NO_LAST_CHUNK), True),
     (Wire(ending=Ending.BAD_CHUNK), True), (Wire(ending=Ending.TRUNCATED), False)],
)  # fmt: skip
def test_an_ending_that_needs_chunks_has_them(wire, chunks):
    assert wire.in_chunks is chunks
    assert (wire.framing(b"body")[0].lower() == "transfer-encoding") is chunks
