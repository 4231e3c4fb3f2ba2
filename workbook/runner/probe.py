"""Starts one kernel, to see whether kernels start."""

from __future__ import annotations

from typing import Final

from workbook.runner.kernel import KERNEL_NAME, Fleet, manager_class, no_late_cleanup

_LIMIT: Final = 60.0  # seconds


def one_plus_one() -> str:
    """What a fresh kernel says that 1 + 1 is.

    Raises:
        Exception: whatever kept the kernel from starting or answering.
    """
    answers: list[str] = []
    fleet = Fleet()
    fleet.each(lambda source: _value(source, fleet), ["1 + 1"], answers.append)
    return answers[0]


def _value(source: str, fleet: Fleet) -> str:
    from nbclient import NotebookClient  # noqa: PLC0415  # heavy
    from nbformat.v4 import new_code_cell, new_notebook  # noqa: PLC0415

    cell = new_code_cell(source)  # type: ignore[no-untyped-call]
    notebook = new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    with fleet.kernel(limit=_LIMIT) as kernel:
        client = NotebookClient(notebook, kernel_name=KERNEL_NAME, kernel_manager_class=manager_class(kernel))
        with no_late_cleanup(client):
            client.execute()
    return str(notebook.cells[0].outputs[0].data["text/plain"])
