"""What a lesson's cell returns to state a checked fact.

A cell that ends in `check(...)` shows one line to the reader and leaves the same fact in the output for
the runner, which decides on the exit code: nothing is raised, so the lesson goes on. The last cell of a lesson,
`check()`, sums up. In a strict lesson it raises what failed, so that every program that runs notebooks fails, too.
"""

import os
from dataclasses import dataclass, field, replace
from typing import Any, Final

from workbook.base.rules import Basis, bases
from workbook.base.rules import rule as look_up
from workbook.base.values import choice, quoted
from workbook.errors import ChecksFailedError, ParameterError
from workbook.views.html import View, join, tag

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
        sums_up: the checks that it stands for; None where it is one of its own.
    """

    name: str
    passed: bool
    rule: str | None = None
    otherwise: str = ""
    source: str = ""
    sums_up: "tuple[Check, ...] | None" = None

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
        sources = join(" (", *spans, ")") if basis else ""
        spoken = tag("span", mark, role="img", aria_label=verdict)
        return tag("p", spoken, " ", tag("b", self.name), sources, advice, style=style)

    def fact(self) -> dict[str, Any]:
        """What a runner reads of it."""
        return {"name": self.name, "passed": self.passed, "rule": self.rule, "source": self.source}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        left = self.fact() if self.sums_up is None else {"checks": [one.fact() for one in self.sums_up]}
        return View._repr_mimebundle_(self) | {CHECK_MIMETYPE: left}


@dataclass(slots=True)
class Ledger:
    """The checks of the lesson that runs in this kernel.

    Attributes:
        checks: by name; a cell that is run again replaces its own.
        strict: whether `check()` raises what failed.
    """

    checks: dict[str, Check] = field(default_factory=dict)
    strict: bool = False

    def begin(self, *, strict: bool) -> None:
        """A lesson begins: forget what was checked before."""
        self.checks.clear()
        self.strict = strict

    def note(self, check: Check) -> Check:
        """Keep this check."""
        self.checks[check.name] = check
        return check

    def sum_up(self) -> Check:
        """All checks as one.

        Raises:
            ChecksFailedError: the lesson is strict, and a check failed.
        """
        checks = tuple(self.checks.values())
        failed = [str(replace(check, otherwise="")) for check in checks if not check.passed]
        summary = f"{len(checks) - len(failed)} of {len(checks)} checks hold"
        if failed and (self.strict or os.environ.get("WORKBOOK_STRICT", "") not in {"", "0"}):
            raise ChecksFailedError(f"{summary}: {'; '.join(failed)}")
        return Check(summary, not failed, otherwise="; ".join(failed), sums_up=checks)


LEDGER: Final = Ledger()


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
    name: str | None = None,
    passed: bool | None = None,  # noqa: FBT001  # the fact itself, said beside its name
    *,
    rule: str | None = None,
    otherwise: str = "",
    source: str = "",
) -> Check:  # reads as a sentence: check("the button is shown", button.visible)
    """State a fact; a fact that does not hold raises no error. Without arguments: how many facts of this lesson hold.

    Args:
        name: the fact, as a short sentence; None sums up what the lesson stated so far.
        passed: whether it holds.
        rule: the id of the rule that it shows.
        otherwise: what a reader should do when it does not hold.
        source: where the fact is known from, if the rule alone does not say it: `assumed`, `wallet`, `sdk-b` ...

    Raises:
        ParameterError: the name is no text or empty, `passed` is missing or not a bool, `otherwise` is no text,
            or there is no such rule or source.
        ChecksFailedError: a fact does not hold, in a lesson whose parameter `strict` is True or where the environment
            has WORKBOOK_STRICT=1; only `check()` without arguments raises it.

    Example:
        >>> wb.check("the card is in the wallet", wb.session().platform_a.play().added)
        ✓ the card is in the wallet
    """
    if name is None and passed is None:
        return LEDGER.sum_up()
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"A check needs a name: the fact, as a short sentence, not {quoted(name)}.")
    if not isinstance(passed, bool):
        raise ParameterError(f"check({quoted(name)}, ...) needs True or False, not {quoted(passed)}: compare first.")
    if not isinstance(otherwise, str):
        raise ParameterError(f"otherwise is what a reader should do, as text, not {quoted(otherwise)}.")
    for word in source.split():
        choice("source", word, Basis)
    return LEDGER.note(Check(name, passed, None if rule is None else look_up(rule).id, otherwise, source))
