"""The site without an installation: what it is made of, what it leaves out, and what its build refuses."""

import importlib
import json
import re
import shlex
import subprocess
import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest

from workbook.base.files import FIXTURES
from workbook.errors import ConfigurationError
from workbook.tools.commands import cli
from workbook.tools.course import lite

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))
VERSION = "314.0.6"
CORE = f"pydantic_core-{metadata.version('pydantic-core')}-cp314-cp314-pyemscripten_2026_0_wasm32.whl"


def wheel(path):
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{path.name.split('-')[0]}/__init__.py", "")
        archive.writestr(f"{path.name.split('-')[0]}.dist-info/METADATA", "Metadata-Version: 2.1")


@pytest.fixture
def cache(tmp_path):
    """A cache as a build leaves it, but with empty files for Python itself."""
    folder = tmp_path / "cache"
    pyodide = folder / f"pyodide-{VERSION}"
    pyodide.mkdir(parents=True)
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
        (pyodide / name).write_text("")
    about = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"}
    packages = {"micropip": {"name": "micropip", "version": "0.11.1"}}
    (pyodide / "pyodide-lock.json").write_text(json.dumps({"info": about, "packages": packages}))
    for name in (CORE, "micropip-0.11.1-py3-none-any.whl"):
        wheel(folder / name)
    return folder


