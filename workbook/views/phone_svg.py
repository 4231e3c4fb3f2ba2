"""The phone's screen as one self-contained SVG document, with a watch beside it where one is paired.

`draw` is a pure function of the screen. Each screen is a stream of shapes and of places to press, in the order of
reading; `draw` separates the two and frames the shapes with the phone's body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from workbook.views.card_svg import BANK, CARD, card, masked, tall
from workbook.views.html import Markup, void
from workbook.views.paint import STYLE, Picture, Pressable, block, disc, document, hairline, placed, sign, word
from workbook.views.screen import InFront, Page, Screen, Sheet, describe

Drawn = Iterator[Markup | Pressable]


# The phone's body, the same for every screen. No maker's phone looks like it.

WIDTH, HEIGHT = 300, 620
"""The phone's outer size."""
BEZEL = 9
WIDE, HIGH, CORNER = WIDTH - 2 * BEZEL, HEIGHT - 2 * BEZEL, 37
"""The screen's size; all positions on it are in the same units."""
MARGIN = 20
ROOM = WIDE - 2 * MARGIN
"""The width between the margins."""
CENTRE = WIDE / 2
TIME = "9:30"
LEAST_SIZE = 15
"""The least size of words: a player shows the picture in 0.74 of its size, so they are 11 pixels high."""
LINE = 290
"""Room for a sentence on a line of its own; `word` takes each letter for a wide one."""


def body() -> Iterator[Markup]:
    """The frame around the screen. It is painted last, so that nothing shows beyond the round corners."""
    ring = {"x": -BEZEL / 2, "y": -BEZEL / 2, "width": WIDE + BEZEL, "height": HIGH + BEZEL, "rx": CORNER + BEZEL / 2}
    yield void("rect", class_="wb-line-bezel", fill="none", stroke_width=BEZEL, **ring)
    rim = {"x": 0.5 - BEZEL, "y": 0.5 - BEZEL, "width": WIDTH - 1, "height": HEIGHT - 1, "rx": CORNER + BEZEL - 0.5}
    yield void("rect", class_="wb-line-rim", fill="none", **rim)
    yield block(WIDE + BEZEL, 120, 2.5, 54, 1, "rim")
    yield block(CENTRE - 20, -6, 40, 3, 1.5, "rim")


def blank() -> Iterator[Markup]:
    """The empty screen, with a status line whose time never changes, and the bar at the foot."""
    yield block(0, 0, WIDE, HIGH, CORNER, "page")
    yield from bars()


def bars() -> Iterator[Markup]:
    """The status line and the bar at the foot."""
    yield word(TIME, 24, 28, LEAST_SIZE, weight=600)
    for number in range(4):
        yield block(204 + 6 * number, 25 - 2.5 * number, 4, 3 + 2.5 * number, 1, "ink")
    yield void("rect", class_="wb-line-ink", fill="none", x=234.5, y=18.5, width=20, height=9, rx=3)
    yield block(236.5, 20.5, 13, 5, 1.5, "ink")
    yield block(256, 21, 2, 4, 1, "ink")
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, "ink")


# The home screen: a clock, a quiet landscape, and the two apps that matter.

ICON = 60
TOP = 452
BANK_X, WALLET_X = 54, WIDE - 54 - ICON


def home(screen: Screen) -> Drawn:
    """The home screen; the control that opens the issuer's app has the card as its value."""
    bend = f"a{CORNER} {CORNER} 0 0 1-{CORNER}"
    foot = f"V{HIGH - CORNER}{bend} {CORNER}H{CORNER}{bend}-{CORNER}z"
    yield block(0, 0, WIDE, HIGH, CORNER, "page")
    yield void("path", class_="wb-fill-far", d=f"M0 330C70 250 130 270 190 330C230 368 260 350 {WIDE} 330{foot}")
    yield void("path", class_="wb-fill-hill", d=f"M0 410C60 420 120 350 180 358C230 366 258 404 {WIDE} 410{foot}")
    yield from bars()
    yield word(TIME, CENTRE, 142, 58, weight=300, anchor="middle")
    yield from _app("arch", "accent", "label", BANK, BANK_X)
    yield from _app("wallet", "tile", "bright", "Wallet", WALLET_X)
    yield Pressable("open", f"Open {BANK}", BANK_X - 18, TOP - 6, ICON + 36, 96, screen.card)
    yield Pressable("look", "Open Wallet", WALLET_X - 18, TOP - 6, ICON + 36, 96)


