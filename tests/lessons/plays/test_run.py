"""A run that was saved and loaded says and shows what it did before, and holds nothing that was opaque."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import escape
from types import SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter

import workbook as wb
from workbook.api.opaque import SdkInput
from workbook.errors import ConfigurationError, ParameterError
from workbook.lessons.plays.run import RUN_MIMETYPE, WAYS_TO_ADD, from_json, to_json
from workbook.lessons.session import draw_traces
from workbook.lessons.widgets.panels import film_of
from workbook.simulation.faults import FAULTS
from workbook.views.exchange import Exchange
from workbook.views.html import POLICY
from workbook.views.player_data import player_data


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


@pytest.mark.parametrize("platform", WAYS_TO_ADD)
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


def test_a_saved_file_is_loaded_again_and_has_no_link_and_no_address(tmp_path):
    path = RUNS["A"].save(tmp_path / "run.html")
    assert repr(wb.Run.load(path)) == repr(RUNS["A"])
    page = path.read_text("utf-8").replace("http://www.w3.org/", "")
    assert re.findall(r"<a |<link|<img|<iframe|url\(|https?://|import |fetch\(", page) == []
    assert path.stat().st_size < 1_000_000


def test_a_saved_file_lets_its_own_script_run_and_nothing_else(tmp_path):
    page = RUNS["A"].save(tmp_path / "run.html").read_text("utf-8")
    [script] = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"{escape(POLICY)}; script-src &#x27;sha256-{digest}&#x27;" in page


def test_a_label_with_markup_is_text_on_the_page(tmp_path):
    page = replace(RUNS["A"], label="</script><b>").save(tmp_path / "run.html")
    assert "</script><b>" not in page.read_text("utf-8")
    assert wb.Run.load(page).label == "</script><b>"


ALMOST = '<script type="application/vnd.workbook.run+json" id="workbook-run">{</script>'


@pytest.mark.parametrize("text", ["", "<html>", ALMOST])
def test_a_file_without_a_run_is_refused(tmp_path, text):
    (tmp_path / "x.html").write_text(text)
    with pytest.raises(ParameterError, match="no saved run"):
        wb.Run.load(tmp_path / "x.html")


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="Cannot read"):
        wb.Run.load(tmp_path / "none.html")
    with pytest.raises(ConfigurationError, match="Cannot write"):
        RUNS["A"].save(tmp_path / "none" / "run.html")


def test_a_trace_in_a_notebook_draws_itself():
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    draw_traces(shell)
    drawn, _metadata = shell.display_formatter.format(RUNS["A"].trace)
    assert "opens the card" in drawn["text/plain"]
    assert "Sequence diagram" in drawn["text/html"]


def test_what_a_notebook_shows_carries_the_run():
    bundle = RUNS["A"]._repr_mimebundle_()
    assert bundle[RUN_MIMETYPE] == {"runs": [to_json(RUNS["A"])], "panels": []}
    compared = RUNS["A"].compare(RUNS["A, quick taps"])
    assert compared._repr_mimebundle_()[RUN_MIMETYPE]["runs"] == [to_json(RUNS["A"]), to_json(RUNS["A, quick taps"])]
    assert wb.show(RUNS["A"], "states")._repr_mimebundle_()[RUN_MIMETYPE]["panels"] == ["states"]
    assert wb.show(compared, "all")._repr_mimebundle_()[RUN_MIMETYPE]["panels"] == ["phone", "exchange"]
