"""The Swift stand-in, the reference app core and the extension, compiled and run for real where there is Swift."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from app_flaws_b import BASICS, DAILY, FLAWS_B

from workbook.base.files import FIXTURES, NATIVE
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import all_exercises
from workbook.tools.conform.app.cases import AppCase
from workbook.tools.conform.app.cases_b import APP_CASES_B
from workbook.tools.conform.app.compiling import build, write_package, write_standin
from workbook.tools.conform.app.run import conform_app, judge_app
from workbook.tools.conform.app.stage import AppRun
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import to_json
from workbook.tools.harness.summary import todos

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("swift"), reason="no Swift here; .ci/swift brings it to a Debian machine"),
]
SOURCES = Path(__file__).parent / "swift"
SLOW = SOURCES / "Slow.swift"
NATIVE_FILES = {
    "later": [*(NATIVE / f"swift/{name}.swift" for name in ("AddCardModel", "BackEnd", "CallTimer", "ExtensionHandler",
                                                            "SharedStore")),
              FIXTURES / "apps/Adapter.swift"],
    "earlier": [*(NATIVE / f"swift/{name}.swift" for name in ("EarlierDelegate", "BackEnd", "ExtensionHandler",
                                                              "SharedStore")), FIXTURES / "apps/Earlier.swift"],
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.rule("B-DEL-1", "X-ART-1")
@pytest.mark.parametrize("mode", ["5", "6"])
@pytest.mark.parametrize("variant", NATIVE_FILES)
def test_both_variants_compile_in_both_modes_without_a_warning(tmp_path: Path, variant: str, mode: str) -> None:
    write_package(tmp_path, variant, NATIVE_FILES[variant])
    line = ["swift", "build", "--package-path", str(tmp_path), "-Xswiftc", "-swift-version", "-Xswiftc", mode]
    done = subprocess.run(line, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "warning:" not in done.stdout + done.stderr


# `workbook conform app` on platform B.


@pytest.fixture(scope="module")
def flawed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = pytest.MonkeyPatch()
    cache.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield build([SOURCES / "Flawed.swift", SLOW], "later")
    cache.undo()


def find(program: Path, flaw: str) -> list[str]:
    """What the cases of this mistake, which has to be found by each, say first."""
    first, *names = FLAWS_B[flaw]
    cases = tuple(APP_CASES_B[f"app.{name}"] for name in dict.fromkeys((*names, *BASICS)))
    record = conform_app(AppRun(cases=cases, platform="B", start=f"FLAW={shlex.quote(flaw)} exec {program}"))
    found = {case.name: case.misses for case in record.cases}
    missed = [f"{flaw}: not found by {name}" for name in names if not found[f"app.{name}"]]
    advice = [*(todo.text for todo in todos(record)), *(miss.todo for misses in found.values() for miss in misses)]
    return missed + ([] if advice and advice[0].startswith(first) else [f"{flaw}: {advice[:1]}"])


@pytest.mark.rule("APP-10", "APP-11", "B-DEL-3", "B-WATCH-2", "X-STATUS-3", "X-ENTRIES-2", "API-8")
@pytest.mark.rule("X-HANDLER-1", "X-ART-1", "X-GEN-1")
def test_ten_mistakes_are_found_and_named_first(flawed: Path) -> None:
    assert [line for flaw in DAILY for line in find(flawed, flaw)] == []


@pytest.mark.nightly
@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-CAN-3", "B-FIN-1", "B-FIN-2", "B-INIT-1", "B-START-1", "B-WATCH-1")
@pytest.mark.rule("X-STATUS-1", "X-STATUS-2", "X-CACHE-1", "X-ENTRIES-1", "X-ENTRIES-3", "X-DEL-1", "X-FLOW-1")
@pytest.mark.rule("REL-1", "REL-3", "REL-5", "REL-6", "API-13", "APP-12", "APP-13")
def test_every_mistake_is_found_and_named_first(flawed: Path) -> None:
    assert [line for flaw in FLAWS_B for line in find(flawed, flaw)] == []


@pytest.mark.nightly
def test_an_app_without_a_mistake_passes_every_case(flawed: Path) -> None:
    record = conform_app(AppRun(cases=tuple(APP_CASES_B.values()), platform="B", start=f"exec {flawed}"))
    assert [(case.name, case.misses) for case in record.cases if case.verdict is not Verdict.PASS] == []


@pytest.mark.golden
def test_the_reference_passes_a_case_of_each_group() -> None:
    """At night it meets all of them. `WORKBOOK_GOLDEN=write` stores the record that lesson 07 shows without Swift."""
    writes = os.environ.get("WORKBOOK_GOLDEN") == "write"
    names = tuple({case.group: case.name for case in APP_CASES_B.values()}.values())
    chosen = () if writes or os.environ.get("WORKBOOK_EVERYTHING") else names
    record, stored = judge_app(FIXTURES / "apps/reference_b.toml", chosen)
    assert not stored
    if writes:
        bare = tuple(replace(case, exchanges=(), seconds=0.0) for case in record.cases)
        (FIXTURES / "apps/reference_b.json").write_text(
            to_json(replace(record, cases=bare)).replace(f"{FIXTURES.parent}/", ""), "utf-8"
        )
    assert [(case.name, case.misses) for case in record.cases if case.verdict is not Verdict.PASS] == []


@pytest.mark.nightly
@pytest.mark.rule("B-CAN-1", "B-DEL-1", "X-ART-1")
def test_the_reference_of_the_earlier_variant_passes_whatever_it_has() -> None:
    record, _stored = judge_app(FIXTURES / "apps/earlier.toml", ())
    others = {case.name: case.verdict for case in record.cases if case.verdict is not Verdict.PASS}
    assert others == {case.name: Verdict.NOT_APPLICABLE for case in APP_CASES_B.values() if case.variant == "later"}


@pytest.mark.nightly
@pytest.mark.parametrize("style", sorted(path.name for path in (SOURCES / "styles").iterdir()))
def test_a_correct_app_of_another_style_passes_every_case(style: str) -> None:
    """Completions and three accounts of a keychain, an actor and a group's folder, a class with locks and a suite."""
    record, _stored = judge_app(SOURCES / f"styles/{style}/app.toml", ())
    assert [(case.name, case.misses) for case in record.cases if case.verdict is not Verdict.PASS] == []


