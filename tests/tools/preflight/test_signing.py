"""Fingerprints out of signing reports, and the request for allowlisting."""

import contextlib
import json
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError, ParameterError, WorkbookError
from workbook.tools.commands.cli import main
from workbook.tools.harness.model import Verdict
from workbook.tools.preflight.gradle import read_build
from workbook.tools.preflight.project import LARGEST_FILE, read_project
from workbook.tools.preflight.run import Preflight, preflight, read_environment
from workbook.tools.preflight.signing import normalise, read_certificates, read_sent, read_signed

REPORT = """\
> Task :app:signingReport
Variant: debug
Config: debug
Store: /home/dev/.platform/debug.keystore
Alias: platformdebugkey
MD5: 0A:1B
SHA1: {sha1}
SHA-256: {debug}
Valid until: Monday, June 1, 2054
----------
Variant: release
Config: release
Store: /home/dev/keys/release.jks
Alias: issuer
SHA-256: {release}
----------
"""
DEBUG, RELEASE = ":".join(["A1"] * 32), ":".join(["0B"] * 32)


def test_a_report_gives_one_fingerprint_for_each_variant(tmp_path):
    file = tmp_path / "report.txt"
    file.write_text(REPORT.format(sha1=":".join(["C0"] * 20), debug=DEBUG, release=RELEASE.lower()))
    found = read_certificates(file)
    assert [(one.variant, one.fingerprint, one.debug) for one in found] == [
        ("debug", DEBUG, True),
        ("release", RELEASE, False),
    ]


@pytest.mark.rule("A-ALLOW-3")
@pytest.mark.parametrize(
    ("text", "debug"),
    [
        ("Signer #1 certificate SHA-256 digest: {0}", False),
        ("Signer #1 certificate DN: C=US, O=Phone, CN=Phone Debug\nSigner #1 certificate SHA-256 digest: {0}", True),
        ("Alias name: issuer\nOwner: CN=Issuer, C=DE\nCertificate fingerprints:\n\t SHA1: AA\n\t SHA256: {0}", False),
        ("Alias name: a\nOwner: CN=Phone Debug, O=Phone, C=US\nCertificate fingerprints:\n\t SHA256: {0}", True),
    ],
)
def test_what_the_tools_of_keystores_and_packages_print_is_read_too(tmp_path, text, debug):
    file = tmp_path / "tool.txt"
    file.write_text(text.format("0b" * 32))
    assert [(one.fingerprint, one.debug) for one in read_certificates(file)] == [(RELEASE, debug)]


@pytest.mark.parametrize("content", [b"SHA1: AA:BB", b"\x30\x82\x01\x00junk", b"PK\x03\x04", b"\xfe\xed\xfe\xed"])
def test_what_holds_no_fingerprint_as_text_names_the_command_that_prints_it(tmp_path, content):
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"no SHA-256 as text.*keytool -list -v.*apksigner verify"):
        read_certificates(file)


def test_a_sha1_is_named_as_such():
    with pytest.raises(ParameterError, match="SHA-1"):
        normalise(":".join(["AB"] * 20))


