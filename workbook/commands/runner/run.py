"""Runs notebooks with papermill, two at a time, and reports how each ended.

Exit codes; when notebooks end differently, the highest wins:
0 all is well, 1 a check failed, 2 usage or a parameter (nothing ran), 3 a notebook raised an error,
4 the time limit passed, 5 a kernel died, 130 interrupted.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from workbook.base.files import write_whole
from workbook.base.junit import JUnitCase, JUnitSuite, junit
from workbook.base.secrecy import Secrets
from workbook.base.terminal import visible
from workbook.commands import make_folder
from workbook.commands.runner import cell_named, notebooks_dir, one_line, select
from workbook.commands.runner.kernel import KERNEL_NAME, Fleet, Kernel, manager_class
from workbook.errors import ChecksFailedError, ConfigurationError, ExitCode, ParameterError
from workbook.notebook.exercises.model import EXERCISE_MIMETYPE
from workbook.notebook.lesson import CHECK_MIMETYPE
from workbook.notebook.parameters import Parameters, Source


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a notebook's run ended.

    Attributes:
        exit_code: what the process returns for it.
        why: what happened, in one line; empty when all is well.
    """

    exit_code: ExitCode
    why: str = ""

    @property
    def status(self) -> str:
        """Its word in a report: ok, check-failed, error, time-limit, kernel-died or interrupted."""
        if self.exit_code == ExitCode.FAILED:
            return "check-failed"
        return self.exit_code.name.lower().replace("_", "-")


def raised(error: str, message: str, source: str = "") -> RunOutcome:
    """A cell raised an error, and the cells after it did not run.

    Args:
        error: the error's class name.
        message: its message, one line.
        source: the cell's code; empty when no cell was at fault.
    """
    where = f" in {cell_named(source)}" if source.strip() else ""
    return RunOutcome(ExitCode.ERROR, f"{error}{where}: {message}")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check as the executed notebook holds it."""

    name: str
    passed: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class NotebookRun:
    """One notebook's run.

    Attributes:
        name: the notebook's file name without its suffix.
        outcome: how it ended.
        seconds: real time from before its kernel started until after it ended.
        checks: in the order of the notebook.
        exercises: how far each is, by id: `untouched`, `wrong` or `done`. They never decide the exit code.
        written: whether the report holds the executed notebook.
    """

    name: str
    outcome: RunOutcome
    seconds: float
    checks: tuple[CheckResult, ...] = ()
    exercises: Mapping[str, str] = field(default_factory=dict)
    written: bool = False

    def __str__(self) -> str:
        passed = sum(check.passed for check in self.checks)
        failed = "; ".join(check.name for check in self.checks if not check.passed)
        why = ": ".join(filter(None, (self.outcome.why, failed)))
        line = f"{self.outcome.status:<12} {self.name}  {self.seconds:.1f} s  {passed}/{len(self.checks)} checks"
        if self.exercises:
            line += f"  {[*self.exercises.values()].count('done')}/{len(self.exercises)} exercises"
        return f"{line}  {why}".rstrip()


@dataclass(frozen=True, slots=True)
class Report:
    """One run of several notebooks.

    Attributes:
        runs: one for each notebook, in their order.
        parameters: the given parameters, as plain values.
        seconds: real time of the whole.
        interrupted: Ctrl-C ended it.
    """

    runs: tuple[NotebookRun, ...]
    parameters: Mapping[str, Any]
    seconds: float
    interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """What the process should return; the worst notebook decides."""
        codes = [run.outcome.exit_code for run in self.runs]
        return ExitCode.INTERRUPTED if self.interrupted else max(codes, default=ExitCode.OK)

    def as_dict(self) -> dict[str, Any]:
        """The content of run.json, version 1.

        {"version": 1, "exit_code": 0, "interrupted": false, "seconds": 9.1, "parameters": {"seed": 7},
         "notebooks": [{"name": "01_activation_data", "status": "ok", "seconds": 3.2,
                        "file": "01_activation_data.ipynb", "error": null,
                        "checks": [{"name": "the button is shown", "passed": true, "rule": "A-CAN-1"}],
                        "exercises": {"01.1": "untouched"}}]}

        `status` is ok, check-failed, error, time-limit, kernel-died or interrupted; `error` is one line or null.
        """
        return {
            "version": 1,
            "exit_code": self.exit_code,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "parameters": dict(self.parameters),
            "notebooks": [
                {
                    "name": run.name,
                    "status": run.outcome.status,
                    "seconds": round(run.seconds, 3),
                    "file": f"{run.name}.ipynb" if run.written else None,
                    "error": run.outcome.why or None,
                    "checks": [asdict(check) for check in run.checks],
                    "exercises": dict(run.exercises),
                }
                for run in self.runs
            ],
        }

    def to_junit(self) -> str:
        """One test suite for each notebook: a case for its execution, one for each check and one for each exercise.

        An exercise that is not done is skipped, because it decides no exit code.
        """
        not_done = {"untouched": "not begun", "wrong": "answered, and not right yet"}
        suites = []
        for run in self.runs:
            ended = run.outcome.exit_code in (ExitCode.OK, ExitCode.FAILED)
            cases = [JUnitCase("execution", run.name, run.seconds, None if ended else "error", run.outcome.why)]
            for check in run.checks:
                name = f"{check.name} ({check.rule})" if check.rule else check.name
                cases.append(JUnitCase(name, run.name, 0.0, None if check.passed else "failure", check.name))
            for name, state in run.exercises.items():
                why = not_done.get(state, "it cannot be read")
                cases.append(JUnitCase(f"exercise {name}", run.name, 0.0, None if state == "done" else "skipped", why))
            suites.append(JUnitSuite(run.name, tuple(cases), run.seconds))
        return junit("workbook", suites, self.seconds)

    def write(self, directory: Path, secrets: Secrets) -> None:
        """Write run.json and junit.xml, without the key.

        Raises:
            ConfigurationError: the directory is missing or not writable.
        """
        text = json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n"
        try:
            write_whole(directory / "run.json", secrets.scrub(text))
            write_whole(directory / "junit.xml", secrets.scrub(self.to_junit()))
        except OSError as error:
            raise ConfigurationError(f"The report cannot be written: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for every notebook of one run.

    Attributes:
        report: the directory that receives the executed notebooks.
        parameters: plain values to inject where a notebook declares them.
        limit: seconds that one notebook may take as a whole.
        secrets: removes the key from what is written.
        fleet: owns the kernels.
    """

    report: Path
    parameters: Mapping[str, Any]
    limit: float
    secrets: Secrets
    fleet: Fleet


