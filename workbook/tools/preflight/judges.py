"""The cases: build files, the private library, signing, property lists, entitlements, sources, a back end's settings.

A judge yields a miss for each place where its rule is broken. The rows at the end say what each case requires.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from hashlib import new as new_hash
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbook.base.files import read_regular
from workbook.base.rules import Owner
from workbook.tools.harness.model import Miss
from workbook.tools.preflight.button import is_bridge, open_calls, sdk_calls, second_tap
from workbook.tools.preflight.gradle import Module, Statement, numbers
from workbook.tools.preflight.model import (
    LATER_A,
    Facts,
    Part,
    PreflightCase,
    Unseen,
    miss_at,
    miss_in,
    preflight_case,
    unread,
)
from workbook.tools.preflight.platform_b import AUTHORIZATION, ISSUER, BuildTarget, expanded
from workbook.tools.preflight.project import SourceCall, SourceFunction, line_of, names_in, read_project, text_of, walk
from workbook.tools.preflight.signing import allowlist_request
from workbook.tools.preflight.traces import api_address, api_key, cleartext, matches

if TYPE_CHECKING:
    from tree_sitter import Node

    from workbook.tools.preflight.project import File, Sources

POINT, CLASS = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"
CLASSES = {ISSUER: "ExtensionHandler", AUTHORIZATION: "AuthorizationProvider"}
# What app and extension may share, and how a source names it.
GROUPS = {
    "an app group": rb'"(group\.[\w-]+\.[\w.-]+)"',
    "a keychain group": rb'[aA]ccessGroup\b[^"\n]{0,40}"([\w.-]+)"',
}
# From this version on platform B's SDK has the later variant's operations (sdk-b).
LATER_B = (2,)


def _ours(facts: Facts) -> list[BuildTarget]:
    return facts.b.of(ISSUER, AUTHORIZATION)


def _in_list(target: BuildTarget, at: str, observed: str, **more: Any) -> Miss:
    """A miss in a target's property list, at the first line with this text."""
    file = target.plist_file or target.file
    return miss_at(file.name, file.line(at), observed, **more)


def identifiers(facts: Facts) -> Iterator[Miss]:
    """Texts that are probably meant as extension points, and are misspelt."""
    right = re.compile(r"com\.[a-z][a-z0-9-]*\.[A-Za-z][A-Za-z0-9]*\.issuer-provisioning(\.authorization)?")
    for target in _ours(facts):
        if not target.points and target.plist is not None:
            point = f"{target.extension.get(POINT, 'nothing')!s:.80}"
            todo = f"Set {POINT} of {target.name}; its principal class says that it is one."
            yield _in_list(target, POINT, point, expected=f"{POINT} com.<platform>.<kit>.{target.role}", todo=todo)
        for _place, text in target.points:
            if not right.fullmatch(text):
                todo = f"Correct the identifier of {target.name}, letter by letter."
                yield _in_list(target, text, f"{text:.80}", todo=todo)


def nesting(facts: Facts) -> Iterator[Miss]:
    """Where the identifier is."""
    for target in _ours(facts):
        places = [place for place, _text in target.points]
        if places and f"NSExtension.{POINT}" not in places:
            todo = f"Put the identifier of {target.name} into the dictionary NSExtension, under {POINT}."
            yield _in_list(target, places[0].rpartition(".")[2], places[0], todo=todo)


def principal_classes(facts: Facts) -> Iterator[Miss]:
    """The principal class, with the module in front: the document's, or one that a source declares."""
    for target in _ours(facts):
        if target.plist is None or not target.points:
            continue
        found = target.extension.get(CLASS)
        wanted = f"$(PRODUCT_MODULE_NAME).{CLASSES[target.role]}"
        module, _dot, name = str(found or "").rpartition(".")
        of_role = re.compile("IssuerProvisioning.*" + ("Handler" if target.role == ISSUER else "Authorization"))
        own = [kind for kind in facts.b.swift.types if any(map(of_role.search, kind.heads))]
        if not isinstance(found, str) or not found:
            by_storyboard = target.role == AUTHORIZATION and bool(target.extension.get("NSExtensionMainStoryboard"))
            more = " A storyboard that makes the class may stand for it (assumed)." if by_storyboard else ""
            todo, observed = f"Set {CLASS} of {target.name}.{more}", "no principal class"
            yield _in_list(target, "NSExtension", observed, expected=wanted, todo=todo, noted=by_storyboard)
        elif not module and not _declares(facts, name, plain=True):
            todo = "Write the module in front of the class: the wallet loads it by its full name."
            yield _in_list(target, CLASS, found, expected=wanted, todo=todo)
        elif name in CLASSES.values() and name != CLASSES[target.role]:
            todo = f"The two are mixed up: {target.name} has the class of one and the identifier of the other."
            yield _in_list(target, CLASS, found, expected=wanted, todo=todo)
        elif module != target.name and module in {other.name for other in facts.b.targets}:
            todo = f"Name the module of {target.name}: the class is not looked for in {module}."
            yield _in_list(target, CLASS, found, expected=wanted, todo=todo)
        elif (own or name != CLASSES[target.role]) and not _declares(facts, name):
            expected = f"$(PRODUCT_MODULE_NAME).{own[0].name}, which {own[0].source.file.name} has" if own else wanted
            todo = f"Name the class that {target.name} has: no source that was read declares {name:.80}."
            yield _in_list(target, CLASS, found, expected=expected, todo=todo)


def _declares(facts: Facts, name: str, *, plain: bool = False) -> bool:
    """Whether a source has a class of this name; `plain`: without a module, as in Objective-C or by `@objc(...)`."""
    kinds = r"@objc\(|@implementation\s+" if plain else r"@objc\(|@implementation\s+|class\s+|typealias\s+"
    declared = re.compile(rf"({kinds}){re.escape(name)}\b")
    return any(declared.search(file.text) for file in facts.project.named("*.swift", "*.m", "*.mm"))


def both_extensions(facts: Facts) -> Iterator[Miss]:
    """Both extensions, in whatever configuration."""
    for role in (ISSUER, AUTHORIZATION):
        if not facts.b.of(role) and not (facts.b.broken and facts.b.unread_lists):  # it may be the one that is broken
            yield _in_list(_ours(facts)[0], "", "none", expected=f"an extension com.<platform>.<kit>.{role}")


