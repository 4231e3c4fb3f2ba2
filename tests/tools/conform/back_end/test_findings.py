"""What a run shows beyond its single cases, and that every form of the report says it first."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from ran import CARD, INPUT, MISS, arrived, call, recorded, result, seen, told

from workbook.tools.conform.back_end.case_runner import OWN_429
from workbook.tools.conform.back_end.findings import (
    GIVE_BACK,
    PlainFailure,
    common_causes,
    place_of,
    plain_attempt,
    why_not,
)
from workbook.tools.conform.back_end.judging import AFRESH, SIDE_BY_SIDE
from workbook.tools.conform.back_end.model import BackEndOperation, Broke, Cardholder, Surface, Target, Tempo
from workbook.tools.conform.back_end.schedule import NO_PLAIN_CALL, ONE_LANE
from workbook.tools.harness.model import Miss, Root, RunFinding, Verdict
from workbook.tools.harness.summary import todos

URL = "http://127.0.0.1:9"
LOST = {"status": 404, "headers": (), "body": b"", "value": None}
PATH = f"/bcl/v2/paymentInstruments/{CARD}/networkTokenActivationData"
FORM = Miss("a JSON object", "none", 'Send JSON: {"sdkOutput": ...}.')
PLAIN = Miss("a success", "status 502", "Make the plain case work first.", root=Root.FOLLOWS)
FINDING = RunFinding(Root.NO_ANSWER, "It went away.", "Bring it back.", ("relay.post.path",))


def why(*both):
    one = seen(*both)
    return " ".join(why_not(one.calls[0], one, URL))


def test_a_request_of_another_call_is_none_of_this_one():
    text = why(call(began=1.0, ended=2.0, **LOST), call(2, began=3.0, ended=4.0), arrived(3.5))
    assert "No request reached the API." in text
    assert "Is the path right" in text


def test_a_back_end_that_fails_before_it_calls_the_api_is_told_where_to_look():
    failed, unknown, fine = (call(began=1.0, ended=2.0, **LOST | {"status": status}) for status in (502, 401, 200))
    assert re.search("failed before it called the API: look at its log at [0-9:]{8} UTC. Does it decode", why(failed))
    assert "look at its log" not in why(failed, arrived(1.5))
    assert "look at its log" not in why(unknown) + why(fine)  # its session is looked at first


def test_an_answer_in_another_encoding_is_told_as_that():
    for encoding, name in (("utf-8-sig", "UTF-8 with a byte order mark"), ("utf-16-le", "UTF-16-LE")):
        one = call(began=1.0, ended=2.0, status=200, value=None, body=told(sdkInput=INPUT).decode().encode(encoding))
        assert f"The answer is in {name}, and clients read JSON as UTF-8" in why(one, arrived(1.5))


def test_a_place_that_the_configuration_names_wrongly_is_looked_at_before_the_back_end():
    one = call(began=1.0, ended=2.0, **LOST | {"status": 400})
    assert "Look at sdk_output of [post]" in why(one)
    empty = replace(at_the_api(422), request=arrived(1.5, body=b"{}").request)
    assert "It holds no sdkOutput. Look at sdk_output of [post]" in why(one, empty)


def test_an_answer_that_comes_later_is_told_as_that():
    one = call(began=1.0, ended=2.0, status=202, value=None, body=b"{}")
    assert "Polling is not supported" in why(one)


def test_json_inside_a_json_string_is_told_as_that():
    twice = json.dumps(json.dumps({"sdkInput": INPUT})).encode()
    for body, is_told in ((twice, True), (told(x=INPUT), False), (b'"text"', False)):
        text = why(call(began=1.0, ended=2.0, status=200, value=None, body=body), arrived(1.5))
        assert ("The answer is JSON inside a JSON string" in text) is is_told


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        (PATH.replace("/bcl", "//bcl"), PATH.replace("/bcl", "//bcl")),
        (f"{PATH}?nocache=12345678", f"{PATH}?nocache=[8 characters]"),
        (PATH.lower(), PATH.lower()),
    ],
)
@pytest.mark.rule("API-1", "API-5")
def test_the_path_that_arrived_is_shown_beside_the_one_expected(target, shown):
    text = why(call(began=1.0, ended=2.0, **LOST), arrived(1.5, target=target))
    assert f"The document has POST {PATH} (API-2), and POST {shown} arrived." in text
    assert "The id is another one" not in text


@pytest.mark.parametrize("target", [PATH.removeprefix("/bcl/v2"), f"/bcl/v2{PATH}"])
@pytest.mark.rule("API-1")
def test_an_address_that_was_taken_with_or_without_the_prefix_is_told(target):
    text = why(call(began=1.0, ended=2.0, **LOST), arrived(1.5, target=target))
    assert "The address that it is given ends before /bcl/v2" in text


@pytest.mark.rule("API-3")
def test_another_id_in_the_right_path_is_told_as_that():
    text = why(call(began=1.0, ended=2.0, **LOST), arrived(1.5, target=PATH.replace(CARD, "another")))
    assert "arrived. The id was changed: pass it on unchanged." in text


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (told(activation={"sdkInput": INPUT}), "/activation/sdkInput"),
        (told(**{"a/b": [0, {"~": INPUT}]}), "/a~1b/1/~0"),
        (INPUT.encode(), "raw"),
    ],
)
def test_where_the_value_stands_is_said(body, place):
    answer = {"status": 200, "body": body, "value": None}
    assert f'sdk_input = "{place}"?' in why(call(began=1.0, ended=2.0, **answer), arrived(1.5))
    assert place_of({INPUT}, body) == place


@pytest.mark.parametrize("body", [b"", b"{", told(sdkInput="another"), b"[" * 100_000])
def test_a_value_that_is_nowhere_has_no_place(body):
    assert place_of({INPUT}, body) is None
    assert "Is sdk_input right?" in why(call(began=1.0, ended=2.0, status=200, body=body, value=None), arrived(1.5))


def at_the_api(status):
    one = arrived(1.5)
    return replace(one, response=replace(one.response, status=status, basis="openapi"), given=None)


def test_why_a_plain_call_fails_word_for_word(golden):
    answers = [{"status": status, "body": b"", "value": None} for status in (200, 302, 401, 403, 404, 405, 502)]
    answers += [{"status": None, "body": b"", "value": None, "broke": broke, "why": "a reason"} for broke in Broke]
    answers += [{"status": 200, "headers": (("Content-Encoding", "br"), ("Content-Type", "text/x")), "value": None}]
    lines = {}
    for answer in answers:
        one = call(began=1.0, ended=2.0, **answer)
        for requests in (
            [],
            *([at_the_api(status)] for status in (200, 401, 422)[: 3 if "broke" not in answer else 1]),
        ):
            what = " ".join([f"{one.status or one.broke.name}", *(str(each.response.status) for each in requests)])
            text = " ".join(why_not(one, seen(one, *requests), URL))
            lines.setdefault(re.sub("[0-9]{2}:[0-9]{2}:[0-9]{2}", "HH:MM:SS", text), what)
    golden("plain_call", "\n".join(f"{what}: {text}" for text, what in lines.items()))


def failed(name, at, misses, status=502):
    value = INPUT if status == 200 else None
    one = call(began=at, ended=at + 0.01, status=status, value=value)
    return result(name, Verdict.FAIL if misses else Verdict.PASS, misses, seen=seen(one, arrived(at)))


def test_a_back_end_that_went_away_is_one_finding_with_what_could_not_be_tested():
    untested = result("relay.get.path", Verdict.NOT_TESTABLE, why="It went away.")
    (finding,) = common_causes([untested, result()], "It went away.", "Its command ended.")
    assert finding == RunFinding(Root.NO_ANSWER, "It went away. Its command ended.", GIVE_BACK, ("relay.get.path",))
    assert finding.fails
    for gone, again in (
        ("It went away since about relay.post.sdk-input-byte-exact.", "fidelity"),
        ("After 10 failing API answers, it went away since about relay.get.path.", "faults"),
    ):
        assert next(iter(common_causes([untested, result()], gone))).again == again


def test_a_limit_of_the_back_end_itself_is_no_failure():
    (finding,) = common_causes([result("relay.get.path", Verdict.NOT_TESTABLE, why=OWN_429)])
    assert finding.says == "Your back end answered 429 itself in one case, and asked the API nothing."
    assert "set a pace, the" in finding.todo
    (paced,) = common_causes([result("relay.get.path", Verdict.NOT_TESTABLE, why=OWN_429)], pace=0.5)
    assert "set a pace of more than 0.5, the" in paced.todo
    assert not finding.fails
    assert list(common_causes([result()])) == []


def test_what_to_do_is_ordered_by_where_it_comes_from():
    mixed = replace(MISS, todo="Keep them apart.", root=Root.WRONG_CARD)
    record = recorded(
        failed("relay.post.one-field", 1.0, (PLAIN, FORM)),
        failed("relay.post.fault-500", 2.0, (mixed,)),
        findings=(FINDING,),
    )
    assert [todo.text for todo in todos(record)] == [
        "It went away. Bring it back.", "Keep them apart.", FORM.todo, PLAIN.todo,
    ]  # fmt: skip


def test_a_grave_miss_comes_before_a_harmless_one_of_the_same_case():
    harmless = replace(MISS, todo="Say no-store.", rule="REL-13")
    grave = replace(MISS, todo="Hide the key.", rule="REL-2")
    record = recorded(result("relay.answer.as-lesson-01", misses=(harmless, grave)))
    assert [(todo.text, todo.verdict) for todo in todos(record)] == [
        ("Hide the key.", Verdict.FAIL), ("Say no-store.", Verdict.WARN),
    ]  # fmt: skip


def test_a_finding_counts_what_failed_apart_from_what_was_not_judged_and_shows_an_exchange():
    untested = [
        result(name, Verdict.NOT_LOOKED_AT, (), why="x", seen=None) for name in ("relay.get.path", "relay.post.path")
    ]
    shown = failed("relay.post.one-field", 1.0, (FORM,))
    names = tuple(one.case.name for one in (shown, *untested))
    finding = RunFinding(Root.NO_ANSWER, "It went away.", "Bring it back.", names, "faults")
    (todo, *_) = todos(recorded(shown, *untested, findings=(finding,)))
    assert todo.count == "1 case, 2 cases not judged because of it"
    assert todo.shown.name == "relay.post.one-field"


class Runs:
    """Plays the attempts of a runner: for each platform's app, what each of its attempts comes to."""

    def __init__(self, attempts, surfaces):
        cardholders = (Cardholder("ann", (CARD, "PI-another"), ()),)
        self.target, self.attempts, self.plain_works = Target(URL, surfaces, cardholders), attempts, None
        self.asked = []

    async def run(self, case, cards, app):
        assert case.script.alone  # what an earlier call left behind is no part of it
        self.asked.append((case.name, [ask.operation for ask in case.script.calls], cards, app))
        return self.attempts[app].pop(0)


