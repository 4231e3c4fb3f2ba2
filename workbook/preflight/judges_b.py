"""The cases of platform B: property lists, entitlements, versions, Swift."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbook.harness.model import Group, Miss
from workbook.preflight.gradle import numbers
from workbook.preflight.model import Facts, Part, delegates_with, handlers, miss_at, preflight_case
from workbook.preflight.platform_b import AUTHORIZATION, ISSUER, BuildTarget
from workbook.preflight.project import File
from workbook.preflight.sources import (
    FUNCTIONS,
    NAMES,
    TYPES,
    calls_in,
    heads_of,
    labels_of,
    line_of,
    name_of,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

KEY, CLASS = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"
CLASSES = {ISSUER: "ExtensionHandler", AUTHORIZATION: "AuthorizationProvider"}
NETWORK = frozenset({"URLSession", "URLRequest", "NWConnection", "NSURLConnection", "NSURLSession", "AF", "Alamofire",
                     "Moya", "MoyaProvider", "dataTask", "uploadTask", "downloadTask"})  # fmt: skip
"""Names that give a network call away."""
LOWEST = {"app": "13.4", ISSUER: "14.0", AUTHORIZATION: "14.0"}
"""The systems from which provisioning works (sdk-b)."""
LATER_B = (2,)
"""From this version on platform B's SDK has the later variant's operations (sdk-b)."""
HIGHEST_APART = 1
"""How many system releases an extension may need beyond its app's before phones drop out (assumed)."""


def _miss(target: BuildTarget, expected: str, observed: str, todo: str, at: str = "", *, harms: bool = True) -> Miss:
    """A miss in a target's property list."""
    file = target.plist_file or target.file
    return Miss(expected, observed, todo, harms=harms, file=file.name, line=file.line(at) if at else 1)


def _ours(facts: Facts) -> list[BuildTarget]:
    return facts.b.of(ISSUER, AUTHORIZATION)


def broken(facts: Facts) -> Iterator[Miss]:
    """Files of targets that cannot be read."""
    yield from unread(facts.b.broken)


def unread(files: Iterable[tuple[File, str]]) -> Iterator[Miss]:
    """A miss for each file that cannot be read."""
    for file, why in files:
        todo = "Mend the file: nothing in it was judged."
        yield miss_at(file.name, 1, "a file that can be read", why, todo, harms=True)


def identifiers(facts: Facts) -> Iterator[Miss]:
    """Texts that are probably meant as extension points, and are misspelt."""
    for target in _ours(facts):
        if not target.points and target.plist is not None:
            point = target.extension.get(KEY, "nothing")
            todo = f"Set {KEY} of {target.name}; its principal class says that it is one."
            yield _miss(target, f"{KEY} com.<platform>.<kit>.{target.role}", f"{point!s:.80}", todo, KEY)
        for _place, text in target.points:
            wanted = r"com\.[a-z][a-z0-9-]*\.[A-Za-z][A-Za-z0-9]*\.issuer-provisioning(\.authorization)?"
            if not re.fullmatch(wanted, text):
                todo = f"Correct the identifier of {target.name}, letter by letter."
                yield _miss(
                    target,
                    "com.<platform>.<kit>.issuer-provisioning, or the same with .authorization",
                    f"{text:.80}",
                    todo,
                    text,
                )


def nesting(facts: Facts) -> Iterator[Miss]:
    """Where the identifier stands."""
    for target in _ours(facts):
        wrong = [place for place, _text in target.points if place != f"NSExtension.{KEY}"]
        right = [place for place, _text in target.points if place == f"NSExtension.{KEY}"]
        if wrong and not right:
            todo = f"Put the identifier of {target.name} into the dictionary NSExtension, under {KEY}."
            yield _miss(target, f"NSExtension.{KEY}", wrong[0], todo, wrong[0].rpartition(".")[2])


