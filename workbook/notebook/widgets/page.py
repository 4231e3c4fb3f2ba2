"""Pages on which recorded runs are played without a kernel and without a network, each one file.

The player is the one of the notebook: here its model is a recording that never answers. All runs of a page are one
compressed text. The page's policy lets this one script run, by its hash, and lets nothing be loaded or sent.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbook.views.html import POLICY, Markup, joined, tag, trusted

SOURCES = ("frames.js", "kernel.js", "parts.js", "exchange.js", "breaking.js", "player.js")
"""The player's module in its order; `player.py` explains each."""
PANELS = ("phone", "exchange", "states", "timing", "findings")
"""The panels that a player can show."""
SIDE_BY_SIDE = ("phone", "exchange")
"""The panels of a comparison."""
_HERE = Path(__file__).parent


@cache
def source(*names: str) -> str:
    """These files of this folder as one text."""
    return "".join((_HERE / name).read_text("utf-8") for name in names)


def place(number: int, *, opened: bool = False) -> Markup:
    """Where the player of this recording goes; unless `opened`, a button brings it."""
    needed = tag("noscript", "This recording is played by a script in the page.")
    return tag("div", needed, class_="wb-place", data_recording=number, data_opened="yes" if opened else None)


def policy() -> str:
    """The policy of a page with players: this script, by its hash, and nothing else."""
    digest = b64encode(sha256(_script().encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"


def players(recordings: Sequence[Mapping[str, Any]]) -> Markup:
    """The end of a page: the style, the recordings, and the script that brings the players to their places."""
    packed = b64encode(gzip.compress(json.dumps(recordings, ensure_ascii=False).encode(), mtime=0)).decode()
    return joined(
        tag("style", trusted(source("player.css"))),
        tag("script", packed, type="text/plain", id="wb-recordings"),
        tag("script", trusted(_script()), type="module"),
    )


@cache
def _script() -> str:
    return source(*SOURCES, "recorded.js")


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{title}
<style>body {{ max-width: 1600px; margin: 1rem auto; padding: 0 1rem; background: Canvas; color: CanvasText; }}
h1 {{ font: 600 1.3rem system-ui, sans-serif; }}</style>
</head>
<body>
<main>
{main}
</main>
{end}
</body>
</html>
"""


def saved_page(title: str, recording: Mapping[str, Any], kept: Markup) -> str:
    """A page that plays one recording, without a link; `kept` is what it keeps beside it."""
    return PAGE.format(
        policy=policy(),
        title=tag("title", title),
        main=joined(tag("h1", title), place(0, opened=True)),
        end=joined(players([recording]), kept),
    )
