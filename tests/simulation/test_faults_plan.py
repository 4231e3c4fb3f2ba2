"""Which request gets which fault: in order, at most one, and the same for the same seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.errors import ParameterError
from workbook.simulation.faults import FAULTS, FaultPlan, Planned, fault

RESET, CLOSE = fault("reset"), fault("close")
CALLS = [("GET", "PI1"), ("POST", "PI1"), ("GET", "PI2"), ("GET", "PI1"), ("POST", "PI2"), ("POST", "PI1")]


def names(*planned, seed=7, calls=CALLS):
    plan = FaultPlan(planned, seed)
    chosen = [plan.choose(*call) for call in calls]
    return [one and one.planned.fault.name for one in chosen]


MEANT = {
    "all": (Planned(RESET), ["reset"] * 6),
    "GETs": (Planned(RESET, "GET"), ["reset", None, "reset", "reset", None, None]),
    "POSTs": (Planned(RESET, "POST"), [None, "reset", None, None, "reset", "reset"]),
    "one instrument's": (Planned(RESET, None, "PI2"), [None, None, "reset", None, "reset", None]),
    "the third": (Planned(RESET, nth=3), [None, None, "reset", None, None, None]),
    "the second POST": (Planned(RESET, "POST", nth=2), [None, None, None, None, "reset", None]),
    "the second of PI1": (Planned(RESET, None, "PI1", nth=2), [None, "reset", None, None, None, None]),
    "the first GET of PI2": (Planned(RESET, "GET", "PI2", nth=1), [None, None, "reset", None, None, None]),
    "a share of none": (Planned(RESET, share=0), [None] * 6),
    "a share of all": (Planned(RESET, share=1), ["reset"] * 6),
}


@rows("name", MEANT)
def test_a_rule_takes_the_requests_that_it_is_meant_for(name):
    planned, expected = MEANT[name]
    assert names(planned) == expected


def test_the_first_rule_that_takes_a_request_wins_and_none_disturbs_the_count_of_another():
    first, second = Planned(RESET, nth=2), Planned(CLOSE, "POST", nth=1)
    assert names(first, second) == [None, "reset", None, None, None, None]
    assert names(second, first) == [None, "close", None, None, None, None]
    assert names(first, Planned(CLOSE, "POST", nth=2)) == [None, "reset", None, None, "close", None]


MANY = [("GET", "PI1")] * 2_000


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_a_share_is_about_that_share(share):
    taken = sum(one is not None for one in names(Planned(RESET, share=share), calls=MANY))
    assert abs(taken / len(MANY) - share) < 0.04


def test_two_rules_with_the_same_share_take_different_requests():
    both = names(Planned(RESET, share=0.5), Planned(CLOSE, share=0.5), calls=MANY)
    assert 0.15 < both.count("close") / len(MANY) < 0.35


@given(st.integers(), st.floats(0, 1), st.sampled_from(["GET", "POST", None]))
def test_the_same_seed_gives_the_same_faults_and_draws(seed, share, operation):
    def drawn():
        plan = FaultPlan([Planned(fault("latency"), operation, share=share)], seed)
        return [plan.choose(*call) for call in CALLS]

    assert drawn() == drawn()
    assert all(0 < one.draw < 1 for one in drawn() if one)


def test_another_seed_gives_others():
    rule = Planned(RESET, share=0.5)
    assert len({tuple(names(rule, seed=seed, calls=MANY)) for seed in range(5)}) == 5


def test_when_the_state_moves():
    moments = {
        (name, moment): FaultPlan([Planned(fault(name), moment=moment)]).choose("POST", "PI1").moves_state
        for name in ("reset", "latency")
        for moment in ("before", "after")
    }
    assert moments == {
        ("reset", "before"): False,
        ("reset", "after"): True,
        ("latency", "before"): True,
        ("latency", "after"): True,
    }


def test_plain_values_make_the_same_rule():
    plain = {"fault": "latency", "seconds": 0.5, "operation": "GET", "nth": 2, "moment": "after"}
    assert Planned.of(**plain) == Planned(fault("latency").but(seconds=0.5), "GET", nth=2, moment="after")
    slow = Planned.of(fault="log-normal latency", median=0.3, p99=2.0, share=0.2, payment_instrument_id="PI1")
    assert slow.fault.values == {"median": 0.3, "p99": 2.0}
    assert Planned.of(fault="reset") == Planned(RESET)
    assert {Planned.of(fault=name).fault for name in FAULTS} == set(FAULTS.values())


REFUSED = {
    "no name": ({}, r"needs a name. Write fault = 'reset'"),
    "misspelt fault": ({"fault": "rest"}, r"No fault 'rest'. Did you mean 'reset'\?"),
    "fault is a number": ({"fault": 503}, r"No fault 503\. "),
    "misspelt field": ({"fault": "reset", "momnet": "after"}, r"no setting 'momnet'. Did you mean 'moment'\?"),
    "misspelt setting": ({"fault": "latency", "second": 1}, r"no setting 'second'. Did you mean 'seconds'\?"),
    "another fault's setting": ({"fault": "reset", "seconds": 1}, r"'reset' has no setting 'seconds'"),
    "a setting's value": ({"fault": "latency", "seconds": "1"}, r"seconds of the fault 'latency' is '1'. Allowed: a n"),
    "operation": ({"fault": "reset", "operation": "PSOT"}, r"operation is 'PSOT'. Did you mean 'POST'\?"),
    "operation is a list": (
        {"fault": "reset", "operation": ["GET"]},
        r"operation is a value of type list. Known: GET, POST",
    ),
    "moment": ({"fault": "reset", "moment": "aftr"}, r"moment is 'aftr'. Did you mean 'after'\?"),
    "no moment": ({"fault": "reset", "moment": None}, r"moment is None. Known: after, before"),
    "nth from 0": ({"fault": "reset", "nth": 0}, r"nth is 0. Allowed: a whole number, 1 or more"),
    "nth is a truth": ({"fault": "reset", "nth": True}, r"nth is True"),
    "nth is half": ({"fault": "reset", "nth": 1.5}, r"nth is 1\.5"),
    "share above 1": ({"fault": "reset", "share": 1.1}, r"share is 1\.1. Allowed: a number, 0 to 1"),
    "share is no number": ({"fault": "reset", "share": float("nan")}, r"share is nan"),
    "share is text": ({"fault": "reset", "share": "0.5"}, r"share is '0\.5'"),
    "nth and share": ({"fault": "reset", "nth": 1, "share": 0.5}, r"Leave out nth or share"),
    "no instrument": ({"fault": "reset", "payment_instrument_id": ""}, r"payment_instrument_id is ''"),
    "instrument is a number": ({"fault": "reset", "payment_instrument_id": 7}, r"payment_instrument_id is 7"),
}


@rows("name", REFUSED)
def test_what_cannot_be_planned_is_explained(name):
    plain, message = REFUSED[name]
    with pytest.raises(ParameterError, match=message):
        Planned.of(**plain)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Planned("reset"), r"A plan takes a fault, not 'reset'. Write fault\('reset'\)"),
        (lambda: FaultPlan([RESET]), r"A plan is made of Planned"),
        (lambda: FaultPlan([], "7"), r"A seed is a whole number, such as 7, not '7'"),
        (lambda: FaultPlan([], seed=True), r"not True"),  # the wrong value that is tried
    ],
)
def test_what_is_no_plan_is_explained(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
