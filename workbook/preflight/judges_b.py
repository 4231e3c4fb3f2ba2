"""The cases of platform B: property lists, entitlements, versions, Swift."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbook.harness.model import Miss
from workbook.preflight.gradle import numbers
from workbook.preflight.model import Facts, Part, miss_at, miss_in, preflight_case, unread
from workbook.preflight.platform_b import AUTHORIZATION, ISSUER, BuildTarget
from workbook.preflight.sources import SourceFunction, line_of, names_in, text_of, walk

KEY, CLASS = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"
CLASSES = {ISSUER: "ExtensionHandler", AUTHORIZATION: "AuthorizationProvider"}
LATER_B = (2,)
"""From this version on platform B's SDK has the later variant's operations (sdk-b)."""


def _ours(facts: Facts) -> list[BuildTarget]:
    return facts.b.of(ISSUER, AUTHORIZATION)


def _in_list(target: BuildTarget, at: str, observed: str, **more: str) -> Miss:
    """A miss in a target's property list, at the first line with this text."""
    file = target.plist_file or target.file
    return miss_at(file.name, file.line(at), observed, **more)


def identifiers(facts: Facts) -> Iterator[Miss]:
    """Texts that are probably meant as extension points, and are misspelt."""
    right = re.compile(r"com\.[a-z][a-z0-9-]*\.[A-Za-z][A-Za-z0-9]*\.issuer-provisioning(\.authorization)?")
    for target in _ours(facts):
        if not target.points and target.plist is not None:
            point = f"{target.extension.get(KEY, 'nothing')!s:.80}"
            todo = f"Set {KEY} of {target.name}; its principal class says that it is one."
            yield _in_list(target, KEY, point, expected=f"{KEY} com.<platform>.<kit>.{target.role}", todo=todo)
        for _place, text in target.points:
            if not right.fullmatch(text):
                todo = f"Correct the identifier of {target.name}, letter by letter."
                yield _in_list(target, text, f"{text:.80}", todo=todo)


def nesting(facts: Facts) -> Iterator[Miss]:
    """Where the identifier is."""
    for target in _ours(facts):
        places = [place for place, _text in target.points]
        if places and f"NSExtension.{KEY}" not in places:
            todo = f"Put the identifier of {target.name} into the dictionary NSExtension, under {KEY}."
            yield _in_list(target, places[0].rpartition(".")[2], places[0], todo=todo)


def principal_classes(facts: Facts) -> Iterator[Miss]:
    """The principal class, with the module in front."""
    for target in _ours(facts):
        if target.plist is None or not target.points:
            continue
        found = target.extension.get(CLASS)
        wanted = f"$(PRODUCT_MODULE_NAME).{CLASSES[target.role]}"
        module, _dot, name = str(found or "").rpartition(".")
        if not isinstance(found, str) or not found:
            if target.role == ISSUER or not target.extension.get("NSExtensionMainStoryboard"):
                todo = f"Set {CLASS} of {target.name}."
                yield _in_list(target, "NSExtension", "no principal class", expected=wanted, todo=todo)
        elif not module and not _has_plain_name(facts, name):
            todo = "Write the module in front of the class: the wallet loads it by its full name."
            yield _in_list(target, CLASS, found, expected=wanted, todo=todo)
        elif name in CLASSES.values() and name != CLASSES[target.role]:
            todo = f"The two extensions are mixed up: {target.name} has the class of the other one."
            yield _in_list(target, CLASS, found, expected=wanted, todo=todo)


def _has_plain_name(facts: Facts, name: str) -> bool:
    """Whether a class has this name without a module: one in Objective-C, or one in Swift that says so."""
    forms = (f"@objc({name})", f"@implementation {name}")
    return any(form in file.text for file in facts.project.named("*.swift", "*.m", "*.mm") for form in forms)


def both_extensions(facts: Facts) -> Iterator[Miss]:
    """Both extensions, in whatever configuration."""
    for role in (ISSUER, AUTHORIZATION):
        if not facts.b.of(role):
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
    inner, outer = (
        target.settings.get("PRODUCT_BUNDLE_IDENTIFIER", str((target.plist or {}).get("CFBundleIdentifier", "")))
        for target in (extension, app)
    )
    return bool(outer) and "$" not in outer and inner.startswith(f"{outer}.")


