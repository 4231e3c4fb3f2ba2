"""Four correct projects as teams have them: modules and plugins of their own, two frameworks, a mirrored folder."""

from pathlib import Path

CATALOG = """\
[versions]
agp = "8.7.2"
compileSdk = "35"
minSdk = "26"
cardProvisioning = "0.4.1"
retrofit = "2.11.0"

[libraries]
card-provisioning = { group = "operator.mobile", name = "card-provisioning", version.ref = "cardProvisioning" }
retrofit = { module = "com.squareup.retrofit2:retrofit", version.ref = "retrofit" }

[bundles]
network = ["retrofit"]

[plugins]
platform-app = { id = "com.platform.application", version.ref = "agp" }
acme-app = { id = "acme.platform.application" }
acme-library = { id = "acme.platform.library" }
acme-jvm = { id = "acme.jvm.library" }
"""
SETTINGS = """\
pluginManagement { includeBuild("build-logic") }
dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
        maven { url = uri("https://artifacts.acme.example/private") }
    }
}
include(":app", ":feature:wallet", ":core:network", ":core:model")
"""
CONVENTION = """\
import org.gradle.api.Plugin

class PlatformApplicationConventionPlugin : Plugin<Project> {
    override fun apply(target: Project) = with(target) {
        pluginManager.apply("com.platform.application")
        extensions.configure<ApplicationExtension> {
            compileSdk = libs.findVersion("compileSdk").get().requiredVersion.toInt()
            defaultConfig.minSdk = libs.findVersion("minSdk").get().requiredVersion.toInt()
        }
    }
}
"""
VIEW_MODEL = """\
package com.acme.wallet

import operator.sdk.CardProvisioning

class WalletViewModel(private val card: CardProvisioning, private val repository: CardRepository) : ViewModel() {
    private val _ui = MutableStateFlow(WalletUi())
    val ui: StateFlow<WalletUi> = _ui.asStateFlow()

    fun refresh() {
        viewModelScope.launch {
            val outcome = runCatching { card.canProvision() }
            _ui.update { it.copy(visible = outcome.getOrNull() == CanProvision.Yes, isLoading = false) }
        }
    }

    fun addToWallet(name: String) {
        if (_ui.value.working) return
        _ui.update { it.copy(working = true, message = null) }
        viewModelScope.launch {
            try {
                val result = card.provision(name, CardAddress(), RemoteOpc(repository))
                _ui.update { it.copy(message = if (result is ProvisionResult.Success) "Added" else "Not added") }
            } finally {
                _ui.update { it.copy(working = false) }
            }
        }
    }
}

class RemoteOpc(private val repository: CardRepository) : OpcProvider {
    override suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String =
        repository.opc(paymentInstrumentId, sdkOutput).opc
}
"""
SCREEN = """\
package com.acme.wallet

@Composable
fun WalletScreen(model: WalletViewModel, name: String) {
    val ui by model.ui.collectAsStateWithLifecycle()
    if (ui.isLoading) CircularProgressIndicator()
    if (ui.visible) {
        Button(onClick = { model.addToWallet(name) }, enabled = !ui.working) { Text("Add to wallet") }
    }
    ui.message?.let { Text(it) }
}
"""
GRADLE = {
    "settings.gradle.kts": SETTINGS,
    "build.gradle.kts": "plugins {\n    alias(libs.plugins.platform.app) apply false\n}\n",
    "gradle/libs.versions.toml": CATALOG,
    "gradle.properties": "org.gradle.jvmargs=-Xmx4g\n",
    "build-logic/convention/build.gradle.kts": "plugins {\n    `kotlin-dsl`\n}\n",
    "build-logic/convention/src/main/kotlin/PlatformApplicationConventionPlugin.kt": CONVENTION,
    "app/build.gradle.kts": """\
plugins {
    alias(libs.plugins.acme.app)
}

platform {
    namespace = "com.acme.bank"
    defaultConfig {
        applicationId = "com.acme.bank"
        versionName = "7.1"
        buildConfigField("String", "MAPS_API_KEY", "\\"AIzaSyA1234567890abcdefghijklmnopqrstu\\"")
    }
    buildTypes {
        release { isMinifyEnabled = true }
    }
}

dependencies {
    implementation(projects.feature.wallet)
    implementation(project(":core:network"))
}
""",
    "app/rules.pro": "-keepattributes *\n-keep,includedescriptorclasses class operator.** { *; }\n",
    "app/src/main/Manifest.xml": (
        '<manifest xmlns:p="http://schemas.platform.com/res">\n'
        '  <application p:name=".App"/>\n'
        '</manifest>\n'
    ),
    "app/src/debug/Manifest.xml": '<manifest>\n  <application p:usesCleartextTraffic="true"/>\n</manifest>\n',
    "feature/wallet/build.gradle.kts": """\
plugins {
    alias(libs.plugins.acme.library)
}

dependencies {
    api(libs.card.provisioning)
    implementation(project(":core:network"))
}
""",
    "feature/wallet/src/main/kotlin/com/acme/wallet/WalletViewModel.kt": VIEW_MODEL,
    "feature/wallet/src/main/kotlin/com/acme/wallet/WalletScreen.kt": SCREEN,
    "core/network/build.gradle.kts": """\
plugins {
    id("com.platform.library")
}

platform {
    namespace = "com.acme.network"
    compileSdk = 35
}

dependencies {
    implementation(libs.bundles.network)
    implementation(projects.core.model)
}
""",
    "core/network/src/main/kotlin/com/acme/network/CardApi.kt": """\
package com.acme.network

const val BASE_URL = "https://mobile.acme.example/api/"

interface CardApi {
    @POST("wallet/{card}/opc")
    suspend fun opc(@Path("card") card: String, @Body body: OpcRequest): OpcAnswer
}
""",
    "core/model/build.gradle.kts": "plugins {\n    alias(libs.plugins.acme.jvm)\n}\n",
    "core/model/src/main/kotlin/com/acme/model/OpcAnswer.kt": (
        "package com.acme.model\n"
        "\n"
        "data class OpcAnswer(val opc: String)\n"
    ),
    "core/network/src/main/java/com/acme/network/Headers.java": (
        'package com.acme.network;\n'
        '\n'
        'class Headers {\n'
        '    static final String USER_AGENT = "acme";\n'
        '}\n'
    ),
    "server/build.gradle.kts": (
        'plugins {\n'
        '    application\n'
        '    id("io.ktor.plugin")\n'
        '}\n'
        '\n'
        'dependencies {\n'
        '    implementation(project(":operator-client"))\n'
        '}\n'
    ),
    "server/src/main/kotlin/Relay.kt": 'val path = "/bcl/v2/paymentInstruments"\nval header = "x-api-key"\n',
    "operator-client/build.gradle.kts": "plugins {\n    alias(libs.plugins.acme.jvm)\n}\n",
    "operator-client/src/main/kotlin/Client.kt": 'val path = "/bcl/v2/paymentInstruments"\n',
}  # fmt: skip


