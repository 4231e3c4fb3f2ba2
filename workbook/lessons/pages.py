"""Pages on which recorded runs are played without a kernel and without a network, each one file.

The player is the one of the notebook: here its model is a recording that never answers. All runs of a page are one
compressed text. The page's policy lets this one script run, by its hash, and lets nothing be loaded or sent.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbook.base.secrecy import MASK, Secrets
from workbook.views.film import film
from workbook.views.html import POLICY, Markup, join, tag, trust

# The type under which a notebook's output carries a recording.
RECORDING_MIMETYPE = "application/vnd.workbook.recording+json"
# The panels that a player can show.
PANELS = ("phone", "exchange", "states", "timing", "findings")


def player_values(shown: Any, panels: Sequence[str] = ()) -> dict[str, Any]:
    """The player's values for a run; `panels` are those to show, all by default."""
    from workbook.views.player_data import player_data  # loaded when something is played

    data = player_data(film(shown.trace, shown.machine, shown.before), shown.findings)
    return {"player_data": data, "panels": list(panels or PANELS)}


def recording(shown: Any, panels: Sequence[str] = ()) -> dict[str, Any]:
    """What a notebook's output carries beside its text and its HTML, so that an exported page can play it.

    It is redacted, as every view of a trace is.

    Args:
        shown: the run.
        panels: the panels to show; empty for all.

    Returns:
        one entry of a bundle; `unpack` reads it.
    """
    text = json.dumps(player_values(shown, panels), ensure_ascii=False)
    # bz2 and not gzip, whose bytes depend on the library behind Python: a stored output is the same everywhere
    return {RECORDING_MIMETYPE: {"bz2": b64encode(bz2.compress(text.encode())).decode()}}


def unpack(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The player's values that `recording` packed.

    Raises:
        LookupError, TypeError, ValueError, OSError: it is no recording, or one of another version.
    """
    values: dict[str, Any] = json.loads(_expanded(entry["bz2"]))
    return values


def _expanded(packed: str) -> bytes:
    expander = bz2.BZ2Decompressor()
    data = expander.decompress(b64decode(packed), 2**24)
    if not expander.eof:
        raise ValueError("it is not whole, or larger than any recording")
    return data


def scrub_notebook(text: str, secrets: Secrets) -> str:
    """A notebook's text without secrets; a packed recording with one, or that cannot be read, is left out."""

    def scrubbed(packed: re.Match[str]) -> str:
        with suppress(ValueError, OSError):
            if not secrets.found_in(_expanded(packed[0]).decode()):
                return packed[0]
        return MASK

    return secrets.scrub(re.sub(r'(?<="bz2": ")[^"]*', scrubbed, text)) if secrets else text


@cache
def player_script(last: str = "") -> str:
    """The player's JavaScript module, and the file that comes last in it."""
    names = ("frames.js", "kernel.js", "parts.js", "exchange.js", "breaking.js", "player.js", *filter(None, [last]))
    return "".join(browser_file(name) for name in names)


def browser_file(name: str) -> str:
    """The text of a file for the browser."""
    return (Path(__file__).parent / "widgets" / name).read_text("utf-8")


def place(number: int, *, opened: bool = False) -> Markup:
    """Where the player of this recording goes; unless `opened`, a button brings it."""
    needed = tag("noscript", "This recording is played by a script in the page.")
    return tag("div", needed, class_="wb-place", data_recording=number, data_opened="yes" if opened else None)


def policy() -> str:
    """The policy of a page with players: this script, by its hash, and nothing else."""
    digest = b64encode(sha256(player_script("recorded.js").encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"


def players(recordings: Sequence[Mapping[str, Any]]) -> Markup:
    """The end of a page: the style, the recordings, and the script that brings the players to their places."""
    packed = b64encode(gzip.compress(json.dumps(recordings, ensure_ascii=False).encode(), mtime=0)).decode()
    return join(
        tag("style", trust(browser_file("player.css"))),
        tag("script", packed, type="text/plain", id="wb-recordings"),
        tag("script", trust(player_script("recorded.js")), type="module"),
    )


def saved_page(title: str, values: Mapping[str, Any]) -> str:
    """A page, without a link, that plays one recording."""
    main = join(tag("h1", title), place(0, opened=True))
    style = (
        "body { max-width: 1600px; margin: 1rem auto; padding: 0 1rem; background: Canvas; color: CanvasText; }\n"
        "h1 { font: 600 1.3rem system-ui, sans-serif; }"
    )
    return page_of(title, main, players([values]), style)


def page_of(title: str, main: Markup, end: Markup, style: str) -> str:
    """A page around its main part, with this style; `end` is empty, or what `players` returned."""
    from workbook.views.templates import fill  # loaded when a page is made

    allowed = policy() if end else POLICY
    return fill("lessons/played.html", policy=allowed, title=title, style=style, main=main, end=end)
