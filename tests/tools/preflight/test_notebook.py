"""`wb.project`: a folder, files in memory, and the values to send."""

import pytest

import workbook as wb
from workbook.errors import ConfigurationError, ParameterError

UI = "WalletUI/Info.plist"


def test_a_folder_and_its_files_in_memory_come_to_the_same():
    good = wb.project(wb.sample("projects/platform_b"))
    copied = wb.project(good.files)
    assert (good.exit_code, good.failed) == (copied.exit_code, copied.failed) == (0, ())
    assert copied.files == {}


@pytest.mark.rule("X-PLIST-1")
def test_a_changed_copy_is_judged_with_file_line_and_row():
    files = wb.project(wb.sample("projects/platform_b")).files
    broken = wb.project(files | {UI: files[UI].replace(".authorization", ".authorisation")})
    assert broken.failed == ("preflight.plist.identifier",)
    for form in (broken.text(), broken.html()):
        assert f"{UI}:11" in form
        assert "workbook diagnose 39" in form
    assert "preflight.plist.identifier" in broken.changes(wb.project(files)).text()


@pytest.mark.rule("A-ALLOW-2", "A-ALLOW-4")
def test_the_request_has_a_row_for_each_pair(tmp_path):
    app = wb.project(wb.sample("projects/platform_a"))
    report = wb.sample("projects/signing_report.txt")
    text = app.allowlist_request(report, machine="Ann's").text()
    assert text.count("com.issuer.cards ") == 2
    assert "0A:1B:2C" in text
    assert "F1:E2:D3" in text
    with pytest.raises(ConfigurationError, match="Cannot read"):
        app.allowlist_request(tmp_path / "none.txt")
    with pytest.raises(ParameterError, match="needs a fingerprint"):
        app.allowlist_request()


@pytest.mark.rule("A-ALLOW-2")
def test_the_request_names_the_variant_whose_certificate_is_in_no_file(tmp_path):
    report = tmp_path / "report.txt"
    report.write_text(wb.sample("projects/signing_report.txt").read_text("utf-8").partition("Variant: release")[0])
    text = wb.project(wb.sample("projects/platform_a")).allowlist_request(report).text()
    assert "because no file names their certificate: release (com.issuer.cards)" in text


def test_only_some_cases_and_known_failures():
    files = wb.project(wb.sample("projects/platform_b")).files
    files[UI] = files[UI].replace(".authorization", ".authorisation")
    assert wb.project(files, "preflight.entitlement.*").failed == ()
    assert wb.project(files, known={"preflight.plist.identifier": "ticket 7"}).exit_code == 0


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "", 7])
def test_a_name_stays_in_the_project(name):
    with pytest.raises(ParameterError, match="below the project"):
        wb.project({name: "text"})


def test_a_folder_that_is_none_is_one_sentence():
    with pytest.raises(ParameterError, match="No folder"):
        wb.project("nowhere-at-all")
