"""The stand-in, the sample apps and the flawed app in Kotlin, compiled once and run for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from app_flaws import CAUSES, FLAWS, UNREACHED

import workbook.tools.conform.app.cases as cases_module
from workbook.base.files import FIXTURES
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, VARIANTS_A, VariantA
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.cases import APP_CASES
from workbook.tools.conform.app.compiling import command, compiled, files_of, missing, standin
from workbook.tools.conform.app.run import conform_app, judge_app
from workbook.tools.conform.app.stage import AppRun, Tempo
from workbook.tools.harness.model import Verdict, choose_cases
from workbook.tools.harness.report import RunRecord, from_json, to_json

slow = pytest.mark.slow
nightly = pytest.mark.nightly
SOURCES = Path(__file__).parent / "kotlin"
APPS = FIXTURES / "apps"
OF_THE_LESSON = "app.concurrency.disabled-at-once", "app.faults.post-500", "app.secrecy.no-sdk-output-in-log"
"""The cases that lesson 07 has the careless app judged by."""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything in one compilation: both variants of the stand-in, the samples, and what the tests add."""
    if missing():
        if os.environ.get("CI") == "true":
            pytest.fail(missing())
        pytest.skip(missing())
    earlier = tmp_path_factory.mktemp("earlier")
    for name, text in standin("before-0.4.0").items():
        (earlier / name).write_text(text.replace("package provisioning", "package provisioning.before"), "utf-8")
    for name in ("AddButton.kt", "AddCardModel.kt", "BackEnd.kt"):  # only the imports change
        text = (FIXTURES / "native/kotlin" / name).read_text("utf-8")
        moved = text.replace("package issuer", "package issuer.other")
        (earlier / name).write_text(moved.replace("import provisioning.", "import vendor."), "utf-8")
    samples = files_of(["native/kotlin", "Adapter.kt", "Careless.kt", "Json.kt"], APPS)
    return compiled([*samples, *sorted(SOURCES.glob("*.kt")), *sorted(earlier.glob("*.kt"))])


def store(record: RunRecord, name: str) -> None:
    """Write a record without what differs from run to run."""
    bare = tuple(replace(case, exchanges=(), seconds=0.0) for case in record.cases)
    (APPS / f"{name}.json").write_text(to_json(replace(record, cases=bare)), "utf-8")


@slow
@nightly
@pytest.mark.golden
def test_the_reference_app_core_passes_every_case(classes: Path) -> None:
    """That all of this compiles shows that real code does, and that only the imports change.

    With each change lesson 07 compiles the reference app and the careless one, and runs many of their cases.
    `WORKBOOK_GOLDEN=write` stores the record that the lesson shows where Kotlin is missing.
    """
    run = AppRun(start=command(classes, "sample.AdapterKt"), name="the reference app", session=lambda _case: "stored",
                 lanes=4)  # fmt: skip
    record = conform_app(run)
    others = {case.name: (case.verdict, case.misses) for case in record.cases if case.verdict is not Verdict.PASS}
    assert others == {"app.form.two-steps": (Verdict.NOT_APPLICABLE, ())}
    assert record.about.exit_code == 0
    if os.environ.get("WORKBOOK_GOLDEN") == "write":
        store(record, "reference")
        cases = choose_cases(APP_CASES, OF_THE_LESSON)
        store(conform_app(replace(run, start=command(classes, "sample.CarelessKt"), cases=cases)), "careless")
    stored = from_json((APPS / "reference.json").read_text("utf-8"))
    assert {case.name: case.verdict for case in stored.cases} == {case.name: case.verdict for case in record.cases}


