"""What changed from one report to a later one of its kind: what newly fails, is fixed, got slower, is new, or is gone.

Every kind of report is the same model here: see `results`.

When a case counts as slower (all figures *assumed*). Measured 20 times or more in both reports: the faster half of the
new times does not reach the slower half of the old ones, with a quarter of each left out. Measured less often: it took
longer by more than other cases of the same two reports did by chance, which is at least half as long again, and three
times as long and a second more where fewer than eight were timed. Never where the middle differs by 0.1 s or less, and
only where it passes in both. The virtual seconds of two sweeps of one matrix have no noise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from math import exp, log
from statistics import median, quantiles
from typing import Self

from workbook.errors import ExitCode, ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import FAILING
from workbook.tools.harness.results import AnyReport, ReportedCase
from workbook.views.table import clean, wrap
from workbook.views.templates import fill, page


@unique
class CaseChange(StrEnum):
    """What became of a case; `meaning` says it in words."""

    WORSE = "newly failing", "did not fail before, and does now"
    GRAVER = "graver", "failed before, and is graver now"
    LOST = "no longer decided", "was decided before, and is not now"
    SLOWER = "slower", "passes, and takes longer than the noise of both explains"
    REASON = "failing for another reason", "failed before and does now, and not for the same reasons"
    STILL = "still failing", "failed before and does now, for the same reasons"
    FIXED = "fixed", "failed before, and passes now"
    MILDER = "milder", "failed before, and is less grave now"
    DECIDED = "decided now", "was not decided before, and is now"
    NEW = "new", "is unknown to the older report, so it is never worse by itself"
    GONE = "gone", "was there before, and is not now"
    NOT_RUN = "not run this time", "was there before; the later run was interrupted, or chose other cases"

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        """The member whose value is `word`."""
        change = str.__new__(cls, word)
        change._value_, change.meaning = word, meaning
        return change

    @property
    def is_worse(self) -> bool:
        """Whether a comparison with such a case ends with 1."""
        return self in {CaseChange.WORSE, CaseChange.GRAVER, CaseChange.LOST, CaseChange.SLOWER}


@dataclass(frozen=True, slots=True)
class Changed:
    """One case whose result changed, or that still fails.

    Attributes:
        name: of the case.
        change: how its result changed.
        before: its result in the old report; None where that does not have it.
        now: its result in the new report; None where that does not have it.
        took: of a slower one, both times in words, with their noise.
    """

    name: str
    change: CaseChange
    before: ReportedCase | None
    now: ReportedCase | None
    took: str = ""

    @property
    def verdicts(self) -> str:
        """Both verdicts in words, or both times."""
        before, now = map(_in_words, (self.before, self.now))
        return self.took or (before if before == now else f"{before}, now {now}")

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
                for sign, reason in [
                    *(("-", reason) for reason in case.gone),
                    *(("+", reason) for reason in case.come),
                ]:
                    first, *more = wrap(clean(reason), 104) or [""]
                    lines += [f"    {sign} {first}", *(f"      {line}" for line in more)]
                few = ", ".join(clean(other.name) for other in others[:3])
                lines += [f"    and {len(others)} more: {few}{', …' * (len(others) > 3)}"] if others else []
        return "\n".join(lines) + "\n"

    def to_markdown(self) -> str:
        """The same as Markdown."""
        return fill("compare.md", comparison=self, alike=alike)

    def to_html(self) -> str:
        """The same as a page, which loads nothing."""
        return page("compare.html", title="What changed", comparison=self, alike=alike)


def alike(cases: Iterable[Changed]) -> list[list[Changed]]:
    """These cases; those that changed for the same reasons together."""
    groups: dict[object, list[Changed]] = {}
    for case in cases:
        why = (case.gone, case.come)
        groups.setdefault((case.verdicts, why) if any(why) else case.name, []).append(case)
    return list(groups.values())


def compare(old: AnyReport, new: AnyReport) -> ReportComparison:
    """What changed from the old report to the new one.

    Raises:
        ParameterError: they are of different kinds.
    """
    if old.kind is not new.kind:
        message = f"The first report is of workbook {old.kind}, the second of workbook {new.kind}"
        raise ParameterError(f"{message}. Compare two of one kind.")
    before, now = ({case.name: case for case in (*report.cases, *report.timed)} for report in (old, new))
    names, same_tried = before | now, bool(old.tried) and old.tried == new.tried
    timed = {case.name for report in (old, new) for case in report.timed}
    if same_tried:
        passed = {name: ReportedCase(name, Verdict.PASS) for name in names}
        before, now = passed | before, passed | now
    missing = CaseChange.NOT_RUN if new.partial else CaseChange.GONE
    noise, notes = (1.0, []) if same_tried else _noise(before, now)
    changed = []
    for name in names:
        was, is_ = before.get(name), now.get(name)
        change = CaseChange.NEW if was is None else missing if is_ is None else _change(was, is_, counted=same_tried)
        took = "" if change or was is None or is_ is None else _slower(was, is_, noise)
        if took or (change and name not in timed):
            changed.append(Changed(name, change or CaseChange.SLOWER, was, is_, took))
    order = list(CaseChange)
    changed.sort(key=lambda case: order.index(case.change))
    return ReportComparison(
        tuple(changed), (*_differences(old, new), *notes), len(names.keys() - timed - {case.name for case in changed})
    )


def _differences(old: AnyReport, new: AnyReport) -> list[str]:
    """What a reader must know of the two: other back ends, another order in time, cases left out."""
    notes = []
    for name in dict.fromkeys([*old.facts, *new.facts]):
        first, second = (report.facts.get(name) or "not given" for report in (old, new))
        if first != second:
            notes.append(f"{name} was {first}, and is {second} now.")
    if old.started > new.started > "":
        notes.append(f"The first report is the later one ({old.started}): did you mean the other order?")
    for report, which in ((old, "old"), (new, "new")):
        if report.partial:
            notes.append(f"The {which} run is a partial one: it may have left out the cases that are missing there.")
    return notes


def _change(before: ReportedCase, now: ReportedCase, *, counted: bool) -> CaseChange | None:
    """What became of a case that both reports have; None where nothing did. `counted`: their `times` compare."""
    was, is_ = before.verdict, now.verdict
    graver = was.gravity - is_.gravity or (now.times - before.times if counted else 0)
    match (_kind(was), _kind(is_)):
        case "failed", "failed":
            same = CaseChange.STILL if before.reasons == now.reasons else CaseChange.REASON
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


def _in_words(case: ReportedCase | None) -> str:
    times = f" ({case.times:,} times)" if case and case.times > 1 else ""
    return f"{case.verdict}{times}" if case else "not there"


def _only_in(case: ReportedCase | None, other: ReportedCase | None) -> tuple[str, ...]:
    """Why a case failed in one of two reports that both have it, and not in the other."""
    return tuple(why for why in case.reasons if why not in other.reasons) if case and other else ()


def _noise(before: Mapping[str, ReportedCase], now: Mapping[str, ReportedCase]) -> tuple[float, list[str]]:
    """How many times as long a case may take by chance, from how much all cases of both differ; and what to say of it.

    Three times the usual distance from the middle of all ratios counts as chance, as a half more always does (assumed).
    """
    pairs = [(case.seconds, now[name].seconds) for name, case in before.items() if name in now]
    middles = [(median(was), median(is_)) for was, is_ in pairs if was and is_]
    # a time that is shorter is mostly the clock; a ratio that is larger was made by hand
    ratios = [min(log(is_ / was), 50.0) for was, is_ in middles if min(was, is_) > 0.02]
    if len(ratios) < 8:  # too few to know how they are spread
        return 3.0, []
    shift = median(ratios)
    spread = 1.4826 * median(abs(ratio - shift) for ratio in ratios)  # of a normal distribution: its deviation
    longer = f"Everything took {exp(shift):.1f} times as long: another machine, a busy one, or a slower subject."
    return max(1.5, exp(min(max(shift, 0) + 3 * spread, 50.0))), [longer] if shift > log(1.5) else []


def _slower(before: ReportedCase, now: ReportedCase, noise: float) -> str:
    """Both times with their noise, where a case that passes got slower; else nothing. See the head of the module."""
    if not (before.seconds and now.seconds and before.verdict is now.verdict is Verdict.PASS):
        return ""
    (low, was, high), (least, is_, most) = (_range(case.seconds, noise) for case in (before, now))
    # where chance makes three times of a single time, it makes a second as well: a busy machine looks like that
    by_chance = 1.0 if noise >= 3.0 and min(len(before.seconds), len(now.seconds)) < 20 else 0.1
    if least <= high or is_ - was <= by_chance:
        return ""
    return f"{was:.2f} s ({low:.2f} to {high:.2f} s by chance), now {is_:.2f} s ({least:.2f} to {most:.2f} s)"


def _range(seconds: Sequence[float], noise: float) -> tuple[float, float, float]:
    """The middle of these times, between the ends of what chance makes of it."""
    if len(seconds) >= 20:
        low, middle, high = quantiles(seconds, n=4, method="inclusive")
        return low, middle, high
    middle = median(seconds)
    return middle / noise**0.5, middle, middle * noise**0.5
