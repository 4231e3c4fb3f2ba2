"""What CI tested is pinned, and the pins keep pace with pyproject."""

import os
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rows import rows

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OWN = f"{PROJECT['name']}[dask,hub,kotlin,lab,lite,preflight]"
EVERY = [line for extra in EXTRAS.values() for line in extra]
DECLARED = [Requirement(line) for line in (*PROJECT["dependencies"], *EVERY) if line != OWN]


def pins():
    lines = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(r.name): r for r in wanted}


@rows("requirement", DECLARED)
def test_every_dependency_has_both_bounds_or_one_version_and_a_pin_within_them(requirement):
    operators = {part.operator for part in requirement.specifier}
    assert operators in ({">=", "<"}, {"=="})
    pin = pins()[canonicalize_name(requirement.name)]
    (exact,) = pin.specifier
    assert exact.operator == "=="
    assert requirement.specifier.contains(exact.version), f"{pin} is outside {requirement}"


def test_no_pin_names_a_host_or_a_path():
    text = (ROOT / ".ci" / "constraints.txt").read_text()
    assert "://" not in text
    assert "@" not in text


def test_what_is_installed_is_what_is_pinned():
    if os.environ.get("CI") != "true":
        pytest.skip("only CI promises to run on exactly the pinned versions")
    different = []
    for name, pin in pins().items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue  # a pin for another Python version or another system
        if not pin.specifier.contains(installed):
            different.append(f"{name} {installed}, pinned {pin.specifier}")
    assert different == []
