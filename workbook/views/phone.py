"""The phone's screen as one self-contained SVG document, with a watch beside it where one is paired.

`draw` is a pure function of the screen. Each screen is a stream of shapes and of places to press, in the order of
reading; `draw` separates the two and frames the shapes with the phone's body. `KeyScreens` is a strip of such pictures.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from workbook.flows import messages as m
from workbook.play.loop import NO_BUTTON_YET
from workbook.views.film import Film
from workbook.views.html import Markup, View, join, tag, trust, void
from workbook.views.paint import FONT, PHONE_DARK, PHONE_LIGHT, Picture, Pressable, document, variables
from workbook.views.screen import BANK, InFront, Page, Screen, Sheet, describe, digits
from workbook.views.table import clean, cut, preformat, wrap

Drawn = Iterator[Markup | Pressable]

# The strokes of all drawings.

PHONE_STYLE = (
    f".wb-phone{{{variables(PHONE_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.wb-phone{{{variables(PHONE_DARK)}}}}}"
    f".wb-phone text{{font-family:{FONT};font-variant-numeric:tabular-nums}}"
    + "".join(f".wb-phone .wb-fill-{name}{{fill:var(--{name})}}" for name in PHONE_LIGHT)
    + "".join(f".wb-phone .wb-line-{name}{{stroke:var(--{name})}}" for name in PHONE_LIGHT)
)
# Line drawings around their own middle, about 16 units wide.
SIGNS = {
    "arch": "M-6.5 7v-7a6.5 6.5 0 0 1 13 0v7M-2.2 7v-6.4a2.2 2.2 0 0 1 4.4 0v6.4",
    "basket": "M-6.5-1.5h13l-2 7.5h-9zM-3.5-1.5l3.5-4.5l3.5 4.5",
    "check": "M-5.5.5l3.8 4l7.2-8.5",
    "chevron": "M-2.5-5l5 5l-5 5",
    "cross": "M-5-5l10 10m0-10l-10 10",
    "in": "M0-6.5v9M-4-1l4 4l4-4M-5.5 6.5h11",
    "lock": "M-6-1.5h12v9h-12zM-3.7-1.5v-2.6a3.7 3.7 0 0 1 7.4 0v2.6M0 2v2.4",
    "person": "M-3-4a3 3 0 1 0 6 0a3 3 0 1 0-6 0M-6 6.5c0-7 12-7 12 0",
    "spinner": "M0-7a7 7 0 1 1-7 7",
    "train": "M-5-6.5h10v9.5h-10zM-5-1h10M-4.5 7l1.5-4M4.5 7l-1.5-4",
    "wallet": "M-8-4.5a2 2 0 0 1 2-2h11v3.5M-8-4.5v9a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-5.5a2 2 0 0 0-2-2h-12M4 1.7h1",
    "warning": "M0-7l8 13.5h-16zM0-2.2v4M0 3.9v.1",
    "watch": "M-5-5h10v10h-10zM-3-5l.6-3.5h4.8l.6 3.5M-3 5l.6 3.5h4.8l.6-3.5",
}  # fmt: skip


def word(
    text: object, x: float, y: float, size: float = 15, *, fill: str = "ink", weight: int = 400,
    anchor: str | None = None, room: float = 242,
) -> Markup:  # fmt: skip
    """A text, cut to `room` pixels; a character is taken for 0.66 of its size wide, more than in any common font.

    15 is the least size: a player shows the phone in 0.74 of its size, so the words are 11 pixels high.
    """
    fitting = cut(clean(text), int(room / (size * 0.66)))
    place = {"x": x, "y": y, "font_size": size, "font_weight": weight, "text_anchor": anchor}
    return tag("text", fitting, class_=f"wb-fill-{fill}", **place)


def block(  # noqa: PLR0917  # four measures, a radius and a colour are read in that order everywhere
    x: float, y: float, width: float, height: float, radius: float, fill: str, *, line: str | None = None
) -> Markup:
    """A rectangle with round corners; a disc where the radius is half its side."""
    classes = f"wb-fill-{fill}" + (f" wb-line-{line}" if line else "")
    return void("rect", class_=classes, x=x, y=y, width=width, height=height, rx=radius)


def disc(x: float, y: float, radius: float, fill: str) -> Markup:
    """A disc about a point."""
    return block(x - radius, y - radius, 2 * radius, 2 * radius, radius, fill)


def sign(name: str, x: float, y: float, *, line: str, scale: float = 1, width: float = 1.6) -> Markup:
    """One of `SIGNS` about a point."""
    return void(
        "path", class_=f"wb-line-{line}", d=SIGNS[name], fill="none", stroke_width=width,
        stroke_linecap="round", stroke_linejoin="round", transform=_transform(x, y, scale),
    )  # fmt: skip


def place(x: float, y: float, *parts: Markup, scale: float = 1, class_: str | None = None) -> Markup:
    """The parts, moved to a point and scaled there."""
    return tag("g", *parts, class_=class_, transform=_transform(x, y, scale))


def hairline(x: float, y: float, width: float) -> Markup:
    """A thin line between two rows."""
    return void("path", class_="wb-line-rule", d=f"M{x:g} {y:g}h{width:g}")


def _transform(x: float, y: float, scale: float) -> str:
    return f"translate({x:g} {y:g})" + (f" scale({scale:g})" if scale != 1 else "")


# Card art: sober designs of plain geometry, one for each payment instrument, the same each time.
#
# A card's picture must show this card and no other, and must have neither a name nor a number on it (X-ART-1, wallet).
# The designs, the bank's name and the card's name are made up.

CARD_NAME = "Example card"
# In the proportions that the wallet asks for (wallet).
CARD_WIDTH, CARD_HEIGHT = 240, 152


class Design(NamedTuple):
    """The look of a card, the same in a light and a dark theme.

    Attributes:
        words: the colour of the words.
        shapes: what is behind the words.
    """

    words: str
    shapes: Markup


@cache
def designs() -> tuple[Design, ...]:
    """The pictures of the folder `cards`, in turn; the `color` of each is that of the words on it."""
    read = (path.read_text("utf-8").splitlines() for path in sorted(Path(__file__).with_name("cards").glob("*.svg")))
    return tuple(
        Design(re.findall(' color="(#[0-9a-f]{6})"', opening)[0], trust("".join(shapes)))
        for opening, *shapes, _closing in read
    )


def mask(instrument: str) -> str:
    """The number as an app shows it, all but the last characters hidden."""
    return f"•••• {digits(instrument)}".strip()


def design(instrument: str) -> Design:
    """The design of an instrument; consecutive ids have different ones."""
    last = digits(instrument)
    number = int(last) if last.isdecimal() else crc32(instrument.encode("utf-8", "replace"))
    return designs()[number % len(designs())]


def card(instrument: str, x: float, y: float, width: float) -> Markup:
    """The card with its upper left corner at a point; on a narrow one there are no words, which would be too small."""
    look = design(instrument)
    rim = {"x": 0.5, "y": 0.5, "width": CARD_WIDTH - 1, "height": CARD_HEIGHT - 1, "rx": 12.5}
    parts = [
        look.shapes,
        void("rect", fill="none", stroke="#ffffff", stroke_opacity=0.16, **rim),  # sets a dark card off a dark page
    ]
    if width >= 150:
        stroke = {"stroke": look.words, "stroke_width": 1.9, "stroke_linecap": "round"}
        parts.append(void("path", d=SIGNS["arch"], fill="none", transform="translate(24 25)", **stroke))
        parts.append(tag("text", BANK, x=39, y=31, font_size=15, font_weight=600, fill=look.words))
    return place(x, y, *parts, scale=round(width / CARD_WIDTH, 4))


def tall(width: float) -> float:
    """The height of a card of this width."""
    return round(width * CARD_HEIGHT / CARD_WIDTH, 1)


# The phone's body, the same for every screen. No maker's phone looks like it.

# The screen's size and the radius of its corners; all positions on it are in the same units.
WIDE, HIGH, CORNER = 282, 602, 37
CENTRE = WIDE / 2
MARGIN = 20
# The width between the margins.
INNER_WIDTH = WIDE - 2 * MARGIN


def body() -> Iterator[Markup]:
    """The frame around the screen. It is painted last, so that nothing shows beyond the round corners."""
    ring = {"x": -4.5, "y": -4.5, "width": WIDE + 9, "height": HIGH + 9, "rx": CORNER + 4.5}
    yield void("rect", class_="wb-line-bezel", fill="none", stroke_width=9, **ring)
    rim = {"x": -8.5, "y": -8.5, "width": WIDE + 17, "height": HIGH + 17, "rx": CORNER + 8.5}
    yield void("rect", class_="wb-line-rim", fill="none", **rim)
    yield block(WIDE + 9, 120, 2.5, 54, 1, "rim")
    yield block(CENTRE - 20, -6, 40, 3, 1.5, "rim")


def blank() -> Iterator[Markup]:
    """The empty screen, with a status line whose time never changes, and the bar at the foot."""
    yield block(0, 0, WIDE, HIGH, CORNER, "page")
    yield from bars()


def bars() -> Iterator[Markup]:
    """The status line and the bar at the foot."""
    yield word("9:30", 24, 28, weight=600)
    for number in range(4):
        yield block(204 + 6 * number, 25 - 2.5 * number, 4, 3 + 2.5 * number, 1, "ink")
    yield void("rect", class_="wb-line-ink", fill="none", x=234.5, y=18.5, width=20, height=9, rx=3)
    yield block(236.5, 20.5, 13, 5, 1.5, "ink")
    yield block(256, 21, 2, 4, 1, "ink")
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, "ink")


# The home screen: a clock, a quiet landscape, and the two apps that matter.


def home(screen: Screen) -> Drawn:
    """The home screen; the control that opens the issuer's app has the card as its value."""
    bend = f"a{CORNER} {CORNER} 0 0 1-{CORNER}"
    foot = f"V{HIGH - CORNER}{bend} {CORNER}H{CORNER}{bend}-{CORNER}z"
    yield block(0, 0, WIDE, HIGH, CORNER, "page")
    yield void("path", class_="wb-fill-far", d=f"M0 330C70 250 130 270 190 330C230 368 260 350 {WIDE} 330{foot}")
    yield void("path", class_="wb-fill-hill", d=f"M0 410C60 420 120 350 180 358C230 366 258 404 {WIDE} 410{foot}")
    yield from bars()
    yield word("9:30", CENTRE, 142, 58, weight=300, anchor="middle")
    for name, tile, line, called, x, act, value in (
        ("arch", "accent", "label", BANK, 54, "open", screen.card),
        ("wallet", "tile", "bright", "Wallet", WIDE - 114, "look", ""),
    ):
        yield block(x, 452, 60, 60, 15, tile)
        yield sign(name, x + 30, 482, line=line, scale=1.9, width=1.3)
        yield word(called, x + 30, 532, anchor="middle", weight=500, room=110)
        yield Pressable(act, f"Open {called}", x - 18, 446, 96, 96, value)


