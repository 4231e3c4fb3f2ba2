"""Finding and reading files: within limits, without links, and whatever is in them."""

import errno
import os
from pathlib import Path

import pytest
from real_projects import write
from sample_projects import judge

from workbook.errors import ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.preflight import project as project_module
from workbook.tools.preflight.project import read_project
from workbook.tools.preflight.run import Preflight, preflight


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("build.gradle", "// Bär".encode("latin-1")),
        ("gradle/libs.versions.toml", b"[versions]"),
        ("src/Page.kt", "// Bär".encode("latin-1")),
        ("App/Page.swift", b""),
    ],
)
def test_random_bytes_are_no_good_project_and_another_encoding_is_no_fault(tmp_path, name, good):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    for content, found in ((bytes(range(1, 256)), [name]), (good, [])):
        file.write_bytes(content)
        done = preflight(Preflight((tmp_path,)))
        assert [miss.file for case in done.cases for miss in case.misses] == found
        assert done.about.exit_code == (1 if found else 2)


@pytest.mark.slow
def test_a_source_of_too_many_bytes_is_said_to_be_unread(tmp_path):
    with (tmp_path / "Page.kt").open("wb") as file:
        file.truncate(16_777_217)
    assert [miss.observed for miss in judge("text.readable", tmp_path).misses] == ["more than 16,777,216 bytes"]


def test_links_in_a_circle_and_links_to_elsewhere_are_not_followed(tmp_path, platform_b):
    (tmp_path / "secret.swift").write_text('let key = "x-api-key"')
    (platform_b / "again").symlink_to(platform_b)
    (platform_b / "App" / "Secret.swift").symlink_to(tmp_path / "secret.swift")
    project = read_project([platform_b])
    assert [file.name for file in project.files if "again" in file.name or "Secret" in file.name] == []
    told = "Not looked into: App/Secret.swift (a link that leads out of the project). Name it, too, or let this account"
    assert project.unread == f"{told} read it."
    assert read_project([platform_b, tmp_path / "secret.swift"]).unread == ""


@pytest.mark.parametrize("hidden", ["by its rights", "behind a link"])
def test_what_cannot_be_looked_into_is_no_pass(tmp_path, platform_a, monkeypatch, hidden):
    whole = preflight(Preflight((platform_a,)))
    assert whole.about.exit_code == 0
    secret = platform_a / "secret"
    if hidden == "behind a link":
        (tmp_path / "elsewhere").mkdir()
        secret.symlink_to(tmp_path / "elsewhere")
    else:
        secret.mkdir()
        scandir = os.scandir

        def guarded(path):  # the account of a test may be one that may read everything
            if Path(path) == secret:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", guarded)
    done = preflight(Preflight((platform_a,)))
    assert done.about.exit_code == 2
    assert done.about.trouble.startswith("Not looked into: secret (")
    assert done.ended(Verdict.PASS) == ()
    assert len(done.ended(Verdict.NOT_LOOKED_AT)) == len(whole.ended(Verdict.PASS, Verdict.NOT_LOOKED_AT))
    assert [case.verdict for case in done.ended(Verdict.FAIL)] == []


def test_the_current_folder_is_named_as_any_other(platform_b, monkeypatch):
    monkeypatch.chdir(platform_b)
    assert "App/Info.plist" in [file.name for file in read_project([Path()]).files]


@pytest.mark.parametrize(
    "ending", ["kt", "swift", "gradle", "kts", "toml", "entitlements", "pbxproj", "resolved", "lock"]
)
def test_the_bytes_of_every_kind_of_source_count(tmp_path, ending):
    (tmp_path / "picture.png").write_bytes(b"x" * 100)
    read_project([tmp_path], most_bytes=50)
    (tmp_path / f"a.{ending}").write_bytes(b"x" * 100)
    with pytest.raises(ParameterError, match="too many bytes of sources"):
        read_project([tmp_path], most_bytes=50)


LEFT_OUT = ["build", "out", "bin", "target", "node_modules", "Pods", "Carthage", "DerivedData", "SourcePackages"]


