"""Build scripts in both languages, the version catalog, and scripts that nobody wrote with good intent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_projects import write
from sample_projects import HOSTILE, PIECES, judge, judged

from workbook.tools.harness.model import Verdict
from workbook.tools.preflight.gradle import numbers, read_build, read_script
from workbook.tools.preflight.project import read_project

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
    assert {case.verdict for case in judged(tmp_path).values()} == {
        Verdict.PASS,
        Verdict.NOT_APPLICABLE,
        Verdict.NOTE,
        Verdict.NOT_LOOKED_AT,  # there are no sources
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
    case = judge("gradle.library-version", platform_a)
    assert case.verdict is (Verdict.FAIL if places else Verdict.PASS)
    assert [miss.place for miss in case.misses] == places


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
    (miss,) = judge("gradle.library-version", tmp_path).misses
    assert (miss.observed, miss.file) == ("18.3.3", "build.gradle")


@pytest.mark.rule("A-DEP-1")
@pytest.mark.parametrize(
    ("named", "why"),
    [
        (f"{LIBRARY}, version: tap", "its version is unknown"),
        (LIBRARY, "its version is unknown"),
        ("def tap = '18' + '.3.3'\nimplementation \"wallet.provider:tap-and-pay:$tap\"", "its version is unknown"),
        ("", "No build file names the private library: the SDK"),
    ],
)
def test_a_library_whose_version_is_unknown_is_named_all_the_same(tmp_path, named, why):
    (tmp_path / "build.gradle").write_text(
        f"dependencies {{\nimplementation 'operator:card-provisioning:0.4.1'\n{named}\n}}\n"
    )
    case = judge("gradle.library-version", tmp_path)
    assert case.verdict is (Verdict.NOT_LOOKED_AT if named else Verdict.NOT_APPLICABLE)
    assert why in case.why


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


GROOVY_FLAVORS = [
    "productFlavors {\nprod\nuat { applicationIdSuffix '.uat' }\n}",
    "productFlavors { prod; uat { applicationIdSuffix = '.uat' } }",
    "productFlavors { prod { } uat { applicationIdSuffix '.uat' } }",
    "productFlavors {\n'prod' { }\n'uat' { applicationIdSuffix '.uat' }\n}",
    "productFlavors {\ncreate('prod')\nmaybeCreate('uat')\nuat { applicationIdSuffix '.uat' }\n}",
    "productFlavors {\nprod { /* empty */ }\nuat { applicationIdSuffix '.uat' }\nall { f -> f.x 1 }\n}",
    "productFlavors.create('prod')\nproductFlavors { uat { applicationIdSuffix '.uat' } }",
]
KOTLIN_FLAVORS = [
    'create("prod")\ncreate("uat") { SUFFIX }',
    'create("prod") {}\nregister("uat") { SUFFIX }',
    'register("prod")\nval uat by creating { SUFFIX }',
    'val prod by registering\ncreate("uat")\ngetByName("uat") { SUFFIX }',
    'maybeCreate("prod")\ncreate("uat") {\n// staging\ndimension = "stage"\nSUFFIX\n}',
    'if (all) { create("prod") }\ncreate("uat") { SUFFIX }\nconfigureEach { x = 1 }',
]
FLAVORS = [
    *(("build.gradle", text) for text in GROOVY_FLAVORS),
    *(
        ("build.gradle.kts", f"productFlavors {{\n{text}\n}}".replace("SUFFIX", 'applicationIdSuffix = ".uat"'))
        for text in KOTLIN_FLAVORS
    ),
    (
        "build.gradle.kts",
        'productFlavors.create("prod")\nproductFlavors { register("uat") { applicationIdSuffix = ".uat" } }',
    ),
]


def variants(folder, name, text):
    (folder / name).write_text(f'platform {{\ndefaultConfig {{ applicationId = "a.b" }}\n{text}\n}}\n')
    (module,) = read_build(read_project([folder])).apps
    return {one.name: one.application_id for one in module.variants()}


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize(("name", "text"), FLAVORS)
def test_each_way_to_make_a_flavour_makes_one(tmp_path, name, text):
    """One without a block, as production often is, has the main application id."""
    assert variants(tmp_path, name, f'flavorDimensions += "stage"\n{text}') == {
        "prodDebug": "a.b", "prodRelease": "a.b", "uatDebug": "a.b.uat", "uatRelease": "a.b.uat"}  # fmt: skip


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("build.gradle", "buildTypes {\nqa\nbeta { initWith qa\napplicationIdSuffix '.beta' }\n}"),
        ("build.gradle", "buildTypes { debug { } release { } qa { } beta { applicationIdSuffix '.beta' } }"),
        ("build.gradle.kts", 'buildTypes {\ncreate("qa")\nval beta by creating { applicationIdSuffix = ".beta" }\n}'),
        ("build.gradle.kts", 'buildTypes {\nregister("beta") { applicationIdSuffix = ".beta" }\ncreate("qa")\n}'),
        ("build.gradle", "buildTypes {\nfirst { applicationIdSuffix '.beta' }\nbeta { initWith first }\nqa\n}"),
    ],
)
def test_each_way_to_make_a_build_type_makes_one(tmp_path, name, text):
    found = variants(tmp_path, name, text)
    found.pop("first", None)
    assert found == {"debug": "a.b", "release": "a.b", "qa": "a.b", "beta": "a.b.beta"}


@pytest.mark.rule("A-ALLOW-2")
def test_dimensions_are_combined_in_the_order_in_which_they_are_declared(tmp_path):
    text = """flavorDimensions("stage", "brand")
    productFlavors {
        create("bank") { dimension = "brand" }
        create("test") { dimension = "stage" }
        create("live") { dimension = "stage" }
    }"""
    assert [*variants(tmp_path, "build.gradle.kts", text)][::2] == ["testBankDebug", "liveBankDebug"]


NAMED = {
    "a suffix behind a name": {
        "build.gradle": "def id = 'a.b'\nplatform { defaultConfig { applicationId id }\n"
        "buildTypes { debug { applicationIdSuffix '.d' } } }"
    },
    "an element behind a val": {
        "build.gradle.kts": 'platform { defaultConfig { applicationId = "a.b" }\nbuildTypes {\n'
        'val debug = getByName("debug") { applicationIdSuffix = ".d" }\n} }'
    },
    "a constant in an object": {
        "build.gradle.kts": "platform { defaultConfig { applicationId = App.Live.ID }\n"
        "buildTypes { debug { applicationIdSuffix = App.ID } } }",
        "buildSrc/src/App.kt": 'object App {\nconst val ID = ".d"\nobject Live { const val ID = "a.b" }\n}',
    },
    "a map with one entry": {
        "build.gradle": "ext { ids = [live: 'a.b'] }\nplatform { defaultConfig { applicationId ids.live }\n"
        "buildTypes { debug { applicationIdSuffix '.d' } } }"
    },
}


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize("files", NAMED.values(), ids=NAMED)
def test_an_application_id_by_a_name_is_known(tmp_path, files):
    (module,) = read_build(read_project([write(tmp_path, files)])).apps
    assert {one.name: one.application_id for one in module.variants()} == {"debug": "a.b.d", "release": "a.b"}


def test_a_dependency_by_a_constant_is_known_and_flavours_of_an_own_plugin_are_said(tmp_path):
    files = {
        "app/build.gradle.kts": 'platform { defaultConfig { applicationId = "a.b" } }\n'
        "dependencies { implementation(Deps.sdk) }",
        "buildSrc/Deps.kt": 'object Versions { const val sdk = "0.4.1" }\n'
        'object Deps { const val sdk = "operator:card-provisioning:${Versions.sdk}" }',
        "build-logic/Flavors.kt": "fun make() { productFlavors { Stage.values().forEach { register(it.name) } } }",
    }
    (entry,) = read_build(read_project([write(tmp_path, files)])).dependencies()
    assert entry.version == "0.4.1"
    case = judge("gradle.application-ids", tmp_path)
    assert (case.verdict, "build-logic/Flavors.kt makes variants" in case.why) == (Verdict.NOT_LOOKED_AT, True)


@pytest.mark.parametrize(
    "text",
    [
        "stages.each { create(it) }",
        'listOf("a").forEach { create(it) {} }',
        "create(name)",
        "['a', 'b'].each { name -> \"$name\" { applicationIdSuffix '.x' } }\nprod { }",
    ],
)
def test_flavours_that_a_script_computes_leave_the_ids_unknown(tmp_path, text):
    assert variants(tmp_path, "build.gradle", f"productFlavors {{ {text} }}") == {}
    assert judge("gradle.application-ids", tmp_path).verdict is Verdict.NOT_APPLICABLE


SHORT = [
    'buildTypes { debug.applicationIdSuffix = ".d" }',
    'buildTypes { getByName("debug").applicationIdSuffix = ".d" }',
    'buildTypes.getByName("debug").applicationIdSuffix = ".d"',
    'buildTypes.apply { debug { applicationIdSuffix = ".d" } }',
    '}\nplatform.buildTypes { debug { applicationIdSuffix = ".d" } ',
    '}\nplatform.buildTypes.named("debug") { applicationIdSuffix = ".d" ',
    '}\nplatform.buildTypes.debug.applicationIdSuffix = ".d"; on {',
]
BY_CODE = [
    'with(productFlavors) { create("x") }',
    'val x = productFlavors.create("x")',
    'if (ci) { productFlavors { create("x") } }',
    'buildTypes.all { applicationIdSuffix = ".$name" }',
    'productFlavors { create("x").also { it.applicationIdSuffix = ".x" } }',
    '}\nafterEvaluate { platform.productFlavors { create("x") } ',
    '}\nextensions.getByType<AppExtension>().productFlavors.create("x") { ',
]


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize("text", SHORT + BY_CODE)
def test_no_short_form_of_a_variant_is_left_out_without_a_word(tmp_path, text):
    (tmp_path / "build.gradle.kts").write_text(f'platform {{ defaultConfig.applicationId = "a.b"\n{text} }}')
    build = read_build(read_project([tmp_path]))
    ids = {variant.application_id for variant in build.variants}
    assert ids == {"a.b", "a.b.d"} if text in SHORT else build.unread
    assert text in BY_CODE or not build.unread


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("buildTypes { debug { if (ci) { applicationIdSuffix '.ci' } } }", "a computed one (debug)"),
        (
            "buildTypes { debug { applicationIdSuffix 'd' } }\n}\non { it.applicationId.set('c') ",
            "sets an id or makes a flavour by its code",
        ),
        (
            "buildTypes { debug { applicationIdSuffix 'd' } }\nall { v -> v.mergedFlavor.applicationId 'c' }",
            "sets an id or makes a flavour by its code",
        ),
    ],
)
def test_an_application_id_that_a_condition_or_code_sets_is_said(tmp_path, text, says):
    variants(tmp_path, "build.gradle", f"dependencies {{ x 'operator:card-provisioning:0.4.1' }}\n{text}")
    case = judge("gradle.application-ids", tmp_path)
    assert (case.verdict, says in case.misses[0].observed) == (Verdict.NOTE, True)


@pytest.mark.rule("A-ALLOW-2")
@pytest.mark.parametrize("named", ["'../gradle/flavors.gradle'", 'rootProject.file("gradle/flavors.gradle")'])
def test_flavours_of_a_script_that_is_applied_are_read_and_another_one_is_said(tmp_path, named):
    (tmp_path / "gradle").mkdir()
    script = tmp_path / "build.gradle"
    script.write_text(f"""
