"""How long the wallet waits: one limit for each call that it makes or causes, in seconds.

The document gives two of them. That the same 20 s also bind the generation of the request and the in-app
delegate is public knowledge of the wallet platform, so those two carry the tag `wallet`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.errors import ParameterError, did_you_mean
from workbook.flows import messages as m


@dataclass(frozen=True, slots=True)
class Limit:
    """How long one call may take.

    Attributes:
        call: the call's name, in this package's spelling.
        seconds: the time it has; taking exactly that long is in time (assumed).
        rule: the id of the rule that it rests on.
        source: `spec` where the document gives it, `wallet` where only the platform does.
        missed: what a missed limit means to the cardholder.
    """

    call: str
    seconds: float
    rule: str
    source: str
    missed: str


MISSED: dict[type[m.StartBudget], tuple[str, str]] = {
    m.StartStatusBudget: ("spec", "the app is not listed in the wallet"),
    m.StartPassEntriesBudget: ("spec", "the wallet shows no card to add"),
    m.StartRemotePassEntriesBudget: ("spec", "the watch shows no card to add"),
    m.StartGenerateBudget: ("wallet", "the late request is ignored and no card is added"),
    m.StartProvisionBudget: ("wallet", "the late sdkInput is ignored and no card is added"),
}
"""Where each budget is known from, and what a cardholder sees when it is spent."""


def _limit(budget: type[m.StartBudget]) -> Limit:
    start: Any = budget  # each gives both of its values itself
    source, missed = MISSED[budget]
    return Limit(start().call, start().seconds, budget.rules[0], source, missed)


LIMITS = {limit.call: limit for limit in map(_limit, m.BUDGETS)}
"""Each limit by its call."""


def limit(call: str) -> Limit:
    """The limit of this call.

    Raises:
        ParameterError: no limit is known for it.
    """
    try:
        return LIMITS[call]
    except (KeyError, TypeError):
        raise ParameterError(f"No limit is known for {call!r}. {did_you_mean(str(call), LIMITS)}") from None
