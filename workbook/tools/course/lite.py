"""The lessons as a static site that needs no installation: JupyterLite, and Python for the browser (Pyodide).

Everything lies in the site's folder, and no other address is asked. What Python needs there is listed in Pyodide's own
lock file, with checksums: the workbook and the packages that are installed where the site is built, each packed as a
wheel again. Only what was compiled for a browser is fetched; with a cache of it, a build needs no network.
"""

import json
import re
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from workbook.base.children import python_command
from workbook.base.files import FIXTURES, ScratchFolder, new_folder, pip_line
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.editions import Edition, lay_out
from workbook.lessons.exercises.progress import PROGRESS, Progress
from workbook.lessons.quiet_start import write_settings
from workbook.tools.course import run_program

# Its name as a distribution.
PACKAGE = "provisioning-workbook"


@dataclass(frozen=True, slots=True)
class Site:
    """What a build came to.

    Attributes:
        size: bytes of all files.
        left_out: the cells that a sentence stands for, such as `00_start_here.ipynb cell-16`, each with why.
    """

    size: int
    left_out: Mapping[str, str]


def build_site(out: Path, cache: Path | None = None) -> Site:
    """Build the site of lessons 00 to 05 into a new folder.

    Args:
        out: the folder.
        cache: where what was fetched is kept, and is looked for first; None keeps nothing.

    Raises:
        ConfigurationError: `out` is not empty or cannot be written, something that the build needs is not installed, or
            nothing can be fetched.
    """
    try:
        from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION
    except ModuleNotFoundError:
        raise _missing("JupyterLite") from None
    packages = needed_packages()
    with new_folder(out) as draft, ScratchFolder() as scratch:
        source = Path(scratch)
        python = Path(scratch) / "static" / "pyodide"
        kept = cache or source / "fetched"
        kept.mkdir(parents=True, exist_ok=True)
        _add_python(python, fetched_pyodide(PYODIDE_VERSION, kept), kept)
        for name in sorted(packages - {"pydantic-core"}):
            pack(name, python)
        names = write_lock(python)
        left_out = add_lessons(source / "files")
        _add_settings(source, names)
        build = python_command("-m", "jupyterlite_core", "build", f"--lite-dir={source}", f"--output-dir={draft}")
        run_program("JupyterLite did not build the site", *build, "--apps=lab", "--no-sourcemaps", folder=source)
        shutil.copy(Path(__file__).with_name("site.html"), draft / "index.html")
        return Site(sum(path.stat().st_size for path in draft.rglob("*") if path.is_file()), left_out)


def _missing(name: str) -> ConfigurationError:
    return ConfigurationError(f"A site needs {name}, which is not installed: {pip_line('lab,lite')}")


# What is fetched: Python for the browser, and two wheels.


def fetched_pyodide(version: str, cache: Path) -> Path:
    """The folder of the npm package `pyodide` below the cache, which npm fills where it is missing.

    Raises:
        ConfigurationError: npm is missing, or cannot fetch it.
    """
    folder = cache / f"pyodide-{version}"
    if not folder.is_dir():
        with ScratchFolder(cache) as scratch:
            what = f"Pyodide {version} is not in the cache, and npm cannot fetch it"
            run_program(what, "npm", "pack", "--silent", f"pyodide@{version}", folder=Path(scratch))
            with tarfile.open(next(Path(scratch).glob("*.tgz"))) as archive:
                archive.extractall(scratch, filter="data")
            (Path(scratch) / "package").rename(folder)
    return folder


def fetched_wheels(lock: Mapping[str, Any], cache: Path) -> list[Path]:
    """The wheels that were made for this Pyodide, from the cache or by pip.

    Raises:
        ConfigurationError: pip cannot fetch them.
    """
    core = f"pydantic_core-{metadata.version('pydantic-core')}"
    about = lock["info"]
    major, minor, _patch = about["python"].split(".")
    wanted = {core: f"-cp{major}{minor}-*", f"micropip-{lock['packages']['micropip']['version']}": "-py3-*"}
    if not all(any(cache.glob(f"{name}{tag}.whl")) for name, tag in wanted.items()):
        with ScratchFolder(cache) as scratch:
            what = f"Wheels for Pyodide are neither in the cache nor can pip fetch them ({', '.join(wanted)})"
            target = (f"--python-version={major}.{minor}", f"--platform=pyemscripten_{about['abi_version']}_wasm32")
            pip = python_command("-m", "pip", "download", "--no-deps", "--only-binary=:all:", *target)
            run_program(what, *pip, *(name.replace("-", "==") for name in wanted), folder=Path(scratch))
            for wheel in Path(scratch).glob("*.whl"):
                wheel.replace(cache / wheel.name)
    return [next(cache.glob(f"{name}{tag}.whl")) for name, tag in wanted.items()]


