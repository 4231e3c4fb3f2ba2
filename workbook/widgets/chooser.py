"""One call with a few choices: choose, run, read the result, and copy the call.

Every result is the value of an HTML widget, set after the call has returned, so that no output is lost and no handler
touches an event loop. A stored notebook keeps the result for the first choices.
"""

from __future__ import annotations

import inspect
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets

from workbook.errors import ParameterError
from workbook.values import did_you_mean, quoted
from workbook.views.html import joined, tag, trusted
from workbook.views.table import Snapshot, above, failure, paragraph, preformatted, snapshot
from workbook.widgets.player import Live

Options = Mapping[str, Any] | Iterable[Any]

_HERE = Path(__file__).parent


class Keys(anywidget.AnyWidget):
    """Keeps the keys of the box around it inside that box, and says there when the kernel has ended.

    JupyterLab's command mode would take arrows, Enter and letters; shortcuts with Ctrl still reach it.
    """

    _esm = "".join((_HERE / name).read_text("utf-8") for name in ("kernel.js", "keys.js"))

    def __repr__(self) -> str:
        return "Keys()"


SECRETS = frozenset({"apikey", "credential", "key", "passphrase", "password", "secret"})
"""Words that may not be in a choice's name: choices are saved with the notebook."""

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Chooser(Live):
    """A panel that makes one call with chosen arguments.

    Each choice is a list of values, or a mapping from a label to a value. The call is first made, once, when the panel
    is shown, with the first value of each choice.

    Args:
        call: the function; it gets one keyword argument for each choice.
        button: the words on the button; by default the function's name.
        choices: the values for each keyword.

    Raises:
        ParameterError: `call` is no function or takes no such keyword, there is nothing to choose from, or a choice
            is named like a secret.
    """

    def __init__(self, call: Callable[..., object], button: str = "", /, **choices: Options) -> None:
        if not choices:
            raise ParameterError('A chooser needs something to choose, such as Chooser(walk, fault=["none"]).')
        self.call = call
        self.choices = {name: _labelled(name, options) for name, options in choices.items()}
        _check_call(call, choices)
        self.button = button or f"Run {_name(call)}()"
        self._first: Snapshot | None = None
        self._box: Any = None

    def __repr__(self) -> str:
        choices = ", ".join(f"{name}=[{', '.join(labels)}]" for name, labels in self.choices.items())
        return f"Chooser({_name(self.call)}, {choices})"

    def snapshot(self) -> Snapshot:
        """The result for the first choices, and the names of all."""
        first = self.first()
        hint = f"Choices: {', '.join(self.choices)}."
        call = f"{self.spelled(self.defaults())}  # the first of each choice"
        html = joined(preformatted(call), trusted(first.html()), paragraph(tag("em", hint)))
        return Snapshot(f"{call}\n{first.text()}\n{hint}", html)

    def defaults(self) -> dict[str, str]:
        """The first label of each choice."""
        return {name: next(iter(labels)) for name, labels in self.choices.items()}

    def first(self) -> Snapshot:
        """The result for the first of each choice; the call is made once and its result kept."""
        if self._first is None:
            self._first = self.run(self.defaults())
        return self._first

    def widget(self) -> Any:
        """The live panel, always the same ipywidgets box: a dropdown for each choice, a button, and the result.

        The button is disabled while the call runs, and a click in that time is dropped.
        """
        if self._box is not None:
            return self._box
        dropdowns = {name: dropdown(name, labels) for name, labels in self.choices.items()}
        button = ipywidgets.Button(description=self.button, layout={"width": "max-content"})
        result = ipywidgets.HTML()

        def labels() -> dict[str, str]:
            return {name: chosen.value for name, chosen in dropdowns.items()}

        def show(shown: Snapshot) -> None:
            call = (paragraph("The same in Python:"), preformatted(self.spelled(labels())))
            result.value = str(tag("div", trusted(shown.html()), *call, role="status", style="line-height:1.4"))

        def chosen(_change: object) -> None:
            waits = f"Not run yet with these choices. Press “{self.button}”."  # no older result below newer choices
            show(Snapshot(waits, paragraph(waits)))

        def clicked(_button: object) -> None:
            if button.disabled:
                return
            button.disabled = True
            try:
                show(self.run(labels()))
            finally:
                button.disabled = False

        button.on_click(clicked)
        for box in dropdowns.values():
            box.observe(chosen, "value")
        show(self.first())
        self._box = ipywidgets.VBox([*dropdowns.values(), button, Keys(), result])
        return self._box

    def run(self, labels: Mapping[str, str]) -> Snapshot:
        """The result of the call with these labels' values; an error is shown as a result, too."""
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                result = snapshot(self.call(**self._values(labels)))
        except Exception as error:  # noqa: BLE001  # the reader wants to see every error of the call
            result = failure(error)
        return above(snapshot(printed.getvalue().rstrip()), result) if printed.getvalue().strip() else result

    def spelled(self, labels: Mapping[str, str]) -> str:
        """The call as Python to copy."""
        values = self._values(labels)
        arguments = ", ".join(f"{name}={literal(value, labels[name])}" for name, value in values.items())
        return f"{_name(self.call)}({arguments})"

    def _values(self, labels: Mapping[str, str]) -> dict[str, Any]:
        return {name: self.choices[name][label] for name, label in labels.items()}


