"""A bundle holds what its target needs, says so when it does not, and is written whole or not at all."""

import errno
import json
import subprocess
import zipfile
from hashlib import sha256
from importlib.util import find_spec

import pytest

from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands import cli
from workbook.tools.course.bundle import Target, _zipped, make_bundle

WORLD = {
    "provisioning-workbook": ["alpha>=2; extra == 'lab'", "beta; sys_platform == 'win32' and extra == 'lab'", "core"],
    "alpha": ["gamma[fast]>=1; python_version >= '3.12'"],
    "beta": ["delta; platform_machine == 'AMD64'"],
    "core": [],
    "gamma": ["epsilon; extra == 'fast'", "zeta; extra == 'slow'"],
    "delta": ["appkit; sys_platform == 'darwin'"],
    "epsilon": [],
}
"""Some packages and what they require: Windows and Python 3.12 need all; nobody ever needs zeta or appkit."""


def wheel(folder, name, requires, version="2.0"):
    """A wheel with nothing in it but what it requires."""
    known = name.replace("-", "_")
    path = folder / f"{known}-{version}-py3-none-any.whl"
    head = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        "Provides-Extra: lab",
        "Provides-Extra: fast",
    ]
    with zipfile.ZipFile(path, "w") as archive:
        lines = [
            *head,
            "Provides-Extra: fast",
            "Provides-Extra: slow",
            *(f"Requires-Dist: {each}" for each in requires),
            "",
        ]
        archive.writestr(f"{known}-{version}.dist-info/METADATA", "\n".join(lines))
        archive.writestr(f"{known}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{known}-{version}.dist-info/RECORD", "")
    return path


@pytest.fixture
def wheels(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    return {name: wheel(folder, name, requires) for name, requires in WORLD.items()}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--platform", "beos", "--out", "a.zip"], "invalid choice: 'beos'"),
        (["--python", "3.9", "--out", "a.zip"], "--python is '3.9'. Give a version from 3.11 on, such as 3.12."),
        (["--out", "."], "--out '.' must not be a folder"),
        (["--out", "nowhere/a.zip"], "--out 'nowhere/a.zip' cannot be written: No such file or directory."),
        (["--out", "a.zip", "--wheel", "none.whl"], "--wheel must be a wheel's file"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_fetched(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["course", "bundle", *words]) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_platform_is_refused_from_python_too():
    with pytest.raises(ParameterError, match="Did you mean 'linux'"):
        Target.of("linuks", "3.12")


def test_without_uv_it_says_how_to_get_it(wheels, tmp_path, monkeypatch):
    monkeypatch.setattr("workbook.tools.course.bundle.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="pip install uv"):
        make_bundle(tmp_path / "a.zip", Target.of("linux", "3.12"), wheels["provisioning-workbook"], print)


def test_an_installed_workbook_asks_for_its_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr("workbook.tools.course.bundle.INSTALLED", True)
    with pytest.raises(ConfigurationError, match=r"--wheel FILE\.whl"):
        make_bundle(tmp_path / "a.zip", Target.of("linux", "3.12"), None, print)


@pytest.fixture
def offline(wheels, monkeypatch):
    """uv and pip that find packages in one folder only."""
    if find_spec("uv") is None:
        pytest.skip("uv is not installed: .ci/test installs it")
    folder = str(wheels["core"].parent)
    for name, value in {"UV_OFFLINE": "1", "UV_FIND_LINKS": folder, "UV_NO_CONFIG": "1", "UV_NO_CACHE": "1",
                        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder, "PIP_NO_CACHE_DIR": "1"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    return wheels


@pytest.mark.slow
def test_a_bundle_for_another_system_holds_that_systems_wheels_and_script(offline, tmp_path, capsys):
    out = tmp_path / "windows.zip"
    words = ["--out", str(out), "--platform", "windows", "--python", "3.12"]
    assert cli.main(["course", "bundle", *words, "--wheel", str(offline["provisioning-workbook"])]) == 0
    assert capsys.readouterr().out.startswith("6 packages for windows and Python 3.12\n")
    with zipfile.ZipFile(out) as archive:
        content = {name.removeprefix("workbook-windows/"): archive.read(name) for name in archive.namelist()}
    files = {f"wheels/{path.name}" for path in offline.values()}
    assert set(content) == {*files, "requirements.txt", "start.bat", "manifest.json"}
    assert set(content["requirements.txt"].decode().split()) == {f"./{name}" for name in files}
    assert b"py -3.12 -m venv env\r\n" in content["start.bat"]
    assert b"@PYTHON@" not in content["start.bat"]
    manifest = json.loads(content.pop("manifest.json"))
    assert (manifest["platform"], manifest["python"]) == ("windows", "3.12")
    assert manifest["files"] == {name: sha256(data).hexdigest() for name, data in content.items()}


def test_the_script_of_other_systems_is_one_that_a_shell_reads(wheels, tmp_path):
    out, again = (_zipped(wheels.values(), Target.of("macos", "3.13"), tmp_path / name) for name in "ab")
    assert out.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(out) as archive:
        entry = archive.getinfo("workbook-macos/start.command")
        script = archive.read(entry)
        modes = {one.external_attr >> 16 for one in archive.infolist() if one is not entry}
    assert (entry.external_attr >> 16, modes) == (0o755, {0o644})
    subprocess.run(["sh", "-n"], input=script, check=True)
    assert b"python3.13" in script


@pytest.mark.slow
def test_a_tool_that_fails_is_quoted_and_nothing_is_written(offline, tmp_path):
    offline["epsilon"].unlink()
    out = tmp_path / "bundle.zip"
    with pytest.raises(ConfigurationError, match=r"^uv pip failed: .*epsilon"):
        make_bundle(out, Target.of("linux", "3.12"), offline["provisioning-workbook"], print)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_full_disk_leaves_the_old_bundle(wheels, tmp_path, monkeypatch):
    out = tmp_path / "bundle.zip"
    out.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("workbook.tools.course.bundle._resolved", lambda *_: [])
    monkeypatch.setattr("workbook.tools.course.bundle._download", lambda *_: None)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(ConfigurationError, match=r"cannot be written: No space left on device\."):
        make_bundle(out, Target.of("macos", "3.11"), wheels["core"], print)
    assert out.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "bundle.zip"}
