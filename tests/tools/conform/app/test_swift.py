"""The Swift stand-in, the reference app core and the extension, compiled and run for real where there is Swift."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbook.base.files import NATIVE
from workbook.tools.conform.app.compiling import write_standin
from workbook.tools.conform.app.panel import LivePhone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("swift"), reason="no Swift here; .ci/swift brings it to a Debian machine"),
]
SOURCES = Path(__file__).parent / "swift"
CORE = ("AddCardModel", "BackEnd", "CallTimer", "ExtensionHandler", "SharedStore")
EARLIER = ("EarlierDelegate", "BackEnd")
MODE_5, MODE_6 = (("-Xswiftc", "-swift-version", "-Xswiftc", version) for version in "56")


def swift(*arguments: str, **environment: str) -> str:
    """What a command prints; it has to end well."""
    done = subprocess.run(
        ["swift", *arguments], env=os.environ | environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def write_package(folder: Path, variant: str, core: tuple[str, ...]) -> Path:
    """A package with the stand-in beside it, and these files of the reference core in its only program."""
    write_standin(folder / "later", "swift", variant)
    sources = folder / "core/Sources"
    for module in ("Combine", "Security", "Probe"):
        (sources / module).mkdir(parents=True)
    shutil.copy(SOURCES / "Package.swift", folder / "core")
    for module in ("Combine", "Security"):
        shutil.copy(SOURCES / f"{module}.swift", sources / module)
    for name in core:
        shutil.copy(NATIVE / f"swift/{name}.swift", sources / "Probe")
    return folder / "core"


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_package(tmp_path_factory.mktemp("swift"), "later", CORE)
    shutil.copy(SOURCES / "Probe.swift", folder / "Sources/Probe")
    printed = swift("build", "--package-path", str(folder), *MODE_6)
    assert "warning:" not in printed
    return folder


@pytest.fixture
def phone() -> Iterator[LivePhone]:
    live = LivePhone(pace=0)
    yield live
    live.stop()


@pytest.mark.rule("B-CAN-1", "B-CAN-3", "B-START-1", "B-DEL-2", "B-DEL-3", "B-FIN-1", "B-FIN-2", "APP-4", "APP-9")
def test_the_reference_app_core_does_what_the_lesson_says(core: Path, phone: LivePhone) -> None:
    printed = swift("run", "--skip-build", "--package-path", str(core), *MODE_6, "Probe", "app", **phone.settings)
    assert [line.rstrip() for line in printed.splitlines()] == [
        "ready: shown",
        "ready, after the tap: hidden Added to Wallet",
        "cardholder cancels: shown",
        "cardholder cancels, after the tap: shown",
        "card already in the wallet: hidden Available in Wallet",
        "no entitlement: shown",
        "no entitlement, after the tap: shown Not added",
        "GET fails: hidden The card cannot be added now. Try again later.",
    ]


@pytest.mark.rule("X-HANDLER-1", "X-CACHE-1", "X-STATUS-1", "X-ENTRIES-1", "X-ENTRIES-2", "X-GEN-1", "X-ART-1")
def test_the_reference_extension_answers_each_call_in_a_process_of_its_own(core: Path, phone: LivePhone) -> None:
    first, second = "PISIMULATED00000000000001", "PISIMULATED00000000000002"
    printed = {
        call: swift(
            "run", "--skip-build", "--package-path", str(core), *MODE_6, "Probe", call,
            **phone.settings, KEYCHAIN=str(core / "keychain"),
        ).strip()
        for call in ("save", "status", "passEntries", "remotePassEntries", "generate")
    }  # fmt: skip
    assert printed == {
        "save": "saved",
        "status": "true true",
        "passEntries": f"{first} {second}",
        "remotePassEntries": second,  # the first is on the watch already
        "generate": second,
    }


@pytest.mark.nightly
@pytest.mark.rule("B-DEL-1", "X-ART-1")
@pytest.mark.parametrize(("variant", "mode"), [("later", MODE_5), ("earlier", MODE_5), ("earlier", MODE_6)])
def test_both_variants_compile_in_both_language_modes_without_a_warning(
    tmp_path: Path, variant: str, mode: tuple[str, ...]
) -> None:
    folder = write_package(tmp_path, variant, CORE if variant == "later" else EARLIER)
    if variant == "later":
        shutil.copy(SOURCES / "Probe.swift", folder / "Sources/Probe")
    else:
        (folder / "Sources/Probe/main.swift").write_text('print("compiled")\n')
    assert "warning:" not in swift("build", "--package-path", str(folder), *mode)