SLOWED = ("", "has no guard", "stays disabled", "is shown after a success", "repeats the POST")
"""Some mistakes of `Flawed.swift`; each meets the cases that find it, slow and quick."""


@pytest.mark.parametrize(
    ("flaw", "pause"),
    [
        pytest.param(flaw, pause, marks=() if (flaw, pause) == ("has no guard", "0-800") else pytest.mark.nightly)
        for flaw in SLOWED
        for pause in ("100", "300", "800", "0-800")
    ],
)
def test_a_slow_page_gets_the_verdicts_and_the_first_advice_of_the_quick_one(
    flawed: Path, flaw: str, pause: str
) -> None:
    names = FLAWS_B[flaw][1:] if flaw else [name.removeprefix("app.") for name in APP_CASES_B]
    start = f"FLAW={shlex.quote(flaw)} exec {flawed}"
    same_when_slow(start, pause, [APP_CASES_B[f"app.{name}"] for name in dict.fromkeys((*names, *BASICS))])


def same_when_slow(start: str, pause: str, cases: list[AppCase]) -> None:
    """The program, and the same with a slow page, get the same verdicts and the same first advice."""
    cases = [case for case in cases if not case.measures]  # a duration may differ by itself
    plain, slowed = (
        conform_app(AppRun(cases=cases, platform="B", start=f"SLOW={slow} {start}")) for slow in (0, pause)
    )
    verdicts = [[(case.name, case.verdict) for case in record.cases] for record in (plain, slowed)]
    assert verdicts[1] == verdicts[0]
    assert [todo.text for todo in todos(slowed)][:1] == [todo.text for todo in todos(plain)][:1]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app and an extension that keep what they share in the way that WAY names; two of its files have one name."""
    cache = pytest.MonkeyPatch()
    cache.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    files = [NATIVE / "swift/BackEnd.swift", *sorted((SOURCES / "storage").rglob("*.swift"))]
    yield build(files, "later", module="OperatorSDK")
    cache.undo()


WAYS = {
    "items": "",
    "items, read without a group": "",
    "defaults": "",
    "container": "",
    "another group": "Nothing lies where the extension reads (group TEAM.G2; the app wrote TEAM.G1)",
    "no group": "Nothing lies where the extension reads (group of its own; the app wrote one of its own)",
    "another service": "Nothing lies where the extension reads (service other; the app wrote cards)",
    "another container": "Nothing lies where the extension reads (group group.other; the app wrote group.bank)",
    "defaults of its own": "Nothing is saved where the extension can read",
    "nothing": "Nothing is saved where the extension can read",
}


@pytest.mark.rule("X-CACHE-1")
@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way == "another group" else pytest.mark.nightly) for way in WAYS]
)
def test_whatever_app_and_extension_share_is_found_where_both_look(
    stores: Path, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing of it comes into the home of whoever runs the cases."""
    monkeypatch.setenv("HOME", str(tmp_path))
    names = (
        "status.available-once-saved",
        "status.available-without-the-app",
        "entries.phone-list",
        "entries.watch-list",
    )
    cases = [APP_CASES_B[f"app.{name}"] for name in (*names, "status.unavailable-when-damaged")]
    start = f"WAY={shlex.quote(way)} exec {stores}"
    record = conform_app(AppRun(cases=cases, platform="B", start=start))
    advice = [todo.text for todo in todos(record)]
    assert bool(advice) == bool(WAYS[way]), advice
    assert not advice or advice[0].startswith(WAYS[way])
    assert [*tmp_path.iterdir()] == []


