"""The contrast of colours, and which words stand on which grounds."""

from collections.abc import Mapping

WORDS = ("ink", "muted", "http", "refused", "deprecated")
"""The colours of words."""
GROUNDS = ("ground", "tint", "box")
"""The colours behind words."""

PHONE_WORDS: Mapping[str, tuple[str, ...]] = {
    "ink": ("page", "panel", "hill"),
    "muted": ("page", "panel", "fill"),
    "accent": ("page",),
    "good": ("panel",),
    "refused": ("panel",),
    "label": ("accent",),
    "bright": ("face",),
    "dim": ("face",),
}
"""Each colour of words on a phone, and the grounds behind them."""


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """The relative luminance of an sRGB colour such as `#0b57c2` (WCAG 2, section "relative luminance")."""
    # The gamma of sRGB is undone for each channel; near black it is a straight line, so that its slope stays finite.
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
