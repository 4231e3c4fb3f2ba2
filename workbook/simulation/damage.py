"""What happens to opaque text between the API and the SDK when a hand on the way does too much or too little.

Each damage is one pure function of the text, named as the diagnosis catalogue names the mistake.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from textwrap import wrap
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LINE = 76
"""Characters to a line where an encoder wraps its text."""


def _unchanged(text: str) -> str:
    return text


def _decoded(text: str) -> str:
    return b64decode(text).decode("utf-8", "replace")


def _encoded_twice(text: str) -> str:
    return b64encode(text.encode()).decode("ascii")


def _url_safe(text: str) -> str:
    """The same data in the other alphabet; bytes that need its two letters are put in where there are none."""
    return "-_" + text[2:].replace("+", "-").replace("/", "_")


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, LINE))


def _one_character_changed(text: str) -> str:
    middle = len(text) // 2
    other = "A" if text[middle] != "A" else "B"
    return text[:middle] + other + text[middle + 1 :]


DAMAGES: Mapping[str, Callable[[str], str]] = {
    "none": _unchanged,
    "decoded": _decoded,
    "encoded twice": _encoded_twice,
    "quoted": json.dumps,
    "url-safe alphabet": _url_safe,
    "padding trimmed": lambda text: text.rstrip("=")[:-1],
    "wrapped into lines": _wrapped,
    "cut off": lambda text: text[: len(text) // 8 * 4],
    "one character changed": _one_character_changed,
    "empty": lambda _text: "",
}
"""Every damage by its name; the first does nothing."""


def damaged(text: str, damage: str) -> str:
    """The text after this damage.

    Raises:
        ParameterError: there is no damage of this name.
    """
    if damage not in DAMAGES:
        raise ParameterError(f"No damage {damage!r}. {did_you_mean(damage, DAMAGES)}")
    return DAMAGES[damage](text)
