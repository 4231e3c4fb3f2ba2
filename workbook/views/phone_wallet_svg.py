"""The wallet app, where the flow may begin (FLOW-5), page by page. How it looks is assumed: the document shows none.

Cards for a watch are added in the watch's app on the phone; that is one of the two places that the document names for
them, and the one in which there is room to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import BANK, CARD, card, masked, tall
from workbook.views.markup import void
from workbook.views.paint import block, rule, sign, word
from workbook.views.phone_app_svg import authorization, named, pressed
from workbook.views.phone_frame_svg import CENTRE, MARGIN, ROOM, WIDE, bars
from workbook.views.phone_frame_svg import screen as empty
from workbook.views.phone_sheet_svg import outcome
from workbook.views.picture import Control
from workbook.views.screen import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

    Drawn = Iterator[Markup | Control]

LIST, FOOT = 148, 560
"""Where a list begins, and where it ends at the latest."""
LEAST, MOST = 44, 68
"""How high an entry is."""
OUTCOME = 396
BACK = 496
"""Where the button stands that leads back to the list (assumed)."""
HELD = {"phone": "on this phone", "watch": "on the watch"}


def wallet(screen: Screen) -> Drawn:
    """The wallet app's page, or what it has put in front."""
    if screen.page is Page.AUTHORIZING:
        yield from authorization(screen)
        return
    yield from empty()
    yield from bars()
    yield from _header(screen)
    yield from PAGES.get(screen.page, _empty_page)(screen)


def held(screen: Screen) -> str:
    """Where the wallet app puts a card."""
    return HELD.get(screen.surface, HELD["phone"])


def _header(screen: Screen) -> Drawn:
    watch = screen.surface == "watch"
    yield sign("watch" if watch else "wallet", MARGIN + 9, 75, line="ink", scale=1.15, width=1.6)
    yield word("Watch wallet" if watch else "Wallet", MARGIN + 30, 83, 24, weight=700, room=230)


def _headed(text: str) -> Iterator[Markup]:
    yield word(text, MARGIN, LIST - 16, 13, fill="muted", weight=500, room=250)


def _looking(_screen: Screen) -> Drawn:
    yield from _headed("Apps with cards")
    yield from _skeleton(2)
    yield from _waiting("Looking for apps…")


def _apps(_screen: Screen) -> Drawn:
    yield from _headed("Apps with cards")
    yield block(MARGIN, LIST, ROOM, 64, 14, "panel")
    yield from _bank(LIST + 32)
    yield sign("chevron", WIDE - MARGIN - 18, LIST + 32, line="muted", width=1.8)
    yield Control("choose app", BANK, MARGIN, LIST, ROOM, 64)


def _no_apps(_screen: Screen) -> Drawn:
    yield from _nothing("No apps with cards", "No app here offers a card")
    yield from pressed("look", "Look again", BACK)


def _fetching(_screen: Screen) -> Drawn:
    yield from _headed(f"Cards from {BANK}")
    yield from _skeleton(3)
    yield from _waiting("Asking for your cards…")


