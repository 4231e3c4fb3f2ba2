"""The phone as a notebook shows it: a strip of the few screens that tell the story, each with its time and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbook.flows import messages as m
from workbook.views.film import Film
from workbook.views.html import View, joined, tag
from workbook.views.paint import Picture
from workbook.views.phone_svg import draw
from workbook.views.screen import Page, Screen, Sheet
from workbook.views.table import preformatted, wrap

ASSUMED = "Assumed: how the wallet's screens look; that an app says “Not added”, or on platform A “In the wallet”."
RANKS: Mapping[Sheet | Page, int] = {
    Sheet.ADDED: 1,
    Sheet.FAILED: 1,
    Page.ADDED: 1,
    Page.NOT_ADDED: 1,
    Sheet.UP: 2,
    Sheet.ADDING: 4,
    Page.ADDING: 4,
    Page.FETCHING: 5,
}
"""The rank of a screen in the story, the smaller the more important. All others, such as a disabled button, have 3."""


@dataclass(frozen=True, slots=True)
class Still:
    """One screen of the story.

    Attributes:
        at: when it appeared, in seconds since the run began.
        screen: the screen.
        picture: its drawing; different screens may have the same one, as a sheet hides a part.
        acted: the cardholder acted on it.
    """

    at: float
    screen: Screen
    picture: Picture
    acted: bool = False

    @property
    def rank(self) -> int:
        """How much of the story the screen tells; the smaller, the more."""
        if self.acted or self.screen.page is Page.AUTHORIZING:
            return 0
        return RANKS.get(self.screen.sheet or self.screen.page, 3)


@dataclass(frozen=True, slots=True, repr=False)
class KeyScreens(View):
    """The phone's key screens in a film."""

    film: Film

    @property
    def stills(self) -> tuple[Still, ...]:
        """The screens that tell the story, in order, at most five."""
        return chosen(stills(self.film))

    def text(self) -> str:
        """The key screens in words, with the time at which each appeared."""
        lines = [f"Phone: {self.film.title}"]
        for still in self.stills:
            first, *more = wrap(still.picture.alt, 92)
            lines += [f"{still.at:9.3f} s  {first}", *(" " * 13 + line for line in more)]
        return "\n".join([*lines, ASSUMED])

    def html(self) -> str:
        """The screens side by side, with captions, and the text form folded up below them."""
        cell, small = (
            "display:inline-block;vertical-align:top;min-width:130px;margin:0 1.5% 14px 0;",
            "font-size:12px;margin:4px 0",
        )
        cells = []
        for still in self.stills:
            picture = still.picture
            share = 31.5 if picture.width > 400 else 18.5  # three phones with a watch side by side, or five without
            size = f"width:{share}%;max-width:{round(picture.width * 0.62)}px"
            caption = joined(tag("b", f"{still.at:.3f} s"), f" {picture.alt}")
            image = picture.image(style="width:100%;height:auto")
            cells.append(tag("div", image, tag("p", caption, style=small), style=f"{cell};{size}"))
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.text()))
        return tag("figure", *cells, tag("p", ASSUMED, style=small), folded, style="margin:0")


def stills(film: Film) -> tuple[Still, ...]:
    """Every change of the picture in a film; the screen before everything only if the film has no frame."""
    seen: list[Still] = []
    for frame in film.frames:
        if seen and issubclass(frame.event, m.AddTapped | m.IssuerChosen | m.EntryChosen):  # only the cardholder can
            seen[-1] = replace(seen[-1], acted=True)
        picture = draw(frame.screen)
        if not seen or picture != seen[-1].picture:
            seen.append(Still(frame.at, frame.screen, picture))
    return tuple(seen) or (Still(0.0, film.first, draw(film.first)),)


def chosen(all_stills: tuple[Still, ...], most: int = 5) -> tuple[Still, ...]:
    """The screens that tell the story: the first, those on which the cardholder acts, the outcome; no picture twice."""
    # The last screen is the outcome and always shown. Of the others, each picture counts once, at its first appearance;
    # the most important of them fill the strip, and the strip is then read in the order of time.
    *before, last = all_stills
    once = {still.picture.svg: still for still in reversed(before) if still.picture != last.picture}
    ranked = sorted(once.values(), key=lambda still: (still is not before[0], still.rank, still.at))
    kept = [*ranked[: most - 1], last]
    return tuple(still for still in all_stills if any(still is keep for keep in kept))
