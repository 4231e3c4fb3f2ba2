"""The phone's body: what is the same whatever it shows. No maker's phone looks like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.markup import void
from workbook.views.paint import block, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.views.markup import Markup

WIDTH, HEIGHT = 300, 620
"""The phone's outer size."""
BEZEL = 9
WIDE, HIGH, CORNER = WIDTH - 2 * BEZEL, HEIGHT - 2 * BEZEL, 37
"""The screen's size, in whose units all that it shows is placed."""
MARGIN = 20
ROOM = WIDE - 2 * MARGIN
"""The width of what stands between the margins."""
CENTRE = WIDE / 2
TIME = "9:30"


def screen(fill: str = "page") -> Iterator[Markup]:
    """The empty screen."""
    yield block(0, 0, WIDE, HIGH, CORNER, fill)


def body() -> Iterator[Markup]:
    """What frames the screen. It is painted last, so that nothing shows beyond the round corners."""
    ring = {"x": -BEZEL / 2, "y": -BEZEL / 2, "width": WIDE + BEZEL, "height": HIGH + BEZEL, "rx": CORNER + BEZEL / 2}
    yield void("rect", class_="wb-line-bezel", fill="none", stroke_width=BEZEL, **ring)
    rim = {"x": 0.5 - BEZEL, "y": 0.5 - BEZEL, "width": WIDTH - 1, "height": HEIGHT - 1, "rx": CORNER + BEZEL - 0.5}
    yield void("rect", class_="wb-line-rim", fill="none", **rim)
    yield block(WIDE + BEZEL, 120, 2.5, 54, 1, "rim")
    yield block(CENTRE - 20, -6, 40, 3, 1.5, "rim")


def bars(fill: str = "ink") -> Iterator[Markup]:
    """The status line with a time that never changes, and the bar at the foot."""
    yield word(TIME, 24, 28, 13, fill=fill, weight=600)
    for number in range(4):
        yield block(204 + 6 * number, 25 - 2.5 * number, 4, 3 + 2.5 * number, 1, fill)
    yield void("rect", class_=f"wb-line-{fill}", fill="none", x=234.5, y=18.5, width=20, height=9, rx=3)
    yield block(236.5, 20.5, 13, 5, 1.5, fill)
    yield block(256, 21, 2, 4, 1, fill)
    yield block(CENTRE - 46, HIGH - 13, 92, 4, 2, fill)
