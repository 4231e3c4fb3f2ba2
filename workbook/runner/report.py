"""What a run leaves for machines: run.json and junit.xml.

`run.json`, version 1:
    {"version": 1, "exit_code": 0, "interrupted": false, "seconds": 9.1, "parameters": {"seed": 7},
     "notebooks": [{"name": "01_activation_data", "status": "ok", "seconds": 3.2,
                    "file": "01_activation_data.ipynb", "error": null,
                    "checks": [{"name": "the button is shown", "passed": true, "rule": "A-CAN-1"}]}]}
A status is one of ok, check-failed, error, time-limit, kernel-died, interrupted; `error` is one line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from workbook.runner.files import write_whole
from workbook.runner.outcome import CheckFailed, NotebookRun, Passed, explanation, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from workbook.runner.scrub import Scrubber

RUN_FILE: Final = "run.json"
JUNIT_FILE: Final = "junit.xml"
INTERRUPTED: Final = 130
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of several notebooks.

    Attributes:
        runs: one a notebook, in the order of the notebooks.
        parameters: what was given on the command line, as plain values.
        seconds: real time of the whole.
        interrupted: Ctrl-C ended it.
    """

    runs: tuple[NotebookRun, ...]
    parameters: Mapping[str, Any]
    seconds: float
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """What the process should return; the worst notebook decides."""
        return INTERRUPTED if self.interrupted else worst(run.outcome for run in self.runs)

    def as_dict(self) -> dict[str, Any]:
        """The content of run.json."""
        return {
            "version": 1,
            "exit_code": self.exit_code,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "parameters": dict(self.parameters),
            "notebooks": [_notebook(run) for run in self.runs],
        }

    def to_junit(self) -> str:
        """One test suite a notebook: a case for its execution and one for each check."""
        suites = "".join(line for run in self.runs for line in _suite(run))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="workbook">\n{suites}</testsuites>\n'

    def write(self, directory: Path, scrubber: Scrubber) -> None:
        """Write both files, without the key.

        Raises:
            OSError: the directory is missing or not writable.
        """
        text = json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n"
        write_whole(directory / RUN_FILE, scrubber.clean(text))
        write_whole(directory / JUNIT_FILE, scrubber.clean(self.to_junit()))


def _notebook(run: NotebookRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "status": run.outcome.status,
        "seconds": round(run.seconds, 3),
        "file": f"{run.name}.ipynb" if run.written else None,
        "error": explanation(run.outcome) or None,
        "checks": [check.as_dict() for check in run.checks],
    }


def _suite(run: NotebookRun) -> Iterator[str]:
    ran = isinstance(run.outcome, Passed | CheckFailed)
    failures = sum(not check.passed for check in run.checks)
    head = {"name": run.name, "tests": len(run.checks) + 1, "failures": failures, "errors": int(not ran)}
    yield f"<testsuite{_attributes(head | {'time': f'{run.seconds:.3f}'})}>\n"
    told = "" if ran else f"<error{_attributes({'message': explanation(run.outcome)})}/>"
    yield _case(run.name, "execution", f"{run.seconds:.3f}", told)
    for check in run.checks:
        told = "" if check.passed else f"<failure{_attributes({'message': check.name})}/>"
        yield _case(run.name, f"{check.name} ({check.rule})" if check.rule else check.name, "0", told)
    yield "</testsuite>\n"


def _case(suite: str, name: str, seconds: str, inside: str) -> str:
    return f"<testcase{_attributes({'classname': suite, 'name': name, 'time': seconds})}>{inside}</testcase>\n"


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(_NOT_XML.sub('', str(value)))}" for name, value in values.items())
