"""The home screen: a clock, a quiet landscape, and the two apps that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import BANK
from workbook.views.markup import void
from workbook.views.paint import block, sign, word
from workbook.views.phone_frame_svg import CENTRE, CORNER, HIGH, TIME, WIDE, bars
from workbook.views.phone_frame_svg import screen as empty
from workbook.views.picture import Control

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

ICON = 60
TOP = 452
BANK_X, WALLET_X = 54, WIDE - 54 - ICON


def home(screen: Screen) -> Iterator[Markup | Control]:
    """The home screen; what opens the issuer's app has the card as its value."""
    yield from empty("page")
    yield from _landscape()
    yield from bars()
    yield word(TIME, CENTRE, 142, 58, weight=300, anchor="middle")
    yield from _app("arch", "accent", "label", BANK, BANK_X)
    yield from _app("wallet", "tile", "bright", "Wallet", WALLET_X)
    yield Control("open", f"Open {BANK}", BANK_X - 18, TOP - 6, ICON + 36, 96, screen.card)
    yield Control("look", "Open Wallet", WALLET_X - 18, TOP - 6, ICON + 36, 96)


def _app(name: str, tile: str, line: str, called: str, x: float) -> Iterator[Markup]:
    yield block(x, TOP, ICON, ICON, 15, tile)
    yield sign(name, x + ICON / 2, TOP + ICON / 2, line=line, scale=1.9, width=1.3)
    yield word(called, x + ICON / 2, TOP + ICON + 20, 12, anchor="middle", weight=500, room=110)


def _landscape() -> Iterator[Markup]:
    bend = f"a{CORNER} {CORNER} 0 0 1-{CORNER}"
    foot = f"V{HIGH - CORNER}{bend} {CORNER}H{CORNER}{bend}-{CORNER}z"
    yield void("path", class_="wb-fill-far", d=f"M0 330C70 250 130 270 190 330C230 368 260 350 {WIDE} 330{foot}")
    yield void("path", class_="wb-fill-hill", d=f"M0 410C60 420 120 350 180 358C230 366 258 404 {WIDE} 410{foot}")
