"""What a text says of the API, of a key and of clear text, whatever language it is written in."""

import pytest
from sample_projects import judge

from workbook.tools.harness.model import Verdict

PATH = 'path = "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"\n'
JVM, SCRIPTS = ["kt", "java", "xml", "properties"], ["ts", "tsx", "js", "jsx", "mjs", "cjs", "vue", "svelte", "html"]
OTHERS = ["env", "dart", "swift", "m", "mm", "h", "cs", "plist", "xcconfig", "strings", "gradle", "kts"]
SERVICES = ["maps", "geo", "analytics", "captcha", "public", "current"]
FLOW = ["issuer", "wallet", "provision", "operator", "card", "bcl"]


def misses(folder, name, text, case):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [f"{miss.line} {miss.observed}{' noted' * miss.noted}" for miss in judge(case, folder).misses]


@pytest.mark.rule("API-13")
@pytest.mark.parametrize("name", [*(f"Api.{ending}" for ending in JVM + SCRIPTS + OTHERS), "app.json", ".env"])
def test_the_apis_path_is_found_in_every_kind_of_file(tmp_path, name):
    name = name.replace("Api.gradle", "build.gradle").replace("Api.kts", "build.gradle.kts")
    assert misses(tmp_path, name, PATH, "app.api-address") == ["1 the API's address or path"]


@pytest.mark.rule("API-13")
@pytest.mark.parametrize(
    ("manifest", "said", "source"),
    [
        *(("package.json", f'{{"dependencies": {{"{name}": "1"}}}}', "src/api.ts")
          for name in ("express", "fastify", "koa", "@nestjs/core", "@hapi/hapi", "hono")),
        ("package.json", '{"dependencies": {"koa": "1"}}', "app.json"),
        *(("pubspec.yaml", f"dependencies:\n  {name}: ^1.0\n", "lib/api.dart")
          for name in ("shelf", "dart_frog", "serverpod")),
        ("Package.swift", "// vapor", "Sources/Api.swift"),
        ("Package.swift", "// hummingbird", "Sources/Api.swift"),
    ],
)  # fmt: skip
def test_a_server_in_the_same_tree_may_know_the_api(tmp_path, manifest, said, source):
    assert len(misses(tmp_path, source, PATH, "app.api-address")) == 1
    (tmp_path / manifest).write_text(said)
    assert misses(tmp_path, source, PATH, "app.api-address") == []
    assert len(misses(tmp_path, "App.m", PATH, "app.api-address")) == 1


KEYS = [
    ('let walletApiKey = "k3-92ab-771c-0e55"', ["1 a key by the name of walletApiKey"]),
    ('let key = ""\nlet walletApiKey = "k3-92ab-771c-0e55"', ["2 a key by the name of walletApiKey"]),
    ('let apiKey = "k3-92ab-771c-0e55"', ["1 a key by the name of apiKey noted"]),
    ('let client_secret = "k3-92ab-771c-0e55"', ["1 a key by the name of client_secret noted"]),
    ('let secretKey = "k3-92ab-771c-0e55"', ["1 a key by the name of secretKey noted"]),
    ('let apiKey = "sk_k3-92ab-771c-0e55"', ["1 a key by the name of apiKey"]),
    ('let stripe = "sk_live_92ab771c"', ["1 a text with the form of a secret key"]),
    ('let stripe = "sk_test_92ab771c"', ["1 a text with the form of a secret key"]),
    ('let stripe = "sk_live_92ab7"', []),
    ('let apiKey = "AIza92ab771c0e55"', []),
    ('let SENTRY_API_KEY = "9f8e7d6c5b4a39281706"', []),
    ("let apiKey = BuildConfig.WALLET_API_KEY", []),
    ('let secretKeyAlias = "com.acme.wallet.secret"', []),
    ('let apiKey = "pk_live_92ab771c0e55"', []),
    ('let apiKey = "short-92ab77"', []),
    ('let apiKey = "letters-without-one"', []),
    ('let apiKey = "12345678901234"', []),
    *((f'let apiKey = "{word}-92ab-771c-0e55"', [])
      for word in ("your", "changeme", "change_me", "xxx", "example", "placeholder", "dummy")),
    ('// let walletApiKey = "k3-92ab-771c-0e55"', []),
    ('let headers = ["x-api-key": token]', ["1 the API's key, or the header for it noted"]),
    *((f'let {name}ApiKey = "k3-92ab-771c-0e55"', []) for name in SERVICES),
    *((f'let {name}GeoApiKey = "k3-92ab-771c-0e55"', [f"1 a key by the name of {name}GeoApiKey"]) for name in FLOW),
]  # fmt: skip


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(("text", "told"), KEYS)
def test_a_key_in_the_app_is_told_by_its_name_and_its_form(tmp_path, text, told):
    assert misses(tmp_path, "Keys.swift", text, "app.api-key") == told