def plist(*entries):
    """A property list with these entries."""
    return f'<?xml version="1.0"?>\n<plist version="1.0">\n<dict>\n{"".join(entries)}</dict>\n</plist>\n'


def pair(key, value):
    """One entry: a text, or what is already a property list's value."""
    shown = value if value[:1] == "<" else f"<string>{value}</string>"
    return f"<key>{key}</key>\n{shown}\n"


def extension(role, name):
    """The property list of one of the two extensions."""
    inner = pair("NSExtensionPointIdentifier", f"com.platform.kit.{role}") + pair(
        "NSExtensionPrincipalClass", f"$(PRODUCT_MODULE_NAME).{name}"
    )
    return plist(pair("NSExtension", f"<dict>\n{inner}</dict>"))


RIGHTS = plist(pair("com.platform.developer.payment-pass-provisioning", "<true/>"), pair(
    "com.platform.security.application-groups", "<array><string>group.com.acme.bank</string></array>"))  # fmt: skip
HANDLER = """\
import Foundation
import CardProvisioning

final class ExtensionHandler: IssuerProvisioningExtensionHandler {
    private func service() -> ExtensionProvisioningService? {
        ExtensionProvisioningService(cards: Store.cards())
    }

    override func status() async -> ExtensionStatus {
        guard let service = service() else {
            return ExtensionProvisioningService.entriesUnavailableExtensionStatus
        }
        return service.extensionStatus(requiresAuthentication: true)
    }

    override func passEntries() async -> [PassEntry] {
        await service()?.passEntries(withDelegate: self) ?? []
    }

    override func remotePassEntries() async -> [PassEntry] {
        await service()?.remotePassEntries(withDelegate: self) ?? []
    }
}

extension ExtensionHandler: ExtensionProvisioningDelegate {
    func provision(paymentInstrumentId: String, sdkOutput: Data) async -> Data? {
        try? await RelayClient.shared.provision(paymentInstrumentId, sdkOutput)
    }

    func cardArt(paymentInstrumentId: String) -> CGImage { Art.card }
}
"""
AUTHORIZATION = """\
import UIKit

final class AuthorizationProvider: UIViewController, IssuerProvisioningExtensionAuthorizationProviding {
    var completionHandler: ((IssuerProvisioningExtensionAuthorizationResult) -> Void)?

    func ended(with success: Bool) {
        completionHandler?(success ? .authorized : .canceled)
    }
}
"""
PAGE = """\
import CardProvisioning

@MainActor
final class WalletCoordinator: ProvisioningDelegate {
    private let watch = WatchAvailability()
    private var service: ProvisioningService?

    func offer(_ card: Card) async -> Bool {
        let isActivated = await watch.activate()
        service = ProvisioningService(sdkInput: card.sdkInput, delegate: self)
        return service?.canAddCardDetails(isWatchActivated: isActivated).canAddCard ?? false
    }

    func provision(sdkOutput: Data, paymentInstrumentId: String) async -> Data? {
        try? await RelayClient.shared.provision(paymentInstrumentId, sdkOutput)
    }

    func didFinishProvisioning(with pass: Pass?, error: Error?) { service = nil }
}
"""
CLIENT = """\
import Foundation

struct RelayClient {
    static let shared = RelayClient()
    let base = URL(string: "https://mobile.acme.example/wallet")!
}
"""


