"""What the cardholder sees, as one self-contained SVG document: no script, no outside font, nothing to load.

A pure function of the screen. Each screen is a stream of shapes and of places to press, in the order of reading; here
the two are told apart and put into the phone's body, and a watch stands beside it where one is paired.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.views.markup import tag, trusted
from workbook.views.paint import STYLE, block, placed
from workbook.views.phone_app_svg import app
from workbook.views.phone_frame_svg import BEZEL, HEIGHT, WIDTH, body
from workbook.views.phone_home_svg import home
from workbook.views.phone_sheet_svg import sheet
from workbook.views.phone_text import describe
from workbook.views.phone_wallet_svg import wallet
from workbook.views.picture import Control, Picture
from workbook.views.screen import Place
from workbook.views.watch_svg import HEIGHT as WATCH_HEIGHT
from workbook.views.watch_svg import WIDTH as WATCH_WIDTH
from workbook.views.watch_svg import watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

SPACE = 12
"""Around the phone."""
GAP = 18
"""Between phone and watch."""


def draw(screen: Screen) -> Picture:
    """The picture of a screen with its places to press, the same bytes on every run."""
    width, height = size(screen)
    drawn = list(_front(screen))
    told = describe(screen)
    controls = tuple(_moved(one) for one in drawn if isinstance(one, Control))
    shapes = [one for one in drawn if not isinstance(one, Control)]
    document = tag(
        "svg",
        tag("title", f"Phone: {screen.place}"),
        tag("desc", told),
        tag("style", trusted(STYLE)),
        block(0, 0, width, height, 14, "table"),
        placed(SPACE + BEZEL, SPACE + BEZEL, *shapes, *body()),
        *_watch(screen),
        xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-phone",
        viewBox=f"0 0 {width} {height}", width=width, height=height,
    )  # fmt: skip
    return Picture(str(document), width, height, told, controls)


def size(screen: Screen) -> tuple[int, int]:
    """The picture's width and height: it is wider where a watch is paired."""
    beside = 0 if screen.on_watch is None else GAP + WATCH_WIDTH
    return WIDTH + 2 * SPACE + beside, HEIGHT + 2 * SPACE


def _front(screen: Screen) -> Iterator[Markup | Control]:
    match screen.place:
        case Place.HOME:
            return home(screen)
        case Place.WALLET:
            return wallet(screen)
        case Place.APP:
            return sheet(screen) if screen.sheet else app(screen)


def _watch(screen: Screen) -> Iterator[Markup]:
    if screen.on_watch is not None:
        yield placed(SPACE + WIDTH + GAP - 2, SPACE + (HEIGHT - WATCH_HEIGHT) / 2, *watch(screen))


def _moved(control: Control) -> Control:
    """From the phone's screen to the whole picture."""
    return replace(control, x=control.x + SPACE + BEZEL, y=control.y + SPACE + BEZEL)
