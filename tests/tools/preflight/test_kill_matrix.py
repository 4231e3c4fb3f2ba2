"""Each case: the good project passes it, and one small edit of a file fails it, at the right place."""

import plistlib
from pathlib import Path

import pytest
from sample_projects import alarms, good_project, judge, judged
from texts import demand_none

from workbook.base.files import sample
from workbook.tools.harness.model import Verdict
from workbook.tools.preflight.run import PREFLIGHT_CASES


def line_of(name, text):
    """The place of a text in a Swift sample that the project has as its app."""
    lines = sample(f"native/swift/{name}.swift").read_text("utf-8").splitlines()
    return f"App/{name}.swift:{next(number for number, line in enumerate(lines, 1) if text in line)}"


GRADLE, CATALOG, SETTINGS = "app/build.gradle.kts", "gradle/libs.versions.toml", "settings.gradle.kts"
MODEL = "app/src/main/kotlin/AddCardModel.kt"
BACK_END = "app/src/main/kotlin/BackEnd.kt"
EXTENSION, UI = "WalletExtension/Info.plist", "WalletUI/Info.plist"
PROJECT, HANDLER = "Issuer.project/project.pbxproj", "App/ExtensionHandler.swift"

STATUS = "guard let service = makeService(cards.map(\\.sdkInput)) else {"
KEY = "NSExtensionPointIdentifier"
LONE = """\
class CardPage(val card: CardProvisioning) {
    suspend fun onTap(name: String, opc: OpcProvider) {
        card.provision(name, CardAddress(), opc)
    }
}
"""
NETWORK = "guard let service = makeService(await fetch(cards.map(\\.id))) else {"

