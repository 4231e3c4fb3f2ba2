import json
import os
from base64 import b64encode
from dataclasses import fields, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ran import (
    ABOUT,
    CANARY,
    CARD,
    INPUT,
    KEY,
    LOST,
    MISS,
    NAME,
    OUTPUT,
    SESSION,
    arrived,
    call,
    left,
    recorded,
    result,
    seen,
    told,
)
from rows import rows

from workbook.base.rules import Owner
from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.schedule import combine
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import Result, reports
from workbook.tools.harness.report import PHONE, About, CaseRecord, RunRecord, from_json, read_report, to_json

TOP = ["format", "about", "counts", "details", "cases"]
EXCHANGE = ["side", "at", "ended", "method", "path", "who", "request", "status", "answer", "ending", "elsewhere",
            "platform"]  # fmt: skip


def only(*both, **more):
    """The exchanges of the one case that saw this."""
    (case,) = recorded(result(seen=seen(*both), **more)).cases
    return case.exchanges


def test_the_json_has_everything_in_the_order_of_the_format():
    document = json.loads(to_json(recorded()))
    case = document["cases"][0]
    assert list(document) == TOP
    assert document["format"] == 1
    assert list(case) == [one.name for one in fields(CaseRecord)]
    assert list(case["exchanges"][0]) == EXCHANGE
    assert document["counts"] == dict.fromkeys([verdict.value for verdict in Verdict], 1)
    assert list(document["about"]) == [one.name for one in fields(ABOUT)]


def test_what_is_read_back_is_what_was_written():
    record = recorded()
    assert from_json(to_json(record)) == record
    assert to_json(from_json(to_json(record))) == to_json(record)


def test_a_case_says_how_to_run_it_again_and_who_has_to_act():
    (case,) = recorded(result(), config="my back end.toml", seed=11).cases
    assert case.reproduce == f"workbook conform 'my back end.toml' --only {NAME} --seed 11"
    assert case.owner is Owner.YOU
    assert case.misses[0].rule == case.rule
    (ours,) = recorded(result(verdict=Verdict.HARNESS_ERROR, misses=(), seen=None), config="").cases
    assert ours.owner is Owner.WORKBOOK
    assert ours.reproduce == ""  # no file, so no command line would do
    assert ours.exchanges == ()


def test_both_legs_stand_in_the_order_of_time_and_begin_at_zero():
    got = only(call(2, began=100.5, ended=100.6), arrived(100.55), call(1), arrived(100.1))
    assert [(one.side, one.at) for one in got] == [(PHONE, 0.0), ("API", 0.1), (PHONE, 0.5), ("API", 0.55)]
    assert [one.ended for one in got] == [0.25, None, 0.6, None]


@pytest.mark.rule("REL-2")
def test_the_phones_call_is_told_as_it_left_and_its_session_is_a_secret():
    phone, api = only(call(request=left(headers=(("X-Platform", "a"), ("content-length", "9")))), arrived())
    assert (phone.method, phone.path, phone.who) == ("POST", f"/cards/{CARD}/go", "ann")
    assert phone.request.headers == (
        ("authorization", None), ("Accept", "application/json"), ("X-Platform", None), ("content-length", "9")
    )  # fmt: skip
    assert (next(iter(phone.request.body["sdkOutput"])), phone.request.length) == ("simulated", len(left().body))
    assert api.path == f"/bcl/v2/paymentInstruments/{CARD}/networkTokenActivationData"
    (unknown,) = only(call(request=None))
    assert (unknown.method, unknown.path, unknown.request.headers) == ("POST", "", ())


def test_a_case_with_two_apps_has_the_exchanges_of_one_after_those_of_the_other():
    first, second = (result(platform=name, seen=seen(call(began=at), arrived(at))) for at, name in ((5, "A"), (1, "B")))
    both = combine([first, replace(second, misses=(), verdict=Verdict.PASS)])
    (case,) = recorded(both).cases
    assert (case.platform, case.verdict) == ("A and B", Verdict.FAIL)
    assert [(one.platform, one.side, one.at) for one in case.exchanges] == [
        ("A", PHONE, 0.0), ("A", "API", 0.0), ("B", PHONE, 0.0), ("B", "API", 0.0)
    ]  # fmt: skip
    assert case.misses[0].observed == f"with the app of A: {MISS.observed}"
    page = reports(recorded(both))["conform.html"]
    assert [page.count(f"<caption>The app of {name}</caption>") for name in "AB"] == [1, 1]


