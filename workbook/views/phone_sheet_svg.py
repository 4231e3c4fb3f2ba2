"""The wallet's sheet over the issuer's app. How it looks is assumed: the document shows none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import CARD, card, masked
from workbook.views.markup import void
from workbook.views.paint import block, disc, rule, sign, word
from workbook.views.phone_app_svg import behind
from workbook.views.phone_frame_svg import CENTRE, CORNER, HIGH, WIDE
from workbook.views.screen import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

SHADE = 0.42
"""How far the app behind is darkened."""
GAP = 6
TOP = 232
OUTCOME = 476


def sheet(screen: Screen) -> Iterator[Markup]:
    """The darkened app and the sheet before it. Nothing in it can be pressed: the simulated wallet goes on alone."""
    yield from behind(screen)
    yield void("rect", class_="wb-fill-shade", fill_opacity=SHADE, width=WIDE, height=HIGH, rx=CORNER)
    yield block(GAP, TOP, WIDE - 2 * GAP, HIGH - TOP - GAP, CORNER - GAP, "panel")
    yield sign("wallet", 34, TOP + 27, line="ink")
    yield word("Wallet", 50, TOP + 32, 14, weight=600)
    yield rule(GAP, TOP + 52, WIDE - 2 * GAP)
    yield card(screen.card, CENTRE - 68, TOP + 70, 136)
    yield word(f"{CARD} {masked(screen.card)}", CENTRE, TOP + 178, 13, fill="muted", anchor="middle")
    yield from _said(screen)
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, "ink")


def where(screen: Screen) -> str:
    """In which wallet the card is: the phone's, the watch's, or both."""
    watch = screen.on_watch is not None and screen.card in screen.on_watch
    phone = screen.card in screen.on_phone
    return "on phone and watch" if phone and watch else "on the watch" if watch else "on this phone"


def outcome(name: str, fill: str, headline: str, told: str, y: float) -> Iterator[Markup]:
    """A sign on a disc, what came of it, and where."""
    yield disc(CENTRE, y, 25, fill)
    yield sign(name, CENTRE, y, line="label" if fill != "fill" else "ink", scale=1.6, width=1.6)
    yield word(headline, CENTRE, y + 54, 19, weight=700, anchor="middle")
    yield word(told, CENTRE, y + 76, 13, fill="muted", anchor="middle")


def _said(screen: Screen) -> Iterator[Markup]:
    match screen.sheet:
        case Sheet.UP:
            yield from _asks()
        case Sheet.ADDED:
            yield from outcome("check", "good", "Card added", where(screen).capitalize(), OUTCOME)
        case Sheet.FAILED:
            yield from outcome("cross", "refused", "Card not added", "The wallet could not add it", OUTCOME)
        case _:
            yield from outcome("spinner", "fill", "Adding card…", "This takes a moment", OUTCOME)


def _asks() -> Iterator[Markup]:
    yield word("Add this card?", CENTRE, TOP + 222, 19, weight=700, anchor="middle")
    yield block(26, 480, WIDE - 52, 48, 14, "accent")
    yield word("Continue", CENTRE, 509, 15, fill="label", weight=600, anchor="middle")
    yield word("Not now", CENTRE, 561, 14, fill="accent", weight=600, anchor="middle")