@pytest.fixture
def programs(monkeypatch, tmp_path):
    """The only folder in which programs are looked for."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_what_a_browser_has_no_wheel_of_is_not_needed_there():
    needed = lite.needed_packages()
    assert {"provisioning-workbook", "anywidget", "httpx", "pydantic-core", "psygnal", "wcwidth"} <= needed
    absent = {"trustme", "cryptography", "pandas", "numpy", "pexpect", "widgetsnbextension", "colorama"}
    assert not needed & absent


@pytest.mark.parametrize(
    ("marker", "needed"),
    [
        ("sys_platform == 'emscripten'", True),
        ("platform_system == 'Emscripten'", True),
        ("platform_machine == 'wasm32'", True),
        ("platform_machine == 'x86_64'", False),
        ("extra == 'lab'", False),
    ],
)
def test_what_is_needed_is_read_as_a_browser_reads_it(monkeypatch, marker, needed):
    asked = {lite.PACKAGE: [f"Some_Thing; {marker}"]}
    monkeypatch.setattr(metadata, "requires", lambda name: asked.get(name, []))
    assert ("some-thing" in lite.needed_packages()) is needed


def test_python_and_what_was_compiled_for_it_come_from_the_cache_and_the_kernels_own_with_it(tmp_path, cache):
    folder = tmp_path / "static" / "pyodide"
    lite._add_python(folder, lite.fetched_pyodide(VERSION, cache), cache)
    names = {path.name for path in folder.iterdir()}
    python = {"pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"}
    assert {*python, CORE, "micropip-0.11.1-py3-none-any.whl"} < names
    assert {name.partition("-")[0] for name in names - python} == {
        "pydantic_core", "micropip", "ipykernel", "piplite", "pyodide_kernel"
    }  # fmt: skip


def test_the_page_starts_as_quietly_as_elsewhere_with_all_packages(tmp_path):
    lite._add_settings(tmp_path, {"b", "a"})
    shown = json.loads((tmp_path / "jupyter-lite.json").read_text())
    assert shown["jupyter-lite-schema-version"] == 0
    shown = shown["jupyter-config-data"]
    assert shown["appName"] == "Provisioning workbook"
    assert "@jupyterlab/extensionmanager-extension" in shown["disabledExtensions"]
    assert shown["litePluginSettings"] == {
        "@jupyterlite/pyodide-kernel-extension:kernel": {
            "disablePyPIFallback": True, "loadPyodideOptions": {"packages": ["a", "b"]}
        }
    }  # fmt: skip
    own, others = shown["settingsOverrides"], json.loads((tmp_path / "settings" / "overrides.json").read_text())
    assert own == {**others, "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True}}


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(lite, "PACKAGE", "no-such-package")
    with pytest.raises(ConfigurationError, match=r"A site needs no-such-package, .*\[lab,lite\]"):
        lite.needed_packages()


@pytest.mark.parametrize(
    ("name", "module"), [("markupsafe", "_native"), ("psygnal", "_signal"), ("wcwidth", "_wcwidth")]
)
def test_an_installed_package_becomes_a_wheel_of_python_files_only(tmp_path, name, module):
    lite.pack(name, tmp_path)
    (made,) = tmp_path.iterdir()
    assert made.name == f"{name}-{metadata.version(name)}-py3-none-any.whl"
    with ZipFile(made) as archive:
        names = archive.namelist()
        assert f"{name}/{module}.py" in names
        assert not [one for one in names if one.endswith((".so", ".pyc")) or one.startswith((".", "/"))]
        (record,) = (one for one in names if one.endswith("/RECORD"))
        assert archive.read(record).decode().split(",,\n")[:-1] == names
    before = made.read_bytes()
    lite.pack(name, tmp_path)
    assert made.read_bytes() == before


def test_the_workbook_itself_is_packed_with_its_samples_from_a_checkout_too(tmp_path, monkeypatch):
    lite.pack("provisioning-workbook", tmp_path)
    (made,) = tmp_path.iterdir()
    with ZipFile(made) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    for name in [name for name in sys.modules if name.partition(".")[0] == "workbook"]:
        monkeypatch.delitem(sys.modules, name)
    files = importlib.import_module("workbook.base.files")
    assert str(tmp_path / "site") in files.__file__
    assert "workbook/_data/fixtures/native/kotlin/AddButton.kt" in names
    assert "workbook/lessons/exercises/lesson_00.toml" in names
    assert [name for name in names if "notebooks" in Path(name).parts] == []


def test_a_package_that_needs_compiled_files_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="pydantic-core has compiled files, so a browser cannot use it"):
        lite.pack("pydantic-core", tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_the_lock_file_lists_each_wheel_with_its_checksum(tmp_path):
    (tmp_path / "pyodide-lock.json").write_text('{"info": {"arch": "wasm32"}, "packages": {"scipy": {}}}')
    wheel(tmp_path / CORE)
    assert lite.write_lock(tmp_path) == ["pydantic-core"]
    lock = json.loads((tmp_path / "pyodide-lock.json").read_text())
    assert lock["info"] == {"arch": "wasm32"}
    (entry,) = lock["packages"].values()
    assert entry == {
        "name": "pydantic-core",
        "version": metadata.version("pydantic-core"),
        "file_name": CORE,
        "sha256": sha256((tmp_path / CORE).read_bytes()).hexdigest(),
        "imports": ["pydantic_core"],
        "depends": [],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def test_lessons_00_to_05_are_a_learners_copy_and_say_what_is_left_out(tmp_path):
    left_out = lite.add_lessons(tmp_path / "files")
    assert {cell: why.split(",")[0] for cell, why in left_out.items()} == {
        "00_start_here.ipynb cell-16": "It looks at the machine on which it runs",
    }
    pages = {path.name: json.loads(path.read_text()) for path in (tmp_path / "files/notebooks").glob("*.ipynb")}
    assert [*sorted(pages)] == [path.name for path in NOTEBOOKS if path.name < "06"]
    texts = {f"{name} {cell['id']}": cell for name, page in pages.items() for cell in page["cells"]}
    for cell, why in left_out.items():
        assert texts[cell]["cell_type"] == "markdown"
        assert texts[cell]["source"].startswith(f"*A browser cannot run this cell. {why}*\n\n```python\n")
        assert texts[cell]["source"].endswith("\n```")
    assert {path.name for path in (tmp_path / "files").iterdir()} == {"notebooks", "progress.json"}
    assert "stay in this browser" in texts["00_start_here.ipynb site"]["source"]
    whole = "".join("".join(cell["source"]) for cell in texts.values() if cell["cell_type"] == "markdown")
    linked = {target.partition("#")[0] for target in re.findall(r"\]\(([^):]+)\)", whole)} - {""}
    assert [name for name in linked if not (tmp_path / "files/notebooks" / name).is_file()] == []


def test_a_tag_of_a_cell_is_one_that_something_reads():
    cells = [cell for path in NOTEBOOKS for cell in json.loads(path.read_text())["cells"]]
    tags = {tag for cell in cells for tag in cell["metadata"].get("tags", ())}
    assert tags == {"parameters", "answer", "nbval-ignore-output", *lite.LEFT_OUT}


def test_a_folder_with_something_in_it_is_left_as_it_is(tmp_path, capsys):
    (tmp_path / "mine").write_text("kept")
    assert cli.main(["course", "lite", "--out", str(tmp_path)]) == 2
    assert "is not empty. Name a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_without_the_extra_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterlite_pyodide_kernel.constants", None)
    with pytest.raises(
        ConfigurationError, match=r"needs JupyterLite, which is not installed: pip install .*\[lab,lite\]"
    ):
        lite.build_site(tmp_path / "site")
    assert [*tmp_path.iterdir()] == []


def test_without_npm_or_a_network_it_says_what_it_needs_and_leaves_nothing(tmp_path, programs):
    with pytest.raises(ConfigurationError, match=r"Pyodide 314\.0\.6 is not in the cache.* npm is not installed"):
        lite.build_site(tmp_path / "site", tmp_path / "cache")
    npm = programs / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error network request failed' >&2\nexit 1\n")
    npm.chmod(0o755)
    with pytest.raises(ConfigurationError, match=r"npm cannot fetch it.*: npm error network request failed"):
        lite.build_site(tmp_path / "site", tmp_path / "cache")
    assert [*(tmp_path / "cache").iterdir()] == []
    assert not (tmp_path / "site").exists()


def test_a_cache_answers_for_what_was_fetched_and_pip_for_what_is_missing(cache, monkeypatch):
    lock = json.loads((cache / f"pyodide-{VERSION}" / "pyodide-lock.json").read_text())
    assert [path.name for path in lite.fetched_wheels(lock, cache)] == [CORE, "micropip-0.11.1-py3-none-any.whl"]
    (cache / CORE).unlink()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ConfigurationError, match=r"nor can pip fetch them .*pydantic_core-.*: it said nothing"):
        lite.fetched_wheels(lock, cache)


def test_a_folder_that_is_no_distribution_is_refused(tmp_path, cache):
    (tmp_path / "other").mkdir()
    with pytest.raises(ConfigurationError, match=r"other' is no Pyodide distribution: .*pyodide\.mjs"):
        lite._add_python(tmp_path / "python", tmp_path / "other", cache)


@pytest.mark.slow
def test_the_workflow_that_publishes_it_is_valid_and_its_command_too():
    workflow = FIXTURES / "ci" / "site.yml"
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow)]
    subprocess.run(check, check=True)
    (line,) = re.findall(r"run: workbook (.*)", workflow.read_text())
    assert callable(cli.parsed(shlex.split(line)).handler)
