"""Simulated time: what the virtual clock says of each call of a handler; exact, and the same every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.extension.calls import handler_calls
from workbook.flows.limits import limit
from workbook.timing.verdict import judge

if TYPE_CHECKING:
    from workbook.timing.verdict import Judgement
    from workbook.trace import Trace


def judge_trace(trace: Trace) -> list[Judgement]:
    """Each call of a handler in this trace against its limit (X-STATUS-3, X-ENTRIES-3), in the order of the calls.

    A call that never answered is left out: no time is known for it.
    """
    return [
        judge([call.seconds], limit(call.name), label="simulated", exact=True)
        for call in handler_calls(trace)
        if call.seconds is not None
    ]