@pytest.mark.rule("REL-2", "REL-3")
def test_what_other_cases_sent_is_taken_out_too():
    def first_of(miss, *values):
        others = [result("relay.get.path", seen=seen(replace(arrived(), given=value))) for value in values]
        return recorded(result(misses=(miss,)), *others).cases[0]

    other = "cards of another case, as the API gave them"
    miss = replace(MISS, observed=f"it says {other}")
    assert other in first_of(miss).misses[0].observed
    assert "opaque data was here" in first_of(miss, other).misses[0].observed
    canary = f"canary-{'0a1' * 6}"
    told = replace(MISS, observed=b64encode(f"..{canary}".encode()).decode())
    assert "a canary was here" in first_of(told, f"{canary}, and more than that").misses[0].observed


@pytest.mark.rule("REL-3")
def test_a_value_is_told_by_a_digest_that_is_the_same_on_both_sides():
    phone, api = only(
        call(1, "one value+/=", body=told(sdkInput=INPUT, more="another")),
        arrived(body=told(sdkOutput="one value+/=")),
    )
    assert phone.request.body == api.request.body
    assert list(phone.request.body["sdkOutput"]) == ["length", "digest"]
    assert phone.answer.body["sdkInput"] == api.answer.body["sdkInput"]
    assert phone.answer.body["sdkInput"] | {"digest": ""} == {
        "simulated": True, "kind": "opc", "serial": 2, "paymentInstrumentId": CARD, "length": len(INPUT), "digest": "",
    }  # fmt: skip
    assert phone.answer.body["more"]["digest"] != phone.request.body["sdkOutput"]["digest"]


@pytest.mark.rule("REL-2", "REL-3")
def test_of_a_header_that_is_not_listed_the_name_alone_is_told():
    phone, api = only(call(), arrived(headers=(("x-api-key", "another"), ("User-Agent", f"relay {KEY}"))))
    assert phone.answer.headers == (("Content-Type", "application/json"), ("Set-Cookie", None))
    assert dict(api.request.headers[:3]) == {"X-Api-Key": "[key]", "content-type": "application/json", "x-secret": None}
    assert api.request.headers[3] == ("x-api-key", "[another value, 7 characters]")
    assert api.request.headers[4] == ("User-Agent", "[the API key was here, 29 characters]")


def test_the_id_of_the_card_is_shown_in_a_query_as_in_a_path():
    query = f"/go?card={CARD}&other={CARD}x&session={SESSION}&{CARD}"
    (phone,) = only(call(request=left(target=query)))
    assert phone.path == f"/go?card={CARD}&other=[26 characters]&session=[21 characters]&[25 characters]"


def test_what_says_whether_an_answer_may_be_kept_is_shown():
    (phone,) = only(call(headers=(("Cache-Control", "public, max-age=60"),)))
    assert phone.answer.headers == (("Cache-Control", "public, max-age=60"),)


def test_a_call_without_an_answer_says_why():
    (lost,) = only(LOST)
    assert (lost.status, lost.answer, lost.ending) == (None, None, "no answer came in time")


def test_a_back_end_that_repeats_itself_without_end_does_not_fill_the_report():
    (case,) = recorded(result(seen=seen(call(), *[arrived(101 + at) for at in range(204)]))).cases
    assert (len(case.exchanges), case.left_out) == (200, 5)


def test_what_is_worth_another_run_is_named():
    names = Result(recorded(unfinished=("relay.get.late",))).failed
    verdicts = {case.name: case.verdict for case in recorded().cases}
    assert {verdicts.get(name) for name in names} == {
        None,
        *map(Verdict, ("warn", "fail", "known", "harness error")),
    }
    assert names[-1] == "relay.get.late"


def test_a_partial_run_is_written_whole_and_says_so():
    record = recorded(result(), interrupted=True, unfinished=("relay.get.late", "relay.get.later"))
    texts = reports(record)
    assert json.loads(texts["conform.json"])["about"]["interrupted"] is True
    assert "interrupted: 2 cases did not finish" in texts["conform.html"]
    assert "relay.get.later" in texts["conform.html"]
    assert "interrupted: 2 cases did not finish" in texts["conform.md"]
    assert '<property name="complete" value="false"/>' in texts["conform.xml"]


