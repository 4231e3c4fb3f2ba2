"""The cases of platform A: build files, the private library, Kotlin; and the API's address and key, for both."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import new as new_hash
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbook.base.files import read_regular
from workbook.base.rules import Owner
from workbook.harness.model import Miss
from workbook.preflight.gradle import Module, Statement, numbers
from workbook.preflight.model import LATER_A, Facts, Part, miss_at, miss_in, preflight_case, unread
from workbook.preflight.project import read_project
from workbook.preflight.signing import allowlist_request
from workbook.preflight.sources import SourceFile, SourceType, line_of, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node


def library_version(facts: Facts) -> Iterator[Miss]:
    """The private library's version beside the SDK's."""
    wanted = facts.a.wanted_library
    version = ".".join(map(str, facts.a.version))
    for one in facts.a.library:
        if numbers(one.version) and one.version != wanted:
            expected = f"{wanted}, which SDK {version} needs"
            todo = f"Set the library to {wanted}, or leave it out: the SDK brings it."
            yield miss_at(one.file.name, one.line, one.version, expected=expected, todo=todo)


def one_sdk_version(facts: Facts) -> Iterator[Miss]:
    """One version of the SDK in all modules."""
    latest = facts.a.version
    for one in facts.a.sdk:
        if numbers(one.version) not in {(), latest}:
            yield miss_at(one.file.name, one.line, one.version)


def repositories(facts: Facts) -> Iterator[Miss]:
    """A repository that can hold the private library; judged only with an app: its build names them."""
    found = list(facts.a.build.repositories()) if facts.a.build.apps else []
    if found and (facts.a.sdk or facts.a.library) and not any(_may_be_private(one, module) for module, one in found):
        module, first = found[0]
        yield miss_at(module.file.name, first.line, "public repositories only")


def _may_be_private(one: Statement, module: Module) -> bool:
    """True if the repository may be private, or is unknown."""
    every = [one, *one.all_below()]
    if any(inner.name in {"mavenLocal", "flatDir"} for inner in every):
        return True
    if one.name in {"mavenCentral", "gradlePluginPortal", "jcenter"}:
        return False
    if one.name.islower() and one.name not in {"maven", "ivy"} and len(one.words) == 1:  # such as google()
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
        for part in (one for block in publications for one in block.below("artifact", "from", "artifactId", "groupId")):
            if any(library.search(text) for text in (*part.strings, *part.words[1:])):
                named = " ".join(part.strings) or part.words[-1]
                todo = "Take the library out of what is published: it is not public."
                expected = "a publication without the private library"
                yield miss_at(module.file.name, part.line, named, expected=expected, todo=todo)
        publishes = bool(publications) or module.has_plugin("maven-publish", "publish", "maven")
        for one in facts.a.library:
            if one.file is module.file and publishes and bundles.search(one.configuration):
                observed = f"{one.configuration} puts {one.coordinate} into what the module publishes"
                expected = "a publication that does not contain the private library"
                todo = "Depend on the library instead of bundling it."
                yield miss_at(module.file.name, one.line, observed, expected=expected, todo=todo)


def levels(facts: Facts) -> Iterator[Miss]:
    """The levels that the SDK needs from 0.4.0 on."""
    for module in facts.a.build.apps if facts.a.version >= LATER_A else ():
        for name, lowest in (("minSdk", 26), ("compileSdk", 35)):  # (sdk-a)
            found, line = module.level(name, f"{name}Version") or (lowest, 0)
            if found < lowest:
                expected, todo = f"{name} {lowest} or later (sdk-a)", f"Raise {name}, or the build fails."
                yield miss_at(module.file.name, line, str(found), expected=expected, todo=todo)


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
        elif call.name == "provision" and "sdkInput" in call.labels:
            yield miss_in(call, "provision(sdkInput, …)")


def second_tap(facts: Facts) -> Iterator[Miss]:
    """A page whose code does not keep a second tap away."""
    guarded: dict[SourceType | SourceFile, bool] = {}
    for call in facts.a.kotlin.calls:
        # the SDK's call has three arguments; a back end's function of that name has others
        is_sdk = call.name == "provision" and bool(call.receiver) and len(call.arguments) == 3
        if is_sdk and (call.function is None or call.function.name != "fetchOpc"):
            page = call.kind or call.source
            if page not in guarded:
                guarded[page] = _is_guarded(facts, call.source, call.kind.name if call.kind else "")
            if not guarded[page]:
                yield miss_in(call, "nothing that disables it")


def _is_guarded(facts: Facts, source: SourceFile, page: str) -> bool:
    """Whether the file of a page, or one that names it, has a name of something that keeps a second tap away."""
    disables = re.compile(
        r"disabl|enabled|clickable|busy|progress|loading|pending|compareandset|trylock|isactive|mutex|inflight|once"
        r"|throttl|debounc|visib",
        re.IGNORECASE,
    )
    naming = (facts.a.kotlin.source(file) for file in facts.a.kotlin.files if page and page.encode() in file.content)
    return any(disables.search(word) for one in (source, *naming) for word in one.identifiers)


def swallowed(facts: Facts) -> Iterator[Miss]:
    """`fetchOpc` that makes a value out of an error."""
    for function in (one for source in facts.a.kotlin.about for one in source.parts.functions.get("fetchOpc", ())):
        content, file = function.source.file.content, function.source.file.name
        nodes = [*walk(function.node)]
        throws = [one.start_byte for one in nodes if content.startswith(b"throw ", one.start_byte)]

        def throws_nothing(node: Node, throws: list[int] = throws) -> bool:
            return bisect_left(throws, node.start_byte) == bisect_left(throws, node.end_byte)

        for one in nodes:
            if one.type == "catch_block" and throws_nothing(one):
                yield miss_at(file, line_of(one), "fetchOpc has a catch that throws nothing")
        for call in function.calls:
            swallows = call.name in {"getOrDefault", "getOrElse", "getOrNull", "orEmpty", "recover"}
            if swallows and throws_nothing(call.node):
                yield miss_in(call, f"fetchOpc has {call.name}(…)")
        for one in nodes:
            parts = one.children
            if any(part.type == "?:" for part in parts) and "string_literal" in parts[-1].type:
                yield miss_at(file, line_of(one), f"fetchOpc has ?: {text_of(parts[-1]):.20}")


def _traces(facts: Facts, *words: bytes) -> Iterator[tuple[str, int]]:
    """Each file of an app that has one of these words (in small letters), and the line; comments do not count."""
    comment = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
    for file in facts.app_files:
        if file.mentions(*words):
            # the lines of a comment stay, so that the line of a finding is right
            text = file.content.replace(b"://", b":::").lower()  # an address begins no comment
            code = comment.sub(lambda match: b"\n" * match[0].count(b"\n"), text)
            if places := [at for word in words if (at := code.find(word)) >= 0]:
                yield file.name, code.count(b"\n", 0, min(places)) + 1


def api_address(facts: Facts) -> Iterator[Miss]:
    """The API's path in what becomes an app; only a client of the API writes it."""
    for file, line in _traces(facts, b"/bcl/v2", b"networktokenactivationdata"):
        yield miss_at(file, line, "the API's path")


