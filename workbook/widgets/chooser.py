"""One call with a few choices: pick, run, read the result, and copy the call that made it.

Every result is a value of an HTML widget, taken after the call has returned, so that nothing is lost on
the way and no handler touches an event loop. A stored notebook keeps the result for the first choices.
"""

from __future__ import annotations

import inspect
import io
import json
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbook.errors import ParameterError, did_you_mean
from workbook.parameters import quoted
from workbook.views.markup import joined, tag, trusted
from workbook.views.snapshot import Snapshot, above, failure, snapshot
from workbook.views.table import paragraph, preformatted
from workbook.widgets.keys import Keys
from workbook.widgets.live import Live

if TYPE_CHECKING:
    from collections.abc import Callable

    Options = Mapping[str, Any] | Iterable[Any]

SECRETS = frozenset({"apikey", "credential", "key", "passphrase", "password", "secret"})
"""Words that a choice may not be named by: what is chosen is saved with the notebook."""

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Chooser(Live):
    """A panel that makes one call with chosen arguments.

    Each choice is a list of values, or a mapping from a label to a value. Nothing is called before the
    panel is shown; then the call is made once, with the first of each.

    Attributes:
        call: the function, called with one keyword for each choice.
        choices: for each keyword, label to value.

    Raises:
        ParameterError: `call` is no function or takes no such keyword, there is nothing to choose from, or a choice
            is named like a secret.
    """

    def __init__(self, call: Callable[..., object], /, **choices: Options) -> None:
        if not choices:
            raise ParameterError('A chooser needs something to choose, such as Chooser(walk, fault=["none"]).')
        self.call = call
        self.choices = {name: _labelled(name, options) for name, options in choices.items()}
        _check_call(call, choices)
        self._first: Snapshot | None = None
        self._panel: Panel | None = None

    def __repr__(self) -> str:
        choices = ", ".join(f"{name}=[{', '.join(labels)}]" for name, labels in self.choices.items())
        return f"Chooser({_name(self.call)}, {choices})"

    def snapshot(self) -> Snapshot:
        """The first choices' result, and what there is to choose."""
        first = self.first()
        hint = f"There is to choose: {', '.join(self.choices)}."
        call = f"{self.spelled(self.defaults())}  # the first of each choice"
        text = f"{call}\n{first.text()}\n{hint}"
        html = joined(preformatted(call), trusted(first.html()), paragraph(tag("em", hint)))
        return Snapshot(text, html)

    def defaults(self) -> dict[str, str]:
        """The first label of each choice."""
        return {name: next(iter(labels)) for name, labels in self.choices.items()}

    def first(self) -> Snapshot:
        """The result for the first of each choice; the call is made once and remembered."""
        if self._first is None:
            self._first = self.run(self.defaults())
        return self._first

    def widget(self) -> Any:
        """The live panel, an ipywidgets box; always the same one."""
        if self._panel is None:
            self._panel = Panel(self)
        return self._panel.box

    def run(self, labels: Mapping[str, str]) -> Snapshot:
        """The result of the call with these labels' values; an error is a result too, told in words."""
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                result = snapshot(self.call(**self._values(labels)))
        except Exception as error:  # noqa: BLE001  # whatever the call raised is what the reader came to see
            result = failure(error)
        return above(snapshot(printed.getvalue().rstrip()), result) if printed.getvalue().strip() else result

    def spelled(self, labels: Mapping[str, str]) -> str:
        """The call as Python to copy."""
        values = self._values(labels)
        given = ", ".join(f"{name}={literal(value, labels[name])}" for name, value in values.items())
        return f"{_name(self.call)}({given})"

    def _values(self, labels: Mapping[str, str]) -> dict[str, Any]:
        return {name: self.choices[name][label] for name, label in labels.items()}


class Panel:
    """The live controls of one chooser: a labelled dropdown for each choice, a button, and the result.

    The button is disabled while the call runs, and a click that arrives meanwhile is dropped.
    """

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.dropdowns = {name: dropdown(name, labels) for name, labels in chooser.choices.items()}
        self.button = ipywidgets.Button(description=_invitation(chooser), layout={"width": "max-content"})
        self.button.on_click(self._clicked)
        self.result = ipywidgets.HTML()
        self.box = ipywidgets.VBox([*self.dropdowns.values(), self.button, Keys(), self.result])
        self._show(chooser.first())

    def _clicked(self, _button: object) -> None:
        if self.button.disabled:
            return
        self.button.disabled = True
        try:
            self._show(self.chooser.run(self._labels()))
        finally:
            self.button.disabled = False

    def _labels(self) -> dict[str, str]:
        return {name: dropdown.value for name, dropdown in self.dropdowns.items()}

    def _show(self, result: Snapshot) -> None:
        call = self.chooser.spelled(self._labels())
        self.result.value = str(
            tag(
                "div",
                trusted(result.html()),
                paragraph("The same in Python:"),
                preformatted(call),
                role="status",
                style="line-height:1.4",
            )
        )


def _labelled(name: str, options: Options) -> dict[str, Any]:
    if SECRETS & set(name.lower().split("_")):
        raise ParameterError(f"{name!r}: a chooser never takes a key or a secret; what is chosen is saved in the file.")
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise ParameterError(
            f"{name!r} needs a list of values or a mapping from label to value, not {quoted(options)}."
        )
    labelled = dict(options) if isinstance(options, Mapping) else {_label(option): option for option in options}
    if not labelled:
        raise ParameterError(f"{name!r} has nothing to choose from. Give a list with at least one value.")
    return labelled


def _check_call(call: object, names: Iterable[str]) -> None:
    """The call takes these keywords and needs no other; better said here than by every click."""
    if not callable(call):
        raise ParameterError(
            f"A chooser needs a function to call, such as Chooser(walk, taps=[1, 2]), not {quoted(call)}."
        )
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # a function in C may not tell its parameters; then the call will
        return
    takes = [one.name for one in parameters if one.kind in _BY_NAME]
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    for name in () if anything else sorted(set(names).difference(takes)):
        raise ParameterError(f"{_name(call)} takes no {name!r}. {did_you_mean(name, takes)}")


def _invitation(chooser: Chooser) -> str:
    """What the button says: the call's name in words, so that two on one page can be told apart."""
    words = _name(chooser.call).replace("_", " ").removesuffix(" with")
    return f"Run {words} with {'this choice' if len(chooser.choices) == 1 else 'these choices'}"


def dropdown(name: str, labels: Iterable[str]) -> Any:
    """A labelled list to choose from, as wide as its words."""
    style, layout = {"description_width": "initial"}, {"width": "max-content", "max_width": "100%"}
    words = name.replace("_", " ")
    return ipywidgets.Dropdown(options=list(labels), description=words, style=style, layout=layout)


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))


def _label(value: object) -> str:
    return value if isinstance(value, str) else literal(value, _name(value))


def literal(value: object, otherwise: str = "...") -> str:
    """A value as Python would be written; `otherwise` where its repr holds an address in memory."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if callable(value):
        return _name(value)
    written = repr(value)
    return otherwise if " at 0x" in written else written
