"""Targets as XcodeGen and Expo describe them, before a project file is made: what is literal is judged."""

import pytest
from real_projects import PROJECTS, project_file, write
from sample_projects import judge, judged

from workbook.tools.harness.model import Verdict
from workbook.tools.preflight import targets
from workbook.tools.preflight.literals import read_javascript
from workbook.tools.preflight.project import read_project
from workbook.tools.preflight.targets import read_targets

LIST = """<?xml version="1.0"?><plist version="1.0"><dict><key>NSExtension</key><dict>
<key>NSExtensionPointIdentifier</key><string>com.platform.kit.{}</string>
<key>NSExtensionPrincipalClass</key><string>$(PRODUCT_MODULE_NAME).{}</string></dict></dict></plist>
"""
RIGHTS = "<plist><dict><key>com.platform.payment-pass-provisioning</key><true/></dict></plist>"
HANDLER = "class ExtensionHandler: IssuerProvisioningExtensionHandler { }\n"
AUTHORIZATION = "class AuthorizationProvider: IssuerProvisioningExtensionAuthorizationProviding { }\n"
TARGET = """module.exports = config => ({{ // of the tool
  type: 'wallet', name: "{}", bundleIdentifier: '{}', deploymentTarget: "15.1",
  entitlements: {{ 'com.platform.payment-pass-provisioning': true, "com.platform.application-groups": ["{}"], }},
}});
"""
EXPO = {
    "app.json": """{"expo": {"name": "Bank", "phone": {"bundleIdentifier": "com.acme.bank", "theTeamId": "A1B2C3D4E5",
        "entitlements": {"com.platform.payment-pass-provisioning": true,
                         "com.platform.application-groups": ["group.com.acme"]}},
        "plugins": ["a", ["build-properties", {"phone": {"deploymentTarget": "15.1"}}]]}}""",
    "targets/wallet/expo-target.config.js": TARGET.format("Wallet", ".wallet", "group.com.acme"),
    "targets/wallet/Info.plist": LIST.format("issuer-provisioning", "ExtensionHandler"),
    "targets/wallet/ExtensionHandler.swift": HANDLER,
    "targets/ui/expo-target.config.js": TARGET.format("WalletUI", "com.acme.bank.ui", "group.com.acme"),
    "targets/ui/Info.plist": LIST.format("issuer-provisioning.authorization", "AuthorizationProvider"),
    "targets/ui/Auth.swift": AUTHORIZATION,
}
XCODEGEN = {
    "project.yml": """name: Bank
options: {bundleIdPrefix: com.acme, deploymentTarget: {phoneOS: "15.0"}}
settings: {base: {DEVELOPMENT_TEAM: A1B2C3D4E5}}
packages:
  CardProvisioning:
    url: https://host.example/operator/card-provisioning
    from: 2.2.1
targets:
  Bank:
    type: application
    platform: phoneOS
    settings: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank}
    entitlements: {path: Bank/Bank.entitlements, properties: &rights
      {com.platform.payment-pass-provisioning: true, com.platform.application-groups: [group.com.acme]}}
  Wallet:
    type: app-extension
    platform: phoneOS
    settings:
      base: {INFOPLIST_FILE: Wallet/Info.plist}
      configs:
        Debug: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank.wallet}
        Release: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank.wallet, XPHONEOS_DEPLOYMENT_TARGET: "15.0"}
    entitlements: {path: Wallet/Wallet.entitlements, properties: *rights}
  WalletUI:
    type: app-extension
    platform: phoneOS
    deploymentTarget: 15.0
    info: {path: WalletUI/Info.plist, properties: {NSExtension: {
      NSExtensionPointIdentifier: com.platform.kit.issuer-provisioning.authorization,
      NSExtensionPrincipalClass: $(PRODUCT_MODULE_NAME).AuthorizationProvider}}}
    settings: {PRODUCT_BUNDLE_IDENTIFIER: "com.acme.bank.${target_name}"}
    entitlements: {path: WalletUI/WalletUI.entitlements, properties: *rights}
""",
    "Wallet/Info.plist": LIST.format("issuer-provisioning", "ExtensionHandler"),
    "Wallet/ExtensionHandler.swift": HANDLER,
    "WalletUI/Auth.swift": AUTHORIZATION,
}
GOOD = {"expo": EXPO, "xcodegen": XCODEGEN}
UI, YML = "targets/ui/expo-target.config.js", "project.yml"
JUDGED = ["plist.identifier", "plist.principal-class", "plist.bundle-id", "plist.both-extensions", "plist.readable",
          "entitlement.provisioning", "entitlement.app-group", "build.deployment-target"]  # fmt: skip