B = [
    ("plist.readable", EXTENSION, "</dict>\n</plist>", "", EXTENSION),
    ("plist.readable", PROJECT, "objects = {", "objects = (", PROJECT),
    ("plist.identifier", EXTENSION, "com.platform.kit.issuer", "com.platform.issuer", f"{EXTENSION}:11"),
    ("plist.identifier", UI, "provisioning.authorization", "provisioning.authorisation", f"{UI}:11"),
    ("plist.identifier", EXTENSION, f"<key>{KEY}</key>\n\t\t<string>com.platform.kit.issuer-provisioning</string>", "",
     EXTENSION),
    ("plist.nesting", EXTENSION, f"<key>{KEY}</key>", "<key>NSExtensionIdentifier</key>", f"{EXTENSION}:10"),
    ("plist.principal-class", EXTENSION, "$(PRODUCT_MODULE_NAME).", "", f"{EXTENSION}:12"),
    ("plist.principal-class", EXTENSION, ".ExtensionHandler", ".AuthorizationProvider", f"{EXTENSION}:12"),
    ("plist.principal-class", UI, "NSExtensionPrincipalClass", "NSExtensionPrincipal", f"{UI}:8"),
    ("plist.principal-class", EXTENSION, ".ExtensionHandler", ".WalletThing", f"{EXTENSION}:12"),
    ("plist.principal-class", HANDLER, "class ExtensionHandler", "class WalletThing", f"{EXTENSION}:12"),
    ("plist.principal-class", UI, "<key>NSExtensionPrincipalClass</key>",
     "<key>NSExtensionMainStoryboard</key><string>Main</string><key>Other</key>", f"{UI}:8"),
    ("plist.both-extensions", PROJECT, 'INFOPLIST_FILE = "$(SRCROOT)/WalletUI/Info.plist"', "NO = none", EXTENSION),
    ("entitlement.provisioning", "App/App.entitlements", "payment-pass-provisioning", "pass", "App/App.entitlements:1"),
    ("entitlement.provisioning", "WalletUI/WalletUI.entitlements", "<true/>", "<false/>", "WalletUI/WalletUI.entit"),
    ("entitlement.provisioning", PROJECT, "CODE_SIGN_ENTITLEMENTS = WalletExtension/WalletExtension.entitlements;", "",
     EXTENSION),
    ("entitlement.app-group", "WalletExtension/WalletExtension.entitlements", "group.com.issuer.cards",
     "group.com.issuer.card", "WalletExtension/WalletExtension.entitlements:8"),
    ("build.deployment-target", PROJECT, "PHONEOS_DEPLOYMENT_TARGET = 15.0", "PHONEOS_DEPLOYMENT_TARGET = 13.4",
     PROJECT),
    ("build.deployment-target", PROJECT, 'INFOPLIST_FILE = "$(SRCROOT)/WalletUI',
     'PHONEOS_DEPLOYMENT_TARGET = 18.0; INFOPLIST_FILE = "$(SRCROOT)/WalletUI', PROJECT),
    ("swift.status-network", HANDLER, STATUS, "_ = try? await URLSession.shared.data(from: url)\n" + STATUS, HANDLER),
    ("swift.status-network", HANDLER, STATUS, NETWORK, HANDLER),
    ("swift.remote-entries", HANDLER, "?.remotePassEntries(", "?.passEntries(",
     line_of("ExtensionHandler", "?.remotePassEntries(")),
    ("swift.kept-service", HANDLER, "    private let saved",
     "    private var service: ExtensionProvisioningService?\n    private let saved", f"{HANDLER}:8"),
    ("swift.entries-unavailable", HANDLER, "return ExtensionProvisioningService.entriesUnavailableExtensionStatus",
     "fatalError()", line_of("ExtensionHandler", "func status()")),
    ("swift.authentication-ui", PROJECT, 'INFOPLIST_FILE = "$(SRCROOT)/WalletUI/Info.plist"', "NO = none",
     line_of("ExtensionHandler", "requiresAuthentication: true")),
    ("swift.authorization", "App/AuthorizationProvider.swift", "authenticated ? .authorized : .canceled", ".canceled",
     "App/AuthorizationProvider.swift:5"),
    ("swift.delegate", "App/AddCardModel.swift", "provision(sdkOutput: Data, paymentInstrumentId: String)",
     "provision(sdkOutput: Data)", line_of("AddCardModel", "func provision(")),
    ("swift.delegate", HANDLER, "provision(paymentInstrumentId: String, sdkOutput: Data)",
     "provision(sdkOutput: Data, paymentInstrumentId: String)", f"{HANDLER}:"),
    ("swift.delegate", "Package.resolved", '"2.2.1"', '"1.0.0"', line_of("AddCardModel", "func provision(")),
    ("swift.card-art", HANDLER, "func cardArt(paymentInstrumentId: String)", "func cardArt(forBrand: String)", HANDLER),
    ("swift.card-art", "Package.resolved", '"2.2.1"', '"1.0.0"', HANDLER),
    ("swift.can-add", "Package.resolved", '"2.2.1"', '"1.0.0"', line_of("AddCardModel", "canAddCardDetails(")),
    ("swift.can-add", "App/AddCardModel.swift", "canAddCardDetails(isWatchActivated: isWatchActivated).canAddCard",
     "canAddCard()", line_of("AddCardModel", "canAddCardDetails(")),
    ("swift.can-add", "App/AddCardModel.swift", "isWatchActivated: isWatchActivated", "isWatchActivated: false",
     line_of("AddCardModel", "canAddCardDetails(")),
    ("swift.one-watch", "App/AddCardModel.swift", "import Foundation",
     "import Foundation\nlet first = WatchAvailability()\nlet second = WatchAvailability()", "App/AddCardModel.swift:"),
    ("app.api-address", "App/BackEnd.swift", "import Foundation",
     'import Foundation\nlet api = "https://api.operator.example/bcl/v2/paymentInstruments/"', "App/BackEnd.swift:"),
    ("app.api-key", "App/Info.plist", "<dict>", "<dict><key>X-Api-Key</key><string>abc</string>", "App/Info.plist:3"),
    ("app.api-key", "App/Info.plist", "<dict>",
     "<dict>\n<key>WalletApiKey</key>\n<string>k3-92ab-771c-0e55</string>", "App/Info.plist:4"),
    ("app.cleartext", "App/Info.plist", "<dict>",
     "<dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsArbitraryLoads</key><true/></dict>",
     "App/Info.plist:3"),
    ("app.cleartext", "App/BackEnd.swift", "import Foundation",
     'import Foundation\nlet host = "http://cards.issuer.com"', "App/BackEnd.swift:2"),
    ("plist.readable", PROJECT, "$(SRCROOT)/WalletUI/Info.plist", "$(SRCROOT)/WalletUi/Info.plist", PROJECT),
    ("plist.bundle-id", PROJECT, "com.issuer.cards.walletui;", "com.issuer.walletui;", PROJECT),
    ("plist.bundle-id", PROJECT, "PRODUCT_BUNDLE_IDENTIFIER = com.issuer.cards;",
     "PRODUCT_BUNDLE_IDENTIFIER = com.issuer.Cards;", PROJECT),
]  # fmt: skip
A = [
    ("text.readable", CATALOG, "[versions]", "[versions", f"{CATALOG}:1"),
    ("text.readable", MODEL, "package issuer", "package\0issuer", f"{MODEL}:1"),
    ("text.readable", SETTINGS, "mavenLocal", "maven\0Local", f"{SETTINGS}:1"),
    ("gradle.library-version", CATALOG, "18.8.0", "18.3.3", f"{GRADLE}:23"),
    ("gradle.library-version", CATALOG, '"0.4.1"', '"0.3.4"', f"{GRADLE}:23"),
    ("gradle.sdk-version", GRADLE, "implementation(libs.card.provisioning)",
     'implementation(libs.card.provisioning)\n    testImplementation("operator.mobile:card-provisioning:0.3.4")',
     f"{GRADLE}:23"),
    ("gradle.sdk-version", CATALOG, '"0.4.1"', '"0.3.4"', f"{GRADLE}:22"),
    ("gradle.repository", SETTINGS, "mavenLocal()", 'maven("https://repo1.maven.org/maven2")', f"{SETTINGS}:3"),
    ("gradle.publishing", GRADLE, "dependencies {",
     'publishing { artifact(file("libs/tap-and-pay-18.8.0.aar")) }\ndependencies {', f"{GRADLE}:21"),
    ("gradle.publishing", GRADLE, "implementation(libs.tap.and.pay)",
     "embed(libs.tap.and.pay)\n}\npublishing {\n    publications { }", f"{GRADLE}:23"),
    ("gradle.publishing", GRADLE, "implementation(libs.tap.and.pay)",
     'embed(libs.tap.and.pay)\n}\nplugins {\n    id("maven-publish")', f"{GRADLE}:23"),
    ("gradle.levels", CATALOG, 'minSdk = "26"', 'minSdk = "24"', f"{GRADLE}:11"),
    ("gradle.levels", GRADLE, "compileSdk = 35", "compileSdk = 34", f"{GRADLE}:7"),
    ("gradle.application-ids", GRADLE, "release {", 'debug { applicationIdSuffix = ".debug" }\n        release {',
     f"{GRADLE}:10"),
    ("kotlin.deprecated", MODEL, "sdk.provision(cardName, CardAddress(), provider)",
     "sdk.provision(sdkInput = sdk.createSdkOutput(), cardDisplayName = cardName, cardAddress = CardAddress())", MODEL),
    ("kotlin.deprecated", MODEL, "sdk.provision(cardName, CardAddress(), provider)",
     "sdk.provision(sdkInput = opc, cardDisplayName = cardName, cardAddress = CardAddress())", MODEL),
    ("kotlin.deprecated", MODEL, "sdk.provision(cardName, CardAddress(), provider)",
     "sdk.createSdkOutput()", MODEL),
    ("kotlin.deprecated", MODEL, "sdk.provision(cardName, CardAddress(), provider)",
     "sdk.provision(opc, cardName, CardAddress())", MODEL),
    ("kotlin.button", MODEL, None, LONE, f"{MODEL}:3"),
    ("kotlin.fetch-opc", MODEL, "            throw error\n        }", '            ""\n        }', MODEL),
    ("kotlin.fetch-opc", MODEL, "sdk.provision(cardName, CardAddress(), provider)",
     'sdk.provision(cardName, CardAddress(), OpcProvider { id, data -> backEnd.find(id, data) ?: "" })', MODEL),
    ("kotlin.fetch-opc", MODEL, "backEnd.provision(paymentInstrumentId, sdkOutput)",
     'runCatching { backEnd.provision(paymentInstrumentId, sdkOutput) }.getOrDefault("")', MODEL),
    ("kotlin.fetch-opc", MODEL, "backEnd.provision(paymentInstrumentId, sdkOutput)",
     'backEnd.provisionOrNull(paymentInstrumentId, sdkOutput) ?: ""', MODEL),
    ("app.api-address", BACK_END, "package issuer",
     'package issuer\nconst val PATH = "/paymentInstruments/{id}/networkTokenActivationData"', f"{BACK_END}:2"),
    ("app.api-key", GRADLE, "versionName",
     'buildConfigField("String", "API_KEY", "\\"sk_live_92ab771c0e55\\""); versionName', f"{GRADLE}:12"),
    ("app.cleartext", BACK_END, "package issuer", 'package issuer\nconst val BASE = "http://cards.issuer.com/"',
     f"{BACK_END}:2"),
    ("app.api-key", GRADLE, "versionName", 'buildConfigField("String", "HEADER", "\\"x-api-key\\""); versionName',
     f"{GRADLE}:12"),
]  # fmt: skip

