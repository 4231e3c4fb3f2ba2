"""A run that was saved and loaded says and shows what it did before, and holds nothing that was opaque."""

import json

import pytest

import workbook as wb
from workbook.api.opaque import SdkInput
from workbook.errors import ParameterError
from workbook.plays.faults import PLATFORMS
from workbook.plays.saved import from_json, to_json
from workbook.simulation.faults import FAULTS
from workbook.views.exchange import Exchange
from workbook.views.player_data import player_data
from workbook.widgets.panels import film_of


def again(run):
    return from_json(json.loads(json.dumps(to_json(run))))


def all_runs():
    session = wb.session()
    yield "A", session.platform_a.play()
    yield "A, quick taps", session.platform_a.play(taps=2, guarded=False)
    for phone in session.platform_b.phones:
        yield f"B, {phone}", session.platform_b.play(phone)
    yield "from the wallet", session.wallet.play()
    yield "from the wallet, on the watch", session.wallet.play(surface="watch")


RUNS = dict(all_runs())


@pytest.mark.parametrize("name", RUNS)
def test_a_loaded_run_says_and_draws_the_same(name):
    run, loaded = RUNS[name], again(RUNS[name])
    assert repr(loaded) == repr(run)
    assert loaded.findings == run.findings
    assert player_data(film_of(loaded), loaded.findings) == player_data(film_of(run), run.findings)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_with_a_fault_says_the_same_and_gives_the_same_advice(fault, platform):
    run = wb.session().break_it(fault, platform=platform)
    loaded = again(run)
    assert loaded.summary == run.summary
    assert loaded.advice == run.advice
    assert Exchange(film_of(loaded)).text() == Exchange(film_of(run)).text()


def test_a_loaded_run_saves_the_same():
    run = RUNS["A"]
    assert to_json(again(run)) == to_json(run)


def test_nothing_opaque_is_saved():
    genuine = "R2VudWluZSBkYXRhIG9mIGEgY2FyZA=="
    run = wb.session().platform_a.play(fetch_opc=lambda _instrument, _output: SdkInput(genuine))
    assert genuine not in json.dumps(to_json(run))
    bare = wb.session().platform_a.play(fetch_opc=lambda _instrument, _output: genuine)
    assert genuine not in json.dumps(to_json(bare))
    assert repr(again(bare)) == repr(bare)


@pytest.mark.parametrize(
    "wrong",
    [None, [], {}, {"run": 2}, {**to_json(RUNS["A"]), "flow": "mine"},
     {**to_json(RUNS["A"]), "records": [{"says": "Any", "at": 0}]},
     {**to_json(RUNS["A"]), "records": [{"says": "Kind"}]}],
)  # fmt: skip
def test_what_is_no_run_is_refused_with_a_sentence(wrong):
    with pytest.raises(ParameterError, match=r"no saved run, or one of another version"):
        from_json(wrong)
