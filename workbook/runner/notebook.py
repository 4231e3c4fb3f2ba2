"""A stored notebook: read whatever its age, and looked at without what only a kernel can bring to life."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from workbook.errors import ConfigurationError
from workbook.runner.execute import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WIDGET_VIEW: Final = "application/vnd.jupyter.widget-view+json"


def read(stored: bytes) -> Any:
    """The notebook, with an id on every cell.

    Raises:
        ConfigurationError: it is none.
    """
    import nbformat  # noqa: PLC0415  # 0.8 s

    try:
        spelled = json.dumps(with_ids(json.loads(stored)))
        return nbformat.reads(spelled, as_version=4)  # type: ignore[no-untyped-call]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"not a notebook: {one_line(str(error))}") from error


def without_widgets(outputs: Iterable[Any]) -> Iterator[Any]:
    """The outputs without live views; one that was nothing else is left out."""
    for output in outputs:
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
        if "data" not in output or output.data:
            yield output


def with_ids(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with an id on every cell: its own, or `cell-01` for the first, and so on."""
    taken = {cell.get("id") for cell in notebook["cells"]}
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        free = (name for name in _names(number) if name not in taken)
        cells.append(cell if cell.get("id") else cell | {"id": next(free)})
    return notebook | {"cells": cells, "nbformat": 4, "nbformat_minor": 5}


def _names(number: int) -> Iterator[str]:
    yield f"cell-{number:02}"
    again = 1
    while True:
        again += 1
        yield f"cell-{number:02}-{again}"