@pytest.mark.rule("X-PLIST-1", "X-PLIST-3", "X-CACHE-1")
@pytest.mark.parametrize("tool", GOOD)
def test_a_description_that_is_literal_is_judged_as_a_project_file_is(tmp_path, tool):
    cases = judged(write(tmp_path, GOOD[tool]))
    assert {name: cases[name].verdict for name in JUDGED} == dict.fromkeys(JUDGED, Verdict.PASS)


@pytest.mark.rule("X-PLIST-1", "X-CACHE-1")
@pytest.mark.parametrize(
    ("tool", "case", "file", "old", "new", "verdict"),
    [
        ("expo", "entitlement.provisioning", UI, "provisioning': true", "provisioning': false", Verdict.FAIL),
        ("expo", "entitlement.provisioning", UI, "'com.platform.payment-pass-provisioning': true", "", Verdict.FAIL),
        ("expo", "entitlement.provisioning", UI, "provisioning': true", "provisioning': isLive", Verdict.NOT_LOOKED_AT),
        ("expo", "entitlement.provisioning", UI, "entitlements: {", "entitlements: r, x: {", Verdict.NOT_LOOKED_AT),
        ("expo", "entitlement.provisioning", UI, "'com.platform.payment-pass-provisioning': true", "...config.rights",
         Verdict.NOT_LOOKED_AT),
        ("expo", "entitlement.app-group", "targets/wallet/expo-target.config.js", '["group.com.acme"]', '["group.b"]',
         Verdict.FAIL),
        ("expo", "entitlement.app-group", "targets/wallet/expo-target.config.js", '["group.com.acme"]', "config.groups",
         Verdict.NOT_LOOKED_AT),
        ("expo", "plist.bundle-id", UI, "'com.acme.bank.ui'", "'com.acme.ui'", Verdict.FAIL),
        ("expo", "plist.bundle-id", UI, "'com.acme.bank.ui'", "process.env.ID", Verdict.NOT_LOOKED_AT),
        ("expo", "plist.bundle-id", UI, "'com.acme.bank.ui'", "process.env.ID ?? 'com.acme.ui'", Verdict.FAIL),
        ("expo", "plist.bundle-id", UI, "'com.acme.bank.ui'", "dev ? 'com.acme.ui' : '.ui'", Verdict.PASS),
        ("expo", "entitlement.provisioning", UI, "provisioning': true", "provisioning': isLive ? true : false",
         Verdict.NOT_LOOKED_AT),
        ("expo", "build.deployment-target", UI, '"15.1"', '"13.0"', Verdict.NOTE),
        ("expo", "build.deployment-target", "app.json", '"15.1"', "null", Verdict.NOT_LOOKED_AT),
        ("xcodegen", "entitlement.provisioning", YML, "properties: *rights", "properties: {}", Verdict.FAIL),
        ("xcodegen", "entitlement.provisioning", YML, ", properties: *rights", "", Verdict.NOT_LOOKED_AT),
        ("xcodegen", "plist.readable", YML, ", properties: *rights", "", Verdict.FAIL),
        ("xcodegen", "plist.readable", YML, "INFOPLIST_FILE: Wallet/", "INFOPLIST_FILE: Other/", Verdict.FAIL),
        ("xcodegen", "plist.readable", YML, "    settings: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank}\n",
         "    info: {path: Bank/Info.plist}\n    settings: {PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank}\n", Verdict.PASS),
        ("xcodegen", "plist.bundle-id", YML, "bank.${target_name}", "${target_name}", Verdict.FAIL),
        ("xcodegen", "plist.bundle-id", YML, "bank.${target_name}", "bank.${FLAVOR}", Verdict.NOT_LOOKED_AT),
        ("xcodegen", "plist.bundle-id", YML, "com.acme.bank.${target_name}", "com.acme.$(FLAVOR:default=bank).ui",
         Verdict.PASS),
        ("xcodegen", "plist.bundle-id", YML, "com.acme.bank.${target_name}", "com.acme.$(FLAVOR:default=other).ui",
         Verdict.FAIL),
        ("xcodegen", "plist.identifier", YML, "kit.issuer", "issuer", Verdict.FAIL),
        ("xcodegen", "entitlement.provisioning", YML, "WalletUI:\n    type: app-extension\n",
         "WalletUI:\n    type: app-extension\n    templates: [Extension]\n", Verdict.PASS),
        ("xcodegen", "build.deployment-target", YML, "deploymentTarget: 15.0", "deploymentTarget: {phoneOS: 13}",
         Verdict.NOTE),
        ("xcodegen", "build.deployment-target", YML, 'TARGET: "15.0"', 'TARGET: "18.2"', Verdict.NOTE),
        ("xcodegen", "swift.delegate", YML, "2.2.1", "1.0.0", Verdict.NOT_APPLICABLE),
        ("xcodegen", "plist.readable", YML, "name: Bank\n", "name: Bank\ninclude: other.yml\n", Verdict.FAIL),
    ],
)  # fmt: skip
def test_a_mistake_in_a_description_is_found_and_what_it_computes_is_said(  # noqa: PLR0917
    tmp_path, tool, case, file, old, new, verdict
):
    assert old in GOOD[tool][file]
    found = judge(case, write(tmp_path, GOOD[tool] | {file: GOOD[tool][file].replace(old, new)}))
    assert found.verdict is verdict
    if verdict is Verdict.NOT_LOOKED_AT:
        assert file in found.why