def principal_classes(facts: Facts) -> Iterator[Miss]:
    """The principal class, with the module in front."""
    for target in _ours(facts):
        if target.plist is None or not target.points:
            continue
        found = target.extension.get(CLASS)
        wanted = f"$(PRODUCT_MODULE_NAME).{CLASSES[target.role]}"
        other = CLASSES[AUTHORIZATION if target.role == ISSUER else ISSUER]
        module, dot, name = str(found or "").rpartition(".")
        if not isinstance(found, str) or not found:
            storyboard = target.extension.get("NSExtensionMainStoryboard")
            if target.role == ISSUER or not storyboard:
                yield _miss(target, wanted, "no principal class", f"Set {CLASS} of {target.name}.", "NSExtension")
        elif (not dot or not module) and not _has_plain_name(facts, name):
            todo = "Write the module in front of the class: the wallet loads it by its full name."
            yield _miss(target, wanted, found, todo, CLASS)
        elif name == other:
            todo = f"The two extensions are mixed up: {target.name} has the class of the other one."
            yield _miss(target, wanted, found, todo, CLASS)


def _has_plain_name(facts: Facts, name: str) -> bool:
    """Whether a class has this name without a module: one in Objective-C, or one in Swift that says so."""
    forms = (f"@objc({name})", f"@implementation {name}")
    return any(form in file.text for file in facts.project.named("*.swift", "*.m", "*.mm") for form in forms)


def pair(facts: Facts) -> Iterator[Miss]:
    """Both extensions, once for each configuration of a project file."""
    targets = _ours(facts)
    for role in (ISSUER, AUTHORIZATION):
        if not any(target.role == role for target in targets):
            there = targets[0]
            todo = "Add the target: the wallet needs both extensions."
            yield _miss(there, f"an extension com.<platform>.<kit>.{role}", "none", todo, harms=True)


def entitlements(facts: Facts) -> Iterator[Miss]:
    """The provisioning entitlement on app and extensions."""
    named = set()
    for target in _embedding(facts):  # a target mostly has one file for all configurations, which is named once
        place = target.name, target.entitlements_file
        if target.entitlements is not None and not target.may_provision and place not in named:
            named.add(place)
            file = target.entitlements_file or target.plist_file or target.file
            todo = f"Add it to the entitlements of {target.name}, and to its provisioning profile."
            yield miss_at(
                file.name,
                1,
                "the entitlement …payment-pass-provisioning",
                "the entitlement is missing (sdk-b)",
                todo,
                harms=True,
            )


def _embedding(facts: Facts) -> list[BuildTarget]:
    """App and extensions. Of several apps, only those that provision; a single app in any case."""
    apps = facts.b.of("app")
    own = [app for app in apps if app.may_provision or any(_is_of(other, app) for other in _ours(facts))]
    return [*(own or (apps if len({app.name for app in apps}) == 1 else [])), *_ours(facts)]


def _is_of(extension: BuildTarget, app: BuildTarget) -> bool:
    """Whether the extension's identifier begins with the app's, as the platform demands."""
    key = "PRODUCT_BUNDLE_IDENTIFIER"
    inner, outer = (
        str((target.plist or {}).get("CFBundleIdentifier", "")) if key not in target.settings else target.settings[key]
        for target in (extension, app)
    )
    return bool(outer) and "$" not in outer and inner.startswith(f"{outer}.")


def app_groups(facts: Facts) -> Iterator[Miss]:
    """Storage that app and extension share."""
    apps = [target for target in _embedding(facts) if target.role == "app" and target.entitlements is not None]
    for target in facts.b.of(ISSUER):
        of_same = [app for app in apps if app.configuration == target.configuration] or apps
        if target.entitlements is None or not of_same:
            continue
        shared = any(_shared(target, app) for app in of_same)
        if not shared:
            file = target.entitlements_file or target.file
            app = of_same[0]
            todo = (
                "Put app and extension into one app group, or one keychain access group: the extension reads "
                "what the app saved."
            )
            yield miss_at(
                file.name,
                1,
                f"an app group of {app.name}: {', '.join(sorted(app.groups)) or 'it is in none'}",
                ", ".join(sorted(target.groups)) or f"{target.label} is in none",
                todo,
            )


def _shared(target: BuildTarget, app: BuildTarget) -> bool:
    """One app group, or one keychain group, of both."""
    keychain = [
        {str(name) for name in listed}
        for one in (target, app)
        if isinstance(listed := (one.entitlements or {}).get("keychain-access-groups"), list)
    ]
    return bool(target.groups & app.groups) or (len(keychain) > 1 and bool(keychain[0] & keychain[1]))


