"""Executes notebooks in place and stores their outputs, the same bytes on every run."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbook.base.children import child_environment
from workbook.base.files import write_whole
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.editions import EDITION, Edition, exercise_cells, fill_in
from workbook.lessons.exercises.model import EXERCISE_MIMETYPE, ExerciseState
from workbook.lessons.pages import scrub_notebook
from workbook.tools.commands.runner import KERNEL_NAME, Kernels, cell_named, one_line, read_notebook, without_widgets


@dataclass(frozen=True, slots=True)
class Rendered:
    """One notebook's rendering.

    Attributes:
        path: of the notebook.
        written: the stored bytes differed from what a run gives, and are replaced.
        error: why there is no rendering, in one line; None when there is one.
    """

    path: Path
    written: bool = False
    error: str | None = None

    def __str__(self) -> str:
        if self.error:
            return f"error    {self.path.stem}  {self.error}"
        return f"{'written' if self.written else 'same':<8} {self.path.stem}"


def render(
    notebooks: Sequence[Path], *, limit: float, done: Callable[[Rendered], None] = lambda _: None
) -> tuple[Rendered, ...]:
    """Execute these notebooks, two at once, and store their outputs.

    Args:
        notebooks: what to execute; the order of the result.
        limit: seconds that one notebook may take as a whole.
        done: called on this thread as each one ends.
    """
    kernels = Kernels(limit=limit, env=child_environment() | {"PYTHONHASHSEED": "0"})  # the same hashes every time
    ended: dict[Path, Rendered] = {}

    def render_one(path: Path) -> Rendered:
        try:
            stored = path.read_bytes()
            text = rendered_text(stored, path.parent, kernels)
            changed = text.encode() != stored
            if changed and path.read_bytes() != stored:
                return Rendered(path, error="it was edited while it ran, so nothing was written. Render it again.")
            if changed:
                write_whole(path, text)
        except ConfigurationError as error:
            return Rendered(path, error=str(error))
        except OSError as error:
            return Rendered(path, error=f"cannot be read or written: {error.strerror}")
        return Rendered(path, written=changed)

    def keep(result: Rendered) -> None:
        ended[result.path] = result
        done(result)

    kernels.each(render_one, notebooks, keep)
    return tuple(ended[path] for path in notebooks)


def rendered_text(stored: bytes, directory: Path, kernels: Kernels) -> str:
    """The notebook as JSON after a run in `directory`; the same notebook always gives the same bytes.

    The workbook's own lessons get the cells of their exercises, and are run once more with the solutions, whose outputs
    are not stored. A copy for somebody (`workbook new`) is run as it is.

    Raises:
        ConfigurationError: it is no notebook, a cell raised, the limit passed, the kernel died, an untouched exercise
            does not show *not yet*, or a solution does not show *done*.
    """
    import nbformat  # 0.8 s

    notebook = read_notebook(stored)
    edition = notebook.metadata.get(EDITION)
    if edition is None:
        notebook = nbformat.from_dict(fill_in(notebook))  # type: ignore[no-untyped-call]
    _execute(notebook, directory, kernels)
    if edition != Edition.LEARNER:
        _prove(notebook, ExerciseState.UNTOUCHED if edition is None else ExerciseState.DONE)
    if edition is None and exercise_cells(notebook):
        solved = nbformat.from_dict(fill_in(notebook, Edition.SOLVED))  # type: ignore[no-untyped-call]
        _execute(solved, directory, kernels)
        _prove(solved, ExerciseState.DONE)
    text: str = nbformat.writes(settled(notebook))  # type: ignore[no-untyped-call]
    if scrub_notebook(text, Secrets.of_environment(os.environ)) != text:
        raise ConfigurationError("the notebook would contain the API key, so nothing was written.")
    return text.rstrip("\n") + "\n"


def _execute(notebook: Any, directory: Path, kernels: Kernels) -> None:
    """Run the notebook's cells in place.

    Raises:
        ConfigurationError: a cell raised, the limit passed or the kernel died.
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError  # heavy

    options = {"record_timing": False, "store_widget_state": False, "coalesce_streams": True}
    try:
        kernels.execute(notebook, resources={"metadata": {"path": str(directory)}}, **options)
    except CellExecutionError as error:
        failed = [
            cell.source
            for cell in notebook.cells
            if cell.cell_type == "code" and any(output.output_type == "error" for output in cell.outputs)
        ]
        cell = cell_named(failed[-1] if failed else "")
        raise ConfigurationError(f"{error.ename} in {cell}: {one_line(error.evalue)}") from error
    except CellTimeoutError as error:
        raise ConfigurationError(f"took longer than {kernels.limit:g} s") from error
    except Exception as error:  # nbclient's errors depend on where the kernel ended
        why = "interrupted" if kernels.stopped else one_line(str(error)) or type(error).__name__
        raise ConfigurationError(why) from error


def _prove(notebook: Any, expected: ExerciseState) -> None:
    """Make sure that each exercise of an executed notebook is in this state.

    Raises:
        ConfigurationError: one is not; says what it shows instead.
    """
    for cell in exercise_cells(notebook):
        shown: Any = next((output.data for output in cell.outputs if EXERCISE_MIMETYPE in output.get("data", {})), {})
        if shown.get(EXERCISE_MIMETYPE, {}).get("state") != expected:
            what = one_line(shown.get("text/plain", "")) or "no verdict at all"
            raise ConfigurationError(f"{cell.id} is not {expected.value}; it shows: {what}")


def settled(notebook: Any) -> Any:
    """The executed notebook without anything that a further run would change."""
    kept = {name: value for name, value in notebook.metadata.items() if name == EDITION}
    kernel = {"display_name": "Python 3", "language": "python", "name": KERNEL_NAME}
    settled = {"kernelspec": kernel, "language_info": {"name": "python"}} | kept
    notebook.metadata = type(notebook.metadata)(settled)
    count = 0
    for cell in notebook.cells:
        for name in ("execution", "papermill", "ExecuteTime", "trusted"):  # each run writes these anew
            cell.metadata.pop(name, None)
        if cell.cell_type != "code":
            continue
        ran = bool(cell.source.strip())
        count += ran
        cell.execution_count = count if ran else None
        cell.outputs = list(without_widgets(cell.outputs)) if ran else []
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
    return notebook