@pytest.mark.rule("X-PLIST-1")
def test_a_description_is_read_with_what_it_includes_and_with_its_templates(tmp_path):
    head, wallet, ui = XCODEGEN["project.yml"].replace(": &rights", ":").partition("  Wallet:\n")
    rights = head.partition("properties:")[2].partition("}}")[0] + "}"
    inner, own, ui = ui.replace("*rights", rights).partition("  WalletUI:\n")
    template = "    type: app-extension\n    platform: phoneOS\n"
    files = XCODEGEN | {
        "project.yml": f"include: [{{path: more/ui.yml}}]\n{head}{wallet}    templates: [Extension]\n"
        + inner.replace(template, ""),
        "more/ui.yml": f"targetTemplates:\n  Extension:\n{template}targets:\n{own}{ui}",
    }
    cases = judged(write(tmp_path, files))
    assert {name: cases[name].verdict for name in JUDGED} == dict.fromkeys(JUDGED, Verdict.PASS)


def test_a_setting_holds_in_its_configuration_alone(tmp_path):
    files = PROJECTS["xcode"] | {
        "Config/Shared.xcconfig": "APP_ID = com.acme.bank$(SUFFIX)\nSUFFIX[config=Debug] = .debug\n"
        "SUFFIX[config=R*] = .live\nPHONEOS_DEPLOYMENT_TARGET[sdk=phonesimulator*] = 11.0\n"
    }
    targets = read_targets(read_project([write(tmp_path, files)]))
    assert [target.bundle_id for target in targets.of("app")] == ["com.acme.bank.live"]
    assert {target.deployment for target in targets.all} == {""}


