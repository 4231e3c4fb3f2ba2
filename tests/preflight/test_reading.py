"""The readers: both languages of build scripts, and input that nobody wrote with good intent."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.errors import ParameterError
from workbook.harness.model import Verdict
from workbook.preflight import project as project_module
from workbook.preflight.gradle import numbers, read_build, statements
from workbook.preflight.platform_b import read_old_plist, read_platform_b, read_plist
from workbook.preflight.project import read_project
from workbook.preflight.run import Preflight, preflight
from workbook.preflight.sources import SourceFile, calls_in

GROOVY = """\
apply plugin: 'com.platform.application'
def sdkVersion = '0.3.4' // the older one
ext { tapVersion = "18.3.3" }
platform {
    compileSdkVersion 34
    defaultConfig {
        applicationId "com.issuer.cards"
        minSdkVersion 24
    }
    buildTypes {
        debug { applicationIdSuffix ".debug" }
        release { }
        qa { initWith debug }
    }
    productFlavors {
        free { applicationIdSuffix '.free' }
        paid { applicationId 'com.issuer.paid' }
    }
}
dependencies {
    implementation "operator.mobile:card-provisioning:$sdkVersion"
    implementation group: 'wallet.provider', name: 'tap-and-pay', version: "${tapVersion}"
    /* implementation 'wallet.provider:tap-and-pay:1.0' */
}
repositories { maven { url 'https://repo.issuer.example/m2' } }
"""
PIECES = [
    *"{}()[]=;,\"'\n$\\ /*#<>",
    *"abc0",
    "/*",
    "*/",
    '"""',
    "<plist>",
    "<dict>",
    "<key>",
    "</key>",
    "//",
    "{{{",
    "bplist00",
]


@pytest.mark.rule("A-ALLOW-2")
def test_a_groovy_script_says_the_same_as_one_in_kotlin(tmp_path):
    (tmp_path / "build.gradle").write_text(GROOVY)
    build = read_build(read_project([tmp_path]))
    (module,) = build.apps
    assert [(one.coordinate, one.version) for one in module.dependencies()] == [
        ("operator.mobile:card-provisioning", "0.3.4"),
        ("wallet.provider:tap-and-pay", "18.3.3"),
    ]
    assert (module.level("minSdk", "minSdkVersion"), module.level("compileSdkVersion")) == ((24, 8), (34, 5))
    ids = {one.name: one.application_id for one in module.variants()}
    assert ids == {
        "freeDebug": "com.issuer.cards.free.debug",
        "freeRelease": "com.issuer.cards.free",
        "freeQa": "com.issuer.cards.free.debug",
        "paidDebug": "com.issuer.paid.debug",
        "paidRelease": "com.issuer.paid",
        "paidQa": "com.issuer.paid.debug",
    }
    assert {case.verdict for case in preflight(Preflight((tmp_path,))).cases} == {
        Verdict.PASS,
        Verdict.NOT_APPLICABLE,
        Verdict.NOTE,
    }


def test_a_computed_application_id_is_unknown(tmp_path):
    (tmp_path / "build.gradle.kts").write_text(
        'platform { defaultConfig { applicationId = System.getenv("ID") + ".x"; minSdk = 26 } }\n'
        'dependencies { implementation("operator:card-provisioning:$unknown") }\n'
    )
    (module,) = read_build(read_project([tmp_path])).apps
    assert [one.version for one in module.dependencies()] == [""]
    assert all(numbers(one.version) == () for one in module.dependencies())


@pytest.mark.rule("A-DEP-1")
@pytest.mark.parametrize(("version", "places"), [("18.8.0", []), ("18.3.3", ["app/build.gradle.kts:22"])])
def test_a_bundle_of_the_catalog_stands_for_its_libraries(platform_a, version, places):
    catalog, script = platform_a / "gradle" / "libs.versions.toml", platform_a / "app" / "build.gradle.kts"
    bundle = '[bundles]\ncard-wallet = ["card-provisioning", "tap-and-pay"]\n'
    catalog.write_text(catalog.read_text().replace("18.8.0", version) + bundle)
    named = script.read_text().replace("    implementation(libs.tap.and.pay)\n", "")
    script.write_text(named.replace("libs.card.provisioning", "libs.bundles.card.wallet"))
    cases = {case.name: case for case in preflight(Preflight((platform_a,))).cases}
    judged = cases["preflight.gradle.library-version"]
    assert judged.verdict is (Verdict.FAIL if places else Verdict.PASS)
    assert [miss.place for miss in judged.misses] == places


