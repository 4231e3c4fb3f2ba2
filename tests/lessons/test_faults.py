"""Every fault on every platform in front of every back end: it ends, it leaks nothing, and each mistake is found."""

from itertools import pairwise, product

import pytest
from rows import rows

from workbook.api.exchange import Options
from workbook.base.rules import Owner
from workbook.checks import Severity
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.trace import Kind
from workbook.lessons.faults import WAYS_TO_ADD
from workbook.lessons.session import session
from workbook.play.back_end import BACK_ENDS, TRY_LATER
from workbook.play.own_code import BACK_END_WAIT
from workbook.simulation.faults import FAULTS, FaultKind
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY

A, B_APP, B_WALLET = WAYS_TO_ADD
break_it = session().break_it
STALL = "stall before headers"
LIMITS = [name for name, fault in FAULTS.items() if fault.kind is FaultKind.LIMIT]
BUSY = ["500", *LIMITS, "502", "503 that says 500", "504"]
LOST = [STALL, "stall after headers", "reset", "close", "truncated body", "missing last chunk", "bad chunk"]
BAD_JSON = [
    "JSON truncated",
    "JSON null",
    "JSON of the wrong type",
    "JSON nested deep",
    "not JSON",
    "wrong content-length",
]
EMPTY = ["sdkInput missing", "sdkInput null", "sdkInput empty"]


def mine(scene, level=Severity.FAIL):
    """The findings that are the integrator's own, by rule."""
    return {one.rule for one in scene.findings if one.level is level and one.owner is Owner.YOU}


def messages(scene, *kinds):
    return [type(record.message).__name__ for record in scene.trace.select(*kinds)]


SENT = (m.ApiRequested, m.ApiAnswered, m.AnswerLost, m.AnswerRefused)

# ---------------------------------------------------------------- the sweep


ENDS = {"in the wallet", "unavailable", "failed", "added", "no card offered", "not added"}
NEUTRAL = {TRY_LATER, "the answer is empty", "the answer is no base64 text"}


@pytest.mark.slow
@pytest.mark.rule("REL-1", "REL-2", "REL-3", "REL-5", "REL-6", "REL-9")
@pytest.mark.parametrize(
    ("platform", "back_end"),
    [
        pytest.param(platform, back_end, marks=[] if back_end == "good" or platform == A else [pytest.mark.nightly])
        for platform, back_end in product(WAYS_TO_ADD, BACK_ENDS)
    ],
)
def test_every_fault_ends_somewhere_and_leaks_nothing(platform, back_end):
    for fault, operation, moment in product(FAULTS, ("GET", "POST"), ("before", "after")):
        scene = break_it(fault, operation, moment, platform, back_end)
        assert scene.state in ENDS, (fault, operation, moment)
        told = f"{scene.trace.to_jsonl()}{scene.summary}{scene.findings}{scene.advice}"
        assert SIMULATED_KEY not in told
        assert "https://elsewhere" not in told or back_end == "follows redirects"
        assert all(scene.summary.values())
        reasons = scene.trace.select(m.ActivationDataFailed, m.OpcFailed, m.NoSdkInput)
        assert {record.message.reason for record in reasons} <= NEUTRAL
        if back_end == "good":
            assert not {one for one in mine(scene) if one.startswith("REL-")}, (fault, operation, moment)


@pytest.mark.rule("REL-2", "REL-3")
@rows("fault", FAULTS)
def test_what_is_shown_of_a_fault_holds_no_key(fault):
    scene = break_it(fault, "GET", back_end="follows redirects", platform=B_WALLET)
    shown = scene._repr_mimebundle_()
    assert SIMULATED_KEY not in repr(scene) + shown["text/plain"] + shown["text/html"]
    assert SIMULATED_KEY not in f"{scene.network!r}{scene.network.attempts!r}{scene.network.clock!r}"


# ---------------------------------------------------------------- planted mistakes

MATTERS = {
    # back end: the rule that finds its mistake, how grave, and on which faults of which operation it matters
    "sends the POST again": ("REL-1", Severity.FAIL, "POST", [*BUSY, *LOST, "dribble"]),
    "gives up at once": ("REL-1", Severity.WARN, "GET", [*BUSY, *LOST, "dribble"]),
    "believes every 200": ("REL-6", Severity.FAIL, "GET", [*BAD_JSON, *EMPTY]),
    "waits 30 s": ("REL-5", Severity.FAIL, "POST", [STALL, "stall after headers", "dribble"]),
    "follows redirects": ("REL-2", Severity.FAIL, "GET", ["redirect"]),
}


