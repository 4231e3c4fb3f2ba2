"""What the cardholder sees, in words: for those who do not see the picture, and for a console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import BANK, digits
from workbook.views.plain import clean
from workbook.views.screen import Page, Place, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from workbook.views.screen import Screen

BUTTONS: Mapping[str, str] = {
    "absent": "there is no add button",
    "shown": "the add button is shown",
    "disabled": "the add button is disabled",
    "hidden": "the add button is hidden",
}


def describe(screen: Screen) -> str:
    """One or two sentences: what is in front, and what the watch beside it holds."""
    return " ".join(filter(None, (_front(screen), _watch(screen))))


def named(card: str) -> str:
    """A card by its last characters."""
    return f"the card ending in {digits(card)}" if digits(card) else "the card"


def _front(screen: Screen) -> str:
    match screen.place:
        case Place.HOME:
            return f"The home screen, with the issuer's app, {BANK}, and the wallet."
        case Place.APP if screen.sheet:
            return f"Over the issuer's app, the wallet's sheet: {_sheet(screen)}."
        case Place.APP:
            return f"The issuer's app shows {named(screen.card)}; {_button(screen)}."
        case Place.WALLET:
            return f"{_wallet(screen)}."


def _sheet(screen: Screen) -> str:
    told = f"{screen.sheet} whether to add the card" if screen.sheet is Sheet.UP else str(screen.sheet)
    return told.removesuffix("the card") + named(screen.card)


def _button(screen: Screen) -> str:
    waits = " while the app waits for an answer" if screen.waits else ""
    label = f"; it says “{clean(screen.label)}”" if screen.label else ""
    return BUTTONS.get(screen.button, BUTTONS["absent"]) + waits + label


def _wallet(screen: Screen) -> str:
    """The wallet app, or the watch's app on the phone, and its page."""
    who = "The wallet app" if screen.surface != "watch" else "The watch's wallet, on the phone,"
    match screen.page:
        case Page.NONE:
            return f"{who} is open"
        case Page.APPS:
            return f"{who} {screen.page}: {BANK}"
        case Page.CARDS:
            return f"{who} {screen.page}: {_listed(screen.entries)}"
        case Page.AUTHORIZING:
            return f"The issuer's app asks the cardholder to confirm or cancel, for {named(screen.card)}"
        case Page.ADDING | Page.ADDED | Page.NOT_ADDED:
            return f"{who} {screen.page.replace('the card', named(screen.card))}"
        case _:
            return f"{who} {screen.page}"


def _listed(cards: Iterable[str]) -> str:
    return ", ".join(map(named, cards)) or "none"


def _watch(screen: Screen) -> str:
    if screen.on_watch is None:
        return ""
    return f"The watch holds {', '.join(_held(screen.on_watch)) or 'no card'}."


def _held(cards: Iterable[str]) -> Iterator[str]:
    return map(named, sorted(cards))
