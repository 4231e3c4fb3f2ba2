"""The cases of platform B: property lists, entitlements, build settings, package versions, Swift."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from workbook.flows.messages import LIMITS
from workbook.tools.harness.model import Miss
from workbook.tools.preflight.gradle import numbers
from workbook.tools.preflight.model import (
    EXTENSION,
    PLATFORM_B,
    Facts,
    Reason,
    case,
    miss_at,
    miss_in,
    misses_unread,
    unless,
    why_unread,
)
from workbook.tools.preflight.project import SourceFunction, line_of, names_in, text_of, walk
from workbook.tools.preflight.targets import AUTHORIZATION, CLASSES, GROUPS, ISSUER, BuildTarget, is_inside

POINT, CLASS = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"
# How a source names what app and extension share.
NAMED_GROUPS = {
    "an app group": rb'"(group\.[\w-]+\.[\w.-]+)"',
    "a keychain group": rb'[aA]ccessGroup\b[^"\n]{0,40}"([\w.-]+)"',
}
# From this version on platform B's SDK has the later variant's operations (sdk-b).
LATER_B = (2,)
WATCH_ACTIVATED = (2, 0, 2)  # before, the argument was isWatchPaired (sdk-b)


def _no_list(facts: Facts) -> str:
    return facts.b.targets.unread_lists


def _no_swift(name: str = "") -> Reason:
    return lambda facts: why_unread(facts, "Swift", facts.b.swift, facts.b.others, name)


def _no_handler(facts: Facts) -> str:
    if (reason := _no_swift()(facts)) or facts.b.handlers:
        return reason
    return "No Swift source that was read has a handler of the issuer-provisioning extension."


def _no_setting(what: str, is_known: Callable[[BuildTarget], object]) -> Reason:
    """This is unknown of the app, or of an extension."""

    def why(facts: Facts) -> str:
        targets = facts.b.targets
        if targets.generating or not targets.embedding:
            return targets.generating or "No target of an app was read: name the folder with the project file."
        unknown = next((target for target in targets.embedding if not is_known(target)), None)
        if unknown is None:
            return ""
        return f"{unknown.file.name} says no {what} of {unknown.label}, or computes it: see what sets it."

    return why


HANDLER = unless(
    lambda facts: facts.b.handlers or facts.b.targets.of(ISSUER),
    "No Swift source has a handler of the wallet's extension.",
)
DELEGATE = unless(
    lambda facts: any(facts.b.delegates("provision")) or _no_swift()(facts),
    "No Swift source has a delegate of the SDK.",
)
CARD_ART = unless(
    lambda facts: any(facts.b.delegates("cardArt")) or _no_swift()(facts),
    "No Swift source has a delegate with cardArt.",
)
SDK_B = unless(
    lambda facts: facts.b.version,
    "The version of platform B's SDK is in no lock file, manifest and project file: name the package with --sdk.",
)
SIGNED = unless(lambda facts: facts.signed, "No profile and no archive of platform B is named: --signing FILE.")


# Where a miss is.


def _list_place(target: BuildTarget, text: str) -> tuple[str, int]:
    """A target's property list, and the first line with this text."""
    file = target.plist_file or target.file
    return file.name, file.line(text, f"  {target.name}:")  # XcodeGen has all targets in one file


def _setting_place(facts: Facts, target: BuildTarget, ending: str) -> tuple[str, int]:
    """The file and the line that say a build setting of a target, of which this is the name, or the end of it."""
    value = next((text for name, text in reversed(target.settings.items()) if name.endswith(ending)), "")
    written = re.compile(rf'{ending}(\[[^][\n]*\])*\s*[=:]\s*["\']?{re.escape(value)}')
    for file in (target.file, *facts.project.named("*.xcconfig")):
        if match := written.search(file.text):
            return file.name, file.text.count("\n", 0, match.start()) + 1
    return _list_place(target, (value or target.bundle_id).rpartition(".")[2])


def _apps_of(target: BuildTarget, apps: list[BuildTarget]) -> list[BuildTarget]:
    """The apps of a target's configuration; all of them where it has a configuration of its own."""
    return [app for app in apps if app.configuration == target.configuration] or apps


# Property lists.


@case("plist.readable", "form", "X-PLIST-2", PLATFORM_B, unread=[_no_list])
def check_readable(facts: Facts) -> Iterator[Miss]:
    """Every property list and project file of a target can be read."""
    yield from misses_unread(facts.b.targets.broken)


