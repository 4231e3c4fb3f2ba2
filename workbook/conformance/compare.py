"""What changed from one run to another: what fails newly, what is fixed, and what still fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.conformance.report import FAILING, UNDECIDED, CaseRecord
from workbook.conformance.report_markdown import code, escaped
from workbook.conformance.report_summary import GRAVEST_FIRST, timeless
from workbook.conformance.verdict import Verdict
from workbook.views.plain import clean, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.report import Record

WIDEST = 110
_PLACE = re.compile(r", line \d+(, and in \d+ more lines?)?")


@unique
class Change(StrEnum):
    """What became of a case."""

    WORSE = "newly failing"
    GRAVER = "graver"
    LOST = "no longer decided"
    REASON = "failing for another reason"
    STILL = "still failing"
    FIXED = "fixed"
    MILDER = "milder"
    DECIDED = "decided now"
    NEW = "new"
    GONE = "gone"
    NOT_RUN = "not run this time"


GOT_WORSE = (Change.WORSE, Change.GRAVER, Change.LOST)
MEANINGS = {
    Change.WORSE: "did not fail before, and does now",
    Change.GRAVER: "failed before, and is graver now",
    Change.LOST: "was decided before, and is not now",
    Change.REASON: "failed before and does now, and not for the same reasons",
    Change.STILL: "failed before and does now, for the same reasons",
    Change.FIXED: "failed before, and passes now",
    Change.MILDER: "failed before, and is less grave now",
    Change.DECIDED: "was not decided before, and is now",
    Change.NEW: "was not there before",
    Change.GONE: "was there before, and is not now",
    Change.NOT_RUN: "was there before; this run was interrupted, or chose other cases",
}
"""Each change in words."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One case that is not as it was, or still fails.

    Attributes:
        name: the case's.
        change: what became of it.
        before: its verdict; None where it was not there.
        now: likewise.
        gone: reasons that no longer hold.
        come: reasons that hold now.
    """

    name: str
    change: Change
    before: Verdict | None
    now: Verdict | None
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()

    @property
    def verdicts(self) -> str:
        """Both verdicts in words."""
        before, now = (verdict.value if verdict else "not there" for verdict in (self.before, self.now))
        return before if before == now else f"{before}, now {now}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed.

    Attributes:
        changed: the cases, by their change and then in their order.
        notes: what a reader has to know, such as that one of the runs was of another back end.
        same: how many cases are as they were.
    """

    changed: tuple[Changed, ...]
    notes: tuple[str, ...]
    same: int

    @property
    def exit_code(self) -> int:
        """What the process should return: 1 when something got worse, else 0."""
        return int(any(one.change in GOT_WORSE for one in self.changed))

    def text(self) -> str:
        """For a terminal: what changed, a heading for each kind of change."""
        lines = [self.headline, *(f"Note: {clean(note)}" for note in self.notes)]
        for change, cases in self._kinds():
            lines += ["", f"{change.capitalize()} ({len(cases)}): {MEANINGS[change]}"]
            lines += [line for one in cases for line in _lines(one)]
        return "\n".join(lines) + "\n"

    def to_markdown(self) -> str:
        """The same as Markdown."""
        lines = ["# What changed", "", f"**{escaped(self.headline)}**"]
        lines += [line for note in self.notes for line in ("", f"Note: {escaped(note)}")]
        for change, cases in self._kinds():
            lines += ["", f"## {change.capitalize()} ({len(cases)})", "", f"Each {MEANINGS[change]}.", ""]
            lines += [line for one in cases for line in _items(one)]
        return "\n".join(lines) + "\n"

    @property
    def headline(self) -> str:
        """The numbers in one sentence."""
        told = [f"{len(cases)} {change}" for change, cases in self._kinds()]
        worse = "Something got worse" if self.exit_code else "Nothing got worse"
        return f"{worse}: {', '.join([*told, f'{self.same} as before'])}."

    def _kinds(self) -> Iterator[tuple[Change, list[Changed]]]:
        for change in Change:
            if cases := [one for one in self.changed if one.change is change]:
                yield change, cases


