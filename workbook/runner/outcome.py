"""How the run of one notebook ended, and what the exit code says about it.

Exit codes, the highest wins when notebooks end differently:
0 all is well, 1 a check failed, 2 usage or a parameter (nothing ran), 3 a notebook raised an error,
4 the time limit passed, 5 a kernel died; 130 interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never, final

from workbook.parameters import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
@dataclass(frozen=True, slots=True)
class Passed:
    """Every cell ran and every check passed."""

    status = "ok"
    exit_code = 0


@final
@dataclass(frozen=True, slots=True)
class CheckFailed:
    """Every cell ran; at least one check failed."""

    status = "check-failed"
    exit_code = 1


@final
@dataclass(frozen=True, slots=True)
class Raised:
    """A cell raised an error, and the cells after it did not run.

    Attributes:
        error: the error's class name.
        message: its message, one line.
        source: the cell's code; empty when no cell was at fault.
    """

    error: str
    message: str
    source: str = ""

    status = "error"
    exit_code = 3


@final
@dataclass(frozen=True, slots=True)
class TimedOut:
    """The notebook as a whole took longer than its limit, in seconds; its kernel was killed."""

    limit: float

    status = "time-limit"
    exit_code = 4


@final
@dataclass(frozen=True, slots=True)
class KernelDied:
    """The kernel's process ended by itself."""

    status = "kernel-died"
    exit_code = 5


@final
@dataclass(frozen=True, slots=True)
class Interrupted:
    """Somebody stopped the run before this notebook was through."""

    status = "interrupted"
    exit_code = 130


Outcome = Passed | CheckFailed | Raised | TimedOut | KernelDied | Interrupted


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check as the executed notebook holds it."""

    name: str
    passed: bool
    rule: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """This check as plain JSON values."""
        return {"name": self.name, "passed": self.passed, "rule": self.rule}


@dataclass(frozen=True, slots=True)
class NotebookRun:
    """One notebook's run.

    Attributes:
        name: the notebook's file name without its suffix.
        outcome: how it ended.
        seconds: real time from before its kernel started until after it ended.
        checks: in the order of the notebook.
        written: whether the executed notebook stands in the report.
    """

    name: str
    outcome: Outcome
    seconds: float
    checks: tuple[CheckResult, ...] = ()
    written: bool = False

    def __str__(self) -> str:
        passed = sum(check.passed for check in self.checks)
        line = f"{self.outcome.status:<12} {self.name}  {self.seconds:.1f} s  {passed}/{len(self.checks)} checks"
        told = explanation(self.outcome)
        failed = "; ".join(check.name for check in self.checks if not check.passed)
        return f"{line}  {': '.join(part for part in (told, failed) if part)}".rstrip()


def explanation(outcome: Outcome) -> str:
    """What happened, in one line; empty when all is well."""
    match outcome:
        case Passed():
            return ""
        case CheckFailed():
            return "a check failed"
        case Raised(error, message, source):
            return f"{error}{f' in {beginning(source)}' if source.strip() else ''}: {message}"
        case TimedOut(limit):
            return f"took longer than {limit:g} s; its kernel was killed (--time-limit allows more)"
        case KernelDied():
            return "its kernel died (out of memory, or a cell ended the process)"
        case Interrupted():
            return "interrupted"
    assert_never(outcome)


def beginning(source: str) -> str:
    """The cell with this code, told by its first line: numbers shift where papermill puts a cell in."""
    lines = source.strip().splitlines() or [""]
    return f"the cell that begins {quoted(lines[0])}"


def worst(outcomes: Iterable[Outcome]) -> int:
    """The exit code of a run: the highest of its notebooks'."""
    return max((outcome.exit_code for outcome in outcomes), default=0)
