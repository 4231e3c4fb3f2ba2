"""The few strokes that the phone's pictures are made of: words, blocks, signs, and groups that stand somewhere.

Whatever has a colour takes it from the palette by a class, so that one style sheet makes the picture light or dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.markup import tag, void
from workbook.views.palette import FONT, PHONE_DARK, PHONE_LIGHT, variables
from workbook.views.plain import clean, cut

if TYPE_CHECKING:
    from workbook.views.markup import Markup

STYLE = (
    f".wb-phone{{{variables(PHONE_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.wb-phone{{{variables(PHONE_DARK)}}}}}"
    f".wb-phone text{{font-family:{FONT};font-variant-numeric:tabular-nums}}"
    + "".join(f".wb-phone .wb-fill-{name}{{fill:var(--{name})}}" for name in PHONE_LIGHT)
    + "".join(f".wb-phone .wb-line-{name}{{stroke:var(--{name})}}" for name in PHONE_LIGHT)
)
WIDEST = 0.66
"""How wide a character may be, in parts of its size: wider than the mean of any common font, also where it is bold."""
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
"""Line drawings about their own middle, some 16 units wide."""


def word(
    text: object, x: float, y: float, size: float, *, fill: str = "ink", weight: int = 400, anchor: str | None = None,
    room: float = 242,
) -> Markup:  # fmt: skip
    """A text, as much of it as fits into `room`."""
    fitting = cut(clean(text), int(room / (size * WIDEST)))
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
        stroke_linecap="round", stroke_linejoin="round", transform=_moved(x, y, scale),
    )  # fmt: skip


def placed(x: float, y: float, *parts: Markup, scale: float = 1) -> Markup:
    """The parts, moved to a point and scaled there."""
    return tag("g", *parts, transform=_moved(x, y, scale))


def rule(x: float, y: float, width: float) -> Markup:
    """A hairline between two rows."""
    return void("path", class_="wb-line-rule", d=f"M{x:g} {y:g}h{width:g}")


def _moved(x: float, y: float, scale: float) -> str:
    return f"translate({x:g} {y:g})" + (f" scale({scale:g})" if scale != 1 else "")
