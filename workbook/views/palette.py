"""The colours of the pictures, light and dark. Every word on every ground it can stand on has contrast 4.5:1.

A picture paints its own ground, so it reads the same on any page, whichever theme that page has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
}
WORDS = ("ink", "muted", "http", "refused", "deprecated")
"""The colours that words are written in."""
GROUNDS = ("ground", "tint", "box")
"""The colours that words are written on."""

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
PHONE_WORDS: Mapping[str, tuple[str, ...]] = {
    "ink": ("page", "panel", "hill"),
    "muted": ("page", "panel", "fill"),
    "accent": ("page", "panel"),
    "good": ("panel",),
    "refused": ("panel",),
    "label": ("accent",),
    "bright": ("face",),
    "dim": ("face",),
}
"""Each colour of words on a phone, and the grounds on which they stand."""

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif"
"""The reader's own font."""


def sheet(scope: str, rules: Mapping[str, str]) -> str:
    """The style sheet of the pictures of this class: both sets of colours, and rules that reach no other picture."""
    both = f".{scope}{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{.{scope}{{{variables(DARK)}}}}}"
    each = (f"{','.join(f'.{scope} {one}' for one in names.split(','))}{{{rule}}}" for names, rule in rules.items())
    return both + "".join(each)


def variables(colours: Mapping[str, str]) -> str:
    """The colours as CSS variables."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    dim = 0.04045
    return channel / 12.92 if channel <= dim else ((channel + 0.055) / 1.055) ** 2.4