def deployment(facts: Facts) -> Iterator[Miss]:
    """The lowest system of app and extensions."""
    apps = facts.b.of("app")
    for target in (*apps, *_ours(facts)):  # a target says the same in each configuration, and is noted once
        found, lowest = numbers(target.deployment), numbers(LOWEST[target.role])
        of_same = [numbers(app.deployment) for app in apps if app.configuration == target.configuration]
        if found and found < lowest:
            expected = f"{LOWEST[target.role]} or later (sdk-b)"
            todo = "Raise the deployment target, or ask for the system's version before the code runs."
        elif target.role != "app" and found and of_same and min(of_same) and found[0] > min(of_same)[0] + HIGHEST_APART:
            expected = "about the deployment target of the app"
            todo = "On older phones the app runs and is not listed in the wallet: lower the extension's target."
        else:
            continue
        line = target.file.line(f"PHONEOS_DEPLOYMENT_TARGET = {target.deployment}")
        yield Miss(expected, f"{target.name}: {target.deployment}", todo, noted=True, file=target.file.name, line=line)


def one_version(facts: Facts) -> Iterator[Miss]:
    """One variant of the SDK in all files that pin it."""
    majors = {numbers(one.version)[:1] for one in facts.b.packages if numbers(one.version)}
    if len(majors) > 1:
        for one in facts.b.packages[1:]:
            todo = "Pin one version everywhere."
            yield miss_at(
                one.file.name,
                one.line,
                "one version of the SDK's package",
                f"{one.name} {one.version}",
                todo,
                noted=True,
            )


def _functions(facts: Facts, *names: str) -> Iterator[tuple[str, Node, Node]]:
    """The functions of handlers with one of these names: the file, the type, the function."""
    for file, kind in handlers(facts.b):
        for node in walk(kind):
            if node.type in FUNCTIONS and name_of(node) in names:
                yield file.name, kind, node


def network_in_status(facts: Facts) -> Iterator[Miss]:
    """A network call that `status()` makes, itself or through another function."""
    for file, _kind, node in _functions(facts, "status"):
        for function in facts.b.swift.reach(node):
            found = next((one for one in walk(function) if one.type in NAMES and text_of(one) in NETWORK), None)
            if found is not None:
                where = "status()" if function == node else f"status(), through {name_of(function)}()"
                todo = "Use what the app saved: status() has 100 ms. passEntries() may call the back end."
                yield miss_at(file, line_of(node), "no network call in status()", f"{text_of(found)} in {where}", todo)
                break


def entries_mixed_up(facts: Facts) -> Iterator[Miss]:
    """`passEntries` of the SDK, called in `remotePassEntries`."""
    for file, _kind, node in _functions(facts, "remotePassEntries"):
        names = {call.name: call for call in calls_in(node)}
        if "passEntries" in names and "remotePassEntries" not in names:
            todo = "Call remotePassEntries; passEntries offers the watch the phone's cards."
            yield miss_at(
                file, line_of(names["passEntries"].node), "remotePassEntries(withDelegate:)", "passEntries", todo
            )


def kept_service(facts: Facts) -> Iterator[Miss]:
    """A stored property of the handler that holds the SDK's service."""
    for file, kind in handlers(facts.b):
        body = next((one for one in kind.named_children if one.type == "class_body"), None)
        for node in body.named_children if body is not None else ():
            if node.type != "property_declaration" or any(one.type == "computed_property" for one in node.children):
                continue
            words = {text_of(one) for one in walk(node) if one.type in NAMES}
            function = any(one.type in {"function_type", "lambda_literal"} for one in walk(node))
            if "ExtensionProvisioningService" in words and not function:
                todo = "Make the service in each call: the wallet makes a new handler for each of them."
                yield miss_at(
                    file.name,
                    line_of(node),
                    "no service in a property of the handler",
                    f"{text_of(node).splitlines()[0].strip():.80}",
                    todo,
                )


