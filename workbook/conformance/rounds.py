"""Several rounds of the same cases, put together: what does not end the same each time is flaky."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbook.conformance.verdict import Verdict

if TYPE_CHECKING:
    from workbook.conformance.run import Result

GRAVEST = (
    Verdict.HARNESS_ERROR,
    Verdict.FAIL,
    Verdict.WARN,
    Verdict.NOTE,
    Verdict.PASS,
    Verdict.NOT_TESTABLE,
    Verdict.NOT_APPLICABLE,
    Verdict.DISABLED,
)
"""The verdicts of a single round; of several rounds the gravest result is kept, whole, and no other."""
JUDGED = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.NOTE, Verdict.PASS})


@dataclass
class Rounds:
    """What each case came to so far, in the order in which cases came to an end first."""

    _worst: dict[str, Result] = field(default_factory=dict)
    _counts: dict[str, Counter[Verdict]] = field(default_factory=dict)

    def keep(self, result: Result) -> None:
        """One case ended once more."""
        name = result.case.name
        self._counts.setdefault(name, Counter())[result.verdict] += 1
        worst = self._worst.setdefault(name, result)
        if GRAVEST.index(result.verdict) < GRAVEST.index(worst.verdict):
            self._worst[name] = result

    def ended(self, name: str) -> Result | None:
        """What a case came to in all its rounds; None where it has not come to an end."""
        worst, counts = self._worst.get(name), self._counts.get(name, Counter())
        if worst is None or worst.verdict not in JUDGED or len(counts.keys() & JUDGED) == 1:
            return worst
        told = ", ".join(f"{one} in {counts[one]}" for one in GRAVEST if counts[one])
        return replace(worst, verdict=Verdict.FLAKY, why=f"Of {counts.total()} rounds: {told}.")
