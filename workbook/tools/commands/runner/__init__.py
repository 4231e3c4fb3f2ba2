"""Notebooks that are run, rendered and exported: found by name, and read whatever the age of the format."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workbook.base.files import NOTEBOOKS
from workbook.base.values import did_you_mean, quoted
from workbook.errors import ConfigurationError, ParameterError

FIRST_NOTEBOOK = "00_start_here.ipynb"


def notebooks_dir(given: Path | None = None) -> Path:
    """The directory with the notebooks: the given one, else `./notebooks` where that has any, else the workbook's own.

    Raises:
        ConfigurationError: the given one has none.
    """
    directory = given or Path("notebooks")
    if any(directory.glob("*.ipynb")):
        return directory.resolve()
    if given is not None:
        raise ConfigurationError(f"No notebooks (*.ipynb) in {str(given)!r}.")
    return NOTEBOOKS


def select(names: Sequence[str], directory: Path) -> tuple[Path, ...]:
    """The notebooks of these names, in the directory's order; all when no name is given.

    A name may leave out the suffix, the number or the words: `01`, `activation_data`, `01_activation_data`.

    Raises:
        ParameterError: a name fits no notebook, or several.
    """
    # a pipe would be waited for without end
    notebooks = sorted(path for path in directory.glob("*.ipynb") if path.is_file() and path.name[0] != ".")
    short_names = {path: _short_names(path) for path in notebooks}
    chosen = set()
    for name in names:
        plain = Path(name).name.removesuffix(".ipynb")
        matches = [path for path, short in short_names.items() if plain in short]
        if len(matches) != 1:
            what = f"{name!r} fits {len(matches)} notebooks. " if matches else f"No notebook {name[:60]!r}. "
            hint = "" if matches else _hint(plain, set().union(*short_names.values()))
            raise ParameterError(f"{what}{hint}Notebooks: {', '.join(path.stem for path in notebooks)}.")
        chosen.add(matches[0])
    return tuple(path for path in notebooks if not names or path in chosen)


def _hint(name: str, known: set[str]) -> str:
    """The nearest name. A number is near another only if they differ in leading zeros alone: 99 is not near 09."""
    if name.isdecimal():
        same = [short for short in sorted(known) if short.isdecimal() and int(short) == int(name[:9])]
        return f"Did you mean {same[0]!r}? " if same else ""
    hint = did_you_mean(name, {short for short in known if not short.isdecimal()})
    return f"{hint} " if hint.startswith("Did") else ""


def _short_names(path: Path) -> set[str]:
    number, _, words = path.stem.partition("_")
    return {path.stem, number, words} - {""} if number.isdigit() else {path.stem}


def read_notebook(stored: bytes) -> Any:
    """The notebook in nbformat's newest form, with an id on every cell.

    Raises:
        ConfigurationError: the bytes are not a notebook.
    """
    import nbformat  # 0.8 s

    try:
        # reads, because a file has the lines of a cell in a list
        notebook = nbformat.reads(json.dumps(with_ids(json.loads(stored))), as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        raise ConfigurationError(f"not a notebook: {one_line(str(error))}") from error
    return notebook


def with_ids(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with an id on every cell: its own, or `cell-01` for the first, and so on."""
    taken = {cell.get("id") for cell in notebook["cells"]}
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        name, again = f"cell-{number:02}", 1
        while not cell.get("id") and name in taken:
            again += 1
            name = f"cell-{number:02}-{again}"
        cells.append(cell if cell.get("id") else cell | {"id": name})
    return notebook | {"cells": cells, "nbformat": 4, "nbformat_minor": 5}


def without_widgets(outputs: Iterable[Any]) -> Iterator[Any]:
    """The outputs without live views, which only a kernel can show; an output that was only a view is left out."""
    for output in outputs:
        if "data" in output:
            output.data.pop("application/vnd.jupyter.widget-view+json", None)
        if "data" not in output or output.data:
            yield output


def harmless(html: str) -> str:
    """The HTML of an output for a page with our policy, which does not stop two elements.

    <meta http-equiv=refresh> would lead the reader to another site, and <link rel=dns-prefetch> ask the network for a
    name.
    """
    return re.sub("<(?=meta|link)", "&lt;", html, flags=re.IGNORECASE)


def one_line(text: str) -> str:
    """The text without colours and line ends, at most 300 characters."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split())[:300]


def cell_named(source: str) -> str:
    """Names the cell with this code by its first line: numbers shift where papermill inserts a cell."""
    lines = source.strip().splitlines() or [""]
    return f"the cell that begins {quoted(lines[0])}"