# The issuer's app: the card's page with the add button, and the page that authenticates the cardholder.
#
# The document says when the button is shown, hidden or disabled, and has the two labels (A-BTN-1, A-CAN-2, B-CAN-1,
# B-FIN-2). The page around them and the words on a disabled button are made up.

# Where the button begins, and how high it is.
BUTTON, TALL = 502, 52


def app(screen: Screen) -> Drawn:
    """The card's page: the card, its last movements, the button, and a label above it or in its place."""
    yield from behind(screen)
    yield from card_name(screen, 92)
    yield block(MARGIN, 288, INNER_WIDTH, 136, 14, "panel")
    rows = (
        ("basket", "Groceries", "Yesterday", "24.10"),
        ("train", "Train ticket", "Monday", "7.80"),
        ("in", "Salary", "1 June", "+1,850.00"),
    )
    for y, (name, what, when, amount) in zip((312, 356, 400), rows, strict=True):
        yield disc(MARGIN + 24, y, 13, "fill")
        yield sign(name, MARGIN + 24, y, line="muted", scale=0.85, width=1.6)
        yield word(what, MARGIN + 46, y - 2, weight=500, room=130)
        yield word(when, MARGIN + 46, y + 15, fill="muted", room=100)
        yield word(amount, WIDE - MARGIN - 12, y + 5, anchor="end", room=90)
        if y > 312:
            yield hairline(MARGIN + 46, y - 22, INNER_WIDTH - 58)
    yield from _button(screen)
    if screen.label == NO_BUTTON_YET:
        for at, line in enumerate(wrap(screen.label, 24)):  # as many letters as `word` has room for
            yield word(line, CENTRE, 456 + 22 * at, weight=500, anchor="middle")
        yield from main_button("open", "Try again", BUTTON, screen.card)
    elif screen.label:
        name, colour = {
            "Added to Wallet": ("check", "good"),
            "Not added": ("warning", "refused"),
        }.get(screen.label, ("wallet", "ink"))
        top, high = (456, 36) if screen.button in ("shown", "disabled") else (BUTTON, TALL)
        middle = top + high / 2
        yield block(MARGIN, top, INNER_WIDTH, high, 14, "panel")
        yield sign(name, 50, middle, line=colour, width=2)
        yield word(screen.label, CENTRE + 8, middle + 5, fill=colour, weight=600, anchor="middle", room=200)
    if not screen.waits:
        yield Pressable("open", "Leave the card's page and open it again", MARGIN - 6, 38, 68, 46, screen.card)


