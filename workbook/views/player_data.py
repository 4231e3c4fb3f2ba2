"""Player data: all that a browser needs to play a run, as plain JSON.

Every drawing and every sentence is made here, once for each different screen. The browser chooses the frame to show,
and lights or hides the groups that the drawings name. Text from users is escaped here.
"""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from workbook.checks.finding import Finding
from workbook.flows.extension import State as Extension
from workbook.flows.platform_b import State as B
from workbook.views.exchange import Exchange, copies
from workbook.views.film import Film, Frame, camel, timing
from workbook.views.findings import findings
from workbook.views.paint import Picture
from workbook.views.phone import draw
from workbook.views.sequence import SequenceLine, narrow, paint
from workbook.views.states import States, allowed

# The states in which the cardholder does not get the card.
TROUBLE = {
    *(B.FAILED, B.UNAVAILABLE, B.TOO_LATE),
    *(Extension.NOT_LISTED, Extension.EMPTY, Extension.NOT_AUTHENTICATED, Extension.NOT_ADDED),
}


def player_data(film: Film, found: Iterable[Finding] = ()) -> dict[str, Any]:
    """The data of a film, the same on every run.

    Args:
        film: the run.
        found: the findings of the checks.

    Returns:
        `title`.
        `frames`: of each its time `at`, `caption`, number of its `screen`, `state`, whether that is a
        `trouble`, the move `from>to` (None where the flow stayed), label of the `event`, and what is `allowed` next in
        words.
        `screens` and `states`: pictures.
        `exchange`: a picture with `rows`, one for each frame: its place, label, `detail` as HTML, whether it `failed`,
        and the `copies` of a request, by format.
        `limits`: call, seconds, begin, end, verdict and words.
        `findings`: HTML in which `data-finding` numbers each; `found`: its level and frame, in that order.
    """
    listed = findings(found)
    pictures = {screen: draw(screen) for screen in dict.fromkeys(frame.screen for frame in film.frames)}
    screens = list(dict.fromkeys(pictures.values()))
    frames = [
        _frame(frame, film, screens.index(pictures[frame.screen]), frame.at, frame.caption)
        | {"move": ">".join(frame.moved) if frame.moved else None}
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
        "limits": _limits(film),
        "found": [{"level": str(finding.level), "frame": _frame_of(finding, film)} for finding in listed.found],
        "findings": listed.html(),
    }


def _frame(frame: Frame, film: Film, screen: int, at: float, caption: str) -> dict[str, Any]:
    return {
        "at": round(at, 6),
        "caption": caption,
        "screen": screen,
        "state": frame.state,
        "trouble": frame.state in TROUBLE,
        "move": None,
        "event": frame.event.says,
        "allowed": list(allowed(film.machine, frame.state)),
    }


def _frame_of(finding: Finding, film: Film) -> int:
    """The frame that shows a finding: one at its time, preferably with its rule; else the last before it."""
    at = [number for number, frame in enumerate(film.frames) if abs(frame.at - finding.at) < 1e-6]
    ruled = [number for number in at if finding.rule in film.sequence.lines[number].rules]
    before = [number for number, frame in enumerate(film.frames) if frame.at <= finding.at]
    return (ruled or at or before[-1:] or [0])[0]


def _picture(picture: Picture) -> dict[str, Any]:
    return {"svg": picture.svg, "alt": picture.alt, "width": picture.width, "height": picture.height}


def _exchange(shown: Exchange) -> dict[str, Any]:
    """Drawn narrow, because it is beside other panels: the rules are in each line's details.

    The columns are those of the whole flow, so that none moves when another actor takes part.
    """
    lines = replace(shown.film.sequence, columns=shown.film.cast)
    painted = paint(lines, narrow(len(lines.columns)))
    rows = [
        _row(line, detail.html(), place) | {"failed": line.failed or not line.shape.arrives}
        for line, detail, place in zip(shown.lines, shown.details, painted.rows, strict=True)
    ]
    return _picture(painted.picture) | {"alt": shown.alt, "rows": rows}


def _row(line: SequenceLine, detail: str, place: tuple[int, int]) -> dict[str, Any]:
    return {
        "y": place[0], "height": place[1], "label": line.sentence, "detail": detail, "failed": line.failed,
        "copies": copies(line.record) if line.record else {},
    }  # fmt: skip


def _limits(film: Film) -> list[dict[str, Any]]:
    """The time limits that ran, each with its outcome in words, for a bar that a player fills."""
    return [
        asdict(budget)
        | {"began": round(budget.began, 6), "ended": None if budget.ended is None else round(budget.ended, 6)}
        | {"call": camel(budget.call), "verdict": bar.verdict, "words": bar.words}
        for budget, bar in zip(film.limits, timing(film).budgets, strict=True)
    ]
