"""What a back end is, is measured by events: a slow or narrow one gets the verdicts of a quick and wide one."""

import asyncio
from collections import defaultdict
from dataclasses import replace
from threading import Lock

import broken
import broken_time
import pytest
import reference
import relays
from tempos import TEMPOS, slowed

from workbook.tools.conform.back_end.case_runner import UNMET
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.findings import common_causes
from workbook.tools.conform.back_end.model import GET, Tempo
from workbook.tools.conform.back_end.schedule import ONE_LANE, is_paced, measured, run_cases
from workbook.tools.harness.model import Root, Verdict

pytestmark = pytest.mark.slow

STALLS = tuple(name for name, case in CASES.items() if case.script.stalls)
SIDE_BY_SIDE = "relay.list.side-by-side"


def run(monkeypatch, kind, names, **more):
    """What cases come to, and the tempo that was measured."""
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    with relays.running("mine", names, **more) as runner:
        return asyncio.run(run_cases([CASES[name] for name in names], runner)), runner.tempo


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(
    ("how", "met", "finding"),
    [
        ({}, 6, ""),
        ({"before": 0.4}, 6, ""),
        ({"lanes": 1}, 1, "One lane for all calls"),
        ({"lanes": 1, "before": 0.3}, 1, "One lane for all calls"),
        ({"lanes": 2}, 2, ""),
        ({"lanes": 5}, 5, ""),
        ({"lane_of_each_session": True}, 2, "Calls of one cardholder wait for each other"),
    ],
)
def test_calls_that_meet_at_the_api_show_how_many_are_carried(monkeypatch, how, met, finding):
    (result,), tempo = run(monkeypatch, slowed(reference.Relay, **how), [SIDE_BY_SIDE])
    assert tempo.met >= 6 if tempo.carried == float("inf") else tempo.met == met == tempo.carried
    assert (tempo.carried == float("inf")) is (met == 6)
    assert tempo.finding.startswith(finding)
    assert bool(tempo.finding) is bool(finding)
    assert result.verdict is (Verdict.FAIL if finding else Verdict.PASS)
    assert result.seen.arrived, "the report shows the calls that prove it"


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize("tempo", TEMPOS)
def test_a_correct_back_end_of_another_tempo_passes(monkeypatch, tempo):
    names = ("relay.get.path", "relay.get.limit-headers", "relay.post.limit-body", "relay.post.given-up",
             "relay.get.fault-500", "relay.post.fault-close", "relay.get.crowd", SIDE_BY_SIDE)  # fmt: skip
    results, _tempo = run(monkeypatch, slowed(reference.Relay, **TEMPOS[tempo]), names)
    assert {one.case.name: one.verdict for one in results} == dict.fromkeys(names, Verdict.PASS)
    given_up = next(one for one in results if one.case.name == "relay.post.given-up")
    assert [request.operation for request in given_up.seen.arrived].count("POST") == 1, "it was provoked"


@pytest.mark.rule("REL-4", "REL-5")
@pytest.mark.parametrize("tempo", ["begins-late", "two-lanes"])
@pytest.mark.parametrize("name", [pytest.param("NoLimit", marks=pytest.mark.nightly), "TriesAgain", "NoOwners"])
def test_a_broken_back_end_of_another_tempo_has_the_verdict_and_the_first_miss_of_the_quick_one(
    monkeypatch, name, tempo
):
    kind = broken.BROKEN[name]
    names = (*kind.catches, "relay.get.path")
    quick, slow = (run(monkeypatch, each, names)[0] for each in (kind, slowed(kind, **TEMPOS[tempo])))
    assert [one.verdict for one in slow] == [one.verdict for one in quick]
    assert [one.misses[:1] and one.misses[0].todo for one in slow] == [
        one.misses[:1] and one.misses[0].todo for one in quick
    ]


