"""A drawing with the places in it that can be pressed: what a snapshot shows and a live panel brings to life.

The same drawing serves both. In a snapshot it is an image; in a browser with a kernel, real buttons lie over the places
that are named here, so that keyboard, focus and screen readers find what a finger finds.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.markup import void

if TYPE_CHECKING:
    from workbook.views.markup import Markup


@dataclass(frozen=True, slots=True)
class Control:
    """A place that can be pressed, in the drawing's own units.

    Attributes:
        act: what it does, such as `tap`.
        label: what it is called.
        value: what it is done to, such as a card; empty where there is only one thing.
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
        told: the same in words.
        controls: what can be pressed in it, in the order of reading.
    """

    svg: str
    width: float
    height: float
    told: str
    controls: tuple[Control, ...] = ()

    def image(self, *, style: str = "max-width:100%;height:auto") -> Markup:
        """The drawing as an HTML image: that survives a sanitiser, and its styles touch nothing else on the page."""
        source = "data:image/svg+xml;base64," + b64encode(self.svg.encode()).decode("ascii")
        return void("img", alt=self.told, src=source, style=style)
