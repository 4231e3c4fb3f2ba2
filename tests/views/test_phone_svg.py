import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from contrast import contrast
from hypothesis import given
from rows import rows
from screens import ANY, APP, BUTTONS, FIRST, IDS, NAMED, WALLET

from workbook.lessons.script import ACTS
from workbook.play.loop import NO_BUTTON_YET
from workbook.views.paint import PHONE_DARK, PHONE_LIGHT
from workbook.views.phone import PHONE_STYLE, design, designs, draw, mask
from workbook.views.screen import Page, Screen, Sheet

NS = "http://www.w3.org/2000/svg"
ALLOWED = {"svg", "title", "desc", "style", "rect", "path", "circle", "g", "text"}


def parsed(screen):
    return ET.fromstring(draw(screen).svg)


def words(screen):
    return [text.text for text in parsed(screen).iter(f"{{{NS}}}text")]


def acts(screen):
    return [(one.act, one.value, one.enabled) for one in draw(screen).controls]


def well_made(picture):
    """What holds of every picture: it is an SVG of known elements, and what can be pressed can be pressed."""
    root = ET.fromstring(picture.svg)
    assert {element.tag.partition("}")[2] for element in root.iter()} <= ALLOWED
    assert not any(
        name == "id" or name.startswith("on") or "href" in name for one in root.iter() for name in one.attrib
    )
    assert root.find(f"{{{NS}}}desc").text == picture.alt
    for one in picture.controls:
        assert one.act in ACTS
        assert one.label
        assert one.height >= 44
        assert 0 <= one.x <= one.x + one.width <= picture.width
        assert 0 <= one.y <= one.y + one.height <= picture.height
    assert not any(overlap(one, other) for one, other in combinations(picture.controls, 2))


def overlap(one, other):
    apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (apart_x or one.y + one.height <= other.y or other.y + other.height <= one.y)


@pytest.mark.slow
@given(ANY)
def test_any_screen_can_be_drawn(screen):
    picture = draw(screen)
    well_made(picture)
    assert picture == draw(screen)


@rows("screen", NAMED)
def test_every_state_can_be_drawn(screen):
    well_made(draw(screen))


def test_its_style_reaches_no_other_picture():
    rules = re.sub(r"@media[^{]*\{", "", PHONE_STYLE)
    assert all(rule.startswith(".wb-phone") for rule in re.findall(r"[^{}]+(?=\{)", rules))
    assert set(re.findall(r"var\(--(\w+)\)", PHONE_STYLE)) == set(PHONE_LIGHT) == set(PHONE_DARK)


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize(
    ("button", "expected"), [("shown", [("tap", "", True)]), ("disabled", [("tap", "", False)]), ("hidden", []),
                             ("absent", [])])  # fmt: skip
def test_the_add_button_can_be_pressed_only_where_it_is_shown(button, expected):
    assert [act for act in acts(replace(APP, button=button)) if act[0] == "tap"] == expected


@pytest.mark.rule("API-10")
def test_a_page_at_rest_can_be_left_and_opened_again():
    again = ("open", APP.card, True)
    assert again in acts(replace(APP, button="hidden", waits=False))
    assert again not in acts(replace(APP, button="disabled", waits=True))


@pytest.mark.rule("A-BTN-1")
def test_each_state_of_the_button_has_its_own_picture():
    drawn = [draw(replace(APP, button=button, waits=True)).svg for button in BUTTONS]
    assert len(set(drawn)) == len(BUTTONS)
    assert "Add to Wallet" in words(replace(APP, button="shown"))
    assert "Adding…" in words(replace(APP, button="disabled"))


@pytest.mark.rule("B-FIN-2")
@rows("label", ["Added to Wallet", "Available in Wallet", "In the wallet", "Not added"])
@rows("button", BUTTONS)
def test_a_label_is_written_out_beside_any_button(button, label):
    assert label in words(replace(APP, button=button, label=label))


@pytest.mark.rule("APP-9")
def test_a_page_whose_get_failed_has_a_button_that_opens_it_anew():
    shown = replace(APP, button="hidden", label=NO_BUTTON_YET)
    assert NO_BUTTON_YET in " ".join(words(shown))
    assert [(one.act, one.value, one.enabled) for one in draw(shown).controls if one.label == "Try again"] == [
        ("open", APP.card, True)
    ]


def test_a_button_is_not_still_adding_once_the_card_is_said_to_be_there():
    assert "Checking…" in words(replace(APP, button="disabled", label="Added to Wallet"))


@pytest.mark.parametrize("sheet", [sheet for sheet in Sheet if sheet])
def test_nothing_behind_a_sheet_can_be_pressed(sheet):
    assert acts(replace(APP, button="shown", sheet=sheet)) == []


@pytest.mark.rule("X-FLOW-1")
@rows(
    ("page", "expected"),
    [
        (Page.LOOKING, []),
        (Page.APPS, [("choose app", "", True)]),
        (Page.NO_APPS, [("look", "", True)]),
        (Page.NO_CARDS, [("look", "", True)]),
        (Page.NOT_ADDED, [("look", "", True)]),
        (Page.CARDS, [("choose card", one, True) for one in IDS[:3]]),
        (Page.AUTHORIZING, [("confirm", "", True), ("cancel", "", True)]),
        (Page.ADDED, []),
    ],
)
def test_a_page_offers_what_the_cardholder_can_do_there(page, expected):
    assert acts(replace(WALLET, page=page)) == expected


def test_at_home_both_apps_can_be_opened():
    assert acts(Screen(card=FIRST)) == [("open", FIRST, True), ("look", "", True)]


def test_cards_that_find_no_room_are_counted():
    screen = replace(WALLET, page=Page.CARDS, entries=IDS * 3)
    assert f"and {18 - len(draw(screen).controls)} more" in words(screen)


def test_a_watch_stands_beside_the_phone_only_where_one_is_paired():
    with_watch = replace(APP, on_watch=frozenset())
    assert draw(with_watch).width > draw(APP).width == 324
    assert "No card" in words(with_watch)
    assert mask(IDS[4]) in words(replace(APP, on_watch=frozenset(IDS[4:])))
    assert "and 1 more" in words(replace(APP, on_watch=frozenset(IDS[4:])))


def test_it_says_where_the_card_is_now():
    added = replace(APP, sheet=Sheet.ADDED, on_phone=frozenset({FIRST}))
    assert "On this phone" in words(added)
    assert "On phone and watch" in words(replace(added, on_watch=frozenset({FIRST})))
    assert "On the watch" in words(replace(added, on_phone=frozenset(), on_watch=frozenset({FIRST})))


@pytest.mark.rule("X-ART-1")
def test_cards_differ_and_bear_no_number():
    assert len({design(one) for one in IDS}) == len(IDS) == len(designs())
    assert design("other") == design("other")
    assert not any(FIRST in text for text in words(APP))
    assert words(APP).count(mask(FIRST)) == 1


@pytest.mark.parametrize("look", designs(), ids=lambda look: look.words)
def test_the_words_on_a_card_have_contrast(look):
    ground = re.findall('<[^>]*fill="(#[0-9a-f]{6})"', look.shapes)[0]
    assert f'<rect fill="{ground}" width="240" height="152" rx="13"/>' in look.shapes
    assert contrast(look.words, ground) >= 4.5