def behind(screen: Screen) -> Iterator[Markup]:
    """The part of the page that is visible above a sheet."""
    yield from blank()
    yield from header(back=True)
    yield card(screen.card, MARGIN, 92, INNER_WIDTH)


def card_name(screen: Screen, top: float) -> Iterator[Markup]:
    """The card's name and number, below a card that begins at `top`."""
    below = top + tall(INNER_WIDTH)
    yield word(CARD_NAME, MARGIN, below + 26, 16, weight=600, room=150)
    yield word(mask(screen.card), WIDE - MARGIN, below + 26, fill="muted", anchor="end", room=110)


def header(*, back: bool = False) -> Iterator[Markup]:
    """The bank's sign and name, and the cardholder's disc; perhaps the arrow back from a card's page."""
    left = MARGIN
    if back:
        left += 26
        yield void("path", class_="wb-line-accent", fill="none", stroke_width=2.4, d=f"M{MARGIN + 12} 52l-9 9l9 9")
    yield block(left, 46, 30, 30, 9, "accent")
    yield sign("arch", left + 15, 61, line="label")
    yield word(BANK, left + 40, 66, 16, weight=600, room=150)
    yield disc(WIDE - MARGIN - 15, 61, 15, "fill")
    yield sign("person", WIDE - MARGIN - 15, 61, line="muted", width=1.5)


