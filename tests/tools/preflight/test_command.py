"""`workbook preflight`: what it prints, its exit codes, the baseline and the reports."""

import json
import re
from pathlib import Path

import pytest
from texts import demand_none

from workbook.tools.commands.cli import main
from workbook.tools.harness.report import read_report
from workbook.tools.preflight.run import PREFLIGHT_CASES


def test_a_good_project_ends_with_zero_and_one_line(platform_b, capsys):
    assert main(["preflight", str(platform_b)]) == 0
    assert re.match(rf"{len(PREFLIGHT_CASES)} cases, and none failed: .*\n\Z", capsys.readouterr().out)


@pytest.mark.rule("X-PLIST-1")
def test_a_finding_says_where_who_and_what_to_do(platform_b, capsys):
    file = platform_b / "WalletUI" / "Info.plist"
    file.write_text(file.read_text().replace(".authorization<", ".authorisation<"))
    assert main(["preflight", str(platform_b)]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("WalletUI/Info.plist:11: fail X-PLIST-1, for you: expected com.<platform>.<kit>")
    assert first.endswith("letter by letter. [preflight.plist.identifier; workbook diagnose 39]")


def test_a_baseline_excuses_a_failure_until_it_is_mended(platform_b, tmp_path, capsys):
    file = platform_b / "App" / "App.entitlements"
    good = file.read_text()
    file.write_text(good.replace("<true/>", "<false/>"))
    baseline = tmp_path / "known.toml"
    baseline.write_text('[[known]]\ncase = "preflight.entitlement.*"\ncomment = "ticket 7"\n')
    line = ["preflight", str(platform_b), "--baseline", str(baseline)]
    assert main(line) == 0
    assert "known GAP-8" in capsys.readouterr().out
    file.write_text(good)
    assert main(line) == 1
    assert "Take it out of the baseline." in capsys.readouterr().out


def test_the_reports_are_those_of_conform_and_sarif_beside_them(platform_b, tmp_path, capsys):
    file = platform_b / "WalletUI" / "Info.plist"
    file.write_text(file.read_text().replace(".authorization<", ".authorisation<"))
    out = tmp_path / "out"
    assert main(["preflight", str(platform_b), "--out", str(out)]) == 1
    assert sorted(path.name for path in out.iterdir()) == [
        "conform.html", "conform.json", "conform.md", "conform.xml", "preflight.sarif"]  # fmt: skip
    (case,) = [case for case in read_report(out / "conform.json").cases if case.verdict == "fail"]
    (miss,) = case.misses
    assert (miss.file, miss.line) == ("WalletUI/Info.plist", 11)
    run = json.loads((out / "preflight.sarif").read_text())["runs"][0]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("preflight.plist.identifier", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "WalletUI/Info.plist"}, "region": {"startLine": 11}}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"preflight.plist.identifier"}
    for form in ("json", "junit", "sarif"):
        capsys.readouterr()
        assert main(["preflight", str(platform_b), "--format", form]) == 1
        printed = capsys.readouterr().out
        assert printed.startswith("<?xml" if form == "junit" else "{")
        assert "WalletUI/Info.plist" in printed or form == "junit"


def test_nothing_about_provisioning_is_undecided_and_says_what_to_do(tmp_path, capsys):
    (tmp_path / "main.py").write_text("print()")
    assert main(["preflight", str(tmp_path)]) == 2
    assert "Nothing here is about provisioning" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["preflight"], "Which project?"),
        (["preflight", "nowhere-at-all"], "No folder 'nowhere-at-all'"),
        (["preflight", ".", "--only", "plists"], "No case and no group"),
        (["preflight", "allowlist-request", "fixtures/projects/platform_a"], "needs a fingerprint"),
        (["preflight", "allowlist-request", ".ci"], "No file says an application id or a bundle id"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(capsys, words, says):
    assert main(words) == 2
    assert says in capsys.readouterr().err


@pytest.mark.rule("REL-2")
def test_a_key_of_the_environment_is_in_no_report(platform_a, environment, tmp_path, capsys):
    environment.write_text("API_BASE_URL=https://test.operator.example\nAPI_KEY=live-9f3a77bc01d2e4\nTIMEOUT=60\n")
    out = tmp_path / "out"
    main(["preflight", str(platform_a), "--env", str(environment), "--out", str(out)])
    texts = [path.read_text() for path in out.iterdir()] + [capsys.readouterr().out]
    assert not any("9f3a77bc01d2e4" in text for text in texts)
    assert any("TIMEOUT is 60 s" in text for text in texts)


@pytest.mark.parametrize("content", [b"", b"# nothing yet\n", b"\x00\xff\nKEY=1\n\x01", b"KEY: value\n"])
def test_an_environment_without_a_setting_cannot_be_read(platform_a, environment, capsys, content):
    line = ["preflight", str(platform_a), "--env", str(environment)]
    assert main(line) == 0
    environment.write_bytes(content)
    assert main(line) == 2
    assert "cannot be read: it is no text with NAME=VALUE lines. Name the file" in capsys.readouterr().err


def test_a_case_is_chosen_by_its_name_without_the_commands(capsys):
    chosen = {"preflight.signing.debug", *(name for name, case in PREFLIGHT_CASES.items() if case.group == "secrecy")}
    for words, listed in (
        (["swift.*"], [name for name in PREFLIGHT_CASES if ".swift." in name]),
        (["signing"], ["preflight.signing.profiles", "preflight.signing.sent", "preflight.signing.debug"]),
        (["preflight.signing.debug", "secrecy"], [name for name in PREFLIGHT_CASES if name in chosen]),
    ):
        assert main(["preflight", "--list", "--only", *words]) == 0
        assert re.findall(r"preflight\.[a-z]+\.[a-z-]+", capsys.readouterr().out) == listed


PAGE = Path(__file__).parents[3] / "notebooks/reference/preflight.md"


def test_the_manual_names_the_cases_that_do_not_always_fail(generated):
    """As the projects with many mistakes end, word for word."""
    golden, made = (Path(__file__).parent / "golden/misses.txt").read_text("utf-8"), PAGE.read_text("utf-8")
    for verdict in ("warn", "note"):
        names = sorted({f"`{name}`" for name in re.findall(rf"^([a-z.-]+): {verdict}\b", golden, re.MULTILINE)})
        made, times = re.subn(
            rf"(?<=\n\| )({verdict} \| .* for example in ).*(?= \|\n)", rf"\1{', '.join(names)}", made
        )
        assert times == 1
    generated(PAGE, made)


def test_the_manual_names_every_case_and_no_other():
    section = PAGE.read_text("utf-8").partition("## What it judges")[2].partition("## Verdicts")[0]
    named = re.findall(r"`([a-z]+\.[a-z-]+)`", section)
    cases = [name.removeprefix("preflight.") for name in PREFLIGHT_CASES]
    demand_none([f"{PAGE.name}: its list lacks the case {name}" for name in cases if name not in named])
    assert sorted(named) == sorted(cases)


def test_the_list_names_every_case(capsys):
    assert main(["preflight", "--list"]) == 0
    assert re.findall(r"preflight\.[a-z]+\.[a-z-]+", capsys.readouterr().out) == list(PREFLIGHT_CASES)