@pytest.mark.rule("X-PLIST-1")
@pytest.mark.parametrize(("path", "verdict"), [("${TARGETNAME}", Verdict.PASS), ("$(WHERE)", Verdict.NOT_LOOKED_AT)])
def test_an_extension_whose_list_cannot_be_found_is_not_called_missing(tmp_path, path, verdict):
    project = "Bank.project/project.pbxproj"
    text = PROJECTS["xcode"][project].replace("INFOPLIST_FILE = WalletUI/", f'INFOPLIST_FILE = "{path}"/')
    text = text.replace('"/Info.plist', '/Info.plist"')
    cases = judged(write(tmp_path, PROJECTS["xcode"] | {project: text}))
    assert {cases[name].verdict for name in ("plist.both-extensions", "swift.authentication-ui")} == {verdict}


def test_another_extension_without_a_list_leaves_the_two_judged(tmp_path):
    project = "Bank.project/project.pbxproj"
    more = project_file(("Push", "app-extension", "com.acme.bank.push", "Push", "", ""))
    files = PROJECTS["xcode"] | {f"Push/{project}": more.replace("INFOPLIST_FILE", "NO_FILE")}
    assert judge("plist.identifier", write(tmp_path, files)).verdict is Verdict.PASS


def test_an_expo_app_is_told_where_its_entitlements_belong(tmp_path):
    config = (
        "module.exports = { ios: { bundleIdentifier: 'com.acme' }, entitlements: { 'a.payment-pass-provisioning': 1 } }"
    )
    case = judge(
        "entitlement.provisioning", write(tmp_path, {"app.config.js": config, "A.swift": "PKAddPaymentPass()"})
    )
    assert [miss.todo for miss in case.misses] == [
        "Add it to ios.entitlements of app.config.js, and to its provisioning profile."
    ]


def test_an_extension_that_a_plugin_of_expo_makes_is_not_looked_at(tmp_path):
    alone = judge("plist.both-extensions", write(tmp_path / "alone", {"app.json": EXPO["app.json"]}))
    assert (alone.verdict, "run `npx expo prebuild`" in alone.why) == (Verdict.NOT_LOOKED_AT, True)
    files = {"app.json": EXPO["app.json"], "plugin/Info.plist": EXPO["targets/wallet/Info.plist"]}
    assert judge("plist.both-extensions", write(tmp_path / "listed", files)).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    "text",
    ["targets: [1]", "targets: {A: {type: 1, info: {properties: [1]}, entitlements: {properties: {1: 2}}}}", "a: [",
     "targets: {A: {type: application, settings: {base: [1], configs: 7}, deploymentTarget: [1]}}", "- &a [*a]"],
)  # fmt: skip
def test_a_strange_description_is_read_without_an_error(tmp_path, text):
    judged(write(tmp_path, {"project.yml": text, "app.json": '{"expo": {"p": {"bundleIdentifier": 1}}}'}))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("const a = { b: 1 };\nmodule.exports = ({ config }) => { const c = 2; return { ...config, a: 'x' } }",
         {"...": "$(computed)", "a": "x"}),
        ("export default { a: [1, 'b', c], /* no */ d: `e`, f() { return 1 }, g: h({ i: 1 }), j: -1.5 } as Config;",
         {"a": [1, "b", "$(computed)"], "d": "$(computed)", "f": "$(computed)", "g": "$(computed)", "j": -1.5}),
        ("export default { a: x ? 'b' : 'c', d: e || 'f', g: y ? { h: 1 } : 'i', j: z ? true : false, k: l ?? m }",
         {"a": "c", "d": "f", "g": "i", "j": "$(computed)", "k": "$(computed)"}),
        ('{"a": {"b": null}}', {"a": {"b": None}}),
        ("module.exports = require('./other')", None),
        ("{", None),
        ("{a:" * 50_000, None),
        ("module.exports = {a: [}", None),
    ],
)  # fmt: skip
def test_a_module_of_javascript_is_read_as_far_as_it_is_literal(text, value):
    assert read_javascript(text) == value