def authorization(screen: Screen) -> Drawn:
    """The app's own page that the wallet puts in front, with both ways to leave it."""
    yield from blank()
    yield from header()
    yield card(screen.card, CENTRE - 78, 112, 156)
    yield word(f"{CARD_NAME} {mask(screen.card)}", CENTRE, 236, fill="muted", anchor="middle")
    yield disc(CENTRE, 304, 30, "fill")
    yield sign("lock", CENTRE, 303, line="ink", scale=1.5, width=1.3)
    yield word("Confirm it's you", CENTRE, 370, 21, weight=700, anchor="middle")
    yield word("before this card is added", CENTRE, 394, fill="muted", anchor="middle", room=290)
    yield from main_button("confirm", "Confirm", 468)
    yield word("Cancel", CENTRE, 553, 15, fill="accent", weight=600, anchor="middle")
    yield Pressable("cancel", "Cancel", MARGIN, 526, INNER_WIDTH, 44)


def main_button(act: str, label: str, y: float, value: str = "") -> Drawn:
    """The main button of a page."""
    yield block(MARGIN, y, INNER_WIDTH, TALL, 14, "accent")
    yield word(label, CENTRE, y + 31, 16, fill="label", weight=600, anchor="middle")
    yield Pressable(act, label, MARGIN, y, INNER_WIDTH, TALL, value)


