"""The public face: every name is loaded when it is used, is explained on one page, and its examples run."""

import ast
import asyncio
import doctest
import inspect
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import rules_page
from reference_page import GROUPS, page
from rows import rows
from texts import demand_none

import workbook as wb
from workbook.base.rules import rules

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "notebooks" / "reference" / "python.md"
RULES = ROOT / "notebooks" / "reference" / "rules.md"
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_few_names_sorted_and_each_is_on_the_page_once():
    assert len(wb.__all__) <= 41
    assert wb.__all__ == sorted(wb.__all__)
    assert sorted(name for names in GROUPS.values() for name in names) == wb.__all__
    assert set(wb.__all__) <= set(dir(wb))


def test_the_page_is_what_the_docstrings_say(generated):
    generated(PAGE, page())


def test_the_changes_begin_with_this_version():
    heads = re.findall(r"(?m)^## (\S+)", (ROOT / "notebooks" / "reference" / "changes.md").read_text("utf-8"))
    assert heads[0].rstrip(",") == wb.__version__ == version("provisioning-workbook")


def test_the_page_of_rules_is_what_the_ledger_says(generated):
    generated(RULES, rules_page.page())


EXAMPLES = dict(re.findall(r"(?ms)^### `wb\.(\w+)`$.*?^Example:\n```python\n(.*?)^```", page()))
COMPILED = "conform_app"
"""Its example compiles Kotlin."""


def run_example(name):
    names = {"wb": wb, "asyncio": asyncio}
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], names, name, str(PAGE), 0)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_each_name_has_an_example_of_at_most_four_lines():
    assert sorted(EXAMPLES) == wb.__all__
    lines = {name: len(re.findall(r"(?m)^(?:>>>|\.\.\.) ", code)) for name, code in EXAMPLES.items()}
    assert {name: count for name, count in lines.items() if not 1 <= count <= 4} == {}


@rows("name", [name for name in wb.__all__ if name != COMPILED])
def test_its_example_runs(name, monkeypatch):
    for cardholder in ("ANN", "BOB"):
        monkeypatch.setenv(cardholder, "")  # an example gives it a value, and the end of this test takes it away
    run_example(name)


@pytest.mark.slow
def test_the_example_that_compiles_an_app_runs():
    run_example(COMPILED)


@pytest.mark.parametrize(("wrong", "hint"), [("sesion", "Did you mean 'session'?"), ("zzz", "Known: ActivationData")])
def test_an_unknown_name_is_explained(wrong, hint):
    with pytest.raises(AttributeError, match=f"has no public name '{wrong}'") as caught:
        getattr(wb, wrong)
    assert hint in str(caught.value)