def project_file(*targets, project="", files=""):
    """A project file with these targets: name, kind of product, identifier, and more settings of each."""
    objects = [
        "A1 = {isa = PBXProject; buildConfigurationList = A2; targets = (); };",
        "A2 = {isa = XCConfigurationList; buildConfigurations = (A3, ); };",
        f"A3 = {{isa = XCBuildConfiguration; {files} buildSettings = {{{project}}}; name = Release; }};",
    ]
    for at, (name, kind, identifier, folder, more, base) in enumerate(targets):
        objects += [
            (
                f"B{at} = {{isa = PBXNativeTarget; buildConfigurationList = C{at}; name = {name}; "
                f'productType = "com.platform.product-type.{kind}"; fileSystemSynchronizedGroups = (F{at}, ); }};'
            ),
            f"C{at} = {{isa = XCConfigurationList; buildConfigurations = (D{at}, ); }};",
            (
                f"D{at} = {{isa = XCBuildConfiguration; {base} buildSettings = {{"
                f'PRODUCT_BUNDLE_IDENTIFIER = "{identifier}"; INFOPLIST_FILE = {folder}/Info.plist; '
                f"CODE_SIGN_ENTITLEMENTS = {folder}/{name}.entitlements; GENERATE_INFOPLIST_FILE = YES; {more}}}; "
                "name = Release; };"
            ),
            f'F{at} = {{isa = PBXFileSystemSynchronizedRootGroup; path = {folder}; sourceTree = "<group>"; }};',
        ]
    return "// !$*UTF8*$!\n{\nobjectVersion = 77;\nobjects = {\n" + "\n".join(objects) + "\n};\nrootObject = A1;\n}\n"


