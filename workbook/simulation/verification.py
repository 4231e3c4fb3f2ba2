"""A journal judged by what it is expected to hold.

    verify(journal, exactly(1, "GET", instrument).before("POST"), no_repeated_post())

A journal that had to drop its oldest entries proves only that something was there, never that something was not; what
cannot be proven does not pass, and the outcome says why.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.simulation.expectation import (
    KINDS,
    Expectation,
    at_least,
    at_most,
    exactly,
    from_json,
    no_repeated_post,
    none,
    one_get_each,
    shown_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from workbook.simulation.journal import Journal
    from workbook.simulation.journal_entry import Entry

    Entries = tuple[Entry, ...]
    Judge = Callable[[Expectation, Entries], tuple[bool, str]]

__all__ = [
    "Expectation",
    "Outcome",
    "at_least",
    "at_most",
    "exactly",
    "from_json",
    "no_repeated_post",
    "none",
    "one_get_each",
    "verify",
]

SHOWN = 5
"""How many entries a sentence lists."""


class Outcome(NamedTuple):
    """How an expectation turned out.

    Attributes:
        passed: whether it was met, and proven to be.
        sentence: what was expected.
        seen: what was there instead, or what met it.
    """

    passed: bool
    sentence: str
    seen: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'NOT OK'}: {self.sentence}; seen: {self.seen}."

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON values."""
        return self._asdict()


def verify(journal: Journal, *expectations: Expectation) -> list[Outcome]:
    """How each expectation turned out, in their order."""
    dropped, entries = journal.dropped, journal.entries()
    return [_outcome(one, entries, dropped) for one in expectations]


def _outcome(expectation: Expectation, entries: Entries, dropped: int) -> Outcome:
    met, seen = _JUDGES[expectation.expect](expectation, entries)
    if dropped:
        seen += f"; {dropped} older requests are no longer kept"
    proven = not dropped or (KINDS[expectation.expect].lasting and expectation.order is None)
    return Outcome(met and proven, expectation.sentence, seen)


def _meant(expectation: Expectation, entries: Entries, operation: str) -> Entries:
    return tuple(
        one for one in entries if one.operation == operation and expectation.instrument in (None, one.instrument)
    )


def _counted(expectation: Expectation, entries: Entries) -> Entries:
    meant = _meant(expectation, entries, expectation.operation)
    return tuple(one for one in meant if expectation.status in (None, one.status))


def _counting(holds: Callable[[int, int], bool]) -> Judge:
    """A judge that compares how many there are with how many there should be, and then looks at the order."""

    def judge(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
        found = _counted(expectation, entries)
        in_order, order = _ordered(expectation, found, entries)
        seen = f"{len(found)} {expectation.operation}{_numbers(found)}{order}"
        return holds(len(found), expectation.count) and in_order, seen

    return judge


def _ordered(expectation: Expectation, found: Entries, entries: Entries) -> tuple[bool, str]:
    """Whether all were answered before the first of the others arrived; with no other there is no order to see."""
    if expectation.order is None:
        return True, ""
    later = _meant(expectation, entries, expectation.order)
    if not later:
        return False, f", and no {expectation.order}"
    late = [one for one in found if one.number > later[0].number or one.answered > later[0].arrived]
    what = f", the first {expectation.order} is #{later[0].number}"
    return not late, what + (f"; not answered before it:{_numbers(late)}" if late else "")


def _no_repeats(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
    groups: dict[tuple[str | None, bytes], list[Entry]] = {}
    for one in _meant(expectation, entries, "POST"):
        groups.setdefault((one.instrument, one.body), []).append(one)
    again = [group for group in groups.values() if len(group) > 1]
    told = ", and".join(f"{_numbers(group)} with the same body" for group in again[:SHOWN])
    return not again, told.strip() or f"{sum(map(len, groups.values()))} POST, no two alike"


def _one_each(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
    found = Counter(one.instrument or "" for one in _counted(expectation, entries))
    wanted = expectation.instruments or tuple(found)
    wrong = [one for one in dict.fromkeys((*wanted, *found)) if found[one] != int(one in wanted)]
    told = ", ".join(f"{found[one]} for {shown_id(one)}" for one in wrong[:SHOWN])
    more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return bool(found) and not wrong, told + more or f"{found.total()} GET for {len(found)} instruments"


def _numbers(entries: Iterable[Entry]) -> str:
    """Which entries, by their numbers, with a blank before; the first few of many."""
    numbers = [f"#{one.number}" for one in entries]
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f" ({', '.join(numbers[:SHOWN])}{more})" if numbers else ""


_JUDGES: Mapping[str, Judge] = {
    "exactly": _counting(lambda found, count: found == count),
    "at least": _counting(lambda found, count: found >= count),
    "at most": _counting(lambda found, count: found <= count),
    "none": _counting(lambda found, _count: not found),
    "no repeated POST": _no_repeats,
    "one GET per instrument": _one_each,
}
"""Who judges each kind; a test holds the two tables together."""
