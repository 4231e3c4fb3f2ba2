"""Panels with a result below their controls: a call with choices, a field for a text, an exercise's questions.

Every result is the value of an HTML widget, set after the call has returned, so that no output is lost and no handler
touches an event loop. A stored notebook keeps the result for the first choices.
"""

import inspect
import io
import json
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cached_property
from typing import Any

import anywidget
import ipywidgets

from workbook.base.values import did_you_mean, quoted
from workbook.errors import ParameterError
from workbook.lessons.exercises.asking import Feedback, hand_in
from workbook.lessons.exercises.model import Reason
from workbook.lessons.pages import browser_file
from workbook.lessons.widgets.panels import Live
from workbook.views.html import Markup, join, tag, trust, unbroken
from workbook.views.table import Snapshot, above, copyable, failure, paragraph, preformat, snapshot, statement

Options = Mapping[str, Any] | Iterable[Any]


class Keys(anywidget.AnyWidget):
    """Keeps key presses inside the box around it, and says there when the kernel has ended.

    JupyterLab's command mode would take arrows, Enter and letters; shortcuts with Ctrl still reach it.
    """

    _esm = browser_file("kernel.js") + browser_file("keys.js")
    _css = browser_file("controls.css")

    def __repr__(self) -> str:
        return "Keys()"


def panel(*controls: Any, result: Any) -> Any:
    """A box with the controls one below the other, and the result below them."""
    box = ipywidgets.VBox([*controls, Keys(), result])
    box.add_class("wb-panel")
    return box


def status(*children: object) -> Markup:
    """A result that a screen reader reads out when it changes."""
    return tag("div", *children, role="status", style="line-height:1.4")


class Chooser(Live):
    """A panel that makes one call with chosen arguments.

    Each choice is a list of values, or a mapping from a label to a value. The panel makes the call when it is shown,
    with the first value of each choice, and again after every change. So the result always belongs to the choices
    above it.

    Args:
        call: the function; it gets one keyword argument for each choice.
        choices: the values for each keyword.

    Raises:
        ParameterError: `call` is no function or takes no such keyword, there is nothing to choose from, or a choice
            is named like a secret.
    """

    def __init__(self, call: Callable[..., object], /, **choices: Options) -> None:
        if not choices:
            raise ParameterError("A chooser needs something to choose, such as choose(play, taps=[1, 2]).")
        self.call = call
        self.choices = {name: _label_options(name, options) for name, options in choices.items()}
        _check_call(call, choices)

    def __repr__(self) -> str:
        choices = ", ".join(f"{name}=[{', '.join(labels)}]" for name, labels in self.choices.items())
        return f"Chooser({_name(self.call)}, {choices})"

    def snapshot(self) -> Snapshot:
        """The result for the first choices, and the names of all."""
        first = self.first
        hint = f"Choices: {', '.join(self.choices)}."
        call = f"{self.in_python(self.defaults())}  # the first of each choice"
        html = join(preformat(call), trust(first.html()), paragraph(tag("em", hint)))
        return Snapshot(f"{call}\n{first.text()}\n{hint}", html)

    def defaults(self) -> dict[str, str]:
        """The first label of each choice."""
        return {name: next(iter(labels)) for name, labels in self.choices.items()}

    @cached_property
    def first(self) -> Snapshot:
        """The result for the first of each choice; the call is made once and its result kept."""
        return self.run(self.defaults())

    def make_widget(self) -> Any:
        """A control for each choice, and the result.

        While a call runs, the older result is dimmed. A change in that time is run afterwards.
        """
        controls = {name: pick(name, list(labels)) for name, labels in self.choices.items()}
        result, running, asked = ipywidgets.HTML(), False, self.defaults()

        def show(shown: Snapshot) -> None:
            call = paragraph("The same in Python:"), copyable(self.in_python(asked))
            result.value = str(status(trust(shown.html()), *call))

        def on_change(_change: object) -> None:
            nonlocal running, asked
            if running:
                return  # the run under way sees it when it ends
            running, result.layout.opacity = True, "0.4"
            try:
                while (wanted := {name: box.value for name, box in controls.items()}) != asked:
                    asked = wanted
                    show(self.run(asked))
            except (KeyboardInterrupt, SystemExit):  # the kernel's stop button, or exit() in the reader's own code
                show(statement("Stopped. Change a choice to run the call again."))
            finally:
                running, result.layout.opacity = False, None

        for box in controls.values():
            box.observe(on_change, "value")
        show(self.first)
        return panel(ipywidgets.Box([*controls.values()], layout={"flex_flow": "row wrap"}), result=result)

    def run(self, labels: Mapping[str, str]) -> Snapshot:
        """The result of the call with these labels' values; an error is shown as a result, too."""
        printed = io.StringIO()
        values = {name: self.choices[name][label] for name, label in labels.items()}
        try:
            with redirect_stdout(printed):
                result = snapshot(self.call(**values))
        except Exception as error:  # noqa: BLE001  # the reader wants to see every error of the call
            result = failure(error)
        return above(snapshot(printed.getvalue().rstrip()), result) if printed.getvalue().strip() else result

    def in_python(self, labels: Mapping[str, str]) -> str:
        """The call as Python to copy."""
        arguments = ", ".join(f"{name}={literal(self.choices[name][label], label)}" for name, label in labels.items())
        return f"{_name(self.call)}({arguments})"