WELL, AWAY = (
    seen(call(), arrived()),
    seen(call(began=1.0, ended=2.0, status=None, body=b"", value=None, broke=Broke.LOST)),
)
OWN = (
    Surface(BackEndOperation("GET", "/a"), BackEndOperation("POST", "/a")),
    Surface(BackEndOperation("GET", "/b"), BackEndOperation("POST", "/b")),
)


@pytest.mark.parametrize(
    ("attempts", "failing", "alive", "runs"),
    [
        ({"platform A": [WELL], "platform B": [WELL]}, [], True, 2),
        ({"platform A": [AWAY, WELL], "platform B": [WELL]}, [], True, 3),
        ({"platform A": [AWAY, AWAY], "platform B": [WELL]}, [("platform A",)], True, 3),
        ({"platform A": [WELL], "platform B": [AWAY, AWAY]}, [("platform B",)], True, 3),
        ({"platform A": [AWAY, AWAY], "platform B": [AWAY, AWAY]}, [("platform A",), ("platform B",)], False, 4),
    ],
)
def test_a_plain_attempt_is_made_twice_at_most_with_each_app(attempts, failing, alive, runs):
    runner = Runs(attempts, dict(zip(attempts, OWN, strict=True)))
    failures, any_sign = asyncio.run(plain_attempt(runner))
    assert ([failure.apps for failure in failures], any_sign, len(runner.asked)) == (failing, alive, runs)
    assert runner.plain_works is not bool(failing)
    assert {one[:2] for one in [(name, tuple(asks)) for name, asks, _cards, _app in runner.asked]} == {
        ("relay.plain.attempt", ("GET", "POST"))
    }
    assert all(cards == (CARD,) for _name, _asks, cards, _app in runner.asked)


