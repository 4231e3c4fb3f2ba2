"""Sample files are found by name, a working copy holds them all, and files are written whole or not at all."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from rows import rows

from workbook.base import files
from workbook.base.children import python_command
from workbook.base.files import ScratchFolder, new_folder, read_named, read_regular, sample, write_whole
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands import cli


def test_a_sample_file_is_found():
    assert sample("measurements/good_build.csv").read_text().startswith("call,duration_ms,device,build,cold")


def test_native_code_is_found_by_its_language():
    assert "class BackEnd(" in sample("native/kotlin/BackEnd.kt").read_text()
    assert "struct BackEnd: Sendable {" in sample("native/swift/BackEnd.swift").read_text()


@rows(
    "name",
    [
        "measurements/good_biuld.csv",
        "../README.md",
        "/etc/hostname",
        "",
        7,
        "measurements",
        "native/../rules.toml",
        "native/kotlin",
    ],
)
def test_another_name_is_explained(name):
    with pytest.raises(ParameterError, match="No sample file"):
        sample(name)


def test_a_misspelt_name_has_a_suggestion():
    with pytest.raises(ParameterError, match=r"Did you mean 'measurements/good_build.csv'\?"):
        sample("measurements/good_biuld.csv")


def test_no_byte_code_is_offered_as_a_sample(tmp_path, monkeypatch):
    (tmp_path / "cached.pyc").touch()
    (tmp_path / "relay.py").touch()
    monkeypatch.setattr(files, "FIXTURES", tmp_path)
    with pytest.raises(ParameterError, match=r"relay\.py") as caught:
        sample("cached")
    assert "cached.pyc" not in str(caught.value)


@pytest.mark.parametrize("left", ["__pycache__/relay.cpython-311.py", ".idea/notes.md", ".hidden.py"])
@pytest.mark.parametrize("folder", ["", "native/"])
def test_what_others_leave_among_the_samples_is_none(tmp_path, monkeypatch, folder, left):
    for name in (left, "relay.py"):
        (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).touch()
    monkeypatch.setattr(files, "FIXTURES", tmp_path)
    assert sample(f"{folder}relay.py").is_file()
    for name in (left, "nothing near"):
        with pytest.raises(ParameterError) as caught:
            sample(f"{folder}{name}")
        assert left not in str(caught.value).partition(". ")[2]


def test_a_workbook_without_its_sample_files_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FIXTURES", tmp_path)
    with pytest.raises(ParameterError, match=r"is empty\. Install the workbook again"):
        sample("measurements/good_build.csv")


def test_a_working_copy_has_the_lessons_and_the_sample_files(tmp_path, capsys):
    target = tmp_path / "deep" / "mine"
    assert cli.main(["new", str(target)]) == 0
    assert f"workbook lab --notebooks {target / 'notebooks'}" in capsys.readouterr().out
    for folder in (files.NOTEBOOKS, files.FIXTURES):
        originals = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not any(part[0] in "._" for part in path.relative_to(folder).parts)
        }
        copies = target / folder.name
        changed = {name for name, content in originals.items() if (copies / name).read_bytes() != content}
        assert {name for name in changed if not name.endswith(".ipynb")} <= {"back_ends/back-end.toml"}
        assert {str(path.relative_to(copies)) for path in copies.rglob("*") if path.is_file()} == originals.keys()
    config = (target / "fixtures" / "back_ends" / "back-end.toml").read_text()
    assert f"exec {sys.executable} reference.py" in config
    assert ".venv" not in config.replace(sys.executable, "")


def test_a_working_copy_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "mine").write_text("kept")
    assert cli.main(["new", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"workbook: {str(tmp_path)!r} is not empty. Name a new folder: nothing is overwritten.\n"
    )
    assert cli.main(["new", str(tmp_path / "mine")]) == 2
    assert "Cannot write into" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_working_copy_does_not_replace_the_folder_in_which_one_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "."]) == 2
    assert capsys.readouterr().err == "workbook: This is the current folder. Name a new one in it.\n"


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    write_whole(path, "new\n")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new\n", 0o640)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_text("of somebody else")
    (tmp_path / "a").symlink_to(other)
    write_whole(tmp_path / "a", "mine")
    assert (other.read_text(), (tmp_path / "a").read_text()) == ("of somebody else", "mine")
    assert not (tmp_path / "a").is_symlink()


def test_a_file_that_cannot_be_written_leaves_no_draft(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "a", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_is_read_to_its_limit_and_refused_beyond_it(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    assert (read_named(path, 5, "Name another."), read_regular(path, 2)) == (b"12345", b"123")
    with pytest.raises(ConfigurationError, match=r"log' is larger than 4 bytes\. Name another\."):
        read_named(path, 4, "Name another.")


@pytest.mark.parametrize(
    ("name", "why"), [("none", "No such file"), ("", "it is not a regular file"), ("a\0b", "No such")]
)
def test_a_file_that_cannot_be_read_is_told_with_what_to_do(tmp_path, name, why):
    with pytest.raises(ConfigurationError, match=rf"^Cannot read '.*': {why}.*\. Name another\.$"):
        read_named(tmp_path / name, 5, "Name another.")


def test_what_needs_the_lab_names_the_package_and_the_command():
    needed = pytest.raises(ConfigurationError, match=r"^A page needs the package no_such_package, which .*: .*\[lab\]")
    with needed, files.needs_lab("A page"):
        import no_such_package  # noqa: F401


MAKES_ONE = """
import time
from workbook.base.files import ScratchFolder
folder = ScratchFolder()
print(folder.name, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
def test_what_a_killed_process_left_is_removed_and_what_a_living_one_holds_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    other = tmp_path / "workbook-of-a-person"
    other.mkdir()
    with subprocess.Popen(python_command("-c", MAKES_ONE), stdout=subprocess.PIPE, text=True, env=environment) as child:
        left = child.stdout.readline().strip()
        assert Path(left).is_dir()
        for path in (left, other):
            os.utime(path, (1, 1))
        with ScratchFolder():
            assert Path(left).is_dir()
        child.send_signal(signal.SIGKILL)
    with ScratchFolder() as mine:
        assert {path.name for path in tmp_path.iterdir()} == {other.name, Path(mine).name}
    assert [path.name for path in tmp_path.iterdir()] == [other.name]


def test_a_folder_has_a_name_that_another_process_understands(tmp_path, monkeypatch):
    """What a site was built into was beside it, and the site empty: its parent was the current folder's short name."""
    monkeypatch.chdir(tmp_path)
    with new_folder(Path("site")) as draft, ScratchFolder(Path()) as scratch:
        assert (draft.is_absolute(), Path(scratch).is_absolute()) == (True, True)


def test_a_folder_that_is_being_made_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "workbook-scratch-new").mkdir()
    with ScratchFolder():
        assert (tmp_path / "workbook-scratch-new").is_dir()
