"""The cases of platform A: build files, the private library, Kotlin, and what was sent for allowlisting."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbook.base.rules import Owner
from workbook.tools.harness.model import Miss
from workbook.tools.preflight.button import is_bridge, open_calls, sdk_calls
from workbook.tools.preflight.gradle import Module, Statement, numbers
from workbook.tools.preflight.model import (
    LATER_A,
    PLATFORM_A,
    Facts,
    Reason,
    case,
    miss_at,
    miss_in,
    unless,
    why_unread,
)
from workbook.tools.preflight.project import SourceCall, SourceFile, SourceFunction, line_of, text_of, walk
from workbook.tools.preflight.signing import allowlist_request

if TYPE_CHECKING:
    from tree_sitter import Node

# Why a case does not apply.

LIBRARY = unless(lambda facts: facts.a.library, "No build file names the private library: the SDK brings it.")
CERTIFICATES = unless(lambda facts: facts.certificates, "No certificate is named: --signing FILE.")
SENT = unless(lambda facts: facts.sent is not None, "What was sent for allowlisting is not named: --sent FILE.")

# What may be somewhere that was not read.

SDK_A = unless(
    lambda facts: facts.a.version,
    "The version of platform A's SDK is in no build file and no catalog that was read: write it there.",
)
LIBRARY_VERSION = unless(
    lambda facts: any(numbers(entry.version) for entry in facts.a.library),
    "A build file names the private library, and its version is unknown: something outside the file sets it.",
)


def _no_ids(facts: Facts) -> str:
    if any(module.variants() for module in facts.a.build.apps):
        return next((f"{sentence}." for sentence in facts.a.build.unread), "")
    return f"The build files that were read name no application id as a text, or compute the flavours.{facts.framework}"


def _no_levels(facts: Facts) -> str:
    for module in facts.a.build.apps if facts.a.version >= LATER_A else ():
        for name in ("minSdk", "compileSdk"):
            if facts.a.build.level(module, name) is None:
                return f"The {name} of {module.file.name} is set outside of the files that were read: write it there."
    return "" if facts.a.build.apps else "No build script of an app was read: name the folder that has it."


def _no_kotlin(name: str = "") -> Reason:
    return lambda facts: why_unread(facts, "Kotlin", facts.a.kotlin, facts.a.java, name)


def _no_fetch_opc(facts: Facts) -> str:
    is_lambda = any(_opc_functions(facts))
    return "" if facts.a.is_later is False else _no_kotlin("" if is_lambda else "fetchOpc")(facts)


def _no_button(facts: Facts) -> str:
    if any(is_bridge(call.source) for call in open_calls(facts)):
        where = "The button is in another language than Kotlin, which is only searched as text"
        return f"{where}: see that a tap disables it until provision is over."
    if (reason := _no_kotlin()(facts)) or any(sdk_calls(facts.a.kotlin)):
        return reason
    return "No Kotlin source that was read calls provision of platform A's SDK."


# Build files.


@case("gradle.sdk-version", "fidelity", "A-MIG-1", PLATFORM_A, unread=[SDK_A])
def check_sdk_version(facts: Facts) -> Iterator[Miss]:
    """All modules use one version of the SDK, and one that has what the sources use."""
    latest = facts.a.version
    later = next((source for source in facts.a.kotlin.about if "OpcProvider" in source.identifiers), None)
    for entry in facts.a.sdk:
        place = entry.file.name, entry.line
        if numbers(entry.version) not in {(), latest}:
            todo = "Use the latest version in all modules."
            yield miss_at(*place, "one version of the SDK", entry.version, todo, noted=True)
        elif later and () < latest < LATER_A:
            expected = f"0.4.0 or later: {later.file.name} has an OpcProvider"
            yield miss_at(*place, expected, entry.version, "Raise the SDK's version, or leave OpcProvider to it.")


@case("gradle.library-version", "fidelity", "A-DEP-1", LIBRARY, unread=[LIBRARY_VERSION, SDK_A])
def check_library_version(facts: Facts) -> Iterator[Miss]:
    """The private library has the version that goes with the SDK."""
    wanted, is_known = facts.a.wanted_library, facts.a.library_is_known
    version = ".".join(map(str, facts.a.version))
    for entry in facts.a.library if version else ():
        if numbers(entry.version) and entry.version != wanted:
            expected = f"{wanted}, which goes with SDK {version} ({'sdk-a' if is_known else 'assumed'})"
            todo = f"Set the library to {wanted}, or leave it out: the SDK brings it."
            place = entry.file.name, entry.line
            yield miss_at(*place, expected, entry.version, todo, harms=True, noted=not is_known)


@case("gradle.repository", "form", "A-DEP-2", PLATFORM_A)
def check_repositories(facts: Facts) -> Iterator[Miss]:
    """A local or internal repository can hold the private library.

    It is judged only with an app: its build names the repositories.
    """
    found = list(facts.a.build.repositories()) if facts.a.build.apps else []
    wanted = facts.a.sdk or facts.a.library
    if found and wanted and not any(_may_be_private(entry, module) for module, entry in found):
        module, first = found[0]
        expected, observed = "mavenLocal() or an internal repository", "public repositories only"
        source = "the operator's contact or the wallet provider"
        todo = f"Get the private library from {source}, and add the repository that holds it."
        if not facts.a.sdk and not facts.a.kotlin.about:
            group, _colon, name = facts.a.library[0].coordinate.partition(":")
            todo = f"An app that does not provision excludes it: exclude group {group}, module {name}. Else: {todo}"
        yield miss_at(module.file.name, first.line, expected, observed, todo, harms=True)


def _may_be_private(entry: Statement, module: Module) -> bool:
    """True if the repository may be private, or is unknown."""
    inside = [entry, *entry.all_below()]
    if any(inner.name in {"mavenLocal", "flatDir"} for inner in inside):
        return True
    is_call = entry.name.islower() and entry.name not in {"maven", "ivy"} and len(entry.words) == 1  # such as google()
    if is_call or entry.name in {"mavenCentral", "gradlePluginPortal"}:
        return False
    urls = [module.resolve(text) or text for inner in inside for text in inner.strings if "://" in text]
    public = re.compile(
        r"(^|\.)(google\.com|maven\.org|maven\.apache\.org|jitpack\.io|sonatype\.org|sonatype\.com|gradle\.org"
        r"|jcenter\.bintray\.com)\Z"
    )
    return not urls or not all(public.search(urlsplit(url).hostname or "") for url in urls)


@case("gradle.publishing", "secrecy", "A-DEP-3", PLATFORM_A)
def check_publishing(facts: Facts) -> Iterator[Miss]:
    """Nothing publishes the private library."""
    library = re.compile(facts.library, re.IGNORECASE)
    bundles = re.compile(r"embed|fat|shade|shadow|bundle", re.IGNORECASE)
    expected = "a publication without the private library"
    for module in facts.a.build.modules:
        publications = [*module.root.below("publishing", "publications", "uploadArchives")]
        words = ("artifact", "from", "artifactId", "groupId")
        for part in (entry for block in publications for entry in block.below(*words)):
            if any(library.search(text) for text in (*part.strings, *part.words[1:])):
                observed = " ".join(part.strings) or part.words[-1]
                todo = "Take the library out of what is published: it is not public."
                yield miss_at(module.file.name, part.line, expected, observed, todo, harms=True)
        publishes = bool(publications) or module.has_plugin("maven-publish", "publish", "maven")
        for entry in facts.a.library:
            if entry.file is module.file and publishes and bundles.search(entry.configuration):
                observed = f"{entry.configuration} puts {entry.coordinate} into what the module publishes"
                todo = "Depend on the library instead of bundling it."
                yield miss_at(module.file.name, entry.line, expected, observed, todo, harms=True)


@case("gradle.levels", "form", "APP-8", PLATFORM_A, unread=[SDK_A, _no_levels])
def check_levels(facts: Facts) -> Iterator[Miss]:
    """MinSdk and compileSdk are as high as the SDK needs.

    They are known from 0.4.0 on.
    """
    for module in facts.a.build.apps if facts.a.version >= LATER_A else ():
        for name, lowest in (("minSdk", 26), ("compileSdk", 35)):  # (sdk-a)
            file, line, level = facts.a.build.level(module, name) or (module.file, 0, lowest)
            if level < lowest:
                expected, todo = f"{name} {lowest} or later (sdk-a)", f"Raise {name}, or the build fails."
                yield miss_at(file.name, line, expected, str(level), todo, noted=True)


@case("gradle.application-ids", "form", "A-ALLOW-2", PLATFORM_A, unread=[_no_ids])
def check_application_ids(facts: Facts) -> Iterator[Miss]:
    """Each application id is known, with its variants."""
    expected, todo = "each id allowlisted on its own (sdk-a)", "Send them all: workbook preflight allowlist-request."
    for module in facts.a.build.apps:
        ids: dict[str, list[str]] = {}
        for variant in module.variants():
            ids.setdefault(variant.application_id or "a computed one", []).append(variant.name)
        if len(ids) > 1:
            listed = [f"{identity} ({', '.join(names)})" for identity, names in ids.items()]
            more = [f"and {len(ids) - 6} more"] if len(ids) > 6 else []  # the request for allowlisting has them all
            listed = [*listed[:6], *more, *module.filters(), *facts.a.build.unread]
            observed = f"{len(ids)} application ids: {'; '.join(listed)}"
            yield miss_at(module.file.name, module.file.line("applicationId"), expected, observed, todo, noted=True)
    for app in facts.a.build.apps[:1]:
        for unknown in facts.a.build.unknown_ids(certificate.variant for certificate in facts.certificates):
            yield miss_at(app.file.name, app.file.line("applicationId"), expected, unknown, todo, noted=True)


# Kotlin.


@case("kotlin.deprecated", "fidelity", "A-MIG-1", PLATFORM_A, unread=[_no_kotlin()])
def check_deprecated(facts: Facts) -> Iterator[Miss]:
    """The app makes no call that 0.4.0 deprecated."""
    for call in facts.a.kotlin.calls if facts.a.is_later else ():
        is_old = call.name == "provision" and ("sdkInput" in call.labels or _is_old_order(call))
        if is_old or call.name == "createSdkOutput":
            expected = "provision(cardDisplayName, cardAddress, opcProvider)"
            observed = "provision(sdkInput, …)" if is_old else "createSdkOutput()"
            todo = "Remove createSdkOutput(), implement OpcProvider, and call the new provision."
            yield miss_in(call, expected, observed, todo)


def _is_old_order(call: SourceCall) -> bool:
    """Whether a call without labels has an address as its third and last argument: the new form has it second."""
    has_address = ["address" in text_of(argument).lower() for argument in call.arguments]
    return not any(call.labels) and has_address[1:] == [False, True]


@case("kotlin.button", "concurrency", "A-BTN-1", PLATFORM_A, unread=[_no_button])
def check_button(facts: Facts) -> Iterator[Miss]:
    """The page keeps a second tap away."""
    expected = "the button disabled from the tap until the attempt is over"
    todo = "Disable the button in the tap itself, before anything suspends; enable it in finally."
    pages: set[tuple[SourceFile, str]] = set()
    for call in open_calls(facts):
        page = call.source, call.kind.name if call.kind else ""
        if page not in pages and not is_bridge(call.source) and not facts.a.kotlin.unclear:
            pages.add(page)
            yield miss_in(call, expected, "nothing that disables it", todo)


@case("kotlin.fetch-opc", "faults", "A-OPC-1", PLATFORM_A, unread=[_no_fetch_opc])
def check_fetch_opc(facts: Facts) -> Iterator[Miss]:
    """FetchOpc swallows no error.

    What it calls may answer an error as it likes, but not with an empty text, which would be OPC data.
    """
    expected = "fetchOpc returns OPC data, or throws when the back end fails"
    todo = "Throw: the SDK makes OpcFetchError of it (sdk-a). Any text that is returned is taken for the OPC data."
    empty = re.compile(r'\bcatch\s*\([^)]*\)\s*\{[^{}]*""[\s;]*\}|\.getOr(Default|Else)\s*[({]\s*""')
    for function in _opc_functions(facts):
        for called in [*facts.a.kotlin.reach(function)][1:]:
            if empty.search(text_of(called.node)):
                observed = f"fetchOpc calls {called.name}, which makes an empty text of an error"
                yield miss_in(called, expected, observed, todo)
        for node, what in _swallowed(function):
            yield miss_at(function.source.file.name, line_of(node), expected, f"fetchOpc has {what}", todo)


def _opc_functions(facts: Facts) -> list[SourceFunction]:
    """Each fetchOpc, and each lambda that stands for one: `OpcProvider { id, sdkOutput -> ... }`."""
    named = [function for source in facts.a.kotlin.about for function in source.parts.functions.get("fetchOpc", ())]
    lambdas = (call for call in facts.a.kotlin.calls if call.name == "OpcProvider")
    return [*named, *(SourceFunction(call.source, call.node, call.kind) for call in lambdas)]


def _swallowed(function: SourceFunction) -> Iterator[tuple[Node, str]]:
    """Where a function itself makes a value out of an error, and how."""
    content, nodes = function.source.file.content, [*walk(function.node)]
    throws = [node.start_byte for node in nodes if content.startswith(b"throw ", node.start_byte)]

    def throws_nothing(node: Node) -> bool:
        return bisect_left(throws, node.start_byte) == bisect_left(throws, node.end_byte)

    for node in nodes:
        parts = node.children
        if node.type == "catch_block" and throws_nothing(node):
            yield node, "a catch that throws nothing"
        elif any(part.type == "?:" for part in parts) and "string_literal" in parts[-1].type:
            yield node, f"?: {text_of(parts[-1]):.20}"
    for call in function.calls:
        swallows = call.name in {"getOrDefault", "getOrElse", "getOrNull", "orEmpty", "recover"}
        folds = call.name == "fold" and '""' in text_of(call.node)
        if (swallows or folds) and throws_nothing(call.node):
            yield call.node, f"{call.name}(…)"


# Allowlisting.


@case("signing.sent", "form", "A-ALLOW-1", SENT, owner=Owner.OPERATOR)
def check_sent(facts: Facts) -> Iterator[Miss]:
    """What is built and signed is what was sent for allowlisting."""
    sent = facts.sent or frozenset()
    ids, prints = {identity for identity, _print in sent}, {fingerprint for _identity, fingerprint in sent}
    variants = [(module, variant) for module in facts.a.build.apps for variant in module.variants()]
    for module, variant in variants:
        if variant.application_id and variant.application_id not in ids:
            place = module.file.name, module.file.line("applicationId")
            observed = f"{variant.application_id} was not sent"
            todo = f"Send it for {variant.name}, or it gets 15009 (wallet)."
            yield miss_at(*place, "every application id allowlisted", observed, todo, harms=True)
    built = [(variant.name, variant.application_id) for _module, variant in variants]
    for row in allowlist_request(built, facts.certificates):
        identity, fingerprint = row["applicationId"], row["sha256"]
        if (identity, fingerprint) not in sent and identity in ids and fingerprint in prints:
            expected = "every pair of application id and fingerprint allowlisted"
            todo = f"Send the pair for {row['variant']}, or it gets 15009 (wallet)."
            yield Miss(expected, f"{identity} was not sent with {fingerprint}", todo, harms=True)
    for certificate in facts.certificates:
        if certificate.fingerprint not in prints:
            place, observed = (certificate.source, certificate.line), f"{certificate.fingerprint} was not sent"
            todo = "Send it: workbook preflight allowlist-request."
            yield miss_at(*place, "every fingerprint allowlisted", observed, todo, harms=True)


@case("signing.debug", "form", "A-ALLOW-4", CERTIFICATES)
def check_debug_certificates(facts: Facts) -> Iterator[Miss]:
    """The default debug certificate is known as such."""
    todo = "Each machine has its own: allowlist each, or share one debug keystore."
    for certificate in facts.certificates:
        if certificate.debug:
            of = f" of {certificate.variant}" if certificate.variant else ""
            place, observed = (certificate.source, certificate.line), f"the default debug certificate{of}"
            yield miss_at(*place, "a certificate of your own", observed, todo, noted=True)