def entitlements(facts: Facts) -> Iterator[Miss]:
    """The provisioning entitlement on app and extensions."""
    named = set()
    for target in _embedding(facts):  # a target mostly has one file for all configurations, which is named once
        place = target.name, target.entitlements_file
        if target.entitlements is not None and not target.may_provision and place not in named:
            named.add(place)
            file = target.entitlements_file or target.plist_file or target.file
            todo = f"Add it to the entitlements of {target.name}, and to its provisioning profile."
            yield miss_at(file.name, 1, "the entitlement is missing (sdk-b)", todo=todo)


def _embedding(facts: Facts) -> list[BuildTarget]:
    """App and extensions. Of several apps, only those that provision; a single app in any case."""
    apps = facts.b.of("app")
    own = [app for app in apps if app.may_provision or any(_is_of(other, app) for other in _ours(facts))]
    return [*(own or (apps if len({app.name for app in apps}) == 1 else [])), *_ours(facts)]


def _is_of(extension: BuildTarget, app: BuildTarget) -> bool:
    """Whether the extension's identifier begins with the app's, as the platform demands."""
    return bool(app.bundle_id) and extension.bundle_id.startswith(f"{app.bundle_id}.")


def bundle_ids(facts: Facts) -> Iterator[Miss]:
    """An extension whose bundle id does not begin with that of an app of its configuration."""
    named = set()
    for target in _ours(facts):
        apps = [app for app in facts.b.of("app") if app.configuration == target.configuration] or facts.b.of("app")
        outer = sorted({app.bundle_id for app in apps})
        inner = target.bundle_id
        is_known = inner and outer and all(outer) and (target.name, inner) not in named
        if is_known and not any(_is_of(target, app) for app in apps):
            named.add((target.name, inner))
            place = _set_at(facts, target, "PRODUCT_BUNDLE_IDENTIFIER")
            expected = f"{outer[0]}.NAME, below the app's (assumed: the phone installs it only then)"
            todo = f"Let the id of {target.name} begin with the app's and a dot."
            yield miss_at(*place, inner, expected=expected, todo=todo)


def app_groups(facts: Facts) -> Iterator[Miss]:
    """Storage that app and extension share: an app group or a keychain group, and the group that the code names."""
    apps = [target for target in _embedding(facts) if target.role == "app" and target.entitlements is not None]
    for target in facts.b.of(ISSUER):
        of_same = [app for app in apps if app.configuration == target.configuration] or apps
        if target.entitlements is None or not of_same:
            continue
        app = next((app for app in of_same if _is_of(target, app)), of_same[0])
        shares = any(target.shared[kind] & app.shared[kind] for kind in GROUPS)
        for kind in GROUPS if shares else ("an app group",):  # a group that both have, and not the same one
            inner, outer = target.shared[kind], app.shared[kind]
            if not shares or (inner and outer and not inner & outer):
                file, noted = target.entitlements_file or target.file, shares and not any(_groups_in_code(facts, kind))
                expected = f"{kind} of {app.name}: {', '.join(sorted(outer)) or 'it is in none'}"
                observed = ", ".join(sorted(inner)) or f"{target.label} is in none"
                yield miss_at(file.name, 1, observed, expected=expected, noted=noted)
    for kind in GROUPS if all(target.entitlements is not None for target in facts.b.targets) else ():
        known = {group for target in facts.b.targets for group in target.shared[kind]}
        for place, line, named in _groups_in_code(facts, kind) if known and "$" not in "".join(known) else ():
            if not named.endswith(tuple(known)):
                expected = f"{kind} of the entitlements: {', '.join(sorted(known))}"
                yield miss_at(place, line, named, expected=expected)


def _groups_in_code(facts: Facts, kind: str) -> Iterator[tuple[str, int, str]]:
    """Each place where a source of platform B names a group, and the group; of a keychain, the team is in front."""
    for file in facts.app_files:
        if file.name.endswith((".swift", ".m", ".mm")) and file.mentions(*b"suitename appgroup accessgroup".split()):
            for line, match in matches(file, GROUPS[kind], 0):
                yield file.name, line, match[1].decode()


def deployment(facts: Facts) -> Iterator[Miss]:
    """The lowest system of app and extensions."""
    works_from = {"app": "13.4", ISSUER: "14.0", AUTHORIZATION: "14.0"}  # (sdk-b)
    apps = facts.b.of("app")
    for target in (*apps, *_ours(facts)):  # a target says the same in each configuration, and is noted once
        found, lowest = numbers(target.deployment), works_from[target.role]
        of_same = [numbers(app.deployment) for app in apps if app.configuration == target.configuration]
        if found and found < numbers(lowest):
            expected = f"{lowest} or later (sdk-b)"
            todo = "Raise the deployment target, or ask for the system's version before the code runs."
        elif target.role != "app" and found and of_same and min(of_same) and found[0] > min(of_same)[0] + 1:
            # one release more than the app's is usual (assumed)
            expected = "about the deployment target of the app"
            todo = "On older phones the app runs and is not listed in the wallet: lower the extension's target."
        else:
            continue
        file, line = _set_at(facts, target, "PHONEOS_DEPLOYMENT_TARGET")
        yield miss_at(file, line, f"{target.name}: {target.deployment}", expected=expected, todo=todo)


def _set_at(facts: Facts, target: BuildTarget, ending: str) -> tuple[str, int]:
    """The file and the line that say a build setting of a target, of which this is the name, or the end of it."""
    value = next((text for name, text in target.settings.items() if name.endswith(ending)), "")
    written = re.compile(rf'{ending}(\[[^]\n]*\])*\s*=\s*"?{re.escape(value)}')
    for file in (target.file, *facts.project.named("*.xcconfig")):
        if match := written.search(file.text):
            return file.name, file.text.count("\n", 0, match.start()) + 1
    return target.file.name, 1


