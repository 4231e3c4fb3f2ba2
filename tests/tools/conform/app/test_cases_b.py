"""The cases of platform B, without a program to judge."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from app_flaws_b import DAILY, FLAWS_B

from workbook.base.forms import BadConfigurationError
from workbook.errors import ExitCode
from workbook.tools.commands.cli import main
from workbook.tools.conform.app.cases_b import APP_CASES_B, HandlerCall, WalletCall, asks_for_authentication
from workbook.tools.conform.app.protocol import Next
from workbook.tools.conform.app.run import load_app
from workbook.tools.harness.model import Verdict, gravest

HEAD = 'name = "mine"\nplatform = "B"\n'
ROUTES = '[get]\npath = "/a/{id}"\n[post]\npath = "/b/{id}"\n'

# It greets as the stand-in does, and prints what it is told.
GREET = """
import json, os, sys, urllib.error, urllib.request
name = os.environ.get("WORKBOOK_PHONE_CLIENT", "app")
call = {"client": name, "platform": sys.argv[1], "variant": sys.argv[2], "protocol": 1}
url, key = os.environ["WORKBOOK_PHONE_URL"], os.environ["WORKBOOK_PHONE_KEY"]
request = urllib.request.Request(url + "/phone/v1/hello", json.dumps(call).encode(), {"x-workbook-key": key})
try:
    urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""


def test_every_case_has_a_mistake_that_it_finds() -> None:
    names = {name.removeprefix("app.") for name in APP_CASES_B}
    found = {name for _first, *cases in FLAWS_B.values() for name in cases}
    assert found == names
    assert set(DAILY) <= set(FLAWS_B)


@pytest.mark.rule("X-STATUS-1")
@pytest.mark.parametrize(("authorizes", "verdict"), [(True, Verdict.FAIL), (False, Verdict.NOTE)])
def test_no_authentication_fails_beside_an_authorization_ui(authorizes: bool, verdict: Verdict) -> None:  # noqa: FBT001
    answer = Next.model_validate({"client": "app", "turn": 1, "passEntriesAvailable": True})
    call = HandlerCall(WalletCall("status"), 0, 0, 0, answer)
    seen: Any = SimpleNamespace(authorizes=authorizes, calls=[call])
    misses = [*asks_for_authentication(seen)]
    assert gravest(misses, "X-STATUS-1") is verdict
    assert ("authorization = true in app.toml" in misses[0].todo) == (not authorizes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('platform = "C"', "platform"),
        ('platform = "B"', r"write \[swift\] or \[start\]"),
        ('platform = "A"\n[swift]\nsources = ["a"]', r'not for platform = "A"'),
        ('platform = "B"\n[kotlin]\nsources = ["a"]\nmain = "A"', r'not for platform = "B"'),
        ('platform = "B"\n[start]\ncommand = "x"\n[swift]\nsources = ["a"]', "Keep one of the two"),
        ('platform = "B"\n[swift]\nsources = []', "sources"),
        ('platform = "B"\n[swift]\nsources = ["a"]\nmode = "4"', "language mode"),
        ('platform = "B"\ndesk_factor = 0.5\n[swift]\nsources = ["a"]', "from 1 to 100"),
        ('platform = "B"\npatience = 0.5\n[swift]\nsources = ["a"]', "seconds, from 1 to 20"),
    ],
)
def test_a_wrong_file_is_told_so(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "app.toml").write_text(f'name = "mine"\n{text}\n{ROUTES}', "utf-8")
    with pytest.raises(BadConfigurationError, match=told):
        load_app(tmp_path / "app.toml")


@pytest.mark.parametrize("platform", ["A", "B"])
def test_init_prints_a_file_that_is_in_order_whatever_it_is_changed_to(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["conform", "app", "init"]) == ExitCode.OK
    printed = capsys.readouterr().out
    path = tmp_path / "app.toml"
    path.write_text(printed, "utf-8")
    assert main(["conform", "app", "--check-config"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert shown.startswith("# app.toml is in order; [start] has a command, which is not shown")
    assert "gradlew" not in shown
    assert 'sdk_output = "/sdkOutput"' in shown
    # every key that it shows as a comment is one
    left_out = {"A": ("[start]", "[swift]"), "B": ("[start]", "[kotlin]")}[platform]
    chosen = printed.replace('platform = "A"', f'platform = "{platform}"')
    text = re.sub(r"^# (\w+ = |\[)", r"\1", chosen, flags=re.MULTILINE)
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    path.write_text("".join(table for table in tables if not table.startswith(left_out)), "utf-8")
    assert main(["conform", "app", "--check-config"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert shown.startswith("# app.toml is in order; there is no [start] command")
    assert ("before-0.4.0" if platform == "A" else "earlier") in shown
    path.write_text(text, "utf-8")
    assert main(["conform", "app", "--check-config"]) == ExitCode.CONFIGURATION
    assert "Keep one of the two" in capsys.readouterr().err


def test_without_swift_one_sentence_says_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    (tmp_path / "Core.swift").write_text("let one = 1\n", "utf-8")
    (tmp_path / "app.toml").write_text(f'{HEAD}[swift]\nsources = ["Core.swift"]\n{ROUTES}', "utf-8")
    assert main(["conform", "app", str(tmp_path / "app.toml"), "--out", str(tmp_path / "out")]) == ExitCode.NOTHING_DONE
    assert capsys.readouterr().err.count("\n") == 1


def test_the_cases_of_platform_b_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.toml").write_text(f'{HEAD}[start]\ncommand = "x"\n{ROUTES}', "utf-8")
    assert main(["conform", "app", str(tmp_path / "app.toml"), "--list", "--only", "status"]) == ExitCode.OK
    assert "app.status.no-network" in capsys.readouterr().out


def test_a_program_that_calls_nothing_ends_the_run_with_what_it_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.toml").write_text(f'{HEAD}[start]\ncommand = "echo no test here"\n{ROUTES}', "utf-8")
    code = main(["conform", "app", str(tmp_path / "app.toml"), "--only", "status", "--out", str(tmp_path / "out")])
    assert code == ExitCode.NOTHING_DONE
    assert "no test here" in (tmp_path / "out/conform.md").read_text("utf-8") + capsys.readouterr().err


def test_a_program_for_the_other_platform_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "greet.py"
    program.write_text(GREET, "utf-8")
    for platform, other, variant in (("B", "A", "from-0.4.0"), ("A", "B", "later")):
        start = shlex.join([sys.executable, str(program), other, variant])
        head = f'name = "mine"\nplatform = "{platform}"\n[start]\ncommand = {json.dumps(start)}\n'
        (tmp_path / "app.toml").write_text(head + ROUTES, "utf-8")
        line = [
            "conform",
            "app",
            str(tmp_path / "app.toml"),
            "--only",
            "app.form.adds-the-card",
            "--out",
            str(tmp_path / "out"),
        ]
        assert main(line) == ExitCode.NOTHING_DONE
        told = (tmp_path / "out/conform.md").read_text("utf-8") + capsys.readouterr().err
        assert f"platform {other}'s SDK" in told
