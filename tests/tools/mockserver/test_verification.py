"""Expectations of a journal: what each means, how it says so, and what a misspelt one is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from responders import Journaled

from workbook.errors import ParameterError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.journal import Journal
from workbook.tools.mockserver.verification import (
    EXPECTATIONS,
    Expectation,
    at_least,
    at_most,
    exactly,
    from_json,
    no_repeated_post,
    none,
    one_get_each,
    verify,
)

A, B, C = INSTRUMENT_IDS


class Statuses:
    """Answers with one status after the other."""

    def __init__(self, statuses):
        self._statuses = iter(statuses)

    def respond(self, _request):
        return Response(next(self._statuses), JSON_HEADERS, b"{}", "lesson: assumed")


def journal(*said, limit=100):
    """A journal of requests said as (method, instrument, status or body)."""
    made = Journal(limit, stopwatch=lambda: 0.0)
    statuses = (more[0] if more and isinstance(more[0], int) else 200 for _method, _instrument, *more in said)
    journaled = Journaled(Statuses(statuses), made)
    for number, (method, instrument, *more) in enumerate(said):
        body = more[0] if more and isinstance(more[0], bytes) else f"{number}".encode()
        journaled.respond(Request(method, f"{BEFORE_ID}{instrument}{AFTER_ID}", (), body))
    return made


GET_POST = (("GET", A), ("POST", A))
MEANS = [
    (exactly(1, "GET", A), GET_POST, True, f"exactly 1 GET for {A}", "1 GET (#1)"),
    (exactly(1, "GET", A), (("GET", A), ("GET", A)), False, f"exactly 1 GET for {A}", "2 GET (#1, #2)"),
    (exactly(1, "GET"), (("GET", A), ("GET", B)), False, "exactly 1 GET", "2 GET (#1, #2)"),
    (exactly(1, "GET", B), GET_POST, False, f"exactly 1 GET for {B}", "0 GET"),
    (exactly(1, "GET").before("POST"), GET_POST, True, "exactly 1 GET, before the first POST", None),
    (
        exactly(1, "GET", A).before("POST"),
        GET_POST[::-1],
        False,
        None,
        "1 GET (#2), the first POST is #1; not answered",
    ),
    (exactly(1, "GET", A).before("POST"), (("GET", A), ("POST", B)), False, None, "1 GET (#1), and no POST"),
    (exactly(1, "GET", A).before("POST"), (("POST", B), *GET_POST), True, None, "1 GET (#2), the first POST is #3"),
    (at_least(1, "GET").before("POST"), (*GET_POST, ("GET", A)), False, None, "not answered before it: (#3)"),
    (exactly(1, "GET").answered(200), (("GET", A, 503), *GET_POST), True, "exactly 1 GET answered 200", "1 GET (#2)"),
    (at_least(2, "GET"), (("GET", A), ("GET", B)), True, "at least 2 GET", "2 GET (#1, #2)"),
    (at_least(2, "GET"), GET_POST, False, "at least 2 GET", "1 GET (#1)"),
    (at_most(1, "POST"), GET_POST, True, "at most 1 POST", "1 POST (#2)"),
    (at_most(0, "POST"), GET_POST, False, "at most 0 POST", "1 POST (#2)"),
    (at_most(1, "POST"), (("POST", A),) * 7, False, None, "7 POST (#1, #2, #3, #4, #5 and 2 more)"),
    (none("POST"), (("GET", A), ("PUT", A)), True, "no POST", "0 POST"),
    (none("POST", A), GET_POST, False, f"no POST for {A}", "1 POST (#2)"),
    (no_repeated_post(), (), True, "no POST sent twice with the same body (REL-1)", "0 POST, no two alike"),
    (no_repeated_post(), (("POST", A), ("POST", A)), True, None, "2 POST, no two alike"),
    (no_repeated_post(), (("POST", A, b"x"), ("GET", A, b"x"), ("POST", B, b"x")), True, None, "2 POST, no two alike"),
    (no_repeated_post(), (("POST", A, b"x"), *GET_POST, ("POST", A, b"x")), False, None, "(#1, #4) with the same body"),
    (no_repeated_post(B), (("POST", A, b"x"), ("POST", A, b"x")), True, f"no POST for {B} sent twice with", None),
    (one_get_each(), (("GET", A), ("GET", B)), True, "one GET for each of the instruments asked for (API-12)", None),
    (one_get_each(), (("GET", A), ("GET", B), ("GET", A)), False, None, f"2 for {A}"),
    (one_get_each(), (), False, None, "0 GET for 0 instruments"),
    (one_get_each(A, B), (("GET", A), ("GET", B)), True, f"one GET for each of {A}, {B} (API-12)", None),
    (one_get_each(A, B), (("GET", A),), False, None, f"0 for {B}"),
    (one_get_each(A), (("GET", A), ("GET", C)), False, None, f"1 for {C}"),
    (one_get_each(A).answered(200), (("GET", A, 503), ("GET", A)), True, "one GET answered 200 for each of", None),
]


@pytest.mark.rule("API-10", "API-12", "REL-1")
@pytest.mark.parametrize(("expectation", "said", "passed", "sentence", "seen"), MEANS)
def test_an_expectation_means_what_it_says(expectation, said, passed, sentence, seen):
    (outcome,) = verify(journal(*said), expectation)
    assert (outcome.passed, outcome.sentence) == (passed, expectation.sentence)
    assert (sentence or "") in outcome.sentence
    assert (seen or "") in outcome.seen
    assert str(outcome) == f"{'ok' if passed else 'NOT OK'}: {outcome.sentence}; seen: {outcome.seen}."
    assert json.loads(json.dumps(outcome._asdict())) == outcome._asdict()


@pytest.mark.rule("API-10")
def test_a_get_that_is_still_under_way_when_the_post_arrives_did_not_come_before_it():
    clock = iter(range(100))
    made = Journal(stopwatch=lambda: float(next(clock)))
    path = f"{BEFORE_ID}{A}{AFTER_ID}"
    response = Response(200, JSON_HEADERS, b"{}", "lesson: assumed")
    first, second = made.now(), made.now()
    made.record(first, Request("GET", path, ()), response)
    made.record(second, Request("POST", path, ()), response)
    (outcome,) = verify(made, exactly(1, "GET", A).before("POST"))
    assert not outcome.passed


def test_all_are_judged_in_their_order():
    outcomes = verify(journal(*GET_POST), exactly(1, "GET"), none("GET"), no_repeated_post())
    assert [one.passed for one in outcomes] == [True, False, True]
    assert verify(journal()) == []


@pytest.mark.parametrize(
    ("expectation", "passed"),
    [
        (at_least(1, "GET"), True),
        (at_least(1, "GET").before("POST"), False),
        (exactly(2, "GET"), False),
        (at_most(5, "GET"), False),
        (none("POST", B), False),
        (no_repeated_post(), False),
        (one_get_each(), False),
    ],
)
def test_what_a_journal_that_dropped_entries_cannot_prove_does_not_pass(expectation, passed):
    (outcome,) = verify(journal(("GET", B), ("GET", A), ("POST", A), limit=2), expectation)
    assert outcome.passed is passed
    assert outcome.seen.endswith("; 1 older requests are no longer kept")


# ---------------------------------------------------------------- as JSON


SAID = [
    ({"expect": "exactly", "count": 1, "operation": "GET"}, exactly(1, "GET")),
    (
        {"expect": "exactly", "count": 1, "operation": "GET", "instrument": A, "before": "POST", "status": 200},
        exactly(1, "GET", A).before("POST").answered(200),
    ),
    ({"expect": "at least", "count": 2, "operation": "POST"}, at_least(2, "POST")),
    ({"expect": "at most", "count": 0, "operation": "POST", "instrument": A}, at_most(0, "POST", A)),
    ({"expect": "none", "operation": "POST"}, none("POST")),
    ({"expect": "no repeated POST"}, no_repeated_post()),
    ({"expect": "no repeated POST", "instrument": A}, no_repeated_post(A)),
    ({"expect": "one GET per instrument"}, one_get_each()),
    ({"expect": "one GET per instrument", "instruments": [A, B]}, one_get_each(A, B)),
]


@pytest.mark.parametrize(("value", "expectation"), SAID)
def test_the_same_can_be_said_as_json(value, expectation):
    assert from_json(json.loads(json.dumps(value))) == expectation


WRONG = [
    ("exactly", 'An expectation is an object such as {"expect": "exactly"'),
    ({"count": 1}, "An expectation is an object such as"),
    ({"expect": "exactely"}, "There is no expectation 'exactely'. Did you mean 'exactly'?"),
    ({"expect": "at_least"}, "There is no expectation 'at_least'. Did you mean 'at least'?"),
    ({"expect": 7}, "There is no expectation 7. Known: at least, "),
    ({"expect": ["exactly"]}, "There is no expectation ['exactly']."),
    ({"expect": "exactly", "operation": "GET"}, "The expectation 'exactly' also needs: count."),
    ({"expect": "exactly"}, "The expectation 'exactly' also needs: count, operation."),
    ({"expect": "none"}, "The expectation 'none' also needs: operation."),
    ({"expect": "exactly", "count": 1, "operation": "get"}, "There is no operation 'get'."),
    ({"expect": "exactly", "count": 1, "operation": "GET", "befor": "POST"}, "Did you mean 'before'?"),
    ({"expect": "exactly", "count": 1, "operation": "GET", "before": "PUT"}, "There is no operation 'PUT'."),
    ({"expect": "exactly", "count": -1, "operation": "GET"}, "The count of an expectation is a whole number"),
    ({"expect": "exactly", "count": True, "operation": "GET"}, "not True."),
    ({"expect": "exactly", "count": "1", "operation": "GET"}, "not '1'."),
    ({"expect": "exactly", "count": 1, "operation": "GET", "status": 2.5}, "The status of an expectation"),
    ({"expect": "exactly", "count": 1, "operation": "GET", "instrument": ""}, "text that is not empty, not str."),
    ({"expect": "exactly", "count": 1, "operation": "GET", "instrument": 5}, "text that is not empty, not int."),
    ({"expect": "none", "operation": "GET", "count": 1}, "There is no field of this expectation 'count'."),
    ({"expect": "one GET per instrument", "instruments": A}, "are a list of payment instrument ids."),
    ({"expect": "one GET per instrument", "instruments": [1]}, "text that is not empty, not int."),
    ({"expect": "no repeated POST", "operation": "POST"}, "There is no field of this expectation 'operation'."),
]


@pytest.mark.parametrize(("value", "told"), WRONG)
def test_a_misspelt_expectation_is_explained(value, told):
    with pytest.raises(ParameterError) as caught:
        from_json(value)
    assert told in str(caught.value)


def test_the_calls_check_alike_and_repeat_little():
    with pytest.raises(ParameterError, match="There is no operation 'DELETE'"):
        exactly(1, "DELETE")
    with pytest.raises(ParameterError, match="There is no operation"):
        exactly(1, "GET").before("x" * 10_000)
    with pytest.raises(ParameterError) as caught:
        Expectation("x" * 10_000)
    assert len(str(caught.value)) < 300
    assert "x" * 50 not in exactly(1, "GET", "x" * 10_000).sentence


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_no_value_breaks_the_reader(value):
    for name in ("expect", "count", "operation", "instrument", "status", "before", "instruments"):
        for base, _expectation in SAID:
            try:
                from_json(base | {name: value})
            except ParameterError as error:
                assert len(str(error)) < 1_000  # noqa: PT017  # most values are refused, and some are fine


def test_each_kind_is_said_above():
    assert set(EXPECTATIONS) == {value["expect"] for value, _expectation in SAID}
