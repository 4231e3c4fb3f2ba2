"""A bundle: all that a machine without a network needs to install the workbook with its extra `lab`, as one zip file.

pip's own `--platform` chooses wheels for another machine, but reads a requirement's marker (`sys_platform == "win32"`)
as of this one. So uv resolves for the target first, and pip downloads exactly that.
"""

import json
import re
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from workbook.base.children import python_command
from workbook.base.files import INSTALLED, NOTEBOOKS, ScratchFolder, explain_failure
from workbook.base.values import lookup, quoted
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.course import run_program


@dataclass(frozen=True, slots=True)
class Target:
    """The machines that a bundle is for, with the names of `platforms.toml`, which says what they mean."""

    platform: str
    python: str
    resolver: str
    script: str
    tags: list[str]

    @classmethod
    def of(cls, platform: str, python: str) -> "Target":
        """The machines with this platform (linux, macos or windows) and this version of Python, such as `3.12`.

        Raises:
            ParameterError: there is no such platform or version.
        """
        if not re.fullmatch(r"3\.1[1-9]", python):
            raise ParameterError(f"--python is {quoted(python)}. Give a version from 3.11 on, such as 3.12.")
        facts = lookup("platform", platform, tomllib.loads(files(__package__).joinpath("platforms.toml").read_text()))
        return cls(platform, python, **facts)


def make_bundle(out: Path, target: Target, wheel: Path | None, tell: Callable[[str], None]) -> None:
    """Write a bundle; an older file is replaced once the new one is whole.

    Args:
        out: the zip file.
        target: what the wheels are for.
        wheel: the workbook's own; None builds it from the checkout.
        tell: is given a line when the packages are known.

    Raises:
        ParameterError: `out` cannot be written, or `wheel` is none.
        ConfigurationError: a tool is missing or failed.
    """
    if out.is_dir() or (wheel is not None and not (wheel.suffix == ".whl" and wheel.is_file())):
        raise ParameterError(f"--out {str(out)!r} must not be a folder, and --wheel must be a wheel's file.")
    with (
        explain_failure(f"--out {str(out)!r} cannot be written"),
        ScratchFolder(out.absolute().parent) as scratch,
    ):
        wheels = Path(scratch) / "wheels"
        wheels.mkdir()
        pinned = _resolved(_own_wheel(wheel, wheels), target)
        tell(f"{len(pinned)} packages for {target.platform} and Python {target.python}")
        _download(pinned, wheels, target)
        _zipped(sorted(wheels.glob("*.whl")), target, Path(scratch) / "zip").replace(out)


def _own_wheel(given: Path | None, folder: Path) -> Path:
    """The workbook's own wheel, in this folder."""
    if given is not None:
        return Path(shutil.copy(given, folder))
    if INSTALLED:
        raise ConfigurationError("The workbook was installed from a wheel. Name that file: --wheel FILE.whl")
    pip = python_command("-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(NOTEBOOKS.parent))
    run_program("pip wheel failed", *pip)
    return next(folder.glob("*.whl"))


def _resolved(own: Path, target: Target) -> list[str]:
    """What the extra `lab` comes to on the target, one `name==version` each; versions that run here are preferred."""
    if find_spec("uv") is None:
        raise ConfigurationError(f"`workbook course bundle` needs uv: {sys.executable} -m pip install uv")
    asked = own.parent.parent / "asked.txt"
    pinned = own.parent.parent / "pinned.txt"
    asked.write_text(f"provisioning-workbook[lab] @ {own.as_uri()}\n", "utf-8")
    pinned.write_text("".join(f"{each.name}=={each.version}\n" for each in metadata.distributions()), "utf-8")
    options = ["--python", sys.executable, "--python-platform", target.resolver, "--python-version", target.python]
    options += ["--only-binary=:all:", "--no-header", "--no-annotate", "--no-emit-package=provisioning-workbook"]
    uv = python_command("-m", "uv", "pip", "compile", "-q")
    # in this folder, because uv obeys the uv.toml of the one that it is started in
    run_program("uv pip failed", *uv, *options, "-o", str(pinned), str(asked), folder=asked.parent)
    return [line for line in pinned.read_text("utf-8").splitlines() if "==" in line]


def _download(pinned: list[str], folder: Path, target: Target) -> None:
    """Download the wheel of each line; what pip has kept of an earlier time is not fetched again."""
    tags = [f"--platform={tag}" for tag in target.tags]
    options = ["--no-deps", "--only-binary=:all:", "--implementation=cp", f"--python-version={target.python}", *tags]
    pip = python_command("-m", "pip", "download", "--no-input", "--progress-bar=off", "-d", str(folder))
    run_program("pip download failed", *pip, *options, *pinned)


def _zipped(wheels: Iterable[Path], target: Target, draft: Path) -> Path:
    """A zip with the wheels, the script that installs them, and the manifest: the same bytes for the same wheels."""
    content = {f"wheels/{path.name}": path.read_bytes() for path in wheels}
    content["requirements.txt"] = "".join(f"./{name}\n" for name in content).encode()
    script = files(__package__).joinpath(target.script.replace("command", "sh")).read_bytes()
    content[target.script] = script.replace(b"@PYTHON@", target.python.encode())
    sums = {name: sha256(data).hexdigest() for name, data in content.items()}
    manifest = {"version": 1, "platform": target.platform, "python": target.python, "files": sums}
    content["manifest.json"] = json.dumps(manifest, indent=1).encode()
    with zipfile.ZipFile(draft, "w") as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(f"workbook-{target.platform}/{name}")
            entry.external_attr = (0o755 if name == target.script else 0o644) << 16
            archive.writestr(entry, data)
    return draft