ENVIRONMENT = [
    ("environment.base-url", "https://test.operator.example", "http://test.operator.example"),
    ("environment.base-url", "operator.example", "operator.example/bcl/v2/paymentInstruments"),
    ("environment.key", "k3-92ab-771c-0e", "<your key>"),
    ("environment.key", "k3-92ab-771c-0e", "live-92ab-771c-0e"),
    ("environment.key", "test.operator.example\nAPI_KEY=k3", "api.operator.example\nAPI_KEY=sandbox-k3"),
    ("environment.time-limit", "API_TIMEOUT=5", "API_TIMEOUT=20"),
    ("environment.time-limit", "API_TIMEOUT=5", "API_TIMEOUT=30"),
    ("environment.time-limit", "API_TIMEOUT=5", "API_TIMEOUT=30s"),
    ("environment.time-limit", "API_TIMEOUT=5", "API_TIMEOUT_MS=30000"),
]


def ids(rows):
    return [f"{row[0]}-{at}" for at, row in enumerate(rows)]


def edited(file, old, new):
    text = file.read_text()
    assert old is None or old in text
    file.write_text(new if old is None else text.replace(old, new))


def places(case):
    return [miss.place for miss in case.misses]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return {kind: judged(good_project(tmp_path_factory.mktemp("good"), kind)) for kind in "ab"}


