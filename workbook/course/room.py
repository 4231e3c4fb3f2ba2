"""What the progress of each seat says of the room: who needs help, what costs most, what was solved when.

Everything here is computed from each seat's `Progress` and the time: no file, no socket, no clock of its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from workbook.base.rules import sentence
from workbook.notebook.exercises.model import Exercise, all_exercises
from workbook.notebook.exercises.progress import Progress, Standing


def stuck(work: Standing | None, meant: int, now: datetime) -> str:
    """Why a seat is stuck at the exercise that it works on, in a sentence; empty where it is not.

    All of it is assumed: three wrong answers of one kind, or five of any; or twice the minutes that the exercise is
    meant to take, and ten at least, since the first answer.
    """
    if work is None or work.passed:
        return ""
    kind, times = _most(work.wrong)
    if times >= 3:
        return f"wrong {times} times: {in_words(kind)}"
    if (wrong := sum(work.wrong.values())) >= 5:
        return f"{wrong} different wrong answers"
    spent = _minutes(work.first, now)
    return f"{spent} min, meant for {meant}" if spent >= max(10, 2 * meant) else ""


def in_words(kind: str) -> str:
    """A kind of wrong answer, with the ledger's sentence where it is a rule."""
    return f"{kind}, {words.partition(': ')[2]}" if (words := sentence(kind)) else kind


def overview(seats: Iterable[Progress], passed: Iterable[datetime], now: datetime) -> dict[str, Any]:
    """The room as JSON values: `seats` (who needs help first), `costs` (most minutes first), `solved` (over time).

    Args:
        seats: the newest progress of each.
        passed: when each exercise was solved at each seat, also where it was reset afterwards.
        now: in UTC.
    """
    works: dict[str, list[Standing]] = {}
    for progress in seats:
        for name, work in progress.exercises.items():
            works.setdefault(name, []).append(work)
    rows = sorted((_seat(each, now) for each in seats), key=lambda row: (-row["hand"], not row["stuck"], row["seat"]))
    costs = sorted((_cost(*item) for item in works.items()), key=lambda row: (-row["minutes"], row["exercise"]))
    start = now - timedelta(hours=4)  # what the curve shows at most (assumed)
    late = [_minutes(at, now) for at in sorted(passed) if at >= start]
    solved = {"before": len([at for at in passed if at < start]), "minutes_ago": late}
    return {"seats": rows, "costs": costs[:6], "solved": solved}


def _seat(progress: Progress, now: datetime) -> dict[str, Any]:
    """The row of one seat; `hand` is the minutes that it has been up, -1 while it is down."""
    hand, at = progress.help, progress.now or ""
    exercise, work = _known().get(at), progress.exercises.get(at)
    return {
        "seat": progress.seat,
        "exercise": _title(at),
        "since": _minutes(work.first, now) if work and not work.passed else None,
        "wrong": sum(work.wrong.values()) if work else 0,
        "solved": sum(each.passed is not None for each in progress.exercises.values()),
        "of": len(_known()),
        "hand": _minutes(hand.since, now) if hand else -1,
        "for": hand.exercise if hand else "",
        "stuck": stuck(work, exercise.minutes if exercise else 5, now),
    }


def _cost(name: str, works: list[Standing]) -> dict[str, Any]:
    """What an exercise has cost the room, and its most frequent wrong answer."""
    kind, times = _most(sum((Counter(work.wrong) for work in works), Counter[str]()))
    return {
        "exercise": _title(name),
        "minutes": round(sum(work.minutes for work in works)),
        "seats": len(works),
        "solved": sum(work.passed is not None for work in works),
        "wrong": f"{in_words(kind)} ({times} {'time' if times == 1 else 'times'})" if times else "",
    }


def _most(wrong: Mapping[str, int]) -> tuple[str, int]:
    """The most frequent kind of wrong answer, and how often it was given."""
    return max(sorted(wrong.items()), key=lambda row: row[1], default=("", 0))


@cache
def _known() -> Mapping[str, Exercise]:
    return all_exercises()


def _title(name: str) -> str:
    return f"{name} {_known()[name].title}" if name in _known() else name


def _minutes(since: datetime, now: datetime) -> int:
    """Whole minutes from a time to now; 0 where a seat's clock is ahead."""
    return max(0, (now - since) // timedelta(minutes=1))
