"""Projects as teams have them: a correct one raises no alarm, and each planted mistake is found."""

import json

import pytest
from real_projects import PROJECTS, write
from sample_projects import alarms, judge, judged
from texts import demand_none

from workbook.tools.commands.cli import main
from workbook.tools.harness.model import Verdict

VM = "feature/wallet/src/main/kotlin/com/acme/wallet/WalletViewModel.kt"
API = "core/network/src/main/kotlin/com/acme/network/CardApi.kt"
MISTAKES = [
    ("gradle", "gradle.library-version", "feature/wallet/build.gradle.kts", "api(libs.card.provisioning)",
     'api(libs.card.provisioning)\n    implementation("wallet.gms:play-services-tapandpay:18.3.3")'),
    ("gradle", "gradle.levels", "gradle/libs.versions.toml", 'minSdk = "26"', 'minSdk = "24"'),
    ("gradle", "gradle.levels", "build-logic/convention/src/main/kotlin/PlatformApplicationConventionPlugin.kt",
     'libs.findVersion("minSdk").get().requiredVersion.toInt()', "24"),
    ("gradle", "gradle.repository", "settings.gradle.kts",
     'maven { url = uri("https://artifacts.acme.example/private") }', ""),
    ("gradle", "gradle.sdk-version", "core/network/build.gradle.kts", "implementation(libs.bundles.network)",
     'implementation("operator.mobile:card-provisioning:0.3.4")'),
    ("gradle", "kotlin.button", VM,
     "        if (_ui.value.working) return\n        _ui.update { it.copy(working = true, message = null) }\n",
     "        _ui.update { it.copy(message = null) }\n"),
    ("gradle", "kotlin.button", VM, ("        if (_ui.value.working) return\n"
     "        _ui.update { it.copy(working = true, message = null) }\n" "        viewModelScope.launch {\n"
     "            try {\n"
     "                val result = card.provision(name, CardAddress(), RemoteOpc(repository))\n"),
     ("        viewModelScope.launch {\n" "            try {\n"
     "                val result = card.provision(name, CardAddress(), RemoteOpc(repository))\n"
     "                _ui.update { it.copy(working = true) }\n")),
    ("gradle", "kotlin.fetch-opc", VM, "repository.opc(paymentInstrumentId, sdkOutput).opc",
     'runCatching { repository.opc(paymentInstrumentId, sdkOutput).opc }.getOrDefault("")'),
    ("gradle", "kotlin.deprecated", VM, "card.provision(name, CardAddress(), RemoteOpc(repository))",
     "card.provision(sdkInput = card.createSdkOutput(), cardDisplayName = name, cardAddress = CardAddress())"),
    ("gradle", "kotlin.fetch-opc", VM, "        repository.opc(paymentInstrumentId, sdkOutput).opc\n}\n",
     ("        safe(paymentInstrumentId, sdkOutput)\n\n    private suspend fun safe(id: String, data: String) =\n"
     '        try { repository.opc(id, data).opc } catch (error: IOException) { "" }\n}\n')),
    ("gradle", "kotlin.fetch-opc", VM, "repository.opc(paymentInstrumentId, sdkOutput).opc",
     'runCatching { repository.opc(paymentInstrumentId, sdkOutput).opc }.fold({ it }, { "" })'),
    ("gradle", "gradle.sdk-version", "gradle/libs.versions.toml", '"0.4.1"', '"0.3.4"'),
    ("gradle", "app.api-address", API, "https://mobile.acme.example/api/", "https://api.operator.example/bcl/v2/"),
    ("gradle", "app.api-address", "core/model/src/main/kotlin/com/acme/model/OpcAnswer.kt", "package com.acme.model",
     'package com.acme.model\nconst val P = "paymentInstruments/{id}/networkTokenActivationData"'),
    ("gradle", "app.api-key", API, "interface CardApi {", 'interface CardApi {\n    @Headers("x-api-key: k")'),
    ("gradle", "app.api-key", "app/build.gradle.kts", "versionName",
     'buildConfigField("String", "ISSUER_API_KEY", "\\"9f8e7d6c5b4a39281706\\"")\n        versionName'),
    ("gradle", "app.api-key", "core/network/src/main/java/com/acme/network/Headers.java", '"acme"',
     '"acme";\n static final String KEY = "sk_live_0011223344556677"'),
    ("gradle", "app.cleartext", "app/src/main/Manifest.xml", 'p:name=".App"',
     'p:name=".App" p:usesCleartextTraffic="true"'),
    ("gradle", "app.cleartext", API, "https://mobile", "http://mobile"),
    ("gradle", "gradle.application-ids", "app/build.gradle.kts", "release { ",
     'debug { applicationIdSuffix = ".debug" }\n        release { '),
    ("gradle", "gradle.publishing", "feature/wallet/build.gradle.kts", "dependencies {",
     ('publishing { publications { create<M>("x") { ' 'artifact(file("libs/tap-and-pay-18.8.0.aar")) } } }\n'
     "dependencies {")),
    ("react", "app.api-address", "App.tsx", "'https://mobile.acme.example/wallet'",
     "'https://api.operator.example/bcl/v2'"),
    ("react", "app.api-key", "src/api/client.ts", "acme.example' }", "acme.example', headers: { 'x-api-key': KEY } }"),
    ("react", "app.api-key", ".env", "API_URL", "WALLET_API_KEY=9f8e7d6c5b4a39281706\nAPI_URL"),
    ("react", "app.cleartext", "src/api/client.ts", "https:", "http:"),
    ("react", "app.cleartext", "phone/Acme/Info.plist", "<key>NSAllowsArbitraryLoads</key>\n<false/>",
     "<key>NSAllowsArbitraryLoads</key>\n<true/>"),
    ("react", "app.cleartext", "droid/app/src/main/Manifest.xml", "${usesCleartextTraffic}", "true"),
    ("react", "build.package-version", "phone/Podfile.lock", "CardProvisioning (2.2.1)", "CardProvisioning (1.9.0)"),
    ("react", "build.deployment-target", "phone/Acme.project/project.pbxproj", "15.1", "12.4"),
    ("react", "plist.bundle-id", "phone/Acme.project/project.pbxproj", "com.acme.rn.walletnonui",
     "com.acme.walletnonui"),
    ("react", "plist.principal-class", "phone/WalletNonUI/ExtensionHandler.swift", "class ExtensionHandler",
     "class WalletHandler"),
    ("react", "plist.identifier", "phone/WalletUI/Info.plist", "issuer-provisioning.authorization",
     "issuer-provisioning.authorisation"),
    ("react", "entitlement.provisioning", "phone/WalletUI/WalletUI.entitlements", "payment-pass-provisioning",
     "pass-provisioning"),
    ("react", "gradle.levels", "droid/build.gradle", "minSdkVersion = 26", "minSdkVersion = 24"),
    ("react", "gradle.repository", "droid/build.gradle", "mavenLocal()", "mavenCentral()"),
    ("react", "kotlin.fetch-opc", "droid/app/src/main/java/com/acme/rn/WalletModule.kt", ".await()", '.await() ?: ""'),
    ("flutter", "app.api-address", "lib/src/api.dart", "https://mobile.acme.example",
     "https://api.operator.example/bcl/v2"),
    ("flutter", "app.api-key", "lib/main.dart", "void main", 'const apiKey = "sk_live_99887766554433";\nvoid main'),
    ("flutter", "app.api-key", "phone/Runner/Info.plist", "<dict>",
     "<dict>\n<key>CardApiKey</key>\n<string>9f8e7d6c5b4a39281706</string>"),
    ("flutter", "app.cleartext", "lib/src/api.dart", "https:", "http:"),
    ("flutter", "build.deployment-target", "phone/Flutter/Release.xcconfig", "15.0", "12.0"),
    ("flutter", "plist.bundle-id", "phone/Runner.project/project.pbxproj", "$(BUNDLE_ID).WalletNonUI",
     "com.acme.walletnonui"),
    ("flutter", "entitlement.app-group", "phone/WalletNonUI/WalletNonUI.entitlements", "group.com.acme.bank",
     "group.com.acme"),
    ("xcode", "entitlement.app-group", "Bank/RelayClient.swift", "import Foundation",
     'import Foundation\nlet shared = UserDefaults(suiteName: "group.com.acme.cards")'),
    ("xcode", "entitlement.app-group", "Bank/RelayClient.swift", "import Foundation",
     'enum AppGroup {\n    static let identifier = "group.com.acme.cards"\n}'),
    ("xcode", "plist.readable", "Bank.project/project.pbxproj",
     "CODE_SIGN_ENTITLEMENTS = WalletUI/WalletUI.entitlements",
     "CODE_SIGN_ENTITLEMENTS = WalletUI/Wallet.entitlements"),
    ("xcode", "build.deployment-target", "Config/Shared.xcconfig", "16.0", "12.0"),
    ("xcode", "plist.bundle-id", "Bank.project/project.pbxproj", "$(APP_ID).walletui", "com.acme.walletui"),
    ("xcode", "plist.nesting", "WalletNonUI/Info.plist", "NSExtensionPointIdentifier", "NSExtensionPoint"),
    ("xcode", "plist.principal-class", "WalletUI/Info.plist", "$(PRODUCT_MODULE_NAME)", "Bank"),
    ("xcode", "plist.principal-class", "WalletUI/Info.plist", "$(PRODUCT_MODULE_NAME).", ""),
    ("xcode", "swift.status-network", "WalletNonUI/ExtensionHandler.swift", "guard let service = service() else",
     "_ = try? await URLSession.shared.data(from: u)\n guard let service = service() else"),
    ("xcode", "swift.remote-entries", "WalletNonUI/ExtensionHandler.swift", "service()?.remotePassEntries",
     "service()?.passEntries"),
    ("xcode", "swift.can-add", "Bank/WalletCoordinator.swift",
     "canAddCardDetails(isWatchActivated: isActivated).canAddCard", "canAddCard()"),
    ("xcode", "swift.delegate", "Bank.project/project.workspace/Package.resolved", "2.2.1", "1.4.0"),
    ("xcode", "app.cleartext", "Bank/RelayClient.swift", "https:", "http:"),
    ("xcode", "app.api-key", "Config/Shared.xcconfig", "APP_ID", "ISSUER_API_KEY = 9f8e7d6c5b4a39281706\nAPP_ID"),
]  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return {name: judged(write(tmp_path_factory.mktemp(name), files)) for name, files in PROJECTS.items()}


@pytest.mark.parametrize("name", PROJECTS)
def test_a_correct_project_raises_no_alarm(good, name):
    unseen = {case for case, result in good[name].items() if result.verdict is Verdict.NOT_LOOKED_AT}
    assert unseen == ({"kotlin.button"} if name == "react" else set())
    demand_none(alarms(good[name], {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_LOOKED_AT}))


@pytest.mark.rule("API-13", "REL-2", "APP-5", "A-BTN-1", "A-DEP-1", "A-DEP-2", "X-PLIST-1", "X-PLIST-3")
@pytest.mark.parametrize(("name", "case", "file", "old", "new"), MISTAKES)
def test_a_planted_mistake_is_found(tmp_path, good, name, case, file, old, new):  # noqa: PLR0917
    assert old in PROJECTS[name][file]
    changed = PROJECTS[name] | {file: PROJECTS[name][file].replace(old, new)}
    assert good[name][case].verdict in {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert judge(case, write(tmp_path, changed)).verdict in {Verdict.FAIL, Verdict.WARN, Verdict.NOTE}


@pytest.mark.rule("X-CACHE-1")
@pytest.mark.parametrize(("uses", "verdict"), [("", Verdict.NOTE), ("UserDefaults(suiteName: id)", Verdict.NOTE), (
    'UserDefaults(suiteName: "group.com.acme.bank")', Verdict.FAIL)])  # fmt: skip
def test_an_app_group_that_differs_fails_where_it_is_used_although_a_keychain_group_is_shared(tmp_path, uses, verdict):
    key = "<key>keychain-access-groups</key>\n<array><string>$(AppIdentifierPrefix)com.acme</string></array>\n</dict>"
    files = {file: text.replace("</dict>", key) if file.endswith("entitlements") else text
             for file, text in PROJECTS["xcode"].items()}  # fmt: skip
    inner = "WalletNonUI/WalletNonUI.entitlements"
    files[inner] = files[inner].replace("group.com.acme.bank", "group.com.acme.other")
    files["Bank/Store.swift"] = f"let store = {uses or 'nil'}\n"
    assert judge("entitlement.app-group", write(tmp_path, files)).verdict is verdict


def test_the_repositories_of_the_build_s_own_plugins_are_not_the_app_s(tmp_path):
    own = {"build-logic/settings.gradle.kts": "dependencyResolutionManagement { repositories { mavenLocal() } }\n"}
    settings = PROJECTS["gradle"]["settings.gradle.kts"].replace("maven { url", "mavenCentral() // { url")
    case = judge("gradle.repository", write(tmp_path, PROJECTS["gradle"] | own | {"settings.gradle.kts": settings}))
    assert [miss.file for miss in case.misses] == ["settings.gradle.kts"]


def test_a_level_that_another_tool_sets_is_not_looked_at(tmp_path):
    script = "droid/app/build.gradle.kts"
    changed = PROJECTS["flutter"] | {script: PROJECTS["flutter"][script].replace("= 26", "= flutter.minSdkVersion")}
    case = judge("gradle.levels", write(tmp_path, changed))
    assert (case.verdict, script in case.why) == (Verdict.NOT_LOOKED_AT, True)


@pytest.mark.parametrize(
    ("file", "text", "cases"),
    [
        ("app/src/main/java/Opc.java", "class Opc implements OpcProvider { }", ["kotlin.fetch-opc", "kotlin.button"]),
        ("Bank/Handler.m", "@implementation Handler // IssuerProvisioning", ["swift.status-network"]),
        ("Bank/WalletCoordinator.swift", "let s = ProvisioningService(\nfunc )(", ["swift.can-add"]),
    ],
)
def test_a_source_that_no_grammar_reads_leaves_its_cases_not_looked_at(tmp_path, file, text, cases):
    name = "gradle" if file.startswith("app/") else "xcode"
    after = judged(write(tmp_path, PROJECTS[name] | {file: text}))
    assert {after[case].verdict for case in cases} == {Verdict.NOT_LOOKED_AT}
    assert file in after[cases[0]].why


@pytest.mark.parametrize(
    ("file", "text", "tool"),
    [
        (
            "config.xml",
            "<widget><config-file><key>payment-pass-provisioning</key></config-file></widget>",
            "cordova prepare",
        ),
        ("Project.swift", 'let rights = "payment-pass-provisioning"\n', "tuist generate"),
        ("app.json", '{"expo": {"entitlements": {"payment-pass-provisioning": true}}}', "npx expo prebuild"),
    ],
)
def test_a_project_that_a_tool_has_yet_to_make_says_which(tmp_path, file, text, tool):
    after = judged(write(tmp_path, {file: text, "Bank/Main.swift": "let s = ProvisioningService()\n"}))
    for case in ("plist.readable", "plist.identifier", "entitlement.provisioning", "build.deployment-target"):
        assert (after[case].verdict, tool in after[case].why) == (Verdict.NOT_LOOKED_AT, True)


@pytest.mark.parametrize(
    ("name", "file", "text", "says"),
    [
        ("gradle", "pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n", "pubspec.yaml makes a Flutter app"),
        ("gradle", "App.csproj", "<UseMaui>true</UseMaui>", "App.csproj makes a .NET MAUI app"),
        ("xcode", "Project.swift", "let project = Project()", "run `tuist generate`"),
    ],
)
def test_a_framework_whose_sources_are_not_read_is_said(tmp_path, name, file, text, says):
    files = {path: text for path, text in PROJECTS[name].items() if not path.endswith((".kt", ".swift", ".pbxproj"))}
    reasons = [case.why for case in judged(write(tmp_path, files | {file: text})).values()]
    assert any(says in why for why in reasons)


def dotnet(name, identity, point="", written="", **settings):
    extension = f"<key>NSExtensionPointIdentifier</key><string>com.platform.Kit.{point}</string>"
    extension += f"<key>NSExtensionPrincipalClass</key><string>{written}</string>"
    inner = f"<key>NSExtension</key><dict>{extension}</dict>" if point else ""
    head, right = '<?xml version="1.0"?><plist version="1.0"><dict>', "com.platform.payment-pass-provisioning"
    tags = {"SupportedOSPlatformVersion": "14.0", "CodesignEntitlements": "Entitlements.plist", **settings}
    project = "".join(f"<{tag}>{text}</{tag}>" for tag, text in tags.items())
    return {
        f"{name}/Info.plist": f"{head}<key>CFBundleIdentifier</key><string>{identity}</string>{inner}</dict></plist>",
        f"{name}/Entitlements.plist": f"{head}<key>{right}</key><true/></dict></plist>",
        f"{name}/{name}.csproj": f"<Project><PropertyGroup>{project}</PropertyGroup></Project>",
        f"{name}/Class.cs": f'[Register("{written}")]\npublic class Any : IssuerProvisioningExtensionHandler {{ }}\n',
    }


@pytest.mark.rule("X-PLIST-3")
def test_a_class_of_net_is_found_by_the_name_that_it_is_registered_with(tmp_path):
    """There is no Swift module, so to write one in front of the class would break it."""
    files = {
        **dotnet("App", "com.acme.bank"),
        **dotnet("Cards", "com.acme.bank.cards", "issuer-provisioning", "CardsHandler"),
        **dotnet("CardsUI", "com.acme.ui", "issuer-provisioning.authorization", "CardsUI", ApplicationId="com.acme.ui"),
    }
    cases = judged(write(tmp_path / "good", files | {"Cards/Other.cs": "class Other { }"}))
    for name in ("plist.principal-class", "entitlement.provisioning", "build.deployment-target"):
        assert cases[name].verdict is Verdict.PASS, name
    assert [miss.observed for miss in cases["plist.bundle-id"].misses] == ["com.acme.ui"]
    named = files | {"Cards/Class.cs": "[Register(nameof(CardsHandler))] class CardsHandler { }"}
    assert judge("plist.principal-class", write(tmp_path / "named", named)).verdict is Verdict.PASS
    unregistered = files | {"Cards/Class.cs": "public class CardsHandler { }"}
    assert judge("plist.principal-class", write(tmp_path / "bad", unregistered)).verdict is Verdict.FAIL


def test_a_net_app_for_both_platforms_has_its_id_in_the_project_and_its_platform_a_side_is_said(tmp_path, capsys):
    files = dotnet("App", "com.acme.bank", ApplicationId="com.acme.bank", UseMaui="true")
    files["App/Info.plist"] = files["App/Info.plist"].replace("CFBundleIdentifier", "CFBundleDisplayName")
    files["App/Platforms/Android/Wallet.cs"] = "class Wallet { CardProvisioning provisioning; }\n"
    cases = judged(write(tmp_path, files))
    assert cases["entitlement.provisioning"].verdict is Verdict.PASS
    project = (tmp_path / "App" / "App.csproj").read_text()
    (tmp_path / "App" / "App.csproj").write_text(project.replace("<UseMaui>", "<T>net8.0-android</T><UseMaui>"))
    assert main(["preflight", "allowlist-request", str(tmp_path), "--store-id", "1"]) == 1
    assert "App.csproj makes an app of platform A, too" in capsys.readouterr().err
    for name, says in (("kotlin.button", "Wallet.cs is about provisioning"), ("gradle.application-ids", "App.csproj")):
        assert (cases[name].verdict, says in cases[name].why) == (Verdict.NOT_LOOKED_AT, True)


@pytest.mark.parametrize("package", ["com.acme.bank", ""])
def test_the_request_of_an_expo_app_for_both_platforms_says_that_one_id_is_missing(tmp_path, capsys, package):
    phone = {"bundleIdentifier": "com.acme.bank", "entitlements": {"com.platform.payment-pass-provisioning": True}}
    other = {"package": package} if package else {}
    write(tmp_path, {"app.json": json.dumps({"expo": {"phone": phone, "other": other}})})
    assert main(["preflight", "allowlist-request", str(tmp_path), "--store-id", "1"]) == 1  # the team id is missing
    assert ("app.json makes an app of platform A, too" in capsys.readouterr().err) is bool(package)


def test_a_bundle_id_that_is_set_elsewhere_is_not_looked_at(tmp_path):
    config = "Config/Shared.xcconfig"
    files = PROJECTS["xcode"] | {config: PROJECTS["xcode"][config].replace("APP_ID", "OTHER_ID")}
    assert judge("plist.bundle-id", write(tmp_path, files)).verdict is Verdict.NOT_LOOKED_AT