CONFIG = """<?xml version='1.0'?><widget id="com.acme.bank" phone-CFBundleIdentifier="com.acme.bank.b" version="1.0">
<name>Bank</name><plugin name="acme-card-provisioning" spec="1.0" /><platform name="phone">
<config-file target="*/Entitlements-Debug.plist" parent="com.platform.payment-pass-provisioning"><true/></config-file>
<config-file target="*/Entitlements-Release.plist" parent="{}"><true/></config-file>
</platform></widget>
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (CONFIG.format("com.platform.payment-pass-provisioning"), Verdict.NOT_LOOKED_AT),
        (CONFIG.format("com.platform.application-groups"), Verdict.FAIL),
        (CONFIG.format("com.platform.payment-pass-provisioning").replace("<true/>", "<false/>"), Verdict.FAIL),
        (CONFIG.format("x").replace("payment-pass-provisioning", "other"), Verdict.NOT_LOOKED_AT),
    ],
)
def test_the_entitlements_of_cordova_are_judged_and_what_a_plugin_elsewhere_adds_is_not(tmp_path, text, verdict):
    folder = write(tmp_path, {"config.xml": text})
    case = judge("entitlement.provisioning", folder)
    assert case.verdict is verdict
    assert {miss.file for miss in case.misses} <= {"config.xml"}
    assert verdict is Verdict.FAIL or "run `cordova prepare`" in case.why
    targets = read_targets(read_project([folder])).all
    assert {target.bundle_id for target in targets} == {"com.acme.bank.b"}


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("App.csproj", "<" + "a" * 900_000, targets._read_csproj),
        ("App.csproj", "<aaa\n" * 150_000, targets._read_csproj),
        ("App.csproj", "<a>" + " " * 900_000, targets._read_csproj),
        ("gradle.properties", "\n" * 900_000, lambda file: [*file.matches(b"x")]),
    ],
)
def test_a_file_that_is_one_long_piece_is_read_once(tmp_path, name, text, read):
    """Each took the square of its length: hours for one that may be read."""
    (file,) = read_project([write(tmp_path, {name: text})]).named(name)
    assert not read(file)


@pytest.mark.parametrize("tag", ["<config-file ", "<widget ", "<name "])
def test_a_cordova_file_of_tags_that_never_end_is_read_once(tmp_path, tag):
    """Each took the square of the file's length: hours for one that may be read."""
    folder = write(tmp_path, {"config.xml": CONFIG + tag * 70_000})
    assert [target.bundle_id for target in read_targets(read_project([folder])).all][:1] == ["com.acme.bank.b"]


@pytest.mark.parametrize(
    ("target", "verdict"), [("*-Release.plist", Verdict.NOT_LOOKED_AT), ("*-Info.plist", Verdict.FAIL)]
)
def test_an_entitlement_that_a_plugin_of_cordova_adds_is_not_missing(tmp_path, target, verdict):
    row = f'<config-file target="{target}" parent="com.platform.payment-pass-provisioning"><true/></config-file>'
    files = {"config.xml": CONFIG.format("com.platform.groups"), "plugins/acme/plugin.xml": f"<plugin>{row}</plugin>"}
    assert judge("entitlement.provisioning", write(tmp_path, files)).verdict is verdict


def test_an_app_that_may_provision_in_one_configuration_has_to_in_each(tmp_path):
    files = {"App/Good.entitlements": RIGHTS, "App/Bare.entitlements": "<plist><dict></dict></plist>"}
    for name, verdict in (("Good", Verdict.PASS), ("Bare", Verdict.FAIL)):
        yml = f"""
targets:
  Bank:
    type: application
    platform: phoneOS
    settings:
      base: {{PRODUCT_BUNDLE_IDENTIFIER: com.acme.bank}}
      configs:
        Debug: {{CODE_SIGN_ENTITLEMENTS: App/Good.entitlements}}
        Release: {{CODE_SIGN_ENTITLEMENTS: App/{name}.entitlements}}
"""
        assert (
            judge("entitlement.provisioning", write(tmp_path / name, {**files, "project.yml": yml})).verdict is verdict
        )
