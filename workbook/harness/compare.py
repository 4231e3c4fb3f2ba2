"""What changed from one run to the next: what newly fails, what is fixed, and what still fails."""

import re
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Self

from workbook.errors import ExitCode
from workbook.harness.model import Verdict
from workbook.harness.report import FAILING, CaseRecord, RunRecord, timeless
from workbook.views.table import clean, wrap
from workbook.views.templates import fill


@unique
class CaseChange(StrEnum):
    """What became of a case; `meaning` says it in words."""

    WORSE = "newly failing", "did not fail before, and does now"
    GRAVER = "graver", "failed before, and is graver now"
    LOST = "no longer decided", "was decided before, and is not now"
    REASON = "failing for another reason", "failed before and does now, and not for the same reasons"
    STILL = "still failing", "failed before and does now, for the same reasons"
    FIXED = "fixed", "failed before, and passes now"
    MILDER = "milder", "failed before, and is less grave now"
    DECIDED = "decided now", "was not decided before, and is now"
    NEW = "new", "was not there before"
    GONE = "gone", "was there before, and is not now"
    NOT_RUN = "not run this time", "was there before; this run was interrupted, or chose other cases"

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        """The member whose value is `word`."""
        change = str.__new__(cls, word)
        change._value_, change.meaning = word, meaning
        return change


@dataclass(frozen=True, slots=True)
class Changed:
    """One case whose result changed, or that still fails.

    Attributes:
        name: of the case.
        change: how its result changed.
        before: its result in the old run; None where the old run did not have it.
        now: its result in the new run; None where the new run did not have it.
    """

    name: str
    change: CaseChange
    before: CaseRecord | None
    now: CaseRecord | None

    @property
    def verdicts(self) -> str:
        """Both verdicts in words."""
        before, now = (case.verdict.value if case else "not there" for case in (self.before, self.now))
        return before if before == now else f"{before}, now {now}"

    @property
    def gone(self) -> tuple[str, ...]:
        """Reasons of the old run that no longer hold."""
        return _only_in(self.before, self.now)

    @property
    def come(self) -> tuple[str, ...]:
        """Reasons of the new run that did not hold before."""
        return _only_in(self.now, self.before)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What changed.

    Attributes:
        changed: the cases, by their change and then in their order.
        notes: what a reader must know, such as that the runs were of different back ends.
        same: how many cases did not change.
    """

    changed: tuple[Changed, ...]
    notes: tuple[str, ...]
    same: int

    @property
    def exit_code(self) -> int:
        """Of the process: 1 when something got worse, else 0."""
        worse = {CaseChange.WORSE, CaseChange.GRAVER, CaseChange.LOST}
        return ExitCode.FAILED if any(case.change in worse for case in self.changed) else ExitCode.OK

    @property
    def headline(self) -> str:
        """The numbers in one sentence."""
        numbers = [f"{len(cases)} {change}" for change, cases in self.by_change()] + [f"{self.same} as before"]
        return f"{'Something' if self.exit_code else 'Nothing'} got worse: {', '.join(numbers)}."

    def by_change(self) -> list[tuple[CaseChange, list[Changed]]]:
        """The cases of each change that occurs."""
        every = ((change, [case for case in self.changed if case.change is change]) for change in CaseChange)
        return [(change, cases) for change, cases in every if cases]

    def text(self) -> str:
        """For a terminal: below a heading for each change, its cases."""
        lines = [self.headline, *(f"Note: {clean(note)}" for note in self.notes)]
        for change, cases in self.by_change():
            lines += ["", f"{change.capitalize()} ({len(cases)}): {change.meaning}"]
            for case in cases:
                lines.append(f"  {clean(case.name)}: {case.verdicts}")
                for sign, reason in [
                    *(("-", reason) for reason in case.gone),
                    *(("+", reason) for reason in case.come),
                ]:
                    first, *more = wrap(clean(reason), 104) or [""]
                    lines += [f"    {sign} {first}", *(f"      {line}" for line in more)]
        return "\n".join(lines) + "\n"

    def to_markdown(self) -> str:
        """The same as Markdown."""
        return fill("compare.md", comparison=self)


def compare(old: RunRecord, new: RunRecord) -> RunComparison:
    """What changed from the old run to the new one."""
    before, now = ({case.name: case for case in record.cases} for record in (old, new))
    changed, names = [], before | now
    missing = CaseChange.NOT_RUN if new.about.partial else CaseChange.GONE
    for name in names:
        was, is_ = before.get(name), now.get(name)
        change = CaseChange.NEW if was is None else missing if is_ is None else _change(was, is_)
        if change is not None:
            changed.append(Changed(name, change, was, is_))
    notes = []
    for name in ("base_url", "profile", "repeat"):
        first, second = getattr(old.about, name), getattr(new.about, name)
        if first != second:
            notes.append(f"{name.replace('_', ' ')} was {first or 'not given'}, and is {second or 'not given'} now.")
    for record, which in ((old, "old"), (new, "new")):
        if record.about.partial:
            notes.append(f"The {which} run is a partial one: it may have left out the cases that are missing there.")
    order = list(CaseChange)
    changed.sort(key=lambda case: order.index(case.change))
    return RunComparison(tuple(changed), tuple(notes), len(names) - len(changed))


def _change(before: CaseRecord, now: CaseRecord) -> CaseChange | None:
    """What became of a case that both runs have; None where nothing did."""
    was, is_ = before.verdict, now.verdict
    graver = was.gravity - is_.gravity
    match (_kind(was), _kind(is_)):
        case "failed", "failed":
            same = CaseChange.STILL if _reasons(before) == _reasons(now) else CaseChange.REASON
            return CaseChange.GRAVER if graver > 0 else CaseChange.MILDER if graver < 0 else same
        case _, "failed":
            return CaseChange.WORSE
        case "failed", "held":
            return CaseChange.FIXED if is_ in (Verdict.PASS, Verdict.NOTE) else CaseChange.LOST
        case "undecided", "held":
            return CaseChange.DECIDED
        case (("failed" | "held"), "undecided"):
            return CaseChange.LOST
        case _:
            return None


def _kind(verdict: Verdict) -> str:
    if verdict in FAILING:
        return "failed"
    return "undecided" if verdict in {Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE, Verdict.HARNESS_ERROR} else "held"


def _reasons(case: CaseRecord) -> tuple[str, ...]:
    """Why a case failed, each reason once, without durations and places in a log, which differ from run to run."""
    reasons = [case.why] if case.why else []
    reasons += [f"{miss.rule}: expected {miss.expected}, observed {miss.observed}" for miss in case.misses]
    place = r", line \d+(, and in \d+ more lines?)?"
    return tuple(dict.fromkeys(re.sub(place, "", timeless(reason)) for reason in reasons))


def _only_in(case: CaseRecord | None, other: CaseRecord | None) -> tuple[str, ...]:
    """Why a case failed in one of two runs that both have it, and not in the other."""
    return tuple(why for why in _reasons(case) if why not in _reasons(other)) if case and other else ()
