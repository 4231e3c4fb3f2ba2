"""Each check of a watched back end, proven twice: on a trace where all is well, and on one broken in this one way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.api.protocol import ActivationData
from workbook.base.rules import Owner, rule
from workbook.checks import Severity, Symptom, api, check
from workbook.checks.api import REMEDIES, advice_for
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace

ID = "PISIMULATED00000000000001"
GET, POST = m.ApiRequested("GET", ID), m.ApiRequested("POST", ID)
GET_AGAIN, POST_AGAIN = m.ApiAskedAgain("GET", ID, pause=0.1), m.ApiAskedAgain("POST", ID, pause=0.1)
GOOD, BUSY, NOTHING = (
    m.ApiAnswered(200, ActivationData(SdkInput("YQ=="))),
    m.ApiAnswered(503),
    m.ApiAnswered(200, ActivationData("")),
)
PASSING, LOST = m.AnswerLost("", "gone", "reset"), m.AnswerLost("MaybeSentError", "gone", "reset")
REFUSED = m.AnswerRefused("SdkInputError", "none", "sdkInput missing")
LATE = m.AnswerLost("DeadlineError", "late", "dribble")


def over(method, tries=1, took=0.3, ending="sdkInput"):
    return m.ApiCallEnded(method, tries, took, ending)


def trace(*told):
    made = Trace()
    for at, message in enumerate(told):
        made.append(Record(float(at), Kind.EXCHANGE, message, "here", "here", message.rules))
    return made


ASSUMED = (400, 401, 403, 404, 422, 429)
"""Statuses whose meaning is assumed."""

PAIRS = {
    # check: a trace where it is silent, a trace where it speaks, what it says
    "posted_again": (
        (GET, PASSING, GET_AGAIN, GOOD, over("GET", 2), POST, GOOD, over("POST")),
        (POST, PASSING, POST_AGAIN, GOOD, over("POST", 2)),
        "REL-1 fail you",
    ),
    "waited_too_long": (
        (GET, GOOD, over("GET", took=m.LIMITS["provision"].seconds - 0.001)),
        (m.StartPassEntriesBudget(), GET, GOOD, over("GET", took=m.LIMITS["pass_entries"].seconds)),
        "REL-5 fail you",
    ),
    "passed_on_nothing": ((GET, GOOD, m.ApiAnswered(200)), (GET, NOTHING), "REL-6 fail you"),
    "followed_redirects": (
        (GET, m.RedirectFollowed("https://elsewhere.invalid/", with_key=False)),
        (GET, m.RedirectFollowed("https://elsewhere.invalid/", with_key=True)),
        "REL-2 fail you",
    ),
    "gave_up_at_once": (
        (GET, PASSING, GET_AGAIN, LOST, over("GET", 2), POST, LOST, over("POST"), GET, LATE, over("GET")),
        (GET, BUSY, over("GET")),
        "REL-1 warn you",
    ),
    "lost_answers": ((GET, PASSING, GET_AGAIN, GOOD, over("GET", 2)), (POST, LOST, over("POST")), "REL-1 note nobody"),
    "refused_answers": ((GET, GOOD, over("GET")), (GET, REFUSED, over("GET")), "API-9 warn operator"),
}


SYMPTOMS = [one for one in api.BACK_END_CHECKS if isinstance(one, Symptom)]


def symptoms(made):
    """What the checks of one row find."""
    return [finding for row in SYMPTOMS for finding in row(made)]


def test_every_check_has_its_pair():
    functions = {one.__name__ for one in api.BACK_END_CHECKS if one not in SYMPTOMS}
    assert functions - set(PAIRS) == {"statuses", "crossed_instruments"}
    broken = [trace(m.ApiFailed("E", "m")), *(trace(*broken) for _silent, broken, _said in PAIRS.values())]
    assert all(any(map(row, broken)) for row in SYMPTOMS)


@pytest.mark.rule("REL-1", "REL-2", "REL-5", "REL-6", "API-9")
@pytest.mark.parametrize("name", PAIRS)
def test_a_check_is_silent_and_speaks_once(name):
    silent, broken, said = PAIRS[name]
    run = getattr(api, name, symptoms)
    assert [*run(trace(*silent))] == []
    (found,) = run(trace(*broken))
    assert f"{found.rule} {found.level} {found.owner}" == said
    assert rule(found.rule).id == found.rule
    assert found.text
    assert found.todo
    assert found in check(trace(*broken))


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("outcome", [LOST, m.ApiAnswered(429), m.ApiAnswered(504)])
def test_giving_up_is_told_of_what_passes(outcome):
    told = trace(GET, GOOD, over("GET"), GET, outcome, over("GET"))
    assert [(one.level, one.at) for one in api.gave_up_at_once(told)] == [(Severity.WARN, 5.0)]  # the end of the call


@pytest.mark.rule("REL-1")
def test_an_answer_is_lost_when_its_call_is_over():
    assert [one.at for one in api.lost_answers(trace(GET, LOST, over("GET"), POST, LOST, over("POST")))] == [2.0, 5.0]


@pytest.mark.parametrize("outcome", [GOOD, REFUSED, LATE, m.ApiAnswered(401), m.ApiAnswered(302)])
def test_giving_up_is_right_where_asking_again_is_of_no_use(outcome):
    assert [*api.gave_up_at_once(trace(GET, outcome, over("GET")))] == []


def test_a_call_that_ended_before_it_sent_anything_says_nothing_of_the_api():
    assert check(trace(over("GET", 0), GET, GOOD, over("GET"), over("POST", 0))) == []
    (lost,) = api.lost_answers(trace(over("GET", 0), POST, LOST, over("POST"), over("GET", 0)))
    assert lost.text == "No answer to the POST: reset (MaybeSentError)."


def test_a_status_after_which_the_back_end_asked_again_is_only_worth_knowing():
    (found,) = check(trace(GET, BUSY, GET_AGAIN, GOOD, over("GET", 2)))
    assert (found.level, found.owner) == (Severity.NOTE, Owner.NOBODY)
    (found, _gave_up) = check(trace(GET, BUSY, over("GET")))
    assert (found.level, found.owner) == (Severity.FAIL, Owner.OPERATOR)


@pytest.mark.rule("REL-2")
def test_a_redirect_is_not_to_be_tried_again():
    (found,) = check(trace(GET, m.ApiAnswered(302), over("GET")))
    assert "REL-2" in found.todo
    assert "Try again" not in found.todo


ANY = st.sampled_from([GET, POST, GET_AGAIN, POST_AGAIN, GOOD, BUSY, NOTHING, PASSING, LOST, REFUSED, over("GET")])


@given(st.lists(ANY, max_size=8))
def test_any_order_of_attempts_can_be_read(told):
    made = trace(*told)
    assert all(one.rule and one.todo for one in check(made))
    assert advice_for(made, "GET") in (None, *REMEDIES)


KINDS = {
    "never left": m.ApiFailed("NotSentError", "m"),
    "may have arrived": LOST,
    "status: busy": BUSY,
    "status: refused": m.ApiAnswered(422),
    "status: redirect": m.ApiAnswered(307),
    "unusable 200": REFUSED,
    "usable 200": GOOD,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_failure_is_recognised_by_what_the_back_end_got(kind):
    assert advice_for(trace(GET, KINDS[kind]), "GET").kind == kind
    assert advice_for(trace(GET, KINDS[kind]), "POST") is None


@pytest.mark.parametrize(
    ("kind", "statuses"),
    {
        "status: busy": (429, 500, 503, 599),
        "status: refused": (201, 204, 299, 400, 422, 428, 430, 431, 499),
        "status: redirect": (300, 302, 399),
        "usable 200": (200,),
    }.items(),
)
def test_each_status_is_of_one_kind_and_none_but_200_is_usable(kind, statuses):
    assert {advice_for(trace(GET, m.ApiAnswered(status)), "GET").kind for status in statuses} == {kind}


def test_an_answer_of_the_other_method_and_one_that_nobody_asked_for_say_nothing():
    assert advice_for(trace(GOOD), "GET") is None
    assert advice_for(trace(GET, BUSY, POST, GOOD), "POST").kind == "usable 200"
    assert advice_for(trace(GET, GOOD, GET, REFUSED, GET, BUSY), "GET").kind == "unusable 200"


def test_every_kind_is_recognised_by_something():
    assert "function" not in repr(REMEDIES)
    assert [*KINDS] == [one.kind for one in REMEDIES]
    assert advice_for(trace(GET, NOTHING), "GET").kind == "unusable 200"
    assert advice_for(trace(GET, LATE), "GET").kind == "may have arrived"


def test_the_first_failure_counts():
    told = trace(POST, GOOD, GET, BUSY, GET_AGAIN, LOST)
    assert advice_for(told, "GET").kind == "status: busy"
    assert advice_for(told, "POST").kind == "usable 200"


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(
    "before",
    [(), (m.Opened(ID),), (m.StartProvisionBudget(), m.StopBudget()), (m.StartProvisionBudget(), m.Opened(ID))],
)
def test_where_no_wallet_waits_a_long_wait_is_doubtful_and_not_wrong(before):
    (finding,) = api.waited_too_long(trace(*before, GET, GOOD, over("GET", took=30.0)))
    assert finding.level is Severity.WARN
    assert "No limit is shown for this call" in finding.text


@pytest.mark.rule("REL-5")
def test_where_the_wallet_waits_the_finding_names_its_limit_and_the_limits_source():
    told = trace(m.StartProvisionBudget(), POST, GOOD, over("POST", took=30.0))
    (finding,) = api.waited_too_long(told)
    assert finding.text == (
        "The POST kept the back end waiting for 30 s; the wallet waits 20 s for provision() (wallet)."
    )


@pytest.mark.rule("GAP-1")
@rows("status", [201, 204, 400, 401, 403, 404, 422, 429, 500])
def test_no_status_breaks_a_rule_because_the_document_shows_none(status):
    (finding,) = api.statuses(trace(GET, m.ApiAnswered(status)))
    assert finding.rule == "GAP-1"
    assert ("assumed" in finding.text) is (status in ASSUMED or status < 300)


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize(("asked", "todo"), [(GET, "then ask again"), (POST, "Do not send it again (REL-1)")])
def test_after_429_a_get_is_asked_again_and_a_post_is_not(asked, todo):
    (finding,) = api.statuses(trace(asked, m.ApiAnswered(429)))
    assert todo in finding.todo


@pytest.mark.rule("REL-5")
def test_a_call_that_began_while_the_wallet_waited_is_wrong_though_the_handler_gave_up_before_it_ended():
    told = trace(m.StartPassEntriesBudget(), GET, m.StopBudget(), LATE, GET_AGAIN, GOOD, over("GET", 2, took=30.0))
    (finding,) = api.waited_too_long(told)
    assert (finding.level, finding.rule) == (Severity.FAIL, "REL-5")
    limit = m.LIMITS["pass_entries"]
    assert f"the wallet waits {limit} for pass_entries() (spec)" in finding.text
    assert f"well below {limit}." in finding.todo


def test_each_finding_and_each_advice_word_for_word(golden):
    statuses = (201, 300, 302, 399, 500, *ASSUMED)
    traces = [broken for _silent, broken, _said in PAIRS.values()]
    traces += [(asked, m.ApiAnswered(status)) for asked in (GET, POST) for status in statuses]
    traces += [(GET, BUSY, GET_AGAIN), (GET, LOST, over("GET")), (GET, GOOD, over("GET", took=30.0))]
    traces += [(m.Opened("PIOTHER"), GET), (GET, m.ApiFailed("SdkInputError", "why"))]
    findings = [str(one) for told in traces for one in check(trace(*told))]
    advice = [f"{one.kind}: {one.seen_as} | {one.on_get} | {one.on_post}" for one in REMEDIES]
    golden("api", "\n".join(dict.fromkeys([*findings, *advice])))