LIBRARY = "implementation group: 'wallet.provider', name: 'tap-and-pay'"


@pytest.mark.rule("A-DEP-1")
@pytest.mark.parametrize(
    ("before", "named"),
    [
        ("def tap = '18.3.3'", f"{LIBRARY}, version: tap"),
        ("String tap = '18.3.3'", f"{LIBRARY}, version: tap, ext: 'aar'"),
        ("final def tap = '18.3.3'", f'{LIBRARY}, version: "$tap"'),
        ('val tap = "18.3.3"', 'implementation("wallet.provider:tap-and-pay:$tap")'),
        ('private val tap: String = "18.3.3"', 'implementation("wallet.provider:tap-and-pay:${tap}")'),
        ('private const val tap = "18.3.3"', 'implementation("wallet.provider:tap-and-pay:" + tap)'),
        ("", 'val tap = "18.3.3"\nimplementation(group = "wallet.provider", name = "tap-and-pay", version = tap)'),
        ("def all = [sdk: '0.4.1', tap: '18.3.3']", f"{LIBRARY}, version: all.tap"),
    ],
)
def test_a_version_in_a_variable_of_the_script_is_known(tmp_path, before, named):
    (tmp_path / "build.gradle").write_text(
        f"{before}\nplatform {{ defaultConfig {{ }} }}\n"
        f"dependencies {{\nimplementation 'operator:card-provisioning:0.4.1'\n{named}\n}}\n"
    )
    other = "def tap = '18.8.0'\nval tap = '18.8.0'\nplatform { defaultConfig { } }\n"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "build.gradle").write_text(other)
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    (miss,) = cases["preflight.gradle.library-version"].misses
    assert (miss.observed, miss.file) == ("18.3.3", "build.gradle")


@pytest.mark.rule("A-DEP-1")
@pytest.mark.parametrize(
    ("named", "why"),
    [
        (f"{LIBRARY}, version: tap", "its version is unknown"),
        (LIBRARY, "its version is unknown"),
        ("def tap = '18' + '.3.3'\nimplementation \"wallet.provider:tap-and-pay:$tap\"", "its version is unknown"),
        ("", "No build file names the private library itself"),
    ],
)
def test_a_library_whose_version_is_unknown_is_named_all_the_same(tmp_path, named, why):
    (tmp_path / "build.gradle").write_text(
        f"dependencies {{\nimplementation 'operator:card-provisioning:0.4.1'\n{named}\n}}\n"
    )
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    case = cases["preflight.gradle.library-version"]
    assert case.verdict is Verdict.NOT_APPLICABLE
    assert why in case.why


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


def test_a_source_of_too_many_bytes_is_said_to_be_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(project_module, "LARGEST", 10)
    (tmp_path / "Page.kt").write_text("class Page" + "\n" * 10)
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    assert [miss.observed for miss in cases["preflight.text.readable"].misses] == ["more than 10 bytes"]


