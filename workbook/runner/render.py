"""Executes notebooks in place and stores their outputs, the same bytes on every run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from workbook.errors import ConfigurationError
from workbook.runner.execute import one_line
from workbook.runner.files import write_whole
from workbook.runner.kernel import KERNEL_NAME, Fleet, manager_class, no_late_cleanup
from workbook.runner.notebook import read, without_widgets
from workbook.runner.outcome import beginning
from workbook.runner.scrub import Scrubber

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from workbook.runner.kernel import Kernel

METADATA: Final = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": KERNEL_NAME},
    "language_info": {"name": "python"},
}
_PER_RUN: Final = frozenset({"execution", "papermill", "ExecuteTime", "trusted"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """One notebook's rendering.

    Attributes:
        path: of the notebook.
        changed: the stored bytes differ from what a run gives now.
        error: why there is no rendering, in one line; None when there is one.
    """

    path: Path
    changed: bool = False
    error: str | None = None

    def __str__(self) -> str:
        verdict = "error" if self.error else "differs" if self.changed else "same"
        return f"{verdict:<8} {self.path.stem}  {self.error or ''}".rstrip()


def render(
    notebooks: Sequence[Path], *, write: bool, limit: float, done: Callable[[Rendered], None] = lambda _: None
) -> tuple[Rendered, ...]:
    """Execute these notebooks, two at once, and store (or with `write=False` only compare) their outputs.

    Args:
        notebooks: what to execute; the order of the result.
        write: store what differs.
        limit: seconds that one notebook may take as a whole.
        done: called here as each one ends.
    """
    fleet = Fleet()
    ended: dict[Path, Rendered] = {}

    def keep(result: Rendered) -> None:
        ended[result.path] = result
        done(result)

    fleet.each(lambda path: _render_one(path, fleet, write=write, limit=limit), notebooks, keep)
    return tuple(ended[path] for path in notebooks)


def exit_code(rendered: Sequence[Rendered], *, write: bool) -> int:
    """3 when a notebook failed, 1 when only comparing and one differs, else 0."""
    if any(each.error for each in rendered):
        return 3
    return int(not write and any(each.changed for each in rendered))


def _render_one(path: Path, fleet: Fleet, *, write: bool, limit: float) -> Rendered:
    stored = path.read_bytes()
    try:
        text = rendered_text(stored, path.parent, fleet, limit)
    except ConfigurationError as error:
        return Rendered(path, error=str(error))
    changed = text.encode() != stored
    if changed and write:
        write_whole(path, text)
    return Rendered(path, changed)


def rendered_text(stored: bytes, directory: Path, fleet: Fleet, limit: float) -> str:
    """The notebook's text after a run in `directory`, in its one spelling.

    Raises:
        ConfigurationError: it is no notebook, a cell raised, the limit passed or the kernel died.
    """
    import nbformat  # noqa: PLC0415  # 0.8 s

    notebook = read(stored)
    _execute(notebook, directory, fleet, limit)
    text: str = nbformat.writes(settled(notebook))  # type: ignore[no-untyped-call]
    if Scrubber.of_environment(os.environ).found_in(text):
        raise ConfigurationError("the API key stands in the notebook; nothing was written.")
    return text.rstrip("\n") + "\n"


def _execute(notebook: Any, directory: Path, fleet: Fleet, limit: float) -> None:
    from nbclient import NotebookClient  # noqa: PLC0415  # heavy
    from nbclient.exceptions import CellExecutionError  # noqa: PLC0415

    with fleet.kernel(limit=limit, env=clean_environment(os.environ)) as kernel:
        client = NotebookClient(
            notebook,
            kernel_name=KERNEL_NAME,
            kernel_manager_class=manager_class(kernel),
            resources={"metadata": {"path": str(directory)}},
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
        )
        try:
            with no_late_cleanup(client):
                client.execute()
        except CellExecutionError as error:
            cell = beginning(_failed_source(notebook))
            raise ConfigurationError(f"{error.ename} in {cell}: {one_line(error.evalue)}") from error
        except Exception as error:
            raise ConfigurationError(_why(error, kernel)) from error


def _failed_source(notebook: Any) -> str:
    """The code of the cell that raised: the last one with an error among its outputs."""
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    failed = [cell for cell in ran if any(output.output_type == "error" for output in cell.outputs)]
    return str(failed[-1].source) if failed else ""


def _why(error: Exception, kernel: Kernel) -> str:
    if kernel.stopped:
        return "interrupted"
    if kernel.expired:
        return f"took longer than {kernel.limit:g} s"
    return one_line(str(error)) or type(error).__name__


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a rendering: nobody's WORKBOOK_ settings, and the same hashes every time."""
    kept = {name: value for name, value in environ.items() if not name.startswith("WORKBOOK_")}
    return kept | {"PYTHONHASHSEED": "0"}


def settled(notebook: Any) -> Any:
    """The executed notebook without anything that a further run would change."""
    notebook.metadata = type(notebook.metadata)(METADATA)
    count = 0
    for cell in notebook.cells:
        for name in _PER_RUN & cell.metadata.keys():
            del cell.metadata[name]
        if cell.cell_type == "code":
            ran = bool(cell.source.strip())
            count += ran
            cell.execution_count = count if ran else None
            cell.outputs = [_output(output, count) for output in without_widgets(cell.outputs)] if ran else []
    return notebook


def _output(output: Any, count: int) -> Any:
    if "execution_count" in output:
        output.execution_count = count
    return output