def _button(screen: Screen) -> Drawn:
    match screen.button:
        case "shown":  # the sign's place cannot depend on the words, whose width depends on the font
            yield from main_button("tap", "Add to Wallet", BUTTON)
            yield sign("wallet", 50, BUTTON + TALL / 2, line="label")
        case "disabled":
            words = "Checking…" if screen.label else "Adding…"
            yield block(MARGIN, BUTTON, INNER_WIDTH, TALL, 14, "fill")
            yield sign("spinner", 50, BUTTON + TALL / 2, line="muted", width=2)
            yield word(words, CENTRE, BUTTON + 31, 16, fill="muted", weight=600, anchor="middle")
            yield Pressable("tap", "Add to Wallet", MARGIN, BUTTON, INNER_WIDTH, TALL, enabled=False)
        case "absent" if screen.waits:
            yield block(MARGIN, BUTTON, INNER_WIDTH, TALL, 14, "fill")
            yield block(CENTRE - 60, BUTTON + 21, 120, 10, 5, "rule")
        case _:
            return


# The wallet's sheet over the issuer's app. How it looks is assumed: the document shows none.

# How much the app behind is darkened.
SHEET_SHADE = 0.42


def sheet(screen: Screen) -> Iterator[Markup]:
    """The darkened app with the sheet in front. Nothing in it can be pressed, so nothing in it looks like a button."""
    yield from behind(screen)
    yield void("rect", class_="wb-fill-shade", fill_opacity=SHEET_SHADE, width=WIDE, height=HIGH, rx=CORNER)
    yield block(6, 232, WIDE - 12, HIGH - 238, CORNER - 6, "panel")
    yield sign("wallet", 34, 259, line="ink")
    yield word("Wallet", 50, 264, weight=600)
    yield hairline(6, 284, WIDE - 12)
    yield card(screen.card, CENTRE - 68, 302, 136)
    yield word(f"{CARD_NAME} {mask(screen.card)}", CENTRE, 410, fill="muted", anchor="middle")
    yield from outcome(screen.sheet, where(screen), 476)
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, "ink")


def where(screen: Screen) -> str:
    """The wallet that holds the card: the phone's, the watch's, or both."""
    watch = screen.on_watch is not None and screen.card in screen.on_watch
    phone = screen.card in screen.on_phone
    return "on phone and watch" if phone and watch else "on the watch" if watch else "on this phone"


# By a member's name the sign and its colour, the headline, and the second line; if empty, the place of the card.
RESULTS: Mapping[str, tuple[str, str, str, str]] = {
    "UP": ("person", "fill", "Add this card?", "The cardholder decides"),
    "ADDING": ("spinner", "fill", "Adding card…", "This takes a moment"),
    "ADDED": ("check", "good", "Card added", ""),
    "FAILED": ("cross", "refused", "Card not added", "The wallet could not add it"),
    "NOT_ADDED": ("cross", "refused", "Card not added", "You can try again"),
}


def outcome(page: Sheet | Page, place: str, y: float) -> Iterator[Markup]:
    """A sign on a disc, the outcome, and a second line."""
    name, fill, headline, line = RESULTS[page.name]
    yield disc(CENTRE, y, 25, fill)
    yield sign(name, CENTRE, y, line="label" if fill != "fill" else "ink", scale=1.6, width=1.6)
    yield word(headline, CENTRE, y + 54, 19, weight=700, anchor="middle")
    yield word(line or place.capitalize(), CENTRE, y + 76, fill="muted", anchor="middle", room=290)


