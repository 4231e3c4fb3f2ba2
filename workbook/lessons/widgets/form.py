"""The questions of an exercise, to be answered below its cell instead of in it."""

from dataclasses import replace
from typing import Any

import ipywidgets

from workbook.lessons.exercises.asking import Feedback, hand_in
from workbook.lessons.exercises.model import Reason
from workbook.lessons.widgets.chooser import panel, pick, status
from workbook.lessons.widgets.panels import Live
from workbook.views.html import tag, trust
from workbook.views.table import Snapshot, paragraph, preformat


class Form(Live):
    """The questions, each with its choices, and what the judge says of the answers.

    Args:
        feedback: on the exercise that nobody has answered yet.
    """

    def __init__(self, feedback: Feedback) -> None:
        self.feedback = feedback

    def snapshot(self) -> Snapshot:
        """What the judge says of the cell as it stands."""
        return Snapshot(self.feedback.text(), self.feedback.html())

    def recording(self) -> dict[str, Any]:
        """The state of the exercise, for a runner."""
        return self.feedback.state_for_runner()

    def make_widget(self) -> Any:
        """A row for each question, a button that is enabled once each has an answer, and the verdict."""
        exercise = self.feedback.exercise
        fields, rows = {}, []
        layout = {"flex_flow": "row wrap", "align_items": "center"}
        for name, question in exercise.asks.items():
            asks = f": {question.asks}" if question.asks else ""
            words = tag("div", tag("code", name), asks, style="line-height:1.4")
            fields[name] = pick("", [(str(each), each) for each in question.choices], value=None)
            label = ipywidgets.HTML(str(words), layout={"width": "26em"})
            rows.append(ipywidgets.Box([label, fields[name]], layout=layout))
        button = ipywidgets.Button(description="Check", disabled=True, layout={"width": "max-content"})
        waiting = replace(self.feedback.verdict, reason=Reason("", "choose your answers, then press Check."))
        result = ipywidgets.HTML(str(status(trust(replace(self.feedback, verdict=waiting).html()))))

        def on_choice(_change: object) -> None:
            button.disabled = any(field.value is None for field in fields.values())

        def on_click(_button: object) -> None:
            answers = {name: field.value for name, field in fields.items()}
            self.feedback = hand_in(exercise, (), answers, "", self.feedback.file)
            call = ", ".join(f"{name}={value!r}" for name, value in answers.items())
            kept = paragraph("To keep your answers in the notebook, write them into the cell:")
            cell = preformat(f'wb.exercise("{exercise.id}", {call})')
            result.value = str(status(trust(self.feedback.html()), kept, cell))

        for field in fields.values():
            field.observe(on_choice, "value")
        button.on_click(on_click)
        return panel(*rows, button, result=result)