@pytest.mark.rule("A-ALLOW-2")
def test_flavours_of_several_dimensions_are_combined_and_what_is_computed_is_left_out(tmp_path):
    script = tmp_path / "build.gradle.kts"
    script.write_text("""
platform {
    defaultConfig {
        applicationId = "com.issuer"
    }
    productFlavors {
        create("bank") { dimension = "brand" }
        create("club") { dimension = "brand"; applicationId = "com.club" }
        create("test") { dimension = "stage"; applicationIdSuffix = ".test" }
        create("live") { dimension = "stage" }
    }
}
""")
    (module,) = read_build(read_project([tmp_path])).apps
    assert {one.name: one.application_id for one in module.variants() if not one.name.lower().endswith("debug")} == {
        "bankTestRelease": "com.issuer.test",
        "bankLiveRelease": "com.issuer",
        "clubTestRelease": "com.club.test",
        "clubLiveRelease": "com.club",
    }
    script.write_text(
        'platform { defaultConfig { applicationId = project.findProperty("APP_ID") as String?\n ?: "com.issuer" } }'
    )
    (module,) = read_build(read_project([tmp_path])).apps
    assert module.variants() == []


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize(("flavours", "end"), [(3, "; com.issuer.f2 (f2Release)"), (6, "; and 6 more")])
def test_many_application_ids_are_cut_between_two_and_counted(tmp_path, flavours, end):
    names = [f"f{number}" for number in range(flavours)]
    (tmp_path / "build.gradle").write_text(
        "platform { defaultConfig { applicationId 'com.issuer' }\n"
        "buildTypes { debug { applicationIdSuffix '.debug' } }\n"
        "productFlavors {\n" + "\n".join(f"{one} {{ applicationIdSuffix '.{one}' }}" for one in names) + "\n} }\n"
        "dependencies { implementation 'operator:card-provisioning:0.4.1' }\n"
    )
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    (miss,) = cases["preflight.gradle.application-ids"].misses
    assert miss.observed.startswith(f"{2 * flavours} application ids: com.issuer.f0.debug (f0Debug); ")
    assert miss.observed.endswith(end)


def test_a_library_module_that_publishes_itself_publishes_no_private_library(platform_a):
    script = platform_a / "app" / "build.gradle.kts"
    script.write_text(script.read_text().replace("plugins {", "plugins {\n    `maven-publish`") + (
        'publishing { publications { create<P>("release") { from(components["release"]) } } }\n'
    ))  # fmt: skip
    cases = {case.name: case.verdict for case in preflight(Preflight((platform_a,))).cases}
    assert cases["preflight.gradle.publishing"] is Verdict.PASS


def test_a_back_end_beside_the_app_may_know_the_api(platform_a):
    server = platform_a / "server"
    (server / "src").mkdir(parents=True)
    (server / "build.gradle.kts").write_text('plugins { id("org.server.boot") }\n')
    (server / "src" / "Relay.kt").write_text('val path = "/bcl/v2/paymentInstruments"; val header = "x-api-key"\n')
    (platform_a / "app" / "src" / "test").mkdir(exist_ok=True)
    (platform_a / "app" / "src" / "test" / "Fake.kt").write_text('val header = "x-api-key"\n')
    verdicts = {case.name: case.verdict for case in preflight(Preflight((platform_a,))).cases}
    assert verdicts["preflight.app.api-address"] is verdicts["preflight.app.api-key"] is Verdict.PASS


@pytest.mark.rule("API-13")
def test_a_comment_about_the_api_is_no_trace_of_it_and_an_address_is_no_comment(platform_b):
    file = platform_b / "App" / "BackEnd.swift"
    text = file.read_text()
    file.write_text(f"// our back end calls /bcl/v2 with x-api-key\n{text}")
    verdicts = {case.name: case.verdict for case in preflight(Preflight((platform_b,))).cases}
    assert verdicts["preflight.app.api-key"] is Verdict.PASS
    file.write_text(f'let url = "https://api.example/bcl/v2"\n{text}')
    verdicts = {case.name: case.verdict for case in preflight(Preflight((platform_b,))).cases}
    assert verdicts["preflight.app.api-address"] is Verdict.FAIL


@pytest.mark.rule("X-PLIST-3")
def test_a_class_with_a_plain_name_of_its_own_needs_no_module(platform_b):
    file = platform_b / "WalletExtension" / "Info.plist"
    file.write_text(file.read_text().replace("$(PRODUCT_MODULE_NAME).", ""))
    case = "preflight.plist.principal-class"
    assert {one.name: one.verdict for one in preflight(Preflight((platform_b,))).cases}[case] is Verdict.FAIL
    source = platform_b / "App" / "ExtensionHandler.swift"
    source.write_text(source.read_text().replace("final class", "@objc(ExtensionHandler)\nfinal class"))
    assert {one.name: one.verdict for one in preflight(Preflight((platform_b,))).cases}[case] is Verdict.PASS


