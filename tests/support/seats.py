"""Progress documents of made-up seats, as a learner's copy keeps and sends them."""

import json
from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


def ago(minutes):
    return (NOON - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def work(*, first=5.0, last=1.0, passed=None, wrong=None, minutes=4.0):
    """What a seat did on one exercise; times in minutes before noon."""
    wrong = wrong or {}
    return {
        "state": "wrong" if passed is None else "done",
        "attempts": sum(wrong.values()) + (passed is not None),
        "wrong": wrong,
        "hints": 0,
        "first": ago(first),
        "last": ago(last if passed is None else passed),
        "passed": None if passed is None else ago(passed),
        "minutes": minutes,
    }


def progress(seat, now=None, *, hand=None, **exercises):
    """A document; `_03_1=work()` is exercise 03.1, and `hand` the minutes before noon at which it was raised."""
    return {
        "version": 1,
        "seat": seat,
        "now": now,
        "help": None if hand is None else {"exercise": now, "since": ago(hand)},
        "exercises": {name[1:].replace("_", "."): each for name, each in exercises.items()},
    }


def sent(*args, **exercises):
    return json.dumps(progress(*args, **exercises)).encode()
