from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from plays import SCRIPTS, played
from rows import rows

import workbook as wb
from workbook.lessons.script import Script, play
from workbook.views.film import TRACK, film, span, timing

SVG = "{http://www.w3.org/2000/svg}"
WALLET = SCRIPTS["from the wallet, later, app was opened, phone"]


def _fills(shown):
    root = ET.fromstring(shown.picture.svg)
    bars = [one for one in root.iter(f"{SVG}rect") if one.get("class") == "wb-bar" and one.get("rx") == "4"]
    return dict(enumerate(bars))


@rows("name", SCRIPTS)
def test_every_budget_of_every_play_is_a_bar(name):
    film = played(name).film
    shown = timing(film)
    fills = _fills(shown)
    assert set(fills) == set(range(len(film.budgets)))
    for number, bar in enumerate(shown.budgets):
        assert float(fills[number].get("width")) == pytest.approx(max(bar.used * TRACK, 3 * (bar.used > 0)), abs=0.06)
        assert 0 <= bar.used <= 1


@pytest.mark.rule("X-STATUS-3")
def test_a_call_that_raised_in_time_is_not_called_an_answer():
    class Broken(wb.ReferenceHandler):
        def status(self):
            raise ValueError

    run = wb.session().wallet.play(Broken)
    [bar] = timing(film(run.trace, run.machine)).budgets
    assert (bar.verdict, bar.words) == ("fail", "failed after 6 ms of 100 ms (X-STATUS-3, spec)")


@pytest.mark.rule("B-DEL-3")
def test_what_was_spent_is_a_full_bar_and_says_that_no_answer_came():
    shown = timing(played("platform B, later, back end takes 25 s, phone").film)
    [bar] = shown.budgets
    assert (bar.verdict, bar.used) == ("fail", pytest.approx(1.0))
    assert "✗ fail" in shown.text()
    assert bar.words == "no answer within 20 s (B-DEL-3, wallet)"


def test_a_film_that_was_cut_does_not_tell_what_comes_after_its_end():
    whole = play(
        Script("from the wallet").then("choose app", 2.0).then("choose card", 4.0, "PISIMULATED00000000000001")
    )
    assert whole.film.frames[-1].at == 4.0
    assert [budget.call for budget in whole.film.limits] == ["status", "pass_entries"]
    looked = play(Script("from the wallet").then("choose app", 2.0)).film
    cut = timing(replace(looked, frames=looked.frames[:10]))
    assert [bar.verdict for bar in cut.budgets] == ["pass", "running"]
    assert "no answer yet after" in cut.text()


def test_a_run_without_limits_says_so_in_one_sentence():
    shown = timing(play(Script()).film)
    assert shown.budgets == ()
    sentence = "No call in this run has a time limit."
    assert sentence in shown.text()
    assert shown.html().count(sentence) == 1


def test_the_text_form(golden):
    golden("timing_bars", timing(play(WALLET).film).text())


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.1, "100 ms"), (0.0132, "13 ms"), (1.0, "1 s"), (20.0, "20 s"), (2.346, "2.35 s")]
)
def test_a_time_is_told_so_that_it_can_be_compared(seconds, told):
    assert span(seconds) == told
