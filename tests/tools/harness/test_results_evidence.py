"""The evidence: what is on the page and in the zip, that it is the same each time, and what is never written."""

import hashlib
import json
import zipfile
from datetime import UTC, datetime

import pytest
from ran import MISS, NAMES, recorded, result

from workbook.base.files import sample
from workbook.base.rules import rule
from workbook.base.secrecy import NO_SECRETS, Secrets
from workbook.errors import ConfigurationError, LeakError, ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.reports import write_reports
from workbook.tools.harness.results import ReportKind, found_reports, read_sources, write_evidence

RUN = {
    "version": 1,
    "notebooks": [{"name": "<b>01</b>", "status": "ok", "seconds": 1.0,
                   "checks": [{"name": "it holds", "passed": True, "rule": "A-CAN-1"}]}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Reports in their usual folders; the back end's has a failure."""
    write_reports(recorded(result(NAMES[0], Verdict.PASS), result(NAMES[1])), tmp_path / "conform")
    write_reports(recorded(program="workbook preflight"), tmp_path / "preflight")
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "run.json").write_text(json.dumps(RUN))
    return tmp_path


def made(folder, out="evidence", durations=()):
    return write_evidence(read_sources(found_reports(folder), durations), folder / out, NO_SECRETS)


def test_what_is_there_is_found_and_what_is_missing_is_named_with_the_way_to_make_it(folder):
    assert set(found_reports(folder)) == {ReportKind.CONFORM, ReportKind.PREFLIGHT, ReportKind.RUN}
    assert made(folder) == ["conform app", "durations"]
    page = (folder / "evidence" / "evidence.html").read_text()
    assert page.count("○ not provided") == 2
    assert "workbook conform app app.toml --out conform-app" in page


def test_the_page_says_what_failed_and_where_each_figure_is_from(folder):
    made(folder, durations=[sample("measurements/network_in_status.csv")])
    page = (folder / "evidence" / "evidence.html").read_text()
    digest = hashlib.sha256((folder / "conform" / "conform.json").read_bytes()).hexdigest()
    assert f"<code>conform/conform.json</code>, 2026-01-02T03:04:05Z, SHA-256 <code>{digest}</code>" in page
    assert f"API-2: expected {MISS.expected}, observed {MISS.observed}" in page
    assert page.count("✗ something failed") == 3  # conform and preflight have a failure each, and a call was too late
    assert "1 of 30 over 100 ms" in page
    date = datetime.fromtimestamp((folder / "report" / "run.json").stat().st_mtime, UTC)
    assert f"<code>run/run.json</code>, {date:%Y-%m-%dT%H:%M:%SZ}" in page


def test_each_rule_says_which_file_covers_it_and_how(folder):
    sources = read_sources(found_reports(folder), [sample("measurements/network_in_status.csv")])
    cells = {
        name: [source.of_rule(rule(name)) for source in sources]
        for name in ("API-1", "API-2", "A-CAN-1", "X-STATUS-3", "B-DEL-1")
    }
    assert cells["A-CAN-1"] == ["", "", "✓ 1 of 1", ""]
    assert cells["API-2"][1] == "✗ 0 of 1"
    assert cells["X-STATUS-3"] == ["", "", "", "✗ 0 of 4"]
    assert cells["B-DEL-1"] == [""] * 4


def test_the_zip_holds_every_file_and_a_manifest_that_fits(folder):
    made(folder)
    with zipfile.ZipFile(folder / "evidence" / "evidence.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert set(held) == {
        "conform/conform.json",
        "preflight/conform.json",
        "run/run.json",
        "evidence.html",
        "manifest.sha256",
    }
    lines = held.pop("manifest.sha256").decode().splitlines()
    assert lines == [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in sorted(held.items())]
    assert held["conform/conform.json"] == (folder / "conform" / "conform.json").read_bytes()
    assert held["evidence.html"] == (folder / "evidence" / "evidence.html").read_bytes()


def test_the_same_files_give_the_same_bytes(folder):
    made(folder, "one")
    made(folder, "two")
    one, two = ((folder / out / "evidence.zip").read_bytes() for out in ("one", "two"))
    assert one == two


def test_text_of_a_report_is_text_on_the_page(folder):
    made(folder)
    page = (folder / "evidence" / "evidence.html").read_text()
    assert "<script" not in page
    assert "<b>01" not in page


@pytest.mark.parametrize("value", ["4111111111111111", "4111 1111 1111 1111", "canary-0123456789abcdef01", "QUJD" * 60])
def test_what_looks_like_card_data_is_refused_with_its_line_and_without_the_value(folder, value):
    file = folder / "report" / "run.json"
    file.write_text(json.dumps(RUN, indent=1).replace("it holds", value))
    with pytest.raises(LeakError, match=r"run/run.json, line \d+, holds what looks like card data") as raised:
        made(folder)
    assert value not in str(raised.value)
    assert not (folder / "evidence").exists()


def test_a_key_is_never_written(folder):
    sources = read_sources(found_reports(folder), [])
    with pytest.raises(LeakError, match="the API key"):
        write_evidence(sources, folder / "evidence", Secrets.of_keys(["workbook conform"]))
    assert not (folder / "evidence").exists()


def test_two_reports_of_one_kind_and_the_wrong_kind_are_refused(folder):
    write_reports(recorded(), folder / "again")
    with pytest.raises(ConfigurationError, match=r"are both of workbook conform\. Name one: --conform FILE"):
        found_reports(folder)
    assert ReportKind.CONFORM not in found_reports(folder, {ReportKind.CONFORM})
    with pytest.raises(ParameterError, match="is a report of workbook conform, not of workbook conform app"):
        read_sources({ReportKind.APP: folder / "conform"}, [])


def test_a_file_that_is_only_called_like_a_report_is_left_out_and_told(folder):
    (folder / "other").mkdir()
    (folder / "other" / "run.json").write_text('{"of": "another program"}')
    told = []
    assert set(found_reports(folder, (), told.append)) == {ReportKind.CONFORM, ReportKind.PREFLIGHT, ReportKind.RUN}
    (said,) = told
    assert "other/run.json' is no report of the workbook" in said


def test_nothing_is_overwritten(folder):
    made(folder)
    with pytest.raises(ConfigurationError, match="is not empty"):
        made(folder)