def build_settings(facts: Facts) -> Iterator[Miss]:
    """What no phone with the SDK's system runs, and a Swift without the SDK's calls; each once."""
    unfit = (
        ("ARCHS", r"armv7", "arm64, which every phone with the SDK's system is (assumed)"),
        ("VALID_ARCHS", r"armv7", "arm64, which every phone with the SDK's system is (assumed)"),
        ("EXCLUDED_ARCHS", r"arm64(?!e)", "all but arm64, which every phone is (assumed)"),
        ("SWIFT_VERSION", r"\A[1-4](\.|\Z)", "5 or later: the SDK's calls are async (assumed)"),
    )
    for target in _embedding(facts):
        for setting, pattern, expected in unfit:
            value = expanded(target.settings, target.settings.get(setting, ""))
            if re.search(pattern, value):
                yield miss_at(*_set_at(facts, target, setting), f"{setting} {value}", expected=expected)


def one_version(facts: Facts) -> Iterator[Miss]:
    """One variant of the SDK in all files that pin it."""
    if len({numbers(package.version)[:1] for package in facts.b.packages if numbers(package.version)}) > 1:
        first = facts.b.packages[0]
        for package in facts.b.packages[1:]:
            if numbers(package.version)[:1] != numbers(first.version)[:1]:
                observed = f"{package.name} {package.version}, and {first.version} in {first.file.name}"
                yield miss_at(package.file.name, package.line, observed)


def _of_handlers(facts: Facts, name: str) -> Iterator[SourceFunction]:
    """The functions of handlers with this name."""
    return (function for handler in facts.b.handlers for function in handler.functions if function.name == name)


def network_in_status(facts: Facts) -> Iterator[Miss]:
    """A network call that `status()` makes, itself or through another function."""
    network = {"URLSession", "URLRequest", "NWConnection", "NSURLConnection", "NSURLSession", "AF", "Alamofire", "Moya",
               "MoyaProvider", "dataTask", "uploadTask", "downloadTask"}  # fmt: skip
    for status in _of_handlers(facts, "status"):
        for function in facts.b.swift.reach(status):
            found = next((name for name in names_in(function.node) if name in network), None)
            if found is not None:
                through = "" if function is status else f", through {function.name}()"
                yield miss_in(status, f"{found} in status(){through}")
                break


def entries_mixed_up(facts: Facts) -> Iterator[Miss]:
    """`passEntries` of the SDK, called in `remotePassEntries`."""
    for function in _of_handlers(facts, "remotePassEntries"):
        calls = {call.name: call for call in function.calls}
        if "passEntries" in calls and "remotePassEntries" not in calls:
            yield miss_in(calls["passEntries"], "passEntries")


def kept_service(facts: Facts) -> Iterator[Miss]:
    """A stored property of the handler that holds the SDK's service."""
    for handler in facts.b.handlers:
        bodies = [part for part in handler.node.named_children if part.type == "class_body"][:1]
        for node in (node for body in bodies for node in body.named_children):
            if node.type != "property_declaration" or any(part.type == "computed_property" for part in node.children):
                continue
            makes_one = any(part.type in {"function_type", "lambda_literal"} for part in walk(node))
            if "ExtensionProvisioningService" in names_in(node) and not makes_one:
                text = text_of(node).splitlines()[0].strip()
                yield miss_at(handler.source.file.name, line_of(node), f"{text:.80}")


def unavailable(facts: Facts) -> Iterator[Miss]:
    """What `status()` answers when there is no service."""
    for status in _of_handlers(facts, "status"):
        names = {name for function in facts.b.swift.reach(status) for name in names_in(function.node)}
        own = any(call.name.endswith("ExtensionStatus") and call.name[0].isupper() for call in status.calls)
        if "extensionStatus" in names and "entriesUnavailableExtensionStatus" not in names and not own:
            yield miss_in(status, "nothing like it")


def authentication(facts: Facts) -> Iterator[Miss]:
    """`requiresAuthentication: true` without the extension for it."""
    if facts.b.of(AUTHORIZATION) or not facts.b.of(ISSUER) or (facts.b.broken and facts.b.unread_lists):
        return
    for call in facts.b.swift.calls:
        if call.name == "extensionStatus" and any("true" in text_of(argument) for argument in call.arguments):
            yield miss_in(call, "requiresAuthentication: true, and no such target")


def always_cancels(facts: Facts) -> Iterator[Miss]:
    """An authorization UI whose completion handler is only called with `canceled`."""
    for kind in facts.b.swift.types:
        if any("IssuerProvisioning" in head and "Authorization" in head for head in kind.heads):
            names = set(names_in(kind.node))
            if {"canceled", "completionHandler"} <= names and "authorized" not in names:
                yield miss_in(kind, "only .canceled")


def _written(name: str, labels: list[str]) -> str:
    """A function as Swift names it: `name(label:label:)`."""
    return f"{name}({':'.join([*labels, ''])})"


def delegates(facts: Facts) -> Iterator[Miss]:
    """`provision` of both delegates, by the SDK's version: the order of the two arguments differs (sdk-b)."""
    later = facts.b.version >= LATER_B
    for of_extension, found in facts.b.delegates("provision"):
        wanted = ["paymentInstrumentId", "sdkOutput"] if of_extension else ["sdkOutput", "paymentInstrumentId"]
        if not later and not of_extension:
            wanted = ["sdkOutput"]
        if wanted not in [function.labels for function in found]:
            todo = f"Take these arguments: SDK {facts.b.written_version} calls no other function (sdk-b)."
            rule = "X-DEL-1" if of_extension else "B-DEL-2" if later else "B-DEL-1"
            observed = _written("provision", found[0].labels)
            yield miss_in(found[0], observed, expected=_written("provision", wanted), todo=todo, rule=rule)


def card_art(facts: Facts) -> Iterator[Miss]:
    """`cardArt` by brand in the earlier variant, by payment instrument id in the later one."""
    wanted = "paymentInstrumentId" if facts.b.version >= LATER_B else "forBrand"
    asks = f"SDK {facts.b.written_version} asks for cardArt by {wanted} (sdk-b)"
    for _of_extension, found in facts.b.delegates("cardArt"):
        if [wanted] not in [function.labels for function in found]:
            todo = f"{asks}; without that function the wallet has no picture."
            observed = _written("cardArt", found[0].labels)
            yield miss_in(found[0], observed, expected=_written("cardArt", [wanted]), todo=todo)


