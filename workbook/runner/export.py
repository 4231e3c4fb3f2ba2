"""Notebooks as web pages that need nothing: no kernel, no network, no script.

What a page shows is what is stored: the words, the code, and each output's snapshot. nbconvert turns cells into HTML;
the page around them is ours, because nbconvert's own pages fetch scripts from elsewhere. A content security policy in
the page itself forbids it to load or run anything, whatever stands in an output.
"""

from __future__ import annotations

import os
from collections import Counter
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from workbook.errors import ConfigurationError
from workbook.runner.files import write_whole
from workbook.runner.notebook import read, without_widgets
from workbook.runner.scrub import Scrubber
from workbook.widgets.live import STYLE, WAKE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The page loads nothing, runs nothing and sends nothing; pictures travel inside it."""

NO_OUTPUTS: Final = "None of its cells has an output. Run it first: `workbook render`, or all cells in JupyterLab."


def export(notebooks: Sequence[Path], out: Path) -> list[Path]:
    """Write each notebook as a page of its own into `out`, under its own name.

    Raises:
        ConfigurationError: two have the same name, a notebook cannot be read or was never run, the API key stands in
            one, or `out` is not writable; pages that were written before stay.
    """
    twice = [name for name, count in Counter(path.stem for path in notebooks).items() if count > 1]
    if twice:
        raise ConfigurationError(
            f"Two notebooks are called {twice[0]!r:.60}: one page would hide the other. Export one."
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot make the directory {str(out)!r}: {error.strerror}.") from error
    return [_written(path, out / f"{path.stem}.html") for path in notebooks]


def _written(notebook: Path, target: Path) -> Path:
    html = page(notebook)
    if Scrubber.of_environment(os.environ).found_in(html):
        raise ConfigurationError(f"The API key stands in {notebook.name}; its page was not written. Clear that output.")
    try:
        write_whole(target, html)
    except OSError as error:
        raise ConfigurationError(f"Cannot write {str(target)!r}: {error.strerror}.") from error
    return target


def page(notebook: Path) -> str:
    """One notebook as a self-contained HTML document, the same bytes on every run.

    Raises:
        ConfigurationError: it cannot be read, or was never run.
    """
    cells = _read(notebook)
    return _PAGE.format(
        policy=POLICY, title=escape(_title(cells, notebook.stem)), style=_style(), cells=_cells(cells).rstrip()
    )


def _read(path: Path) -> Any:
    """The notebook without live views: the snapshot beside each says the same."""
    try:
        notebook = read(path.read_bytes())
    except (OSError, ConfigurationError) as error:
        raise ConfigurationError(f"{path.name} is not a notebook that can be read.") from error
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if code and not any(cell.outputs for cell in code):
        raise ConfigurationError(f"{path.name} has nothing to show. {NO_OUTPUTS}")
    for cell in code:
        cell.outputs = [_still(output) for output in without_widgets(cell.outputs) if not _wakes(output)]
    notebook.metadata.pop("widgets", None)
    return notebook


def _wakes(output: Any) -> bool:
    """Whether it says how to bring a panel to life: on a page there is no way."""
    return bool(output.get("data", {}) == {"text/plain": WAKE})


def _still(output: Any) -> Any:
    """The output without the style that lets a snapshot make room for its panel."""
    if "text/html" in output.get("data", {}):
        output.data["text/html"] = output.data["text/html"].replace(f"<style>{STYLE}</style>", "")
    return output


def _title(notebook: Any, otherwise: str) -> str:
    """The first heading."""
    lines = (line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), otherwise)


def _cells(notebook: Any) -> str:
    from nbconvert import HTMLExporter  # noqa: PLC0415  # heavy

    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True, exclude_anchor_links=True
    )
    body: str = exporter.from_notebook_node(notebook)[0]
    return body


def _style() -> str:
    return files("workbook.runner").joinpath("export.css").read_text(encoding="utf-8")


_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{cells}
</main>
</body>
</html>
"""
