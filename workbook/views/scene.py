"""A scene as a notebook shows it: how it ended, what happened, and what is to be said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.advice import advised
from workbook.views.facts import facts
from workbook.views.findings import findings
from workbook.views.markup import tag, trusted
from workbook.views.sequence import sequence
from workbook.views.view import View

if TYPE_CHECKING:
    from workbook.scenes.staged import Staged


@dataclass(frozen=True, slots=True, repr=False)
class Stack(View):
    """Several views, one under the other."""

    views: tuple[View, ...]

    def text(self) -> str:
        """Each view's text form, with an empty line between."""
        return "\n\n".join(view.text() for view in self.views)

    def html(self) -> str:
        """Each view's HTML form, in one block."""
        return tag("div", *(tag("div", trusted(view.html()), style="margin-bottom:1em") for view in self.views))


def show(scene: Staged) -> Stack:
    """The end of the scene, its sequence diagram, its findings, and what a good back end does about it."""
    shown = facts("How it ended", scene.summary), sequence(scene.trace), findings(scene.findings)
    return Stack(shown if scene.advice is None else (*shown, advised(scene.advice)))