@pytest.mark.nightly
@pytest.mark.golden
def test_the_handlers_of_lesson_07_fail_the_cases_that_the_lesson_says() -> None:
    names = ("app.status.no-network", "app.entries.nothing-afterwards", "app.request.nil-after-500")
    files = [FIXTURES / "apps/Handlers.swift", *(NATIVE / f"swift/{name}.swift" for name in ("BackEnd", "SharedStore"))]
    cases, program, failed = tuple(map(APP_CASES_B.__getitem__, names)), build(files, "later"), {}
    for handler in "abcd":
        record = conform_app(AppRun(cases=cases, platform="B", start=f"HANDLER={handler} exec {program}"))
        failed[handler] = " ".join(case.name for case in record.cases if case.misses)
    stored = FIXTURES / "apps/handlers.json"
    if os.environ.get("WORKBOOK_GOLDEN") == "write":
        stored.write_text(json.dumps(failed, indent=1) + "\n", "utf-8")
    assert json.loads(stored.read_text("utf-8")) == failed
    written = stored.with_name("Handlers.swift").read_text("utf-8")
    swift = all_exercises()["07.4"].task.partition("```swift\n")[2].partition("```")[0].splitlines()
    assert [line for line in swift if line.strip() not in written and not line.startswith("//")] == []


def test_both_packages_say_which_systems_they_are_for(tmp_path: Path) -> None:
    """Without that a Mac takes the oldest, on which nothing is async. No Mac is needed to read it."""
    write_package(tmp_path / "conform", "later", [])
    write_standin(tmp_path / "own", "swift", "later", "OperatorSDK")
    for package in ("conform", "own"):
        line = ["swift", "package", "--package-path", str(tmp_path / package), "dump-package"]
        told = json.loads(subprocess.run(line, capture_output=True, timeout=300, check=True).stdout)
        found = {platform["platformName"]: platform["version"] for platform in told["platforms"]}
        assert found == {"macos": "12.0", "ios": "13.0"}
    assert "OperatorSDK" in {target["name"] for target in told["targets"]}


@pytest.mark.nightly
@pytest.mark.rule("X-AUTH-1")
@pytest.mark.parametrize("system", [["CoreGraphics", "AppKit"], ["CoreGraphics", "UIKit", "os"]], ids=["mac", "phone"])
def test_the_files_compile_where_the_platform_has_its_own_types(tmp_path: Path, system: list[str]) -> None:
    """Modules of the tests stand for the platform's: with them the branches that Linux leaves out are compiled.

    On a phone also the files that show a view, with what an app has to write.
    """
    names = [
        f"{name}.swift" for name in ("AuthorizationProvider", "YourApp", "ExtensionHandler", "BackEnd", "SharedStore")
    ]
    files = [NATIVE / "swift" / name for name in names] if "UIKit" in system else []
    write_package(tmp_path, "later", files)
    for name in system:
        (folder := tmp_path / "SDK/Sources" / name).mkdir()
        shutil.copy(SOURCES / "platform" / f"{name}.swift", folder)
    for file in (tmp_path / "Sources/App").glob("YourApp.swift"):
        file.write_text(re.sub(r"#error\(.*\)", "return false", file.read_text("utf-8")), "utf-8")
    (tmp_path / "Sources/App/main.swift").write_text("", "utf-8")
    manifest, only = tmp_path / "SDK/Package.swift", '[.target(name: "Provisioning")]'
    text = manifest.read_text("utf-8")
    assert only in text
    more = ", ".join(
        f'.target(name: "{name}", dependencies: {json.dumps(system[:at])})' for at, name in enumerate(system)
    )
    own = f'.target(name: "Provisioning", dependencies: {json.dumps(system)})'
    text = text.replace(only, f"[{more}, {own}]").replace("+ shims)", f"+ shims + {json.dumps(system)})")
    manifest.write_text(text, "utf-8")
    done = subprocess.run(["swift", "build", "--package-path", str(tmp_path)], capture_output=True, text=True,
                          timeout=900, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "warning:" not in done.stdout + done.stderr


@pytest.mark.nightly
def test_mistakes_of_the_compiler_are_shown_as_written(tmp_path: Path) -> None:
    (tmp_path / "Wrong.swift").write_text('import UIKitten\nlet number: Int = "text"\n', "utf-8")
    with pytest.raises(
        ConfigurationError, match=r"(?s)Wrong\.swift:1:8: error: no such module.*Keep views out"
    ) as error:
        build([tmp_path / "Wrong.swift"], "later")
    assert str(tmp_path) not in str(error.value)