def can_add(facts: Facts) -> Iterator[Miss]:
    """The call that asks whether a card can be added, by the SDK's version; and whether a watch is looked for."""
    later = facts.b.version >= LATER_B
    asked, other = ("canAddCardDetails", "canAddCard") if later else ("canAddCard", "canAddCardDetails")
    for call in facts.b.swift.calls:
        if call.name == other and call.receiver and not facts.b.swift.declares(other):
            todo = f"SDK {facts.b.written_version} has {asked} (sdk-b): call that."
            yield miss_in(call, other, expected=asked, todo=todo, rule="B-CAN-2" if later else "B-CAN-1")
        elif call.name == "canAddCardDetails" and any(text_of(part).endswith("false") for part in call.arguments):
            expected = "isWatchActivated as WatchAvailability tells it"
            todo = "Await activate() of the one WatchAvailability, or the card is not offered for the watch."
            observed = "false, whatever watch there is"
            yield miss_in(call, observed, expected=expected, todo=todo, rule="B-WATCH-1", noted=True)


def second_watch(facts: Facts) -> Iterator[Miss]:
    """A second place that makes a WatchAvailability."""
    init = ("WatchAvailability", "init")
    made = [call for call in facts.b.swift.calls if call.name == init[0] or (call.receiver, call.name) == init]
    for call in made[1:]:
        yield miss_in(call, f"one more than that at {made[0].source.file.name}:{line_of(made[0].node)}")


# Platform A: build files, the private library, signing, Kotlin; and the API's address and key, for both platforms.


def library_version(facts: Facts) -> Iterator[Miss]:
    """The private library has the version that goes with the SDK."""
    wanted, is_known = facts.a.wanted_library, facts.a.library_is_known
    version = ".".join(map(str, facts.a.version))
    for entry in facts.a.library:
        if numbers(entry.version) and entry.version != wanted:
            expected = f"{wanted}, which goes with SDK {version} ({'sdk-a' if is_known else 'assumed'})"
            todo = f"Set the library to {wanted}, or leave it out: the SDK brings it."
            yield miss_at(entry.file.name, entry.line, entry.version, expected=expected, todo=todo, noted=not is_known)


def one_sdk_version(facts: Facts) -> Iterator[Miss]:
    """One version of the SDK in all modules, and one that has what the sources use."""
    latest = facts.a.version
    later = next((source for source in facts.a.kotlin.about if "OpcProvider" in source.identifiers), None)
    for entry in facts.a.sdk:
        if numbers(entry.version) not in {(), latest}:
            yield miss_at(entry.file.name, entry.line, entry.version, noted=True)
        elif later and () < latest < LATER_A:
            expected = f"0.4.0 or later: {later.file.name} has an OpcProvider"
            todo = "Raise the SDK's version, or leave OpcProvider to it."
            yield miss_at(entry.file.name, entry.line, entry.version, expected=expected, todo=todo)


def keep_rules(facts: Facts) -> Iterator[Miss]:
    """A build that R8 shrinks, and no rule that keeps the SDK's classes."""
    keep = re.compile(r"(?m)^\s*-keep(?!attributes)[^\n{]*?\b(?:class|interface)\s+([\w.*?$]*\w[\w.*?$]*)")
    kept = [rule for file in facts.project.named("*.pro", "*.pgcfg") for rule in keep.findall(file.text)]
    packages = _imported(facts)
    if packages and not any(fnmatchcase(f"{package}.CardProvisioning", rule) for package in packages for rule in kept):
        for file, line in _shrunk(facts):
            yield miss_at(file, line, "no such rule in the project")


def _imported(facts: Facts) -> set[str]:
    """The SDK's package, as Kotlin imports it."""
    imports = re.compile(r"(?m)^import\s+([\w.]+)\.(?:CardProvisioning|OpcProvider|(?<=provisioning\.)\*)")
    return {package for source in facts.a.kotlin.about for package in imports.findall(source.file.text)}


def _shrunk(facts: Facts) -> Iterator[tuple[str, int]]:
    """The places where the build of an app turns R8 on."""
    for module in facts.a.build.apps:
        for entry in module.root.below("isMinifyEnabled", "minifyEnabled"):
            if module.names.get(entry.value, entry.value) == "true":
                yield module.file.name, entry.line


def repositories(facts: Facts) -> Iterator[Miss]:
    """A repository that can hold the private library; judged only with an app: its build names them."""
    found = list(facts.a.build.repositories()) if facts.a.build.apps else []
    wanted = facts.a.sdk or facts.a.library
    if found and wanted and not any(_may_be_private(entry, module) for module, entry in found):
        module, first = found[0]
        yield miss_at(module.file.name, first.line, "public repositories only")


def _may_be_private(entry: Statement, module: Module) -> bool:
    """True if the repository may be private, or is unknown."""
    every = [entry, *entry.all_below()]
    if any(inner.name in {"mavenLocal", "flatDir"} for inner in every):
        return True
    if entry.name in {"mavenCentral", "gradlePluginPortal", "jcenter"}:
        return False
    if entry.name.islower() and entry.name not in {"maven", "ivy"} and len(entry.words) == 1:  # such as google()
        return False
    urls = [module.resolved(text) or text for inner in every for text in inner.strings if "://" in text]
    public = re.compile(
        r"(^|\.)(maven\.org|maven\.apache\.org|jitpack\.io|sonatype\.org|sonatype\.com|gradle\.org"
        r"|jcenter\.bintray\.com)\Z"
    )
    return not urls or not all(public.search(urlsplit(url).hostname or "") for url in urls)