WITH_COMPLETIONS = """\
class WalletHandler: IssuerProvisioningExtensionHandler {
    private lazy var session: URLSession = { URLSession(configuration: .default) }()
    let shared = UserDefaults(suiteName: "group.com.issuer.cards")
    override func status(completion: @escaping (ExtensionStatus) -> Void) {
        let status = ExtensionStatus()
        status.passEntriesAvailable = shared?.string(forKey: "token") != nil
        completion(status)
    }
    override func remotePassEntries(completion: @escaping ([PassEntry]) -> Void) {
        self.passEntries(completion: completion)
    }
    override func passEntries(completion: @escaping ([PassEntry]) -> Void) {
        session.dataTask(with: request) { data, _, _ in completion([]) }.resume()
    }
}
"""


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-2")
def test_a_handler_without_the_sdk_and_with_completions_is_judged_too(platform_b):
    source = platform_b / "App" / "ExtensionHandler.swift"

    def failed(text):
        source.write_text(text)
        return {
            one.name.rpartition(".")[2] for one in preflight(Preflight((platform_b,))).cases if one.verdict == "fail"
        }

    assert failed(WITH_COMPLETIONS) == {"remote-entries"}
    calling = WITH_COMPLETIONS.replace("let status = ", "session.dataTask(with: url).resume()\n        let status = ")
    assert failed(calling) == {"remote-entries", "status-network"}


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
    for sdk, verdict in (("operator-sdk", Verdict.NOTE), ("another", Verdict.PASS)):
        cases = {case.name: case.verdict for case in preflight(Preflight((platform_b,), sdk=sdk)).cases}
        assert cases["preflight.build.package-version"] is verdict


@pytest.mark.parametrize(
    ("pin", "version"),
    [
        ('from: "2.0.1"', (2, 0, 1)),
        ('exact: "1.0.0"', (1, 0, 0)),
        ('.upToNextMajor(from: "2.2.0")', (2, 2, 0)),
        ('"2.0.0"..<"3.0.0"', (2, 0, 0)),
        ('branch: "main"', ()),
    ],
)
def test_the_sdks_version_is_read_from_a_package_manifest_too(platform_b, pin, version):
    (platform_b / "Package.resolved").unlink()
    url = "https://host.example/operator/card-provisioning.git"
    (platform_b / "Package.swift").write_text(f'let package = Package(dependencies: [.package(url: "{url}", {pin})])')
    assert read_platform_b(read_project([platform_b])).version == version


@pytest.mark.parametrize("key", ["minimumVersion", "version"])
def test_a_project_file_that_names_the_sdks_package_says_its_version(platform_b, key):
    (platform_b / "Package.resolved").unlink()
    file = platform_b / "Issuer.project" / "project.pbxproj"
    reference = (
        'objects = { FF01 = { isa = XCRemoteSwiftPackageReference; requirement = { kind = range; %s = 2.0.1; };'
        ' repositoryURL = "https://host.example/operator/card-provisioning.git"; };'
    )  # fmt: skip
    file.write_text(file.read_text().replace("objects = {", reference % key, 1))
    (found,) = read_platform_b(read_project([platform_b])).packages
    assert (found.name, found.version, found.file.name) == (
        "card-provisioning",
        "2.0.1",
        "Issuer.project/project.pbxproj",
    )


def test_links_in_a_circle_and_links_to_elsewhere_are_not_followed(tmp_path, platform_b):
    (tmp_path / "secret.swift").write_text('let key = "x-api-key"')
    (platform_b / "again").symlink_to(platform_b)
    (platform_b / "App" / "Secret.swift").symlink_to(tmp_path / "secret.swift")
    project = read_project([platform_b])
    assert [file.name for file in project.files if "again" in file.name or "Secret" in file.name] == []