def _app(name: str, tile: str, line: str, called: str, x: float) -> Iterator[Markup]:
    yield block(x, TOP, ICON, ICON, 15, tile)
    yield sign(name, x + ICON / 2, TOP + ICON / 2, line=line, scale=1.9, width=1.3)
    yield word(called, x + ICON / 2, TOP + ICON + 20, LEAST_SIZE, anchor="middle", weight=500, room=110)


# The issuer's app: the card's page with the add button, and the page that authenticates the cardholder.
#
# The document says when the button is shown, hidden or disabled, and has the two labels (A-BTN-1, A-CAN-2, B-CAN-1,
# B-FIN-2). The page around them and the words on a disabled button are made up.

ADD = "Add to Wallet"
ROWS = (("basket", "Groceries", "Yesterday", "24.10"), ("train", "Train ticket", "Monday", "7.80"),
        ("in", "Salary", "1 June", "+1,850.00"))  # fmt: skip
ROWS_TOP, ROW = 312, 44
NOTE, NOTE_TALL = 456, 36
BUTTON, TALL = 502, 52
"""Where the button and the label above it begin, and their heights."""
SIGN = MARGIN + 30
"""The x of the sign on a button; it cannot depend on the words, whose width depends on the font."""
LABELS = {
    "Added to Wallet": ("check", "good"),
    "Available in Wallet": ("wallet", "ink"),
    "In the wallet": ("wallet", "ink"),
    "Not added": ("warning", "refused"),
}
"""Each label's sign and its colour."""


def app(screen: Screen) -> Drawn:
    """The card's page: the card, its last movements, the button, and a label above it or in its place."""
    yield from behind(screen)
    yield from named(screen, 92)
    yield block(MARGIN, ROWS_TOP - 24, ROOM, 3 * ROW + 4, 14, "panel")
    for number, (name, what, when, amount) in enumerate(ROWS):
        y = ROWS_TOP + ROW * number
        yield disc(MARGIN + 24, y, 13, "fill")
        yield sign(name, MARGIN + 24, y, line="muted", scale=0.85, width=1.6)
        yield word(what, MARGIN + 46, y - 2, LEAST_SIZE, weight=500, room=130)
        yield word(when, MARGIN + 46, y + 15, LEAST_SIZE, fill="muted", room=100)
        yield word(amount, WIDE - MARGIN - 12, y + 5, LEAST_SIZE, anchor="end", room=90)
        if number:
            yield hairline(MARGIN + 46, y - ROW / 2, ROOM - 58)
    yield from _button(screen)
    if screen.label:
        name, colour = LABELS.get(screen.label, ("wallet", "ink"))
        top, high = (NOTE, NOTE_TALL) if screen.button in ("shown", "disabled") else (BUTTON, TALL)
        middle = top + high / 2
        yield block(MARGIN, top, ROOM, high, 14, "panel")
        yield sign(name, SIGN, middle, line=colour, width=2)
        yield word(screen.label, CENTRE + 8, middle + 5, LEAST_SIZE, fill=colour, weight=600, anchor="middle", room=200)
    if not screen.waits:
        yield Pressable("open", "Leave the card's page and open it again", MARGIN - 6, 38, 68, 46, screen.card)


def behind(screen: Screen) -> Iterator[Markup]:
    """The part of the page that is visible above a sheet."""
    yield from blank()
    yield from header(back=True)
    yield card(screen.card, MARGIN, 92, ROOM)