apply from: {named}
apply from: '../node_modules/it/native.gradle'
apply from: project(':react-native-config').projectDir.getPath() + "/dotenv.gradle"
apply from: new File(["node", "-p", "require.resolve('it/package.json')"].execute(null, rootDir).text, "../a.gradle")
platform {{ defaultConfig {{ applicationId 'a.b' }} }}
dependencies {{ implementation 'operator:card-provisioning:0.4.1' }}
""")
    case = judge("gradle.application-ids", tmp_path)
    assert (case.verdict, "flavors.gradle, which was not read" in case.why) == (Verdict.NOT_LOOKED_AT, True)
    flavors = "platform { productFlavors { prod { applicationId 'a.b' }\nuat { applicationIdSuffix '.uat' } } }\n"
    (tmp_path / "gradle" / "flavors.gradle").write_text(flavors)
    (module,) = read_build(read_project([tmp_path])).apps
    assert ({one.application_id for one in module.variants()}, module.unread) == ({"a.b", "a.b.uat"}, ())
    assert judge("gradle.application-ids", tmp_path).verdict is Verdict.NOTE


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_script_is_read_in_one_pass(text):
    assert read_script(text).name == "script"


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_whatever_the_text_is_it_is_read_without_an_error(text):
    read_script(text)


@pytest.mark.rule("API-13")
@pytest.mark.parametrize("named", ['project(":shared:api")', "projects.shared.api"])
def test_a_module_that_only_a_server_uses_is_the_servers(tmp_path, named):
    for module, script in {
        "server": f'plugins {{ id("org.server.boot") }}\ndependencies {{ implementation({named}) }}\n',
        "shared/api": 'plugins { kotlin("jvm") }\n',
        "app": 'plugins { id("a.application") }\nplatform { defaultConfig { applicationId = "a.b"; minSdk = 26 } }\n',
    }.items():
        (tmp_path / module).mkdir(parents=True)
        (tmp_path / module / "build.gradle.kts").write_text(script)
    (tmp_path / "shared" / "api" / "Path.kt").write_text('val path = "/bcl/v2/paymentInstruments"\n')
    assert judge("app.api-address", tmp_path).verdict is Verdict.PASS
    (tmp_path / "server" / "build.gradle.kts").write_text('plugins { id("org.server.boot") }\n')
    assert judge("app.api-address", tmp_path).verdict is not Verdict.PASS