@pytest.mark.parametrize("folder", [*LEFT_OUT, "vendor", "third_party", "__pycache__", ".hidden"])
def test_what_a_build_made_and_what_others_wrote_is_not_read(tmp_path, folder):
    for name in (folder, "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "App.swift").write_text("let a = 1\n")
    assert [file.path.parent.name for file in read_project([tmp_path]).files] == ["own"]


def test_a_tree_of_too_many_entries_or_bytes_is_refused_before_a_file_is_read(tmp_path, monkeypatch):
    for number in range(30):
        (tmp_path / f"{number}.swift").write_bytes(b"x" * 100)
    reads = []
    monkeypatch.setattr(project_module, "read_regular", lambda path, _most: reads.append(path) or b"")
    with pytest.raises(ParameterError, match="too many bytes of sources"):
        read_project([tmp_path], most_bytes=2000)
    with pytest.raises(ParameterError, match="too many entries"):
        read_project([tmp_path], most_entries=20)
    links = tmp_path / "links"
    links.mkdir()
    for number in range(41):
        (links / f"{number}.swift").symlink_to("/dev/zero")
    with pytest.raises(ParameterError, match="too many entries"):
        read_project([links], most_entries=20)
    assert reads == []


APP = """
targets:
  Bank: {type: application, platform: phoneOS, settings: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank}}
"""
MARKED = {
    "in-app": ("Bank/Add.swift", "let page = PKAddPaymentPassViewController(requestConfiguration: c, delegate: self)"),
    "secure element": ("Bank/Add.m", "[PKAddSecureElementPassViewController new];"),
    "handler": ("Wallet/Handler.cs", "class Handler : PKIssuerProvisioningExtensionHandler {}"),
    "bridge of JavaScript": ("package.json", '{"dependencies": {"@any/react-native-wallet": "1.0"}}'),
    "bridge of Dart": ("pubspec.yaml", "dependencies:\n  any_push_provisioning: ^1.0.0\n"),
    "package of .NET": ("Bank.csproj", '<PackageReference Include="Any.InAppProvisioning" Version="1.0" />'),
}
OTHER = {
    "pays": ("Bank/Pay.swift", "let page = PKPaymentAuthorizationViewController(paymentRequest: PKPaymentRequest())"),
    "tickets": ("Bank/Pass.swift", "let page = PKAddPassesViewController(pass: pass)"),
    "a comment": ("Bank/Pass.swift", "// no PKAddPaymentPassViewController here\nlet page = 1"),
    "tickets of JavaScript": ("package.json", '{"dependencies": {"react-native-wallet-manager": "1.0"}}'),
    "its own name": ("package.json", '{"name": "card-provisioning"}'),
}


@pytest.mark.parametrize("kind", MARKED)
def test_an_app_that_adds_cards_and_lacks_the_entitlement_fails(tmp_path, kind):
    name, text = MARKED[kind]
    case = judge("entitlement.provisioning", write(tmp_path, {"project.yml": APP, name: text}))
    assert (case.verdict, case.misses[0].place) == (Verdict.FAIL, "project.yml:1")


@pytest.mark.parametrize("kind", OTHER)
def test_an_app_that_adds_no_card_is_not_about_provisioning_unless_the_user_says_so(tmp_path, kind):
    name, text = OTHER[kind]
    folder = write(tmp_path, {"project.yml": APP, name: text})
    assert judge("entitlement.provisioning", folder).verdict is Verdict.NOT_APPLICABLE
    for said in ({"sdk": "WalletModule"}, {"library": "any:wallet"}):
        assert judge("entitlement.provisioning", folder, **said).verdict is Verdict.FAIL


def test_a_module_without_its_catalogue_is_not_looked_at(tmp_path):
    script = """android { defaultConfig { applicationId = "com.acme.bank" } }
dependencies { implementation(libs.%s)
}
"""
    for name, verdict in (("card.provisioning", Verdict.NOT_LOOKED_AT), ("retrofit", Verdict.NOT_APPLICABLE)):
        folder = write(tmp_path / name, {"build.gradle.kts": script % name})
        assert judge("gradle.sdk-version", folder).verdict is verdict
