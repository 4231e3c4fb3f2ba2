"""Runs notebooks with papermill, two at a time, and writes the report of how each ended: page, JSON, JUnit, Markdown.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup
from tqdm import tqdm

from workbook.base.files import ScratchFolder, explain_failure, write_all, write_whole
from workbook.base.rules import sentence
from workbook.base.secrecy import KEY_VARIABLE, Secrets
from workbook.base.terminal import say, visible
from workbook.errors import ChecksFailedError, ConfigurationError, ExitCode, ParameterError
from workbook.lessons.exercises.model import EXERCISE_MIMETYPE
from workbook.lessons.lesson import CHECK_MIMETYPE
from workbook.lessons.pages import scrub_notebook
from workbook.lessons.session import Parameters, Session, Source
from workbook.tools.commands import make_folder
from workbook.tools.commands.runner import Kernels, cell_named, harmless, notebooks_dir, one_line, require_code, select
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import to_junit
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.views.templates import fill, page

# What a run of notebooks leaves behind: a page for people, Markdown for a CI's summary, and two files for programs.


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
class Failure:
    """One reason why a notebook failed, as its reader should see it.

    Attributes:
        what: the check that failed, or what happened.
        rule: of the check, if it has one.
        code: of the cell.
        picture: the HTML of the last thing that the notebook showed until then; empty when it showed none.
    """

    what: str
    rule: str | None = None
    code: str = ""
    picture: str = ""


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
        failures: why it failed, in the order of the notebook.
    """

    name: str
    outcome: RunOutcome
    seconds: float
    checks: tuple[CheckResult, ...] = ()
    exercises: Mapping[str, str] = field(default_factory=dict)
    written: bool = False
    failures: tuple[Failure, ...] = ()

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
        again: the options that repeat it for one notebook.
    """

    runs: tuple[NotebookRun, ...]
    parameters: Mapping[str, Any]
    seconds: float
    interrupted: bool = False
    again: str = ""

    @property
    def exit_code(self) -> ExitCode:
        """What the process should return; the worst notebook decides."""
        codes = [run.outcome.exit_code for run in self.runs]
        return ExitCode.INTERRUPTED if self.interrupted else max(codes, default=ExitCode.OK)

    @property
    def rules(self) -> dict[str, dict[str, bool]]:
        """By each rule that a check shows: whether it held, by the notebook and the name of the check."""
        shown: dict[str, dict[str, bool]] = {}
        for run in self.runs:
            for check in run.checks:
                if check.rule:
                    shown.setdefault(check.rule, {})[f"{run.name}: {check.name}"] = check.passed
        return dict(sorted(shown.items()))

    @property
    def headline(self) -> str:
        """How it ended, in a sentence."""
        ended = [run.outcome.exit_code for run in self.runs]
        if not any(ended):
            checks = sum(len(run.checks) for run in self.runs)
            held = f"{checks} of {checks} checks hold" if checks else "there was no check"
            return f"No notebook failed: {len(ended)} of {len(ended)} ran to the end, and {held}."
        open_ones = ended.count(ExitCode.INTERRUPTED)
        failed = f"{len(ended) - ended.count(ExitCode.OK) - open_ones} of {len(ended)} notebooks failed"
        return f"{failed}; {open_ones} did not finish, because the run was interrupted." if open_ones else f"{failed}."

    def as_record(self) -> RunRecord:
        """The content of run.json: a case for each notebook's execution and one for each check.

        Exercises judge a learner, so they are no cases. The details:

        {"parameters": {"seed": 7}, "rules": {"A-CAN-1": {"01_activation_data: the button is shown": true}},
         "notebooks": [{"name": "01_activation_data", "status": "ok", "file": "01_activation_data.ipynb",
                        "exercises": {"01.1": "untouched"}}]}

        `status` is ok, check-failed, error, time-limit, kernel-died or interrupted.
        """
        cases: list[CaseRecord] = []
        unfinished: list[str] = []
        for run in self.runs:
            name, why, seconds = run.name, run.outcome.why, round(run.seconds, 3)
            ended = run.outcome.exit_code in (ExitCode.OK, ExitCode.FAILED)
            unfinished += [] if ended else [name]
            verdict = Verdict.PASS if ended else Verdict.FAIL
            cases.append(CaseRecord(name, verdict, group=name, why="" if ended else why, seconds=seconds))
            for check in run.checks:
                verdict = Verdict.PASS if check.passed else Verdict.FAIL
                cases.append(CaseRecord(f"{name}: {check.name}", verdict, group=name, rule=check.rule or ""))
        about = About(
            program="workbook run",
            seconds=round(self.seconds, 3),
            exit_code=self.exit_code,
            interrupted=self.interrupted,
            unfinished=tuple(unfinished),
            facts={f"parameter {name}": str(value) for name, value in sorted(self.parameters.items())},
        )
        notebooks = [
            {
                "name": run.name,
                "status": run.outcome.status,
                "file": f"{run.name}.ipynb" if run.written else None,
                "exercises": dict(run.exercises),
            }
            for run in self.runs
        ]
        details = {"parameters": dict(self.parameters), "rules": self.rules, "notebooks": notebooks}
        return RunRecord(about, tuple(cases), details)

    def _shown(self) -> dict[str, Any]:
        """What the page and the Markdown say."""
        return {
            "title": self.headline,
            "report": self,
            "failed": [run for run in self.runs if run.failures],
            "sentence": sentence,
            "harmless": lambda html: Markup(harmless(html)),  # noqa: S704  # the page's policy lets nothing in it act
        }

    def write(self, directory: Path, secrets: Secrets, summary: Path | None = None) -> None:
        """Write index.html, run.md, run.json and junit.xml, all or none of them, without the key.

        Args:
            directory: receives them.
            secrets: removes the key.
            summary: a file of the CI that the Markdown is added to.

        Raises:
            ConfigurationError: the directory or the file is missing or not writable.
        """
        markdown = fill("tools/commands/runner/run.md", **self._shown())
        record = self.as_record()
        texts = {
            "run.json": to_json(record),
            "junit.xml": to_junit(record),
            "run.md": markdown,
            "index.html": page("tools/commands/runner/run.html", **self._shown()),
        }
        with explain_failure("The report cannot be written"):
            # half a pair of surrogates, which a name may hold, is no text that a file can hold
            write_all(
                {
                    directory / name: secrets.scrub(text).encode("utf-8", "replace").decode()
                    for name, text in texts.items()
                }
            )
            if summary is not None:
                with summary.open("a", encoding="utf-8") as file:
                    file.write(secrets.scrub(markdown))


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
    facts = _left_behind(text, EXERCISE_MIMETYPE)
    return {
        str(left["id"]): str(left["state"])
        for left in facts
        if isinstance(left, dict) and {"id", "state"} <= left.keys()
    }


def _left_behind(text: str, mimetype: str) -> Iterator[Any]:
    """What the outputs of an executed notebook hold under this media type, in order."""
    for cell in json.loads(text)["cells"] if text else ():
        for output in cell.get("outputs", ()):
            if mimetype in output.get("data", {}):
                yield output["data"][mimetype]


def read_failures(text: str, outcome: RunOutcome, checks: tuple[CheckResult, ...]) -> Iterator[Failure]:
    """Why the executed notebook failed: what ended it, then each check that does not hold."""
    cells = [cell for cell in (json.loads(text)["cells"] if text else ()) if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]

    def failure(what: str, rule: str | None, at: int) -> Failure:
        pictures = [html for cell in cells[: at + 1] if (html := _picture(cell))]
        return Failure(what, rule, sources[at] if cells else "", pictures[-1] if pictures else "")

    if outcome.exit_code not in (ExitCode.OK, ExitCode.FAILED, ExitCode.INTERRUPTED):
        begun = [at for at, cell in enumerate(cells) if cell["metadata"].get("papermill", {}).get("start_time")]
        yield failure(outcome.why, None, begun[-1] if begun else 0)
    elif outcome.exit_code == ExitCode.FAILED and all(check.passed for check in checks):
        yield failure(outcome.why, None, -1)  # of a check that no cell showed
    for check in checks:
        if not check.passed:
            named = (at for at, cell in enumerate(cells) if check.name in json.dumps(cell, ensure_ascii=False))
            yield failure(check.name, check.rule, next(named, -1))


def _picture(cell: Any) -> str:
    """The HTML of the last thing that the cell showed besides verdicts; empty when it showed nothing."""
    shown = [output["data"] for output in cell["outputs"] if "text/html" in output.get("data", {})]
    verdicts = {CHECK_MIMETYPE, EXERCISE_MIMETYPE}
    return "".join(next((data["text/html"] for data in reversed(shown) if not verdicts & data.keys()), ()))


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for every notebook of one run.

    Attributes:
        report: the directory that receives the executed notebooks.
        parameters: plain values to inject where a notebook declares them.
        secrets: removes the key from what is written.
        kernels: those of all notebooks, with their time limit.
    """

    report: Path
    parameters: Mapping[str, Any]
    secrets: Secrets
    kernels: Kernels


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
        with ScratchFolder() as scratch, job.kernels.kernel() as kernel:
            executed = Path(scratch) / notebook.name
            outcome = _execute(notebook, executed, job, kernel)
            text = executed.read_text("utf-8") if executed.exists() else ""
        found = text
        text = scrub_notebook(text, job.secrets)  # before the names of checks are cut: a part of a key is not found
        checks, exercises = tuple(read_checks(text)), read_exercises(text)
        if text != found:
            checks = (*checks, CheckResult("no key in the executed notebook", passed=False))
        written = _keep(text, job.report / notebook.name)
    except (OSError, ValueError) as error:  # a full disk, a directory that became read-only
        why = getattr(error, "strerror", None) or "it is not whole"
        outcome = raised(type(error).__name__, f"the executed notebook cannot be written: {why}")
    if outcome.exit_code == ExitCode.OK and not all(check.passed for check in checks):
        outcome = RunOutcome(ExitCode.FAILED, "a check failed")
    failures = tuple(read_failures(text if written else "", outcome, checks))
    return NotebookRun(notebook.stem, outcome, time.monotonic() - begun, checks, exercises, written, failures)


