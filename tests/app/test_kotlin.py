"""The stand-in, the reference app core and the flawed app in Kotlin, compiled once and run for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from app_flaws import FLAWS, UNREACHED
from kotlin_tools import SOURCES, command, compiled

from workbook.app.cases import APP_CASES
from workbook.app.native import sources, write
from workbook.app.run import AppRun, conform_app
from workbook.conformance.model import Verdict
from workbook.files import NATIVE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    core = sorted((NATIVE / "kotlin").glob("*.kt"))
    done = compiled(folder, *core, *write(folder / "standin", "from-0.4.0"), *sorted(SOURCES.glob("*.kt")))
    assert done.returncode == 0, done.stderr
    return folder


def test_the_reference_app_core_passes_every_case(classes: Path) -> None:
    run = AppRun(command=command(classes, "issuer.ReferenceAppKt"))
    record = conform_app(run)
    others = {case.name: (case.verdict, case.misses) for case in record.cases if case.verdict is not Verdict.PASS}
    assert others == {"app.form.two-steps": (Verdict.NOT_APPLICABLE, ())}
    assert record.about.exit_code == 0


@pytest.mark.rule("A-BTN-1", "A-OPC-1", "A-CAN-1", "A-CAN-2", "A-CAN-6", "A-MIG-1", "API-13", "REL-3", "REL-6")
def test_each_case_finds_the_mistake_that_it_is_there_for(classes: Path) -> None:
    cases = [replace(APP_CASES[name], says=flaw) for name, flaws in FLAWS.items() for flaw in flaws]
    run = AppRun(command=command(classes, "flawed.FlawedAppKt"), cases=cases, session=lambda case: f"flaw:{case.says}")
    record = conform_app(run)
    assert not record.about.trouble
    missed = [(case.name, case.says) for case in record.cases if not case.misses]
    assert missed == []


def test_the_flawed_app_without_a_flaw_passes(classes: Path) -> None:
    run = AppRun(command=command(classes, "flawed.FlawedAppKt"), session=lambda _case: "flaw:none")
    record = conform_app(run)
    assert [case.name for case in record.cases if case.verdict is Verdict.FAIL] == []


def test_every_case_has_a_flaw_or_a_reason() -> None:
    assert set(FLAWS) | set(UNREACHED) == set(APP_CASES)
    assert not set(FLAWS) & set(UNREACHED)


def test_the_standin_for_the_earlier_variant_compiles(tmp_path: Path) -> None:
    done = compiled(tmp_path / "out", *write(tmp_path / "standin", "before-0.4.0"))
    assert done.returncode == 0, done.stderr


@pytest.mark.rule("A-OUT-1", "A-PROV-4", "A-CAN-5")
def test_the_earlier_variant_has_neither_provider_nor_deprecation() -> None:
    earlier, later = sources("before-0.4.0")["CardProvisioning.kt"], sources("from-0.4.0")["CardProvisioning.kt"]
    for word in ("interface OpcProvider", "@Deprecated", "class ApiError"):
        assert word in later
        assert word not in earlier
    assert "from 0.4.0" not in later.replace("From 0.4.0", "")


def test_a_unit_test_of_a_plain_project_runs_against_the_phone(classes: Path, tmp_path: Path) -> None:
    phone = subprocess.Popen(
        [sys.executable, "-m", "workbook", "phone", "--json", "--pace", "0", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert phone.stdout is not None
        values = json.loads(phone.stdout.readline())
        done = subprocess.run(
            command(classes, "unit.UnitTestKt"), shell=True, env=os.environ | values, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
    finally:
        phone.send_signal(signal.SIGTERM)
        _out, log = phone.communicate(timeout=30)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "all of it holds"), done.stderr
    assert phone.returncode == 0
    trace = (tmp_path / "app.jsonl").read_text("utf-8")
    assert '"name": "AlreadyExistsInWallet"' in trace
    assert "SDK -> App: ProvisionResult.Failure" in log
    assert values["WORKBOOK_PHONE_KEY"] not in trace + log
