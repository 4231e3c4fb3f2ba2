"""Rules of the ledger, to read beside a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.errors import ParameterError
from workbook.rules import rule
from workbook.views.table import table

if TYPE_CHECKING:
    from workbook.views.table import Table


def show_rules(*rule_ids: str) -> Table:
    """The rules with these ids, in this order: id, how binding, where it stands, and the rule itself.

    Raises:
        ParameterError: no id is given, or there is no such rule; the message names the nearest.
    """
    if not rule_ids:
        raise ParameterError(
            'Which rules? Name some: show_rules("A-CAN-1", "API-13"). `workbook rules` prints them all.'
        )
    found = [rule(one) for one in rule_ids]
    head = ("rule", "level", "section", "text")
    return table("Rules", head, ((one.id, one.level.value, one.section, one.text) for one in found))
