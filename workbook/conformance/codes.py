"""The exit codes of `workbook conform`, and which of them a run's results bring."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbook.conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

OK, FAILED, UNDECIDED, INTERRUPTED = 0, 1, 2, 130
BAD_CONFIGURATION, HARNESS_ERROR = 254, 255

JUDGED = frozenset({Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.NOTE, Verdict.KNOWN, Verdict.FLAKY})
"""Verdicts that say something about the back end."""


def exit_code(
    verdicts: Iterable[Verdict], *, strict: bool = False, stale: bool = False, undecided: bool = False
) -> int:
    """The code that these verdicts bring; the worst that holds.

    Args:
        verdicts: one a case.
        strict: a warning counts as a failure.
        stale: an entry of the baseline is no longer right.
        undecided: something kept cases from being judged.
    """
    counts = Counter(verdicts)
    failing = {Verdict.FAIL, Verdict.FLAKY} | ({Verdict.WARN} if strict else set())
    if counts[Verdict.HARNESS_ERROR]:
        return HARNESS_ERROR
    if stale or any(counts[one] for one in failing):
        return FAILED
    return UNDECIDED if undecided or not any(counts[one] for one in JUDGED) else OK