def named(screen: Screen, top: float) -> Iterator[Markup]:
    """The card's name and number, below a card that begins at `top`."""
    below = top + tall(ROOM)
    yield word(CARD, MARGIN, below + 26, 16, weight=600, room=150)
    yield word(masked(screen.card), WIDE - MARGIN, below + 26, LEAST_SIZE, fill="muted", anchor="end", room=110)


def header(*, back: bool = False) -> Iterator[Markup]:
    """The bank's sign and name, and the cardholder's disc; perhaps the arrow back from a card's page."""
    left = MARGIN + 26 * back
    if back:
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
    yield word(f"{CARD} {masked(screen.card)}", CENTRE, 236, LEAST_SIZE, fill="muted", anchor="middle")
    yield disc(CENTRE, 304, 30, "fill")
    yield sign("lock", CENTRE, 303, line="ink", scale=1.5, width=1.3)
    yield word("Confirm it's you", CENTRE, 370, 21, weight=700, anchor="middle")
    yield word("before this card is added", CENTRE, 394, LEAST_SIZE, fill="muted", anchor="middle", room=LINE)
    yield from pressed("confirm", "Confirm", 468)
    yield word("Cancel", CENTRE, 553, 15, fill="accent", weight=600, anchor="middle")
    yield Pressable("cancel", "Cancel", MARGIN, 526, ROOM, 44)


def pressed(act: str, label: str, y: float) -> Drawn:
    """The main button of a page."""
    yield block(MARGIN, y, ROOM, TALL, 14, "accent")
    yield word(label, CENTRE, y + 31, 16, fill="label", weight=600, anchor="middle")
    yield Pressable(act, label, MARGIN, y, ROOM, TALL)


def _button(screen: Screen) -> Drawn:
    match screen.button:
        case "shown":
            yield from pressed("tap", ADD, BUTTON)
            yield sign("wallet", SIGN, BUTTON + TALL / 2, line="label")
        case "disabled":
            words = "Checking…" if screen.label else "Adding…"
            yield block(MARGIN, BUTTON, ROOM, TALL, 14, "fill")
            yield sign("spinner", SIGN, BUTTON + TALL / 2, line="muted", width=2)
            yield word(words, CENTRE, BUTTON + 31, 16, fill="muted", weight=600, anchor="middle")
            yield Pressable("tap", ADD, MARGIN, BUTTON, ROOM, TALL, enabled=False)
        case "absent" if screen.waits:
            yield block(MARGIN, BUTTON, ROOM, TALL, 14, "fill")
            yield block(CENTRE - 60, BUTTON + 21, 120, 10, 5, "rule")
        case _:
            return


# The wallet's sheet over the issuer's app. How it looks is assumed: the document shows none.

SHADE = 0.42
"""How much the app behind is darkened."""
SHEET_GAP = 6
SHEET_TOP = 232
SHEET_OUTCOME = 476


def sheet(screen: Screen) -> Iterator[Markup]:
    """The darkened app with the sheet in front. Nothing in it can be pressed: the simulated wallet continues alone."""
    yield from behind(screen)
    yield void("rect", class_="wb-fill-shade", fill_opacity=SHADE, width=WIDE, height=HIGH, rx=CORNER)
    yield block(SHEET_GAP, SHEET_TOP, WIDE - 2 * SHEET_GAP, HIGH - SHEET_TOP - SHEET_GAP, CORNER - SHEET_GAP, "panel")
    yield sign("wallet", 34, SHEET_TOP + 27, line="ink")
    yield word("Wallet", 50, SHEET_TOP + 32, LEAST_SIZE, weight=600)
    yield hairline(SHEET_GAP, SHEET_TOP + 52, WIDE - 2 * SHEET_GAP)
    yield card(screen.card, CENTRE - 68, SHEET_TOP + 70, 136)
    yield word(f"{CARD} {masked(screen.card)}", CENTRE, SHEET_TOP + 178, LEAST_SIZE, fill="muted", anchor="middle")
    if screen.sheet is Sheet.UP:
        yield word("Add this card?", CENTRE, SHEET_TOP + 222, 19, weight=700, anchor="middle")
        yield block(26, 480, WIDE - 52, 48, 14, "accent")
        yield word("Continue", CENTRE, 509, 15, fill="label", weight=600, anchor="middle")
        yield word("Not now", CENTRE, 561, LEAST_SIZE, fill="accent", weight=600, anchor="middle")
    else:
        yield from outcome(screen.sheet, where(screen), SHEET_OUTCOME)
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, "ink")