@pytest.mark.parametrize(
    ("answer", "requests", "fits"),
    [
        ({"status": None, "broke": Broke.REFUSED}, [], False),
        ({"status": None, "broke": Broke.LOST}, [], True),
        ({"status": None, "broke": Broke.NO_CERTIFICATE}, [], False),
        ({"status": 404}, [], False),
        ({"status": 400}, [], False),
        ({"status": 202}, [], False),
        ({"status": 500}, [], True),
        ({"status": 404}, [arrived(1.5)], True),
        ({"status": 200, "body": told(other=INPUT)}, [arrived(1.5)], False),
        ({"status": 500, "body": told(other=INPUT)}, [arrived(1.5)], True),
        ({"status": 200, "body": told(other="x")}, [arrived(1.5)], True),
        ({"status": 200, "body": told(other=INPUT), "value": ""}, [arrived(1.5)], True),
        ({"status": 404}, [arrived(0.5), arrived(2.5)], False),
        ({"status": 404}, [arrived(1.0)], True),
        ({"status": 404}, [arrived(2.0)], True),
    ],
)
def test_a_plain_call_that_fails_is_the_configuration_s_fault_or_the_back_end_s(answer, requests, fits):
    attempt = seen(call(began=1.0, ended=2.0, **{"headers": (), "body": b"", "value": None} | answer), *requests)
    runner = Runs({"platform A": [attempt, attempt]}, {"platform A": OWN[0]})
    (failure,), _alive = asyncio.run(plain_attempt(runner))
    assert failure.by_configuration is not fits