@pytest.mark.rule("REL-5")
def test_one_lane_is_the_first_finding_and_other_stalled_cases_are_not_looked_at(monkeypatch):
    names = (*STALLS, "relay.get.path", "relay.post.path", SIDE_BY_SIDE)
    results, tempo = run(monkeypatch, slowed(reference.Relay, lanes=1), names)
    verdicts = {one.case.name: one.verdict for one in results}
    assert [verdicts[name] for name in ("relay.get.limit-headers", "relay.post.limit-headers", *names[-3:])] == [
        *[Verdict.PASS] * 4, Verdict.FAIL,
    ]  # fmt: skip
    waited = [one.case.name for one in results if one.why == ONE_LANE]
    assert len(waited) == len(STALLS) - 2
    (finding,) = common_causes(results, tempo=tempo)
    assert (finding.root, finding.fails, set(finding.cases)) == (Root.CONCURRENCY, True, {SIDE_BY_SIDE, *waited})


@pytest.mark.rule("REL-5")
def test_two_calls_that_cannot_meet_prove_nothing(monkeypatch):
    """It makes a request later than it gives one up: two are never under way together, and none waits."""
    (result,), tempo = run(monkeypatch, slowed(reference.Relay, before=1.0), [SIDE_BY_SIDE], deadline=0.2)
    assert tempo.finding == ""
    assert result.verdict in {Verdict.PASS, Verdict.NOT_LOOKED_AT}
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
    with relays.running("mine", [SIDE_BY_SIDE]) as runner:
        runner.tempo = Tempo({}, {}, carried=1, met=1)
        (result,) = asyncio.run(run_cases([CASES[SIDE_BY_SIDE]], runner))
    assert (result.verdict, result.why) == (Verdict.NOT_LOOKED_AT, UNMET)


class LocksTheCard(reference.Relay):
    """It lets one call for a card in at a time, as a lock of the row does."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.locks = defaultdict(Lock)

    def post(self, card, sdk_output):
        with self.locks[card]:
            return super().post(card, sdk_output)


@pytest.mark.rule("REL-5")
def test_a_lock_of_the_card_is_neither_one_lane_nor_a_lock_of_the_cardholder(monkeypatch):
    (result,), tempo = run(monkeypatch, LocksTheCard, [SIDE_BY_SIDE])
    assert (result.verdict, tempo.finding) == (Verdict.PASS, "")
    with relays.running("mine", [SIDE_BY_SIDE]) as runner:
        ann = runner.target.cardholders[0]
        runner.target = replace(runner.target, cardholders=(replace(ann, cards=ann.cards[:1]),))
        assert asyncio.run(measured(runner)).finding == "", "with one card, nothing tells them apart"


def test_a_single_case_is_not_measured_for():
    assert not is_paced([CASES["relay.get.path"], CASES["relay.run.own-card"]])
    assert is_paced([CASES[SIDE_BY_SIDE]])
    assert is_paced([CASES["relay.get.path"], CASES["relay.post.path"]])


def test_with_one_cardholder_a_lock_of_the_session_is_not_told_from_one_worker():
    one = Tempo({}, {}, carried=1, met=1, one_lane=True)
    assert "look alike" in one.finding
    assert "look alike" not in Tempo({}, {}, carried=1, met=1, one_lane=True, cardholders=2).finding
    assert Tempo({}, {}, carried=2, met=2).finding == ""


class TriesAgain(reference.Relay):
    """It gives each try of a GET a part of its time."""

    attempts, patience = 2, 0.75


@pytest.mark.rule("REL-5")
def test_the_wait_of_stalled_cases_is_paid_once_and_shows_the_limit(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": TriesAgain})
    names = (*STALLS, "relay.list.in-time")
    with relays.running("mine", names) as runner:
        found = asyncio.run(run_cases([CASES[name] for name in names], runner))
        assert 0.5 < runner.limit < 1.5, "the limit of one request is seen on the way"
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(names, Verdict.PASS)
    assert len(found[-1].seen.came(GET)) == 6


@pytest.mark.rule("REL-5")
def test_what_the_api_alone_holds_up_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr("workbook.tools.conform.back_end.schedule.Schedule.run_alone", None)
    names = ("relay.get.limit-headers", "relay.post.limit-headers", "relay.get.text-symbols")
    results, _tempo = run(monkeypatch, broken_time.NoLimit, names)
    assert [result.verdict for result in results] == ["fail", "fail", "pass"]