def where(screen: Screen) -> str:
    """The wallet that holds the card: the phone's, the watch's, or both."""
    watch = screen.on_watch is not None and screen.card in screen.on_watch
    phone = screen.card in screen.on_phone
    return "on phone and watch" if phone and watch else "on the watch" if watch else "on this phone"


WAITS = ("spinner", "fill", "Adding card…", "This takes a moment")
ADDED = ("check", "good", "Card added", "")
OUTCOMES: Mapping[Sheet | Page, tuple[str, str, str, str]] = {
    Sheet.ADDING: WAITS,
    Sheet.ADDED: ADDED,
    Sheet.FAILED: ("cross", "refused", "Card not added", "The wallet could not add it"),
    Page.ADDING: WAITS,
    Page.ADDED: ADDED,
    Page.NOT_ADDED: ("cross", "refused", "Card not added", "You can try again"),
}
"""The sign and its colour, the headline, and the second line; where it is empty, the place of the card."""


def outcome(page: Sheet | Page, place: str, y: float) -> Iterator[Markup]:
    """A sign on a disc, the outcome, and a second line."""
    name, fill, headline, line = OUTCOMES[page]
    yield disc(CENTRE, y, 25, fill)
    yield sign(name, CENTRE, y, line="label" if fill != "fill" else "ink", scale=1.6, width=1.6)
    yield word(headline, CENTRE, y + 54, 19, weight=700, anchor="middle")
    yield word(line or place.capitalize(), CENTRE, y + 76, LEAST_SIZE, fill="muted", anchor="middle", room=LINE)


# The wallet app, where the flow may begin (FLOW-5), page by page. How it looks is assumed: the document shows none.
#
# Cards for a watch are added in the watch's app on the phone: of the two places that the document names, the one with
# room to read.

LIST, FOOT = 148, 560
"""Where a list begins, and where it ends at the latest."""
LEAST, MOST = 44, 68
"""The least and the greatest height of an entry."""
WALLET_OUTCOME = 396
BACK = 496
"""Where the button back to the list begins (assumed)."""
HELD = {"phone": "on this phone", "watch": "on the watch"}
APPS, CARDS = "Apps with cards", f"Cards from {BANK}"
WAITING = {Page.LOOKING: (APPS, 2, "Looking for apps…"), Page.FETCHING: (CARDS, 3, "Asking for your cards…")}
"""While the wallet waits: the heading, the number of placeholders, and the words below them."""
EMPTY = {
    Page.NONE: ("Add a card", "from an app that has one", ""),
    Page.NO_APPS: ("No apps with cards", "No app here offers a card", "Look again"),
    Page.NO_CARDS: ("No card to add", f"{BANK} offers none now", "Back to the list"),
}
"""Where there is no card: the headline, the reason, and the words on the button."""


