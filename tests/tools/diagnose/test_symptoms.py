"""The panels to paste into, and playing a row: the result is that of what was pasted, and nothing pasted is kept."""

import json
import re
from functools import cache

import pytest
from rows import rows

import workbook as wb
from workbook.checks.diagnosis import catalogue
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands.cli import main
from workbook.tools.diagnose import panels

reproduce = cache(panels.reproduce)
LOG = "\n".join(["10:00:01 D/View: drawn in 16 ms"] * 2000 + ["E/Wallet: NoActiveWallet"])


def field(panel):
    return panel.widget().children[0]


def shown(panel):
    return next(child.value for child in panel.widget().children if child.__class__.__name__ == "HTML")


def paste(panel, text):
    field(panel).value = text
    panel.widget().children[1].click()


def test_what_is_pasted_is_read_and_leaves_the_field_at_once():
    panel = wb.diagnose()
    assert "Paste a code" in shown(panel)
    paste(panel, LOG)
    assert panel.rows == (16,)
    assert "row 16" in shown(panel)
    assert field(panel).value == ""
    paste(panel, "15009")
    assert panel.rows == (15,)
    assert "row 16" not in shown(panel)


@pytest.mark.rule("REL-2", "REL-3")
def test_no_state_of_a_panel_holds_what_was_pasted(monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "key-that-nobody-may-read-77a1")
    secret = wb.session().activation_data().text
    for panel in (wb.diagnose(), wb.inspect()):
        paste(panel, f'{{"sdkInput": "{secret}", "x-api-key": "key-that-nobody-may-read-77a1", "status": 403}}')
        box = panel.widget()
        states = json.dumps([one.get_state() for one in (box, *box.children)], default=str)
        for text in (states, panel.snapshot().text(), panel.snapshot().html(), repr(panel)):
            assert secret not in text
            assert "nobody-may-read" not in text


def test_the_message_is_ready_and_empty_where_the_job_is_yours():
    assert "- requestId: req-77a1" in wb.diagnose('{"status": 403, "requestId": "req-77a1"}').message()
    assert wb.diagnose("15009").message(15).startswith("Please have this app allowlisted")
    assert wb.diagnose("undefined").message() == ""
    with pytest.raises(ParameterError, match="No evidence decides"):
        wb.diagnose("the wallet asks our customers for the street").message()


def test_the_card_says_how_sure_it_is_the_owner_the_check_and_a_message_that_one_click_selects():
    page = wb.diagnose("15009").snapshot().html()
    assert "This is it: line 1 says" in page
    for name in ("cause", "whose job", "make sure", "send to"):
        assert f">{name}</th>" in page
    assert re.search(r"<pre [^>]*user-select:all[^>]*>Please have this app allowlisted", page)
    assert "SHA-256" in page
    assert not re.search(r"<(?:a|span) [^>]*>[^<]*SHA", page)
    assert "Which do you see: that" in wb.diagnose("InvalidSdkInput").snapshot().html()


def test_what_is_not_known_says_so_and_plays_nothing():
    panel = wb.diagnose("the office is closed")
    assert panel.rows == ()
    assert panel.snapshot().text().startswith("I do not know")
    with pytest.raises(ParameterError, match="No evidence decides for a row"):
        panel.reproduce()


def test_three_choices_lead_to_a_row():
    panel = wb.diagnose()
    *_above, platform, step, seen = panel.widget().children
    assert (platform.disabled, step.disabled, seen.disabled) == (False, True, True)
    platform.value = "platform A"
    step.value = "the button"
    assert ("it fails only where the button is tapped more than once", 13) in seen.options
    seen.value = 13
    assert panel.rows == (13,)
    assert "This is the row that you asked for." in shown(panel)
    platform.value = "platform B, in the app"
    assert seen.options == ()


def test_a_file_and_a_run_are_read(tmp_path):
    log = tmp_path / "device.log"
    log.write_text(LOG)
    assert wb.diagnose(log).rows == (16,)
    assert wb.diagnose(reproduce(15)).rows[0] == 15
    assert 18 in wb.diagnose(reproduce(18)).rows
    with pytest.raises(ConfigurationError, match="Cannot read"):
        wb.diagnose(tmp_path / "none.log")
    with pytest.raises(ParameterError, match="a text, a Path or a run"):
        wb.diagnose(15009)


def test_a_broken_value_is_inspected_and_the_tick_decides_what_is_shown():
    good = wb.session().activation_data().text
    panel = wb.inspect(good)
    assert panel.found.is_good
    assert "simulated-data" not in shown(panel)
    before = shown(panel)
    panel.widget().children[2].value = True
    assert shown(panel) != before
    paste(panel, f'"{good}"')
    assert [one.layer for one in panel.found.wrong] == ["quoted"]
    assert "<b>✗ </b>quoted:" in shown(panel)
    assert wb.inspect(wb.session().activation_data()).found.is_good
    assert wb.inspect(b"\xff\x00 junk").snapshot().text()
    with pytest.raises(ParameterError, match="platform B's bytes"):
        wb.inspect(7)


def test_an_error_is_a_result():
    panel = wb.inspect("x" * 1_048_577)
    assert "larger than 1 MiB" in panel.snapshot().text()


@rows("one", [one for one in catalogue() if one.play])
def test_a_row_that_can_be_played_shows_it(one):
    played = reproduce(one.number)
    if hasattr(played, "found"):
        assert not played.found.is_good
    else:
        assert played.failed if hasattr(played, "failed") else played.findings


@pytest.mark.slow
def test_a_row_that_was_played_leads_back_to_itself():
    for one in catalogue():
        played = reproduce(one.number) if one.play else None
        if isinstance(played, wb.Run):
            same = 15 if one.number in {43, 56} else one.number  # the same status, whatever keeps the app off the list
            assert same in wb.diagnose(played).rows, one.number


@pytest.mark.rule("A-CAN-6")
def test_a_run_without_a_finding_leads_to_no_row():
    run = wb.session().platform_a.play("card not configured at the scheme")
    assert 19 in {one.row.number for one in wb.diagnose(run).found.decided}
    for good in (wb.session().platform_a.play(), wb.session().platform_b.play("card on both")):
        with pytest.raises(ParameterError, match=r"Nothing is wrong in this run.* 'in the wallet'"):
            wb.diagnose(good)


@pytest.mark.parametrize(("name", "why"), [("nofile.log", "No such file"), ("folder", "not a regular file")])
def test_the_name_of_a_file_that_cannot_be_read_is_no_symptom(tmp_path, monkeypatch, capsys, name, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert main(["diagnose", name]) == 2
    assert f"Cannot read {name!r}: " in (said := capsys.readouterr()).err
    assert why in said.err
    assert said.out == ""
