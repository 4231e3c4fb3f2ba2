"""Swift: the integrator's files and the SDK's stand-in, built into one program by the machine's own `swift build`."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from workbook.base.children import child_environment
from workbook.base.files import NATIVE, read_named
from workbook.errors import ConfigurationError, NotInstalledError
from workbook.tools.conform.app.compiling import cache_folder, standin_swift

# What the platform has and a plain Linux lacks is a part of the workbook: as much of it as an app core needs.
PACKAGE = """\
// swift-tools-version:5.7
import PackageDescription

#if os(Linux)
    let shims = ["Combine", "Security"]
#else
    let shims: [String] = []
#endif

let package = Package(
    name: "App",
    targets: shims.map { .target(name: $0) } + [
        .target(name: "Provisioning"),
        .executableTarget(name: "App", dependencies: shims.map { .byName(name: $0) } + ["Provisioning"]),
    ]
)
"""
MODULES = "Provisioning is there, and on Linux parts of Combine and Security."


def missing_swift() -> str:
    """A sentence that says that Swift is not installed and where it comes from; empty where it is there."""
    sources = "Xcode on a Mac, swift.org, or `apt-get install swiftlang` from Debian 13 on"
    return "" if shutil.which("swift") else f"Swift is not installed, or `swift` is not on the PATH: {sources}"


def build(files: Sequence[Path], variant: str, mode: str = "5") -> Path:
    """The program made of these files, one of which has `@main`; what has not changed is not compiled again.

    Args:
        files: Swift files.
        variant: of the stand-in, "earlier" or "later".
        mode: the language mode, "5" or "6".

    Raises:
        ConfigurationError: the compiler found mistakes: names each with its line.
        NotInstalledError: there is no Swift.
    """
    if lacking := missing_swift():
        raise NotInstalledError(f"{lacking}.")
    key = sha256(repr((sorted(map(str, files)), variant, mode)).encode()).hexdigest()[:16]
    package = cache_folder("swift", keep=10) / key
    write_package(package, variant, files)
    done = subprocess.run(  # noqa: S603 - the machine's compiler, on files that the caller named
        ["swift", "build", "--package-path", str(package), "-Xswiftc", "-swift-version", "-Xswiftc", mode],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        env=child_environment(),
        timeout=900,  # seconds; a machine may be busy with other things (assumed)
    )
    if done.returncode:
        raise ConfigurationError(_explain(done.stdout + done.stderr))
    return package / ".build" / "debug" / "App"


def write_package(package: Path, variant: str, files: Sequence[Path]) -> None:
    """Write the package that is built. A file that has not changed keeps its time, so that it is not compiled again.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    again = "Name a Swift file as UTF-8."
    sources = {f"Sources/App/{path.name}": read_named(path, 1_048_576, again).decode() for path in files}
    standin = {name: text for name, text in standin_swift(variant).items() if name != "Package.swift"}
    shims = {f"Sources/{path.stem}/{path.name}": path.read_text("utf-8") for path in (NATIVE / "swift/shims").iterdir()}
    wanted = {"Package.swift": PACKAGE, **standin, **shims, **sources}
    for path in (package / "Sources").rglob("*.swift"):
        if str(path.relative_to(package)) not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _explain(printed: str) -> str:
    """The compiler's mistakes as it wrote them, without the folder; else its last lines."""
    mistakes = list(dict.fromkeys(re.findall(r"^(?:/.*/)?([^/\n]+\.swift:\d+:\d+: error: .*)$", printed, re.MULTILINE)))
    # a compiler that crashed has no mistake to show: what it was doing is in numbered lines
    crashed = re.findall(r"^(?:error: .*|\d+\.\s.*|Assertion .*)$", printed, re.MULTILINE)
    shown = "\n".join(mistakes[:10] or [line[:300] for line in crashed[:8]]) or printed[-1000:]
    more = f"\nand {len(mistakes) - 10} more" if len(mistakes) > 10 else ""
    if re.search(r"no such module", shown):
        more += f"\n{MODULES} Keep views out of `sources`, and name each other file that is needed."
    return f"The Swift code does not compile.\n{shown}{more}"