MISUSES = {
    "judge": (lambda: wb.judge(3), "frame is 3; allowed: a frame of wb.read_durations"),
    "project": (lambda: wb.project(3), "files is 3; allowed: the project's folder"),
    "inspect": (lambda: wb.inspect("x", seed="y"), "seed is 'y'. Give a whole number"),
    "CardAddress": (lambda: wb.CardAddress(postal_code=4), "postal_code is 4; allowed: text"),
    "a served phone's port": (lambda: wb.session().platform_a.serve_phone(port="x"), "port is 'x'. Give a"),
    "a served phone's pace": (lambda: wb.session().platform_a.serve_phone(pace=-1), "pace is -1. Give a finite"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_wrong_argument_is_explained(name):
    call, words = MISUSES[name]
    with pytest.raises(wb.errors.ParameterError) as caught:
        call()
    assert words in str(caught.value)


def test_what_is_shown_says_what_can_be_done_next():
    session = wb.session()
    for value in (
        session,
        session.platform_a,
        session.platform_b,
        session.wallet,
        session.platform_a.play(),
        session.platform_a.create().card_provisioning,
        session.platform_b.service(),
        wb.MockServer(),
        wb.ActivationDataClient("https://api.example", "a-key-8f3a9c1e"),
    ):
        shown = value._repr_mimebundle_()["text/plain"] if hasattr(value, "_repr_mimebundle_") else repr(value)
        assert "\nNext: " in shown, shown


def test_a_type_checker_knows_what_each_call_returns():
    session = wb.session()
    calls = [getattr(wb, name) for name in wb.__all__]
    for verbs in (session, session.platform_a, session.platform_b, session.wallet):
        calls += [getattr(type(verbs), name) for name in dir(type(verbs)) if not name.startswith("_")]
    returns = {
        call.__qualname__: inspect.signature(call).return_annotation for call in calls if inspect.isfunction(call)
    }
    assert len(returns) > 30
    # what `show` returns depends on its words
    assert [name for name, returned in returns.items() if returned in (Any, "Any", inspect.Signature.empty)] == ["show"]


WITHOUT = (
    "import sys; sys.modules.update(dict.fromkeys(['numpy', 'pandas', 'ipywidgets', 'anywidget', 'jupyterlab']))\n"
)
"""The core alone: what the extra `lab` brings cannot be imported."""


def test_a_name_that_needs_an_extra_says_which():
    program = f"{WITHOUT}import workbook as wb\ntry: wb.choose\nexcept wb.errors.ConfigurationError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "wb.choose needs the package anywidget, which is not installed: pip install -e '.[lab]'\n"


def test_a_call_that_needs_an_extra_says_which():
    program = f"""{WITHOUT}
import workbook as wb
session = wb.session()
run = session.platform_a.play()
live = [platform.live for platform in (session.platform_a, session.platform_b, session.wallet)]
for call in (*live, session.platform_a.serve_phone, lambda: wb.show(run, "phone")):
    try: call()
    except wb.errors.ConfigurationError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = [line.split(" needs the package ") for line in done.stdout.splitlines()]
    assert [name for name, _ in lines] == ["live()"] * 3 + ["serve_phone()", "wb.show"]
    assert {rest.partition(", ")[2] for _, rest in lines} == {"which is not installed: pip install -e '.[lab]'"}


@pytest.mark.slow
def test_the_core_alone_lays_out_the_lessons_and_puts_them_back(tmp_path):
    for words in (["new", "copy"], ["reset", "05", "--dir", "copy"]):
        program = f"{WITHOUT}from workbook.tools.commands.cli import main\nsys.exit(main({words}))"
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "copy" / "backups").is_dir()
    program = (
        f"{WITHOUT}from workbook.tools.commands.cli import main\nsys.exit(main(['diagnose', '--reproduce', '15']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install" in done.stderr) == (2, True)


def test_importing_the_face_loads_nothing_of_ours():
    program = "import sys, workbook; print([name for name in sys.modules if name.startswith('workbook.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_imports_nothing_else_of_ours(lesson):
    cells = [cell for cell in json.loads(lesson.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    imported = []
    for cell in cells:
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Import):
                imported += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported.append(node.module)
    ours = [name for name in imported if name.split(".")[0] == "workbook"]
    assert ours == ["workbook"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_cell_calls_and_shows_in_ten_lines_at_most(lesson):
    # an exercise's cell holds the code that the learner works on
    cells = [cell for cell in json.loads(lesson.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    ours = [cell for cell in cells if not cell["id"].startswith("exercise-")]
    assert [cell["id"] for cell in ours if len("".join(cell["source"]).splitlines()) > 10] == []


def test_each_rule_is_taught_in_a_lesson():
    sources = (cell["source"] for path in LESSONS for cell in json.loads(path.read_text("utf-8"))["cells"])
    named = {name for source in sources for name in re.findall(r"[`\"]([A-Z]+(?:-[A-Z]+)?-\d+)", "".join(source))}
    demand_none([f"{rule.id} is in no lesson: name it where it is taught" for rule in rules() if rule.id not in named])


WORDS, CODE_CELLS = 1600, 18  # of a lesson
KILOBYTES = 190  # of the course, 00 to 06


def text_of(cell):
    """A cell's text with its outputs in their text form, as a reader without a kernel has it."""
    outputs = cell.get("outputs", [])
    shown = [output.get("data", {}).get("text/plain", output.get("text", "")) for output in outputs]
    return "".join(cell["source"]) + "".join("".join(text) for text in shown)


def prose_of(cell):
    """A Markdown cell without its tables and its code."""
    text = re.sub(r"^```.*?^```", "", "".join(cell["source"]), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(line for line in text.splitlines() if not line.startswith("|"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_read_in_one_sitting(lesson):
    cells = json.loads(lesson.read_text("utf-8"))["cells"]
    words = re.findall(
        r"[A-Za-z][\w'-]*", "\n".join(prose_of(cell) for cell in cells if cell["cell_type"] == "markdown")
    )
    assert len(words) <= WORDS
    assert len([cell for cell in cells if cell["cell_type"] == "code"]) <= CODE_CELLS


def test_the_course_is_read_in_a_day_and_what_follows_is_no_longer_than_it():
    sizes = {
        lesson.stem: sum(len(text_of(cell).encode()) for cell in json.loads(lesson.read_text("utf-8"))["cells"])
        for lesson in LESSONS
    }
    course = {name: size for name, size in sizes.items() if name < "07"}
    assert sum(course.values()) <= KILOBYTES * 1024
    assert max(sizes.values()) <= max(course.values())


@pytest.mark.parametrize(
    ("lesson", "after"), [*zip(LESSONS, [*LESSONS[1:], LESSONS[0]], strict=True)], ids=lambda path: path.stem
)
def test_a_lesson_leads_to_the_next_one(lesson, after):
    (last,) = json.loads(lesson.read_text("utf-8"))["cells"][-1:]
    assert f"]({after.name})" in "".join(last["source"])