@pytest.mark.rule("REL-1", "REL-2", "REL-5", "REL-6")
@pytest.mark.parametrize("platform", WAYS_TO_ADD)
@pytest.mark.parametrize("back_end", MATTERS)
def test_each_mistake_is_found_where_it_matters_and_nowhere_else(back_end, platform):
    rule, level, operation, faults = MATTERS[back_end]
    if rule == "REL-5" and platform == "platform A":
        level = Severity.WARN  # no limit is shown there
    found = {one for one in FAULTS if rule in mine(break_it(one, operation, "after", platform, back_end), level)}
    assert found == {*faults}
    assert not [one for one in faults if rule in mine(break_it(one, operation, "after", platform), level)], "the good"


# ---------------------------------------------------------------- attempts in the picture


def test_every_attempt_is_an_arrow_at_its_own_moment():
    scene = break_it("503 that says 500", "GET")
    first, lost, again, answer, *_rest = scene.trace.select(*SENT)
    assert (first.at, lost.at) == (0.0, 0.25)
    assert lost.message.status == 503
    assert "fault: 503 that says 500" in lost.message.basis
    assert again.at == pytest.approx(lost.at + again.message.pause, abs=0.001)
    assert (type(again.message), answer.message.status) == (m.ApiAskedAgain, 200)
    assert answer.at == pytest.approx(again.at + 0.25)


def test_a_fault_on_the_wire_is_named_on_its_arrow():
    drawn = repr(break_it("reset", "GET", nth=None))
    assert drawn.count("no answer: reset") == 3
    assert drawn.count("GET again: …/{id}/networkTokenActivationData") == 2


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_lost_post_says_whether_it_was_carried_out(moment):
    scene = break_it("reset", moment=moment)
    done = "carried the POST out once" if moment == "after" else "did not carry the POST out"
    assert scene.summary["the API"].endswith(done)
    noted = [record.message.text for record in scene.trace.select(m.Noted)]
    assert len(noted) == (moment == "after")
    assert all("carried the POST out" in one for one in noted)


def test_a_scene_without_a_fault_differs_from_the_plain_one_in_nothing_that_is_drawn():
    from workbook.play.platform_a import PlatformARun  # only this comparison needs it
    from workbook.views.sequence import sequence

    assert sequence(break_it("200").trace).text() == sequence(PlatformARun().walk()).text()


# ---------------------------------------------------------------- what comes of it


@pytest.mark.rule("REL-1")
@rows("fault", [*BUSY, *LOST])
@rows("platform", WAYS_TO_ADD)
def test_the_good_back_end_asks_again_for_a_get_and_never_for_a_post(fault, platform):
    got, posted = break_it(fault, "GET", "before", platform), break_it(fault, "POST", "before", platform)
    assert got.added
    assert not posted.added
    assert got.trace.select(m.ApiAskedAgain)
    assert not posted.trace.select(m.ApiAskedAgain)
    assert posted.network.asked["POST"] == 1


@pytest.mark.rule("REL-1")
def test_a_post_that_is_sent_again_works_only_where_nothing_had_happened():
    assert break_it("reset", moment="before", back_end="sends the POST again").added
    spoilt = break_it("reset", moment="after", back_end="sends the POST again")
    assert not spoilt.added
    assert spoilt.network.carried_out("POST") == 1
    assert 422 in [record.message.status for record in spoilt.trace.select(m.ApiAnswered)]


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize("platform", WAYS_TO_ADD)
def test_the_good_back_end_is_done_before_the_wallet_is(platform):
    for fault, operation in product(FAULTS, ("GET", "POST")):
        ends = break_it(fault, operation, platform=platform, nth=None).trace.select(m.ApiCallEnded)
        assert max(one.message.took for one in ends) < Options().deadline + 1 < m.LIMITS["provision"].seconds


@pytest.mark.rule("REL-5", "B-DEL-3")
def test_what_comes_after_20_s_is_ignored_in_the_app():
    scene = break_it(STALL, platform=B_APP, back_end="waits 30 s")
    times = [record.at for record in scene.trace if record.kind not in (Kind.EXCHANGE, Kind.NOTE)]
    assert max(later - earlier for earlier, later in pairwise(times)) == pytest.approx(20.0)
    assert scene.summary["the app got"] == "nothing in time; what came later was ignored"
    assert scene.trace[-1].at > scene.ended