@pytest.mark.parametrize(
    ("name", "miss", "todo"),
    [
        ("relay.get.no-body", FORM, FORM.todo),
        ("relay.get.no-body", replace(FORM, root=Root.KEY), FORM.todo),
        ("relay.get.no-body", replace(FORM, root=Root.FOLLOWS), "Fix this first"),
        ("relay.get.no-body", replace(FORM, todo=AFRESH), "Fix this first"),
        ("relay.post.one-field", replace(FORM, root=Root.CASE), FORM.todo),
        ("relay.list.one-get-each", FORM, "Fix this first"),
        ("relay.get.fresh", FORM, "Fix this first"),
    ],
)
def test_a_plain_call_that_fails_has_the_advice_of_the_cases_about_its_form(name, miss, todo):
    results = [result(name, misses=(miss,)), result(verdict=Verdict.NOT_TESTABLE, misses=(), why=NO_PLAIN_CALL)]
    finding = PlainFailure("GET", ("platform A",), "status 502.", by_configuration=False).finding(results)
    assert (finding.root, finding.todo.startswith(todo)) == (Root.PLAIN_CALL, True)
    assert finding.cases == ("relay.post.sdk-input-byte-exact",)
    unasked = PlainFailure("GET", ("platform A",), "status 502.", by_configuration=False, asked=False)
    assert unasked.finding(results).todo.startswith("Fix this first")  # no request has a form that could be wrong


def test_one_lane_is_told_with_the_cases_that_show_the_same():
    slow = result("relay.get.crowd", misses=(replace(MISS, todo=SIDE_BY_SIDE),))
    left = result("relay.get.limit-body", Verdict.NOT_LOOKED_AT, (), why=ONE_LANE)
    one_lane = Tempo({}, {}, carried=1, met=1, one_lane=True)
    (finding,) = common_causes([left, slow, result()], tempo=one_lane)
    assert (finding.todo, finding.cases) == (SIDE_BY_SIDE, ("relay.get.crowd", "relay.get.limit-body"))
