"""Elements of HTML and SVG, and the base of every view: one model with a text form and an HTML form.

Text that is not markup yet is escaped: there is no other way in.
"""

import re
from abc import ABC, abstractmethod
from functools import cache
from html import escape
from typing import Any

# The policy of our pages: they load nothing, run nothing and send nothing; pictures are inside them.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# What a text needs changed: the characters of markup, and the characters that XML forbids.
_UNSAFE = re.compile("[&<>\"'\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is markup already; only the functions of this module create it."""

    # Escaping by type: a bare text is untrusted wherever it comes from, and becomes markup only by being escaped. So no
    # caller can forget to escape, and none can escape twice.

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """One element with these children, in this order.

    In an attribute's name an underscore means a hyphen, and a trailing one is dropped (`class_`). None omits it.
    """
    return Markup(f"<{name}{_attributes(attributes)}>{join(*children)}</{name}>")


def void(name: str, /, **attributes: object) -> Markup:
    """One element without children, in the spelling that HTML's void elements and XML share."""
    return Markup(f"<{name}{_attributes(attributes)}/>")


def join(*children: object) -> Markup:
    """The children one after the other; what is not markup is escaped."""
    return Markup("".join([child if child.__class__ is Markup else _escape(child) for child in children]))


def trust(text: str) -> Markup:
    """Marks a text as markup: our own style sheets, and the HTML that an object offers of itself."""
    return Markup(text)


RULE_ID = re.compile(r"\b([A-Z]+(?:-[A-Z]+){0,3}-\d+)\b")


# `code` and *emphasis*, as our sentences have them; no glob and no header has this form.
_MARKED = re.compile(r"`([^`\n]+)`|(?<![\w*/.-])\*(\w[^*\n]*?)\*(?![\w*])")


def unbroken(text: str) -> Markup:
    """The sentence; what is code or emphasised in it is so, and no rule id breaks at its hyphens.

    Each id shows its own sentence to a pointer on it. A page with our script shows it on focus, too: `wb-rule` is what
    it looks for.
    """
    plain, *marked = _MARKED.split(text)
    named = zip(marked[::3], marked[1::3], marked[2::3], strict=True)
    return join(_ruled(plain), *(join(tag("code", c) if c else tag("em", e), _ruled(rest)) for c, e, rest in named))


def _ruled(text: str) -> Markup:
    from workbook.base.rules import sentence  # the ledger is read when the first id is shown

    parts: list[str] = RULE_ID.split(text)
    for n, part in enumerate(parts):
        if n % 2 and (words := sentence(part)):  # SHA-256 has the form of a rule's id, and is none
            parts[n] = tag("span", part, class_="wb-rule", title=words, style="white-space:nowrap")
        elif "$" in part:  # a notebook shows what is between two dollars of one text as a formula
            parts[n] = Markup(tag("span", "$").join(map(_escape, part.split("$"))))
    return join(*parts)


def _attributes(attributes: dict[str, object]) -> str:
    # A picture has thousands of attributes, most of them whole numbers, which need no escaping.
    written = ""
    for name, value in attributes.items():
        if value is not None:
            written += f' {_hyphenate(name)}="{value if value.__class__ is int else _escape(value)}"'
    return written


@cache
def _hyphenate(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _escape(value: object) -> str:
    text = value if type(value) is str else f"{value:g}" if type(value) is float else str(value)
    return escape(_FORBIDDEN.sub("\ufffd", text)) if _UNSAFE.search(text) else text


# The base of everything that a notebook displays: one model, a text form and an HTML form.
#
# The text form is the repr, so a console, a failing test and a stored notebook show the same. The HTML form has its
# styles inline and no script, so that JupyterLab's sanitiser keeps it in a notebook that has not been run.


class View(ABC):
    """Base class. Both forms are functions of the model alone: the same bytes on every run."""

    __slots__ = ()

    @abstractmethod
    def text(self) -> str:
        """The text form, without a closing newline."""

    @abstractmethod
    def html(self) -> str:
        """The HTML form: one element, styles inline, nothing loaded from anywhere."""

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": self.text(), "text/html": self.html()}
