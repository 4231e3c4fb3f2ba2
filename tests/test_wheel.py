"""The wheel is all that somebody needs: installed elsewhere, it has the lessons, the samples and the templates."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from workbook.lessons.exercises.model import LESSONS

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def workbook(wheel, tmp_path_factory):
    """Runs `workbook` of an environment that holds the wheel; the dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    (packages,) = folder.glob("env/lib/python3*/site-packages")
    # a path that a .pth file adds brings packages, but not the .pth files beside them: this checkout stays out
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {"HOME": str(folder), "PATH": os.defpath, "LANG": "C.UTF-8", "ANN": "of-ann-7d1f", "BOB": "of-bob-93"}

    def run(*words, cwd=folder):
        command = [str(folder / "env" / "bin" / "workbook"), *words]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run, folder


def test_the_wheel_holds_everything_that_is_shown_and_no_setting_of_other_programs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder in ("notebooks", "fixtures"):
        files = {
            str(path.relative_to(ROOT))
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and not any(part == "__pycache__" or part[0] == "." for part in path.parts)
        }
        assert files <= {name.removeprefix("workbook/_data/") for name in names}
    assert {"workbook/base/rules.toml", "workbook/py.typed", "workbook/simulation/scenarios/default.toml"} <= names
    assert {f"workbook/lessons/exercises/lesson_{number}.toml" for number in LESSONS} <= names
    shared = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    assert all(name.startswith("share/jupyter/voila/templates/workbook/") for name in shared)
    assert not any("__pycache__" in name or ".ipynb_checkpoints" in name for name in names)


def test_an_installed_workbook_knows_its_version_and_its_own_files(workbook):
    run, folder = workbook
    assert run("--version").stdout.startswith("workbook 0.2.0 with Python 3.")
    python = folder / "env" / "bin" / "python"
    program = "import workbook.base.files as f; print(f.INSTALLED, f.sample('measurements/good_build.csv'))"
    done = subprocess.run([str(python), "-I", "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"True {folder}")


def test_the_lessons_that_were_installed_are_not_changed(workbook):
    run, _ = workbook
    done = run("render", "00")
    assert done.returncode == 2
    assert done.stderr == "workbook: This would change the installed notebooks. Copy them first: workbook new DIR\n"


@pytest.mark.nightly
def test_a_working_copy_holds_a_sample_that_conforms_and_lessons_that_run(workbook):
    run, folder = workbook
    assert run("new", "mine").returncode == 0
    again = run("new", "mine")
    assert (again.returncode, again.stdout) == (2, "")
    assert "is not empty" in again.stderr
    sample = folder / "mine" / "fixtures" / "back_ends"
    done = run("conform", "back-end.toml", "--only", "form", cwd=sample)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "and none failed" in done.stdout
    assert (sample / "conform" / "conform.html").is_file()
    shutil.rmtree(folder / "report", ignore_errors=True)
    done = run("run", "02", cwd=folder / "mine")
    assert done.returncode == 0, done.stderr
    assert (folder / "mine" / "report" / "02_sdk_init_and_can_provision.ipynb").is_file()
