"""The cases, beyond one small edit of a good project."""

import inspect
import re

import pytest
from sample_projects import judge, judged

from workbook.tools.harness.model import Verdict
from workbook.tools.preflight import cases_a, cases_b, cases_text
from workbook.tools.preflight.run import Preflight, preflight


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
    (miss,) = judge("gradle.application-ids", tmp_path).misses
    assert miss.observed.startswith(f"{2 * flavours} application ids: com.issuer.f0.debug (f0Debug); ")
    assert miss.observed.endswith(end)


def test_a_library_module_that_publishes_itself_publishes_no_private_library(platform_a):
    script = platform_a / "app" / "build.gradle.kts"
    script.write_text(script.read_text().replace("plugins {", "plugins {\n    `maven-publish`") + (
        'publishing { publications { create<P>("release") { from(components["release"]) } } }\n'
    ))  # fmt: skip
    assert judge("gradle.publishing", platform_a).verdict is Verdict.PASS


@pytest.mark.rule("A-DEP-2")
def test_a_librarys_module_alone_leaves_the_repositories_to_the_app_that_uses_it(tmp_path):
    script = """
plugins { id 'a.library' }
platform { defaultConfig { minSdkVersion 26 } }
repositories { mavenCentral() }
dependencies { implementation 'wallet.gms:play-services-tapandpay:18.8.0' }
"""
    (tmp_path / "build.gradle").write_text(script)
    assert judge("gradle.repository", tmp_path).verdict is Verdict.PASS
    (tmp_path / "build.gradle").write_text(script.replace("minSdkVersion 26", "applicationId 'a.b'"))
    assert judge("gradle.repository", tmp_path).verdict is Verdict.FAIL


def test_a_back_end_beside_the_app_may_know_the_api(platform_a):
    server = platform_a / "server"
    (server / "src").mkdir(parents=True)
    (server / "build.gradle.kts").write_text('plugins { id("org.server.boot") }\n')
    (server / "src" / "Relay.kt").write_text('val path = "/bcl/v2/paymentInstruments"; val header = "x-api-key"\n')
    (platform_a / "app" / "src" / "test").mkdir(exist_ok=True)
    (platform_a / "app" / "src" / "test" / "Fake.kt").write_text('val header = "x-api-key"\n')
    cases = judged(platform_a)
    assert cases["app.api-address"].verdict is cases["app.api-key"].verdict is Verdict.PASS


@pytest.mark.rule("API-13")
def test_a_comment_about_the_api_is_no_trace_of_it_and_an_address_is_no_comment(platform_b):
    file = platform_b / "App" / "BackEnd.swift"
    text = file.read_text()
    file.write_text(f"// our back end calls /bcl/v2 with x-api-key\n{text}")
    assert judge("app.api-key", platform_b).verdict is Verdict.PASS
    file.write_text(f'let url = "https://api.example/bcl/v2"\n{text}')
    assert judge("app.api-address", platform_b).verdict is Verdict.FAIL


@pytest.mark.rule("X-PLIST-3")
def test_a_class_with_a_plain_name_of_its_own_needs_no_module(platform_b):
    file = platform_b / "WalletExtension" / "Info.plist"
    file.write_text(file.read_text().replace("$(PRODUCT_MODULE_NAME).", ""))
    assert judge("plist.principal-class", platform_b).verdict is Verdict.FAIL
    source = platform_b / "App" / "ExtensionHandler.swift"
    source.write_text(source.read_text().replace("final class", "@objc(ExtensionHandler)\nfinal class"))
    assert judge("plist.principal-class", platform_b).verdict is Verdict.PASS


