"""One case: a name for ever, a sentence, a rule, what is done, and how what was seen is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.errors import DefinitionError
from workbook.rules import Rule, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.conformance.script import Script
    from workbook.conformance.seen import Seen
    from workbook.conformance.verdict import Miss

    Judge = Callable[[Seen], Iterator[Miss]]

_NAME = re.compile(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*){2}\Z")


@unique
class Group(StrEnum):
    """What a case is about; a configuration can leave whole groups out."""

    FORM = "form"
    FIDELITY = "fidelity"
    SECRECY = "secrecy"
    ISOLATION = "isolation"
    FAULTS = "faults"
    BUDGET = "budget"
    CONCURRENCY = "concurrency"
    RECOVERY = "recovery"


@unique
class Need(StrEnum):
    """What a case cannot do without; where it is missing, the verdict says so."""

    PLATFORM_A = "platform A"
    PLATFORM_B = "platform B"
    SESSIONS = "cardholder sessions"
    TWO_CARDHOLDERS = "two cardholders with cards of their own"
    SEVERAL_CARDS = "several cards of one cardholder"
    LOGS = "log files to scan"
    STATUS = "a call for status()"
    HTTP = "a back end that is reached over HTTP"


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        name: such as `relay.post.sdk-input-byte-exact`; never used for anything else.
        says: what it asks for, as a sentence.
        rule: the id of the rule that it rests on.
        group: what it is about.
        script: what is done.
        judge: every way in which what was seen is not what the rule asks for.
        needs: what it cannot do without; a platform among them is the one whose app calls.

    Raises:
        DefinitionError: the name is not of this form.
        ParameterError: there is no such rule.
    """

    name: str
    says: str
    rule: str
    group: Group
    script: Script = field(repr=False)
    judge: Judge = field(repr=False)
    needs: frozenset[Need] = frozenset()

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise DefinitionError(f"A case is named like relay.post.sdk-input-byte-exact, not {self.name!r:.60}.")
        rule(self.rule)

    @property
    def platform(self) -> str | None:
        """The platform whose app calls; None where either will do."""
        return next((need.value for need in (Need.PLATFORM_A, Need.PLATFORM_B) if need in self.needs), None)

    @property
    def rests_on(self) -> Rule:
        """The rule itself."""
        return rule(self.rule)
