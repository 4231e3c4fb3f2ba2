from dataclasses import replace

import pytest
from hypothesis import given, settings
from rows import rows
from screens import ANY, APP, FIRST, IDS, WALLET

from workbook.views.screen import Page, Screen, Sheet, describe

SHOWS = "The app shows the card ending in 0001; "
SHEET = "The wallet's sheet: "
WATCH = "The watch's wallet, on the phone, "


@rows(
    ("screen", "told"),
    [
        (Screen(), "The home screen, with the issuer's app, Example Bank, and the wallet."),
        (replace(APP, waits=True), SHOWS + "no add button, waiting for an answer."),
        (replace(APP, button="shown"), SHOWS + "add button shown."),
        (
            replace(APP, button="disabled", waits=True),
            SHOWS + "add button disabled, waiting for an answer.",
        ),
        (
            replace(APP, button="hidden", label="Added to Wallet"),
            SHOWS + "add button hidden; it says “Added to Wallet”.",
        ),
        (
            replace(APP, sheet=Sheet.UP),
            SHEET + "the wallet asks the cardholder whether to add the card ending in 0001.",
        ),
        (
            replace(APP, sheet=Sheet.FAILED, on_watch=frozenset()),
            SHEET + "the wallet could not add the card ending in 0001. The watch holds no card.",
        ),
        (replace(WALLET, page=Page.APPS), "The wallet app lists the apps with cards: Example Bank."),
        (
            replace(WALLET, page=Page.CARDS, entries=IDS[:2]),
            "The wallet app shows the cards to add: the card ending in 0001, the card ending in 0002.",
        ),
        (replace(WALLET, page=Page.CARDS, entries=()), "The wallet app shows the cards to add: none."),
        (
            replace(WALLET, page=Page.AUTHORIZING),
            "The extension asks the cardholder to confirm or cancel, for the card ending in 0002.",
        ),
        (
            replace(WALLET, page=Page.NOT_ADDED, surface="watch", on_watch=frozenset({FIRST})),
            WATCH + "says that the card ending in 0002 was not added. The watch holds the card ending in 0001.",
        ),
    ],
)
def test_what_is_told(screen, told):
    assert describe(screen) == told


@rows("page", [page for page in Page if page])
def test_every_page_is_told_apart(page):
    others = {describe(replace(WALLET, page=other)) for other in Page if other is not page}
    assert describe(replace(WALLET, page=page)) not in others


@pytest.mark.parametrize("sheet", [sheet for sheet in Sheet if sheet])
def test_every_sheet_is_told_apart(sheet):
    others = {describe(replace(APP, sheet=other)) for other in Sheet if other is not sheet}
    assert describe(replace(APP, sheet=sheet)) not in others


@given(ANY)
@settings(deadline=None)
def test_any_screen_can_be_told(screen):
    told = describe(screen)
    assert told.isprintable()
    assert told.endswith(".")
    assert ("watch holds" in told) is (screen.on_watch is not None)