@pytest.mark.rule("B-DEL-1", "B-DEL-2", "B-CAN-1", "B-CAN-2", "B-WATCH-1", "X-DEL-1", "X-ART-1", "APP-8", "X-PLIST-1")
@pytest.mark.rule("X-PLIST-2", "X-PLIST-3", "X-STATUS-3", "X-ENTRIES-2", "X-HANDLER-1", "B-WATCH-2", "A-DEP-1")
@pytest.mark.rule("A-DEP-2", "A-DEP-3", "A-MIG-1", "A-BTN-1", "A-OPC-1", "API-13", "A-ALLOW-2")
@pytest.mark.parametrize(("kind", "row"), [*(("a", row) for row in A), *(("b", row) for row in B)], ids=ids([*A, *B]))
def test_a_project_passes_until_it_is_broken(tmp_path, good, kind, row):
    name, file, old, new, place = row
    assert good[kind][name].verdict is Verdict.PASS
    folder = good_project(tmp_path, kind)
    edited(folder / file, old, new)
    after = judge(name, folder)
    assert after.verdict in {Verdict.FAIL, Verdict.WARN, Verdict.NOTE}
    assert [found for found in places(after) if found.startswith(place)]


APP_DELEGATE = """\
class Page: {} {{
    let service = ProvisioningService()
    func provision({}) async -> Data? {{ nil }}
}}
extension Page {{ func didFinishProvisioning(with pass: Pass?, error: Error?) {{ }} }}
"""
WALLET_DELEGATE = """\
extension Handler: {} {{
    func service() -> ExtensionProvisioningService? {{ nil }}
    func provision({}) async -> Data? {{ nil }}
    func cardArt({}: String) -> Image {{ art }}
}}
"""
OUTPUT, CARD = "sdkOutput: Data", "paymentInstrumentId: String"


