"""Another program of ours: nothing of the current folder runs in it, and it gets no secret."""

import ast
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import workbook
from workbook.base.children import child_environment, guarded_children, python_command


@pytest.mark.rule("REL-2")
def test_a_child_has_no_secret_and_runs_no_module_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("print('planted')\n")
    monkeypatch.setenv("WORKBOOK_API_KEY", "key-of-the-test")
    monkeypatch.setenv("WORKBOOK_KEYSTORE_PASSWORD", "password-of-the-test")
    code = "import json, os; print(sorted(name for name in os.environ if name.startswith('WORKBOOK_')))"
    done = subprocess.run(
        python_command("-c", code), cwd=tmp_path, env=child_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_process_of_multiprocessing_runs_no_module_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "multiprocessing.py").write_text("open('ran', 'w')\n")
    monkeypatch.chdir(tmp_path)
    with guarded_children(), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(abs, -1).result() == 1
    assert "PYTHONSAFEPATH" not in os.environ
    assert not (tmp_path / "ran").exists()


def test_every_python_that_the_package_starts_is_started_so():
    package = Path(workbook.__file__).parent
    for path in [path for path in package.rglob("*.py") if "sys.executable" in path.read_text("utf-8")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            words = [ast.unparse(word) for word in node.elts[:2]] if isinstance(node, ast.List | ast.Tuple) else []
            if words in (["sys.executable", "'-c'"], ["sys.executable", "'-m'"]):
                pytest.fail(f"{path.relative_to(package)}:{node.lineno} starts Python in the current folder")


@pytest.mark.rule("REL-2")
def test_a_process_of_multiprocessing_has_no_secret_and_the_parent_keeps_its_own(monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "key-of-the-test")
    with guarded_children(), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(os.getenv, "WORKBOOK_API_KEY").result() is None
    assert os.environ["WORKBOOK_API_KEY"] == "key-of-the-test"
