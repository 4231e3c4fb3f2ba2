"""Compiling an app's files: once, and what is told where Kotlin is missing or the code is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

import workbook as wb
from workbook.base.files import FIXTURES
from workbook.errors import ConfigurationError, NotInstalledError, ParameterError
from workbook.tools.conform.app import compiling
from workbook.tools.conform.app.cases import APP_CASES
from workbook.tools.conform.app.compiling import PACKAGE, Toolchain, compiled, files_of, write_package, write_standin
from workbook.tools.conform.app.run import load_app, started_by

APPS = FIXTURES / "apps"
ERRORS = """\
/tmp/app/src/AddCard.kt:12:5: error: unresolved reference 'provsion'.
    sdk.provsion(name)
        ^^^^^^^^
/tmp/app/src/AddCard.kt:20:9: error: 'when' expression must be exhaustive.
"""
NO_CALL = "AddCard.kt:1:8: error: unresolved reference 'okhttp3'.\nAddCard.kt:3:1: error: unresolved reference 'x'.\n"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of Java: it notes each start, and fails where a file `errors` says how."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiling._compiled.cache_clear()
    folder = tmp_path / "compiler"
    folder.mkdir()
    java = folder / "java"
    java.write_text(
        f"#!/bin/sh\necho started >> {folder}/starts\n"
        f"[ ! -f {folder}/errors ] || {{ cat {folder}/errors >&2; exit 1; }}\n"
    )
    java.chmod(0o755)
    monkeypatch.setattr(compiling, "needed_toolchain", lambda: Toolchain(str(java), folder / "a.jar", folder / "b.jar"))
    return folder


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "java", str)
    monkeypatch.setattr(compiling, "kotlin_jars", list)


def source(folder: Path, text: str) -> Path:
    (file := folder / "AddCard.kt").write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("language", "name", "files", "says"),
    [
        ("kotlin", "", "CardProvisioning.kt", "package provisioning"),
        ("kotlin", "com.operator.sdk", "CardProvisioning.kt", "package com.operator.sdk"),
        ("swift", "", "Sources/Provisioning/InApp.swift", ""),
        ("swift", "OperatorSDK", "Sources/OperatorSDK/InApp.swift", ""),
        ("swift", "OperatorSDK", "Package.swift", 'targets: [.target(name: "OperatorSDK")]'),
        ("swift", "", "Beside/Storage.swift", "// What the platform keeps"),
    ],
)
def test_the_stand_in_has_the_name_that_the_sdk_has(
    tmp_path: Path, language: str, name: str, files: str, says: str
) -> None:
    written = write_standin(tmp_path, language, "", name)
    assert tmp_path / files in written
    assert says in (tmp_path / files).read_text("utf-8")
    assert name == "" or all(PACKAGE not in path.name.lower() for path in written if language == "swift")


@pytest.mark.parametrize(
    ("language", "name"), [("kotlin", "com.bank-app"), ("kotlin", "a..b"), ("swift", "a.b"), ("swift", "1a")]
)
def test_a_name_that_is_none_is_refused(tmp_path: Path, language: str, name: str) -> None:
    with pytest.raises(ParameterError, match=rf"{re.escape(repr(name))} is no name of a (package|module), such as"):
        write_standin(tmp_path, language, "", name)


def test_swift_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = [tmp_path / name / "Vault.swift" for name in ("App", "Ext", "Ext/App")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"// {file.parent}", "utf-8")
    write_package(tmp_path / "made", "later", [*files, files[0]])
    made = {path.name: path.read_text("utf-8") for path in (tmp_path / "made/Sources/App").iterdir()}
    assert made.pop("Storage.swift").startswith("// What the platform keeps")
    assert made.pop("Network.swift").startswith("// Two time limits")
    names = ["Vault.swift", "Ext-Vault.swift", "App-Vault.swift"]
    assert made == {name: f"// {file.parent}" for name, file in zip(names, files, strict=True)}


def test_the_manual_shows_the_package_that_is_built() -> None:
    built = (FIXTURES / "native/swift/app/Package.swift").read_text("utf-8")
    shown = built.replace('Target(name: "App"', 'Target(name: "ConformTest"').replace('"App"', '"Conform"')
    manual = (FIXTURES.parent / "notebooks/reference/phone.md").read_text("utf-8")
    assert f"```swift\n{shown.replace('Provisioning', 'OperatorSDK')}```\n" in manual


@pytest.mark.parametrize(
    ("printed", "advice"),
    [
        ("value of type 'A' has no member '$text'", "they are the platform's: $text."),
        ("cannot find type 'AnyCancellable' in scope", "they are the platform's: AnyCancellable."),
        ("cannot find 'kSecUseKeychain' in scope", "they are the platform's: kSecUseKeychain."),
        ("no such module 'UIKit'", "Keep views out"),
        ("cannot find 'provsion' in scope", ""),
    ],
)
def test_what_only_the_platform_has_is_told_so(printed: str, advice: str) -> None:
    told = compiling._explain_swift(f"/tmp/x/Core.swift:3:5: error: {printed}\n")
    assert f"Core.swift:3:5: error: {printed}" in told
    assert advice in told
    assert ("on Linux parts of Combine" in told) == bool(advice)


@pytest.mark.parametrize(
    ("version", "taken"),
    [('openjdk version "17.0.15" 2025', True), ('java version "1.8.0_402"', False), ("LinkageError", False)],
)
def test_an_old_java_on_the_path_does_not_come_before_the_extras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, *, taken: bool
) -> None:
    program = tmp_path / "java"
    program.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert (compiling.java() == str(program)) == taken


def test_the_same_files_are_compiled_once(compiler: Path, tmp_path: Path) -> None:
    file = source(tmp_path, "class Once")
    assert compiled([file]) == compiled([file])
    assert (compiler / "starts").read_text().count("started") == 1
    assert compiled([source(tmp_path, "class Changed")]) != compiled([file], "before-0.4.0")
    assert (compiler / "starts").read_text().count("started") == 3


def test_another_process_and_another_place_compile_the_same_files_no_more(compiler: Path, tmp_path: Path) -> None:
    first = compiled([source(tmp_path, "class Once")])
    compiling._compiled.cache_clear()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    assert compiled([source(elsewhere, "class Once")]) == first
    jar = tmp_path / "used.jar"
    jar.write_bytes(b"1")
    with_jar = compiled([source(tmp_path, "class Once")], libraries=[jar])
    os.utime(jar, (1, 1))
    compiling._compiled.cache_clear()
    assert len({first, with_jar, compiled([source(tmp_path, "class Once")], libraries=[jar])}) == 3
    assert (compiler / "starts").read_text().count("started") == 3


@pytest.mark.usefixtures("compiler")
def test_the_latest_compilations_are_kept(tmp_path: Path) -> None:
    made = [compiled([source(tmp_path, f"class Number{number}")]) for number in range(4)]
    compiling.cache_folder(keep=3)
    assert [path.exists() for path in made] == [False, True, True, True]


def test_a_cache_that_cannot_be_written_is_told(
    compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigurationError, match=r"Cannot keep compiled code in .*XDG_CACHE_HOME"):
        compiled([source(tmp_path, "class Nowhere")])


@pytest.mark.parametrize(("there", "told"), [("java", "Kotlin's compiler is not"), ("kotlin_jars", "Java is not")])
@pytest.mark.usefixtures("nothing_installed")
def test_one_of_the_two_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, there: str, told: str) -> None:
    monkeypatch.setattr(compiling, there, lambda: ["there", "there"])
    assert compiling.missing().startswith(f"{told} installed: pip install")


@pytest.mark.parametrize(
    ("errors", "code", "told"),
    [
        (ERRORS, "class Wrong",
         r"compile\.\nAddCard.kt:12:5: error: unresolved reference 'provsion'\.\nAddCard.kt:20:9: error: 'when' .*\.$"),
        ("Core.kt:12:12: error: unresolved reference 'json'.\n", "import org.json.JSONObject",
         r"(?s)org.json is a part of platform A.*`libraries`.*Json.kt"),
        (NO_CALL, "import okhttp3.Call\n\nx()", r"Not found: okhttp3.Call. Add its jar to `libraries`.*coroutines"),
    ],
)  # fmt: skip
def test_each_mistake_of_the_code_is_named_with_its_line_and_what_to_add(
    compiler: Path, tmp_path: Path, errors: str, code: str, told: str
) -> None:
    (compiler / "errors").write_text(errors)
    with pytest.raises(ConfigurationError, match=told):
        compiled([source(tmp_path, code)])


def test_a_library_that_cannot_be_used_is_told(compiler: Path, tmp_path: Path) -> None:
    (tmp_path / "there.aar").write_bytes(b"")
    for name, told in (("none.jar", "none.jar' is no library"), ("there.aar", "of an .aar its classes.jar")):
        with pytest.raises(ConfigurationError, match=told):
            compiled([source(tmp_path, "class Once")], libraries=[tmp_path / name])
    assert not (compiler / "starts").exists()


@pytest.mark.parametrize(
    "compiling_it", [compiled, lambda files: compiling.write_package(files[0].parent, "later", files)]
)
@pytest.mark.usefixtures("compiler")
def test_a_file_in_another_encoding_is_told_with_its_line(tmp_path: Path, compiling_it: Callable[..., object]) -> None:
    (file := tmp_path / "Core.kt").write_bytes("class Once\n// \xfc\n".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"Core.kt', line 2: it is not UTF-8\. Save the file as UTF-8\."):
        compiling_it([file])


@pytest.mark.usefixtures("compiler")
def test_a_compiler_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "LONGEST", 0.05)
    monkeypatch.setattr(Toolchain, "line", lambda *_arguments: ["sleep", "60"])
    with pytest.raises(ConfigurationError, match=r"The compiler did not end within 0\.05 s\. .*Try again"):
        compiled([source(tmp_path, "class Slow")])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no signal says that a parent was killed")
def test_a_compiler_ends_with_the_command_that_was_killed(tmp_path: Path) -> None:
    line = ["sh", "-c", f"echo $$ > {tmp_path}/started; mv {tmp_path}/started {tmp_path}/compiler; exec sleep 60"]
    code = f"from workbook.tools.conform.app.compiling import _run; _run({line!r}, 60)"
    command = subprocess.Popen([sys.executable, "-c", code])
    assert waited((tmp_path / "compiler").exists)
    compiler = int((tmp_path / "compiler").read_text())
    command.kill()
    command.wait()
    assert waited(lambda: not is_alive(compiler))


def waited(over: Callable[[], bool]) -> bool:
    return any(over() or sleep(0.05) for _try in range(400))


def is_alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_another_run_is_making_is_no_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("of-a-compilation", "workbook-scratch-1"):
        (compiling.cache_folder() / name).mkdir()
    assert [path.name for path in compiling.cache_folder(keep=0).iterdir()] == ["workbook-scratch-1"]


def test_the_reference_app_core_is_a_part_of_the_workbook() -> None:
    names = [path.name for path in files_of(["native/kotlin", "."], APPS)]
    assert names[:3] == ["AddButton.kt", "AddCardModel.kt", "BackEnd.kt"]
    assert names[3:] == ["Adapter.kt", "Careless.kt", "Json.kt", "TwoSteps.kt"]
    with pytest.raises(ConfigurationError, match="There is no Kotlin file at 'src'"):
        files_of(["src"], APPS)


def test_a_program_needs_all_jars_on_its_path(compiler: Path) -> None:
    form, _surface = load_app(APPS / "careless.toml")
    line = started_by(form, APPS)
    assert line.startswith(f"exec {compiler}/java ")
    assert line.endswith(f":{compiler}/b.jar:{compiler}/a.jar sample.CarelessKt")


@pytest.mark.usefixtures("nothing_installed")
def test_without_kotlin_a_sample_shows_its_stored_run_and_says_so() -> None:
    good = wb.conform_app(APPS / "reference.toml")
    assert good.text().startswith("Kotlin's compiler and Java are not installed: pip install")
    says = "This is a stored run of the sample; changes of yours in its code are not seen."
    assert f"{says}\n\n{len(APP_CASES)} cases, and none failed: " in good.text()
    assert good.exit_code == 0
    careless = wb.conform_app(APPS / "careless.toml", "app.faults.post-500")
    assert careless.failed == ("app.faults.post-500",)
    assert [row[:2] for row in careless.changes(wb.conform_app(APPS / "reference.toml", *careless.failed)).rows] == [
        ("fixed", "app.faults.post-500")
    ]


@pytest.mark.usefixtures("nothing_installed")
def test_the_stored_run_is_what_the_lesson_shows() -> None:
    cells = json.loads((FIXTURES.parent / "notebooks/07_your_own_app.ipynb").read_text("utf-8"))["cells"]
    shown = {cell["id"]: "".join(cell["outputs"][-1]["data"]["text/plain"]) for cell in cells if cell.get("outputs")}
    failed = ("app.concurrency.disabled-at-once", "app.faults.post-500", "app.secrecy.no-sdk-output-in-log")
    assert wb.conform_app(APPS / "careless.toml", *failed).text().endswith(shown["cell-09"])


@pytest.mark.usefixtures("nothing_installed")
def test_without_kotlin_an_app_of_ones_own_is_told_what_to_install(tmp_path: Path) -> None:
    source(tmp_path, "class Mine")
    (tmp_path / "app.toml").write_text('name = "mine"\n[kotlin]\nsources = ["AddCard.kt"]\nmain = "MainKt"\n', "utf-8")
    with pytest.raises(NotInstalledError, match=r"Kotlin's compiler and Java are not installed: pip install .*kotlin"):
        wb.conform_app(tmp_path / "app.toml")
