"""What a lesson's cell returns to state a checked fact.

A cell that ends in `check(...)` shows one line to the reader and leaves the same fact in the output for
the runner, which decides on the exit code: nothing is raised, so the lesson goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from workbook.base.rules import Basis, bases
from workbook.base.rules import rule as look_up
from workbook.base.values import choice, quoted
from workbook.errors import ParameterError
from workbook.views.html import View, joined, tag

CHECK_MIMETYPE: Final = "application/vnd.workbook.check+json"


@dataclass(frozen=True, slots=True, repr=False)
class Check(View):
    """One fact that a lesson checked; true in a condition when it passed.

    Attributes:
        name: the fact, as a short sentence.
        passed: whether it holds.
        rule: the id of the rule that it shows, if any.
        source: the tags of its sources, such as `assumed`, where a rule alone does not say so.
        otherwise: what a reader should do when it does not hold.
    """

    name: str
    passed: bool
    rule: str | None = None
    otherwise: str = ""
    source: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def _words(self) -> tuple[str, list[str], str]:
        """The mark, the rule and the sources, and what to do."""
        basis = [*filter(None, [self.rule]), *map(str, bases(self.source))]
        advice = f": {self.otherwise}" if self.otherwise and not self.passed else ""
        return "✓" if self.passed else "✗", basis, advice

    def text(self) -> str:
        """The fact on one line, with its rule and its sources; where it does not hold, also what to do."""
        mark, basis, advice = self._words()
        sources = f" ({', '.join(basis)})" if basis else ""
        return f"{mark} {self.name}{sources}{advice}"

    def html(self) -> str:
        """The same as one paragraph."""
        mark, basis, advice = self._words()
        failed = "border-left:5px solid var(--jp-error-color1, #b3261e);padding-left:0.6em"  # as a finding that fails
        style, verdict = (None, "passed") if self.passed else (failed, "failed")
        unbroken = "white-space:nowrap"  # a narrow page would break a rule's id at its hyphens
        spans = [part for word in basis for part in (", ", tag("span", word, style=unbroken))][1:]
        sources = joined(" (", *spans, ")") if basis else ""
        spoken = tag("span", mark, role="img", aria_label=verdict)
        return tag("p", spoken, " ", tag("b", self.name), sources, advice, style=style)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        fact = {"name": self.name, "passed": self.passed, "rule": self.rule, "source": self.source}
        return View._repr_mimebundle_(self) | {CHECK_MIMETYPE: fact}


@dataclass(frozen=True, slots=True, repr=False)
class Shown(View):
    """An expected error, shown instead of raised.

    Attributes:
        error: the error itself, for a closer look.
    """

    error: Exception = field(compare=False)

    def text(self) -> str:
        """The error's class and its sentence."""
        return f"{type(self.error).__name__}: {self.error}"

    def html(self) -> str:
        """The same as one paragraph, with its line breaks."""
        return tag("p", tag("b", type(self.error).__name__), f": {self.error}", style="white-space:pre-line")


def check(
    name: str,
    passed: bool | None = None,  # noqa: FBT001  # the fact itself, said beside its name
    *,
    rule: str | None = None,
    otherwise: str = "",
    source: str = "",
) -> Check:  # reads as a sentence: check("the button is shown", button.visible)
    """State a fact; a fact that does not hold raises no error.

    Args:
        name: the fact, as a short sentence.
        passed: whether it holds.
        rule: the id of the rule that it shows.
        otherwise: what a reader should do when it does not hold.
        source: where the fact is known from, if the rule alone does not say it: `assumed`, `wallet`, `sdk-b` ...

    Raises:
        ParameterError: the name is no text or empty, `passed` is missing or not a bool, `otherwise` is no text,
            or there is no such rule or source.
    """
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"A check needs a name: the fact, as a short sentence, not {quoted(name)}.")
    if not isinstance(passed, bool):
        raise ParameterError(f"check({quoted(name)}, ...) needs True or False, not {quoted(passed)}: compare first.")
    if not isinstance(otherwise, str):
        raise ParameterError(f"otherwise is what a reader should do, as text, not {quoted(otherwise)}.")
    for word in source.split():
        choice("source", word, Basis)
    return Check(name, passed, None if rule is None else look_up(rule).id, otherwise, source)


def expect(error_type: type[Exception], call: Callable[..., object], *args: Any, **kwargs: Any) -> Shown | Check:
    """Run a call that is expected to fail, and return its error to be shown.

    A runner stops at a raised error, so a lesson shows it instead.

    Returns:
        The error; or a failed check when nothing, or another kind of error, was raised.

    Raises:
        ParameterError: `error_type` is no class of errors, or `call` is no function.
    """
    if not (isinstance(error_type, type) and issubclass(error_type, Exception)):
        raise ParameterError(f"expect needs a class of errors first, such as ParameterError, not {quoted(error_type)}.")
    if not callable(call):
        raise ParameterError(
            f"expect calls the function itself, and was given {quoted(call)}. "
            "Write expect(ParameterError, walk, device=7), not expect(ParameterError, walk(device=7))."
        )
    try:
        call(*args, **kwargs)
    except error_type as error:
        return Shown(error)
    except Exception as error:  # noqa: BLE001  # whatever came instead is the finding
        return _unexpected(error_type, f"{type(error).__name__} was raised instead: {error}")
    return _unexpected(error_type, "nothing was raised")


def _unexpected(error_type: type[Exception], what: str) -> Check:
    return Check(f"raises {error_type.__name__}", passed=False, otherwise=what)