DOMAINS = '<domain-config cleartextTrafficPermitted="true">{}</domain-config>'
EXCEPTION = "<dict><key>NSExceptionDomains</key><dict><key>{}</key><dict><key>{}</key><true/></dict></dict></dict>"
CLEAR = [
    ("Client.swift", 'let url = "http://cards.issuer.com/x"', ["1 http://cards.issuer.com"]),
    ("Client.swift", 'let url = "http://ann@cards.issuer.com/x"', ["1 http://cards.issuer.com"]),
    ("Page.swift", 'let url = "http://cards.issuer.com/x"', []),
    *(("Page.swift", f'let {word} = "http://cards.issuer.com/x"', ["1 http://cards.issuer.com"])
      for word in ("base", "api", "endPoint", "backEnd", "server", "gateway", "host", "origin", "address", "relay")),
    *((f"{word}.swift", '"http://cards.issuer.com"', ["1 http://cards.issuer.com"])
      for word in ("BackEnd", "Api", "Client", "Network", "Gateway", "Relay")),
    *(("Api.swift", f'let url = "http://{host}/x"', [])
      for host in ("localhost", "127.0.0.1", "10.0.2.2", "192.168.1.4", "172.16.0.1", "172.20.0.1", "172.31.0.1",
                   "0.0.0.0", "mac.local", "a.localhost", "nas.lan", "bare", "schemas.a.com", "www.w3.org", "ns.a.com",
                   "xml.a.org", "java.sun.com", "www.apache.org", "purl.org")),
    *(("Api.swift", f'let {word} = "http://cards.issuer.com/x"', [])
      for word in ("xmlns", "doctype", "schema", "namespace")),
    ("Api.swift", 'let url = "http://172.32.0.1/x"', ["1 http://172.32.0.1"]),
    ("debug/Api.swift", 'let url = "http://cards.issuer.com/x"', []),
    ("src/dev/Api.swift", 'let url = "http://cards.issuer.com/x"', []),
    ("development/Api.swift", 'let url = "http://cards.issuer.com/x"', []),
    ("AndManifest.xml", '<application usesCleartextTraffic = "true"/>', ["1 clear text to every host"]),
    ("AndManifest.xml", '<application usesCleartextTraffic = "false"/>', []),
    ("net.xml", '<base-config cleartextTrafficPermitted="true"/>', ["1 clear text to every host"]),
    ("net.xml", '<base-config cleartextTrafficPermitted="true">\n<x/></base-config>', ["1 clear text to every host"]),
    ("net.xml", "\n" + DOMAINS.format('<domain a="b"> a.com </domain><domain>b.com</domain>'),
     ["2 clear text to a.com, b.com"]),
    ("net.xml", DOMAINS.format("<domain>10.0.2.2</domain>"), []),
    ("Info.plist", "<dict><key>NSAllowsArbitraryLoads</key><true/></dict>", ["4 clear text to every host"]),
    ("Info.plist", "<dict><key>NSAllowsArbitraryLoads</key><false/></dict>", []),
    ("Info.plist", EXCEPTION.format("a.com", "NSExceptionAllowsInsecureHTTPLoads"), ["4 clear text to a.com"]),
    ("Info.plist", EXCEPTION.format("a.local", "NSExceptionAllowsInsecureHTTPLoads"), []),
    ("Info.plist", EXCEPTION.format("a.com", "NSIncludesSubdomains"), []),
]  # fmt: skip
LIST = '<?xml version="1.0"?>\n<plist version="1.0">\n<dict>\n<key>NSAppTransportSecurity</key>{}</dict></plist>'


@pytest.mark.rule("APP-5")
@pytest.mark.parametrize(("name", "text", "told"), CLEAR)
def test_clear_text_is_told_where_it_reaches_a_host_on_the_network(tmp_path, name, text, told):
    said = LIST.format(text) if name.endswith(".plist") else text
    assert misses(tmp_path, name, said, "app.cleartext") == told


def test_a_test_is_no_part_of_an_app(tmp_path):
    assert misses(tmp_path, "src/test/Api.swift", PATH, "app.api-address") == []
    assert judge("app.api-address", tmp_path).verdict is not Verdict.PASS
