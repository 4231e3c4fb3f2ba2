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
