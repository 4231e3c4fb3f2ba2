"""What a case comes to, who has to act, and what follows from the level of the rule that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbook.rules import Rule


@unique
class Verdict(StrEnum):
    """How a case ended."""

    PASS = "pass"  # noqa: S105  # a verdict
    WARN = "warn"
    FAIL = "fail"
    NOTE = "note"
    NOT_TESTABLE = "not testable"
    NOT_APPLICABLE = "not applicable"
    DISABLED = "disabled"
    KNOWN = "known"
    FLAKY = "flaky"
    HARNESS_ERROR = "harness error"


@unique
class Owner(StrEnum):
    """Who has to act."""

    YOU = "you"
    WORKBOOK = "the workbook"
    NOBODY = "nobody"


MEANINGS = {
    Verdict.PASS: "The back end did what the rule asks for.",
    Verdict.WARN: "A rule that should be kept was not; no harm is sure to follow.",
    Verdict.FAIL: "A rule that must be kept was not, or harm would follow.",
    Verdict.NOTE: "Something was observed that no rule judges.",
    Verdict.NOT_TESTABLE: "What the case needs is not there, and the configuration says so.",
    Verdict.NOT_APPLICABLE: "The back end has nothing that the case is about.",
    Verdict.DISABLED: "The configuration leaves the case out.",
    Verdict.KNOWN: "It fails, and the baseline says so.",
    Verdict.FLAKY: "It did not come to the same end each time.",
    Verdict.HARNESS_ERROR: "The workbook itself failed; this says nothing about the back end.",
}
"""Each verdict in a sentence."""

OWNERS = {
    Verdict.WARN: Owner.YOU,
    Verdict.FAIL: Owner.YOU,
    Verdict.KNOWN: Owner.YOU,
    Verdict.FLAKY: Owner.YOU,
    Verdict.NOT_TESTABLE: Owner.YOU,
    Verdict.HARNESS_ERROR: Owner.WORKBOOK,
}
"""Who acts on a verdict; nobody has to where none stands here."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One way in which what was seen differs from what the rule asks for.

    Attributes:
        expected: in words.
        observed: in words; never opaque data, never a key.
        todo: what to do about it.
        rule: the id of the rule that it breaks; empty for the case's own.
        noted: it is only observed, because no rule says anything of it, and fails nothing.
    """

    expected: str
    observed: str
    todo: str
    rule: str = ""
    noted: bool = False


def missed(rule: Rule) -> Verdict:
    """What it comes to when a rule was not kept.

    A must fails and a should warns. A practice rule fails where its breach names harm and warns otherwise. What the
    document does not show can be observed and never fails.
    """
    match rule.level:
        case "must":
            return Verdict.FAIL
        case "should":
            return Verdict.WARN
        case "practice":
            return Verdict.FAIL if rule.harm else Verdict.WARN
        case _:
            return Verdict.NOTE
