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
from workbook.views.compare import Comparison, fold
from workbook.views.exchange import Exchange, copies, details
from workbook.views.film import Film, Frame
from workbook.views.film import film as filmed
from workbook.views.findings import findings
from workbook.views.html import tag, trust
from workbook.views.limits import timing
from workbook.views.paint import Picture, document
from workbook.views.phone import PHONE_STYLE, draw
from workbook.views.screen import Screen
from workbook.views.sequence import ADDED, REMOVED, SequenceLine, narrow, paint
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
    copied = copies(line.record) if line.record else {}
    return {
        "y": place[0], "height": place[1], "label": line.sentence, "detail": detail, "failed": line.failed,
        "copies": copied,
    }  # fmt: skip


def _limits(film: Film) -> list[dict[str, Any]]:
    """The time limits that ran, each with its outcome in words, for a bar that a player fills."""
    return [
        asdict(budget)
        | {"began": round(budget.began, 6), "ended": None if budget.ended is None else round(budget.ended, 6)}
        | {"verdict": bar.verdict, "words": bar.words}
        for budget, bar in zip(film.limits, timing(film).budgets, strict=True)
    ]


# Two runs compared, as one film: a frame for each line of the folded sequence, with both phones as they are by then.


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The data of two runs that are compared; see `player_data`. Its states and limits are not shown."""
    films = [filmed(run.trace, run.machine, run.before) for run in comparison.runs]
    details_of = [details(shown.sequence.lines, shown.machine) for shown in films]
    painted = paint(comparison.folded, narrow(len(comparison.folded.columns)))
    seen = [-1, -1]
    frames, rows, screens = [], [], []
    places = iter(painted.rows)
    for block in comparison.blocks:
        for line in fold(block):
            for step in block:
                for side, own in enumerate((step.first, step.second)):
                    counts = own is not None and line.mark in ("", (REMOVED, ADDED)[side])
                    seen[side] += counts
            side = 0 if line.mark == REMOVED else 1
            frame = films[side].frames[seen[side]]
            both = zip(films, seen, strict=True)
            pair = _pair([shown.frames[number].screen if number >= 0 else shown.first for shown, number in both])
            if pair not in screens:
                screens.append(pair)
            frames.append(_frame(frame, films[side], screens.index(pair), line.at, line.sentence))
            stands_for = (tag("li", step.second.sentence) for step in block if step.second)
            about = details_of[side][seen[side]].html() if line.record else tag("ul", *stands_for)
            rows.append(_row(line, about, next(places)))
    return {
        "title": comparison.title,
        "frames": frames,
        "screens": screens,
        "exchange": _picture(painted.picture) | {"rows": rows},
        "states": _picture(States(films[1]).plain),
        "limits": [],
        "found": [],
        "findings": "",
    }


def _pair(screens: list[Screen]) -> dict[str, Any]:
    """Two phones side by side, each under the name of its run."""
    pictures = [draw(screen) for screen in screens]
    parts, x = [], 0.0
    for name, picture in zip(("first run", "second run"), pictures, strict=True):
        parts.append(tag("text", name, x=x + picture.width / 2, y=20, text_anchor="middle", class_="wb-fill-ink"))
        parts.append(trust(picture.svg.replace("<svg ", f'<svg x="{x:g}" y="30" ', 1)))
        x += picture.width + 16
    size = int(x) - 16, int(max(picture.height for picture in pictures)) + 30
    picture_of_both = document(
        "wb-phone", PHONE_STYLE, "Two phones", "; ".join(picture.alt for picture in pictures), size, *parts
    )
    return _picture(picture_of_both) | {"controls": []}
