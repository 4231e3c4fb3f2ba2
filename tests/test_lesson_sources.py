"""What the lessons say in their own words bears its source: the checks, the gaps, the events, and what is ours."""

import ast
import json
import re
from html import unescape
from pathlib import Path

import pytest
from texts import demand_none

from workbook import diagnose
from workbook.base.files import NATIVE, sample
from workbook.base.rules import Basis, Level, rule, rules
from workbook.checks.diagnosis import catalogue
from workbook.tools.conform.back_end.config import load_config

LESSONS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
OF_THE_WORKBOOK = {"this machine is ready"}
"""Checks about the workbook itself: they claim nothing of an API, an SDK or a wallet."""


ID, LEVEL = r"\b[A-Z]+(?:-[A-Z]+)?-\d+", f"(?:{'|'.join(Level)})"


def cells(path, kind):
    """The sources of a lesson's cells of one kind."""
    found = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def prose(path):
    """A lesson's text on one line, code samples included."""
    return " ".join(" ".join(cells(path, "markdown")).split())


def checks():
    """Each check of each lesson: its name, and the names of its arguments."""
    for path in LESSONS:
        for code in cells(path, "code"):
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "wb.check" and node.args:
                    yield path.stem, ast.literal_eval(node.args[0]), {word.arg for word in node.keywords}


EVERYWHERE = " ".join(map(prose, LESSONS))


def test_each_check_of_a_lesson_names_a_rule_or_a_source():
    unsourced = [(where, name) for where, name, words in checks() if not words & {"rule", "source"}]
    assert {name for _where, name in unsourced} == OF_THE_WORKBOOK


def shown_rules(path):
    """Each rule whose words a stored output shows: its id, and as many characters of the output as they have."""
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            for kind, shown in {"text/plain": output.get("text", ()), **output.get("data", {})}.items():
                text = "".join(shown) if kind in ("text/plain", "text/html") else ""
                titles = re.findall(rf'title="{LEVEL}: ([^"]*)"[^>]*>({ID})<', text)
                yield from ((name, unescape(words)) for words, name in titles)
                plain = " ".join((unescape(re.sub("<[^>]*>", "", text)) if kind == "text/html" else text).split())
                for found in re.finditer(rf"({ID}) (?:\({LEVEL}\)|{LEVEL}): ", plain):
                    yield found[1], plain[found.end() :][: len(rule(found[1]).text)]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_stored_output_shows_a_rule_in_the_words_of_the_ledger(path):
    other = sorted({name for name, words in shown_rules(path) if words != rule(name).text})
    todo = f"`workbook render {path.stem[:2]}` stores the output anew"
    demand_none([f"notebooks/{path.name}: an output has other words for {name}: {todo}" for name in other])


@pytest.mark.parametrize("gap", rules(Level.GAP), ids=lambda gap: gap.id)
def test_each_gap_of_the_document_is_taught(gap):
    assert f"`{gap.id}`" in EVERYWHERE


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_native_lines_of_a_lesson_are_those_of_the_file_that_it_links_to(path):
    for text in cells(path, "markdown"):
        linked = re.findall(r"\]\(\.\./fixtures/((?:native|apps)/[^)]+)\)", text)
        whole = [line.strip() for name in linked for line in sample(name).read_text("utf-8").splitlines()]
        for block in re.findall(r"```(?:swift|kotlin)\n(.*?)```", text, re.DOTALL) if linked else ():
            assert [line for line in map(str.strip, block.splitlines()) if line not in {*whole, "", "// …"}] == []


def test_the_configuration_that_lesson_06_shows_is_whole(tmp_path):
    (path,) = (path for path in LESSONS if path.stem.startswith("06"))
    ((block,),) = filter(None, (re.findall(r"```toml\n(.*?)```", text, re.DOTALL) for text in cells(path, "markdown")))
    (tmp_path / "relay.log").touch()
    (tmp_path / "back-end.toml").write_text(block, "utf-8")
    sessions = {"ANN": "session-of-ann-7d1f", "BOB": "session-of-bob-2c88"}
    assert load_config(tmp_path / "back-end.toml", sessions).target.cardholders


def rows_of(number, head):
    """The rows of that table of a lesson whose last column has this head."""
    text = next(text for text in cells(LESSONS[number], "markdown") if f"| {head} |\n" in text)
    table = text.partition(f"| {head} |\n")[2].partition("\n\n")[0]
    return [row.strip("| ").split(" | ") for row in table.splitlines()[1:]]


def test_a_file_of_lesson_08_leads_to_the_rows_of_its_symptoms():
    for _file, _says, seen, numbers in rows_of(8, "`workbook diagnose`"):
        for symptom in re.split(", or | or ", seen):
            assert {*diagnose(symptom).rows[:1]} <= {*map(int, numbers.split(", "))}, symptom


def test_a_step_of_lesson_09_sends_a_reader_to_one_who_can_act_on_it():
    rows = {row.number: row for row in catalogue()}
    for step, first, whose in rows_of(9, "whose job"):
        causes = [cause for number in diagnose(step).rows or diagnose(first).rows for cause in rows[number].causes]
        assert {*re.split("[,;] ", whose.replace("the ", ""))} <= {who for cause in causes for who in cause.owner}, step


def test_no_lesson_uses_a_tag_that_is_no_source():
    tags = set(re.findall(r"\(\*([a-z-]+)\*[):;,]", EVERYWHERE))
    assert tags <= set(Basis) - {Basis.SPEC} | {"spec"}
    assert {"assumed", "inferred", "sdk-a", "sdk-b", "wallet", "seen", "openapi"} <= tags


def test_the_adapter_s_types_are_those_of_the_stand_in():
    manual = (LESSONS[0].parent / "reference" / "phone.md").read_text("utf-8")
    (block,) = re.findall(r"```kotlin\n(interface AppUnderTest.*?)```", manual, re.DOTALL)
    standin = "\n".join(file.read_text("utf-8") for file in (NATIVE / "kotlin/standin").glob("*.kt"))
    assert [line for line in block.splitlines() if line.partition(" //")[0] not in standin] == []


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_begins_with_strict_and_where_it_checks_something_its_last_cell_sums_up(path):
    first, *_, last = cells(path, "code")
    assert first.splitlines()[-1] == "strict = False"
    assert last == "wb.check()" or path.stem not in {where for where, _name, _words in checks()}