def app_groups(facts: Facts) -> Iterator[Miss]:
    """Storage that app and extension share: one app group, or one keychain group."""
    apps = [target for target in _embedding(facts) if target.role == "app" and target.entitlements is not None]
    for target in facts.b.of(ISSUER):
        of_same = [app for app in apps if app.configuration == target.configuration] or apps
        if target.entitlements is None or not of_same:
            continue
        if not any(target.groups & app.groups or target.keychains & app.keychains for app in of_same):
            file, app = target.entitlements_file or target.file, of_same[0]
            expected = f"an app group of {app.name}: {', '.join(sorted(app.groups)) or 'it is in none'}"
            observed = ", ".join(sorted(target.groups)) or f"{target.label} is in none"
            yield miss_at(file.name, 1, observed, expected=expected)


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
        line = target.file.line(f"PHONEOS_DEPLOYMENT_TARGET = {target.deployment}")
        yield miss_at(target.file.name, line, f"{target.name}: {target.deployment}", expected=expected, todo=todo)


def one_version(facts: Facts) -> Iterator[Miss]:
    """One variant of the SDK in all files that pin it."""
    if len({numbers(one.version)[:1] for one in facts.b.packages if numbers(one.version)}) > 1:
        for one in facts.b.packages[1:]:
            yield miss_at(one.file.name, one.line, f"{one.name} {one.version}")


def _of_handlers(facts: Facts, name: str) -> Iterator[SourceFunction]:
    """The functions of handlers with this name."""
    return (one for handler in facts.b.handlers for one in handler.functions if one.name == name)


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
        bodies = [one for one in handler.node.named_children if one.type == "class_body"][:1]
        for node in (node for body in bodies for node in body.named_children):
            if node.type != "property_declaration" or any(one.type == "computed_property" for one in node.children):
                continue
            makes_one = any(one.type in {"function_type", "lambda_literal"} for one in walk(node))
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
    if facts.b.of(AUTHORIZATION) or not facts.b.of(ISSUER):
        return
    for call in facts.b.swift.calls:
        if call.name == "extensionStatus" and any("true" in text_of(one) for one in call.arguments):
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
        if wanted not in [one.labels for one in found]:
            todo = f"Take these arguments: SDK {facts.b.written_version} calls no other function."
            rule = "X-DEL-1" if of_extension else "B-DEL-2" if later else "B-DEL-1"
            observed = _written("provision", found[0].labels)
            yield miss_in(found[0], observed, expected=_written("provision", wanted), todo=todo, rule=rule)


def card_art(facts: Facts) -> Iterator[Miss]:
    """`cardArt` by brand in the earlier variant, by payment instrument id in the later one."""
    wanted = "paymentInstrumentId" if facts.b.version >= LATER_B else "forBrand"
    asks = f"SDK {facts.b.written_version} asks for cardArt by {wanted}"
    for _of_extension, found in facts.b.delegates("cardArt"):
        if [wanted] not in [one.labels for one in found]:
            todo = f"{asks}; without that function the wallet has no picture."
            observed = _written("cardArt", found[0].labels)
            yield miss_in(found[0], observed, expected=_written("cardArt", [wanted]), todo=todo)


def can_add(facts: Facts) -> Iterator[Miss]:
    """The call that asks whether a card can be added, by the SDK's version; and whether a watch is looked for."""
    later = facts.b.version >= LATER_B
    asked, other = ("canAddCardDetails", "canAddCard") if later else ("canAddCard", "canAddCardDetails")
    for call in facts.b.swift.calls:
        if call.name == other and call.receiver and not facts.b.swift.declares(other):
            todo = f"SDK {facts.b.written_version} has {asked}: call that."
            yield miss_in(call, other, expected=asked, todo=todo, rule="B-CAN-2" if later else "B-CAN-1")
        elif call.name == "canAddCardDetails" and any(text_of(one).endswith("false") for one in call.arguments):
            expected = "isWatchActivated as WatchAvailability tells it"
            todo = "Await activate() of the one WatchAvailability, or the card is not offered for the watch."
            observed = "false, whatever watch there is"
            yield miss_in(call, observed, expected=expected, todo=todo, rule="B-WATCH-1", noted=True)


def second_watch(facts: Facts) -> Iterator[Miss]:
    """A second place that makes a WatchAvailability."""
    init = ("WatchAvailability", "init")
    made = [one for one in facts.b.swift.calls if one.name == init[0] or (one.receiver, one.name) == init]
    for call in made[1:]:
        yield miss_in(call, f"one more than that at {made[0].source.file.name}:{line_of(made[0].node)}")