@pytest.mark.rule("B-DEL-2", "X-DEL-1", "X-ART-1")
@pytest.mark.parametrize("protocol", ["{}ProvisioningDelegate", "{}ProvisioningServiceDelegate", "Sdk{}Callbacks"])
def test_a_delegate_is_known_by_what_it_does_whatever_its_protocol_is_called(platform_b, protocol):
    for file in (platform_b / "App").glob("*.swift"):
        file.unlink()
    app, wallet = protocol.format(""), protocol.format("Extension")
    page, handler = platform_b / "App" / "Page.swift", platform_b / "App" / "Handler.swift"

    def verdicts():
        after = judged(platform_b)
        return [after[name].verdict for name in ("swift.delegate", "swift.card-art")]

    page.write_text("let service = ProvisioningService()\n")
    assert verdicts() == [Verdict.NOT_APPLICABLE, Verdict.NOT_APPLICABLE]
    page.write_text(APP_DELEGATE.format(app, f"{OUTPUT}, {CARD}"))
    assert verdicts() == [Verdict.PASS, Verdict.NOT_APPLICABLE]
    handler.write_text(WALLET_DELEGATE.format(wallet, f"{CARD}, {OUTPUT}", "paymentInstrumentId"))
    assert verdicts() == [Verdict.PASS, Verdict.PASS]
    page.write_text(APP_DELEGATE.format(app, OUTPUT))
    handler.write_text(WALLET_DELEGATE.format(wallet, f"{CARD}, {OUTPUT}", "forBrand"))
    assert verdicts() == [Verdict.FAIL, Verdict.FAIL]
    page.unlink()
    handler.write_text(WALLET_DELEGATE.format(wallet, f"{OUTPUT}, {CARD}", "paymentInstrumentId"))
    assert verdicts() == [Verdict.FAIL, Verdict.PASS]


def test_a_back_end_of_the_app_with_a_function_provision_is_no_delegate(platform_b):
    for file in (platform_b / "App").glob("*.swift"):
        file.unlink()
    source = "class BackEnd { let s = ProvisioningService(); func provision(id: String, sdkOutput: Data) { } }\n"
    (platform_b / "App" / "BackEnd.swift").write_text(source)
    assert judge("swift.delegate", platform_b).verdict is Verdict.NOT_APPLICABLE


def test_each_miss_of_projects_with_many_mistakes_word_for_word(tmp_path, environment, golden):
    """Each project has every fourth mistake, so that few of them are in one place."""
    lines, good = [], environment.read_text()
    for share in range(4):
        folders = [good_project(tmp_path / str(share), platform) for platform in "ab"]
        for folder, rows in zip(folders, (A, B), strict=True):
            for name, file, old, new, _place in rows[share::4]:
                text = (folder / file).read_text()
                if "readable" not in name and old and old in text:  # an edit before may have taken it away
                    (folder / file).write_text(text.replace(old, new))
        environment.write_text(good)
        for _name, old, new in ENVIRONMENT[share::4]:
            environment.write_text(environment.read_text().replace(old, new))
        lines += [f"mistakes {share}", *in_words(judged(*folders, environment=environment))]
    golden("misses", "\n".join(lines))


def in_words(cases):
    for name, case in cases.items():
        if case.misses:
            yield f"{name}: {case.verdict} {case.owner}"
        for one in case.misses:
            marks = " noted" * one.noted + " harms" * one.harms
            yield f"  {one.place} {one.expected} | {one.observed} | {one.todo} | {one.rule} {one.root.name}{marks}"