def test_a_tree_that_is_too_deep_is_refused(tmp_path):
    folder = tmp_path
    for _level in range(70):
        folder = folder / "d"
        folder.mkdir()
    with pytest.raises(ParameterError, match="folders inside one another"):
        read_project([tmp_path])


def test_a_tree_of_too_many_entries_or_bytes_is_refused_before_a_file_is_read(tmp_path, monkeypatch):
    for number in range(30):
        (tmp_path / f"{number}.swift").write_bytes(b"x" * 100)
    reads = []
    monkeypatch.setattr(project_module, "read_regular", lambda path, _most: reads.append(path) or b"")
    monkeypatch.setattr(project_module, "MOST_BYTES", 2000)
    with pytest.raises(ParameterError, match="too many bytes of sources"):
        read_project([tmp_path])
    monkeypatch.setattr(project_module, "MOST_BYTES", 10**9)
    monkeypatch.setattr(project_module, "MOST_FILES", 20)
    with pytest.raises(ParameterError, match="more than 20 files"):
        read_project([tmp_path])
    links = tmp_path / "links"
    links.mkdir()
    for number in range(41):
        (links / f"{number}.swift").symlink_to("/dev/zero")
    with pytest.raises(ParameterError, match="too many entries"):
        read_project([links])
    assert reads == []


def test_an_apps_own_function_with_a_name_of_the_other_variant_is_not_blamed(platform_b):
    file = platform_b / "App" / "AddCardModel.swift"
    calling = file.read_text().replace("save(sdkInput, cardId)", "_ = page.canAddCard()")

    def verdict(text):
        file.write_text(text)
        cases = {case.name: case.verdict for case in preflight(Preflight((platform_b,))).cases}
        return cases["preflight.swift.can-add"]

    assert verdict(calling) is Verdict.FAIL
    assert verdict(f"{calling}\nextension Page {{ func canAddCard() -> Bool {{ true }} }}\n") is Verdict.PASS


@pytest.mark.rule("A-DEP-2")
def test_a_librarys_module_alone_leaves_the_repositories_to_the_app_that_uses_it(tmp_path):
    script = """
plugins { id 'a.library' }
platform { defaultConfig { minSdkVersion 26 } }
repositories { mavenCentral() }
dependencies { implementation 'wallet.gms:play-services-tapandpay:18.8.0' }
"""
    (tmp_path / "build.gradle").write_text(script)
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    assert cases["preflight.gradle.repository"].verdict is Verdict.PASS
    (tmp_path / "build.gradle").write_text(script.replace("minSdkVersion 26", "applicationId 'a.b'"))
    cases = {case.name: case for case in preflight(Preflight((tmp_path,))).cases}
    assert cases["preflight.gradle.repository"].verdict is Verdict.FAIL


BOMB = b"""<?xml version="1.0"?><!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<plist version="1.0"><dict><key>NSExtension</key><string>&b;</string></dict></plist>"""


@pytest.mark.parametrize(
    "content",
    [BOMB, b"bplist00" + b"\xd1\x00" * 50, b"<plist>" + b"<dict><key>a</key>" * 60_000, b"\0" * 1000, b""],
)
def test_a_hostile_property_list_is_none(content):
    assert read_plist(content) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, "/*" * 100_000, '"\\"' * 60_000, '"""' * 60_001, "a(" * 60_000, "a.b=" * 60_000, "'\\" * 80_000],
)
def test_a_hostile_script_is_read_in_one_pass(text):
    assert isinstance(statements(text), tuple)
    assert read_old_plist(text) is None or isinstance(read_old_plist(text), str)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_whatever_the_text_is_the_readers_end_without_an_error(text):
    statements(text)
    read_old_plist(text)
    read_plist(text.encode())


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=string.printable, max_size=200))
@pytest.mark.parametrize("suffix", [".swift", ".kt"])
def test_whatever_a_source_is_its_calls_are_found_without_an_error(tmp_path_factory, suffix, text):
    from workbook.preflight.project import File

    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_text(text)
    assert isinstance(list(calls_in(SourceFile(File(file, file.name)).root)), list)
