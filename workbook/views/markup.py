"""Elements of HTML and SVG as text. Whatever is not markup already is escaped: there is no other way in."""

from __future__ import annotations

import re
from html import escape

_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Markup(str):
    """Text that is markup already; only the functions of this module make it."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """One element with these children, in this order.

    An attribute's underscore stands for a hyphen, a closing one for nothing (`class_`); None leaves it out.
    """
    return Markup(f"<{name}{_written(attributes)}>{joined(*children)}</{name}>")


def void(name: str, /, **attributes: object) -> Markup:
    """One element without children, in the spelling that HTML's void elements and XML share."""
    return Markup(f"<{name}{_written(attributes)}/>")


def joined(*children: object) -> Markup:
    """The children one after the other; what is not markup is escaped."""
    return Markup("".join(one if isinstance(one, Markup) else _text(one) for one in children))


def trusted(text: str) -> Markup:
    """What is markup already: our own style sheets, and the HTML that an object offers of itself."""
    return Markup(text)


def _written(attributes: dict[str, object]) -> str:
    return "".join(f' {_hyphens(key)}="{_text(value)}"' for key, value in attributes.items() if value is not None)


def _hyphens(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _text(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return escape(_NOT_XML.sub("\ufffd", text))
