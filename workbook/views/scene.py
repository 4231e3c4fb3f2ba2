"""A run as a notebook shows it: how it ended, the sequence, the findings, and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.views.findings import advised, findings
from workbook.views.html import View, tag, trusted
from workbook.views.sequence import sequence
from workbook.views.table import facts


@dataclass(frozen=True, slots=True, repr=False)
class Stack(View):
    """Several views, one below the other."""

    views: tuple[View, ...]

    def text(self) -> str:
        """Each view's text form, with an empty line between."""
        return "\n\n".join(view.text() for view in self.views)

    def html(self) -> str:
        """Each view's HTML form, in one block."""
        return tag("div", *(tag("div", trusted(view.html()), style="margin-bottom:1em") for view in self.views))


def show(run: Any) -> Stack:
    """The views of anything with `summary`, `trace`, `findings`, and an `advice` that may be None."""
    views = facts("How it ended", run.summary), sequence(run.trace), findings(run.findings)
    return Stack(views if run.advice is None else (*views, advised(run.advice)))
