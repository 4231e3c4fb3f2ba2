"""The retry loop as a script: what it asks for, and what is sent back."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook import RetryPolicy, SdkInput, Timeouts
from workbook.api.exchange import NEVER_SENT, Failure, FailureKind, Options, RetryBudget, Send, Sleep, exchange
from workbook.api.opaque import SdkOutput
from workbook.api.protocol import Answer, Settings, build_get, build_post, judge_answer
from workbook.errors import (
    ActivationDataError,
    ApiStatusError,
    ConfigurationError,
    DeadlineError,
    MaybeSentError,
    NotSentError,
)

HEAVY = settings.get_profile("api")
HERE = Settings("https://api.example", "canary")
GET, POST = build_get(HERE, "PI1"), build_post(HERE, "PI1", SdkOutput("x"))
OK = Answer(200, (), b'{"sdkInput":"YWJj"}')
BUSY = Answer(503, (), b"")
REFUSED, LOST = Failure(FailureKind.CONNECT, sent=False), Failure(FailureKind.READ, sent=True)
FOREVER = [LOST] * 99


def play(clock, request, outcomes, *, budget=None, each=0.0, **options):
    """Run the call against these outcomes; gives back the result and the steps."""
    steps, outcome, seen = None, None, []
    steps = exchange(
        request, Options(**options), HERE.secret, now=clock.now, random=Random(1), budget=budget or RetryBudget()
    )
    outcomes = iter(outcomes)
    try:
        while True:
            step = steps.send(outcome)
            seen.append(step)
            clock.time += step.seconds if isinstance(step, Sleep) else each
            outcome = None if isinstance(step, Sleep) else next(outcomes)
    except StopIteration as done:
        return done.value, seen
    except ActivationDataError as error:
        return error, seen


def sends(seen):
    return sum(isinstance(step, Send) for step in seen)


def test_the_usual_call_is_one_step(clock):
    data, seen = play(clock, GET, [OK])
    assert data.sdk_input == SdkInput("YWJj")
    assert seen == [Send(GET, 2.5, Options())]
    assert play(clock, POST, [OK])[1] == [Send(POST, 8.0, Options())]


@pytest.mark.parametrize("first", [LOST, REFUSED, BUSY])
def test_a_get_is_tried_again(clock, first):
    data, seen = play(clock, GET, [first, first, OK])
    assert data.sdk_input.text == "YWJj"
    assert [type(step) for step in seen] == [Send, Sleep, Send, Sleep, Send]
    assert seen[-1].remaining == 2.5


@pytest.mark.rule("REL-5")
def test_three_gets_without_an_answer_fit_into_a_call(clock):
    """Each ends at its own limit, which is no deadline: it is asked again, and the last is told as it was."""
    outcome = Failure(FailureKind.DEADLINE, sent=True)
    error, seen = play(clock, GET, [outcome] * 3, each=2.5)
    assert (sends(seen), error.attempts) == (3, 3)
    assert isinstance(error, MaybeSentError)
    assert "the answer took too long" in str(error)
    unsent, _seen = play(clock, GET, [Failure(FailureKind.DEADLINE, sent=False)] * 3, each=2.5)
    assert isinstance(unsent, NotSentError)


@pytest.mark.rule("GAP-2")
@pytest.mark.parametrize(("asked", "calls"), [("3", 3), ("7", 2), ("9", 1)])
def test_a_get_is_not_asked_again_before_retry_after_and_given_up_where_no_time_is_left(clock, asked, calls):
    _error, seen = play(clock, GET, [Answer(429, (("Retry-After", asked),), b"")] * 3)
    assert sends(seen) == calls
    assert all(step.seconds >= float(asked) for step in seen if isinstance(step, Sleep))


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("outcome", [LOST, BUSY, Answer(429, (("Retry-After", "1"),), b""), Answer(200, (), b"")])
def test_a_post_that_may_have_arrived_is_sent_once(clock, outcome):
    error, seen = play(clock, POST, [outcome, OK])
    assert isinstance(error, ActivationDataError)
    assert sends(seen) == error.attempts == 1


@pytest.mark.rule("REL-1")
def test_a_post_that_never_left_is_sent_again(clock):
    data, seen = play(clock, POST, [REFUSED, REFUSED, OK])
    assert sends(seen) == 3
    assert data.sdk_input.text == "YWJj"


@pytest.mark.parametrize(
    ("outcomes", "kind", "words"),
    [
        ([REFUSED] * 3, NotSentError, "Nothing was sent"),
        ([LOST] * 3, MaybeSentError, "may have arrived. A GET changes nothing: call again"),
        ([LOST, REFUSED, REFUSED], MaybeSentError, "may have arrived"),
        ([BUSY] * 3, ApiStatusError, "answered 503"),
    ],
)
def test_the_last_error_tells_the_whole_story(clock, outcomes, kind, words):
    error, _ = play(clock, GET, outcomes)
    assert type(error) is kind
    assert words in str(error)
    assert "(3 attempts)" in str(error)
    assert (error.attempts, error.elapsed, error.request) == (3, clock.time, GET.redacted())
    assert error.__context__ is None


def test_retry_after_counts(clock):
    later = (("retry-after", "Thu, 01 Jan 2026 12:00:03 GMT"), ("date", "Thu, 01 Jan 2026 12:00:00 GMT"))
    _, seen = play(clock, GET, [Answer(503, later, b""), Answer(429, (("retry-after", "2"),), b""), OK])
    assert [step.seconds for step in seen if isinstance(step, Sleep)] == [3.0, 2.0]


@pytest.mark.rule("REL-5")
def test_a_pause_that_would_outlast_the_deadline_is_not_begun(clock):
    error, seen = play(clock, GET, [Answer(503, (("retry-after", "5"),), b"")], deadline=4.0)
    assert isinstance(error, ApiStatusError)
    assert seen == [Send(GET, 2.5, Options(deadline=4.0))]


def test_an_empty_budget_ends_the_retries(clock):
    budget = RetryBudget(most=1)
    error, seen = play(clock, GET, FOREVER, budget=budget)
    assert (error.attempts, sends(seen)) == (2, 2)


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(
    ("outcome", "sent"),
    [(Failure(FailureKind.DEADLINE, sent=True), True), (Failure(FailureKind.DEADLINE, sent=False), False)],
)
def test_the_deadline_ends_the_call(clock, outcome, sent):
    for request, limits in ((POST, Timeouts()), (GET, Timeouts(get=8.0))):
        error, seen = play(clock, request, [outcome], timeouts=limits)
        assert isinstance(error, DeadlineError)
        assert error.sent is sent
        assert sends(seen) == 1


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize("outcome", [LOST, REFUSED])
def test_a_failure_at_the_deadline_is_the_deadline_s(clock, outcome):
    error, _ = play(clock, GET, [outcome], each=8.0)
    assert isinstance(error, DeadlineError)
    assert error.sent is outcome.sent


@pytest.mark.rule("REL-5")
def test_an_answer_that_is_followed_by_another_attempt_is_not_searched_for_the_key(clock, monkeypatch):
    judged = []
    monkeypatch.setattr(
        "workbook.api.exchange.judge_answer",
        lambda answer, secret: judged.append(answer) or judge_answer(answer, secret),
    )
    data, _ = play(clock, GET, [BUSY, BUSY, OK])
    assert data.sdk_input == SdkInput("YWJj")
    assert judged == [OK]


@pytest.mark.rule("REL-5")
def test_a_sleep_that_took_too_long_ends_the_call(clock):
    steps = exchange(GET, Options(), HERE.secret, now=clock.now, random=Random(1), budget=RetryBudget())
    next(steps)
    assert isinstance(steps.send(REFUSED), Sleep)
    clock.time = 16.0
    with pytest.raises(DeadlineError, match="Nothing was sent") as caught:
        next(steps)
    assert not caught.value.sent


@pytest.mark.rule("REL-1", "REL-5")
@settings(HEAVY)
@given(
    st.booleans(),
    st.lists(
        st.sampled_from([OK, BUSY, Answer(302, (), b""), Answer(200, (), b"{}")])
        | st.sampled_from(FailureKind).map(lambda kind: Failure(kind, sent=kind not in NEVER_SENT)),
        min_size=10,
        max_size=10,
    ),
    st.integers(1, 10),
    st.floats(0, 6),
)
def test_any_course_of_events_ends_well(is_post, outcomes, attempts, each):
    clock = type("Clock", (), {"time": 0.0, "now": lambda self: self.time})()
    request = POST if is_post else GET
    result, seen = play(clock, request, outcomes, each=each, retries=RetryPolicy(attempts=attempts))
    tried = outcomes[: sends(seen)]
    assert len(tried) <= attempts
    assert all(0 < step.remaining <= 8 for step in seen if isinstance(step, Send))
    if is_post:
        assert all(isinstance(outcome, Failure) and not outcome.sent for outcome in tried[:-1])
    assert isinstance(result, ActivationDataError) == (tried[-1] is not OK)


def test_the_limits_that_nobody_sets_and_the_words_about_one_of_another_type():
    usual = Options()
    assert (usual.timeouts, usual.deadline, usual.max_body) == (Timeouts(5.0, 8.0, 5.0, 5.0, 2.5), 8.0, 1_048_576)
    for name, kind in (("timeouts", "Timeouts"), ("retries", "RetryPolicy")):
        with pytest.raises(ConfigurationError) as raised:
            Options(**{name: 3})
        assert str(raised.value) == f"{name} is 3. Give {kind}(...)."