def wallet(screen: Screen) -> Drawn:
    """The wallet app's page, or the authorization screen that it puts in front."""
    page, watch = screen.page, screen.surface == "watch"
    if page is Page.AUTHORIZING:
        yield from authorization(screen)
        return
    yield from blank()
    yield sign("watch" if watch else "wallet", MARGIN + 9, 75, line="ink", scale=1.15, width=1.6)
    yield word("Watch wallet" if watch else "Wallet", MARGIN + 30, 83, 24, weight=700, room=230)
    if page in OUTCOMES:
        yield card(screen.card, MARGIN, 116, ROOM)
        yield from named(screen, 116)
        yield from outcome(page, held(screen), WALLET_OUTCOME)
        if page is Page.NOT_ADDED:
            yield from pressed("look", "Back to the list", BACK)
    elif page in EMPTY:
        yield from _empty(*EMPTY[page])
    elif page is Page.APPS:
        yield from _apps()
    elif page is Page.CARDS:
        yield from _cards(screen)
    else:
        heading, rows, words = WAITING[page]
        yield _headed(heading)
        yield block(MARGIN, LIST, ROOM, MOST * rows, 14, "panel")
        for y in range(LIST, LIST + MOST * rows, MOST):
            yield block(MARGIN + 12, y + 12, 68, 44, 8, "fill")
            yield block(MARGIN + 96, y + 20, 96, 10, 5, "fill")
            yield block(MARGIN + 96, y + 38, 62, 9, 4.5, "fill")
        yield sign("spinner", CENTRE, 416, line="muted", scale=1.3, width=1.8)
        yield word(words, CENTRE, 452, LEAST_SIZE, fill="muted", anchor="middle")


def held(screen: Screen) -> str:
    """The place to which the wallet app adds a card."""
    return HELD.get(screen.surface, HELD["phone"])


def _headed(text: str) -> Markup:
    return word(text, MARGIN, LIST - 16, LEAST_SIZE, fill="muted", weight=500, room=250)


def _empty(headline: str, reason: str, button: str) -> Drawn:
    """An outline where a card would be, and the reason why there is none."""
    outline = {"x": CENTRE - 58, "y": 218, "width": 116, "height": 74, "rx": 9, "stroke_dasharray": "5 5"}
    yield void("rect", class_="wb-line-muted", fill="none", stroke_width=1.5, **outline)
    yield sign("cross", CENTRE, 255, line="muted", width=1.8)
    yield word(headline, CENTRE, 334, 18, weight=700, anchor="middle")
    yield word(reason, CENTRE, 358, LEAST_SIZE, fill="muted", anchor="middle", room=LINE)
    if button:
        yield from pressed("look", button, BACK)


def _apps() -> Drawn:
    middle = LIST + 32
    yield _headed(APPS)
    yield block(MARGIN, LIST, ROOM, 64, 14, "panel")
    yield block(MARGIN + 12, middle - 20, 40, 40, 11, "accent")
    yield sign("arch", MARGIN + 32, middle, line="label", scale=1.3, width=1.5)
    yield word(BANK, MARGIN + 64, middle - 2, LEAST_SIZE, weight=600, room=140)
    yield word("App on this phone", MARGIN + 64, middle + 16, LEAST_SIZE, fill="muted", room=170)
    yield sign("chevron", WIDE - MARGIN - 18, middle, line="muted", width=1.8)
    yield Pressable("choose app", BANK, MARGIN, LIST, ROOM, 64)