@pytest.mark.rule("REL-5")
def test_a_handler_that_gives_up_first_leaves_the_back_end_to_itself():
    scene = break_it(STALL, "GET", platform=B_WALLET, back_end="waits 30 s")
    (noted,) = scene.trace.select(m.Noted)
    assert f"gives up after {BACK_END_WAIT:g} s" in noted.message.text
    assert scene.trace.select(m.AnswerLost)[0].at == pytest.approx(noted.at + 30.25 - BACK_END_WAIT)
    assert scene.summary["the cardholder sees"] == "the wallet offers no card"


@pytest.mark.rule("REL-6", "API-9")
@rows("platform", WAYS_TO_ADD)
@rows("operation", ["GET", "POST"])
@rows("fault", EMPTY)
def test_a_200_without_sdk_input_is_refused_or_believed(fault, operation, platform):
    refused, believed = (break_it(fault, operation, "after", platform, one) for one in ("good", "believes every 200"))
    assert not refused.added
    assert not believed.added
    assert refused.trace.select(m.AnswerRefused)
    assert "200 without sdkInput" in believed.summary["the back end got"]


@pytest.mark.rule("REL-6")
def test_an_app_that_was_handed_nothing_hands_on_nothing():
    on_a, on_b = (break_it("sdkInput empty", "GET", "after", one, "believes every 200") for one in (A, B_APP))
    assert on_a.trace.select(m.CreateCalled)[0].message.sdk_input == ""
    assert on_b.trace.select(m.ServiceCalled)[0].message.sdk_input is None
    (noted,) = on_b.trace.select(m.Noted)
    assert noted.message.text.startswith("Nothing was saved")


@pytest.mark.rule("REL-4", "GAP-3")
@pytest.mark.parametrize("platform", [A, B_APP])
def test_no_back_end_sees_that_a_genuine_sdk_input_is_of_another_card(platform):
    scene = break_it("sdkInput foreign", "GET", platform=platform)
    assert scene.phone.cards == {INSTRUMENT_IDS[1]}
    assert not scene.added
    assert "another card" in scene.summary["the card"]


@pytest.mark.rule("GAP-2")
@pytest.mark.parametrize("fault", ["429 in seconds", "429 at a date"])
def test_retry_after_is_waited_for(fault):
    scene = break_it(fault, "GET", seconds=3)
    (again,) = scene.trace.select(m.ApiAskedAgain)
    assert again.message.pause >= 3
    assert scene.added


# ---------------------------------------------------------------- the summary and the arguments


def test_the_summary_tells_the_story_from_the_api_to_the_cardholder():
    assert break_it("reset").summary == {
        "fault": "reset: The connection is reset (RST) instead of an answer. (assumed)",
        "played": "on the first POST; after the API had done its part",
        "the API": "was asked once; carried the POST out once",
        "the back end got": "MaybeSentError after 1 attempt and 0.30 s",
        "the app got": "no sdkInput: “the card cannot be added now; try again later”",
        "the cardholder sees": "“Not added”, and the add button",
        "the card": "not in the wallet",
        "ended": "for the cardholder after 0.84 s of virtual time",
    }


def test_of_several_calls_the_one_that_did_not_go_well_at_once_is_summed_up():
    got = [break_it("500", "GET", platform=B_WALLET, nth=nth).summary["the back end got"] for nth in (2, None)]
    assert got[0] == "sdkInput after 2 attempts and 0.53 s"
    assert got[1].startswith("ApiStatusError after 3 attempts")


def test_it_says_what_was_played_and_that_a_fault_was_never_reached():
    for choices, words in [
        ({"fault": "200", "operation": "GET"}, "the first GET was answered as usual: nothing was changed"),
        ({"fault": "reset", "moment": "before"}, "on the first POST; before the API did anything"),
        ({"fault": "latency", "operation": "GET"}, "on the first GET; the answer is whole"),
        ({"fault": "reset", "nth": 2}, "the second POST was answered as usual: nothing was changed"),
        ({"fault": "reset", "operation": "GET", "nth": None}, "on every GET; after the API had done its part"),
    ]:
        assert break_it(**choices).summary["played"] == words
    assert break_it("reset", nth=2).added


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"fault": "resett"}, "'reset'"),
        ({"operation": "PUT"}, "operation"),
        ({"moment": "later"}, "moment"),
        ({"platform": "platform C"}, "platform"),
        ({"back_end": "goood"}, "'good'"),
        ({"nth": 0}, "nth"),
        ({"fault": "latency", "seconds": -1}, "seconds"),
        ({"fault": "reset", "seconds": 1}, "It has none"),
    ],
)
def test_a_misspelt_argument_is_explained(arguments, hint):
    with pytest.raises(ParameterError, match=hint):
        break_it(**arguments)
