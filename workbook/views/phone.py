"""The phone as a notebook shows it: a strip of the few screens that tell the story, each with its time and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.flows import messages as m
from workbook.views.markup import joined, tag
from workbook.views.phone_svg import draw
from workbook.views.plain import wrap
from workbook.views.screen import Page, Sheet
from workbook.views.table import preformatted
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.views.film import Film
    from workbook.views.markup import Markup
    from workbook.views.picture import Picture
    from workbook.views.screen import Screen

MOST = 5
"""A strip has no more screens than this."""
SCALE = 0.62
"""How large a picture of the strip is at most, in parts of its full size."""
ALONE = 400
"""A picture that is wider has a watch beside the phone."""
SHARES = {False: 18.5, True: 31.5}
"""How much of the page's width a picture takes, in percent: five phones side by side, three with a watch."""
ASSUMED = "How the wallet's screens look, and that an app says “Not added”, is assumed: the document shows neither."
ACTS = (m.AddTapped, m.IssuerChosen, m.EntryChosen)
"""What only the cardholder can do; the screen before it is the one that asked for it."""
CELL = "display:inline-block;vertical-align:top;min-width:130px;margin:0 1.5% 14px 0;"
SMALL = "font-size:12px;margin:4px 0"


@dataclass(frozen=True, slots=True)
class Still:
    """One screen, and since when it was to be seen.

    Attributes:
        at: seconds since the run began.
        screen: what was seen.
        picture: the same, drawn. Screens may differ in what a sheet hides.
        acted: the cardholder had to act on it.
    """

    at: float
    screen: Screen
    picture: Picture
    acted: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Phone(View):
    """The phone's key screens.

    Attributes:
        film: what was seen.
    """

    film: Film

    @property
    def stills(self) -> tuple[Still, ...]:
        """The screens that tell the story, in order, at most `MOST`."""
        return chosen(stills(self.film))

    def text(self) -> str:
        """The key screens in words, with the time at which each came."""
        lines = [f"Phone: {self.film.title}"]
        for still in self.stills:
            first, *more = wrap(still.picture.told, 92)
            lines += [f"{still.at:9.3f} s  {first}", *(" " * 13 + line for line in more)]
        return "\n".join([*lines, ASSUMED])

    def html(self) -> str:
        """The screens side by side, with captions, and the text form folded up below them."""
        told = tag("p", ASSUMED, style=SMALL)
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.text()))
        return tag("figure", *map(_shown, self.stills), told, folded, style="margin:0")


def phone(film: Film) -> Phone:
    """The phone's panel of a film."""
    return Phone(film)


def stills(film: Film) -> tuple[Still, ...]:
    """Each screen of a film as often as it came up anew; the one before everything only where nothing happened."""
    seen: list[Still] = []
    for frame in film.frames:
        if seen and issubclass(frame.event, ACTS):
            seen[-1] = replace(seen[-1], acted=True)
        if not seen or draw(frame.screen) != seen[-1].picture:
            seen.append(Still(frame.at, frame.screen, draw(frame.screen)))
    return tuple(seen) or (Still(0.0, film.first, draw(film.first)),)


def chosen(all_stills: tuple[Still, ...], most: int = MOST) -> tuple[Still, ...]:
    """The screens that tell the story: the first, those on which the cardholder acts, what came of it; none twice."""
    *before, last = all_stills
    once = {still.picture.svg: still for still in reversed(before) if still.picture != last.picture}
    ranked = sorted(once.values(), key=lambda still: (still is not before[0], _rank(still), still.at))
    kept = [*ranked[: most - 1], last]
    return tuple(still for still in all_stills if any(still is one for one in kept))


def _rank(still: Still) -> int:
    """How much of the story a screen tells; the smaller, the more."""
    if still.acted or still.screen.page is Page.AUTHORIZING:
        return 0
    return OUTCOMES.get(still.screen.sheet or still.screen.page, 3)


OUTCOMES: Mapping[Sheet | Page, int] = {
    Sheet.ADDED: 1,
    Sheet.FAILED: 1,
    Page.ADDED: 1,
    Page.NOT_ADDED: 1,
    Sheet.UP: 2,
    Sheet.ADDING: 4,
    Page.ADDING: 4,
    Page.FETCHING: 5,
}
"""What is shown where there is room for it. A disabled button stands between what asks and what merely waits."""


def _shown(still: Still) -> Markup:
    picture = still.picture
    width = round(picture.width * SCALE)
    caption = joined(tag("b", f"{still.at:.3f} s"), f" {picture.told}")
    image = picture.image(style="width:100%;height:auto")
    share = SHARES[picture.width > ALONE]
    size = f"width:{share}%;max-width:{width}px"
    return tag("div", image, tag("p", caption, style=SMALL), style=f"{CELL}{size}")