def _cards(screen: Screen) -> Drawn:
    """The entries that fit, less high where there are many, and the number of those that do not fit."""
    room, entries = FOOT - LIST, screen.entries
    shown = entries[: room // LEAST if len(entries) * LEAST <= room else room // LEAST - 1]
    high = max(LEAST, min(MOST, room // max(len(entries), 1)))
    wide = min(74, (high - 12) * 1.55)
    left = MARGIN + 22 + wide
    yield _headed(CARDS)
    yield block(MARGIN, LIST, ROOM, high * max(len(shown), 1), 14, "panel")
    for number, entry in enumerate(shown):
        y = LIST + high * number
        middle = y + high / 2
        yield card(entry, MARGIN + 10, middle - tall(wide) / 2, wide)
        yield word(CARD, left, middle - 3, LEAST_SIZE, weight=600, room=120)
        yield word(masked(entry), left, middle + 14, LEAST_SIZE, fill="muted", room=110)
        yield sign("chevron", WIDE - MARGIN - 14, middle, line="muted", width=1.8)
        if number:
            yield hairline(left, y, ROOM - wide - 34)
        yield Pressable("choose card", f"{CARD} {masked(entry)}", MARGIN, y, ROOM, high, entry)
    if more := len(entries) - len(shown):
        yield word(f"and {more} more", CENTRE, LIST + high * len(shown) + 24, LEAST_SIZE, fill="muted", anchor="middle")


# The watch beside the phone, with the cards that its own wallet holds.

WATCH_WIDTH, WATCH_HEIGHT = 132, 312
"""The size with the strap."""
CASE, WATCH_TOP, WATCH_BEZEL = 156, 78, 9
"""The height of the case, where it begins, and the width of its frame."""
WATCH_CENTRE = WATCH_WIDTH / 2


def watch(screen: Screen) -> Iterator[Markup]:
    """The watch, where one is paired."""
    yield block(28, 0, WATCH_WIDTH - 56, WATCH_HEIGHT, 16, "strap")
    yield block(0, WATCH_TOP, WATCH_WIDTH, CASE, 40, "bezel", line="rim")
    yield block(WATCH_WIDTH - 0.5, WATCH_TOP + 54, 4, 30, 2, "rim")
    yield block(WATCH_BEZEL, WATCH_TOP + WATCH_BEZEL, WATCH_WIDTH - 2 * WATCH_BEZEL, CASE - 2 * WATCH_BEZEL, 32, "face")
    yield word("Wallet", WATCH_CENTRE, WATCH_TOP + 33, LEAST_SIZE, fill="bright", weight=600, anchor="middle", room=90)
    cards = sorted(screen.on_watch or ())
    if not cards:
        outline = {"x": 23, "y": WATCH_TOP + 44, "width": 86, "height": 55, "rx": 8, "stroke_dasharray": "4 4"}
        yield void("rect", class_="wb-line-dim", fill="none", stroke_width=1.3, **outline)
        yield word("No card", WATCH_CENTRE, WATCH_TOP + 117, LEAST_SIZE, fill="dim", anchor="middle", room=90)
        return
    on_top = shown(cards, screen.card)
    yield card(on_top, 23, WATCH_TOP + 44, 86)
    yield word(masked(on_top), WATCH_CENTRE, WATCH_TOP + 117, LEAST_SIZE, fill="bright", anchor="middle", room=94)
    if more := len(cards) - 1:
        yield word(f"and {more} more", WATCH_CENTRE, WATCH_TOP + 134, LEAST_SIZE, fill="dim", anchor="middle", room=100)


def shown(held: list[str], front: str) -> str:
    """The card that the watch shows: the chosen one, or else its first; empty where it has none."""
    return front if front in held else next(iter(held), "")


SPACE = 12
"""Around the phone."""
GAP = 18
"""Between phone and watch."""


@lru_cache(maxsize=128)
def draw(screen: Screen) -> Picture:
    """The picture of a screen with its places to press, the same bytes on every run."""
    # A run that is played once more, with a message broken, shows most of its screens again.
    width, height = size(screen)
    match screen.place:
        case InFront.HOME:
            front = home(screen)
        case InFront.WALLET:
            front = wallet(screen)
        case InFront.APP:
            front = sheet(screen) if screen.sheet else app(screen)
    drawn = list(front)
    shapes = [part for part in drawn if isinstance(part, Markup)]
    left = SPACE + BEZEL
    parts = [block(0, 0, width, height, 14, "table"), placed(left, left, *shapes, *body())]
    if screen.on_watch is not None:
        parts.append(placed(SPACE + WIDTH + GAP - 2, SPACE + (HEIGHT - WATCH_HEIGHT) / 2, *watch(screen)))
    picture = document("wb-phone", STYLE, f"Phone: {screen.place}", describe(screen), (width, height), *parts)
    controls = (part for part in drawn if isinstance(part, Pressable))
    return replace(picture, controls=tuple(replace(c, x=c.x + left, y=c.y + left) for c in controls))


def size(screen: Screen) -> tuple[int, int]:
    """The picture's width and height: it is wider where a watch is paired."""
    beside = 0 if screen.on_watch is None else GAP + WATCH_WIDTH
    return WIDTH + 2 * SPACE + beside, HEIGHT + 2 * SPACE
