"""Notebooks as web pages that need nothing: no kernel, no network, no other file.

A page shows what is stored: the words, the code, and each output's snapshot. The runs that are stored beside the
outputs can be played, scrubbed and compared on it. nbconvert turns cells into HTML; the page around them is ours,
because nbconvert's own pages fetch scripts from elsewhere. A content security policy in the page lets the player run
and forbids everything else, whatever an output contains.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

from workbook.base.files import explain_failure, write_whole
from workbook.base.rules import sentence
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError
from workbook.lessons.pages import RECORDING_MIMETYPE, page_of, place, players, scrub_notebook, unpack
from workbook.lessons.widgets.panels import SNAPSHOT_STYLE, WAKE
from workbook.lessons.widgets.stage import STORED_RUN
from workbook.tools.commands.runner import harmless, read_notebook, without_widgets
from workbook.views.html import RULE_ID, Markup, join, tag, trust
from workbook.views.table import COPY

TAGS = re.compile(r"<[^<>]*>")
MOST_MARKS = 20_000
"""How many marks of Markdown a text may have: the time of reading them grows with their square."""


def export(notebooks: Sequence[Path], out: Path) -> list[Path]:
    """Write each notebook as a page of its own into `out`, under its own name, and for several an index.

    Raises:
        ConfigurationError: two have the same name, a notebook cannot be read, was never run or contains the API key,
            or `out` is not writable; pages that were written before stay.
    """
    several = len(notebooks) > 1
    names = [*(path.stem for path in notebooks), *(["index"] if several else [])]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ConfigurationError(
            f"Two notebooks are called {twice[0]!r:.60}: one page would overwrite the other. Export one."
        )
    with explain_failure(f"Cannot make the directory {str(out)!r}"):
        out.mkdir(parents=True, exist_ok=True)
    secrets = Secrets.of_environment(os.environ)
    written = []
    for notebook in notebooks:
        html = page(notebook, notebooks)
        # without its tags, too: the highlighter of code may cut the key into several elements
        texts = (notebook.read_text("utf-8"), html, unescape(TAGS.sub("", html)))
        if any(scrub_notebook(text, secrets) != text for text in texts):
            raise ConfigurationError(
                f"{notebook.name} contains the API key, so its page was not written. Clear that cell or its output."
            )
        written.append(_written(out, notebook.stem, html))
    return [*written, *([_written(out, "index", index(notebooks))] if several else [])]


def _written(out: Path, name: str, html: str) -> Path:
    target = out / f"{name}.html"
    with explain_failure(f"Cannot write {str(target)!r}"):
        write_whole(target, html)
    return target


def index(notebooks: Sequence[Path]) -> str:
    """The page that leads to the others, and says what each teaches; where it does not say so, by its headings."""
    lessons = []
    for path in notebooks:
        notebook = _read(path)
        headings = (line[3:] for line in _words(notebook) if line.startswith("## ") and line != "## The story")
        shows = notebook.cells[0].metadata.get("teaches") or " · ".join(headings)
        link, number = tag("a", _title(notebook, path), href=f"{path.stem}.html"), path.stem[:2]
        lessons.append(tag("li", link, tag("p", shows), value=int(number) if number.isdecimal() else None))
    title = "The provisioning workbook"
    return _filled(title, join(tag("h1", title), tag("ol", *lessons)))


def page(path: Path, siblings: Sequence[Path] = ()) -> str:
    """One notebook as a self-contained HTML document, the same bytes on every run.

    Args:
        path: of the notebook.
        siblings: the notebooks whose pages will be beside it, in their order; its links lead to these.

    Raises:
        ConfigurationError: it cannot be read, or was never run.
    """
    notebook = _read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if code and not any(cell.outputs for cell in code):
        raise ConfigurationError(
            f"{path.name} has nothing to show: none of its cells has an output. "
            "Run it first: `workbook render`, or all cells in JupyterLab."
        )
    recordings: list[dict[str, Any]] = []
    for cell in code:
        cell.source = re.sub("(.{5000})", r"\1\n", cell.source)  # the highlighter takes the square of a line's length
        # A page cannot make a panel live, and the snapshot beside a live view says the same.
        outputs = (output for output in without_widgets(cell.outputs) if output.get("data") != {"text/plain": WAKE})
        cell.outputs = [_playable(output, recordings) for output in outputs]
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):  # folded in JupyterLab, too
            cell.cell_type = "markdown"
            cell.source = f"<details><summary>Settings</summary>\n\n```python\n{cell.source}\n```\n\n</details>"
        elif cell.cell_type == "markdown":
            # a sentence about running a cell: on a page there is none to run
            cell.source = re.sub(r"[^.\n]+\.?[ ]?", _unless_about_running, cell.source)
    notebook.metadata.pop("widgets", None)

    body = harmless(_exporter().from_notebook_node(notebook)[0])
    body = body.replace(f' onclick="{escape(COPY, quote=False)}"', "")  # the page's own script does this
    # The link that nbconvert puts behind each heading. Without it nbconvert omits the id that other links lead to.
    body = re.sub(r'<a class="anchor-link" href="[^"]*">[^<]*</a>', "", body).rstrip()
    body = re.sub(r"<code>(?=[A-Z]+(?:-[A-Z]+)*-\d+</code>)", '<code class="id">', body)  # a rule
    body = re.sub(r"<(t[dh])>((?:(?!</t[dh]>).){1,200})(?=</t)", _kept_short, body)
    pages = {sibling.name: f"{sibling.stem}.html" for sibling in siblings}
    a_link = r'<a href="(?!#|[a-z]+:)([^"#]*)(#[^"]*)?"[^<>]*>((?:(?!</?a[ >]).)*)</a>'
    body = re.sub(a_link, lambda link: _linked(link, pages), body, flags=re.DOTALL)
    above, below = (_way(path, siblings, where) for where in ("above", "below"))
    recorded = join(
        "This page is a recording. Its runs can be played, opened message by message, and compared. To choose, to "
        "write code and to do the exercises, open the notebook with ",
        tag("code", "workbook lab"),
        ".",
    )
    main = join(above, tag("p", recorded, class_="recorded"), trust(body), _rules(body), below)
    return _filled(_title(notebook, path), main, recordings)


def _kept_short(cell: re.Match[str]) -> str:
    """A cell of a table, marked where it has a few words or a pair of long ones."""
    few = re.fullmatch(r".{1,24}|\S+ \S+", TAGS.sub("", cell[2]))
    return f'<{cell[1]} class="short">{cell[2]}' if few else cell[0]


def _unless_about_running(sentence: re.Match[str]) -> str:
    return "" if "." in sentence[0] and re.search(r"Shift ?\+ ?Enter", sentence[0]) else sentence[0]


@cache
def _exporter() -> Any:
    """Makes the body of a page; kept, because it compiles its templates for its first page."""
    from jinja2 import pass_context  # heavy, as the next
    from nbconvert import HTMLExporter

    class Exporter(HTMLExporter):
        @pass_context
        def markdown2html(self, context: Any, source: str) -> str:
            if len(re.findall(r"[^\w\s+/=.,;:-]", source)) > MOST_MARKS:
                return tag("pre", source)
            return str(super().markdown2html(context, source))

    return Exporter(  # type: ignore[no-untyped-call]
        template_name="basic",
        extra_template_basedirs=[],  # by default it looks in the current folder first, and a template can run anything
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )


def _read(path: Path) -> Any:
    try:
        return read_notebook(path.read_bytes())
    except (OSError, ConfigurationError) as error:
        raise ConfigurationError(f"{path.name} is not a notebook that can be read.") from error


def _words(notebook: Any) -> list[str]:
    """The lines of its words, without the marks of emphasis and code."""
    cells = (cell.source.splitlines() for cell in notebook.cells if cell.cell_type == "markdown")
    return [line.replace("*", "").replace("`", "") for lines in cells for line in lines]


def _title(notebook: Any, path: Path) -> str:
    return next((line[2:].strip() for line in _words(notebook) if line.startswith("# ")), path.stem)


def _filled(title: str, main: Markup, recordings: Sequence[Mapping[str, Any]] = ()) -> str:
    style = Path(__file__).with_name("export.css").read_text("utf-8")
    return page_of(title, main, players(recordings) if "output_area" in main else join(), style)


def _playable(output: Any, recordings: list[dict[str, Any]]) -> Any:
    """The output without what only a notebook needs, and with a place for the player of its recording."""
    data = output.get("data", {})
    if "text/html" not in data:
        return output
    stored = str(data["text/html"])
    html = trust(stored.replace(f"<style>{SNAPSHOT_STYLE}</style>", ""))
    live = html != stored
    try:
        values = unpack(data.pop(RECORDING_MIMETYPE))
    except (LookupError, TypeError, ValueError, OSError):  # none, or of another version: the still form stays
        choose = join("To choose here, open the notebook with ", tag("code", "workbook lab"), ".")
        data["text/html"] = join(html, tag("p", choose, class_="recorded")) if live else html
        return output
    if values not in recordings:
        recordings.append(values)
    number = recordings.index(values)
    press = join(
        "A recording. To press the phone's buttons yourself, open the notebook with ", tag("code", "workbook lab"), "."
    )
    told = tag("p", press, class_="recorded") if STORED_RUN in stored else ""
    data["text/html"] = join(place(number, opened=True), told) if live else join(html, place(number))
    return output


def _linked(link: re.Match[str], pages: Mapping[str, str]) -> str:
    """A link of a notebook to a file beside it: it leads to that file's page, or is no link where there is none."""
    address = pages.get(link[1].rpartition("/")[2])
    return link[3] if address is None else f'<a href="{address}{link[2] or ""}">{link[3]}</a>'


def _way(path: Path, siblings: Sequence[Path], where: str) -> Markup:
    """The links to the page before, to all of them, and to the page after."""
    if path not in siblings or len(siblings) == 1:
        return join()
    at = siblings.index(path)
    name = {sibling: sibling.stem.replace("_", " ") for sibling in siblings}
    links = [(f"← {name[before]}", before.stem) for before in siblings[max(at - 1, 0) : at]]
    links += [("All lessons", "index"), *((f"{name[after]} →", after.stem) for after in siblings[at + 1 : at + 2])]
    return tag("nav", *(tag("a", words, href=f"{name}.html") for words, name in links), aria_label=f"Lessons, {where}")


def _rules(body: str) -> Markup:
    """The sentence of each rule that the page names, as a footnote."""
    named = sorted(set(RULE_ID.findall(TAGS.sub(" ", body))))
    rules = [(rule_id, text) for rule_id in named if (text := sentence(rule_id))]
    if not rules:
        return join()
    items = (join(tag("dt", rule_id), tag("dd", text)) for rule_id, text in rules)
    return tag("details", tag("summary", f"The {len(rules)} rules on this page"), tag("dl", *items), class_="rules")
