"""Every sentence that holds a figure or a name of the subject pairs it as its source does: see `figures.toml`."""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from workbook.checks.diagnosis import catalogue

ROOT = Path(__file__).parents[1]
FIGURES = tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))
# What an exercise takes as an answer, or shows as a mistake, may be wrong on purpose.
NO_CLAIM = {"answer", "old", "new", "solution", "skeleton", "what"}
CODES = {
    15: (15009,),
    16: (15002,),
    17: (15005,),
    54: (16,),
    57: (7, 8, 13, 14, 15, 17, 19, 20, 21, 22),
    58: (4, 5, 6),
    59: (10,),
    60: (15003, 15004),
    61: (15019, *range(15021, 15029)),
}


def strings(value):
    """All texts inside a value of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, each in value.items() if key not in NO_CLAIM for text in strings(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each))


def messages(node):
    """The docstrings and messages of a module; an f-string's values are left open."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search("[a-z]{3}", node.value):
        yield node.value
    else:
        yield from (text for child in ast.iter_child_nodes(node) for text in messages(child))


def texts():
    """Every text that a reader sees, with its place; of Python's texts, later, only the sentences with a figure."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
            if cell["cell_type"] == "markdown":
                yield f"{path.stem}, cell {number}", "".join(cell["source"])
    pages = [path for path in (ROOT / "notebooks/reference").glob("*.md") if path.name != "changes.md"]
    for path in [*sorted(pages), ROOT / "README.md"]:
        yield path.name, path.read_text("utf-8")
    for path in sorted((ROOT / "workbook/lessons/exercises").glob("*.toml")):
        yield from ((path.name, text) for text in strings(tomllib.loads(path.read_text("utf-8"))))
    for path in sorted((ROOT / "workbook").rglob("*.py")):
        yield from ((path.name, text) for text in messages(ast.parse(path.read_text("utf-8"))))
    for row in catalogue():
        for text in (row.check, row.sign, row.ask, *(f"{cause.symptom}. {cause.cause}" for cause in row.causes)):
            yield f"catalogue, row {row.number}", text


def split_texts():
    for place, text in texts():
        plain = re.sub(r"[`*]|<[^>]*>", "", text)
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\"(])|\n\s*\n|\n(?=\s*[-#|\d])", plain):
            if sentence.strip() and (not place.endswith(".py") or re.search(r"\d", sentence)):
                yield place, " ".join(sentence.split())


@cache
def sentences():
    return list(dict.fromkeys(split_texts()))


def test_every_figure_is_one_that_a_source_has():
    unknown = [
        f"{place}: {match[0]} in {sentence}"
        for figure in FIGURES["known"].values()
        for place, sentence in sentences()
        for match in re.finditer(figure["pattern"], sentence)
        if match[0] not in {*figure["values"], *figure.get("also", ())}
    ]
    assert unknown == []


def test_every_figure_and_name_stands_beside_what_its_source_says():
    clauses = [(place, clause) for place, text in sentences() for clause in re.split(r"[,;:()]\s+", text)]
    wrong, unused = [], []
    for pair in FIGURES["pair"]:
        where = re.compile(pair["where"], re.IGNORECASE)
        held = [each for each in (clauses if pair.get("clause") else sentences()) if where.search(each[1])]
        unused += [] if held else [pair["where"]]
        for place, sentence in held:
            is_right = re.search(pair.get("right", ""), sentence, re.IGNORECASE)
            is_wrong = "wrong" in pair and re.search(pair["wrong"], sentence, re.IGNORECASE)
            if is_wrong or not is_right:
                wrong.append(f"{place}: {sentence} ({pair['about']}: {pair['source']})")
    assert wrong == []
    assert len(unused) <= 3, f"reworded: no sentence fits these any more: {unused}"


def test_each_code_leads_to_the_row_of_its_name():
    assert {row.number: row.codes for row in catalogue() if row.codes} == CODES
