"""Runs of the cases in front of an app in Python, started as a command."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import workbook.tools.conform.app.cases as cases_module
import workbook.tools.conform.app.stage as stage_module
from workbook.base.forms import BadConfigurationError, Form
from workbook.flows.variants import A_FROM_0_4_0
from workbook.simulation.http import Request
from workbook.simulation.scenario import ScenarioForm
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.cases import APP_CASES, AppSeen
from workbook.tools.conform.app.device import DeviceA
from workbook.tools.conform.app.phone import Arrival
from workbook.tools.conform.app.run import AppForm, conform_app, load_app
from workbook.tools.conform.app.stage import AppRun
from workbook.tools.conform.back_end.config import BackEndForm, BaselineForm
from workbook.tools.conform.back_end.model import SURFACE, Surface
from workbook.tools.harness.model import Miss, Verdict, gravest
from workbook.tools.harness.report import from_json, to_json
from workbook.tools.harness.summary import todos

APP = Path(__file__).parents[3] / "support/python_app.py"


def run(*arguments: str, only: tuple[str, ...] = ()) -> AppRun:
    cases = [case for case in APP_CASES.values() if not only or case.name in only]
    return AppRun(start=f"exec {shlex.join([sys.executable, str(APP), *arguments])}", cases=cases)


@pytest.mark.slow
@pytest.mark.rule("A-PROV-1", "FLOW-1", "REL-5")
@pytest.mark.parametrize(
    ("arguments", "verdicts"),
    [
        (["before-0.4.0"], {"form.two-steps": "pass", "form.migrated": "not applicable", "form.adds-the-card": "pass"}),
        (["from-0.4.0"],
         {"form.two-steps": "not applicable", "form.migrated": "pass", "screen.reported": "not testable",
          "life.sign-out": "not testable"}),
        # reports from before a case do not count
        (["from-0.4.0", "counts"], {"screen.reported": "fail", "screen.not-reported-when-added": "pass"}),
        # an app gives a call up before the wallet does
        (["from-0.4.0", "gives-up"], {"faults.get-never-answered": "pass", "faults.post-never-answered": "pass"}),
        (["from-0.4.0", ""], {"faults.get-never-answered": "warn", "faults.post-never-answered": "warn"}),
    ],
)  # fmt: skip
def test_how_the_cases_end(monkeypatch: pytest.MonkeyPatch, arguments: list[str], verdicts: dict[str, str]) -> None:
    monkeypatch.setattr(cases_module, "WALLET_WAITS", 5.0)
    record = conform_app(run(*arguments, only=tuple(f"app.{name}" for name in verdicts)))
    assert {case.name.removeprefix("app."): case.verdict for case in record.cases} == verdicts
    assert from_json(to_json(record)) == record


@pytest.mark.parametrize("mistake", [pytest.param("hangs", marks=pytest.mark.slow), "exits"])
def test_an_app_that_does_nothing_more_ends_the_run(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    monkeypatch.setattr(stage_module, "PATIENCE", 4.0)
    names = ("app.screen.shown-when-possible", "app.form.adds-the-card", "app.life.rotation")
    record = conform_app(run("from-0.4.0", mistake, only=names))
    by_name = {case.name: case.verdict for case in record.cases}
    assert by_name["app.screen.shown-when-possible"] is Verdict.PASS
    assert by_name["app.form.adds-the-card"] is Verdict.FAIL
    assert by_name["app.life.rotation"] is Verdict.NOT_TESTABLE
    assert "After app.form.adds-the-card the app's process did nothing more" in record.about.trouble
    assert ("exit code 3" in record.about.trouble) == (mistake == "exits")
    assert record.about.exit_code == 1
    (missed,) = next(case.misses for case in record.cases if case.verdict is Verdict.FAIL)
    assert ("exit code 3" in missed.observed) == (mistake == "exits")


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["", "crashes"])
def test_an_exception_that_nothing_caught_fails_any_case(mistake: str) -> None:
    record = conform_app(run("from-0.4.0", mistake, only=("app.form.nothing-before-tap", "app.concurrency.quick-taps")))
    told = {miss.observed for case in record.cases for miss in case.misses}
    assert {case.verdict for case in record.cases} == {Verdict.FAIL if mistake else Verdict.PASS}
    assert told == ({"uncaught: java.io.IOException at App.kt"} if mistake else set())


def only_miss(run: AppRun) -> tuple[Miss, Verdict]:
    """The one miss of the one case, as its report has it, and the verdict."""
    (case,) = conform_app(run).cases
    (missed,) = case.misses
    return missed, case.verdict


@pytest.mark.slow
@pytest.mark.rule("APP-7")
@pytest.mark.parametrize(("case", "place"), [("concurrency.disabled-at-once", "POST"),
                                             ("concurrency.disabled-in-the-wallet", "wallet")])  # fmt: skip
def test_a_main_thread_that_waits_is_the_cause_that_is_told(case: str, place: str) -> None:
    missed, verdict = only_miss(run("from-0.4.0", "blocks", only=(f"app.{case}",)))
    assert missed.observed == f"tapAdd was not answered for 3 s, while {place} was held"
    assert (missed.todo[:35], verdict) == ("Nothing may wait on the main thread", Verdict.FAIL)


@pytest.mark.slow
@pytest.mark.rule("APP-7")
def test_a_main_thread_that_is_slow_is_noted_with_its_seconds() -> None:
    """It is held up by nothing of the case, so only our clock tells: that is no verdict."""
    missed, verdict = only_miss(run("from-0.4.0", "sleeps", only=("app.concurrency.disabled-at-once",)))
    assert re.fullmatch(r"tapAdd was not answered for [34] s", missed.observed)
    assert (missed.todo[:35], verdict) == ("Nothing may wait on the main thread", Verdict.NOTE)


ROUTE = replace(SURFACE, get=replace(SURFACE.get, path="/v1/{id}"))
PAYLOAD = replace(SURFACE, post=replace(SURFACE.post, sdk_output="/payload/sdkOutput"))
IN_BODY = replace(SURFACE, post=replace(SURFACE.post, path=f"/cards/{INSTRUMENT_IDS[0]}/provision", id="/card"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "surface", "observed", "todo"),
    [
        pytest.param("", ROUTE, f"GET /cards/{INSTRUMENT_IDS[0]}/activation-data came", "path of [get]",
                     marks=pytest.mark.nightly),
        ("", PAYLOAD, "nothing at /payload/sdkOutput; the body has: sdkOutput", "Write into app.toml"),
        pytest.param("", IN_BODY, "nothing at /card; the body has: sdkOutput", "Write into app.toml",
                     marks=pytest.mark.nightly),
        ("quotes-nothing", SURFACE, "the body is no JSON", "JSON with a library"),
        pytest.param("signs-nothing", SURFACE, "it carried none", "as authorization: Bearer SESSION",
                     marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_what_the_back_end_cannot_read_is_the_cause_that_is_told(
    mistake: str, surface: Surface, observed: str, todo: str
) -> None:
    names = ("app.form.adds-the-card", "app.concurrency.disabled-at-once", "app.faults.post-500")
    record = conform_app(replace(run("from-0.4.0", mistake, only=names), surface=surface))
    assert {miss.observed for case in record.cases for miss in case.misses} == {observed}
    (first,) = todos(record)
    assert todo in first.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "names", "told"),
    [
        pytest.param("ignores-taps", (), "No case of app.form", marks=pytest.mark.nightly),
        ("ignores-taps", ("form.adds-the-card",), "Begin the attempt"),
        # which is one itself
        pytest.param("fails", ("form.adds-the-card",), "No case of app.form", marks=pytest.mark.nightly),
    ],
)
def test_a_reader_is_sent_to_another_case_only_where_one_failed(
    mistake: str, names: tuple[str, ...], told: str
) -> None:
    """One does nothing at a tap; the POST of the other one fails without being sent."""
    only = tuple(f"app.{name}" for name in ("concurrency.disabled-at-once", "recovery.post-not-repeated", *names))
    record = conform_app(run("from-0.4.0", mistake, only=only))
    texts = [todo.text for todo in todos(record)]
    assert texts[0].startswith(told)
    assert any(text.startswith("Its cause is in another case") for text in texts) == (told == "Begin the attempt")


@pytest.mark.rule("APP-13")
def test_what_is_left_after_a_sign_out_is_told_and_what_was_before_it_is_not() -> None:
    arrival = partial(Arrival, operation="GET", card=INSTRUMENT_IDS[0], request=Request("GET", "/", (), b""))
    before = arrival(at=1.0, given="eyJzaW11bGF0ZWQi" * 4, session=True, status=200)
    seen = AppSeen((), {}, DeviceA("app", A_FROM_0_4_0), (before,), session="session-of-ann-000001", signed_out=2.0)
    case = APP_CASES["app.life.sign-out"]
    assert not any(case.judge(seen))
    assert not any(case.judge(replace(seen, arrivals=(before, arrival(at=3.0, status=401)))))  # it presents none
    left = [
        replace(seen, arrivals=(before, arrival(at=3.0, session=True, status=200))),
        replace(seen, looks={"after": ("shown", "")}),
        replace(seen, kept=f'{{"token":"{seen.session}"}}'),
        replace(seen, kept=f"<data>{before.given}</data>"),
    ]
    told = [[miss.observed for miss in case.judge(each)] for each in left]
    assert told == [["a GET presented it"], ["the page shows its button"], ["the session is still saved"],
                    ["the sdkInput is still saved"]]  # fmt: skip
    assert {gravest(case.judge(each), case.rule) for each in left} == {Verdict.FAIL}


def test_a_command_that_calls_nothing_is_not_decided() -> None:
    record = conform_app(AppRun(start="echo no test here", cases=[APP_CASES["app.life.rotation"]]))
    assert record.about.exit_code == 2
    assert "did not call conform(...)" in record.about.trouble
    assert "no test here" in record.about.trouble


KOTLIN = 'name = "a"\n[kotlin]\nsources = ["src"]\nmain = "A"\n'
START = '\n[start]\ncommand = "x"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (START, 'name: it is missing; write name = "our app" at the top of the file.'),
        (f'name = "a\\u001b[2J"{START}', "name: it is 'a\\x1b[2J'; give text in quotes"),
        (f"name = 5{START}", "name: it is 5; give text in quotes"),
        (f"{KOTLIN}{START}", "[kotlin]: [start] says already how the app is started. Keep one of the two"),
    ],
)
def test_a_file_with_a_mistake_is_told_so(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "app.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadConfigurationError) as error:
        load_app(path)
    (mistake,) = error.value.mistakes
    assert mistake.startswith(told)


@pytest.mark.parametrize("form", [AppForm, BackEndForm, BaselineForm, ScenarioForm])
def test_what_is_wrong_in_a_file_can_always_be_left_out(form: type[Form]) -> None:
    assert form()


def test_an_app_is_told_that_all_cases_are_over() -> None:
    cardholder = stage_module.PlayedCardholder(None)  # type: ignore[arg-type]  # nobody is asked
    cardholder.end()
    assert cardholder._next.get_nowait() == {"do": "end", "turn": 0}