def api_key(facts: Facts) -> Iterator[Miss]:
    """The API's key in what becomes an app, or the header for it.

    Many gateways have a header of that name, so without another trace of the API it is only noted.
    """
    keys = [value.lower().encode() for _name, value, _line in facts.keys if value in facts.secrets]
    is_sure = any(api_address(facts)) or any(_traces(facts, *keys))
    todo = "Take the key out of the app, and replace it: whoever has the app has the key."
    more = "" if is_sure else " If this is the header of your own gateway, ignore this note."
    for file, line in _traces(facts, b"x-api-key", *keys):
        yield miss_at(file, line, "the API's key, or the header for it", todo=f"{todo}{more}", noted=not is_sure)


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
        todo = f"Put {wanted} into the repository."
        yield Miss(f"version {wanted}", ", ".join(versions), todo, rule="A-DEP-1")
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
            yield miss_at(name, 1, "none", expected="a .pom beside the library", todo=todo, noted=True)


def sent_pairs(facts: Facts) -> Iterator[Miss]:
    """What was sent for allowlisting, beside what is built and signed."""
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
    for row in allowlist_request([(one.name, one.application_id) for _module, one in variants], facts.certificates):
        pair = row["applicationId"], row["sha256"]
        if pair not in sent and pair[0] in ids and pair[1] in prints:
            expected = "every pair of application id and fingerprint allowlisted"
            todo = f"Send the pair for {row['variant']}, or it gets 15009 (wallet)."
            yield Miss(expected, f"{pair[0]} was not sent with {pair[1]}", todo)
    for one in facts.certificates:
        if one.fingerprint not in prints:
            todo = "Send it: workbook preflight allowlist-request."
            observed = f"{one.fingerprint} was not sent"
            yield miss_at(one.source, one.line, observed, expected="every fingerprint allowlisted", todo=todo)


