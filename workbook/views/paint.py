"""What all pictures share: colours, style sheets, the SVG document, and the places to press.

Every colour comes from the palette by a class, so that one style sheet makes a picture light or dark.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbook.views.html import Markup, tag, trust, void
from workbook.views.table import preformat

# The colours of the pictures, light and dark. Every word has contrast 4.5:1 on every ground that it is painted on.
#
# A picture paints its own ground, so it is legible on a page of any theme.

# Each colour, light and dark.
PALETTE = {
    "ground": ("#ffffff", "#12161d"),
    "tint": ("#eef4fd", "#182338"),
    "box": ("#f3f5f8", "#1f2632"),
    "edge": ("#8b95a3", "#78859a"),
    "thread": ("#c3cad4", "#3b4656"),
    "ink": ("#1b2230", "#e9edf3"),
    "muted": ("#556070", "#a9b4c3"),
    "http": ("#0b57c2", "#8fb8ff"),
    "refused": ("#b3261e", "#ff9d94"),
    "deprecated": ("#8a4b00", "#f0bf66"),
    "frame": ("#dde2e9", "#2b3442"),
    "added": ("#1d6b3f", "#84d8a4"),
}
# The phone and the watch. A device is dark on either page, so the watch's face and both frames hardly change.
PHONE_PALETTE = {
    **{name: PALETTE[name] for name in ("ink", "muted", "refused")},
    "accent": PALETTE["http"],
    "good": PALETTE["added"],
    "label": ("#ffffff", "#10141b"),
    "table": ("#e8ecf2", "#222832"),
    "page": ("#f4f6f9", "#10141b"),
    "panel": ("#ffffff", "#1b212b"),
    "fill": ("#e6eaf0", "#2b3340"),
    "rule": ("#dfe4eb", "#2f3847"),
    "hill": ("#d3e0f3", "#1f2b40"),
    "far": ("#e3ebf7", "#182132"),
    "tile": ("#2f3a66", "#4a578f"),
    "shade": ("#0b0f16", "#000000"),
    "bezel": ("#222936", "#05070a"),
    "rim": ("#566177", "#6b778c"),
    "strap": ("#3d4757", "#4a5566"),
    "face": ("#0c1016", "#0c1016"),
    "bright": ("#f2f5f9", "#f2f5f9"),
    "dim": ("#a9b4c3", "#a9b4c3"),
}
LIGHT, DARK = ({name: pair[theme] for name, pair in PALETTE.items()} for theme in (0, 1))
PHONE_LIGHT, PHONE_DARK = ({name: pair[theme] for name, pair in PHONE_PALETTE.items()} for theme in (0, 1))

# The reader's own font.
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"


@cache
def sheet(name: str) -> str:
    """The style sheet of the pictures of class `wb-NAME`: both sets of colours, and the rules of `NAME.css` in here.

    Several pictures may be inlined in one page, so each selector begins with the class.
    """
    scope, text = f".wb-{name}", Path(__file__).with_name(f"{name}.css").read_text(encoding="utf-8")
    plain = re.sub(r"\s*([{};:,])\s*", r"\1", re.sub(r"(?s)/\*.*?\*/", "", text)).replace("var(--font)", FONT)
    colours = f"{scope}{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{{scope}{{{variables(DARK)}}}}}"
    rules = re.findall(r"([^{}]+)\{([^{}]+)\}", plain.strip())
    return colours + "".join(
        f"{','.join(f'{scope} {selector}' for selector in names.split(','))}{{{rule}}}" for names, rule in rules
    )


def variables(colours: Mapping[str, str]) -> str:
    """The colours as CSS variables."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


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
        folded = tag("details", tag("summary", "The same as text"), preformat(text))
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
        tag("title", title), tag("desc", description), tag("style", trust(style)), *parts,
        xmlns="http://www.w3.org/2000/svg", role="img", class_=scope,
        viewBox=f"0 0 {width} {height}", width=width, height=height,
    )  # fmt: skip
    return Picture(str(svg), width, height, alt or description)


def ground(width: int, height: int) -> Markup:
    """The page that a diagram is painted on, with its frame."""
    return void("rect", class_="wb-ground", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12)
