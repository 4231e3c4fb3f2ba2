"""Every text that a person reads, line by line, with the file and the line where it stands."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROSE = [
    *("README.md", ".github/*.md", ".ci/*", "notebooks/*.ipynb", "notebooks/reference/*.md"),
    *("fixtures/**/*", "workbook/**/*.toml", "workbook/**/*.js", "workbook/**/*.html"),
]
PRINTED = ("tests/**/golden/**/*.txt", "tests/**/golden/**/*.md")
OTHER = {".svg", ".png", ".pbxproj", ".csv", ".json", ".pyc"}


MADE = ("task-", "exercise-")
"""How the ids of the cells begin that `workbook render` fills."""


def paths(*patterns):
    """The files of these patterns that hold text, from the root of the project."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(
        path for path in found if path.is_file() and path.suffix not in OTHER and path.parent.name != "__pycache__"
    )


def read(path, *, outputs=True):
    """Pairs of line and text: of a notebook its cells and their outputs in text, of Python what it holds as text.

    Without `outputs`, a notebook has only what its author writes there: no output, and no cell that `render` fills.
    """
    lines = path.read_text("utf-8").splitlines()
    if path.suffix == ".ipynb":
        return [*_of_a_notebook(lines, outputs)]
    if path.suffix == ".py" and path.is_relative_to(ROOT / "workbook"):
        return [*_of_python(ast.parse("\n".join(lines)))]
    return [*enumerate(lines, 1)]


def _of_a_notebook(lines, outputs):
    """A line of a cell or of an output is a line of the file, in quotes; a picture or a page of HTML is left out."""
    taken = ("source", "text", "text/plain") if outputs else ("source",)
    key = cell = ""
    for number, line in enumerate(lines, 1):
        text = line.strip().removesuffix(",")
        if named := re.fullmatch(r'"([\w/.+-]+)": (?:"(.*)"|\[)', text):
            key, cell = named[1], named[2] if named[1] == "id" else cell
        elif text.startswith('"') and text.endswith('"') and key in taken and (outputs or not cell.startswith(MADE)):
            yield number, json.loads(text).rstrip("\n")


def _of_python(node):
    """The values of an f-string are left out."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values)
        yield from _apart(text, node.lineno)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _apart(node.value, node.lineno)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _of_python(child)


def _apart(text, line):
    """Its lines, and an empty one: what stands in two texts is no sentence."""
    yield from enumerate(f"{text}\n".split("\n"), line)


@cache
def texts():
    """Every line that a person reads, as `file:line` and text; a line for the shell begins with `$ `."""
    files = [path for path in paths(*PROSE, *PRINTED, "workbook/**/*.py") if path.name != "changes.md"]
    return [(f"{path.relative_to(ROOT)}:{number}", text) for path in files for number, text in _marked(read(path))]


def _marked(lines):
    is_shell = False
    for number, text in lines:
        if text.startswith("```"):
            is_shell = text == "```sh"
        yield number, f"$ {text}" if is_shell else text


def demand_none(wrong):
    """Fail with each of these lines, all of them to be mended."""
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
