"""The watch beside the phone, with the cards that its own wallet holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.card_svg import card, masked
from workbook.views.markup import void
from workbook.views.paint import block, word
from workbook.views.phone_frame_svg import TIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup
    from workbook.views.screen import Screen

WIDTH, HEIGHT = 132, 312
"""With its strap."""
CASE, TOP, BEZEL = 156, 78, 9
"""How high the case is, where it begins, and its frame."""
CENTRE = WIDTH / 2


def watch(screen: Screen) -> Iterator[Markup]:
    """The watch, where one is paired."""
    yield block(28, 0, WIDTH - 56, HEIGHT, 16, "strap")
    yield block(0, TOP, WIDTH, CASE, 40, "bezel", line="rim")
    yield block(WIDTH - 0.5, TOP + 54, 4, 30, 2, "rim")
    yield block(BEZEL, TOP + BEZEL, WIDTH - 2 * BEZEL, CASE - 2 * BEZEL, 32, "face")
    yield word("Wallet", 24, TOP + 33, 11, fill="bright", weight=600, room=60)
    yield word(TIME, WIDTH - 24, TOP + 33, 11, fill="dim", anchor="end", room=40)
    yield from _held(sorted(screen.on_watch or ()), screen.card)


def shown(held: list[str], front: str) -> str:
    """Which of its cards the watch shows: the one in question, or else its first; empty where it has none."""
    return front if front in held else next(iter(held), "")


def _held(held: list[str], front: str) -> Iterator[Markup]:
    on_top = shown(held, front)
    if not held:
        outline = {"x": 23, "y": TOP + 44, "width": 86, "height": 55, "rx": 8, "stroke_dasharray": "4 4"}
        yield void("rect", class_="wb-line-dim", fill="none", stroke_width=1.3, **outline)
        yield word("No card", CENTRE, TOP + 117, 12, fill="dim", anchor="middle", room=90)
        return
    yield card(on_top, 23, TOP + 44, 86)
    yield word(masked(on_top), CENTRE, TOP + 117, 12, fill="bright", anchor="middle", room=94)
    if more := len(held) - 1:
        yield word(f"and {more} more", CENTRE, TOP + 132, 11, fill="dim", anchor="middle", room=90)
