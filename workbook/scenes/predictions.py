"""Predict what comes of a fault, run it, and be told whether that was right, and why.

Every answer is read from what happened: a prediction is a question to the finished scene, and no table of right
answers exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.checks.attempts import PATIENCE
from workbook.flows import messages as m
from workbook.flows.extension import State as WalletState
from workbook.scenes.faults import break_it
from workbook.scenes.platform_a import named
from workbook.views.facts import facts
from workbook.views.scene import Stack, show
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.scenes.faults import FaultScene


def _button_back(scene: FaultScene) -> bool:
    return bool(scene.trace.select(m.EnableButton)) and not scene.added


def _no_button(scene: FaultScene) -> bool:
    return bool(scene.trace.select(m.HideButton)) and not scene.trace.select(m.AddTapped)


def _ends(state: WalletState) -> Callable[[FaultScene], bool]:
    return lambda scene: scene.played.state == state


PREDICTIONS: Mapping[str, Callable[[FaultScene], bool]] = MappingProxyType({
    "the card is added": lambda scene: scene.added,
    "the button comes back": _button_back,
    "there is no button to tap": _no_button,
    "the wallet offers no card": _ends(WalletState.EMPTY),
    "the wallet says that the card was not added": _ends(WalletState.NOT_ADDED),
    f"nothing happens for {PATIENCE:g} s": lambda scene: scene.longest_wait >= PATIENCE,
    "another card is added": lambda scene: bool(scene.played.cards) and not scene.added,
})  # fmt: skip
"""What a reader may expect, and how the finished scene is asked for it."""


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(View):
    """A prediction, and what came of it.

    Attributes:
        i_think: one of `PREDICTIONS`.
        scene: what happened.
    """

    i_think: str
    scene: FaultScene

    @property
    def right(self) -> bool:
        """Whether it happened."""
        return PREDICTIONS[self.i_think](self.scene)

    @property
    def came_true(self) -> list[str]:
        """Every prediction that would have been right."""
        return [name for name, happened in PREDICTIONS.items() if happened(self.scene)]

    @property
    def verdict(self) -> dict[str, str]:
        """Right or not, and why, in a few lines."""
        told, seen = self.scene.summary, "; ".join(self.came_true) or "nothing of all that could be predicted"
        return {
            "you think": self.i_think,
            "that is": "✓ right" if self.right else "✗ not so",
            "what came of it": seen,
            "because the API": told["the API"],
            "so the back end got": told["the back end got"],
            "and the app got": told["the app got"],
        }

    def text(self) -> str:
        """The verdict, and the scene below it."""
        return self._stack().text()

    def html(self) -> str:
        """The verdict, and the scene below it."""
        return self._stack().html()

    def _stack(self) -> Stack:
        return Stack((facts("Your prediction", self.verdict), *show(self.scene).views))


def predict(  # noqa: PLR0917  # one choice each, in the order of the sentence
    fault: str = "503 that says 500",
    operation: str = "POST",
    moment: str = "after",
    platform: str = "platform A",
    i_think: str = "the card is added",
    back_end: str = "good",
) -> Prediction:
    """Say what you think will come of a fault, and see.

    Args:
        fault: as for `break_it`, like all that is not explained here.
        operation: GET or POST.
        moment: before or after.
        platform: where the cardholder adds the card.
        i_think: one of `PREDICTIONS`.
        back_end: who speaks to the API.

    Raises:
        ParameterError: nothing has this name.
    """
    named(i_think, PREDICTIONS, "prediction")
    return Prediction(i_think, break_it(fault, operation, moment, platform, back_end))
