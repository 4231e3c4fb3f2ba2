"""Runs one notebook with papermill, and says how it ended."""

from __future__ import annotations

import json
import logging
import re
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from workbook.lesson import CHECK_MIMETYPE
from workbook.runner.files import write_whole
from workbook.runner.kernel import KERNEL_NAME, Fleet, Kernel, manager_class
from workbook.runner.outcome import (
    CheckFailed,
    CheckResult,
    Interrupted,
    KernelDied,
    NotebookRun,
    Outcome,
    Passed,
    Raised,
    TimedOut,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.runner.scrub import Scrubber

NO_KEY_CHECK: Final = "no key in the executed notebook"
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LONGEST_MESSAGE: Final = 300


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for every notebook of one run.

    Attributes:
        report: the directory that receives the executed notebooks.
        parameters: plain values to inject where a notebook declares them.
        limit: seconds that one notebook may take as a whole.
        scrubber: takes the key out of what is written.
        fleet: owns the kernels.
    """

    report: Path
    parameters: Mapping[str, Any]
    limit: float
    scrubber: Scrubber
    fleet: Fleet


def declared_parameters(notebook: Path) -> frozenset[str]:
    """The names that the notebook's parameters cell assigns.

    Raises:
        Exception: whatever papermill raises for a file that is no notebook.
    """
    import papermill  # noqa: PLC0415  # 1.3 s

    return frozenset(papermill.inspect_notebook(_literal(notebook)))


def run_notebook(notebook: Path, job: Job) -> NotebookRun:
    """Run one notebook; every way to end is an outcome, never an exception."""
    begun = time.monotonic()
    with TemporaryDirectory(prefix="workbook-") as scratch, job.fleet.kernel(limit=job.limit) as kernel:
        executed = Path(scratch) / notebook.name
        outcome = _outcome(notebook, executed, job, kernel)
        text = executed.read_text("utf-8") if executed.exists() else ""
    checks = tuple(read_checks(text))
    if job.scrubber.found_in(text):
        checks = (*checks, CheckResult(NO_KEY_CHECK, passed=False))
    written = _keep(job.scrubber.clean(text), job.report / notebook.name)
    if outcome == Passed() and not all(check.passed for check in checks):
        outcome = CheckFailed()
    return NotebookRun(notebook.stem, outcome, time.monotonic() - begun, checks, written)


def _outcome(notebook: Path, executed: Path, job: Job, kernel: Kernel) -> Outcome:
    try:
        _execute(notebook, executed, job, kernel)
    except Exception as error:  # noqa: BLE001  # papermill documents none; each kind becomes an outcome
        return _judge(error, kernel, job.scrubber)
    return Raised("SystemExit", "a cell ended the notebook early") if _ended_early(executed) else Passed()


def _execute(notebook: Path, executed: Path, job: Job, kernel: Kernel) -> None:
    import papermill  # noqa: PLC0415  # 1.3 s

    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    declared = declared_parameters(notebook)
    papermill.execute_notebook(
        _literal(notebook),
        _literal(executed),
        parameters={name: value for name, value in job.parameters.items() if name in declared},
        kernel_name=KERNEL_NAME,
        language="python",
        progress_bar=False,
        kernel_manager_class=manager_class(kernel),
        # papermill's own `cwd` would change this whole process's directory
        resources={"metadata": {"path": str(notebook.parent)}},
    )


def _literal(path: Path) -> str:
    """A path in which papermill finds no parameter to fill in."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _judge(error: Exception, kernel: Kernel, scrubber: Scrubber) -> Outcome:
    from nbclient.exceptions import DeadKernelError  # noqa: PLC0415  # heavy
    from papermill.exceptions import PapermillExecutionError  # noqa: PLC0415  # heavy

    if kernel.stopped:
        return Interrupted()
    if kernel.expired:
        return TimedOut(kernel.limit or 0.0)
    if isinstance(error, DeadKernelError) or "Kernel died" in str(error):
        return KernelDied()
    # cleaned before it is cut: half a key would be recognised no more
    if isinstance(error, PapermillExecutionError):
        return Raised(error.ename, one_line(scrubber.clean(error.evalue)), scrubber.clean(error.source))
    return Raised(type(error).__name__, one_line(scrubber.clean(str(error))))


def one_line(text: str) -> str:
    """The text without colours and line ends, at most 300 characters."""
    return " ".join(_ANSI.sub("", text).split())[:_LONGEST_MESSAGE]


def _ended_early(executed: Path) -> bool:
    """Whether a cell stopped the notebook although papermill calls it complete: `sys.exit(0)` does."""
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    return any(cell["metadata"].get("papermill", {}).get("exception") for cell in cells)


def read_checks(text: str) -> Iterator[CheckResult]:
    """The checks in an executed notebook's outputs; one that cannot be read counts as failed."""
    for cell in json.loads(text)["cells"] if text else ():
        for output in cell.get("outputs", ()):
            if CHECK_MIMETYPE in output.get("data", {}):
                yield _check_result(output["data"][CHECK_MIMETYPE])


def _check_result(data: Any) -> CheckResult:
    match data:
        case {"name": str(name), "passed": bool(passed), "rule": (str() | None) as rule}:
            return CheckResult(name, passed, rule)
    return CheckResult("a check that cannot be read", passed=False)


def _keep(text: str, path: Path) -> bool:
    path.unlink(missing_ok=True)
    try:
        json.loads(text)
    except ValueError:  # nothing ran, or the key was a piece of the file's own structure
        return False
    write_whole(path, text)
    return True