def bundles(app, folder, ids, *, base="", project="", files="", rest=""):
    """The files of an app and its two extensions below a folder."""
    targets = (
        (app, "application", ids[0], app, "", base),
        ("WalletNonUI", "app-extension", ids[1], "WalletNonUI", rest, base),
        ("WalletUI", "app-extension", ids[2], "WalletUI", rest, base),
    )
    local = plist(
        pair(
            "NSAppTransportSecurity",
            f"<dict>\n{pair('NSAllowsArbitraryLoads', '<false/>')}{pair('NSAllowsLocalNetworking', '<true/>')}</dict>",
        )
    )
    return {
        f"{folder}{app}.project/project.pbxproj": project_file(*targets, project=project, files=files),
        f"{folder}{app}/Info.plist": local,
        f"{folder}WalletNonUI/Info.plist": extension("issuer-provisioning", "ExtensionHandler"),
        f"{folder}WalletUI/Info.plist": extension("issuer-provisioning.authorization", "AuthorizationProvider"),
        **{f"{folder}{name}/{name}.entitlements": RIGHTS for name, *_rest in targets},
        f"{folder}WalletNonUI/ExtensionHandler.swift": HANDLER,
        f"{folder}WalletUI/AuthorizationProvider.swift": AUTHORIZATION,
        f"{folder}{app}/WalletCoordinator.swift": PAGE,
        f"{folder}{app}/RelayClient.swift": CLIENT,
    }


XCODE = {
    **bundles(
        "Bank", "", ("$(APP_ID)", "$(APP_ID).walletnonui", "$(APP_ID).walletui"),
        files='baseConfigurationReferenceAnchor = F9; baseConfigurationReferenceRelativePath = "Shared.xcconfig";',
    ),
    "Config/Shared.xcconfig": (
        '#include "Version.xcconfig"\n'
        '// every target\n'
        'APP_ID = com.acme.bank\n'
        'PHONEOS_DEPLOYMENT_TARGET = 16.0\n'
    ),
    "Config/Version.xcconfig": "MARKETING_VERSION = 7.1\n",
    "Bank.project/project.workspace/Package.resolved": """\
{"pins": [{"identity": "card-provisioning", "location": "https://git.operator.example/card-provisioning.git",
 "state": {"revision": "0", "version": "2.2.1"}}], "version": 3}
""",
}  # fmt: skip

NATIVE_MODULE = """\
package com.acme.rn

import com.facebook.react.bridge.ReactMethod
import provisioning.CardProvisioning

class WalletModule(context: Context) : ReactContextBaseJavaModule(context) {
    @ReactMethod
    fun add(name: String, promise: Promise) {
        scope.launch {
            val result = sdk.provision(name, CardAddress(), BridgeOpc(emitter))
            promise.resolve(result.toString())
        }
    }
}

class BridgeOpc(private val emitter: Emitter) : OpcProvider {
    override suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String =
        emitter.ask(paymentInstrumentId, sdkOutput).await()
}
"""
REACT = {
    **bundles("Acme", "phone/", ("com.acme.rn", "com.acme.rn.walletnonui", "com.acme.rn.walletui"),
              project="PHONEOS_DEPLOYMENT_TARGET = 15.1;"),
    "phone/Podfile": "platform :phone, '15.1'\ntarget 'Acme' do\n  pod 'CardProvisioning', '2.2.1'\nend\n",
    "phone/Podfile.lock": (
        "PODS:\n"
        "  - CardProvisioning (2.2.1)\n"
        "  - React-Core (0.76.1):\n"
        "\n"
        "DEPENDENCIES:\n"
        "  - CardProvisioning (= 2.2.1)\n"
    ),
    "package.json": '{"name": "acme", "dependencies": {"react-native": "0.76.1"}}\n',
    "App.tsx": """\
import { NativeModules } from 'react-native';

const API_URL = 'https://mobile.acme.example/wallet';

export default function App() {
  const [busy, setBusy] = useState(false);
  return <Button disabled={busy} onPress={() => NativeModules.Wallet.add('Card')} title="Add" />;
}
""",
    "src/api/client.ts": "export const client = axios.create({ baseURL: 'https://mobile.acme.example' });\n",
    "__tests__/App.test.tsx": "const path = '/bcl/v2/paymentInstruments';\n",
    ".env": "API_URL=https://mobile.acme.example\nSENTRY_DSN=https://a1b2c3@sentry.example/1\n",
    "backend/package.json": '{"name": "relay", "dependencies": {"express": "4"}}\n',
    "backend/index.js": "const url = `${base}/bcl/v2/paymentInstruments/${id}/networkTokenActivationData`;\n",
    "backend/.env": "API_KEY=sk_live_0011223344556677\n",
    "droid/settings.gradle": "rootProject.name = 'Acme'\ninclude ':app'\n",
    "droid/build.gradle": """\
buildscript {
    ext {
        minSdkVersion = 26
        compileSdkVersion = 35
        cardProvisioningVersion = "0.4.1"
    }
    repositories { google() }
}
allprojects { repositories { google(); mavenLocal() } }
""",
    "droid/app/build.gradle": """\
apply plugin: "com.platform.application"

platform {
    namespace "com.acme.rn"
    compileSdk rootProject.ext.compileSdkVersion
    defaultConfig {
        applicationId "com.acme.rn"
        minSdkVersion rootProject.ext.minSdkVersion
    }
}

dependencies {
    implementation "operator.mobile:card-provisioning:$cardProvisioningVersion"
}
""",
    "droid/app/src/main/Manifest.xml": (
        '<manifest>\n'
        '  <application p:usesCleartextTraffic="${usesCleartextTraffic}"/>\n'
        '</manifest>\n'
    ),
    "droid/app/src/main/java/com/acme/rn/WalletModule.kt": NATIVE_MODULE,
}  # fmt: skip

