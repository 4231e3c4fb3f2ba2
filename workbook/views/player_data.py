"""Player data: all that a browser needs to play a run, as plain JSON.

Every drawing and every sentence is made here, once for each different screen. The browser chooses the frame to show,
and lights or hides the groups that the drawings name. Text from users is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from workbook.checks.finding import Finding
from workbook.views.durations import timing
from workbook.views.exchange import Exchange
from workbook.views.film import Film
from workbook.views.findings import findings
from workbook.views.paint import Picture
from workbook.views.phone_svg import draw
from workbook.views.sequence_svg import narrow, paint
from workbook.views.states import States, allowed


def player_data(film: Film, found: Iterable[Finding] = ()) -> dict[str, Any]:
    """The data of a film, the same on every run.

    Args:
        film: the run.
        found: the findings of the checks.

    Returns:
        `title`; `frames` with the number of each one's screen, the state, the move `from>to` (None where the flow
        stayed), the label of the `event`, and what is `allowed` next in words; `screens`; `exchange` with a row for
        each frame; `states`; `timing`, None where no limit runs; the number of findings as `found`, and `findings`
        as HTML.
    """
    listed = findings(found)
    pictures = {screen: draw(screen) for screen in dict.fromkeys(frame.screen for frame in film.frames)}
    screens = list(dict.fromkeys(pictures.values()))
    frames = [
        {
            "at": round(frame.at, 6),
            "caption": frame.caption,
            "screen": screens.index(pictures[frame.screen]),
            "state": frame.state,
            "move": ">".join(frame.moved) if frame.moved else None,
            "event": frame.event.says,
            "allowed": list(allowed(film.machine, frame.state)),
        }
        for frame in film.frames
    ]
    return {
        "title": film.title,
        "frames": frames,
        "screens": [
            _picture(screen) | {"controls": [asdict(control) for control in screen.controls]} for screen in screens
        ],
        "exchange": _exchange(Exchange(film)),
        "states": _picture(States(film).plain),
        "timing": _timing(film),
        "found": len(listed.found),
        "findings": listed.html(),
    }


def _picture(picture: Picture) -> dict[str, Any]:
    return {"svg": picture.svg, "alt": picture.alt, "width": picture.width, "height": picture.height}


def _exchange(shown: Exchange) -> dict[str, Any]:
    """Drawn narrow, because it is beside other panels: the rules are in each line's details.

    The columns are those of the whole flow, so that none moves when another actor takes part.
    """
    lines = replace(shown.film.sequence, columns=shown.film.cast)
    painted = paint(lines, narrow(len(lines.columns)))
    rows = [
        {"y": y, "height": height, "label": line.sentence, "detail": detail.html()}
        for line, detail, (y, height) in zip(shown.lines, shown.details, painted.rows, strict=True)
    ]
    return _picture(painted.picture) | {"alt": shown.alt, "rows": rows}


def _timing(film: Film) -> dict[str, Any] | None:
    budgets = [
        asdict(budget)
        | {"began": round(budget.began, 6), "ended": None if budget.ended is None else round(budget.ended, 6)}
        for budget in film.limits
    ]
    return _picture(timing(film).picture()) | {"budgets": budgets} if budgets else None