@case("plist.identifier", "form", "X-PLIST-1", EXTENSION, unread=[_no_list])
def check_identifiers(facts: Facts) -> Iterator[Miss]:
    """The extension points are spelt as the platform spells them."""
    right = re.compile(r"com\.[a-z][a-z0-9-]*\.[A-Za-z][A-Za-z0-9]*\.issuer-provisioning(\.authorization)?")
    for target in facts.b.targets.extensions:
        if not target.points and target.plist is not None:
            expected = f"{POINT} com.<platform>.<kit>.{target.role}"
            observed = f"{target.extension.get(POINT, 'nothing')!s:.80}"
            todo = f"Set {POINT} of {target.name}; its principal class says that it is one."
            yield miss_at(*_list_place(target, POINT), expected, observed, todo, harms=True)
        for _place, text in target.points:
            if not right.fullmatch(text):
                expected = "com.<platform>.<kit>.issuer-provisioning, or the same with .authorization"
                todo = f"Correct the identifier of {target.name}, letter by letter."
                yield miss_at(*_list_place(target, text), expected, f"{text:.80}", todo, harms=True)


@case("plist.nesting", "form", "X-PLIST-2", EXTENSION, unread=[_no_list])
def check_nesting(facts: Facts) -> Iterator[Miss]:
    """The identifier is in NSExtension, under NSExtensionPointIdentifier."""
    expected = f"NSExtension.{POINT}"
    for target in facts.b.targets.extensions:
        places = [place for place, _text in target.points]
        if places and expected not in places:
            todo = f"Put the identifier of {target.name} into the dictionary NSExtension, under {POINT}."
            place = _list_place(target, places[0].rpartition(".")[2])
            yield miss_at(*place, expected, places[0], todo, harms=True)


@case("plist.principal-class", "form", "X-PLIST-3", EXTENSION, unread=[_no_list])
def check_principal_classes(facts: Facts) -> Iterator[Miss]:
    """Each extension names its own class, and the module.

    The class is the document's, or one that a source declares.
    """
    for target in facts.b.targets.extensions:
        if target.plist is not None and target.points:
            yield from _check_principal_class(facts, target)


def _check_principal_class(facts: Facts, target: BuildTarget) -> Iterator[Miss]:
    usual = CLASSES[target.role]
    expected = f"$(PRODUCT_MODULE_NAME).{usual}"
    written = target.extension.get(CLASS)
    if not isinstance(written, str) or not written:
        by_storyboard = target.role == AUTHORIZATION and bool(target.extension.get("NSExtensionMainStoryboard"))
        more = " A storyboard that makes the class may stand for it (assumed)." if by_storyboard else ""
        todo, place = f"Set {CLASS} of {target.name}.{more}", _list_place(target, "NSExtension")
        yield miss_at(*place, expected, "no principal class", todo, harms=True, noted=by_storyboard)
        return
    module, _dot, name = written.rpartition(".")
    of_role = re.compile("IssuerProvisioning.*" + ("Handler" if target.role == ISSUER else "Authorization"))
    declared = [kind for kind in facts.b.swift.types if any(map(of_role.search, kind.heads))]
    if not module and not _declares(facts, name, plain=True):
        todo = "Write the module in front of the class: the wallet loads it by its full name (inferred)."
    elif name in CLASSES.values() and name != usual:
        todo = f"The two are mixed up: {target.name} has the class of one and the identifier of the other."
    elif module != target.name and module in {other.name for other in facts.b.targets.all}:
        todo = f"Name the module of {target.name}: the class is not looked for in {module}."
    elif (declared or name != usual) and not _declares(facts, name):
        todo = f"Name the class that {target.name} has: no source that was read declares {name:.80}."
        if declared:
            expected = f"$(PRODUCT_MODULE_NAME).{declared[0].name}, which {declared[0].source.file.name} has"
    else:
        return
    yield miss_at(*_list_place(target, CLASS), expected, written, todo, harms=True)


def _declares(facts: Facts, name: str, *, plain: bool = False) -> bool:
    """Whether a source has a class of this name.

    Args:
        facts: with the sources.
        name: of the class.
        plain: without a module, as in Objective-C, by Swift's `@objc(...)`, or by C#'s `[Register("...")]`.
    """
    kinds = r"@objc\(|@implementation\s+|\[\s*Register\s*\(\s*(?:nameof\s*\(\s*|\")" + (
        "" if plain else r"|class\s+|typealias\s+"
    )
    declared = re.compile(rf"({kinds}){re.escape(name)}\b")
    return any(declared.search(file.text) for file in facts.project.named("*.swift", "*.m", "*.mm", "*.cs"))


