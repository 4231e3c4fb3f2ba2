"""Runs notebooks with papermill, two at a time, and reports how each ended.

Exit codes; when notebooks end differently, the highest wins:
0 all is well, 1 a check failed, 2 usage or a parameter (nothing ran), 3 a notebook raised an error,
4 the time limit passed, 5 a kernel died, 130 interrupted.
"""

import json
import logging
import os
import shlex
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from workbook.base.files import read_named, write_whole
from workbook.base.secrecy import Secrets
from workbook.base.terminal import visible
from workbook.commands import make_folder
from workbook.commands.runner import notebooks_dir, one_line, select
from workbook.commands.runner.kernel import KERNEL_NAME, Fleet, Kernel, manager_class
from workbook.commands.runner.report import (
    CheckResult,
    NotebookRun,
    Report,
    RunOutcome,
    raised,
    read_checks,
    read_exercises,
    read_failures,
)
from workbook.errors import ChecksFailedError, ConfigurationError, ExitCode, ParameterError
from workbook.notebook.parameters import Parameters, Source


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
    text, written = "", False
    try:
        with TemporaryDirectory(prefix="workbook-") as scratch, job.fleet.kernel(limit=job.limit) as kernel:
            executed = Path(scratch) / notebook.name
            outcome = _execute(notebook, executed, job, kernel)
            text = executed.read_text("utf-8") if executed.exists() else ""
        checks, exercises = tuple(read_checks(text)), read_exercises(text)
        if job.secrets.found_in(text):
            checks = (*checks, CheckResult("no key in the executed notebook", passed=False))
        written = _keep(text := job.secrets.scrub(text), job.report / notebook.name)
    except OSError as error:  # a full disk, a directory that became read-only
        outcome = raised(type(error).__name__, f"the executed notebook cannot be written: {error.strerror}")
    if outcome.exit_code == ExitCode.OK and not all(check.passed for check in checks):
        outcome = RunOutcome(ExitCode.FAILED, "a check failed")
    failures = tuple(read_failures(text if written else "", outcome, checks))
    return NotebookRun(notebook.stem, outcome, time.monotonic() - begun, checks, exercises, written, failures)


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


def _keep(text: str, path: Path) -> bool:
    """Write the executed notebook, if there is one; without it, no copy of an earlier run stays either."""
    path.unlink(missing_ok=True)
    try:
        notebook = json.loads(text)
    except ValueError:  # nothing ran, or removing the key broke the file's structure
        return False
    # papermill notes where the two files were; a report says nothing about the machine
    notebook["metadata"].get("papermill", {}).update(input_path=path.name, output_path=path.name)
    write_whole(path, json.dumps(notebook, indent=1) + "\n")
    return True


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run.

    Attributes:
        names: of the notebooks; all when empty.
        given: the parameters: text from the command line, or values from a file.
        out: the report's directory; it is made when it is missing.
        notebooks: their directory; None looks in the usual places.
        limit: seconds that one notebook may take as a whole.
        environ: holds the key that must not be written, and where a CI's summary is.
    """

    names: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
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
    parameters = _parameters(request.given, chosen, directory)
    if not 0 < request.limit < float("inf"):
        raise ParameterError("--time-limit must be a number of seconds above 0.")
    if request.out.resolve() == directory:
        raise ConfigurationError("--out is the notebooks' own directory; the run would overwrite them.")
    make_folder(
        request.out, "run.json", "junit.xml", "run.md", "index.html"
    )  # an old verdict must not survive a crash of this run

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
            # the longest first: a lesson that tests a back end or an app waits for its time limits
            longest_first = sorted(chosen, key=lambda path: b"wb.conform(" not in path.read_bytes())
            job.fleet.each(lambda notebook: run_notebook(notebook, job), longest_first, done)
        except KeyboardInterrupt:
            interrupted = True
    stopped = RunOutcome(ExitCode.INTERRUPTED, "interrupted")
    runs = tuple(ended.get(path.stem, NotebookRun(path.stem, stopped, 0.0)) for path in chosen)
    report = Report(runs, parameters, time.monotonic() - begun, interrupted, _again(request))
    summary = request.environ.get("GITHUB_STEP_SUMMARY")
    report.write(job.report, secrets, Path(summary) if summary else None)
    return report


def _again(request: RunRequest) -> str:
    """The options that repeat this run for one notebook; of an absolute path they have the last name only."""
    words = [word for name, value in request.given.items() for word in ("-p", f"{name}={value}")]
    if (folder := request.notebooks) is not None:
        words += ["--notebooks", folder.name if folder.is_absolute() else str(folder)]
    words += ["--time-limit", f"{request.limit:g}"] if request.limit != RunRequest().limit else []
    return shlex.join(words)


def parameters_in(file: Path) -> dict[str, Any]:
    """The parameters in a file of TOML, JSON or YAML, by the end of its name.

    Raises:
        ConfigurationError: it cannot be read, or does not hold names with values.
    """
    from papermill.iorw import read_yaml_file  # heavy; JSON is YAML, too

    again = "-f takes a .toml, .json, .yaml or .yml file with a value for each name, such as seed = 9 in TOML."
    content = read_named(file, 1_048_576, again)
    try:
        found = tomllib.loads(content.decode()) if file.suffix == ".toml" else read_yaml_file(str(file))
    except Exception as error:  # papermill documents none
        raise ConfigurationError(f"{file.name} cannot be read: {one_line(str(error))}. {again}") from error
    if not isinstance(found, dict):
        raise ConfigurationError(f"{file.name} holds no names with values. {again}")
    return {str(name): value for name, value in found.items()}


def _parameters(given: Mapping[str, Any], chosen: Sequence[Path], directory: Path) -> dict[str, Any]:
    """The given parameters as plain values; what every notebook would refuse is refused here, once."""
    parameters = Parameters.from_strings(given)
    values = parameters.as_papermill()
    if (file := parameters.sdk_output_file) is not None:
        if not Path(file).is_file():
            raise ParameterError(f"sdk_output_file: there is no file {file!r}.")
        # a relative path starts at the current directory; the kernel's own directory is that of the notebooks
        values["sdk_output_file"] = os.path.relpath(file, directory)
    if parameters.source is Source.API:
        from workbook.notebook.session import Session  # brings the HTTP client

        Session(parameters).client.close()  # raises when the address or the key is missing or wrong
    declared: set[str] = set()
    for path in chosen if given else ():
        try:
            declared |= declared_parameters(path)
        except Exception as error:
            raise ConfigurationError(f"{path.name} cannot be read: {one_line(str(error))}") from error
    for name in sorted(set(given) - declared):
        raise ParameterError(f"None of {', '.join(path.stem for path in chosen)} has the parameter {name}.")
    return {name: value for name, value in values.items() if name in given}
