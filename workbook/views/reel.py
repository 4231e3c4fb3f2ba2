"""A reel: all that a browser gets of a run, as plain JSON.

Everything is drawn and told here; a browser only says which frame is shown, and lights or hides the groups that the
drawings name. Each different screen is drawn once. Whatever comes from a user stands in here as text or escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.views.exchange import Exchange
from workbook.views.findings import findings as listed
from workbook.views.phone_svg import draw
from workbook.views.picture import Picture
from workbook.views.sequence_svg import narrow, paint
from workbook.views.states import States, allowed
from workbook.views.timing_bars import Timing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.views.film import Film, Frame
    from workbook.views.findings import Finding
    from workbook.views.picture import Control
    from workbook.views.timing_bars import Bar


def reel(film: Film, findings: Iterable[Finding] = ()) -> dict[str, Any]:
    """The reel of a film, the same on every run.

    Args:
        film: what was played.
        findings: what the checks make of it.

    Returns:
        `title`; `frames` with the number of each one's screen, the state, the move `from>to` (None where the flow
        stayed), the label of the `event`, and what is `allowed` next in words; `screens`; `exchange` with a row for
        each frame; `states`; `timing`, None where no limit runs; `findings` as HTML.
    """
    screens = _Screens()
    frames = [_frame(film, frame, screens) for frame in film.frames]
    return {
        "title": film.title,
        "frames": frames,
        "screens": [_screen(picture) for picture in screens.pictures],
        "exchange": _exchange(Exchange(film)),
        "states": _drawn(States(film).plain),
        "timing": _timing(Timing(film)),
        "findings": listed(findings).html(),
    }


class _Screens:
    """The different pictures, in the order of their first appearance."""

    def __init__(self) -> None:
        self.pictures: list[Picture] = []
        self._numbers: dict[object, int] = {}

    def number(self, screen: Any) -> int:
        """The number of a screen's picture."""
        if screen not in self._numbers:
            picture = draw(screen)
            if picture not in self.pictures:
                self.pictures.append(picture)
            self._numbers[screen] = self.pictures.index(picture)
        return self._numbers[screen]


def _frame(film: Film, frame: Frame, screens: _Screens) -> dict[str, Any]:
    return {
        "at": round(frame.at, 6),
        "caption": frame.caption,
        "screen": screens.number(frame.screen),
        "state": frame.state,
        "move": ">".join(frame.moved) if frame.moved else None,
        "event": frame.event.says,
        "allowed": list(allowed(film.machine, frame.state)),
    }


def _screen(picture: Picture) -> dict[str, Any]:
    return _drawn(picture) | {"controls": [_control(one) for one in picture.controls]}


def _control(control: Control) -> dict[str, Any]:
    names = ("act", "label", "x", "y", "width", "height", "value", "enabled")
    return {name: getattr(control, name) for name in names}


def _drawn(picture: Picture) -> dict[str, Any]:
    return {"svg": picture.svg, "told": picture.told, "width": picture.width, "height": picture.height}


def _exchange(shown: Exchange) -> dict[str, Any]:
    """Drawn narrow, because it stands beside others: the rules are in each line's details."""
    lines = shown.film.sequence
    painted = paint(lines, narrow(len(lines.columns)))
    picture = Picture(painted.svg, painted.width, painted.height, shown.picture.told)
    return _drawn(picture) | {"rows": list(_rows(shown, painted.rows))}


def _rows(shown: Exchange, rows: tuple[tuple[int, int], ...]) -> Iterator[dict[str, Any]]:
    for line, detail, (y, height) in zip(shown.lines, shown.details, rows, strict=True):
        yield {"y": y, "height": height, "label": line.sentence, "detail": detail.html()}


def _timing(shown: Timing) -> dict[str, Any] | None:
    if not shown.bars:
        return None
    return _drawn(shown.picture) | {"budgets": [_budget(bar) for bar in shown.bars]}


def _budget(bar: Bar) -> dict[str, Any]:
    budget = bar.budget
    ended = None if budget.ended is None else round(budget.ended, 6)
    began = round(budget.began, 6)
    return {"call": budget.call, "seconds": budget.seconds, "began": began, "ended": ended, "kept": budget.kept}
