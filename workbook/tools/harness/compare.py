"""What changed from one report to a later one of the same command: newly failing, fixed, gone, or unknown before."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workbook.errors import ExitCode, ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import FAILING, CaseRecord, RunRecord
from workbook.views.table import clean, wrap


class CaseChange(StrEnum):
    """What became of a case, what got worse first."""

    WORSE = "newly failing"
    LOST = "no longer decided"
    STILL = "still failing"
    FIXED = "fixed"
    NEW = "unknown before"
    GONE = "gone"

    @property
    def is_worse(self) -> bool:
        """Whether a comparison with such a case ends with 1."""
        return self in {CaseChange.WORSE, CaseChange.LOST}

    @property
    def meaning(self) -> str:
        """It in words, after `Each`."""
        return MEANINGS[self]


MEANINGS = {
    CaseChange.WORSE: "fails, and did not before, or failed less gravely",
    CaseChange.LOST: "was decided before, and is not now",
    CaseChange.STILL: "failed before, and does now",
    CaseChange.FIXED: "failed or was not decided before, and passes now",
    CaseChange.NEW: "is not in the older report, so it is never worse by itself",
    CaseChange.GONE: "is not in the later report: it is gone, or the run left it out",
}


@dataclass(frozen=True, slots=True)
class Changed:
    """One case whose result changed, or that still fails.

    Attributes:
        name: of the case.
        change: how its result changed.
        before: its result in the old report; None where that does not have it.
        now: its result in the new report; None where that does not have it.
    """

    name: str
    change: CaseChange
    before: CaseRecord | None
    now: CaseRecord | None

    @property
    def verdicts(self) -> str:
        """Both verdicts in words."""
        before, now = map(_in_words, (self.before, self.now))
        return before if before == now else f"{before}, now {now}"

    @property
    def gone(self) -> tuple[str, ...]:
        """Reasons of the old report that no longer hold."""
        return _only_in(self.before, self.now)

    @property
    def come(self) -> tuple[str, ...]:
        """Reasons of the new report that did not hold before."""
        return _only_in(self.now, self.before)


@dataclass(frozen=True, slots=True)
class ReportComparison:
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
        return ExitCode.FAILED if any(case.change.is_worse for case in self.changed) else ExitCode.OK

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
            for case, *others in alike(cases):
                lines.append(f"  {clean(case.name)}: {case.verdicts}")
                for sign, reasons in (("-", case.gone), ("+", case.come)):
                    for reason in reasons:
                        first, *more = wrap(clean(reason), 104) or [""]
                        lines += [f"    {sign} {first}", *(f"      {line}" for line in more)]
                if others:
                    names = [clean(other.name) for other in others[:3]] + (["…"] if len(others) > 3 else [])
                    lines.append(f"    and {len(others)} more: {', '.join(names)}")
        return "\n".join(lines) + "\n"


def alike(cases: Iterable[Changed]) -> list[list[Changed]]:
    """These cases; those that changed for the same reasons together."""
    groups: dict[object, list[Changed]] = {}
    for case in cases:
        why = (case.gone, case.come)
        groups.setdefault((case.verdicts, why) if any(why) else case.name, []).append(case)
    return list(groups.values())


def compare_reports(old: RunRecord, new: RunRecord) -> ReportComparison:
    """What changed from the old report to the new one.

    Raises:
        ParameterError: they are of different commands.
    """
    if old.about.program != new.about.program:
        message = f"The first report is of {old.about.program}, the second of {new.about.program}"
        raise ParameterError(f"{message}. Compare two of one kind.")
    before = _by_name(old.cases)
    now = _by_name(new.cases)
    names = before | now
    same_tried = bool(old.about.tried) and old.about.tried == new.about.tried
    if same_tried:
        passed = {name: CaseRecord(name, Verdict.PASS) for name in names}
        before = passed | before
        now = passed | now
    changed = []
    for name in names:
        change = _change(before.get(name), now.get(name), counted=same_tried)
        if change is not None:
            changed.append(Changed(name, change, before.get(name), now.get(name)))
    order = list(CaseChange)
    changed.sort(key=lambda case: order.index(case.change))
    return ReportComparison(tuple(changed), tuple(_differences(old, new)), len(names) - len(changed))


def _by_name(cases: Iterable[CaseRecord]) -> dict[str, CaseRecord]:
    """The cases; the second one of a name has a number behind it."""
    seen = Counter[str]()
    named = {}
    for case in cases:
        seen[case.name] += 1
        named[f"{case.name} ({seen[case.name]})" if seen[case.name] > 1 else case.name] = case
    return named


def _differences(old: RunRecord, new: RunRecord) -> list[str]:
    """What a reader must know of the two: other back ends, another order in time, cases left out."""
    notes = []
    first = _facts(old)
    second = _facts(new)
    for name in first | second:
        if first.get(name) != second.get(name):
            was, now = (facts.get(name) or "not given" for facts in (first, second))
            notes.append(f"{name} was {was}, and is {now} now.")
    if old.about.started > new.about.started > "":
        notes.append(f"The first report is the later one ({old.about.started}): did you mean the other order?")
    for report, which in ((old, "old"), (new, "new")):
        if report.about.partial:
            notes.append(f"The {which} run is a partial one: it may have left out the cases that are missing there.")
    return notes


def _facts(report: RunRecord) -> dict[str, str]:
    """What two reports should have in common, by what it is."""
    about = report.about
    facts = {"target": about.target, "base url": about.base_url, "profile": about.profile}
    return facts | {f"{name}'s version": version for name, version in about.versions.items()} | dict(about.facts)


def _change(before: CaseRecord | None, now: CaseRecord | None, *, counted: bool) -> CaseChange | None:
    """What became of a case; None where nothing did. `counted`: their `times` can be compared."""
    if before is None or now is None:
        return CaseChange.NEW if now else CaseChange.GONE
    was = _kind(before.verdict)
    is_now = _kind(now.verdict)
    if is_now == "failed":
        graver = now.verdict.gravity < before.verdict.gravity or (counted and now.times > before.times)
        return CaseChange.WORSE if was != "failed" or graver else CaseChange.STILL
    if was == is_now:
        return None
    if is_now == "undecided" or (was == "failed" and now.verdict not in (Verdict.PASS, Verdict.NOTE)):
        return CaseChange.LOST
    return CaseChange.FIXED


def _kind(verdict: Verdict) -> str:
    if verdict in FAILING:
        return "failed"
    return "undecided" if verdict in {Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE, Verdict.HARNESS_ERROR} else "held"


def _in_words(case: CaseRecord | None) -> str:
    if case is None:
        return "not there"
    return f"{case.verdict} ({case.times:,} times)" if case.times > 1 else str(case.verdict)


def _only_in(case: CaseRecord | None, other: CaseRecord | None) -> tuple[str, ...]:
    """Why a case failed in one of two reports that both have it, and not in the other."""
    return tuple(why for why in case.reasons if why not in other.reasons) if case and other else ()