def test_a_run_that_ended_before_its_first_case_is_written_too(tmp_path):
    texts = reports(recorded(interrupted=True)) | reports(replace(recorded(), cases=()))
    assert from_json(texts["conform.json"]).cases == ()
    assert "No case finished." in texts["conform.md"]


def document(**change):
    return json.loads(to_json(recorded(result()))) | change


def changed(*place, value):
    """A report's JSON with another value at this place."""
    told = inner = document()
    *above, last = place
    for step in above:
        inner = inner[step]
    inner[last] = value
    return json.dumps(told)


@rows(
    "content",
    [
        "",
        "{",
        "[" * 100_000,
        '{"format": NaN}',
        "[]",
        "{}",
        '{"tests": [], "summary": {}}',
        json.dumps(document())[:-30],
        json.dumps(document(format=2)),
        json.dumps(document(cases={})),
        changed("about", "program", value="workbook ../x"),
        changed("cases", 0, "verdict", value="passed"),
        changed("cases", 0, "name", value=7),
        changed("cases", 0, "left_out", value=1.5),
        changed("cases", 0, "seconds", value=True),
        changed("cases", 0, "misses", 0, "todo", value=None),
        changed("cases", 0, "exchanges", 0, "answer", "headers", 0, value=["a"]),
        changed("cases", 0, "why", value="half a pair: \ud800"),
    ],
)
def test_what_is_no_report_is_refused(content):
    again = "Name the conform.json, run.json, sweep.json or drift.json that a run left, or its folder."
    with pytest.raises(ConfigurationError) as error:
        from_json(content, "'old.json'")
    assert str(error.value).startswith("'old.json' is not a report of this version of the workbook")
    assert str(error.value).endswith(again)


def places(value, place=()):
    """Every place in a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*place, name)
        yield from places(one, (*place, name))


PLACES = list(places(document()))
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=4)


@example(("about", "exit_code"), -1)
@example(("about", "program"), "")
@given(st.sampled_from(PLACES), JSON | st.just({}) | st.dictionaries(st.text(), st.text(), max_size=2))
def test_whatever_stands_in_a_file_it_is_read_and_told_or_refused(place, value):
    try:
        record = from_json(changed(*place, value=value))
    except ConfigurationError:
        return
    for text in reports(record).values():
        text.encode()


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: None, "Cannot read .*No such file"),
    (lambda path: path.mkdir(), "has no report"),
    (os.mkfifo, "Cannot read .*not a regular file"),
    (lambda path: path.write_bytes(b"\xff\xfe"), "is not a report of this version"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_explained(make, message, tmp_path):
    make(tmp_path / "conform.json")
    with pytest.raises(ConfigurationError, match=message):
        read_report(tmp_path / "conform.json")


@pytest.mark.slow
def test_a_file_of_a_gigabyte_is_refused_before_it_is_parsed(tmp_path):
    huge = tmp_path / "run.json"
    with huge.open("wb") as file:
        file.truncate(1 << 30)  # a hole: it takes no room on the disk
    with pytest.raises(ConfigurationError, match=r"is larger than 268,435,456 bytes"):
        read_report(huge)


def test_a_folder_stands_for_its_only_report(tmp_path):
    (tmp_path / "conform.json").write_text(to_json(recorded()))
    assert read_report(tmp_path) == recorded()
    (tmp_path / "run.json").touch()
    with pytest.raises(ConfigurationError, match=r"has several reports: conform.json, run.json\. Name"):
        read_report(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"has no report\. Name one file: conform.json"):
        read_report(tmp_path / "empty")


def test_another_command_writes_the_same_form_with_details_of_its_own():
    about = About(program="workbook run", facts={"parameter seed": "7"})
    cases = (CaseRecord("01: shown", Verdict.PASS, rule="A-CAN-1"), CaseRecord("01", Verdict.FAIL, why="half \ud800"))
    read = from_json(to_json(RunRecord(about, cases, {"notebooks": ["01"]})))
    assert (read.about, read.cases[0], read.cases[1].why) == (about, cases[0], "half ?")
    assert read.details == {"notebooks": ["01"]}


@pytest.mark.rule("REL-2")
def test_nothing_secret_has_a_repr():
    record = recorded()
    for value in (KEY, SESSION, CANARY, OUTPUT, INPUT):
        assert value not in repr(record)
        assert value not in repr(record.secrets)