@case("plist.bundle-id", "form", "GAP-8", EXTENSION, unread=[_no_setting("bundle id", lambda target: target.bundle_id)])
def check_bundle_ids(facts: Facts) -> Iterator[Miss]:
    """The bundle id of each extension begins with the app's."""
    for target in facts.b.targets.extensions:
        apps = _apps_of(target, facts.b.targets.of("app"))
        ids = sorted({app.bundle_id for app in apps})
        if target.bundle_id and ids and all(ids) and not any(is_inside(target, app) for app in apps):
            expected = f"{ids[0]}.NAME, below the app's: the phone installs it only then (assumed)"
            todo = f"Let the id of {target.name} begin with the app's and a dot."
            place = _setting_place(facts, target, "PRODUCT_BUNDLE_IDENTIFIER")
            yield miss_at(*place, expected, target.bundle_id, todo, harms=True)


@case("plist.both-extensions", "form", "X-PLIST-1", EXTENSION, unread=[_no_list])
def check_both_extensions(facts: Facts) -> Iterator[Miss]:
    """There are both extensions."""
    targets = facts.b.targets
    for role in (ISSUER, AUTHORIZATION) if targets.extensions else ():
        if not targets.of(role) and not targets.has_lost_list:
            todo, place = "Add the target: the wallet needs both extensions.", _list_place(targets.extensions[0], "")
            yield miss_at(*place, f"an extension com.<platform>.<kit>.{role}", "none", todo, harms=True)


# Entitlements and deployment targets.

_no_entitlements = _no_setting("entitlements", lambda target: target.entitlements is not None)


@case("entitlement.provisioning", "form", "GAP-8", PLATFORM_B, unread=[_no_entitlements])
def check_entitlements(facts: Facts) -> Iterator[Miss]:
    """App and extensions have the provisioning entitlement."""
    for target in facts.b.targets.embedding:
        if target.entitlements is not None and not target.may_provision:
            file = target.entitlements_file or target.plist_file or target.file
            expected, observed = "the entitlement …payment-pass-provisioning", "the entitlement is missing (sdk-b)"
            of_expo = f"ios.entitlements of {file.name}" if file.path.stem in {"app", "app.config"} else ""
            todo = f"Add it to {of_expo or f'the entitlements of {target.name}'}, and to its provisioning profile."
            yield miss_at(file.name, file.line("entitlements"), expected, observed, todo, harms=True)


def _no_profile(facts: Facts) -> str:
    """The first target of the project, or of an archive, whose profile was not read."""
    ids = [target.bundle_id for target in facts.signed if target.entitlements is not None]
    names = {target.name: target.bundle_id for target in facts.b.targets.embedding}
    for target in facts.b.targets.embedding:
        if any(fnmatchcase(target.bundle_id, identity) for identity in ids):
            names.pop(target.name, None)
    for name, bundle_id in names.items():
        return f"No profile of {name} ({bundle_id or 'its id is unknown'}) is named: add it with --signing."
    bare = next((target.file.name for target in facts.signed if target.role and target.entitlements is None), "")
    print_it = "or print what its signature has: codesign -d --entitlements - PATH"
    return f"{bare} has no profile: name an archive for the store or for testers, {print_it}." if bare else ""


@case("signing.profiles", "form", "GAP-8", SIGNED, unread=[_no_profile])
def check_profiles(facts: Facts) -> Iterator[Miss]:
    """The profiles of app and extensions have the provisioning entitlement."""
    needed = {target.bundle_id for target in facts.b.targets.embedding}
    others = {target.bundle_id for target in facts.b.targets.all} - needed
    for target in facts.signed:
        rights = target.entitlements
        if rights is None or target.bundle_id in others or (target.plist and not target.role):
            continue
        name = target.bundle_id or target.name
        if not target.may_provision:
            expected, observed = (
                "the entitlement …payment-pass-provisioning in the profile",
                f"{name} without it (sdk-b)",
            )
            todo = "Make the profile anew with it, and sign again: a profile that was renewed may have lost it (seen)."
            yield miss_at(target.file.name, 1, expected, observed, todo, harms=True)
        elif rights.get("get-task-allow") is True:
            todo = "Sign with a profile for the store: a development build shows no view (inferred)."
            expected, observed = "a profile for the store or for testers", f"a development profile of {name}"
            yield miss_at(target.file.name, 1, expected, observed, todo, noted=True)


