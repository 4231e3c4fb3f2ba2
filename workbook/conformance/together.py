"""What a case came to with the app of each platform, put together: it holds where it holds with all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbook.conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbook.conformance.run import Result
    from workbook.conformance.verdict import Miss

T = TypeVar("T")
GRAVEST = (
    Verdict.HARNESS_ERROR,
    Verdict.FAIL,
    Verdict.WARN,
    Verdict.NOTE,
    Verdict.NOT_TESTABLE,
    Verdict.PASS,
)
"""The verdicts of a case that was carried out, the one that counts first: nothing passes that was half tried."""


def together(parts: Sequence[Result]) -> Result:
    """One result of at least one; each miss says with whose app it was."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        verdict=min((one.verdict for one in parts), key=GRAVEST.index),
        misses=tuple(_misses(parts)),
        why=" ".join(_whys(parts)),
        platform=_listed(one.platform for one in parts),
        seconds=sum(one.seconds for one in parts),
        parts=tuple(parts),
    )


def _misses(parts: Iterable[Result]) -> Iterator[Miss]:
    """Each miss once, after the platforms that have it."""
    for miss, whose in _told((miss, one.platform) for one in parts for miss in one.misses):
        yield replace(miss, observed=f"with the app of {whose}: {miss.observed}")


def _whys(parts: Iterable[Result]) -> Iterator[str]:
    """What else is to be said, each once; with whose app, where one called."""
    for why, whose in _told((one.why, one.platform) for one in parts):
        yield f"The app of {whose}: {why}" if whose else why


def _told(pairs: Iterable[tuple[T, str]]) -> Iterator[tuple[T, str]]:
    by: dict[T, list[str]] = {}
    for what, platform in pairs:
        by.setdefault(what, []).append(platform)
    yield from ((what, _listed(whose)) for what, whose in by.items() if what)


def _listed(platforms: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(one for one in platforms if one))
