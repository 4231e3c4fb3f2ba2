"""One recorded exchange beside what the simulator would have answered, and what a difference between them becomes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.proxy.finding import Finding, Kind, Setting
from workbook.proxy.outcome import DOCUMENTED, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbook.proxy.record_file import Recorded
    from workbook.simulation.http import Response

SHOWN_LINES = 3
"""How many lines of the record a finding names."""


@dataclass(frozen=True, slots=True)
class Case:
    """One exchange; `response` is the simulator's, or None for weather, which is not asked.

    Attributes:
        one: what was recorded.
        word: its outcome.
        response: what the simulator answers.
    """

    one: Recorded
    word: str
    response: Response | None

    @property
    def operation(self) -> str:
        """GET or POST."""
        return self.one.operation or ""

    @property
    def instrument(self) -> str:
        """The payment instrument's id."""
        return self.one.instrument or ""

    @property
    def simulated(self) -> str:
        """The simulator's status; empty for weather."""
        return "" if self.response is None else str(self.response.status)

    @property
    def basis(self) -> str:
        """What the simulator's answer rests on."""
        return "" if self.response is None else self.response.basis

    @property
    def differs(self) -> bool:
        """Whether it ended otherwise than the simulator's."""
        return self.word != self.simulated


def grouped(cases: Iterable[Case], key: Callable[[Case], tuple[str, ...]]) -> list[tuple[tuple[str, ...], list[Case]]]:
    """The cases by key, in the order of each key's first."""
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    return list(groups.items())


def found(
    kind: Kind,
    seen: Sequence[Case],
    *,
    of: int,
    real: str,
    simulated: str,
    basis: str,
    setting: Setting | None = None,
    note: str = "",
) -> Finding:
    """The finding that these cases are together."""
    lines = tuple(case.one.line for case in seen[:SHOWN_LINES])
    return Finding(kind, seen[0].operation, real, simulated, basis, len(seen), of, lines, setting, note)


def of_status(word: str) -> tuple[Kind, str]:
    """How much an ending says, and what stands against it: which statuses there are is published."""
    if word.isdigit() and word not in DOCUMENTED:
        return Kind.PUBLISHED, "openapi"
    return Kind.ASSUMED, "assumed"


def fault(seen: Sequence[Case], of: int, instrument: str = "") -> Setting | None:
    """A `[[fault]]` for the ending that these cases share, as often as it was seen; None where no fault plays it."""
    table = settings(seen[0].word, [case.one for case in seen])
    if table is None:
        return None
    who = {"payment_instrument_id": instrument} if instrument else {}
    often = {} if len(seen) == of else {"share": share(len(seen), of)}
    return Setting("fault", {"fault": table.pop("fault"), "operation": seen[0].operation, **who, **often, **table})


def share(count: int, of: int) -> float:
    """A share as a scenario says it."""
    return round(count / of, 4)
