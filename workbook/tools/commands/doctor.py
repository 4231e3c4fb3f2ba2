"""Checks whether the workbook can run on this machine, and says what to do if it cannot."""

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

from workbook.api.protocol import wrong_url
from workbook.base.files import pip_line
from workbook.base.secrecy import what_is_wrong


@dataclass(frozen=True, slots=True)
class Health:
    """The result of one check.

    Attributes:
        name: of the check.
        ok: whether nothing is to be done.
        text: the result, and what to do about a bad one.
    """

    name: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok' if self.ok else 'bad':<4} {self.name:<12} {self.text}"


def packages(requires: Callable[[], Iterable[str] | None], installed: Callable[[str], str]) -> Health:
    """Every dependency is installed in a version that pyproject.toml allows.

    Without JupyterLab only the core's dependencies count: the rest is an extra, and need not be there.

    Args:
        requires: gives the requirements; raises ModuleNotFoundError when the workbook is not installed.
        installed: gives a distribution's version; raises ModuleNotFoundError when it is missing.
    """
    from packaging.requirements import Requirement  # not at every start

    try:
        requirements = [Requirement(text) for text in requires() or ()]
    except ModuleNotFoundError:
        return Health("packages", ok=False, text=f"provisioning-workbook is not installed; {pip_line('lab')}")
    try:
        installed("jupyterlab")
        extra, note = "lab", ""
    except ModuleNotFoundError:
        extra, note = "", f"; the notebooks need more: {pip_line('lab')}"
    needed = [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": extra})]
    wrong = []
    for requirement in needed:
        try:
            version = installed(requirement.name)
        except ModuleNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} is {version}, needed {requirement.specifier}")
    if wrong:
        return Health("packages", ok=False, text=f"{'; '.join(wrong)}; install the workbook again in a new venv")
    return Health("packages", ok=True, text=f"{len(needed)} within their bounds{note}")


def kernel(start: Callable[[], str]) -> Health:
    """A kernel starts and adds 1 and 1; `start` returns its answer."""
    begun = time.monotonic()
    try:
        answer = start()
    except ModuleNotFoundError as error:
        return Health("kernel", ok=True, text=f"not tried: {error.name} is not installed, and only notebooks need it")
    except Exception as error:  # noqa: BLE001  # every reason why a kernel does not start
        message = " ".join(str(error).split())[:200] or type(error).__name__
        return Health("kernel", ok=False, text=f"did not start ({message}); reinstall ipykernel")
    if answer != "2":
        return Health("kernel", ok=False, text=f"says that 1 + 1 is {answer!r}; reinstall ipykernel")
    return Health("kernel", ok=True, text=f"started in {time.monotonic() - begun:.1f} s")


def environment(environ: Mapping[str, str]) -> Health:
    """The settings for a real API, where there are any, are well formed; a value is never shown."""
    base_url, key = environ.get("WORKBOOK_BASE_URL"), environ.get("WORKBOOK_API_KEY")
    state = ", ".join(
        f"{name} {'not set' if value is None else 'set'}"
        for name, value in {"WORKBOOK_BASE_URL": base_url, "WORKBOOK_API_KEY": key}.items()
    )
    if base_url is not None and (wrong := wrong_url(base_url.rstrip("/"))):
        text = f"{state}; WORKBOOK_BASE_URL {wrong}"
    elif key is not None and (wrong := what_is_wrong(key)):
        text = f"{state}; {wrong}"
    else:
        note = "; a real API needs both, the simulation neither" if (base_url is None) != (key is None) else ""
        return Health("environment", ok=True, text=f"{state}{note}")
    return Health("environment", ok=False, text=text)


def extra(name: str, there: object, needs: str, of: str) -> Health:
    """What some commands need: whether it is there, and which these are; nothing is bad without it."""
    return Health(name, ok=True, text=f"found, for {needs}" if there else f"not found, for {needs}: {pip_line(of)}")


def extras() -> Iterator[Health]:
    """What compiles Kotlin and Swift, and what reads the sources of apps: nothing is bad without them."""
    from workbook.tools.conform.app.compiling import java, kotlin_jars  # not at every start

    for name, found in (("kotlin", kotlin_jars()), ("java", java())):
        yield extra(name, found, "`conform app` with [kotlin]", "kotlin")
    swift = shutil.which("swift")
    sources = "a toolchain of Xcode, of swift.org, or `apt-get install swiftlang` on Debian 13"
    text = "found, for" if swift else f"not found: {sources}, for"
    yield Health("swift", ok=True, text=f"{text} `conform app` on platform B")
    grammars = ("tree_sitter", "tree_sitter_kotlin", "tree_sitter_swift")
    yield extra("tree-sitter", all(map(find_spec, grammars)), "`preflight`'s cases about sources", "preflight")


def _start_kernel() -> str:
    from workbook.tools.commands.runner import one_plus_one  # starts a kernel

    return one_plus_one()


class Examination:
    """What the checks of this machine say; each runs when its result is asked for; showing this runs all."""

    def __iter__(self) -> Iterator[Health]:
        yield Health("python", ok=True, text=platform.python_version())
        yield packages(lambda: metadata.requires("provisioning-workbook"), metadata.version)
        yield kernel(_start_kernel)
        yield environment(os.environ)
        yield from extras()

    def __repr__(self) -> str:
        results = [*self]
        advice = "nothing is to be done" if all(each.ok for each in results) else "do what the lines with 'bad' say"
        return "\n".join([*map(str, results), f"Next: {advice}."])


def examine() -> Examination:
    """Check this machine, as `workbook doctor` does: Python, packages, kernel, settings, extras.

    Returns:
        The results, one by one as they are ready: each has `name`, `ok` and `text`.

    Example:
        >>> next(iter(wb.examine())).name
        'python'
    """
    return Examination()
