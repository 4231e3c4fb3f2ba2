"""What the pictures of durations share: the page they are painted on, their colours, and their place in a notebook."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from workbook.views.markup import tag, trusted, void
from workbook.views.palette import DARK, LIGHT, variables
from workbook.views.plain import cut
from workbook.views.table import preformatted

if TYPE_CHECKING:
    from workbook.views.markup import Markup

WIDTH = 1000
LEFT, RIGHT = 40, 960
"""Between these everything is painted."""
TOP = 64
"""Where the first strip may begin: the title stands above it."""
SHADE = 0.09
"""How strongly the ground beyond a limit is tinted."""
STYLE = (
    f".wb-durations{{{variables(LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.wb-durations{{{variables(DARK)}}}}}"
    ".wb-durations text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif;"
    "font-size:13px;fill:var(--ink)}"
    ".wb-durations .wb-title{font-size:17px;font-weight:600}.wb-durations .wb-name{font-weight:600}"
    ".wb-durations .wb-small{font-size:11.5px;fill:var(--muted);font-variant-numeric:tabular-nums}"
    ".wb-durations .wb-middle{text-anchor:middle}.wb-durations .wb-end{text-anchor:end}"
    ".wb-durations .wb-late{fill:var(--refused)}.wb-durations .wb-bold{font-weight:600}"
    ".wb-ground{fill:var(--ground);stroke:var(--frame)}.wb-base{stroke:var(--edge)}"
    ".wb-tick{stroke:var(--thread);stroke-dasharray:2 4}.wb-room{stroke:var(--muted);stroke-dasharray:2 3}"
    ".wb-bar{fill:var(--http)}.wb-over{fill:var(--ground);stroke:var(--refused);stroke-width:1.2}"
    ".wb-hatch{stroke:var(--refused);stroke-width:1.6;fill:none}"
    f".wb-shade{{fill:var(--refused);fill-opacity:{SHADE}}}"
    ".wb-limit{stroke:var(--refused);stroke-width:2}.wb-track{fill:var(--box);stroke:var(--edge)}"
    ".wb-sign{fill:none;stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}"
    ".wb-disc{stroke-width:1.4}"
    ".is-pass .wb-sign{stroke:var(--ground)}.is-pass .wb-disc{fill:var(--http);stroke:var(--http)}"
    ".is-warn .wb-sign{stroke:var(--deprecated)}.is-warn .wb-disc{fill:var(--ground);stroke:var(--deprecated)}"
    ".is-fail .wb-sign{stroke:var(--ground)}.is-fail .wb-disc{fill:var(--refused);stroke:var(--refused)}"
    ".wb-durations .is-warn .wb-word{fill:var(--deprecated)}.wb-durations .is-fail .wb-word{fill:var(--refused)}"
    ".wb-durations .is-pass .wb-word{fill:var(--http)}.wb-durations .wb-word{font-weight:600}"
)
DISCS = {
    "pass": "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z",
    "warn": "M0-9.5L10 8.5H-10z",
    "fail": "M-4-9h8l5 5v8l-5 5h-8l-5-5v-8z",
}
"""A circle, a triangle, an octagon."""
SIGNS = {"pass": "M-4 0.5l3 3l5.5-6.5", "warn": "M0-3.5v5M0 5v0.2", "fail": "M-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4"}


def document(title: str, told: str, height: int, *parts: Markup) -> Markup:
    """A whole SVG document of this height, with what is told in it for those who do not see it."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", told or "Nothing was measured yet."),
        tag("style", trusted(STYLE)),
        void("rect", class_="wb-ground", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
        tag("text", cut(title, 100), class_="wb-title", x=24, y=36),
        *parts,
        xmlns="http://www.w3.org/2000/svg", role="img", class_="wb-durations",
        viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height,
    )  # fmt: skip


def verdict(word: str, name: str, y: int) -> Markup:
    """A verdict's sign, its word and what it is about, on one line; three forms, so colour is not needed."""
    sign = (void("path", class_="wb-disc", d=DISCS[word]), void("path", class_="wb-sign", d=SIGNS[word]))
    return tag(
        "g",
        tag("g", *sign, transform=f"translate({LEFT + 9} {y - 4})"),
        tag("text", word, class_="wb-word", x=LEFT + 25, y=y),
        tag("text", cut(name, 96), class_="wb-name", x=LEFT + 68, y=y),
        class_=f"is-{word}",
    )


def figure(name: str, svg: str, text: str) -> str:
    """A picture as a notebook shows it, with the text form folded up below it.

    The SVG travels as an image: that survives a sanitiser, and its styles touch nothing else on the page.
    """
    source = "data:image/svg+xml;base64," + b64encode(svg.encode()).decode("ascii")
    image = void("img", alt=f"{name} The same as text follows.", src=source, style="max-width:100%;height:auto")
    return tag(
        "figure", image, tag("details", tag("summary", "The same as text"), preformatted(text)), style="margin:0"
    )