FLUTTER = {
    **bundles("Runner", "phone/", ("$(BUNDLE_ID)", "$(BUNDLE_ID).WalletNonUI", "$(BUNDLE_ID).WalletUI"),
              base="baseConfigurationReference = X1;", files="").copy(),
    "pubspec.yaml": "name: acme\ndependencies:\n  flutter:\n    sdk: flutter\n",
    "lib/main.dart": "import 'package:flutter/material.dart';\n\nvoid main() => runApp(const AcmeApp());\n",
    "lib/src/api.dart": "const baseUrl = String.fromEnvironment('BASE_URL', defaultValue: 'https://mobile.acme.example');\n",
    "test/api_test.dart": "const path = '/bcl/v2/paymentInstruments';\n",
    "phone/Flutter/Release.xcconfig": '#include? "Pods/Target Support Files/Pods-Runner/Pods-Runner.release.xcconfig"\n'
    '#include "Generated.xcconfig"\nBUNDLE_ID = com.acme.flutter\nPHONEOS_DEPLOYMENT_TARGET[sdk=phone*] = 15.0\n',
    "phone/Podfile.lock": "PODS:\n  - CardProvisioning (2.2.1)\n  - Flutter (1.0.0)\n",
    "droid/settings.gradle.kts": 'include(":app")\n',
    "droid/build.gradle.kts": "allprojects {\n    repositories {\n        google()\n        mavenLocal()\n    }\n}\n",
    "droid/app/build.gradle.kts": """\
plugins {
    id("com.platform.application")
    id("dev.flutter.flutter-gradle-plugin")
}

platform {
    namespace = "com.acme.flutter"
    compileSdk = 35
    defaultConfig {
        applicationId = "com.acme.flutter"
        minSdk = 26
    }
}

dependencies {
    implementation("operator.mobile:card-provisioning:0.4.1")
}
""",
    "droid/app/src/main/kotlin/com/acme/flutter/MainActivity.kt": """\
package com.acme.flutter

import io.flutter.embedding.android.FlutterActivity
import provisioning.CardProvisioning
import java.util.concurrent.atomic.AtomicBoolean

class MainActivity : FlutterActivity() {
    private val running = AtomicBoolean(false)

    fun add(name: String, result: MethodChannel.Result) {
        if (!running.compareAndSet(false, true)) return result.error("busy", null, null)
        scope.launch {
            try {
                result.success(sdk.provision(name, CardAddress(), ChannelOpc(channel)).toString())
            } finally {
                running.set(false)
            }
        }
    }
}

class ChannelOpc(private val channel: MethodChannel) : OpcProvider {
    override suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String =
        channel.ask("opc", sdkOutput) ?: throw IllegalStateException("no OPC data")
}
""",
}  # fmt: skip
BASE = 'objects = {\nX1 = {isa = PBXFileReference; path = "Flutter/Release.xcconfig"; sourceTree = "<group>"; };'
FLUTTER["phone/Runner.project/project.pbxproj"] = FLUTTER["phone/Runner.project/project.pbxproj"].replace(
    "objects = {", BASE
)
PROJECTS = {"gradle": GRADLE, "react": REACT, "flutter": FLUTTER, "xcode": XCODE}


def write(folder: Path, files):
    """Write the files of a project below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder
