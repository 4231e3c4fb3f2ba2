"""The questions about what was seen, each by itself: where it is silent, where it speaks, and by which rule."""

import json
from dataclasses import replace

import pytest
from seen_values import FIRST, OUTPUT, SECOND, call, dropped, request, seen

from workbook.simulation.http import Request, Response
from workbook.tools.conform.back_end import judging
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import GET, IN_BODY, POST, Broke
from workbook.tools.harness.model import Root


def body(document):
    return call(value=None, body=document if isinstance(document, bytes) else json.dumps(document).encode())


@pytest.mark.rule("REL-6")
@pytest.mark.parametrize("field", ["error", "errors", "failure", "reason"])
def test_a_field_that_says_no_reports_a_failure_where_it_says_anything(field):
    assert judging.refuses(body({field: "too late"}))
    assert judging.refuses(body({field: ["too late"]}))
    assert not judging.refuses(body({field: ""}))
    assert not judging.refuses(body({field: None}))


@pytest.mark.rule("REL-6")
@pytest.mark.parametrize("field", ["ok", "success", "successful"])
def test_a_field_that_says_yes_reports_a_failure_where_it_is_false(field):
    assert judging.refuses(body({field: False}))
    assert not judging.refuses(body({field: True}))
    assert not judging.refuses(body({field: None}))


@pytest.mark.parametrize("document", [["error"], "error", {}, b"", b"error", b"[" * 100_000])
def test_what_has_no_such_field_reports_none(document):
    assert not judging.refuses(body(document))


def test_a_status_reports_a_failure_and_an_sdk_input_none():
    assert judging.refuses(call(value=None, status=502, body=b""))
    assert judging.refuses(call(status=404))
    assert not judging.refuses(call(body=b'{"sdkInput": "x", "error": "y"}'))
    assert not judging.refuses(call(value="", body=b'{"sdkInput": "", "error": "y"}'))


@pytest.mark.rule("REL-6")
def test_an_error_in_a_200_is_a_success_to_the_app_unless_it_reads_the_body():
    error = body({"error": "too late"})
    assert judging.takes_for_success(error, seen([error], []))
    assert not judging.takes_for_success(error, seen([error], [], failures=IN_BODY))
    assert judging.takes_for_success(call(), seen([], [], failures=IN_BODY))
    assert not judging.takes_for_success(call(value=None, status=502), seen([], []))
    ways, tell = (judging.ways_to_tell(one, seen([], [])) for one in (error, call()))
    assert (ways.startswith(f"{judging.TELL} There are two ways"), tell) == (True, judging.TELL)


@pytest.mark.rule("REL-6")
def test_a_failed_post_that_is_answered_with_the_sdk_input_of_a_get_is_told_as_that():
    instead, own = call(POST, FIRST, sent=OUTPUT), call(POST, SECOND, sent=OUTPUT)
    both = [request(POST, None), request(GET, FIRST)]
    assert "never with the sdkInput of a GET" in judging.ways_to_tell(instead, seen([instead], both))
    assert judging.ways_to_tell(own, seen([own], both)) == judging.TELL
    assert judging.ways_to_tell(instead, seen([instead], both[:1])) == judging.TELL
    assert judging.ways_to_tell(call(), seen([call()], both)) == judging.TELL


@pytest.mark.rule("GAP-3")
def test_a_body_refused_for_its_length_counts_the_same_with_a_413_and_with_a_closed_connection():
    long, short = (Request("POST", "/provision", (), b"x" * size) for size in (1025, 1024))
    cut, told = dropped(operation=POST, request=long), call(POST, None, status=413, request=long)
    for one in (cut, told):
        assert judging.refuses_length(one, seen([one], []))
        assert not judging.refuses_length(one, seen([one], [request(POST)]))
        (miss,) = CASES["relay.post.text-1-mib"].judge(seen([call(), one], [request(at=9.0)]))
        assert (miss.rule, miss.observed) == ("GAP-3", "a refusal for its length")
    others = [dropped(operation=POST, request=short), dropped(Broke.LATE, POST, request=long), dropped(operation=POST)]
    assert not any(judging.refuses_length(one, seen([one], [])) for one in others)


@pytest.mark.rule("REL-5", "X-ENTRIES-3")
@pytest.mark.parametrize(
    ("one", "extension", "rules"),
    [
        (call(took=2.0), True, []),
        (call(took=2.125), False, ["REL-5"]),
        (call(took=2.125), True, ["X-ENTRIES-3"]),
        (call(POST, took=2.125), True, ["REL-5"]),
        (dropped(Broke.LATE), False, ["REL-5"]),
        (dropped(Broke.LOST), False, []),
    ],
)
def test_an_answer_is_in_time_up_to_the_bound(one, extension, rules):
    misses = [*judging.in_time(seen([one], [], extension=extension))]
    assert [miss.rule for miss in misses] == rules
    assert [miss.expected for miss in misses] == ["an answer within 2 s"] * len(rules)


@pytest.mark.rule("REL-9")
@pytest.mark.parametrize("broke", Broke)
def test_a_call_that_breaks_off_is_not_answered_unless_the_phone_ended_it(broke):
    misses = [*judging.answered(seen([call(), dropped(broke)], []))]
    fine = broke in (Broke.NO, Broke.LATE, Broke.CANCELLED, Broke.HUGE)
    assert [miss.rule for miss in misses] == ([] if fine else ["REL-9"])


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize(
    ("sent", "came", "observed"),
    [
        (["a"], ["a"], []),
        (["a"], [], []),
        (["a", "b"], ["b", "a"], []),
        (["a", "a"], ["a", "a"], []),
        (["a"], ["a", "a"], ["at most one POST, 2 of one tap, with the same sdkOutput"]),
        (["a", "b"], ["a", "b", "b", "b"], ["one POST for each tap, 3 of one tap, with the same sdkOutput"]),
        (["a"], ["x", "y"], ["at most one POST, 2 POST requests"]),
        ([], ["x"], ["one POST for each tap, 0 in all, one POST"]),
    ],
)
def test_no_sdk_output_comes_more_often_than_it_was_sent(sent, came, observed):
    value = seen([call(), *(call(POST, sent=one) for one in sent)], [request(POST, sent=one) for one in came])
    misses = [*judging.once("Do not.")(value)]
    assert [f"{miss.expected}, {miss.observed}" for miss in misses] == observed
    assert {(miss.rule, miss.todo) for miss in misses} <= {("REL-1", "Do not.")}


def test_a_request_that_never_came_is_a_miss_that_names_three_strays():
    strays = [replace(request(method), operation="") for method in ("GET", "POST", "PUT", "PATCH")]
    (miss,) = judging.each_request(GET, lambda *_both: ())(seen([call()], strays))
    assert miss.observed == "GET to another path, POST to another path, PUT to another path"
    assert (miss.todo, miss.root) == (judging.ASK, Root.FOLLOWS)
    assert [*judging.each_request(GET, lambda one, _seen: [one])(seen([], [request(), request(POST)]))] == [request()]


def test_a_post_that_fails_after_a_fault_as_it_would_before_one_is_no_kept_failure():
    last = call(POST, None, status=502, sent="abc=", began=2.0)
    (miss,) = judging.recovers(seen([call(), last], [request(POST, None, sent="abc", at=2.05)]))
    assert (miss.todo, miss.root) == (judging.SEND_ON, Root.FOLLOWS)
    assert "the API got another sdkOutput than the app's" in miss.observed
    (miss,) = judging.recovers(seen([call(), last], [request(POST, None, sent="abc=", at=2.05)]))
    assert (miss.todo, miss.root) == (judging.AFRESH, Root.CASE)


@pytest.mark.rule("REL-12")
@pytest.mark.parametrize("operation", [GET, POST])
def test_only_the_last_call_shows_whether_it_recovers(operation):
    lost = call(operation, value=None, status=502)
    assert [*judging.recovers(seen([lost, call(operation)], [], recovery=3.0))] == []
    (miss,) = judging.recovers(seen([call(operation), lost], [], recovery=3.0))
    assert (miss.expected, miss.rule) == ("a success 3 s after the API works again", "REL-12")
    assert (miss.todo, miss.root) == (judging.AFRESH, Root.CASE)
    assert [*judging.but_last(judging.no_success)(seen([lost, call()], []))] == []
    assert len([*judging.but_last(judging.no_success)(seen([call(), call()], []))]) == 1


@pytest.mark.parametrize(("fault", "kept"), [("403", True), ("429 in seconds", True), ("close", False)])
def test_a_failure_without_a_request_was_kept_where_no_connection_broke(fault, kept):
    failed = replace(request(value=None), response=Response(403, (), b"", "", fault=fault))
    calls = [call(value=None, status=502), call(value=None, status=502, began=2.0)]
    (miss,) = judging.recovers(seen(calls, [failed]))
    assert (miss.todo == judging.ASK_AFTER_FAILURE, miss.root is Root.OLD_ANSWER) == (kept, kept)
    assert ("though it had answered the call before with 403" in miss.observed) is kept


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (call(), f"status 200 with an sdkInput of {len(FIRST)} characters, after 0.1 s"),
        (call(POST, why="odd"), f"status 200 (odd) with an sdkInput of {len(FIRST)} characters, after 0.1 s"),
        (call(value=None, status=502), "status 502, after 0.1 s"),
        (call(value=None), "status 200 without an sdkInput at the configured place, after 0.1 s"),
        (call(value=""), "status 200 with an empty sdkInput, after 0.1 s"),
        (dropped(Broke.LOST), f"{Broke.LOST.value}, after 0.1 s"),
        (dropped(Broke.SPOILT, why="odd"), f"{Broke.SPOILT.value} (odd), after 0.1 s"),
    ],
)  # fmt: skip
def test_how_a_call_ended_in_words_without_a_value(one, words):
    assert judging.describe_ending(one) == words


@pytest.mark.rule("REL-9")
@pytest.mark.parametrize(("operation", "came", "harms"), [(POST, True, True), (POST, False, False), (GET, True, False)])
def test_a_dropped_post_that_reached_the_api_may_be_made_twice_and_harms(operation, came, harms):
    (miss,) = judging.answered(seen([dropped(operation=operation)], [request(operation)] if came else []))
    assert (miss.rule, miss.harms) == ("REL-9", harms)