def publishing(facts: Facts) -> Iterator[Miss]:
    """What would publish the private library."""
    library = re.compile(facts.library, re.IGNORECASE)
    bundles = re.compile(r"embed|fat|shade|shadow|bundle", re.IGNORECASE)
    for module in facts.a.build.modules:
        publications = [*module.root.below("publishing", "publications", "uploadArchives")]
        words = ("artifact", "from", "artifactId", "groupId")
        for part in (entry for block in publications for entry in block.below(*words)):
            if any(library.search(text) for text in (*part.strings, *part.words[1:])):
                yield miss_at(module.file.name, part.line, " ".join(part.strings) or part.words[-1])
        publishes = bool(publications) or module.has_plugin("maven-publish", "publish", "maven")
        for entry in facts.a.library:
            if entry.file is module.file and publishes and bundles.search(entry.configuration):
                observed = f"{entry.configuration} puts {entry.coordinate} into what the module publishes"
                todo = "Depend on the library instead of bundling it."
                yield miss_at(module.file.name, entry.line, observed, todo=todo)


def levels(facts: Facts) -> Iterator[Miss]:
    """The levels that the SDK needs from 0.4.0 on."""
    for module in facts.a.build.apps if facts.a.version >= LATER_A else ():
        for name, lowest in (("minSdk", 26), ("compileSdk", 35)):  # (sdk-a)
            file, line, found = facts.a.build.level(module, name) or (module.file, 0, lowest)
            if found < lowest:
                expected, todo = f"{name} {lowest} or later (sdk-a)", f"Raise {name}, or the build fails."
                yield miss_at(file.name, line, str(found), expected=expected, todo=todo)


def application_ids(facts: Facts) -> Iterator[Miss]:
    """The application ids of all variants: each needs its own allowlisting."""
    for module in facts.a.build.apps:
        ids: dict[str, list[str]] = {}
        for variant in module.variants():
            ids.setdefault(variant.application_id, []).append(variant.name)
        if len(ids) > 1:
            listed = [f"{one} ({', '.join(names)})" for one, names in ids.items()]
            more = [f"and {len(ids) - 6} more"] if len(ids) > 6 else []  # the request for allowlisting has them all
            observed = f"{len(ids)} application ids: {'; '.join([*listed[:6], *more])}"
            yield miss_at(module.file.name, module.file.line("applicationId"), observed)


def deprecated_calls(facts: Facts) -> Iterator[Miss]:
    """The calls that 0.4.0 deprecated."""
    for call in facts.a.kotlin.calls if facts.a.is_later else ():
        if call.name == "createSdkOutput":
            yield miss_in(call, "createSdkOutput()")
        elif call.name == "provision" and ("sdkInput" in call.labels or _is_old_order(call)):
            yield miss_in(call, "provision(sdkInput, …)")


def _is_old_order(call: SourceCall) -> bool:
    """Whether a call without labels has an address as its third and last argument: the new form has it second."""
    address = re.compile("address", re.IGNORECASE)
    texts = [text_of(argument) for argument in call.arguments]
    unlabelled = len(texts) == 3 and not any(call.labels)
    return unlabelled and address.search(texts[2]) is not None and address.search(texts[1]) is None


def swallowed(facts: Facts) -> Iterator[Miss]:
    """`fetchOpc` that makes a value out of an error."""
    every = [found for source in facts.a.kotlin.about for found in source.parts.functions.get("fetchOpc", ())]
    empty = re.compile(r'\bcatch\s*\([^)]*\)\s*\{[^{}]*""[\s;]*\}|\.getOr(Default|Else)\s*[({]\s*""')
    for fetch in every:
        for function in list(facts.a.kotlin.reach(fetch))[1:]:  # it may answer an error as it likes, except as OPC data
            if empty.search(text_of(function.node)):
                yield miss_in(function, f"fetchOpc calls {function.name}, which makes an empty text of an error")
    for function in every:
        content, file = function.source.file.content, function.source.file.name
        nodes = [*walk(function.node)]
        throws = [node.start_byte for node in nodes if content.startswith(b"throw ", node.start_byte)]

        def throws_nothing(node: Node, throws: list[int] = throws) -> bool:
            return bisect_left(throws, node.start_byte) == bisect_left(throws, node.end_byte)

        for node in nodes:
            if node.type == "catch_block" and throws_nothing(node):
                yield miss_at(file, line_of(node), "fetchOpc has a catch that throws nothing")
        for call in function.calls:
            swallows = call.name in {"getOrDefault", "getOrElse", "getOrNull", "orEmpty", "recover"}
            folds = call.name == "fold" and '""' in text_of(call.node)
            if (swallows or folds) and throws_nothing(call.node):
                yield miss_in(call, f"fetchOpc has {call.name}(…)")
        for node in nodes:
            parts = node.children
            if any(part.type == "?:" for part in parts) and "string_literal" in parts[-1].type:
                yield miss_at(file, line_of(node), f"fetchOpc has ?: {text_of(parts[-1]):.20}")


def in_repository(facts: Facts) -> Iterator[Miss]:
    """The private library in the local repository: it is there, and its version and checksums are right."""
    root, wanted = facts.repository or Path(), facts.a.wanted_library
    library = re.compile(facts.library, re.IGNORECASE)
    paths = (file.path for file in read_project([root]).named("*.aar", "*.jar"))
    found = [path for path in paths if library.search(path.parent.parent.name)]
    versions = sorted({path.parent.name for path in found})
    if not found:
        todo = "Ask the operator's implementation contact or the wallet provider for the library."
        yield Miss("the private library", f"nothing like it in {root}", todo)
    elif wanted and wanted not in versions:
        todo, is_known = f"Put {wanted} into the repository.", facts.a.library_is_known
        expected = f"version {wanted} ({'sdk-a' if is_known else 'assumed'})"
        yield Miss(expected, ", ".join(versions), todo, rule="A-DEP-1", noted=not is_known)
    for path in found:
        name = str(path.relative_to(root))
        for ending in ("sha1", "sha256", "sha512", "md5"):
            listed = path.with_name(f"{path.name}.{ending}")
            if listed.is_file():
                said = read_regular(listed, 1024).decode("ascii", "replace").split()
                if said[:1] != [new_hash(ending, read_regular(path, 64 * 1_048_576)).hexdigest()]:
                    expected = f"the {ending} that {listed.name} says"
                    yield miss_at(name, 1, "another", expected=expected, todo="Copy the library again.")
        if not path.with_suffix(".pom").is_file():
            todo = "Copy the whole folder of this version."
            yield miss_at(name, 1, "none", expected="a .pom in the library's folder", todo=todo, noted=True)