def debug_certificates(facts: Facts) -> Iterator[Miss]:
    """Default debug certificates: each machine has its own."""
    for one in facts.certificates:
        if one.debug:
            of = f" of {one.variant}" if one.variant else ""
            yield miss_at(one.source, one.line, f"the default debug certificate{of}")


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
            todo = "Set the key of your credential."
            yield miss_at(
                facts.environment_file, line, f"{name} holds a placeholder", expected="a key", todo=todo, harms=True
            )
        is_live = re.search(r"live|prod", name + value, re.IGNORECASE) is not None
        kind = "live" if is_live else "test" if of_test.search(name + value) else environment
        if addresses and kind != environment:
            observed = f"{name} looks like a {kind} key beside a {environment} address"
            todo = "Use the key of that environment; another key gets a 401 (openapi)."
            expected = "a key of the address's environment"
            yield miss_at(
                facts.environment_file, line, observed, expected=expected, todo=todo, rule="API-4", noted=True
            )


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


A, E = Part.PLATFORM_A, Part.ENVIRONMENT
CASES = (
    preflight_case("form", "text.readable", "Every build file, version catalog and source can be read.", "GAP-8",
                   lambda facts: unread(facts.unread)),
    preflight_case("fidelity", "gradle.library-version", "The private library has the version that goes with the "
                   "SDK.", "A-DEP-1", library_version, Part.LIBRARY, Part.LIBRARY_VERSION, Part.SDK_A_VERSION,
                   harms=True),
    preflight_case("fidelity", "gradle.sdk-version", "All modules use one version of the SDK.", "A-MIG-1",
                   one_sdk_version, Part.SDK_A_VERSION, expected="one version of the SDK",
                   todo="Use the latest version in all modules.", noted=True),
    preflight_case("form", "gradle.repository", "A local or internal repository can hold the private library.",
                   "A-DEP-2", repositories, A, expected="mavenLocal() or an internal repository", harms=True,
                   todo="Get the private library from the operator's contact or the wallet provider, and add the "
                   "repository that holds it."),
    preflight_case("secrecy", "gradle.publishing", "Nothing publishes the private library.", "A-DEP-3", publishing,
                   A, harms=True),
    preflight_case("form", "gradle.levels", "minSdk and compileSdk are as high as the SDK needs.", "GAP-8", levels,
                   Part.SDK_A_VERSION, noted=True),
    preflight_case("form", "gradle.application-ids", "Each application id is known, with its variants.",
                   "A-ALLOW-2", application_ids, Part.APP_IDS, expected="each application id allowlisted on its own",
                   todo="Send them all: workbook preflight allowlist-request.", noted=True),
    preflight_case("fidelity", "kotlin.deprecated", "The app makes no call that 0.4.0 deprecated.", "A-MIG-1",
                   deprecated_calls, A, expected="provision(cardDisplayName, cardAddress, opcProvider)",
                   todo="Remove createSdkOutput(), implement OpcProvider, and call the new provision."),
    preflight_case("concurrency", "kotlin.button", "The page keeps a second tap away.", "A-BTN-1", second_tap, A,
                   expected="the button disabled from the tap until the attempt is over",
                   todo="Disable the button in the tap itself, before anything suspends; enable it in finally."),
    preflight_case("faults", "kotlin.fetch-opc", "fetchOpc swallows no error.", "A-OPC-1", swallowed, A,
                   expected="fetchOpc throws when the back end fails",
                   todo="Throw: the SDK makes OpcFetchError of it. Any text that is returned goes to the wallet as OPC "
                   "data."),
    preflight_case("secrecy", "app.api-address", "The app does not know the API.", "API-13", api_address,
                   expected="no trace of the API in the app",
                   todo="Call your own back end: only it calls the API."),
    preflight_case("secrecy", "app.api-key", "The app has no API key.", "REL-2", api_key,
                   expected="no trace of the API in the app"),
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
                   "API-4", keys, E, Part.KEY),
    preflight_case("form", "environment.role", "The credential has the role.", "API-15",
                   roles, E, expected="the role 'Bank Issuing PaymentInstrument Network Token Activation Data'",
                   todo="Ask the operator's contact, or try one GET: 403 if missing (openapi).", noted=True,
                   owner=Owner.OPERATOR),
    preflight_case("budget", "environment.time-limit", "The back end gives up before the wallet does.", "REL-5",
                   back_end_limits, E, Part.LIMIT, expected="less than the wallet's 20 s",
                   todo="Set it to a few seconds."),
)  # fmt: skip
