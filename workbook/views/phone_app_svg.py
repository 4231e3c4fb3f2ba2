"""The issuer's app: the card's page with the add button, and the page on which it makes sure who is there.

That a button is shown, hidden or disabled, and the two labels, are the document's (A-BTN-1, A-CAN-2, B-CAN-1,
B-FIN-2). The page around them, and the words on a disabled button, are made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import BANK, CARD, card, masked, tall
from workbook.views.paint import block, disc, rule, sign, word
from workbook.views.phone_frame_svg import CENTRE, MARGIN, ROOM, WIDE, bars
from workbook.views.phone_frame_svg import screen as empty
from workbook.views.picture import Control

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

ADD = "Add to Wallet"
ROWS = (("basket", "Groceries", "Yesterday", "24.10"), ("train", "Train ticket", "Monday", "7.80"),
        ("in", "Salary", "1 June", "+1,850.00"))  # fmt: skip
ROWS_TOP, ROW = 312, 44
NOTE, NOTE_TALL = 456, 36
BUTTON, TALL = 502, 52
"""Where the button and what stands above it begin, and how high they are."""
SIGN = MARGIN + 30
"""Where the sign on a button stands. It does not lean on the words, whose width is the font's affair."""
LABELS = {
    "Added to Wallet": ("check", "good"),
    "Available in Wallet": ("wallet", "ink"),
    "Not added": ("warning", "refused"),
}
"""Each label's sign and its colour."""


def app(screen: Screen) -> Iterator[Markup | Control]:
    """The card's page."""
    yield from behind(screen)
    yield from named(screen, 92)
    yield from _movements()
    yield from _button(screen)
    if screen.label:
        yield from _label(screen)


def behind(screen: Screen) -> Iterator[Markup]:
    """The part of the page that a sheet leaves to be seen."""
    yield from empty()
    yield from bars()
    yield from header()
    yield card(screen.card, MARGIN, 92, ROOM)


def named(screen: Screen, top: float) -> Iterator[Markup]:
    """What stands below a card that begins there: what it is called, and its number."""
    below = top + tall(ROOM)
    yield word(CARD, MARGIN, below + 26, 16, weight=600, room=150)
    yield word(masked(screen.card), WIDE - MARGIN, below + 26, 13, fill="muted", anchor="end", room=110)


def header() -> Iterator[Markup]:
    """The bank's sign and name, and the cardholder's disc."""
    yield block(MARGIN, 46, 30, 30, 9, "accent")
    yield sign("arch", MARGIN + 15, 61, line="label")
    yield word(BANK, MARGIN + 40, 66, 16, weight=600, room=170)
    yield disc(WIDE - MARGIN - 15, 61, 15, "fill")
    yield sign("person", WIDE - MARGIN - 15, 61, line="muted", width=1.5)


def authorization(screen: Screen) -> Iterator[Markup | Control]:
    """The app's own page that the wallet puts in front, with both ways to leave it."""
    yield from empty()
    yield from bars()
    yield from header()
    yield card(screen.card, CENTRE - 78, 112, 156)
    yield word(f"{CARD} {masked(screen.card)}", CENTRE, 236, 13, fill="muted", anchor="middle")
    yield disc(CENTRE, 304, 30, "fill")
    yield sign("lock", CENTRE, 303, line="ink", scale=1.5, width=1.3)
    yield word("Confirm it's you", CENTRE, 370, 21, weight=700, anchor="middle")
    yield word("before this card is added", CENTRE, 394, 13, fill="muted", anchor="middle")
    yield from pressed("confirm", "Confirm", 468)
    yield word("Cancel", CENTRE, 553, 15, fill="accent", weight=600, anchor="middle")
    yield Control("cancel", "Cancel", MARGIN, 526, ROOM, 44)


def pressed(act: str, label: str, y: float) -> Iterator[Markup | Control]:
    """The one button of a page that asks to be pressed."""
    yield block(MARGIN, y, ROOM, TALL, 14, "accent")
    yield word(label, CENTRE, y + 31, 16, fill="label", weight=600, anchor="middle")
    yield Control(act, label, MARGIN, y, ROOM, TALL)


def _movements() -> Iterator[Markup]:
    yield block(MARGIN, ROWS_TOP - 24, ROOM, 3 * ROW + 4, 14, "panel")
    for number, (name, what, when, amount) in enumerate(ROWS):
        y = ROWS_TOP + ROW * number
        yield disc(MARGIN + 24, y, 13, "fill")
        yield sign(name, MARGIN + 24, y, line="muted", scale=0.85, width=1.6)
        yield word(what, MARGIN + 46, y - 1, 13, weight=500, room=110)
        yield word(when, MARGIN + 46, y + 13, 11, fill="muted", room=100)
        yield word(amount, WIDE - MARGIN - 12, y + 5, 13, anchor="end", room=90)
        if number:
            yield rule(MARGIN + 46, y - ROW / 2, ROOM - 58)


def _button(screen: Screen) -> Iterator[Markup | Control]:
    match screen.button:
        case "shown":
            yield from _shown()
        case "disabled":
            yield from _disabled("Checking…" if screen.label else "Adding…")
        case "absent" if screen.waits:
            yield block(MARGIN, BUTTON, ROOM, TALL, 14, "fill")
            yield block(CENTRE - 60, BUTTON + 21, 120, 10, 5, "rule")
        case _:
            return


def _shown() -> Iterator[Markup | Control]:
    yield from pressed("tap", ADD, BUTTON)
    yield sign("wallet", SIGN, BUTTON + TALL / 2, line="label")


def _disabled(told: str) -> Iterator[Markup | Control]:
    yield block(MARGIN, BUTTON, ROOM, TALL, 14, "fill")
    yield sign("spinner", SIGN, BUTTON + TALL / 2, line="muted", width=2)
    yield word(told, CENTRE, BUTTON + 31, 16, fill="muted", weight=600, anchor="middle")
    yield Control("tap", ADD, MARGIN, BUTTON, ROOM, TALL, enabled=False)


def _label(screen: Screen) -> Iterator[Markup]:
    """Above a button that is there; in its place, and larger, where it is not."""
    name, colour = LABELS.get(screen.label, ("wallet", "ink"))
    y, high, size = (NOTE, NOTE_TALL, 13) if screen.button in ("shown", "disabled") else (BUTTON, TALL, 14)
    yield block(MARGIN, y, ROOM, high, 14, "panel")
    yield sign(name, SIGN, y + high / 2, line=colour, width=2)
    yield word(screen.label, CENTRE + 8, y + high / 2 + 5, size, fill=colour, weight=600, anchor="middle", room=186)