# What Python finds in the browser: wheels, and the lock file that lists them.


def _add_python(folder: Path, pyodide: Path, cache: Path) -> None:
    """Put Python, what was compiled for it, and the kernel's own packages into a new folder."""
    folder.mkdir(parents=True)
    try:
        for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"):
            shutil.copy(pyodide / name, folder)
        lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
        wheels = fetched_wheels(lock, cache)
    except (OSError, KeyError, ValueError) as error:
        raise ConfigurationError(f"{str(pyodide)!r} is no Pyodide distribution: {error}.") from None
    # the kernel's own come with its extension of JupyterLab
    files = metadata.files("jupyterlite-pyodide-kernel") or ()
    own = re.compile(r"(ipykernel|piplite|pyodide_kernel)-.*\.whl")
    for wheel in (*wheels, *(file.locate() for file in files if own.fullmatch(file.name))):
        shutil.copy(wheel, folder)


def needed_packages() -> set[str]:
    """The normalised names of the workbook and of all that its lessons need in a browser.

    Raises:
        ConfigurationError: one of them is not installed.
    """
    browser = {"sys_platform": "emscripten", "platform_system": "Emscripten", "platform_machine": "wasm32", "extra": ""}
    found: set[str] = set()
    new: set[str] = {PACKAGE, "ipywidgets", "anywidget", "ipython", "comm"}
    while new:
        found |= new
        try:
            requirements = [Requirement(text) for name in new for text in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError as error:
            raise _missing(str(error.name)) from None
        names = {
            canonicalize_name(requirement.name)
            for requirement in requirements
            if requirement.marker is None or requirement.marker.evaluate(browser)
        }
        # what ipywidgets asks for beside: the site has both as extensions of JupyterLab
        new = set[str](names) - found - {"widgetsnbextension", "jupyterlab-widgets"}
    return found


def pack(name: str, folder: Path) -> None:
    """Pack an installed package as a wheel of Python files, the same to the byte each time.

    Raises:
        ConfigurationError: it works only with compiled files.
    """
    package = metadata.distribution(name)
    files = _own_files() if name == PACKAGE else {str(one): Path(str(one.locate())) for one in package.files or ()}
    in_python_too = name in {"markupsafe", "psygnal", "wcwidth"}
    if not in_python_too and any(file.endswith((".so", ".pyd")) for file in files):
        raise ConfigurationError(f"{name} has compiled files, so a browser cannot use it. Install the workbook again.")
    title = f"{name.replace('-', '_')}-{package.version}"
    left = re.compile(r"\.\.|.*\.(so|pyd|pyc)$|[^/]*\.dist-info/(?!METADATA|licenses)")
    content = {file: path.read_bytes() for file, path in sorted(files.items()) if not left.match(file)}
    content[f"{title}.dist-info/METADATA"] = (package.read_text("METADATA") or "").encode()
    content[f"{title}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{title}.dist-info/RECORD"
    content[record] = "".join(f"{file},,\n" for file in [*content, record]).encode()
    with ZipFile(folder / f"{title}-py3-none-any.whl", "w", ZIP_DEFLATED) as wheel:
        for file, data in content.items():
            wheel.writestr(ZipInfo(file), data, ZIP_DEFLATED)  # which dates each file 1980


def _own_files() -> dict[str, Path]:
    """The workbook's own files, with the samples where a wheel has them: it may be a checkout."""
    trees = {"workbook": Path(__file__).parents[2], "workbook/_data/fixtures": FIXTURES}
    return {
        f"{place}/{path.relative_to(root)}": path
        for place, root in trees.items()
        for path in root.rglob("*")
        if path.is_file() and not {"_data", "__pycache__"} & {*path.relative_to(root).parts}
    }


def write_lock(folder: Path) -> list[str]:
    """Let the lock file of a folder list the wheels that lie in it; returns their names."""
    file = folder / "pyodide-lock.json"
    lock = json.loads(file.read_text("utf-8"))
    lock["packages"] = {entry["name"]: entry for entry in map(_entry, sorted(folder.glob("*.whl")))}
    file.write_text(json.dumps(lock), "utf-8")
    return [*lock["packages"]]


def _entry(wheel: Path) -> dict[str, Any]:
    name, version, *_tags = wheel.name.split("-")
    with ZipFile(wheel) as archive:
        modules = {Path(file).parts[0].partition(".")[0] for file in archive.namelist() if ".dist-info/" not in file}
    return {
        "name": canonicalize_name(name),
        "version": version,
        "file_name": wheel.name,
        "sha256": sha256(wheel.read_bytes()).hexdigest(),
        "imports": sorted(modules),
        "depends": [],  # all of them are loaded with Python
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


# What a reader sees: the lessons, and how JupyterLab starts.


# Why a browser cannot run a cell, by the tag of the cell.
LEFT_OUT = {
    "needs-machine": "It looks at the machine on which it runs, and a page in a browser does not see that.",
}


def add_lessons(folder: Path) -> dict[str, str]:
    """Put a learner's copy of lessons 00 to 05 into a new folder; a sentence stands for each cell that is left out.

    Args:
        folder: where JupyterLite looks for the pages.

    Returns:
        The cells that are left out, and why.
    """
    lay_out(folder, Edition.LEARNER)
    shutil.rmtree(folder / "fixtures")
    nobody = Progress(seat="visitor")  # the same for all visitors, so that the site is the same each time
    (folder / PROGRESS).write_text(nobody.text(), "utf-8")
    left_out = {}
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        if path.name > "06":
            path.unlink()
            continue
        notebook = json.loads(path.read_text("utf-8"))
        for at, cell in enumerate(notebook["cells"]):
            why = [LEFT_OUT[tag] for tag in cell["metadata"].get("tags", ()) if tag in LEFT_OUT]
            if why:
                left_out[f"{path.name} {cell['id']}"] = why[0]
                code = "".join(cell["source"])
                source = f"*A browser cannot run this cell. {why[0]}*\n\n```python\n{code}\n```"
                notebook["cells"][at] = {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": source}
            elif cell["cell_type"] == "markdown":  # a link to what is not here would lead nowhere
                cell["source"] = re.sub(r"\[([^]]+)\]\((0[6-9]_|\.\./)[^)]*\)", r"\1", "".join(cell["source"]))
        if path.name.startswith("00"):
            welcome = (
                "**This page runs in your browser.** Nothing is installed, and no other address is asked. Your changes "
                "and your progress stay in this browser. Lessons 06 to 09 need files and programs of yours, and an "
                "installation."
            )
            notebook["cells"].insert(1, {"cell_type": "markdown", "id": "site", "metadata": {}, "source": welcome})
        path.write_text(json.dumps(notebook), "utf-8")
    return left_out


def _add_settings(folder: Path, packages: Iterable[str]) -> None:
    """Write how JupyterLab starts: as quietly as elsewhere, in the system's colours, with Python and all packages."""
    write_settings(folder)
    settings = json.loads((folder / "settings" / "overrides.json").read_text("utf-8"))
    settings["@jupyterlab/apputils-extension:themes"] = {"adaptive-theme": True}
    page = json.loads((folder / "settings" / "page_config.json").read_text("utf-8"))
    kernel = {"disablePyPIFallback": True, "loadPyodideOptions": {"packages": sorted(packages)}}
    shown = {
        "appName": "Provisioning workbook",
        "disabledExtensions": [*page["disabledExtensions"]],
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel},
        "settingsOverrides": settings,
    }
    lite = {"jupyter-lite-schema-version": 0, "jupyter-config-data": shown}
    (folder / "jupyter-lite.json").write_text(json.dumps(lite), "utf-8")