@slow
@nightly
@pytest.mark.rule("A-BTN-1", "A-OPC-1", "A-CAN-1", "A-CAN-2", "A-CAN-6", "A-MIG-1", "API-13", "REL-3", "REL-6")
def test_each_case_finds_the_mistake_that_it_is_there_for(classes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process: the cases in front of an app without a mistake, then each in front of its own mistakes."""
    monkeypatch.setattr(cases_module, "WALLET_WAITS", 6.0)  # the flawed app's own limit is 4 s
    controls = [replace(case, says="none") for case in APP_CASES.values()]
    flawed = [replace(APP_CASES[name], says=flaw) for name, flaws in FLAWS.items() for flaw in flaws]
    run = AppRun(start=command(classes, "flawed.FlawedAppKt"), cases=[*controls, *flawed],
                 session=lambda case: f"flaw:{case.says}", lanes=4, tempo=Tempo(patience=2))  # fmt: skip
    record = conform_app(run)
    assert not record.about.trouble
    without, found = record.cases[: len(controls)], record.cases[len(controls) :]
    assert [case.name for case in without if case.verdict in {Verdict.FAIL, Verdict.WARN}] == []
    assert [(case.name, case.says) for case in found if not case.misses] == []
    advised = {(case.name, case.says): case.misses[0].todo for case in found if case.says in CAUSES}
    assert [at for at, todo in advised.items() if not todo.startswith(CAUSES[at[1]])] == []


@slow
@nightly
@pytest.mark.rule("A-PROV-1", "A-PROV-4", "A-OUT-1")
def test_the_sample_for_an_sdk_before_0_4_0_passes(classes: Path) -> None:
    """It is compiled with the stand-in of its variant, as `workbook conform app` does."""
    assert classes
    record, _stored = judge_app(
        APPS / "two_steps.toml", ("form", "fidelity", "recovery", "life", "app.faults.post-500")
    )
    others = {case.name: case.verdict for case in record.cases if case.verdict is not Verdict.PASS}
    assert {*others.values()} == {Verdict.NOT_APPLICABLE}
    assert {*others} <= {name for name, case in APP_CASES.items() if case.variant not in ("", A_BEFORE_0_4_0.name)}
    assert "app.form.two-steps" in {case.name for case in record.cases}


def test_every_case_has_a_flaw_or_a_reason() -> None:
    assert set(FLAWS) | set(UNREACHED) == set(APP_CASES)
    assert not set(FLAWS) & set(UNREACHED)


@pytest.mark.rule("A-OUT-1", "A-PROV-4")
def test_the_earlier_variant_has_neither_provider_nor_deprecation() -> None:
    earlier, later = standin("before-0.4.0")["CardProvisioning.kt"], standin("from-0.4.0")["CardProvisioning.kt"]
    for word in ("interface OpcProvider", "@Deprecated"):
        assert word in later
        assert word not in earlier
    assert "CreateSdkOutputNotCalled" in earlier
    assert "CreateSdkOutputNotCalled" not in later
    assert "0.4.0 {" not in earlier + later
    assert "from 0.4.0" not in later.replace("From 0.4.0", "")


@pytest.mark.rule("A-CAN-5")
@pytest.mark.parametrize("variant", VARIANTS_A.values(), ids=lambda variant: variant.name)
@pytest.mark.parametrize("outcome", get_args(m.CanProvisionFailure), ids=lambda outcome: outcome.__name__)
def test_the_stand_in_has_every_outcome_in_both_variants(variant: VariantA, outcome: type[m.Event]) -> None:
    """An outcome that the document names for the later variant only is there with its public version (sdk-a)."""
    text, name = standin(variant.name)["CardProvisioning.kt"], outcome.says.rpartition(".")[2]
    assert f"CannotBeProvisioned.{name}" in text
    lines = text.splitlines()
    (at,) = (at for at, line in enumerate(lines) if f" {name}" in line and line.endswith(": CannotBeProvisioned"))
    only_later = any(outcome in one.facts.lacks for one in VARIANTS_A.values())
    assert only_later == ("(sdk-a)" in lines[at - 1])


@slow
@nightly
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
    assert values["WORKBOOK_PHONE_CARDS"] == ",".join(INSTRUMENT_IDS)
    assert values["WORKBOOK_PHONE_KEY"] not in trace + log