def sent_pairs(facts: Facts) -> Iterator[Miss]:
    """What is built and signed was sent for allowlisting."""
    sent = facts.sent or frozenset()
    ids, prints = {identity for identity, _print in sent}, {fingerprint for _identity, fingerprint in sent}
    variants = [(module, variant) for module in facts.a.build.apps for variant in module.variants()]
    for module, variant in variants:
        if variant.application_id not in ids:
            observed = f"{variant.application_id} was not sent"
            expected = "every application id allowlisted"
            todo = f"Send it for {variant.name}, or it gets 15009 (wallet)."
            line = module.file.line("applicationId")
            yield miss_at(module.file.name, line, observed, expected=expected, todo=todo)
    built = [(variant.name, variant.application_id) for _module, variant in variants]
    for row in allowlist_request(built, facts.certificates):
        pair = row["applicationId"], row["sha256"]
        if pair not in sent and pair[0] in ids and pair[1] in prints:
            expected = "every pair of application id and fingerprint allowlisted"
            todo = f"Send the pair for {row['variant']}, or it gets 15009 (wallet)."
            yield Miss(expected, f"{pair[0]} was not sent with {pair[1]}", todo)
    for certificate in facts.certificates:
        if certificate.fingerprint not in prints:
            expected, observed = "every fingerprint allowlisted", f"{certificate.fingerprint} was not sent"
            todo = "Send it: workbook preflight allowlist-request."
            yield miss_at(certificate.source, certificate.line, observed, expected=expected, todo=todo)


def debug_certificates(facts: Facts) -> Iterator[Miss]:
    """Default debug certificates: each machine has its own."""
    for certificate in facts.certificates:
        if certificate.debug:
            of = f" of {certificate.variant}" if certificate.variant else ""
            yield miss_at(certificate.source, certificate.line, f"the default debug certificate{of}")


def base_urls(facts: Facts) -> Iterator[Miss]:
    """The API's address in the back end's environment."""
    for name, value, line in facts.addresses:
        parts = urlsplit(value)
        is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        if not parts.hostname or (parts.scheme != "https" and not is_local):
            yield miss_at(facts.environment_file, line, f"{name} holds no https address")
        elif re.search(r"/bcl/v\d", value):
            yield miss_at(facts.environment_file, line, f"{name} ends in the path")


def keys(facts: Facts) -> Iterator[Miss]:
    """The API's key: it is there, it is no placeholder, and it is of the same environment as the address."""
    of_test = re.compile(r"test|sandbox|stag|\buat\b|demo", re.IGNORECASE)
    addresses = [value for _name, value, _line in facts.addresses]
    environment = "test" if any(map(of_test.search, addresses)) else "live"
    for name, value, line in facts.keys:
        if not value or re.search(r"^<.*>$|change.?me|your.?key|todo|xxx|example", value, re.IGNORECASE):
            yield miss_at(facts.environment_file, line, f"{name} holds a placeholder", harms=True)
        is_live = re.search(r"live|prod", name + value, re.IGNORECASE) is not None
        kind = "live" if is_live else "test" if of_test.search(name + value) else environment
        if addresses and kind != environment:
            observed = f"{name} looks like a {kind} key, and the address is of the {environment} environment"
            expected, todo = "a key of the address's environment", "Use it; another key gets a 401 (assumed)."
            yield miss_at(facts.environment_file, line, observed, expected=expected, todo=todo, noted=True)


def back_end_limits(facts: Facts) -> Iterator[Miss]:
    """The back end's time limits, below the wallet's 20 seconds."""
    for name, value, line in facts.limits:
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds)?", value, re.IGNORECASE):
            number, unit = float(match[1]), (match[2] or "").lower()
            in_ms = unit == "ms" or (not unit and (name.upper().endswith("_MS") or number >= 1000))
            if (seconds := number / (1000 if in_ms else 1)) >= 20:
                yield miss_at(facts.environment_file, line, f"{name} is {seconds:g} s")


def roles(facts: Facts) -> Iterator[Miss]:
    """What no file can say about the credential."""
    yield miss_at(facts.environment_file, 1, "no file says which roles the credential has")


# Why a case may have had nothing to judge: an empty text where what it judges was read.


def _in_kotlin(name: str = "") -> Unseen:
    """Sources of platform A were read, and one about provisioning has this name."""
    return lambda facts: _in_sources("Kotlin", facts.a.kotlin, "Java", facts.a.java, name)


def _in_swift(name: str = "") -> Unseen:
    """Sources of platform B were read, and one about provisioning has this name."""
    return lambda facts: _in_sources("Swift", facts.b.swift, "Objective-C", facts.b.objc, name)


def _in_sources(language: str, read: Sources, other: str, not_read: tuple[File, ...], name: str) -> str:
    again = "name the folder that has it."
    if not_read:
        return (f"{not_read[0].name} is about provisioning, and {other} is not read: look there yourself, or play an "
                "app of platform A with `workbook conform app`.")  # fmt: skip
    if read.unclear or not read.about:
        return read.unclear or f"No {language} source that was read names a class of the SDK: {again}"
    is_there = not name or any(name in source.identifiers for source in read.about)
    return "" if is_there else f"No {language} source about provisioning has {name}: {again}"


def _keep_rules(facts: Facts) -> str:
    unknown = (
        "R8 shrinks the build, and no Kotlin source that was read imports the SDK by its package: name its folder."
    )
    return unknown if any(_shrunk(facts)) and not _imported(facts) else ""


def _fetch_opc(facts: Facts) -> str:
    return "" if facts.a.is_later is False else _in_kotlin("fetchOpc")(facts)


def _button(facts: Facts) -> str:
    if any(is_bridge(call.source) for call in open_calls(facts)):
        return ("The button is in another language than Kotlin, which is only searched as text: see that a tap "
                "disables it until provision is over.")  # fmt: skip
    none = "No Kotlin source that was read calls provision of platform A's SDK."
    return _in_kotlin()(facts) or none * (not any(sdk_calls(facts.a.kotlin)))


