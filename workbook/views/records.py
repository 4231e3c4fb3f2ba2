"""A trace as a table: when, who, what, and which rules it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.sequence import sequence
from workbook.views.table import table

if TYPE_CHECKING:
    from workbook.trace import Trace
    from workbook.views.sequence import Line
    from workbook.views.table import Table

HEAD = ("time", "who", "rules", "what")


def records(trace: Trace) -> Table:
    """One row for each line of the trace's sequence diagram, in the same words."""
    return table(f"Trace: {trace.title}", HEAD, map(_row, sequence(trace).lines))


def _row(line: Line) -> tuple[str, ...]:
    told = f"{line.heading} ({line.detail})" if line.detail else line.heading
    return f"{line.at:.3f} s", f"{line.sender} → {line.receiver}", " ".join(line.rules), told