def declared_parameters(notebook: Path) -> frozenset[str]:
    """The names that the notebook's parameters cell assigns.

    Raises:
        Exception: whatever papermill raises for a file that is no notebook.
    """
    import papermill  # 1.3 s

    return frozenset(papermill.inspect_notebook(_literal(notebook)))


def run_notebook(notebook: Path, job: Job) -> NotebookRun:
    """Run one notebook; every way to end is an outcome, never an exception."""
    begun = time.monotonic()
    checks: tuple[CheckResult, ...] = ()
    exercises: Mapping[str, str] = {}
    written = False
    try:
        with TemporaryDirectory(prefix="workbook-") as scratch, job.fleet.kernel(limit=job.limit) as kernel:
            executed = Path(scratch) / notebook.name
            outcome = _execute(notebook, executed, job, kernel)
            text = executed.read_text("utf-8") if executed.exists() else ""
        checks, exercises = tuple(read_checks(text)), read_exercises(text)
        if job.secrets.found_in(text):
            checks = (*checks, CheckResult("no key in the executed notebook", passed=False))
        written = _keep(job.secrets.scrub(text), job.report / notebook.name)
    except OSError as error:  # a full disk, a directory that became read-only
        outcome = raised(type(error).__name__, f"the executed notebook cannot be written: {error.strerror}")
    if outcome.exit_code == ExitCode.OK and not all(check.passed for check in checks):
        outcome = RunOutcome(ExitCode.FAILED, "a check failed")
    return NotebookRun(notebook.stem, outcome, time.monotonic() - begun, checks, exercises, written)


def _execute(notebook: Path, executed: Path, job: Job, kernel: Kernel) -> RunOutcome:
    import papermill  # 1.3 s

    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    try:
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
    except Exception as error:  # noqa: BLE001  # papermill documents none; each kind becomes an outcome
        return _outcome_of(error, kernel, job.secrets)
    # after `sys.exit(0)` in a cell papermill says that the notebook is complete
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    if any(cell["metadata"].get("papermill", {}).get("exception") for cell in cells):
        return raised("SystemExit", "a cell ended the notebook early")
    return RunOutcome(ExitCode.OK)


