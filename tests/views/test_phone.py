import base64
import re
from dataclasses import replace
from html import unescape

import pytest
from rows import rows
from screens import APP, FIRST

from workbook.lessons.script import FLOWS, Script, play
from workbook.views.film import Film
from workbook.views.phone import ASSUMED, KeyScreens, choose_stills, draw, stills
from workbook.views.screen import Page, Screen, Sheet

FROM_WALLET = ("choose app", "choose card", "confirm")


def film(flow, name, *acts, **more):
    """The film of a script whose acts each come a second after the last that was seen."""
    script = Script(flow, phone=name, **more)
    for act in acts:
        last = play(script).film.frames[-1]
        script = script.then(act, last.at + 1, last.screen.entries[-1] if act == "choose card" else "")
    return play(script).film


def kept(flow, name, *acts, **more):
    return [still.screen for still in KeyScreens(film(flow, name, *acts, **more)).stills]


@pytest.mark.rule("FLOW-1")
def test_platform_a_is_told_from_the_wait_to_the_hidden_button():
    told = [(screen.button, screen.sheet) for screen in kept("platform A", "", "tap")]
    assert told == [("absent", ""), ("shown", ""), ("disabled", ""), ("disabled", Sheet.ADDED), ("hidden", "")]


@pytest.mark.rule("FLOW-3")
def test_platform_b_is_told_with_the_sheet_and_the_label():
    told = [(screen.button, screen.sheet, screen.label) for screen in kept("platform B", "with a watch", "tap")]
    assert told[:2] == [("absent", "", ""), ("shown", "", "")]
    assert [sheet for _, sheet, _ in told[2:4]] == [Sheet.UP, Sheet.ADDED]
    assert told[-1][2] == "Added to Wallet"


@pytest.mark.rule("X-FLOW-1")
def test_the_wallets_flow_is_told_by_what_the_cardholder_does():
    told = [screen.page for screen in kept("from the wallet", "app was opened", *FROM_WALLET)]
    assert told == [Page.LOOKING, Page.APPS, Page.CARDS, Page.AUTHORIZING, Page.ADDED]


@pytest.mark.rule("B-FIN-1")
def test_after_a_failure_the_sheet_is_gone_and_the_button_can_be_pressed_again():
    last = kept("platform B", "wallet fails", "tap")[-1]
    assert (last.sheet, last.button, last.label) == ("", "shown", "Not added")
    assert [one.enabled for one in draw(last).controls if one.act == "tap"] == [True]


@rows(("flow", "name"), [(flow, name) for flow in FLOWS for name in FLOWS[flow].phones])
def test_every_phone_has_a_strip(flow, name):
    acts = FROM_WALLET[: 1 + 2 * (name == "app was opened")] if flow == "from the wallet" else ("tap",)
    shown = film(flow, name, *acts)
    panel = KeyScreens(shown)
    told = panel.stills
    assert 1 <= len(told) <= 5
    assert (told[0].picture, told[-1].picture) == (draw(shown.frames[0].screen), draw(shown.frames[-1].screen))
    assert len({still.picture.svg for still in told}) == len(told)
    assert [still.at for still in told] == sorted(still.at for still in told)


def test_each_screen_has_its_picture_its_time_and_its_words():
    panel = KeyScreens(film("platform A", "", "tap"))
    html = panel.html()
    pictures = [base64.b64decode(one).decode() for one in re.findall(r"base64,([^\"]+)", html)]
    assert pictures == [still.picture.svg for still in panel.stills]
    for still in panel.stills:
        assert f"<b>{still.at:.3f} s</b> {still.picture.alt}" in unescape(html)
    assert html.count(f'<p style="font-size:12px;margin:4px 0">{ASSUMED.replace(chr(39), "&#x27;")}</p>') == 1
    assert "<script" not in html


def test_a_film_in_which_nothing_happens_shows_what_was_before():
    whole = film("platform A", "")
    empty = Film(whole.title, whole.machine, whole.sequence, (), (), Screen(card=FIRST))
    assert [still.screen for still in stills(empty)] == [Screen(card=FIRST)]
    assert KeyScreens(empty).text().count("The home screen") == 1


def test_a_story_that_ends_as_it_began_is_told_with_its_end():
    shown = stills(film("platform A", "", "tap"))
    assert choose_stills((*shown, shown[0])) == (*choose_stills((*shown, shown[0]))[:-1], shown[0])


@pytest.mark.parametrize(
    ("name", "panel"),
    {
        "phone_platform_a": ("platform A", "", "tap"),
        "phone_platform_b": ("platform B", "with a watch", "tap"),
        "phone_wallet": ("from the wallet", "app was opened", *FROM_WALLET),
    }.items(),
)
def test_the_words_are_as_they_were(golden, name, panel):
    golden(name, KeyScreens(film(*panel)).text())


def test_a_screen_behind_a_sheet_is_no_new_screen():
    one, other = (replace(APP, sheet=Sheet.FAILED, button=button) for button in ("shown", "disabled"))
    assert draw(one) == draw(other)