def _handler(facts: Facts) -> str:
    """The extension's handler was read, if there is an extension."""
    if not facts.b.handlers and not facts.b.of(ISSUER):
        return ""
    none = "No Swift source that was read has a handler of the issuer-provisioning extension."
    return _in_swift()(facts) or none * (not facts.b.handlers)


def _plists(facts: Facts) -> str:
    """The property list of each extension was found."""
    return facts.b.unread_lists


def _settings(wanted: Callable[[BuildTarget], object], what: str) -> Unseen:
    """This is known of the app and of each extension."""

    def why(facts: Facts) -> str:
        targets = _embedding(facts)
        unknown = [target.label for target in targets if not wanted(target)]
        if facts.b.generating or not targets:
            return facts.b.generating or "No target of an app was read: name the folder with the project file."
        return f"The {what} of {unknown[0]} is in no file that was read: name the folder with it." if unknown else ""

    return why


def _levels(facts: Facts) -> str:
    """Both levels of each app are known."""
    for module in facts.a.build.apps if facts.a.version >= LATER_A else ():
        for name in ("minSdk", "compileSdk"):
            if facts.a.build.level(module, name) is None:
                return f"The {name} of {module.file.name} is set outside of the files that were read: write it there."
    return "" if facts.a.build.apps else "No build script of an app was read: name the folder that has it."


def _app_files(facts: Facts) -> str:
    unread = [file for file in facts.app_files if file.no_text]
    if unread or facts.app_files:
        return f"{unread[0].name} is no text, so it was not searched." if unread else ""
    return "No source and no resource of an app was found: name the folder that has them."