B, X, H = Part.PLATFORM_B, Part.EXTENSION, Part.HANDLER
CASES = (
    preflight_case("form", "plist.readable", "Every property list and project file of a target can be read.",
                   "X-PLIST-2", lambda facts: unread(facts.b.broken), B),
    preflight_case("form", "plist.identifier", "The extension points are spelt as the platform spells them.",
                   "X-PLIST-1", identifiers, X, harms=True,
                   expected="com.<platform>.<kit>.issuer-provisioning, or the same with .authorization"),
    preflight_case("form", "plist.nesting", "The identifier is in NSExtension, under NSExtensionPointIdentifier.",
                   "X-PLIST-2", nesting, X, expected=f"NSExtension.{KEY}", harms=True),
    preflight_case("form", "plist.principal-class", "Each extension names its own class, and the module.",
                   "X-PLIST-3", principal_classes, X, harms=True),
    preflight_case("form", "plist.both-extensions", "There are both extensions.", "X-PLIST-1", both_extensions, X,
                   todo="Add the target: the wallet needs both extensions.", harms=True),
    preflight_case("form", "entitlement.provisioning", "App and extensions have the provisioning entitlement.",
                   "GAP-8", entitlements, B, expected="the entitlement …payment-pass-provisioning", harms=True),
    preflight_case("form", "entitlement.app-group", "App and extension share an app group.", "X-CACHE-1",
                   app_groups, X, todo="Put app and extension into one app group, or one keychain access group: the "
                   "extension reads what the app saved."),
    preflight_case("form", "build.deployment-target", "The deployment targets suit the SDK.", "GAP-8",
                   deployment, B, noted=True),
    preflight_case("form", "build.package-version", "Every file pins one version of the SDK.", "GAP-7",
                   one_version, B, expected="one version of the SDK's package", todo="Pin one version everywhere.",
                   noted=True),
    preflight_case("budget", "swift.status-network", "status() makes no network call.", "X-STATUS-3",
                   network_in_status, H, expected="no network call in status()",
                   todo="Use what the app saved: status() has 100 ms. passEntries() may call the back end."),
    preflight_case("fidelity", "swift.remote-entries", "remotePassEntries() asks for the watch's entries.",
                   "X-ENTRIES-2", entries_mixed_up, H, expected="remotePassEntries(withDelegate:)",
                   todo="Call remotePassEntries; passEntries offers the watch the phone's cards."),
    preflight_case("concurrency", "swift.kept-service", "The handler keeps no service.", "X-HANDLER-1",
                   kept_service, H, expected="no service in a property of the handler",
                   todo="Make the service in each call: the wallet makes a new handler for each of them."),
    preflight_case("faults", "swift.entries-unavailable", "status() reports a missing service.",
                   "X-STATUS-2", unavailable, H,
                   expected="entriesUnavailableExtensionStatus, where the service cannot be initialised",
                   todo="Return ExtensionProvisioningService.entriesUnavailableExtensionStatus from that branch."),
    preflight_case("form", "swift.authentication-ui", "An extension that requires authentication has a UI for it.",
                   "X-STATUS-1", authentication, X, expected="an authorization UI extension",
                   todo="Add the authorization UI extension, or return false."),
    preflight_case("fidelity", "swift.authorization", "The authorization UI can report success.", "X-AUTH-1",
                   always_cancels, B, expected="completionHandler(.authorized) on at least one path",
                   todo="Report .authorized when the cardholder has authenticated."),
    preflight_case("fidelity", "swift.delegate", "The delegates' provision is that of the SDK's version.",
                   "B-DEL-2", delegates, B, Part.DELEGATE, Part.SDK_B_VERSION),
    preflight_case("fidelity", "swift.card-art", "cardArt is that of the SDK's version.", "X-ART-1", card_art, B,
                   Part.CARD_ART, Part.SDK_B_VERSION),
    preflight_case("fidelity", "swift.can-add", "The app asks with the call that the SDK's version has.", "B-CAN-2",
                   can_add, B, Part.SDK_B_VERSION),
    preflight_case("concurrency", "swift.one-watch", "One WatchAvailability is made.", "B-WATCH-2",
                   second_watch, B, expected="one WatchAvailability",
                   todo="Share one instance: a second one takes over the phone's watch session."),
)  # fmt: skip
