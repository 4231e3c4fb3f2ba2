"""Profiles and archives of platform B: their entitlements, and the request for allowlisting."""

import json
import plistlib
import re
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
from sample_projects import judge

import workbook as wb
from workbook.tools.commands.cli import main
from workbook.tools.harness.model import Verdict

POINT = "com.platform.kit.issuer-provisioning"
BUNDLES = {
    "Bank.app": ("com.issuer.cards", ""),
    "Bank.app/PlugIns/Wallet.appex": ("com.issuer.cards.wallet", POINT),
    "Bank.app/PlugIns/WalletUI.appex": ("com.issuer.cards.walletui", f"{POINT}.authorization"),
    "Bank.app/PlugIns/News.appex": ("com.issuer.cards.news", "com.platform.notifications"),
}


def profile(bundle_id, **rights):
    name = "com.platform.payment-pass-provisioning"
    listed = {"application-identifier": f"A1B2C3D4E5.{bundle_id}", name: True, **rights}
    content = {"TeamIdentifier": ["A1B2C3D4E5"], "Entitlements": {key: value for key, value in listed.items() if value}}
    return b"\x30\x82 signed: " + plistlib.dumps(content) + b"\x00\x17"


def archive(file, without=(), bare=(), compression=ZIP_STORED):
    """An archive; `without` the entitlement in these profiles, `bare` of a profile in these bundles."""
    with ZipFile(file, "w", compression) as made:
        for bundle, (bundle_id, point) in BUNDLES.items():
            plist = {"CFBundleIdentifier": bundle_id}
            plist |= {"NSExtension": {"NSExtensionPointIdentifier": point}} if point else {}
            rights = {"com.platform.payment-pass-provisioning": bundle not in {*without, "Bank.app/PlugIns/News.appex"}}
            made.writestr(f"Payload/{bundle}/Info.plist", plistlib.dumps(plist, fmt=plistlib.FMT_BINARY))
            if bundle not in bare:
                made.writestr(f"Payload/{bundle}/embedded.mobileprovision", profile(bundle_id, **rights))
    return file


@pytest.mark.parametrize(
    ("changed", "verdict", "says"),
    [
        ({}, Verdict.PASS, ""),
        ({"without": ["Bank.app/PlugIns/WalletUI.appex"]}, Verdict.FAIL, "com.issuer.cards.walletui without it"),
        ({"without": ["Bank.app"]}, Verdict.FAIL, "com.issuer.cards without it"),
        (
            {"bare": ["Bank.app/PlugIns/Wallet.appex"]},
            Verdict.NOT_LOOKED_AT,
            "WalletExtension (com.issuer.cards.wallet)",
        ),
    ],
)
def test_each_profile_of_an_archive_has_the_entitlement(tmp_path, platform_b, changed, verdict, says):
    file = archive(tmp_path / "Bank.ipa", **changed)
    folder = tmp_path / "Bank.xcarchive" / "Products"
    with ZipFile(file) as made:
        made.extractall(folder)
    (folder / "Payload").rename(folder / "Applications")
    for signing in (file, folder.parent):
        case = judge("signing.profiles", platform_b, signing=(signing,))
        assert (case.verdict, says in case.why + str(case.misses)) == (verdict, True)


def test_single_profiles_are_found_by_their_id_and_each_missing_one_is_named(tmp_path, platform_b):
    files = []
    for bundle_id in ("cards", "cards.wallet", "cards.walletui"):
        files.append(tmp_path / f"{bundle_id}.mobileprovision")
        files[-1].write_bytes(profile(f"com.issuer.{bundle_id}"))
        verdict = judge("signing.profiles", platform_b, signing=tuple(files)).verdict
        assert verdict is (Verdict.PASS if bundle_id == "cards.walletui" else Verdict.NOT_LOOKED_AT)
    files[0].write_bytes(profile("com.issuer.cards", **{"get-task-allow": True}))
    case = judge("signing.profiles", platform_b, signing=tuple(files))
    assert (case.verdict, "a development profile" in case.misses[0].observed) == (Verdict.NOTE, True)
    assert judge("signing.profiles", platform_b).verdict is Verdict.NOT_APPLICABLE


def test_what_prints_a_profile_is_read_as_the_profile(tmp_path, platform_b, capsys):
    files = []
    for bundle_id, right in (("cards", True), ("cards.wallet", True), ("cards.walletui", False)):
        files.append(tmp_path / f"{bundle_id}.txt")
        printed = re.search(rb"<\?xml.*</plist>", profile(f"com.issuer.{bundle_id}"), re.DOTALL)[0]
        files[-1].write_bytes(printed if right else printed.replace(b"payment-pass-provisioning", b"other"))
    case = judge("signing.profiles", platform_b, signing=tuple(files))
    assert [(case.verdict, miss.place) for miss in case.misses] == [(Verdict.FAIL, "cards.walletui.txt:1")]
    assert main(["preflight", "allowlist-request", str(platform_b), "--signing", *map(str, files)]) == 1
    assert "holds no SHA-256" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.ipa", "a.mobileprovision", "a.xcarchive", "none.ipa", "cut.ipa"])
def test_what_holds_no_profile_is_one_sentence(tmp_path, platform_b, capsys, name):
    if name.startswith("cut"):
        content = archive(tmp_path / name, compression=ZIP_DEFLATED).read_bytes()
        (tmp_path / name).write_bytes(content[:100] + bytes(60) + content[160:])
    elif not name.startswith("none"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 and no more")
    assert main(["preflight", str(platform_b), "--signing", str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err


def test_the_request_for_platform_b_has_three_ids_the_team_and_the_schemes_fields(tmp_path, platform_b, capsys):
    line = ["preflight", "allowlist-request", str(platform_b)]
    assert main(line) == 1
    printed = capsys.readouterr()
    assert "The team id of WalletUI is in no file" in printed.err
    assert "The store id is in no file: add it with --store-id" in printed.err
    assert main([*line, "--signing", str(archive(tmp_path / "Bank.ipa")), "--store-id", "123", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    rows = json.loads(printed.out)["platformB"]
    assert [row["associatedApplicationIdentifier"] for row in rows] == [
        f"A1B2C3D4E5.com.issuer.cards{end}" for end in ("", ".wallet", ".walletui")]  # fmt: skip
    assert {row["storeId"] for row in rows} == {"123"}
    assert main([*line, "--store-id", "123"]) == 1
    assert "associated application identifier TEAM.com.issuer.cards.walletui" in capsys.readouterr().out
    (platform_b / "WalletUI" / "Info.plist").unlink()
    assert main([*line, "--store-id", "123"]) == 1
    assert "No target is the authorization UI" in capsys.readouterr().err
    text = wb.project(wb.sample("projects/platform_b")).allowlist_request(tmp_path / "Bank.ipa").text()
    assert "A1B2C3D4E5.com.issuer.cards.walletui" in text
    assert "The store id is in no file" in text