def unavailable(facts: Facts) -> Iterator[Miss]:
    """What `status()` answers when there is no service."""
    for file, _kind, node in _functions(facts, "status"):
        parts = [*facts.b.swift.reach(node)]
        words = {text_of(one) for part in parts for one in walk(part) if one.type in NAMES}
        own = any(
            word.endswith("ExtensionStatus") and word[0].isupper() for call in calls_in(node) for word in [call.name]
        )
        if "extensionStatus" in words and "entriesUnavailableExtensionStatus" not in words and not own:
            todo = "Return ExtensionProvisioningService.entriesUnavailableExtensionStatus from that branch."
            yield miss_at(
                file,
                line_of(node),
                "entriesUnavailableExtensionStatus, where the service cannot be initialised",
                "nothing like it",
                todo,
            )


def authentication(facts: Facts) -> Iterator[Miss]:
    """`requiresAuthentication: true` without the extension for it."""
    if facts.b.of(AUTHORIZATION) or not facts.b.of(ISSUER):
        return
    for source in facts.b.swift.about:
        for call in source.calls:
            if call.name == "extensionStatus" and any("true" in text_of(one) for one in call.arguments):
                todo = "Add the authorization UI extension, or return false."
                yield miss_at(
                    source.file.name,
                    line_of(call.node),
                    "an authorization UI extension",
                    "requiresAuthentication: true, and no such target",
                    todo,
                )


def always_cancels(facts: Facts) -> Iterator[Miss]:
    """An authorization UI whose completion handler is only called with `canceled`."""
    for source in facts.b.swift.about:
        for kind in source.every(TYPES):
            if any("IssuerProvisioning" in head and "Authorization" in head for head in heads_of(kind)):
                words = {text_of(one) for one in walk(kind) if one.type in NAMES}
                if {"canceled", "completionHandler"} <= words and "authorized" not in words:
                    todo = "Report .authorized when the cardholder has authenticated."
                    yield miss_at(
                        source.file.name,
                        line_of(kind),
                        "completionHandler(.authorized) on at least one path",
                        "only .canceled",
                        todo,
                    )


def delegates(facts: Facts) -> Iterator[Miss]:
    """`provision` of both delegates, by the SDK's version: the order of the two arguments differs (sdk-b)."""
    later = facts.b.version >= LATER_B
    for source, of_extension, found in delegates_with(facts.b, "provision"):
        wanted = ["paymentInstrumentId", "sdkOutput"] if of_extension else ["sdkOutput", "paymentInstrumentId"]
        if not later and not of_extension:
            wanted = ["sdkOutput"]
        if wanted not in map(labels_of, found):
            todo = f"Take these arguments: SDK {'.'.join(map(str, facts.b.version))} calls no other function."
            yield miss_at(
                source.file.name,
                line_of(found[0]),
                f"provision({':'.join([*wanted, ''])})",
                f"provision({':'.join([*labels_of(found[0]), ''])})",
                todo,
                rule="X-DEL-1" if of_extension else "B-DEL-2" if later else "B-DEL-1",
            )


def card_art(facts: Facts) -> Iterator[Miss]:
    """`cardArt` by brand in the earlier variant, by payment instrument id in the later one."""
    wanted = "paymentInstrumentId" if facts.b.version >= LATER_B else "forBrand"
    for source, _of_extension, found in delegates_with(facts.b, "cardArt"):
        if [wanted] not in map(labels_of, found):
            version = ".".join(map(str, facts.b.version))
            todo = f"SDK {version} asks for cardArt by {wanted}; without that function the wallet has no picture."
            yield miss_at(
                source.file.name,
                line_of(found[0]),
                f"cardArt({wanted}:)",
                f"cardArt({':'.join([*labels_of(found[0]), ''])})",
                todo,
            )


def can_add(facts: Facts) -> Iterator[Miss]:
    """The call that asks whether a card can be added, by the SDK's version; and whether a watch is looked for."""
    later = facts.b.version >= LATER_B
    asked, other = ("canAddCardDetails", "canAddCard") if later else ("canAddCard", "canAddCardDetails")
    for source in facts.b.swift.about:
        for call in source.calls:
            if call.name == other and call.receiver and not facts.b.swift.declares(other):
                todo = f"SDK {'.'.join(map(str, facts.b.version))} has {asked}: call that."
                yield miss_at(
                    source.file.name, line_of(call.node), asked, other, todo, rule="B-CAN-2" if later else "B-CAN-1"
                )
            elif call.name == "canAddCardDetails" and any(text_of(one).endswith("false") for one in call.arguments):
                todo = "Await activate() of the one WatchAvailability, or the card is not offered for the watch."
                yield miss_at(
                    source.file.name,
                    line_of(call.node),
                    "isWatchActivated as WatchAvailability tells it",
                    "false, whatever watch there is",
                    todo,
                    rule="B-WATCH-1",
                    noted=True,
                )