WITH_COMPLETIONS = """\
class ExtensionHandler: IssuerProvisioningExtensionHandler {
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
        return {name for name, case in judged(platform_b).items() if case.verdict is Verdict.FAIL}

    assert failed(WITH_COMPLETIONS) == {"swift.remote-entries"}
    calling = WITH_COMPLETIONS.replace("let status = ", "session.dataTask(with: url).resume()\n        let status = ")
    assert failed(calling) == {"swift.remote-entries", "swift.status-network"}


@pytest.mark.rule("B-CAN-1", "B-CAN-2")
@pytest.mark.parametrize(
    ("version", "call", "verdict"),
    [
        ("2.2.1", "canAddCard(isWatchActivated: isWatchActivated)", Verdict.PASS),
        ("2.2.1", "canAddCard()", Verdict.FAIL),
        ("2.0.1", "canAddCard(isWatchPaired: isWatchPaired)", Verdict.PASS),
        ("2.0.1", "canAddCard(isWatchActivated: isWatchActivated)", Verdict.FAIL),
        ("2.0.2", "canAddCard(isWatchPaired: isWatchPaired)", Verdict.FAIL),
        ("2.2.1", "canAddCardDetails()", Verdict.FAIL),
        ("1.0.0", "canAddCard()", Verdict.PASS),
        ("1.0.0", "canAddCardDetails()", Verdict.PASS),
        ("1.0.0", "canAddCard(isWatchActivated: isWatchActivated)", Verdict.FAIL),
    ],
)
def test_both_questions_are_in_both_variants_and_only_their_argument_differs(platform_b, version, call, verdict):
    file, pins = platform_b / "App" / "AddCardModel.swift", platform_b / "Package.resolved"
    written = "canAddCardDetails(isWatchActivated: isWatchActivated).canAddCard"
    assert written in file.read_text()
    file.write_text(file.read_text().replace(written, call))
    pins.write_text(pins.read_text().replace("2.2.1", version))
    assert judge("swift.can-add", platform_b).verdict is verdict


@pytest.mark.rule("A-DEP-2")
@pytest.mark.parametrize("dragged", ["build.gradle", "gradle.lockfile"])
def test_an_app_that_only_drags_the_library_in_is_told_what_to_exclude(tmp_path, dragged):
    app = "platform { defaultConfig { applicationId 'a.b' } }\nrepositories { mavenCentral() }\n"
    (tmp_path / "build.gradle").write_text(app)
    done = preflight(Preflight((tmp_path,)))
    assert "a plugin drags it in: exclude that library's group and module" in done.about.trouble
    (tmp_path / dragged).write_text({
        "build.gradle": f"{app}dependencies {{ implementation 'wallet.gms:play-services-tapandpay:17.1.2' }}\n",
        "gradle.lockfile": "other:a:1=x\nwallet.gms:play-services-tapandpay:17.1.2=releaseRuntimeClasspath\nempty=\n",
    }[dragged])  # fmt: skip
    (miss,) = judge("gradle.repository", tmp_path).misses
    assert "does not provision excludes it: exclude group wallet.gms, module play-services-tapandpay." in miss.todo


def test_an_apps_own_function_with_a_name_of_the_other_variant_is_not_blamed(platform_b):
    file = platform_b / "App" / "AddCardModel.swift"
    calling = file.read_text().replace("app.save(sdkInput, cardId)", "_ = page.canAddCard()")

    def verdict(text):
        file.write_text(text)
        return judge("swift.can-add", platform_b).verdict

    assert verdict(calling) is Verdict.FAIL
    assert verdict(f"{calling}\nextension Page {{ func canAddCard() -> Bool {{ true }} }}\n") is Verdict.PASS


@pytest.mark.rule("X-PLIST-3")
def test_a_class_with_another_name_than_the_documents_is_good_where_a_source_declares_it(platform_b):
    for path, old in (
        ("WalletExtension/Info.plist", "ExtensionHandler"),
        ("WalletUI/Info.plist", "AuthorizationProvider"),
    ):
        plist, source = platform_b / path, platform_b / "App" / f"{old}.swift"
        plist.write_text(plist.read_text().replace(f").{old}", ").OurOwn" + old[:4]))
        source.write_text(source.read_text().replace(f"class {old}", f"class OurOwn{old[:4]}"))
    assert judge("plist.principal-class", platform_b).verdict is Verdict.PASS


@pytest.mark.rule("A-DEP-1")
@pytest.mark.parametrize(
    ("sdk", "verdict", "source"),
    [("0.4.0", Verdict.FAIL, "sdk-a"), ("0.4.1", Verdict.FAIL, "sdk-a"), ("0.3.4", Verdict.NOTE, "assumed"),
     ("0.5.0", Verdict.NOTE, "assumed")],
)  # fmt: skip
def test_a_librarys_version_fails_only_where_a_public_source_names_it(platform_a, sdk, verdict, source):
    """The document ties the library to a variant, and no version of the SDK but 0.4.0 to anything."""
    catalog = platform_a / "gradle" / "libs.versions.toml"
    catalog.write_text(catalog.read_text().replace("0.4.1", sdk).replace("18.8.0", "18.5.0"))
    case = judge("gradle.library-version", platform_a)
    assert (case.verdict, f"({source})" in case.misses[0].expected) == (verdict, True)


@pytest.mark.rule("A-MIG-1", "A-PROV-4")
@pytest.mark.parametrize(
    "arguments",
    ["cardName, CardAddress(), opc", "cardDisplayName = cardName, cardAddress = CardAddress(), opcProvider = opc",
     "opcProvider = opc, cardDisplayName = cardName, cardAddress = CardAddress()"],
)  # fmt: skip
def test_no_form_of_the_new_call_is_called_deprecated(platform_a, arguments):
    model = platform_a / "app/src/main/kotlin/AddCardModel.kt"
    new = "sdk.provision(cardName, CardAddress(), provider)"
    assert new in model.read_text()
    model.write_text(model.read_text().replace(new, f"sdk.provision({arguments})"))
    assert judge("kotlin.deprecated", platform_a).verdict is Verdict.PASS


@pytest.mark.rule("B-DEL-1", "B-CAN-1", "X-ART-1", "GAP-7")
def test_what_is_judged_by_the_sdks_version_says_where_the_boundary_is_known_from(platform_b):
    pinned = platform_b / "Package.resolved"
    pinned.write_text(pinned.read_text().replace('"2.2.1"', '"1.0.0"'))
    cases = judged(platform_b)
    todos = [miss.todo for name in ("delegate", "card-art", "can-add") for miss in cases[f"swift.{name}"].misses]
    assert len(todos) >= 3
    assert all("(sdk-b)" in todo for todo in todos)


def test_no_case_takes_the_cause_of_a_status_for_published():
    """Statuses are published, and which broken request gets which is not (GAP-1)."""
    source = "".join(map(inspect.getsource, (cases_a, cases_b, cases_text)))
    assert re.findall(r"\b40[013]\b[^.\"]*\(assumed\)", source)
    assert not re.findall(r"\b(?:40[013]|422|500)\b[^.\"]*\(openapi\)", source)


@pytest.mark.rule("API-1", "API-4", "REL-5")
@pytest.mark.parametrize(
    ("line", "case", "told"),
    [
        *((f"BASE_URL=http://{host}:8080", "base-url", []) for host in ("localhost", "127.0.0.1", "[::1]")),
        ("BASE_URL=http://api.operator.example", "base-url", ["BASE_URL holds no https address"]),
        ("API_URL=api.operator.example", "base-url", ["API_URL holds no https address"]),
        ("API_URL=https://api.operator.example/bcl/v3", "base-url", ["API_URL ends in another path"]),
        ("API_URL=https://api.operator.example/bcl/v2", "base-url", []),
        ("API_URL=https://api.operator.example/bcl/v2/", "base-url", []),
        *((f"API_KEY={word}", "key", ["API_KEY holds a placeholder"])
          for word in ("<key>", "change_me", "changeme", "your-key", "TODO", "xxx", "an-example")),
        ("APIKEY=k3-92ab-771c", "key", []),
        *((f"TIMEOUT={value}", "time-limit", [])
          for value in ("19", "19.9s", "19 sec", "19999 ms", "19999", "1000", "soon")),
        *((f"TIMEOUT={value}", "time-limit", [f"TIMEOUT is {seconds} s"])
          for value, seconds in (("20", 20), ("999", 999), ("20 SEC", 20), ("20 seconds", 20), ("20500 ms", 20.5),
                                 ("20000", 20))),
        ("TIMEOUT_MS=500", "time-limit", []),
    ],
)  # fmt: skip
def test_each_setting_of_a_back_end_is_read_by_its_name_and_its_form(platform_a, environment, line, case, told):
    environment.write_text(f"{line}\n")
    judged_case = judge(f"environment.{case}", platform_a / "settings.gradle.kts", environment=environment)
    assert [miss.observed for miss in judged_case.misses] == told