def _is_group_known(target: BuildTarget) -> bool:
    return target.entitlements is not None and not any("$" in name for kind in GROUPS for name in target.shared[kind])


@case("entitlement.app-group", "form", "X-CACHE-1", EXTENSION, unread=[_no_setting("groups", _is_group_known)])
def check_app_groups(facts: Facts) -> Iterator[Miss]:
    """App and extension share an app group."""
    targets = facts.b.targets
    apps = [target for target in targets.embedding if target.role == "app" and _is_group_known(target)]
    groups = "one app group, or one keychain access group"
    todo = f"Put app and extension into {groups}: the extension reads what the app saved (sdk-b)."
    for target in filter(_is_group_known, targets.of(ISSUER) if apps else ()):
        same = _apps_of(target, apps)
        app = next((app for app in same if is_inside(target, app)), same[0])
        file = target.entitlements_file or target.file
        for kind, noted in _unshared(facts, target, app):
            expected = f"{kind} of {app.name}: {', '.join(sorted(app.shared[kind])) or 'it is in none'}"
            observed = ", ".join(sorted(target.shared[kind])) or f"{target.label} is in none"
            yield miss_at(file.name, file.line(observed), expected, observed, todo, noted=noted)
    for kind in GROUPS if targets.extensions and all(map(_is_group_known, targets.all)) else ():
        known = {group for target in targets.all for group in target.shared[kind]}
        for name, line, named in _groups_in_code(facts, kind) if known else ():
            if not named.endswith(tuple(known)):
                expected = f"{kind} of the entitlements: {', '.join(sorted(known))}"
                yield miss_at(name, line, expected, named, todo)


def _unshared(facts: Facts, target: BuildTarget, app: BuildTarget) -> Iterator[tuple[str, bool]]:
    """The kinds of groups that should be shared and are not, and whether that is only noted.

    Of two groups that differ, although one of the other kind is shared, only one that the code names is wrong.
    """
    if not any(target.shared[kind] & app.shared[kind] for kind in GROUPS):
        yield "an app group", False
        return
    for kind in GROUPS:
        inner, outer = target.shared[kind], app.shared[kind]
        if inner and outer and not inner & outer:
            yield kind, not any(_groups_in_code(facts, kind))


def _groups_in_code(facts: Facts, kind: str) -> Iterator[tuple[str, int, str]]:
    """Each place where a source of platform B names a group, and the group; of a keychain, the team is in front."""
    for file in facts.app_files:
        if file.name.endswith((".swift", ".m", ".mm")) and file.mentions(b"suitename", b"appgroup", b"accessgroup"):
            for line, match in file.matches(NAMED_GROUPS[kind], 0):
                yield file.name, line, match[1].decode()


_no_deployment = _no_setting("deployment target", lambda target: target.deployment)


@case("build.deployment-target", "form", "APP-8", PLATFORM_B, unread=[_no_deployment])
def check_deployment(facts: Facts) -> Iterator[Miss]:
    """The deployment targets suit the SDK."""
    apps = facts.b.targets.of("app")
    for target in (*apps, *facts.b.targets.extensions):
        version = numbers(target.deployment)
        lowest = "13.4" if target.role == "app" else "14.0"  # (sdk-b)
        of_apps = [numbers(app.deployment) for app in apps if app.configuration == target.configuration]
        if version and version < numbers(lowest):
            expected = f"{lowest} or later (sdk-b)"
            todo = "Raise the deployment target, or ask for the system's version before the code runs."
        elif target.role != "app" and version and of_apps and all(of_apps) and version[0] > min(of_apps)[0] + 1:
            # one release more than the app's is usual (assumed)
            expected = "about the deployment target of the app"
            todo = "On older phones the app runs and is not listed in the wallet: lower the extension's target."
        else:
            continue
        place = _setting_place(facts, target, "PHONEOS_DEPLOYMENT_TARGET")
        yield miss_at(*place, expected, f"{target.name}: {target.deployment}", todo, noted=True)


@case("build.package-version", "form", "GAP-7", PLATFORM_B, unread=[SDK_B])
def check_one_version(facts: Facts) -> Iterator[Miss]:
    """Every file pins one version of the SDK."""
    for package in facts.b.packages[1:]:
        first = facts.b.packages[0]
        if numbers(package.version)[:1] != numbers(first.version)[:1]:
            observed = f"{package.name} {package.version}, and {first.version} in {first.file.name}"
            expected, todo = "one version of the SDK's package", "Pin one version everywhere."
            yield miss_at(package.file.name, package.line, expected, observed, todo, noted=True)