def second_watch(facts: Facts) -> Iterator[Miss]:
    """A second place that makes a WatchAvailability."""
    made = [
        (source.file, call.node)
        for source in facts.b.swift.about
        for call in source.calls
        if call.name == "WatchAvailability" or (call.name == "init" and call.receiver == "WatchAvailability")
    ]
    for file, node in made[1:]:
        todo = "Share one instance: a second one takes over the phone's watch session."
        yield miss_at(
            file.name,
            line_of(node),
            "one WatchAvailability",
            f"one more, beside {made[0][0].name}:{line_of(made[0][1])}",
            todo,
        )


B, X, H = Part.PLATFORM_B, Part.EXTENSION, Part.HANDLER
CASES = (
    preflight_case(Group.FORM, "plist.readable", "Every property list and project file of a target can be read.",
                   "X-PLIST-2", broken, B),
    preflight_case(Group.FORM, "plist.identifier", "The extension points are spelt as the platform spells them.",
                   "X-PLIST-1", identifiers, X),
    preflight_case(Group.FORM, "plist.nesting", "The identifier is in NSExtension, under NSExtensionPointIdentifier.",
                   "X-PLIST-2", nesting, X),
    preflight_case(Group.FORM, "plist.principal-class", "Each extension names its own class, and the module.",
                   "X-PLIST-3", principal_classes, X),
    preflight_case(Group.FORM, "plist.both-extensions", "There are both extensions.", "X-PLIST-1", pair, X),
    preflight_case(Group.FORM, "entitlement.provisioning", "App and extensions have the provisioning entitlement.",
                   "GAP-8", entitlements, B),
    preflight_case(Group.FORM, "entitlement.app-group", "App and extension share an app group.", "X-CACHE-1",
                   app_groups, X),
    preflight_case(Group.FORM, "build.deployment-target", "The deployment targets suit the SDK.", "GAP-8",
                   deployment, B),
    preflight_case(Group.FORM, "build.package-version", "Every file pins one version of the SDK.", "GAP-7",
                   one_version, B),
    preflight_case(Group.BUDGET, "swift.status-network", "status() makes no network call.", "X-STATUS-3",
                   network_in_status, H),
    preflight_case(Group.FIDELITY, "swift.remote-entries", "remotePassEntries() asks for the watch's entries.",
                   "X-ENTRIES-2", entries_mixed_up, H),
    preflight_case(Group.CONCURRENCY, "swift.kept-service", "The handler keeps no service.", "X-HANDLER-1",
                   kept_service, H),
    preflight_case(Group.FAULTS, "swift.entries-unavailable", "status() reports a missing service.",
                   "X-STATUS-2", unavailable, H),
    preflight_case(Group.FORM, "swift.authentication-ui", "An extension that requires authentication has a UI for it.",
                   "X-STATUS-1", authentication, X),
    preflight_case(Group.FIDELITY, "swift.authorization", "The authorization UI can report success.", "X-AUTH-1",
                   always_cancels, B),
    preflight_case(Group.FIDELITY, "swift.delegate", "The delegates' provision is that of the SDK's version.",
                   "B-DEL-2", delegates, B, Part.DELEGATE, Part.SDK_B_VERSION),
    preflight_case(Group.FIDELITY, "swift.card-art", "cardArt is that of the SDK's version.", "X-ART-1", card_art, B,
                   Part.CARD_ART, Part.SDK_B_VERSION),
    preflight_case(Group.FIDELITY, "swift.can-add", "The app asks with the call that the SDK's version has.", "B-CAN-2",
                   can_add, B, Part.SDK_B_VERSION),
    preflight_case(Group.CONCURRENCY, "swift.one-watch", "One WatchAvailability is made.", "B-WATCH-2",
                   second_watch, B),
)  # fmt: skip
