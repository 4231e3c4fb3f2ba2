"""Calls and types in Swift and Kotlin, whatever the text is."""

import os
import string
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_projects import judge, judged

from workbook.base.children import python_command
from workbook.tools.harness.model import Verdict
from workbook.tools.preflight import cases_a, parsing, project
from workbook.tools.preflight.project import File, SourceFile, Sources, too_long


@given(st.text(alphabet=string.printable, max_size=200))
@pytest.mark.parametrize("suffix", [".swift", ".kt"])
def test_whatever_a_source_is_its_calls_are_found_without_an_error(tmp_path_factory, suffix, text):
    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_text(text)
    assert all(isinstance(call.name + call.receiver, str) for call in SourceFile(File(file, file.name)).parts.calls)


@pytest.mark.parametrize(
    "text",
    [
        "class A {\n    fun b() {\n        when (c) { D -> open()\n else -> internal(e) }\n    }\n}",
        "fun interface A { fun b() }",
        "class A { companion object { const val B = 1 } }",
        "val a = object : B { override fun c() { } }",
        'val a = "x ${b }"',
        "val a = f { x -> }",
    ],
)
def test_legal_kotlin_that_the_grammar_takes_for_broken_is_read(tmp_path, text):
    (tmp_path / "A.kt").write_text(text)
    file = File(tmp_path / "A.kt", "A.kt")
    assert not SourceFile(file).root.has_error
    assert len(file.content) == len(text)


@pytest.fixture
def impatient(platform_a, monkeypatch):
    """A grammar has 1.5 s, not 5; the sample's own files have had their time by then."""
    judged(platform_a)
    monkeypatch.setattr(project, "too_long", partial(too_long, seconds=1.5))


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Cut.kt", "import x.CardProvisioning\nclass A\n@A("),
        pytest.param(
            "Signs.swift", "let s = ProvisioningService()\nlet z = a " + "+ -" * 50_000, marks=pytest.mark.nightly
        ),
    ],
)
def test_a_file_that_holds_its_grammar_up_is_named_and_the_others_are_judged(platform_a, name, text):
    (platform_a / "app" / name).write_text(text)
    cases = judged(platform_a)
    (miss,) = cases["text.readable"].misses
    assert (miss.place, "did not parse it within" in miss.observed) == (f"app/{name}:1", True)
    assert cases["kotlin.button"].verdict is (Verdict.NOT_LOOKED_AT if name.endswith(".kt") else Verdict.PASS)


def test_each_function_on_the_way_of_a_tap_is_read_once_however_often_it_is_called(platform_a, monkeypatch):
    calls = "".join(f"first{number}()\n" for number in range(9))
    text = f"""
import x.CardProvisioning
class M(val s: CardProvisioning) {{
  fun add() {{
    {calls}
    s.provision(a, b, c)
  }}
  fun bind(b: Button) {{ b.setOnClickListener {{ add() }} }}
}}
"""
    seconds = "".join(f"second{number}()\n" for number in range(9))
    text += "".join(f"fun first{number}() {{ {seconds} }}\nfun second{number}() {{ x = 1 }}\n" for number in range(9))
    (platform_a / "app" / "Fan.kt").write_text(text)
    read = Counter()
    run = cases_a._run_before
    monkeypatch.setattr(cases_a, "_run_before", lambda one, *rest: read.update([one.name]) or run(one, *rest))
    judged(platform_a)
    assert read["second0"] == read["second8"] == read["add"] > 0


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_function_of_a_file_that_holds_its_grammar_up_is_not_looked_for_there(tmp_path):
    text = "fun held() = 1\nclass A\n@A("
    (tmp_path / "Cut.kt").write_text(text)
    file = File(tmp_path / "Cut.kt", "Cut.kt")
    sources = Sources((), (file,))
    assert sources.declares("held")
    assert [sources.declaring("held"), sources.declaring("held"), sources.naming("held")] == [[], [], []]
    assert [*sources.refused] == [file]


@pytest.mark.rule("REL-2")
def test_no_code_of_the_judged_project_runs(tmp_path, monkeypatch):
    planted = "import os\nos.mkdir('ran')\n"
    for name in ("tree_sitter", "tree_sitter_kotlin", "workbook", "encodings", "faulthandler", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(planted)
    (tmp_path / "Page.kt").write_text("class Page(val sdk: CardProvisioning)\n")
    project._parse(".kt", b"")  # this process has loaded the grammars before
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *sys.path])
    monkeypatch.setattr(project, "_PARSED", set())
    monkeypatch.setattr(project, "too_long", too_long)
    assert judge("text.readable", tmp_path).verdict is Verdict.PASS
    assert not (tmp_path / "ran").exists()
    assert project._PARSED


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_child_that_parses_has_a_limit_of_memory():
    with subprocess.Popen(
        python_command("-S", parsing.__file__, "5"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        child.stdin.write(b".kt 0\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"\n"
        limits = Path(f"/proc/{child.pid}/limits").read_text()
        child.stdin.close()
    assert str(parsing.MOST_MEMORY) in next(line for line in limits.splitlines() if "address space" in line)
