"""Runs several notebooks, two at a time, and reports."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from workbook.errors import ConfigurationError, ParameterError
from workbook.parameters import Parameters, Source
from workbook.runner.execute import Job, declared_parameters, one_line, run_notebook
from workbook.runner.kernel import Fleet
from workbook.runner.outcome import Interrupted, NotebookRun
from workbook.runner.report import JUNIT_FILE, RUN_FILE, Report
from workbook.runner.scrub import Scrubber
from workbook.runner.selection import notebooks_dir, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEFAULT_LIMIT: Final = 300.0


@dataclass(frozen=True, slots=True)
class Request:
    """What to run.

    Attributes:
        names: of the notebooks; all when empty.
        given: the parameters that somebody named, as text.
        out: the report's directory; it is made when it is missing.
        notebooks: their directory; None looks in the usual places.
        limit: seconds that one notebook may take as a whole.
        environ: where the key is looked up that must not be written.
    """

    names: Sequence[str] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    out: Path = Path("report")
    notebooks: Path | None = None
    limit: float = DEFAULT_LIMIT
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


def run(request: Request) -> Report:
    """Run the notebooks and write the report; Ctrl-C ends the kernels and leaves a partial report.

    Raises:
        ParameterError: a name or a parameter is wrong; nothing ran.
        ConfigurationError: there are no notebooks, or the report's directory cannot be used; nothing ran.
    """
    directory = notebooks_dir(request.notebooks)
    chosen = select(request.names, directory)
    parameters = _parameters(request, chosen)
    limit = _limit(request.limit)
    scrubber = Scrubber.of_environment(request.environ)
    report = _fresh(request.out, directory)
    job = Job(report, parameters, limit, scrubber, Fleet())
    return _run_all(chosen, job)


def _run_all(chosen: Sequence[Path], job: Job) -> Report:
    begun = time.monotonic()
    ended: dict[str, NotebookRun] = {}
    interrupted = False
    with Progress(len(chosen), job.scrubber) as progress:

        def done(result: NotebookRun) -> None:
            ended[result.name] = result
            progress.tell(str(result))

        try:
            job.fleet.each(lambda notebook: run_notebook(notebook, job), chosen, done)
        except KeyboardInterrupt:
            interrupted = True
    runs = tuple(ended.get(path.stem, NotebookRun(path.stem, Interrupted(), 0.0)) for path in chosen)
    report = Report(runs, job.parameters, time.monotonic() - begun, interrupted)
    report.write(job.report, job.scrubber)
    return report


def _parameters(request: Request, chosen: Sequence[Path]) -> dict[str, Any]:
    given = dict(request.given)
    file = given.get("sdk_output_file")
    parameters = Parameters.from_strings(given)
    values = parameters.as_papermill()
    if file is not None:
        # the kernel works beside the notebooks; the command line speaks of the current directory
        values["sdk_output_file"] = _existing(file)
    if parameters.source is Source.API:
        _reachable_settings(parameters)
    _somebody_listens(given, chosen)
    return {name: value for name, value in values.items() if name in given}


def _reachable_settings(parameters: Parameters) -> None:
    """Address and key are there and allowed; better said once before a run than by every notebook in it."""
    from workbook.desk import Desk  # noqa: PLC0415  # brings the HTTP client

    Desk(parameters).client.close()


def _existing(file: str) -> str:
    path = Path(file).absolute()
    if not path.is_file():
        raise ParameterError(f"sdk_output_file: there is no file {file!r}.")
    return str(path)


def _somebody_listens(given: Mapping[str, str], chosen: Sequence[Path]) -> None:
    if not given:
        return
    declared: set[str] = set()
    for path in chosen:
        try:
            declared |= declared_parameters(path)
        except Exception as error:
            raise ConfigurationError(f"{path.name} cannot be read: {one_line(str(error))}") from error
    for name in sorted(set(given) - declared):
        raise ParameterError(f"None of {', '.join(path.stem for path in chosen)} has the parameter {name}.")


def _limit(seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise ParameterError("--time-limit must be a number of seconds above 0.")
    return seconds


def _fresh(out: Path, notebooks: Path) -> Path:
    """The report's directory, without an old verdict that a crash would leave to be believed."""
    if out.resolve() == notebooks:
        raise ConfigurationError("--out is the notebooks' own directory; the run would overwrite them.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (RUN_FILE, JUNIT_FILE):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--out {str(out)!r} cannot be used: {error.strerror}.") from error
    return out.resolve()


class Progress:
    """A bar when a person watches stderr; otherwise a line a notebook."""

    def __init__(self, total: int, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._bar: Any = None
        self._total = total

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from tqdm import tqdm  # noqa: PLC0415  # only with a terminal

            self._bar = tqdm(total=self._total, unit="notebook", leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def tell(self, line: str) -> None:
        """One notebook ended."""
        write: Callable[[str], Any] = sys.stderr.write
        if self._bar is not None:
            self._bar.update()
            self._bar.clear()
        write(f"{self._scrubber.clean(line)}\n")