# Swift: the extension's handler.


def _handler_functions(facts: Facts, name: str) -> Iterator[SourceFunction]:
    """The functions of handlers with this name."""
    return (function for handler in facts.b.handlers for function in handler.functions if function.name == name)


@case("swift.status-network", "budget", "X-STATUS-3", HANDLER, unread=[_no_handler])
def check_status_network(facts: Facts) -> Iterator[Miss]:
    """status() makes no network call.

    Neither does it through another function.
    """
    network = re.compile(
        "URLSession|URLRequest|NWConnection|NSURL(Connection|Session)|AF|Alamofire|Moya(Provider)?"
        "|(data|upload|download)Task"
    )
    for status in _handler_functions(facts, "status"):
        for function in facts.b.swift.reach(status):
            name = next(filter(network.fullmatch, names_in(function.node)), None)
            if name is not None:
                through = "" if function is status else f", through {function.name}()"
                todo = f"Use what the app saved: status() has {LIMITS['status']}. passEntries() may call the back end."
                yield miss_in(status, "no network call in status()", f"{name} in status(){through}", todo)
                break


@case("swift.remote-entries", "fidelity", "X-ENTRIES-2", HANDLER, unread=[_no_handler])
def check_remote_entries(facts: Facts) -> Iterator[Miss]:
    """remotePassEntries() asks for the watch's entries."""
    for function in _handler_functions(facts, "remotePassEntries"):
        calls = {call.name: call for call in function.calls}
        if "passEntries" in calls and "remotePassEntries" not in calls:
            todo = "Call remotePassEntries; passEntries offers the watch the phone's cards."
            yield miss_in(calls["passEntries"], "remotePassEntries(withDelegate:)", "passEntries", todo)


@case("swift.kept-service", "concurrency", "X-HANDLER-1", HANDLER, unread=[_no_handler])
def check_kept_service(facts: Facts) -> Iterator[Miss]:
    """The handler keeps no service."""
    todo = "Make the service in each call: the wallet makes a new handler for each of them."
    for handler in facts.b.handlers:
        bodies = [part for part in handler.node.named_children if part.type == "class_body"][:1]
        for node in (node for body in bodies for node in body.named_children):
            if node.type != "property_declaration" or any(part.type == "computed_property" for part in node.children):
                continue
            makes_one = any(part.type in {"function_type", "lambda_literal"} for part in walk(node))
            if "ExtensionProvisioningService" in names_in(node) and not makes_one:
                expected, text = "no service in a property of the handler", text_of(node).splitlines()[0].strip()
                yield miss_at(handler.source.file.name, line_of(node), expected, f"{text:.80}", todo)


@case("swift.entries-unavailable", "faults", "X-STATUS-2", HANDLER, unread=[_no_handler])
def check_unavailable(facts: Facts) -> Iterator[Miss]:
    """status() reports a missing service."""
    expected = "entriesUnavailableExtensionStatus, where the service cannot be initialised"
    todo = "Return ExtensionProvisioningService.entriesUnavailableExtensionStatus from that branch."
    for status in _handler_functions(facts, "status"):
        names = {name for function in facts.b.swift.reach(status) for name in names_in(function.node)}
        makes_own = any(call.name.endswith("ExtensionStatus") and call.name[0].isupper() for call in status.calls)
        if "extensionStatus" in names and "entriesUnavailableExtensionStatus" not in names and not makes_own:
            yield miss_in(status, expected, "nothing like it", todo)


@case("swift.authentication-ui", "form", "X-STATUS-1", EXTENSION, unread=[_no_list, _no_swift()])
def check_authentication(facts: Facts) -> Iterator[Miss]:
    """An extension that requires authentication has a UI for it."""
    targets = facts.b.targets
    if targets.of(AUTHORIZATION) or not targets.of(ISSUER) or targets.has_lost_list:
        return
    observed = "requiresAuthentication: true, and no such target"
    todo = "Add the authorization UI extension, or return false."
    for call in facts.b.swift.calls:
        if call.name == "extensionStatus" and any("true" in text_of(argument) for argument in call.arguments):
            yield miss_in(call, "an authorization UI extension", observed, todo)


