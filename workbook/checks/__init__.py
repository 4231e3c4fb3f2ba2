"""Checks: a trace in, findings out. Record first, judge later.

Each check is one small function over the whole trace, and each finding names the rule, whose job it is, and what to
do. Nothing here runs anything; the same trace gives the same findings for ever. A check that has nothing to say of a
platform says nothing, so all of them read every trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.checks import api, attempts, extension, platform_a, platform_b
from workbook.checks.finding import Finding, Level, Owner, Symptom
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.flows.messages import Message
    from workbook.trace import Trace

__all__ = ["CHECKS", "SYMPTOMS", "Finding", "Level", "Owner", "Symptom", "check", "symptoms"]

SYMPTOMS: dict[type[Message], Symptom] = api.SYMPTOMS | platform_a.SYMPTOMS | platform_b.SYMPTOMS | extension.SYMPTOMS
"""Outcomes that need a word whenever they occur."""


def symptoms(trace: Trace) -> Iterator[Finding]:
    """Outcomes that need a word whenever they occur."""
    for record in trace:
        symptom = SYMPTOMS.get(type(record.message))
        if symptom and record.kind is not Kind.REFUSED:
            yield symptom.found(record)


CHECKS: tuple[Check, ...] = (
    symptoms,
    *api.CHECKS,
    *attempts.CHECKS,
    *platform_a.CHECKS,
    *platform_b.CHECKS,
    *extension.CHECKS,
)


def check(trace: Trace) -> list[Finding]:
    """Every finding of every check, in the order of time."""
    found = [finding for one in CHECKS for finding in one(trace)]
    return sorted(found, key=lambda finding: finding.at)