def _cards(screen: Screen) -> Drawn:
    yield from _headed(f"Cards from {BANK}")
    room = FOOT - LIST
    shown = screen.entries[: room // LEAST if len(screen.entries) * LEAST <= room else room // LEAST - 1]
    high = max(LEAST, min(MOST, room // max(len(screen.entries), 1)))
    yield block(MARGIN, LIST, ROOM, high * max(len(shown), 1), 14, "panel")
    for number, entry in enumerate(shown):
        yield from _entry(entry, number, LIST + high * number, high)
    if more := len(screen.entries) - len(shown):
        yield word(f"and {more} more", CENTRE, LIST + high * len(shown) + 24, 13, fill="muted", anchor="middle")


def _entry(entry: str, number: int, y: float, high: float) -> Drawn:
    wide = min(74, (high - 12) * 1.55)
    middle, left = y + high / 2, MARGIN + 22 + wide
    yield card(entry, MARGIN + 10, middle - tall(wide) / 2, wide)
    yield word(CARD, left, middle - 3, 13, weight=600, room=120)
    yield word(masked(entry), left, middle + 14, 12, fill="muted", room=110)
    yield sign("chevron", WIDE - MARGIN - 14, middle, line="muted", width=1.8)
    if number:
        yield rule(left, y, ROOM - wide - 34)
    yield Control("choose card", f"{CARD} {masked(entry)}", MARGIN, y, ROOM, high, entry)


def _no_cards(_screen: Screen) -> Drawn:
    yield from _nothing("No card to add", f"{BANK} offers none now")
    yield from pressed("look", "Back to the list", BACK)


def _adding(screen: Screen) -> Drawn:
    yield from _chosen(screen)
    yield from outcome("spinner", "fill", "Adding card…", "This takes a moment", OUTCOME)


def _added(screen: Screen) -> Drawn:
    yield from _chosen(screen)
    yield from outcome("check", "good", "Card added", held(screen).capitalize(), OUTCOME)


def _not_added(screen: Screen) -> Drawn:
    yield from _chosen(screen)
    yield from outcome("cross", "refused", "Card not added", "You can try again", OUTCOME)
    yield from pressed("look", "Back to the list", BACK)


def _empty_page(_screen: Screen) -> Drawn:
    yield from _nothing("Add a card", "from an app that has one")


def _chosen(screen: Screen) -> Iterator[Markup]:
    yield card(screen.card, MARGIN, 116, ROOM)
    yield from named(screen, 116)


def _bank(middle: float) -> Iterator[Markup]:
    yield block(MARGIN + 12, middle - 20, 40, 40, 11, "accent")
    yield sign("arch", MARGIN + 32, middle, line="label", scale=1.3, width=1.5)
    yield word(BANK, MARGIN + 64, middle - 2, 14, weight=600, room=140)
    yield word("App on this phone", MARGIN + 64, middle + 15, 11, fill="muted", room=140)


def _skeleton(rows: int) -> Iterator[Markup]:
    """Where rows will stand."""
    yield block(MARGIN, LIST, ROOM, MOST * rows, 14, "panel")
    for number in range(rows):
        y = LIST + MOST * number
        yield block(MARGIN + 12, y + 12, 68, 44, 8, "fill")
        yield block(MARGIN + 96, y + 20, 96, 10, 5, "fill")
        yield block(MARGIN + 96, y + 38, 62, 9, 4.5, "fill")


def _waiting(told: str) -> Iterator[Markup]:
    yield sign("spinner", CENTRE, 416, line="muted", scale=1.3, width=1.8)
    yield word(told, CENTRE, 452, 13, fill="muted", anchor="middle")


def _nothing(headline: str, told: str) -> Iterator[Markup]:
    """An outline where a card would be, and why there is none."""
    outline = {"x": CENTRE - 58, "y": 218, "width": 116, "height": 74, "rx": 9, "stroke_dasharray": "5 5"}
    yield void("rect", class_="wb-line-muted", fill="none", stroke_width=1.5, **outline)
    yield sign("cross", CENTRE, 255, line="muted", width=1.8)
    yield word(headline, CENTRE, 334, 18, weight=700, anchor="middle")
    yield word(told, CENTRE, 358, 13, fill="muted", anchor="middle")


PAGES: Mapping[Page, Callable[[Screen], Drawn]] = {
    Page.LOOKING: _looking,
    Page.APPS: _apps,
    Page.NO_APPS: _no_apps,
    Page.FETCHING: _fetching,
    Page.CARDS: _cards,
    Page.NO_CARDS: _no_cards,
    Page.ADDING: _adding,
    Page.ADDED: _added,
    Page.NOT_ADDED: _not_added,
}
"""Every page but the one that is the app's own."""