@case("swift.authorization", "fidelity", "X-AUTH-1", EXTENSION, unread=[_no_list, _no_swift("canceled")])
def check_authorization(facts: Facts) -> Iterator[Miss]:
    """The authorization UI can report success."""
    expected = "completionHandler(.authorized) on at least one path"
    for kind in facts.b.swift.types:
        if any("IssuerProvisioning" in head and "Authorization" in head for head in kind.heads):
            names = set(names_in(kind.node))
            if {"canceled", "completionHandler"} <= names and "authorized" not in names:
                todo = "Report .authorized when the cardholder has authenticated."
                yield miss_in(kind, expected, "only .canceled", todo)


# Swift: what goes with the SDK's version.


def _signature(name: str, labels: list[str]) -> str:
    """A function as Swift names it: `name(label:label:)`."""
    return f"{name}({':'.join([*labels, ''])})"


@case("swift.delegate", "fidelity", "B-DEL-2", PLATFORM_B, DELEGATE, unread=[SDK_B, _no_swift()])
def check_delegates(facts: Facts) -> Iterator[Miss]:
    """The delegates' provision is that of the SDK's version.

    The order of the two arguments differs (sdk-b).
    """
    for of_extension, functions in facts.b.delegates("provision") if facts.b.version else ():
        wanted, rule = ["sdkOutput", "paymentInstrumentId"], "B-DEL-2"
        if of_extension:
            wanted, rule = ["paymentInstrumentId", "sdkOutput"], "X-DEL-1"
        elif facts.b.version < LATER_B:
            wanted, rule = ["sdkOutput"], "B-DEL-1"
        if wanted not in [function.labels for function in functions]:
            expected, observed = (_signature("provision", labels) for labels in (wanted, functions[0].labels))
            todo = f"Take these arguments: SDK {facts.b.written_version} calls no other function (sdk-b)."
            yield miss_in(functions[0], expected, observed, todo, rule=rule)


@case("swift.card-art", "fidelity", "X-ART-1", PLATFORM_B, CARD_ART, unread=[SDK_B, _no_swift()])
def check_card_art(facts: Facts) -> Iterator[Miss]:
    """CardArt is that of the SDK's version."""
    wanted = "paymentInstrumentId" if facts.b.version >= LATER_B else "forBrand"
    for _of_extension, functions in facts.b.delegates("cardArt") if facts.b.version else ():
        if [wanted] not in [function.labels for function in functions]:
            expected, observed = (_signature("cardArt", labels) for labels in ([wanted], functions[0].labels))
            asks = f"SDK {facts.b.written_version} asks for cardArt by {wanted} (sdk-b)"
            todo = f"{asks}; without that function the wallet has no picture."
            yield miss_in(functions[0], expected, observed, todo)


@case("swift.can-add", "fidelity", "B-CAN-2", PLATFORM_B, unread=[SDK_B, _no_swift()])
def check_can_add(facts: Facts) -> Iterator[Miss]:
    """The app asks with the call that the SDK's version has."""
    later = facts.b.version >= LATER_B
    named = "isWatchActivated" if facts.b.version >= WATCH_ACTIVATED else "isWatchPaired"
    wanted = [named] if later else []
    asking = {name for name in ("canAddCard", "canAddCardDetails") if not facts.b.swift.declares(name)}
    for call in facts.b.swift.calls if facts.b.version else ():
        if call.name in asking and call.receiver and call.labels != wanted:
            expected, observed = (_signature(call.name, labels) for labels in (wanted, call.labels))
            todo = f"SDK {facts.b.written_version} has {expected} (sdk-b): call that."
            yield miss_in(call, expected, observed, todo, rule="B-CAN-2" if later else "B-CAN-1")
        elif call.name == "canAddCardDetails" and any(text_of(part).endswith("false") for part in call.arguments):
            expected, observed = f"{named} as WatchAvailability tells it", "false, whatever watch there is"
            todo = "Ask the one WatchAvailability, or the card is not offered for the watch."
            yield miss_in(call, expected, observed, todo, rule="B-WATCH-1", noted=True)


@case("swift.one-watch", "concurrency", "B-WATCH-2", PLATFORM_B, unread=[_no_swift()])
def check_one_watch(facts: Facts) -> Iterator[Miss]:
    """One WatchAvailability is made."""
    init = ("WatchAvailability", "init")
    made = [call for call in facts.b.swift.calls if call.name == init[0] or (call.receiver, call.name) == init]
    todo = "Share one instance: a second one takes over the phone's watch session (sdk-b)."
    for call in made[1:]:
        observed = f"one more than that at {made[0].source.file.name}:{line_of(made[0].node)}"
        yield miss_in(call, "one WatchAvailability", observed, todo)