@pytest.mark.rule("API-1", "API-4", "REL-5")
@pytest.mark.parametrize(("name", "old", "new"), ENVIRONMENT)
def test_an_environment_passes_until_it_is_broken(platform_a, environment, name, old, new):
    good = judged(platform_a, environment=environment)
    assert good[name].verdict is Verdict.PASS
    edited(environment, old, new)
    assert judge(name, platform_a, environment=environment).verdict not in {Verdict.PASS, Verdict.NOT_APPLICABLE}


@pytest.mark.rule("API-1", "API-4", "REL-5")
def test_an_environment_that_names_no_key_address_or_limit_is_not_judged_for_it(platform_a, environment):
    for name, line, word in (
        ("environment.key", "API_KEY=k3-92ab-771c-0e", "API_KEY"),
        ("environment.base-url", "API_BASE_URL=https://test.operator.example", "BASE_URL"),
        ("environment.time-limit", "API_TIMEOUT=5", "TIMEOUT"),
    ):
        environment.write_text(f"{line}\nMODE=test\n")
        assert judge(name, platform_a, environment=environment).verdict is Verdict.PASS
        environment.write_text("MODE=test\n")
        case = judge(name, platform_a, environment=environment)
        assert (case.verdict, word in case.why) == (Verdict.NOT_APPLICABLE, True)


@pytest.mark.rule("REL-2")
def test_a_header_that_many_gateways_have_is_noted_until_the_app_knows_the_api(platform_b):
    model = platform_b / "App" / "AddCardModel.swift"
    edited(model, "import Combine", 'import Combine\nlet gateway = ["x-api-key": token]')
    assert judge("app.api-key", platform_b).verdict is Verdict.NOTE
    edited(model, "import Combine", 'import Combine\nlet path = "/bcl/v2/paymentInstruments"')
    assert judge("app.api-key", platform_b).verdict is Verdict.FAIL


@pytest.mark.rule("REL-2")
def test_the_back_ends_key_in_the_app_is_found_and_not_shown(platform_a, environment):
    assert judge("app.api-key", platform_a, environment=environment).verdict is Verdict.PASS
    edited(platform_a / BACK_END, "package issuer", 'package issuer\nval secret = "K3-92AB-771C-0E"')
    case = judge("app.api-key", platform_a, environment=environment)
    assert (case.verdict, places(case)) == (Verdict.FAIL, [f"{BACK_END}:2"])
    assert "771C" not in str(case).upper().replace(str(platform_a).upper(), "")


def test_a_good_project_fails_nothing_and_notes_nothing(platform_a, platform_b):
    for folder in (platform_a, platform_b):
        results = judged(folder)
        demand_none(alarms(results, {Verdict.PASS, Verdict.NOT_APPLICABLE}))
        assert Verdict.PASS in {result.verdict for result in results.values()}


def test_a_binary_property_list_is_read_as_the_same_in_xml(platform_b):
    for file in platform_b.rglob("*Info.plist"):
        file.write_bytes(plistlib.dumps(plistlib.loads(file.read_bytes()), fmt=plistlib.FMT_BINARY))
    assert judge("plist.identifier", platform_b).verdict is Verdict.PASS
    list_of = plistlib.loads((platform_b / EXTENSION).read_bytes())
    list_of["NSExtension"][KEY] = "com.platform.issuer-provisioning"
    (platform_b / EXTENSION).write_bytes(plistlib.dumps(list_of, fmt=plistlib.FMT_BINARY))
    assert judge("plist.identifier", platform_b).verdict is Verdict.FAIL


def test_every_case_is_broken_by_a_row_or_has_a_test_of_its_own():
    own = {"signing.sent", "signing.debug", "signing.profiles", "build.package-version"}
    rows = {row[0] for row in (*A, *B, *ENVIRONMENT)}
    cases = {name.removeprefix("preflight.") for name in PREFLIGHT_CASES}
    assert rows | own <= cases
    demand_none(
        [f"{name}: no row of {Path(__file__).name} breaks a good project for it" for name in cases - rows - own]
    )
