"""Predictions: each is answered by what happened, and every scene makes at least one of them true."""

from itertools import product

import pytest

from workbook.lessons.plays.faults import PREDICTIONS, WAYS_TO_ADD
from workbook.lessons.session import session
from workbook.simulation.faults import FAULTS

A, B_APP, B_WALLET = WAYS_TO_ADD
predict = session().predict
STALL = "stall before headers"

RIGHT = {
    # prediction: a fault (with operation, moment, platform, back end) after which it is right
    "the card is added": ("reset", "GET", "after", A, "good"),
    "the button comes back": ("reset", "POST", "after", B_APP, "good"),
    "there is no button to tap": ("401", "GET", "after", A, "good"),
    "the wallet offers no card": ("401", "GET", "after", B_WALLET, "good"),
    "the wallet says that the card was not added": ("reset", "POST", "after", B_WALLET, "good"),
    "nothing happens for 20 s": (STALL, "POST", "after", B_APP, "waits 30 s"),
    "another card is added": ("sdkInput foreign", "GET", "after", A, "good"),
}


def made(i_think):
    fault, operation, moment, platform, back_end = RIGHT[i_think]
    return predict(fault, i_think, operation, moment, platform, back_end)


def test_every_prediction_has_a_fault_that_makes_it_right():
    assert [*RIGHT] == [*PREDICTIONS]


@pytest.mark.parametrize("i_think", RIGHT)
def test_a_prediction_is_right_where_it_happened(i_think):
    prediction = made(i_think)
    assert prediction.right
    assert i_think in prediction.came_true
    assert prediction.verdict["that is"] == "✓ right"


@pytest.mark.parametrize("i_think", RIGHT)
def test_a_prediction_is_wrong_where_all_goes_well_or_nothing_does(i_think):
    well = i_think == "the card is added"
    prediction = predict("401" if well else "200", i_think, "GET")
    assert not prediction.right
    assert prediction.verdict["that is"] == "✗ not so"


@pytest.mark.parametrize("platform", WAYS_TO_ADD)
def test_whatever_happens_can_be_predicted(platform):
    for fault, operation in product(FAULTS, ("GET", "POST")):
        assert predict(fault, operation=operation, platform=platform).came_true, (fault, operation)


@pytest.mark.slow
def test_the_card_is_never_both_added_and_not():
    for fault, operation, platform in product(FAULTS, ("GET", "POST"), WAYS_TO_ADD):
        true = {*predict(fault, operation=operation, platform=platform).came_true}
        assert len(true & {"the card is added", "another card is added", "the wallet offers no card"}) <= 1


def test_the_verdict_says_why_and_the_scene_stands_below():
    told = predict("reset", i_think="the card is added")
    assert told.verdict == {
        "you think": "the card is added",
        "that is": "✗ not so",
        "what came of it": "the button comes back",
        "because the API": "was asked once; carried the POST out once",
        "so the back end got": "MaybeSentError after 1 attempt and 0.30 s",
        "and the app got": "no sdkInput: “the card cannot be added now; try again later”",
    }
    assert (
        told.text().index("Your prediction") < told.text().index("How it ended") < told.text().index("no answer: reset")
    )
    assert told.html().count("<caption") == 3