def _literal(path: Path) -> str:
    """The path with braces doubled: papermill would fill in parameters between single ones."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _outcome_of(error: Exception, kernel: Kernel, secrets: Secrets) -> RunOutcome:
    from nbclient.exceptions import DeadKernelError  # heavy
    from papermill.exceptions import PapermillExecutionError  # heavy

    if kernel.stopped:
        return RunOutcome(ExitCode.INTERRUPTED, "interrupted")
    if kernel.expired:
        why = f"took longer than {kernel.limit or 0.0:g} s; its kernel was killed (--time-limit allows more)"
        return RunOutcome(ExitCode.TIME_LIMIT, why)
    if isinstance(error, DeadKernelError) or "Kernel died" in str(error):
        why = "its kernel died (out of memory, or a cell ended the process)"
        return RunOutcome(ExitCode.KERNEL_DIED, why)
    # scrubbed before it is cut: half a key would not be recognised
    if isinstance(error, PapermillExecutionError):
        if error.ename == ChecksFailedError.__name__:
            return RunOutcome(ExitCode.FAILED, one_line(secrets.scrub(error.evalue)))
        return raised(error.ename, one_line(secrets.scrub(error.evalue)), secrets.scrub(error.source))
    return raised(type(error).__name__, one_line(secrets.scrub(str(error))))


def read_checks(text: str) -> Iterator[CheckResult]:
    """The checks in an executed notebook's outputs, each name once; one that cannot be read counts as failed.

    The last cell of a lesson leaves those that no cell showed, too.
    """
    shown: set[str] = set()
    for left in _left_behind(text, CHECK_MIMETYPE):
        of_lesson = left.get("checks") if isinstance(left, dict) else None
        for check in map(_check_of, [left] if of_lesson is None else of_lesson):
            if of_lesson is None or check.name not in shown:
                yield check
            shown.add(check.name)


def _check_of(fact: Any) -> CheckResult:
    match fact:
        case {"name": str(name), "passed": bool(passed), "rule": (str() | None) as rule}:
            return CheckResult(name, passed, rule)
        case _:
            return CheckResult("a check that cannot be read", passed=False)


def read_exercises(text: str) -> dict[str, str]:
    """How far each exercise is in an executed notebook, by id."""
    found = _left_behind(text, EXERCISE_MIMETYPE)
    return {
        str(left["id"]): str(left["state"])
        for left in found
        if isinstance(left, dict) and {"id", "state"} <= left.keys()
    }


def _left_behind(text: str, mimetype: str) -> Iterator[Any]:
    """What the outputs of an executed notebook hold under this media type, in order."""
    for cell in json.loads(text)["cells"] if text else ():
        for output in cell.get("outputs", ()):
            if mimetype in output.get("data", {}):
                yield output["data"][mimetype]


def _keep(text: str, path: Path) -> bool:
    """Write the executed notebook, if there is one; without it, no copy of an earlier run stays either."""
    path.unlink(missing_ok=True)
    try:
        json.loads(text)
    except ValueError:  # nothing ran, or removing the key broke the file's structure
        return False
    write_whole(path, text)
    return True


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run.

    Attributes:
        names: of the notebooks; all when empty.
        given: the parameters from the command line, as text.
        out: the report's directory; it is made when it is missing.
        notebooks: their directory; None looks in the usual places.
        limit: seconds that one notebook may take as a whole.
        environ: holds the key that must not be written.
    """

    names: Sequence[str] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    out: Path = Path("report")
    notebooks: Path | None = None
    limit: float = 300.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


def run(request: RunRequest) -> Report:
    """Run the notebooks and write the report; Ctrl-C ends the kernels and leaves a partial report.

    Raises:
        ParameterError: a name or a parameter is wrong; nothing ran.
        ConfigurationError: there are no notebooks, or the report's directory cannot be used.
    """
    directory = notebooks_dir(request.notebooks)
    chosen = select(request.names, directory)
    parameters = _parameters(request.given, chosen)
    if not 0 < request.limit < float("inf"):
        raise ParameterError("--time-limit must be a number of seconds above 0.")
    if request.out.resolve() == directory:
        raise ConfigurationError("--out is the notebooks' own directory; the run would overwrite them.")
    make_folder(request.out, "run.json", "junit.xml")  # an old verdict must not survive a crash of this run

    secrets = Secrets.of_environment(request.environ)
    job = Job(request.out.resolve(), parameters, request.limit, secrets, Fleet())
    begun = time.monotonic()
    ended: dict[str, NotebookRun] = {}
    interrupted = False
    with tqdm(total=len(chosen), unit="notebook", leave=False, disable=None) as bar:  # None: only on a terminal

        def done(result: NotebookRun) -> None:
            ended[result.name] = result
            bar.update()
            bar.write(visible(secrets.scrub(str(result)), "\n"), file=sys.stderr)

        try:
            job.fleet.each(lambda notebook: run_notebook(notebook, job), chosen, done)
        except KeyboardInterrupt:
            interrupted = True
    stopped = RunOutcome(ExitCode.INTERRUPTED, "interrupted")
    runs = tuple(ended.get(path.stem, NotebookRun(path.stem, stopped, 0.0)) for path in chosen)
    report = Report(runs, parameters, time.monotonic() - begun, interrupted)
    report.write(job.report, secrets)
    return report


def _parameters(texts: Mapping[str, str], chosen: Sequence[Path]) -> dict[str, Any]:
    """The given parameters as plain values; what every notebook would refuse is refused here, once."""
    parameters = Parameters.from_strings(texts)
    values = parameters.as_papermill()
    if (file := texts.get("sdk_output_file")) is not None:
        # a relative path starts at the current directory; the kernel's own directory is that of the notebooks
        path = Path(file).absolute()
        if not path.is_file():
            raise ParameterError(f"sdk_output_file: there is no file {file!r}.")
        values["sdk_output_file"] = str(path)
    if parameters.source is Source.API:
        from workbook.notebook.session import Session  # brings the HTTP client

        Session(parameters).client.close()  # raises when the address or the key is missing or wrong
    declared: set[str] = set()
    for path in chosen if texts else ():
        try:
            declared |= declared_parameters(path)
        except Exception as error:
            raise ConfigurationError(f"{path.name} cannot be read: {one_line(str(error))}") from error
    for name in sorted(set(texts) - declared):
        raise ParameterError(f"None of {', '.join(path.stem for path in chosen)} has the parameter {name}.")
    return {name: value for name, value in values.items() if name in texts}
