"""The words beside arrows as SVG: where several events lead the same way, each can be lit by itself.

An event that was one of several and did it bears a tick and stands out; the others stay as pale as they were. Words
that have no room for all their events name those that did it once the way was gone, and say that there are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.markup import tag
from workbook.views.states_grid import LEADING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from workbook.views.markup import Markup
    from workbook.views.states_layout import Words
    from workbook.views.states_words import Label

    Place = dict[str, object]

TICK = "✓ "
SAYS: Mapping[str, str] = {
    ".wb-been .wb-choice,.wb-now .wb-choice": "fill:var(--muted)",
    ".wb-choice .wb-took,.wb-choice.wb-took": "fill:var(--ink);font-weight:700",
    ".wb-choice .wb-now,.wb-choice.wb-now": "text-decoration:underline",
    ".wb-tick": "display:none",
    ".wb-took .wb-tick": "display:inline",
    ".wb-many": "display:none",
    ".wb-been .wb-many,.wb-now .wb-many": "display:inline",
    ".wb-been .wb-short,.wb-now .wb-short": "display:none",
    ".wb-many .wb-event": "display:none",
    ".wb-many .wb-took": "display:inline",
    ".wb-many:not(:has(.wb-event:not(.wb-took))) .wb-others": "display:none",
}
"""How they look."""


def key(move: str, event: str) -> str:
    """What an event on a move is called in a picture."""
    return f"{move}: {event}"


def texts(words: Words, took: Collection[str]) -> Iterator[Markup]:
    """The lines of some words, the last one first; `took` holds the keys of what happened."""
    choice = len({event for label in words.lines for event in label.events}) > 1
    for number, label in enumerate(reversed(words.lines)):
        place: Place = {"x": words.x, "y": words.y - LEADING * number, "text_anchor": words.anchor}
        if not choice:
            yield tag("text", label.text, class_="wb-says", **place)
        elif len(label.events) == 1:
            yield _line(label, words.moves, took, place)
        else:
            yield from _choices(label, words.moves, took, place)


def _line(label: Label, moves: tuple[str, ...], took: Collection[str], place: Place) -> Markup:
    """A line for one event, or for a part of it."""
    lit = _lit(label.events[0], moves, took)
    ticked = _tick() if label.begins else ""
    return tag("text", ticked, label.text, **lit | {"class_": f"wb-says wb-choice {lit['class_']}"}, **place)


def _choices(label: Label, moves: tuple[str, ...], took: Collection[str], place: Place) -> Iterator[Markup]:
    """All events in one line; where they have no room, those that did it alone."""
    each = [
        tag("tspan", _tick(), name, **_lit(event, moves, took))
        for event, name in zip(label.events, label.named, strict=True)
    ]
    if label.whole:
        yield tag(
            "text", each[0], *(part for one in each[1:] for part in (" or ", one)), class_="wb-says wb-choice", **place
        )
        return
    yield tag("text", label.text, class_="wb-says wb-short", **place)
    others = tag("tspan", "or others", class_="wb-others")
    spaced = (part for one in each for part in (one, " "))
    yield tag("text", *spaced, others, class_="wb-says wb-choice wb-many", **place)


def _lit(event: str, moves: tuple[str, ...], took: Collection[str]) -> dict[str, str]:
    keys = [key(move, event) for move in moves]
    return {
        "data_event": "|".join(keys),
        "class_": "wb-event wb-took" if any(one in took for one in keys) else "wb-event",
    }


def _tick() -> Markup:
    return tag("tspan", TICK, class_="wb-tick")