def _label_options(name: str, options: Options) -> dict[str, Any]:
    if {"apikey", "credential", "key", "passphrase", "password", "secret"} & set(name.lower().split("_")):
        raise ParameterError(f"{name!r}: a chooser never takes a key or a secret; its choices are saved in the file.")
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise ParameterError(f"{name!r} needs a list of values or a mapping from label to value: {quoted(options)}.")
    if not isinstance(options, Mapping):
        options = {value if isinstance(value, str) else literal(value, _name(value)): value for value in options}
    if not options:
        raise ParameterError(f"{name!r} has nothing to choose from. Give a list with at least one value.")
    return dict(options)


def _check_call(call: object, names: Iterable[str]) -> None:
    """Check that the call takes these keywords and needs no other: one error here saves one for every click."""
    if not callable(call):
        raise ParameterError(f"A chooser needs a function to call, such as choose(play, taps=[1]), not {quoted(call)}.")
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # a function in C may have no signature; then the call itself will check
        return
    takes = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for name in () if anything else sorted(set(names).difference(takes)):
        raise ParameterError(f"{_name(call)} takes no {name!r}. {did_you_mean(name, takes)}")


def words(name: str) -> str:
    """The name of a choice as a person writes it."""
    return " ".join("I" if word == "i" else word for word in name.split("_"))


def dropdown(name: str, options: Iterable[Any], **more: Any) -> Any:
    """A dropdown with its name, as wide as its words."""
    return _named(ipywidgets.Dropdown, name, options, **more)


def pick(name: str, options: Sequence[Any], **more: Any) -> Any:
    """Radio buttons in a row for up to three options, and a dropdown for more."""
    if len(options) > 3:
        return dropdown(name, options, **more)
    return _named(ipywidgets.RadioButtons, name, options, orientation="horizontal", **more)


def _named(kind: Any, name: str, options: Iterable[Any], **more: Any) -> Any:
    style, layout = {"description_width": "initial"}, {"width": "max-content", "max_width": "100%"}
    return kind(options=list(options), description=words(name), style=style, layout=layout, **more)


def choose(call: Callable[..., object], /, **choices: Options) -> Chooser:
    """A panel that makes one call with the values that a reader chooses, anew after each change.

    Args:
        call: the function, such as `session.platform_a.play`; it gets one keyword argument for each choice.
        choices: for each keyword a list of values, or a mapping from a label to a value.

    Raises:
        ParameterError: `call` is no function or takes no such keyword, there is nothing to choose from, or a choice
            is named like a secret.

    Example:
        >>> wb.choose(wb.session().platform_a.play, phone=["ready", "wallet times out"])
        Chooser(session.platform_a.play, phone=[ready, wallet times out])
    """
    return Chooser(call, **choices)


def _name(value: Any) -> str:
    name = str(getattr(value, "__name__", type(value).__name__))
    owner = getattr(getattr(value, "__self__", None), "in_python", "")
    return f"{owner}.{name}" if owner else name


def literal(value: object, otherwise: str = "...") -> str:
    """A value as Python source; `otherwise` where its repr has an address in memory."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    names = vars(sys.modules["__main__"])  # a notebook's variables
    own = [name for name, known in names.items() if known is value and not name.startswith("_")]
    if own and (callable(value) or " at 0x" in repr(value)):
        return own[0]
    if callable(value):
        return _name(value)
    written = repr(value)
    return otherwise if " at 0x" in written else written


class Paste(Live):
    """A field to paste a text into, its button, a box to tick, and the result for the last text.

    What is pasted may be card data. The panel empties its field as soon as it has read it, so no saved notebook holds
    the text. The kernel keeps the text until the next one comes, and sends it nowhere. The notebook stores the redacted
    result.

    Args:
        value: the text to read first; empty shows `ask`.
        ticked: whether the box is ticked at first.

    Attributes:
        ask: the sentence that is shown until something is pasted.
        verb: the label of the button.
        option: the label of the box; empty shows no box.
    """

    ask: str
    verb: str
    option = ""

    def __init__(self, value: Any, *, ticked: bool = False) -> None:
        self._value = value
        self._ticked = ticked

    @abstractmethod
    def read(self) -> Snapshot:
        """The result for what was given last."""

    def snapshot(self) -> Snapshot:
        """The result for what was given last, or what to give."""
        if not self._value:
            return statement(self.ask)
        try:
            return self.read()
        except Exception as error:  # noqa: BLE001  # the reader wants to see every error
            return failure(error)

    def make_widget(self) -> Any:
        """The field, its button and the result."""
        hint = f"Paste here, then press {self.verb}. It empties the field: nothing is kept or sent."
        field = ipywidgets.Textarea(placeholder=hint, continuous_update=False, rows=5, layout={"width": "99%"})
        button = ipywidgets.Button(description=self.verb, layout={"width": "max-content"})
        tick = ipywidgets.Checkbox(value=self._ticked, description=self.option, indent=False)
        result = ipywidgets.HTML()

        def show() -> None:
            result.value = str(status(trust(self.snapshot().html())))

        def on_click(_button: object) -> None:
            if field.value:
                self._value, field.value = field.value, ""
                show()

        def on_tick(change: Any) -> None:
            self._ticked = change["new"]
            show()

        button.on_click(on_click)
        tick.observe(on_tick, "value")
        show()
        return panel(field, button, *([tick] if self.option else []), result=result)


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
            words = tag("div", tag("code", name), unbroken(asks), style="line-height:1.4")
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
            cell = copyable(f'wb.exercise("{exercise.id}", {call})')
            result.value = str(status(trust(self.feedback.html()), kept, cell))

        for field in fields.values():
            field.observe(on_choice, "value")
        button.on_click(on_click)
        return panel(*rows, button, result=result)