def _execute(notebook: Path, executed: Path, job: Job, kernel: Mapping[str, Any]) -> RunOutcome:
    import papermill  # 1.3 s

    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    try:
        declared = declared_parameters(notebook)
        papermill.execute_notebook(
            _literal(notebook),
            _literal(executed),
            parameters={name: value for name, value in job.parameters.items() if name in declared},
            language="python",
            progress_bar=False,
            execution_timeout=job.kernels.limit,
            **kernel,
            # papermill's own `cwd` would change this whole process's directory
            resources={"metadata": {"path": str(notebook.parent)}},
        )
    except Exception as error:  # noqa: BLE001  # papermill documents none; each kind becomes an outcome
        return _outcome_of(error, job)
    # after `sys.exit(0)` in a cell papermill says that the notebook is complete
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    if any(cell["metadata"].get("papermill", {}).get("exception") for cell in cells):
        return raised("SystemExit", "a cell ended the notebook early")
    return RunOutcome(ExitCode.OK)


def _literal(path: Path) -> str:
    """The path with braces doubled: papermill would fill in parameters between single ones."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _outcome_of(error: Exception, job: Job) -> RunOutcome:
    from nbclient.exceptions import CellTimeoutError, DeadKernelError  # heavy
    from papermill.exceptions import PapermillExecutionError  # heavy

    if job.kernels.stopped:
        return RunOutcome(ExitCode.INTERRUPTED, "interrupted")
    if isinstance(error, CellTimeoutError):
        why = f"took longer than {job.kernels.limit:g} s; its kernel was killed (--time-limit allows more)"
        return RunOutcome(ExitCode.TIME_LIMIT, why)
    if isinstance(error, DeadKernelError) or "Kernel died" in str(error):
        why = "its kernel died (out of memory, or a cell ended the process)"
        return RunOutcome(ExitCode.KERNEL_DIED, why)
    # scrubbed before it is cut: half a key would not be recognised
    if isinstance(error, PapermillExecutionError):
        if error.ename == ChecksFailedError.__name__:
            return RunOutcome(ExitCode.FAILED, one_line(job.secrets.scrub(error.evalue)))
        return raised(error.ename, one_line(job.secrets.scrub(error.evalue)), job.secrets.scrub(error.source))
    return raised(type(error).__name__, one_line(job.secrets.scrub(str(error))))


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
        given: the parameters, as the command line has them.
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
        ConfigurationError: there are no notebooks with code, or the report's directory cannot be used.
    """
    directory = notebooks_dir(request.notebooks)
    chosen = select(request.names, directory)
    require_code(chosen)
    parameters = _parameters(request.given, chosen)
    if not 0 < request.limit < float("inf"):
        raise ParameterError("--time-limit must be a number of seconds above 0.")
    if request.out.resolve() == directory:
        raise ConfigurationError("--out is the notebooks' own directory; the run would overwrite them.")
    make_folder(
        request.out, "run.json", "junit.xml", "run.md", "index.html"
    )  # an old verdict must not survive a crash of this run

    secrets = Secrets.of_environment(request.environ)
    needs_key = parameters.get("source") == Source.API
    env = {name: value for name, value in os.environ.items() if needs_key or name != KEY_VARIABLE}
    job = Job(request.out.resolve(), parameters, secrets, Kernels(limit=request.limit, env=env))
    say(f"{len(chosen)} notebooks of {directory}", sys.stderr)
    begun = time.monotonic()
    ended: dict[str, NotebookRun] = {}
    interrupted = False
    with tqdm(total=len(chosen), unit="notebook", leave=False, disable=None) as bar:  # None: only on a terminal

        def done(result: NotebookRun) -> None:
            ended[result.name] = result
            bar.update()
            bar.write(visible(secrets.scrub(str(result))), file=sys.stderr)

        try:
            # the longest first: a lesson that tests a back end or an app waits for its time limits
            longest_first = sorted(chosen, key=lambda path: b"wb.conform" not in path.read_bytes())
            job.kernels.each(lambda notebook: run_notebook(notebook, job), longest_first, done)
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


def _parameters(given: Mapping[str, Any], chosen: Sequence[Path]) -> dict[str, Any]:
    """The given parameters as plain values; what every notebook would refuse is refused here, once."""
    parameters = Parameters.from_strings(given)
    values = parameters.as_papermill()
    if parameters.source is Source.API:
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