# The wallet app, where the flow may begin (FLOW-5), page by page. How it looks is assumed: the document shows none.
#
# Cards for a watch are added in the watch's app on the phone: of the two places that the document names, the one with
# room to read.

# Where a list begins.
LIST_TOP = 148


def wallet(screen: Screen) -> Drawn:
    """The wallet app's page, or the authorization screen that it puts in front."""
    page, watch = screen.page, screen.surface == "watch"
    if page is Page.AUTHORIZING:
        yield from authorization(screen)
        return
    yield from blank()
    yield sign("watch" if watch else "wallet", MARGIN + 9, 75, line="ink", scale=1.15, width=1.6)
    yield word("Watch wallet" if watch else "Wallet", MARGIN + 30, 83, 24, weight=700, room=230)
    match page:
        case Page.ADDING | Page.ADDED | Page.NOT_ADDED:
            yield card(screen.card, MARGIN, 116, INNER_WIDTH)
            yield from card_name(screen, 116)
            yield from outcome(page, "on the watch" if watch else "on this phone", 396)
            if page is Page.NOT_ADDED:
                yield from main_button("look", "Back to the list", 496)
        case Page.NONE:
            yield from _empty("Add a card", "from an app that has one", "")
        case Page.NO_APPS:
            yield from _empty("No apps with cards", "No app here offers a card", "Look again")
        case Page.NO_CARDS:
            yield from _empty("No card to add", f"{BANK} offers none now", "Back to the list")
        case Page.APPS:
            yield from _apps()
        case Page.CARDS:
            yield from _cards(screen)
        case Page.LOOKING:
            yield from _waiting("Apps with cards", 2, "Looking for apps…")
        case Page.FETCHING:
            yield from _waiting(f"Cards from {BANK}", 3, "Asking for your cards…")


def _heading(text: str) -> Markup:
    return word(text, MARGIN, LIST_TOP - 16, fill="muted", weight=500, room=250)


def _waiting(heading: str, rows: int, words: str) -> Iterator[Markup]:
    """Placeholders where a list will be."""
    yield _heading(heading)
    yield block(MARGIN, LIST_TOP, INNER_WIDTH, 68 * rows, 14, "panel")
    for y in range(LIST_TOP, LIST_TOP + 68 * rows, 68):
        yield block(MARGIN + 12, y + 12, 68, 44, 8, "fill")
        yield block(MARGIN + 96, y + 20, 96, 10, 5, "fill")
        yield block(MARGIN + 96, y + 38, 62, 9, 4.5, "fill")
    yield sign("spinner", CENTRE, 416, line="muted", scale=1.3, width=1.8)
    yield word(words, CENTRE, 452, fill="muted", anchor="middle")


def _empty(headline: str, reason: str, button: str) -> Drawn:
    """An outline where a card would be, and the reason why there is none."""
    outline = {"x": CENTRE - 58, "y": 218, "width": 116, "height": 74, "rx": 9, "stroke_dasharray": "5 5"}
    yield void("rect", class_="wb-line-muted", fill="none", stroke_width=1.5, **outline)
    yield sign("cross", CENTRE, 255, line="muted", width=1.8)
    yield word(headline, CENTRE, 334, 18, weight=700, anchor="middle")
    yield word(reason, CENTRE, 358, fill="muted", anchor="middle", room=290)
    if button:
        yield from main_button("look", button, 496)


def _apps() -> Drawn:
    yield _heading("Apps with cards")
    yield block(MARGIN, LIST_TOP, INNER_WIDTH, 64, 14, "panel")
    yield block(MARGIN + 12, LIST_TOP + 12, 40, 40, 11, "accent")
    yield sign("arch", MARGIN + 32, LIST_TOP + 32, line="label", scale=1.3, width=1.5)
    yield word(BANK, MARGIN + 64, LIST_TOP + 30, weight=600, room=140)
    yield word("App on this phone", MARGIN + 64, LIST_TOP + 48, fill="muted", room=170)
    yield sign("chevron", WIDE - MARGIN - 18, LIST_TOP + 32, line="muted", width=1.8)
    yield Pressable("choose app", BANK, MARGIN, LIST_TOP, INNER_WIDTH, 64)


