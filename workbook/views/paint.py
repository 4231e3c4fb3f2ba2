"""What all pictures share: colours, style sheets, the SVG document, and the strokes of the phone's drawings.

Every colour comes from the palette by a class, so that one style sheet makes a picture light or dark.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from workbook.views.html import Markup, tag, trusted, void
from workbook.views.table import clean, cut, preformatted

# The colours of the pictures, light and dark. Every word has contrast 4.5:1 on every ground that it is painted on.
#
# A picture paints its own ground, so it is legible on a page of any theme.

LIGHT: Mapping[str, str] = {
    "ground": "#ffffff",
    "tint": "#eef4fd",
    "box": "#f3f5f8",
    "edge": "#8b95a3",
    "thread": "#c3cad4",
    "ink": "#1b2230",
    "muted": "#556070",
    "http": "#0b57c2",
    "refused": "#b3261e",
    "deprecated": "#8a4b00",
    "frame": "#dde2e9",
    "added": "#1d6b3f",
}
DARK: Mapping[str, str] = {
    "ground": "#12161d",
    "tint": "#182338",
    "box": "#1f2632",
    "edge": "#78859a",
    "thread": "#3b4656",
    "ink": "#e9edf3",
    "muted": "#a9b4c3",
    "http": "#8fb8ff",
    "refused": "#ff9d94",
    "deprecated": "#f0bf66",
    "frame": "#2b3442",
    "added": "#84d8a4",
}

PHONE_LIGHT: Mapping[str, str] = {
    **{name: LIGHT[name] for name in ("ink", "muted", "refused")},
    "accent": LIGHT["http"],
    "good": "#1d6b3f",
    "label": "#ffffff",
    "table": "#e8ecf2",
    "page": "#f4f6f9",
    "panel": "#ffffff",
    "fill": "#e6eaf0",
    "rule": "#dfe4eb",
    "hill": "#d3e0f3",
    "far": "#e3ebf7",
    "tile": "#2f3a66",
    "shade": "#0b0f16",
    "bezel": "#222936",
    "rim": "#566177",
    "strap": "#3d4757",
    "face": "#0c1016",
    "bright": "#f2f5f9",
    "dim": "#a9b4c3",
}
"""The phone and the watch. A device is dark on either page, so the watch's face and both frames hardly change."""
PHONE_DARK: Mapping[str, str] = {
    **{name: DARK[name] for name in ("ink", "muted", "refused")},
    "accent": DARK["http"],
    "good": "#84d8a4",
    "label": "#10141b",
    "table": "#222832",
    "page": "#10141b",
    "panel": "#1b212b",
    "fill": "#2b3340",
    "rule": "#2f3847",
    "hill": "#1f2b40",
    "far": "#182132",
    "tile": "#4a578f",
    "shade": "#000000",
    "bezel": "#05070a",
    "rim": "#6b778c",
    "strap": "#4a5566",
    "face": "#0c1016",
    "bright": "#f2f5f9",
    "dim": "#a9b4c3",
}

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"
"""The reader's own font."""


def sheet(scope: str, rules: Mapping[str, str]) -> str:
    """The style sheet of pictures of the class `scope`: both sets of colours, and rules for no other picture.

    Several pictures may be inlined in one page, so each selector begins with the class.
    """
    both = f".{scope}{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{.{scope}{{{variables(DARK)}}}}}"
    scoped = (f"{','.join(f'.{scope} {name}' for name in names.split(','))}{{{rule}}}" for names, rule in rules.items())
    return both + "".join(scoped)


def variables(colours: Mapping[str, str]) -> str:
    """The colours as CSS variables."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


STYLE = (
    f".wb-phone{{{variables(PHONE_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.wb-phone{{{variables(PHONE_DARK)}}}}}"
    f".wb-phone text{{font-family:{FONT};font-variant-numeric:tabular-nums}}"
    + "".join(f".wb-phone .wb-fill-{name}{{fill:var(--{name})}}" for name in PHONE_LIGHT)
    + "".join(f".wb-phone .wb-line-{name}{{stroke:var(--{name})}}" for name in PHONE_LIGHT)
)
WIDEST = 0.66
"""The width of a character in parts of its size: more than the mean of any common font, also a bold one."""
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
"""Line drawings around their own middle, about 16 units wide."""


def word(
    text: object, x: float, y: float, size: float, *, fill: str = "ink", weight: int = 400, anchor: str | None = None,
    room: float = 242,
) -> Markup:  # fmt: skip
    """A text, cut to `room` pixels."""
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


def hairline(x: float, y: float, width: float) -> Markup:
    """A thin line between two rows."""
    return void("path", class_="wb-line-rule", d=f"M{x:g} {y:g}h{width:g}")


def _moved(x: float, y: float, scale: float) -> str:
    return f"translate({x:g} {y:g})" + (f" scale({scale:g})" if scale != 1 else "")


# A drawing, and the places in it that can be pressed. In a snapshot it is an image. In a browser with a kernel, real
# buttons lie over these places, so that keyboard, focus and screen readers reach everything that a finger reaches.


@dataclass(frozen=True, slots=True)
class Pressable:
    """A place that can be pressed, in the drawing's own units.

    Attributes:
        act: what it does, such as `tap`.
        label: its name for a reader.
        value: what it acts on, such as a card; empty where there is only one thing.
        enabled: False for a button that is greyed out (A-BTN-1).
    """

    act: str
    label: str
    x: float
    y: float
    width: float
    height: float
    value: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing.

    Attributes:
        svg: a self-contained SVG document.
        width: in its own units, which are pixels at full size.
        height: likewise.
        alt: the same in words.
        controls: what can be pressed in it, in the order of reading.
    """

    svg: str
    width: float
    height: float
    alt: str
    controls: tuple[Pressable, ...] = ()

    def image(self, *, style: str = "max-width:100%;height:auto") -> Markup:
        """The drawing as an HTML image: it passes a sanitiser, and its styles affect nothing else on the page."""
        source = "data:image/svg+xml;base64," + b64encode(self.svg.encode()).decode("ascii")
        return void("img", alt=self.alt, src=source, style=style)

    def figure(self, text: str, *below: Markup) -> Markup:
        """The image as a notebook shows it, with something below it, and the text form folded up at the end."""
        folded = tag("details", tag("summary", "The same as text"), preformatted(text))
        return tag("figure", self.image(), *below, folded, style="margin:0")


def document(
    scope: str, style: str, title: str, description: str, size: tuple[int, int], *parts: Markup, alt: str = ""
) -> Picture:
    """A picture as one self-contained SVG document: no script, no outside font, nothing to load.

    Args:
        scope: the class of the document, by which its style sheet is scoped.
        style: the style sheet; see `sheet`.
        title: the document's title.
        description: the picture in words, for readers who do not see it.
        size: width and height in pixels.
        parts: the shapes, from the back to the front.
        alt: the words for the image on a page, if they are not the description.
    """
    width, height = size
    svg = tag(
        "svg",
        tag("title", title), tag("desc", description), tag("style", trusted(style)), *parts,
        xmlns="http://www.w3.org/2000/svg", role="img", class_=scope,
        viewBox=f"0 0 {width} {height}", width=width, height=height,
    )  # fmt: skip
    return Picture(str(svg), width, height, alt or description)


def ground(width: int, height: int) -> Markup:
    """The page that a diagram is painted on, with its frame."""
    return void("rect", class_="wb-ground", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12)