def _labelled(name: str, options: Options) -> dict[str, Any]:
    if SECRETS & set(name.lower().split("_")):
        raise ParameterError(f"{name!r}: a chooser never takes a key or a secret; its choices are saved in the file.")
    if isinstance(options, str) or not isinstance(options, Iterable):
        message = f"{name!r} needs a list of values or a mapping from label to value, not {quoted(options)}."
        raise ParameterError(message)
    if isinstance(options, Mapping):
        labelled = dict(options)
    else:
        labelled = {value if isinstance(value, str) else literal(value, _name(value)): value for value in options}
    if not labelled:
        raise ParameterError(f"{name!r} has nothing to choose from. Give a list with at least one value.")
    return labelled


def _check_call(call: object, names: Iterable[str]) -> None:
    """The call takes these keywords and needs no other; an error here is better than one for every click."""
    if not callable(call):
        message = f"A chooser needs a function to call, such as Chooser(walk, taps=[1, 2]), not {quoted(call)}."
        raise ParameterError(message)
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # a function in C may have no signature; then the call itself will check
        return
    takes = [parameter.name for parameter in parameters if parameter.kind in _BY_NAME]
    anything = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    for name in () if anything else sorted(set(names).difference(takes)):
        raise ParameterError(f"{_name(call)} takes no {name!r}. {did_you_mean(name, takes)}")


def dropdown(name: str, labels: Iterable[str]) -> Any:
    """A dropdown with its name, as wide as its words."""
    style, layout = {"description_width": "initial"}, {"width": "max-content", "max_width": "100%"}
    words = " ".join("I" if word == "i" else word for word in name.split("_"))
    return ipywidgets.Dropdown(options=list(labels), description=words, style=style, layout=layout)


def choose(call: Callable[..., object], button: str = "", /, **choices: Options) -> Chooser:
    """A panel that makes one call with the values that a reader chooses.

    Args:
        call: the function, such as `session.platform_a.play`; it gets one keyword argument for each choice.
        button: the words on the button; empty takes the function's name.
        choices: for each keyword a list of values, or a mapping from a label to a value.

    Raises:
        ParameterError: `call` is no function or takes no such keyword, there is nothing to choose from, or a choice
            is named like a secret.
    """
    return Chooser(call, button, **choices)


def _name(value: Any) -> str:
    name = str(getattr(value, "__name__", type(value).__name__))
    owner = getattr(getattr(value, "__self__", None), "spelled", "")
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
