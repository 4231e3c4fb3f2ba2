"""Checks: a trace in, findings out. Record first, judge later.

Each check is a function of the whole trace. A finding says what happened, which rule it breaks, whose job it is and
what to do. Nothing here runs anything, so the same trace always gives the same findings. A check yields nothing on a
trace of the other platform, so every check reads every trace.
"""

from functools import lru_cache

from workbook.base.rules import Owner
from workbook.checks.api import BACK_END_CHECKS
from workbook.checks.extension import EXTENSION_CHECKS
from workbook.checks.finding import Check, Finding, Severity, Symptom
from workbook.checks.own_code import OWN_CODE_CHECKS
from workbook.checks.platform_a import PLATFORM_A_CHECKS
from workbook.checks.platform_b import PLATFORM_B_CHECKS
from workbook.flows.messages import Message
from workbook.flows.trace import Trace

__all__ = ["EVERY_CHECK", "Finding", "Owner", "Severity", "Symptom", "check"]

EVERY_CHECK: tuple[Check, ...] = (
    *OWN_CODE_CHECKS,
    # a message that always is a finding comes before what depends on others
    *sorted(
        (*BACK_END_CHECKS, *PLATFORM_A_CHECKS, *PLATFORM_B_CHECKS, *EXTENSION_CHECKS),
        key=lambda one: not (isinstance(one, Symptom) and one.always),
    ),
)


def check(trace: Trace) -> list[Finding]:
    """Every finding of every check, in the order of time."""
    checks = _for_a_trace_of(frozenset(trace.classes))
    return sorted((finding for one_check in checks for finding in one_check(trace)), key=lambda finding: finding.at)


@lru_cache(maxsize=64)  # most runs take one of a few ways
def _for_a_trace_of(classes: frozenset[type[Message]]) -> list[Check]:
    """The checks that have something to look for in a trace of these classes of messages."""
    return [
        one_check
        for one_check in EVERY_CHECK
        if not (isinstance(one_check, Symptom) and classes.isdisjoint(one_check.messages))
    ]
