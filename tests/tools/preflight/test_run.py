"""The judgement of a project as a whole."""

from sample_projects import judge

from workbook.tools.harness.model import Verdict
from workbook.tools.preflight.run import Preflight, finding_lines, preflight

OTHERS_PROJECT = """\
// !$*UTF8*$!
{
\tobjects = {
/* Begin PBXBuildFile section */
\t\tAA0000000000000000000001 /* Main.swift in Sources */ = {isa = PBXBuildFile; fileRef = AA02 /* Main.swift */; };
/* End PBXBuildFile section */
\t\tAA0000000000000000000009 /* Thermostat */ = {
\t\t\tisa = PBXNativeTarget;
\t\t\tbuildConfigurationList = AA0000000000000000000010 /* list "Thermostat" */;
\t\t\tname = "Thermostat";
\t\t\tproductType = "com.platform.product-type.application";
\t\t};
\t\tAA0000000000000000000010 = {isa = XCConfigurationList; buildConfigurations = (AA0000000000000000000011, ); };
\t\tAA0000000000000000000011 /* Debug */ = {
\t\t\tisa = XCBuildConfiguration;
\t\t\tbaseConfigurationReference = AA0000000000000000000012 /* Base.xcconfig */;
\t\t\tbuildSettings = {
\t\t\t\t"CODE_SIGN_IDENTITY[sdk=phone*]" = "Developer";
\t\t\t\tINFOPLIST_FILE = "$(SRCROOT)/../elsewhere/$(TARGET_NAME)-Info.plist";
\t\t\t\tLD_RUNPATH_SEARCH_PATHS = ("$(inherited)", "@executable_path/Frameworks", );
\t\t\t\tOTHER_LDFLAGS = "-Wl,\\"quoted\\"";
\t\t\t};
\t\t\tname = Debug;
\t\t};
\t};
\trootObject = AA0000000000000000000099 /* Project object */;
}
"""


def test_a_project_about_something_else_is_blamed_for_nothing(tmp_path):
    (tmp_path / "T.project").mkdir()
    (tmp_path / "T.project" / "project.pbxproj").write_text(OTHERS_PROJECT)
    (tmp_path / "Main.swift").write_text("let hub = DeviceProvisioningService(id: 7); class CardProvisioningView {}\n")
    (tmp_path / "build.gradle").write_text(
        "platform { defaultConfig { applicationId 'a.b' } }\n"
        "dependencies { implementation 'other.vendor:issuing-push-provisioning:1.1.0' }\n"
        "repositories { mavenCentral() }\n"
    )
    done = preflight(Preflight((tmp_path,)))
    assert {case.verdict for case in done.cases} == {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert done.about.trouble.startswith("Nothing here is about provisioning")


def test_another_packages_name_and_version_can_be_given(platform_b):
    pins = platform_b / "Package.resolved"
    pins.write_text(pins.read_text().replace("card-provisioning", "operator-sdk"))
    other = platform_b / "Sub" / "Package.resolved"
    other.parent.mkdir()
    other.write_text(pins.read_text().replace("2.2.1", "1.0.0"))
    for sdk, verdict in (("operator-sdk", Verdict.NOTE), ("another", Verdict.NOT_LOOKED_AT)):
        assert judge("build.package-version", platform_b, sdk=sdk).verdict is verdict


def test_what_fails_is_told_before_what_is_only_noted(platform_a):
    script = platform_a / "app" / "build.gradle.kts"
    script.write_text(script.read_text().replace("minSdk = libs.versions.minSdk.get().toInt()", "minSdk = 21"))
    source = platform_a / "app" / "src" / "main" / "kotlin" / "BackEnd.kt"
    source.write_text(source.read_text() + 'const val PATH = "/bcl/v2/paymentInstruments"\n')
    first, second = finding_lines(preflight(Preflight((platform_a,))))
    assert ("fail API-13" in first, "note APP-8" in second) == (True, True)