def compare(old: Record, new: Record) -> Comparison:
    """What changed from the old run to the new one."""
    before, now = ({case.name: case for case in record.cases} for record in (old, new))
    names = {**before, **now}
    found = [_changed(before.get(name), now.get(name), chosen=new.about.partial) for name in names]
    changed = [one for one in found if one is not None]
    order = list(Change)
    changed.sort(key=lambda one: order.index(one.change))
    return Comparison(tuple(changed), tuple(_notes(old, new)), len(found) - len(changed))


def _notes(old: Record, new: Record) -> Iterator[str]:
    for name in ("base_url", "profile", "repeat"):
        before, now = getattr(old.about, name), getattr(new.about, name)
        if before != now:
            yield f"{name.replace('_', ' ')} was {before or 'not told'}, and is {now or 'not told'} now."
    for record, which in ((old, "old"), (new, "new")):
        if record.about.partial:
            yield f"The {which} run is a partial one: cases that are missing there may only have been left out."


def _changed(before: CaseRecord | None, now: CaseRecord | None, *, chosen: bool) -> Changed | None:
    """None where nothing changed; `chosen` says that the new run did not have every case."""
    match before, now:
        case None, CaseRecord():
            return Changed(now.name, Change.NEW, None, now.verdict)
        case CaseRecord(), None:
            return Changed(before.name, Change.NOT_RUN if chosen else Change.GONE, before.verdict, None)
        case CaseRecord(), CaseRecord() if change := _change(before, now):
            gone, come = _reasons(before), _reasons(now)
            lost, added = tuple(one for one in gone if one not in come), tuple(one for one in come if one not in gone)
            return Changed(now.name, change, before.verdict, now.verdict, lost, added)
        case _:
            return None


def _change(before: CaseRecord, now: CaseRecord) -> Change | None:
    was, is_ = before.verdict, now.verdict
    if was in FAILING and is_ in FAILING:
        return _grade(before, now)
    if is_ in FAILING:
        return Change.WORSE
    if is_ in UNDECIDED:
        return None if was in UNDECIDED else Change.LOST
    if was in FAILING:
        return Change.FIXED if is_ in (Verdict.PASS, Verdict.NOTE) else Change.LOST
    return Change.DECIDED if was in UNDECIDED else None


def _grade(before: CaseRecord, now: CaseRecord) -> Change:
    """Both failed: which is graver, or else whether the reasons are the same."""
    was, is_ = GRAVEST_FIRST.index(before.verdict), GRAVEST_FIRST.index(now.verdict)
    if was != is_:
        return Change.GRAVER if is_ < was else Change.MILDER
    return Change.STILL if _reasons(before) == _reasons(now) else Change.REASON


def _reasons(case: CaseRecord) -> tuple[str, ...]:
    """Why a case failed, each reason once, without times and places in a log, which are never the same."""
    told = [case.why] if case.why else []
    told += [f"{one.rule}: expected {one.expected}, observed {one.observed}" for one in case.misses]
    return tuple(dict.fromkeys(_PLACE.sub("", timeless(one)) for one in told))


def _lines(one: Changed) -> Iterator[str]:
    yield f"  {clean(one.name)}: {one.verdicts}"
    for sign, reasons in (("-", one.gone), ("+", one.come)):
        for reason in reasons:
            first, *more = wrap(clean(reason), WIDEST - 6) or [""]
            yield f"    {sign} {first}"
            yield from (f"      {line}" for line in more)


def _items(one: Changed) -> Iterator[str]:
    yield f"- {code(one.name)}: {one.verdicts}"
    yield from (f"  - No longer: {escaped(reason)}" for reason in one.gone)
    yield from (f"  - Now: {escaped(reason)}" for reason in one.come)
