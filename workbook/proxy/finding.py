"""A finding of drift: what the real API did, what the simulator does and on which basis, and how to make them agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@unique
class Kind(StrEnum):
    """How much a finding says, the heaviest first."""

    DOCUMENT = "contradicts the document"
    PUBLISHED = "contradicts what is published"
    ASSUMED = "our assumption is wrong"
    CONFIGURED = "the scenario is set otherwise"


ORDER = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Setting:
    """What to set in a scenario.

    Attributes:
        table: `instrument`, `credential`, `latencies` or `fault`.
        values: keys and values of that table.
        name: which instrument or credential is meant; empty for the others.
        number: which of the scenario's `[[fault]]` tables it replaces, from 1; 0 where it is a further one.
    """

    table: str
    values: Mapping[str, Any] = field(hash=False)
    name: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, however often it was seen.

    Attributes:
        kind: how much it says.
        operation: GET or POST.
        real: what the real API did.
        simulated: what the simulator does.
        basis: on which the simulator's choice rests: rules, published sources, `assumed`.
        count: in how many exchanges it was seen.
        of: of how many in which it could have been.
        lines: the record's first lines that show it.
        setting: what would make the simulator do the same; None where nothing does.
        note: what else there is to say.
    """

    kind: Kind
    operation: str
    real: str
    simulated: str
    basis: str
    count: int
    of: int
    lines: tuple[int, ...]
    setting: Setting | None = None
    note: str = ""

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Where it stands in a report: the heaviest kind first, then the most frequent."""
        return ORDER.index(self.kind), -self.count, self.operation, self.real
