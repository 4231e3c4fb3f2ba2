"""Checks: a trace in, findings out. Record first, judge later.

Each check is a function of the whole trace. A finding says what happened, which rule it breaks, whose job it is and
what to do. Nothing here runs anything, so the same trace always gives the same findings. A check yields nothing on a
trace of the other platform, so every check reads every trace.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbook.base.rules import Owner
from workbook.flows.messages import Message
from workbook.flows.trace import Kind, Trace
from workbook.reading.checks import api, extension, own_code, platform_a, platform_b
from workbook.reading.checks.finding import Check, Finding, Severity, Symptom

__all__ = ["CHECKS", "SYMPTOMS", "Finding", "Owner", "Severity", "Symptom", "check", "symptoms"]

SYMPTOMS: dict[type[Message], Symptom] = api.SYMPTOMS | platform_a.SYMPTOMS | platform_b.SYMPTOMS | extension.SYMPTOMS
"""Messages that are a finding whenever they occur."""


def symptoms(trace: Trace) -> Iterator[Finding]:
    """Messages that are a finding whenever they occur."""
    for record in trace:
        symptom = SYMPTOMS.get(type(record.message))
        if symptom and record.kind is not Kind.REFUSED:
            yield symptom.finding(record)


CHECKS: tuple[Check, ...] = (
    *own_code.CHECKS,
    symptoms,
    *api.CHECKS,
    *platform_a.CHECKS,
    *platform_b.CHECKS,
    *extension.CHECKS,
)


def check(trace: Trace) -> list[Finding]:
    """Every finding of every check, in the order of time."""
    findings = [finding for one in CHECKS for finding in one(trace)]
    return sorted(findings, key=lambda finding: finding.at)
