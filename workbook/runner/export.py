"""Notebooks as web pages that need nothing: no kernel, no network, no script.

A page shows what is stored: the words, the code, and each output's snapshot. nbconvert turns cells into HTML; the page
around them is ours, because nbconvert's own pages fetch scripts from elsewhere. A content security policy in the page
forbids it to load or run anything, whatever an output contains.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from workbook.errors import ConfigurationError
from workbook.files import write_whole
from workbook.runner.notebook import read_notebook, without_widgets
from workbook.secrecy import Secrets
from workbook.views.html import POLICY
from workbook.widgets.player import STYLE, WAKE

_TAG: Final = re.compile(r"<[^>]*>")
# The policy does not stop <meta http-equiv=refresh> from leading the reader to another site.
_META: Final = re.compile("<(?=meta)", re.IGNORECASE)
_MANUAL: Final = re.compile(r'<a href="reference/[^"]*">(.*?)</a>')
_LESSON: Final = re.compile(r'(?<=href=")(\w[\w.-]*)\.ipynb(?=[#"])')


def export(notebooks: Sequence[Path], out: Path) -> list[Path]:
    """Write each notebook as a page of its own into `out`, under its own name.

    Raises:
        ConfigurationError: two have the same name, a notebook cannot be read, was never run or contains the API key,
            or `out` is not writable; pages that were written before stay.
    """
    twice = [name for name, count in Counter(path.stem for path in notebooks).items() if count > 1]
    if twice:
        raise ConfigurationError(
            f"Two notebooks are called {twice[0]!r:.60}: one page would overwrite the other. Export one."
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot make the directory {str(out)!r}: {error.strerror}.") from error
    secrets = Secrets.of_environment(os.environ)
    written = []
    for notebook in notebooks:
        html = page(notebook)
        # without its tags, too: the highlighter of code may cut the key into several elements
        texts = (notebook.read_text("utf-8"), html, unescape(_TAG.sub("", html)))
        if any(secrets.found_in(text) for text in texts):
            raise ConfigurationError(
                f"{notebook.name} contains the API key, so its page was not written. Clear that cell or its output."
            )
        target = out / f"{notebook.stem}.html"
        try:
            write_whole(target, html)
        except OSError as error:
            raise ConfigurationError(f"Cannot write {str(target)!r}: {error.strerror}.") from error
        written.append(target)
    return written


def page(path: Path) -> str:
    """One notebook as a self-contained HTML document, the same bytes on every run.

    Raises:
        ConfigurationError: it cannot be read, or was never run.
    """
    from jinja2 import Environment, PackageLoader  # with nbconvert: heavy
    from nbconvert import HTMLExporter

    try:
        notebook = read_notebook(path.read_bytes())
    except (OSError, ConfigurationError) as error:
        raise ConfigurationError(f"{path.name} is not a notebook that can be read.") from error
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if code and not any(cell.outputs for cell in code):
        raise ConfigurationError(
            f"{path.name} has nothing to show: none of its cells has an output. "
            "Run it first: `workbook render`, or all cells in JupyterLab."
        )
    for cell in code:
        # A page cannot make a panel live, and the snapshot beside a live view says the same.
        cell.outputs = [
            _without_panel(output)
            for output in without_widgets(cell.outputs)
            if output.get("data") != {"text/plain": WAKE}
        ]
    notebook.metadata.pop("widgets", None)

    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True, exclude_anchor_links=True
    )
    body: str = exporter.from_notebook_node(notebook)[0]
    words = (line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    headings = (line.lstrip("# ").strip() for line in words if line.startswith("# "))
    environment = Environment(loader=PackageLoader("workbook.runner", ""), autoescape=True, keep_trailing_newline=True)
    return environment.get_template("export.html.j2").render(
        policy=POLICY,
        title=next(headings, path.stem),
        style=files("workbook.runner").joinpath("export.css").read_text("utf-8"),
        # one lesson's page leads to the next one's; the manuals have no page
        cells=_LESSON.sub(r"\1.html", _MANUAL.sub(r"\1", _META.sub("&lt;", body))).rstrip(),
    )


def _without_panel(output: Any) -> Any:
    """The output without the style that hides a snapshot once its panel is live."""
    if "text/html" in output.get("data", {}):
        output.data["text/html"] = output.data["text/html"].replace(f"<style>{STYLE}</style>", "")
    return output