A, B, X, H, E = Part.PLATFORM_A, Part.PLATFORM_B, Part.EXTENSION, Part.HANDLER, Part.ENVIRONMENT
PREFLIGHT_CASES: Mapping[str, PreflightCase] = {case.name: case for case in (
    preflight_case("form", "plist.readable", "Every property list and project file of a target can be read.",
                   "X-PLIST-2", lambda facts: unread(facts.b.broken), B, unseen=_plists),
    preflight_case("form", "plist.identifier", "The extension points are spelt as the platform spells them.",
                   "X-PLIST-1", identifiers, X, harms=True, unseen=_plists,
                   expected="com.<platform>.<kit>.issuer-provisioning, or the same with .authorization"),
    preflight_case("form", "plist.nesting", "The identifier is in NSExtension, under NSExtensionPointIdentifier.",
                   "X-PLIST-2", nesting, X, expected=f"NSExtension.{POINT}", harms=True, unseen=_plists),
    preflight_case("form", "plist.principal-class", "Each extension names its own class, and the module.",
                   "X-PLIST-3", principal_classes, X, harms=True, unseen=_plists),
    preflight_case("form", "plist.bundle-id", "The bundle id of each extension begins with the app's.", "GAP-8",
                   bundle_ids, X, harms=True, unseen=_settings(lambda target: target.bundle_id, "bundle id")),
    preflight_case("form", "plist.both-extensions", "There are both extensions.", "X-PLIST-1", both_extensions, X,
                   todo="Add the target: the wallet needs both extensions.", harms=True, unseen=_plists),
    preflight_case("form", "entitlement.provisioning", "App and extensions have the provisioning entitlement.",
                   "GAP-8", entitlements, B, expected="the entitlement …payment-pass-provisioning", harms=True,
                   unseen=_settings(lambda target: target.entitlements is not None, "entitlements file")),
    preflight_case("form", "entitlement.app-group", "App and extension share an app group.", "X-CACHE-1",
                   app_groups, X, unseen=_plists, todo="Put app and extension into one app group, or one keychain "
                   "access group: the extension reads what the app saved."),
    preflight_case("form", "build.deployment-target", "The deployment targets suit the SDK.", "GAP-8",
                   deployment, B, noted=True, unseen=_settings(lambda target: target.deployment,
                                                               "deployment target")),
    preflight_case("form", "build.settings", "Architectures and Swift's version suit the SDK.", "APP-8", build_settings,
                   B, todo="Take this setting out, or set what is expected.",
                   unseen=_settings(lambda target: target.configuration, "build settings")),
    preflight_case("form", "build.package-version", "Every file pins one version of the SDK.", "GAP-7",
                   one_version, B, Part.SDK_B_VERSION, expected="one version of the SDK's package",
                   todo="Pin one version everywhere.", noted=True),
    preflight_case("budget", "swift.status-network", "status() makes no network call.", "X-STATUS-3",
                   network_in_status, H, unseen=_handler, expected="no network call in status()",
                   todo="Use what the app saved: status() has 100 ms. passEntries() may call the back end."),
    preflight_case("fidelity", "swift.remote-entries", "remotePassEntries() asks for the watch's entries.",
                   "X-ENTRIES-2", entries_mixed_up, H, unseen=_handler, expected="remotePassEntries(withDelegate:)",
                   todo="Call remotePassEntries; passEntries offers the watch the phone's cards."),
    preflight_case("concurrency", "swift.kept-service", "The handler keeps no service.", "X-HANDLER-1",
                   kept_service, H, unseen=_handler, expected="no service in a property of the handler",
                   todo="Make the service in each call: the wallet makes a new handler for each of them."),
    preflight_case("faults", "swift.entries-unavailable", "status() reports a missing service.",
                   "X-STATUS-2", unavailable, H, unseen=_handler,
                   expected="entriesUnavailableExtensionStatus, where the service cannot be initialised",
                   todo="Return ExtensionProvisioningService.entriesUnavailableExtensionStatus from that branch."),
    preflight_case("form", "swift.authentication-ui", "An extension that requires authentication has a UI for it.",
                   "X-STATUS-1", authentication, X, unseen=_in_swift(), expected="an authorization UI extension",
                   todo="Add the authorization UI extension, or return false."),
    preflight_case("fidelity", "swift.authorization", "The authorization UI can report success.", "X-AUTH-1",
                   always_cancels, X, unseen=_in_swift("canceled"),
                   expected="completionHandler(.authorized) on at least one path",
                   todo="Report .authorized when the cardholder has authenticated."),
    preflight_case("fidelity", "swift.delegate", "The delegates' provision is that of the SDK's version.",
                   "B-DEL-2", delegates, B, Part.DELEGATE, Part.SDK_B_VERSION, unseen=_in_swift()),
    preflight_case("fidelity", "swift.card-art", "cardArt is that of the SDK's version.", "X-ART-1", card_art, B,
                   Part.CARD_ART, Part.SDK_B_VERSION, unseen=_in_swift()),
    preflight_case("fidelity", "swift.can-add", "The app asks with the call that the SDK's version has.", "B-CAN-2",
                   can_add, B, Part.SDK_B_VERSION, unseen=_in_swift()),
    preflight_case("concurrency", "swift.one-watch", "One WatchAvailability is made.", "B-WATCH-2",
                   second_watch, B, expected="one WatchAvailability", unseen=_in_swift(),
                   todo="Share one instance: a second one takes over the phone's watch session (sdk-b)."),
    preflight_case("form", "text.readable", "Every build file, version catalog and source can be read.", "GAP-8",
                   lambda facts: unread(facts.unread)),
    preflight_case("fidelity", "gradle.sdk-version", "All modules use one version of the SDK, and one that has what "
                   "the sources use.", "A-MIG-1", one_sdk_version, A, Part.SDK_A_VERSION,
                   expected="one version of the SDK", todo="Use the latest version in all modules."),
    preflight_case("form", "gradle.keep-rules", "A build that R8 shrinks keeps the SDK's classes.", "APP-8",
                   keep_rules, A, noted=True, unseen=_keep_rules,
                   expected="a -keep rule for the SDK's package (assumed)",
                   todo="Add one, unless the SDK's archive brings its own, and try the release build on a phone."),
    preflight_case("fidelity", "gradle.library-version", "The private library has the version that goes with the "
                   "SDK.", "A-DEP-1", library_version, Part.LIBRARY, Part.LIBRARY_VERSION, Part.SDK_A_VERSION,
                   harms=True),
    preflight_case("form", "gradle.repository", "A local or internal repository can hold the private library.",
                   "A-DEP-2", repositories, A, expected="mavenLocal() or an internal repository", harms=True,
                   todo="Get the private library from the operator's contact or the wallet provider, and add the "
                   "repository that holds it."),
    preflight_case("secrecy", "gradle.publishing", "Nothing publishes the private library.", "A-DEP-3", publishing,
                   A, expected="a publication without the private library", harms=True,
                   todo="Take the library out of what is published: it is not public."),
    preflight_case("form", "gradle.levels", "minSdk and compileSdk are as high as the SDK needs.", "GAP-8", levels,
                   A, Part.SDK_A_VERSION, noted=True, unseen=_levels),
    preflight_case("fidelity", "kotlin.deprecated", "The app makes no call that 0.4.0 deprecated.", "A-MIG-1",
                   deprecated_calls, A, unseen=_in_kotlin(),
                   expected="provision(cardDisplayName, cardAddress, opcProvider)",
                   todo="Remove createSdkOutput(), implement OpcProvider, and call the new provision."),
    preflight_case("concurrency", "kotlin.button", "The page keeps a second tap away.", "A-BTN-1", second_tap, A,
                   unseen=_button,
                   expected="the button disabled from the tap until the attempt is over",
                   todo="Disable the button in the tap itself, before anything suspends; enable it in finally."),
    preflight_case("faults", "kotlin.fetch-opc", "fetchOpc swallows no error.", "A-OPC-1", swallowed, A,
                   unseen=_fetch_opc,
                   expected="fetchOpc throws when the back end fails",
                   todo="Throw: the SDK makes OpcFetchError of it. Any text that is returned goes to the wallet as OPC "
                   "data."),
    preflight_case("secrecy", "app.api-address", "The app does not know the API.", "API-13", api_address,
                   unseen=_app_files,
                   expected="no trace of the API in the app",
                   todo="Call your own back end: only it calls the API."),
    preflight_case("secrecy", "app.api-key", "The app has no API key.", "REL-2", api_key,
                   unseen=_app_files, expected="no trace of the API in the app"),
    preflight_case("secrecy", "app.cleartext", "The app calls its back end by https alone.", "APP-5", cleartext,
                   unseen=_app_files, expected="https alone (assumed)"),
    preflight_case("form", "gradle.application-ids", "Each application id is known, with its variants.",
                   "A-ALLOW-2", application_ids, A, Part.APP_IDS, expected="each id allowlisted on its own (sdk-a)",
                   todo="Send them all: workbook preflight allowlist-request.", noted=True),
    preflight_case("form", "library.in-repository", "The private library is in the local repository, whole and in "
                   "the right version.", "A-DEP-2", in_repository, Part.REPOSITORY, harms=True),
    preflight_case("form", "signing.sent", "What is built and signed is what was sent for allowlisting.",
                   "A-ALLOW-1", sent_pairs, Part.SENT, harms=True, owner=Owner.OPERATOR),
    preflight_case("form", "signing.debug", "The default debug certificate is known as such.", "A-ALLOW-4",
                   debug_certificates, Part.CERTIFICATES, expected="a certificate of your own",
                   todo="Each machine has its own: allowlist each, or share one debug keystore.", noted=True),
    preflight_case("form", "environment.base-url", "The API's address is an https address without the path.",
                   "API-1", base_urls, E, Part.ADDRESS, expected="an https address without /bcl/v2", harms=True,
                   todo="Set the scheme and the host alone: the path is the same for everybody."),
    preflight_case("form", "environment.key", "The API's key is there, and belongs to the address's environment.",
                   "API-4", keys, E, Part.KEY, expected="a key", todo="Set the key of your credential."),
    preflight_case("form", "environment.role", "The credential has the role.", "API-15",
                   roles, E, expected="the role 'Bank Issuing PaymentInstrument Network Token Activation Data'",
                   todo="Ask the operator's contact, or try one GET: 403 if missing (assumed).", noted=True,
                   owner=Owner.OPERATOR),
    preflight_case("budget", "environment.time-limit", "The back end gives up before the wallet does.", "REL-5",
                   back_end_limits, E, Part.LIMIT, expected="less than 20 s, platform B's limit (platform A: assumed)",
                   todo="Set it to a few seconds."),
)}  # fmt: skip