def _cards(screen: Screen) -> Drawn:
    """The entries that fit, less high where there are many, and the number of those that do not fit."""
    entries, room, least = screen.entries, 412, 44  # the height of the list and of an entry
    visible = entries[: room // least if len(entries) * least <= room else room // least - 1]
    high = max(least, min(68, room // max(len(entries), 1)))
    wide = min(74, (high - 12) * 1.55)
    left = MARGIN + 22 + wide
    yield _heading(f"Cards from {BANK}")
    yield block(MARGIN, LIST_TOP, INNER_WIDTH, high * max(len(visible), 1), 14, "panel")
    for number, entry in enumerate(visible):
        y = LIST_TOP + high * number
        middle = y + high / 2
        yield card(entry, MARGIN + 10, middle - tall(wide) / 2, wide)
        yield word(CARD_NAME, left, middle - 3, weight=600, room=120)
        yield word(mask(entry), left, middle + 14, fill="muted", room=110)
        yield sign("chevron", WIDE - MARGIN - 14, middle, line="muted", width=1.8)
        if number:
            yield hairline(left, y, INNER_WIDTH - wide - 34)
        yield Pressable("choose card", f"{CARD_NAME} {mask(entry)}", MARGIN, y, INNER_WIDTH, high, entry)
    if more := len(entries) - len(visible):
        yield word(f"and {more} more", CENTRE, LIST_TOP + high * len(visible) + 24, fill="muted", anchor="middle")


# The watch beside the phone, with the cards that its own wallet holds.


def watch(screen: Screen) -> Iterator[Markup]:
    """The watch, where one is paired: its case between the ends of the strap."""
    yield block(28, 0, 76, 312, 16, "strap")
    yield block(0, 78, 132, 156, 40, "bezel", line="rim")
    yield block(131.5, 132, 4, 30, 2, "rim")
    yield block(9, 87, 114, 138, 32, "face")
    yield word("Wallet", 66, 111, fill="bright", weight=600, anchor="middle", room=90)
    cards = sorted(screen.on_watch or ())
    if not cards:
        outline = {"x": 23, "y": 122, "width": 86, "height": 55, "rx": 8, "stroke_dasharray": "4 4"}
        yield void("rect", class_="wb-line-dim", fill="none", stroke_width=1.3, **outline)
        yield word("No card", 66, 195, fill="dim", anchor="middle", room=90)
        return
    on_top = screen.card if screen.card in cards else cards[0]
    yield card(on_top, 23, 122, 86)
    yield word(mask(on_top), 66, 195, fill="bright", anchor="middle", room=94)
    if more := len(cards) - 1:
        yield word(f"and {more} more", 66, 212, fill="dim", anchor="middle", room=100)


@lru_cache(maxsize=128)
def draw(screen: Screen) -> Picture:
    """The picture of a screen with its places to press, the same bytes on every run."""
    # A run that is played once more, with a message broken, shows most of its screens again.
    match screen.place:
        case InFront.HOME:
            front = home(screen)
        case InFront.WALLET:
            front = wallet(screen)
        case InFront.APP:
            front = sheet(screen) if screen.sheet else app(screen)
    drawn = list(front)
    shapes = [part for part in drawn if isinstance(part, Markup)]
    width, height = 324 if screen.on_watch is None else 474, 644
    beside = [] if screen.on_watch is None else [place(328, 166, *watch(screen), class_="wb-watch")]
    parts = [block(0, 0, width, height, 14, "table"), *beside, place(21, 21, *shapes, *body())]
    picture = document("wb-phone", PHONE_STYLE, f"Phone: {screen.place}", describe(screen), (width, height), *parts)
    controls = (part for part in drawn if isinstance(part, Pressable))
    return replace(
        picture, controls=tuple(replace(control, x=control.x + 21, y=control.y + 21) for control in controls)
    )


# The phone as a notebook shows it: a strip of the few screens that tell the story, each with its time and words.

ASSUMED = "Assumed: the wallet's screens, and the words “Not added” and “In the wallet”."


@dataclass(frozen=True, slots=True)
class Still:
    """One screen of the story.

    Attributes:
        at: when it appeared, in seconds since the run began.
        screen: the screen.
        picture: its drawing; different screens may have the same one, as a sheet hides a part.
        acted: the cardholder acted on it.
    """

    at: float
    screen: Screen
    picture: Picture
    acted: bool = False

    @property
    def rank(self) -> int:
        """How much of the story the screen tells; the smaller, the more."""
        if self.acted or self.screen.page is Page.AUTHORIZING:
            return 0
        match self.screen.sheet or self.screen.page:
            case Sheet.ADDED | Sheet.FAILED | Page.ADDED | Page.NOT_ADDED:
                return 1
            case Sheet.UP:
                return 2
            case Sheet.ADDING | Page.ADDING:
                return 4
            case Page.FETCHING:
                return 5
            case _:  # such as a disabled button
                return 3


@dataclass(frozen=True, slots=True, repr=False)
class KeyScreens(View):
    """The phone's key screens in a film."""

    film: Film

    @property
    def stills(self) -> tuple[Still, ...]:
        """The screens that tell the story, in order, at most five."""
        return choose_stills(stills(self.film))

    def text(self) -> str:
        """The key screens in words, with the time at which each appeared."""
        lines = [f"Phone: {self.film.title}"]
        for still in self.stills:
            first, *more = wrap(still.picture.alt, 92)
            lines += [f"{still.at:9.3f} s  {first}", *(" " * 13 + line for line in more)]
        return "\n".join([*lines, ASSUMED])

    def html(self) -> str:
        """The screens side by side, with captions, and the text form folded up below them."""
        cell = "display:inline-block;vertical-align:top;min-width:130px;margin:0 1.5% 14px 0;"
        cells, small = [], "font-size:12px;margin:4px 0"
        for still in self.stills:
            picture = still.picture
            share = 31.5 if picture.width > 400 else 18.5  # three phones with a watch side by side, or five without
            size = f"width:{share}%;max-width:{round(picture.width * 0.62)}px"
            caption = join(tag("b", f"{still.at:.3f} s"), f" {picture.alt}")
            image = picture.image(style="width:100%;height:auto")
            cells.append(tag("div", image, tag("p", caption, style=small), style=f"{cell}{size}"))
        folded = tag("details", tag("summary", "The same as text"), preformat(self.text()))
        return tag("figure", *cells, tag("p", ASSUMED, style=small), folded, style="margin:0")


def stills(film: Film) -> tuple[Still, ...]:
    """Every change of the picture in a film; the screen before everything only if the film has no frame."""
    seen: list[Still] = []
    for frame in film.frames:
        if seen and issubclass(frame.event, m.AddTapped | m.IssuerChosen | m.EntryChosen):  # only the cardholder can
            seen[-1] = replace(seen[-1], acted=True)
        picture = draw(frame.screen)
        if not seen or picture != seen[-1].picture:
            seen.append(Still(frame.at, frame.screen, picture))
    return tuple(seen) or (Still(0.0, film.first, draw(film.first)),)


def choose_stills(all_stills: tuple[Still, ...], most: int = 5) -> tuple[Still, ...]:
    """The screens that tell the story: the first, those on which the cardholder acts, the outcome; no picture twice."""
    # The last screen is the outcome and always shown. Of the others, each picture counts once, at its first appearance;
    # the most important of them fill the strip, and the strip is then read in the order of time.
    *before, last = all_stills
    once = {still.picture.svg: still for still in reversed(before) if still.picture != last.picture}
    ranked = sorted(once.values(), key=lambda still: (still is not before[0], still.rank, still.at))
    chosen_stills = [*ranked[: most - 1], last]
    return tuple(still for still in all_stills if any(still is keep for keep in chosen_stills))