@pytest.mark.rule("A-ALLOW-1", "A-ALLOW-2", "A-ALLOW-4")
def test_the_request_has_a_line_for_each_variant_and_is_compared_with_what_was_sent(platform_a, tmp_path, capsys):
    script = platform_a / "app" / "build.gradle.kts"
    script.write_text(
        script.read_text().replace("release {", 'debug { applicationIdSuffix = ".dev" }\n        release {')
    )
    report = tmp_path / "report.txt"
    report.write_text(REPORT.format(sha1="", debug=DEBUG, release=RELEASE))
    line = ["preflight", "allowlist-request", str(platform_a), "--signing", str(report), "--machine", "laptop 7"]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert text.count("application id") == 2
    assert "com.issuer.cards.dev" in text
    assert "laptop 7 (the default debug certificate of one machine)" in text
    assert main([*line, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["request"]
    assert [(row["applicationId"], row["sha256"]) for row in rows] == [
        ("com.issuer.cards.dev", DEBUG),
        ("com.issuer.cards", RELEASE),
    ]
    good = script.read_text()
    script.write_text(
        good.replace("debug {", 'create("staging") { applicationIdSuffix = ".staging" }\n        debug {')
    )
    assert main(line) == 1
    assert "their certificate: staging (com.issuer.cards.staging). Name that file" in capsys.readouterr().err
    script.write_text(good)
    sent = tmp_path / "sent.json"
    for kept, verdict, missing in ((rows, Verdict.PASS, []), (rows[1:], Verdict.FAIL, [DEBUG, "com.issuer.cards.dev"])):
        sent.write_text(json.dumps({"request": kept}))
        cases = {case.name: case for case in preflight(Preflight((platform_a,), signing=(report,), sent=sent)).cases}
        case = cases["preflight.signing.sent"]
        assert case.verdict is verdict
        assert all(any(word in miss.observed for miss in case.misses) for word in missing)
        assert cases["preflight.signing.debug"].verdict is Verdict.NOTE
    assert case.owner == "operator"
    crossed = [{**row, "sha256": other["sha256"]} for row, other in zip(rows, reversed(rows), strict=True)]
    sent.write_text(json.dumps({"request": crossed}))
    cases = {case.name: case for case in preflight(Preflight((platform_a,), signing=(report,), sent=sent)).cases}
    assert [miss.observed for miss in cases["preflight.signing.sent"].misses] == [
        f"com.issuer.cards.dev was not sent with {DEBUG}", f"com.issuer.cards was not sent with {RELEASE}"]  # fmt: skip


@pytest.mark.rule("A-ALLOW-2")
def test_a_request_says_which_variants_it_does_not_know(platform_a, tmp_path, capsys):
    """A flavour without a block is in it; what a filter names, and what only the report knows, is said."""
    script = platform_a / "app" / "build.gradle.kts"
    script.write_text(script.read_text().replace("buildTypes {", """flavorDimensions += "stage"
    productFlavors {
        create("prod")
        create("uat") { applicationIdSuffix = ".uat" }
        create("lab") { applicationId = System.getenv("LAB_ID") }
    }
    variantFilter { if (name == "uatDebug") { ignore = true } }
    buildTypes {"""))  # fmt: skip
    report = tmp_path / "report.txt"
    known = [f"{flavor}{kind}" for flavor in ("prod", "uat", "lab") for kind in ("Debug", "Release")]
    names = [*known, "prodDebugAndroidTest", "oldRelease"]
    report.write_text("".join(f"Variant: {name}\nSHA-256: {RELEASE}\n" for name in names))
    assert main(["preflight", "allowlist-request", str(platform_a), "--signing", str(report), "--json"]) == 1
    printed = capsys.readouterr()
    assert [(row["variant"], row["applicationId"]) for row in json.loads(printed.out)["request"]] == [
        ("prodDebug", "com.issuer.cards"), ("prodRelease", "com.issuer.cards"),
        ("uatDebug", "com.issuer.cards.uat"), ("uatRelease", "com.issuer.cards.uat")]  # fmt: skip
    assert "The application id of labDebug, labRelease is computed" in printed.err
    assert "The signing report has oldRelease, which no script" in printed.err
    assert "variantFilter at app/build.gradle.kts:20 names uatDebug: a variant that it switches off" in printed.err
    case = next(
        one
        for one in preflight(Preflight((platform_a,), signing=(report,))).cases
        if one.name.endswith("application-ids")
    )
    assert case.verdict is Verdict.NOTE
    assert ["variantFilter" in miss.observed for miss in case.misses] == [True, False]


def test_a_report_of_empty_lines_and_a_profile_that_never_ends_are_read_in_one_go(tmp_path):
    """Each took the square of its length: half a minute."""
    report = tmp_path / "report.txt"
    pair = ":".join(["AB"] * 32)
    report.write_text(
        f"Variant: debug\nSHA-256: {pair}\n" + "\n" * 300_000 + f"Store: x {' ' * 300_000}y\nSHA-256: {pair}\n"
    )
    assert {each.variant for each in read_certificates(report)} == {"debug"}
    profile = tmp_path / "a.mobileprovision"
    profile.write_bytes(b"<?xml " * 300_000)
    with pytest.raises(ConfigurationError, match="no property list"):
        [*read_signed(profile)]


def test_an_archive_of_many_large_lists_is_refused(tmp_path):
    archive = tmp_path / "a.ipa"
    with ZipFile(archive, "w", ZIP_DEFLATED) as file:
        for number in range(5):
            file.writestr(f"Payload/A{number}.app/Info.plist", bytes(LARGEST_FILE))
    with pytest.raises(ConfigurationError, match=r"its property lists have more than [\d,]+ bytes"):
        [*read_signed(archive)]


DAMAGED = [*REPORT.encode().splitlines(keepends=True), b"SHA-256: " + b"AB:" * 31 + b"AB\n", b"export KEY='k'\n", b"=",
           b'{"request": [', b'{"applicationId": "a.b", ', b'"sha256": "%s"},' % (b"AB" * 32), b"]}", b"null", b"1e999",
           b"[" * 40, b"\0", b"\xff", b"PK\x03\x04", b"\xfe\xed\xfe\xed", b"\x30\x82\xff\xff"]  # fmt: skip


@pytest.mark.parametrize("read", [read_certificates, read_sent, read_environment])
@given(st.lists(st.sampled_from(DAMAGED), max_size=30).map(b"".join))
def test_whatever_a_named_file_holds_is_read_or_refused(tmp_path_factory, read, content):
    file = tmp_path_factory.getbasetemp() / "named"
    file.write_bytes(content)
    with contextlib.suppress(WorkbookError):
        read(file)


CHOICES = [
    'signingConfig = if (System.getenv("CI") != null) signingConfigs.getByName("ci") else debugKey',
    'if (project.hasProperty("store")) { signingConfig = signingConfigs.getByName("release") }',
    "signingConfig System.getenv('CI') ? signingConfigs.release : signingConfigs.debug",
]


@pytest.mark.rule("A-ALLOW-4")
@pytest.mark.parametrize("choice", [*CHOICES, 'signingConfig = signingConfigs.getByName("release")'])
def test_a_key_that_the_environment_chooses_is_named_unless_each_is_sent(platform_a, tmp_path, capsys, choice):
    script = platform_a / "app" / "build.gradle.kts"
    block = f'buildTypes {{ getByName("release") {{\n{choice}\n}}\n'
    script.write_text(script.read_text().replace("buildTypes {", block, 1))
    line = script.read_text()[: script.read_text().index(choice)].count("\n") + 1
    report = tmp_path / "report.txt"
    for prints, said in (([RELEASE], choice in CHOICES), ([RELEASE, DEBUG], False)):
        report.write_text("".join(f"SHA-256: {one}\n" for one in prints))
        assert main(["preflight", "allowlist-request", str(platform_a), "--signing", str(report)]) == int(said)
        assert (f"app/build.gradle.kts:{line} lets the environment choose" in capsys.readouterr().err) is said


def test_an_id_that_the_environment_may_set_has_its_default(platform_a):
    script = platform_a / "app" / "build.gradle.kts"
    text = script.read_text()
    assert 'applicationId = "com.issuer.cards"' in text
    for call in ('System.getenv("ID") ?: "com.issuer.default"', 'findProperty("id") ?: "com.issuer.default"'):
        script.write_text(text.replace('"com.issuer.cards"', call))
        ids = {variant.application_id for variant in read_build(read_project([platform_a])).variants}
        assert "com.issuer.default" in ids, call
