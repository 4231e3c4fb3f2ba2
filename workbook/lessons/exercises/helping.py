"""Below an exercise of a learner's copy, with a live kernel: a button for the next hint, and one that asks for help."""

from typing import Any

import ipywidgets

from workbook.lessons.widgets.chooser import Keys, status
from workbook.lessons.widgets.panels import Live
from workbook.views.html import joined, tag, trusted
from workbook.views.table import Snapshot, paragraph, preformatted


class Helper(Live):
    """What the judge says, and the two buttons; a notebook stores what the judge says, with the hints folded.

    Args:
        feedback: an `asking.Feedback`, which makes its own helper.
    """

    def __init__(self, feedback: Any) -> None:
        self.feedback = feedback
        self._hints = 0

    def snapshot(self) -> Snapshot:
        """The feedback."""
        return Snapshot(self.feedback.text(), joined(trusted(self.feedback.html())))

    def recording(self) -> dict[str, Any]:
        """What a runner reads."""
        return dict(self.feedback.recording())

    def make_widget(self) -> Any:
        """The verdict, the hints that were asked for, and the buttons."""
        said = ipywidgets.HTML(self.feedback.html(folded=False))
        hints, told = ipywidgets.HTML(), ipywidgets.HTML()
        more, hand = ipywidgets.Button(), ipywidgets.Button()

        def show_hint(_button: object = None) -> None:
            if _button is not None:
                self._hints += 1
                self.feedback.hint(self._hints)
            shown = [paragraph(tag("b", f"Hint {n}: "), self.feedback.exercise.hints[n - 1]) for n in self._given]
            last = self._hints == len(self.feedback.exercise.hints)
            if last and self.feedback.tried:
                shown.append(preformatted(self.feedback.solution))
            hints.value = str(status(*shown))
            more.description = f"Hint {self._hints + 1}"
            more.layout.display = "none" if last or self.feedback.done else None

        def show_hand(_button: object = None) -> None:
            if _button is not None:
                told.value = str(status(paragraph(self.feedback.help(up=not self.feedback.hand_is_up))))
            hand.description = "Lower my hand" if self.feedback.hand_is_up else "I need help"

        more.on_click(show_hint)
        hand.on_click(show_hand)
        show_hint()
        show_hand()
        return ipywidgets.VBox([said, hints, ipywidgets.HBox([more, hand]), told, Keys()])

    @property
    def _given(self) -> range:
        return range(1, self._hints + 1)
