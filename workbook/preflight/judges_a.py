"""The cases of platform A: build files, the private library, Kotlin; and the API's address and key, for both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import new as new_hash
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbook.base.files import read_regular
from workbook.harness.model import Group, Miss, Owner
from workbook.preflight.gradle import Module, Statement, numbers
from workbook.preflight.judges_b import unread
from workbook.preflight.model import ADDRESSES, KEYS, LATER_A, LIMITS, Facts, Part, miss_at, preflight_case
from workbook.preflight.project import read_project
from workbook.preflight.signing import allowlist_request
from workbook.preflight.sources import (
    FUNCTIONS,
    STRINGS,
    TYPES,
    SourceFile,
    calls_in,
    enclosing,
    line_of,
    name_of,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

PUBLIC_HOSTS = re.compile(
    r"(^|\.)(maven\.org|maven\.apache\.org|jitpack\.io|sonatype\.org|sonatype\.com|gradle\.org|jcenter\.bintray\.com)\Z"
)
"""Hosts of public repositories."""
LOCAL, PUBLIC = frozenset({"mavenLocal", "flatDir"}), frozenset({"mavenCentral", "gradlePluginPortal", "jcenter"})
MIN_SDK, COMPILE_SDK = 26, 35
"""What platform A's SDK needs from 0.4.0 on (sdk-a)."""
MOST_IDS = 6
"""Application ids that a finding shows; the request for allowlisting has them all."""
BUNDLING = re.compile(r"embed|fat|shade|shadow|bundle", re.IGNORECASE)
DISABLING = re.compile(
    r"disabl|enabled|clickable|busy|progress|loading|pending|compareandset|trylock|isactive|mutex|inflight|once|throttl"
    r"|debounc|visib",
    re.IGNORECASE,
)
"""Names by which code keeps a second tap away; a file with one of them is not blamed."""
SWALLOWING = frozenset({"getOrDefault", "getOrElse", "getOrNull", "orEmpty", "recover"})
API_PATH, API_HEADER = (b"/bcl/v2", b"networktokenactivationdata"), b"x-api-key"
"""Words that only a client of the API writes, and the header of its key; all in small letters."""
SHORTEST_KEY = 12
"""A value of the back end's environment is looked for in the app if it has at least so many characters."""
TESTING = re.compile(r"test|sandbox|stag|\buat\b|demo", re.IGNORECASE)
"""What the name or the address of a test environment has in it."""
COMMENTS = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
LARGEST_LIBRARY = 64 * 1_048_576


def _miss(module: Module, line: int, expected: str, observed: str, todo: str, *, noted: bool = False) -> Miss:
    return Miss(expected, observed, todo, noted=noted, harms=not noted, file=module.file.name, line=line)


def library_version(facts: Facts) -> Iterator[Miss]:
    """The private library's version beside the SDK's."""
    wanted = facts.a.wanted_library
    for one in facts.a.library:
        if numbers(one.version) and one.version != wanted:
            version = ".".join(map(str, facts.a.version))
            todo = f"Set the library to {wanted}, or leave it out: the SDK brings it."
            yield miss_at(
                one.file.name, one.line, f"{wanted}, which SDK {version} needs", one.version, todo, harms=True
            )


def one_sdk_version(facts: Facts) -> Iterator[Miss]:
    """One version of the SDK in all modules."""
    versions = {numbers(one.version) for one in facts.a.sdk if numbers(one.version)}
    if len(versions) > 1:
        for one in facts.a.sdk:
            if numbers(one.version) not in {(), max(versions)}:
                todo = "Use the latest version in all modules."
                yield miss_at(one.file.name, one.line, "one version of the SDK", one.version, todo, noted=True)


def repositories(facts: Facts) -> Iterator[Miss]:
    """A repository that can hold the private library; judged only with an app: its build names them."""
    found = list(facts.a.build.repositories()) if facts.a.build.apps else []
    if not found or not (facts.a.sdk or facts.a.library) or any(_is_internal(one, module) for module, one in found):
        return
    module, first = found[0]
    todo = (
        "Get the private library from the operator's contact or the wallet provider, and add the repository "
        "that holds it."
    )
    yield _miss(module, first.line, "mavenLocal() or an internal repository", "public repositories only", todo)


def _is_internal(one: Statement, module: Module) -> bool:
    """Whether a repository may hold what is not public; one that cannot be judged may."""
    every = [one, *one.all_below()]
    if any(inner.name in LOCAL for inner in every):
        return True
    if one.name in PUBLIC or (one.name.islower() and one.name not in {"maven", "ivy"} and len(one.words) == 1):
        return False
    urls = [module.resolved(text) or text for inner in every for text in inner.strings if "://" in text]
    return not urls or not all(PUBLIC_HOSTS.search(urlsplit(url).hostname or "") for url in urls)


def publishing(facts: Facts) -> Iterator[Miss]:
    """What would publish the private library."""
    wanted = re.compile(facts.library, re.IGNORECASE)
    for module in facts.a.build.modules:
        publications = [*module.root.below("publishing", "publications", "uploadArchives")]
        publishes = bool(publications) or module.has_plugin("maven-publish", "publish", "maven")
        targets = [one for block in publications for one in block.below("artifact", "from", "artifactId", "groupId")]
        for part in targets:
            if any(wanted.search(text) for text in (*part.strings, *part.words[1:])):
                named = " ".join(part.strings) or part.words[-1]
                todo = "Take the library out of what is published: it is not public."
                yield _miss(module, part.line, "a publication without the private library", named, todo)
        for one in facts.a.library:
            if one.file is module.file and publishes and BUNDLING.search(one.configuration):
                todo = "Depend on the library instead of bundling it."
                yield _miss(
                    module,
                    one.line,
                    "a publication that does not contain the private library",
                    f"{one.configuration} puts {one.coordinate} into what the module publishes",
                    todo,
                )


def levels(facts: Facts) -> Iterator[Miss]:
    """The levels that the SDK needs from 0.4.0 on."""
    wanted = ((("minSdk", "minSdkVersion"), MIN_SDK), (("compileSdk", "compileSdkVersion"), COMPILE_SDK))
    if facts.a.version < LATER_A:
        return
    for module in facts.a.build.apps:
        for names, lowest in wanted:
            found = module.level(*names)
            if found is not None and found[0] < lowest:
                todo = f"Raise {names[0]}, or the build fails."
                yield _miss(module, found[1], f"{names[0]} {lowest} or later (sdk-a)", str(found[0]), todo, noted=True)


def application_ids(facts: Facts) -> Iterator[Miss]:
    """The application ids of all variants: each needs its own allowlisting."""
    for module in facts.a.build.apps:
        ids: dict[str, list[str]] = {}
        for variant in module.variants():
            ids.setdefault(variant.application_id, []).append(variant.name)
        if len(ids) > 1:
            rows = [f"{one} ({', '.join(names)})" for one, names in ids.items()]
            more = [f"and {len(rows) - MOST_IDS} more"] if len(rows) > MOST_IDS else []
            todo = "Send them all: workbook preflight allowlist-request."
            yield _miss(
                module,
                module.file.line("applicationId"),
                "each application id allowlisted on its own",
                f"{len(ids)} application ids: {'; '.join([*rows[:MOST_IDS], *more])}",
                todo,
                noted=True,
            )


def deprecated_calls(facts: Facts) -> Iterator[Miss]:
    """The calls that 0.4.0 deprecated."""
    todo = "Remove createSdkOutput(), implement OpcProvider, and call the new provision."
    for source in facts.a.kotlin.about if facts.a.is_later else ():
        for call in source.calls:
            old = call.name == "provision" and "sdkInput" in call.labels
            if old or call.name == "createSdkOutput":
                what = "provision(sdkInput, …)" if old else "createSdkOutput()"
                wanted = "provision(cardDisplayName, cardAddress, opcProvider)"
                yield miss_at(source.file.name, line_of(call.node), wanted, what, todo)


def second_tap(facts: Facts) -> Iterator[Miss]:
    """A page whose code does not keep a second tap away."""
    for source in facts.a.kotlin.about:
        for call in source.calls:
            own = enclosing(call.node, FUNCTIONS)
            # the SDK's call has three arguments; a back end's function of that name has others
            is_sdk = call.name == "provision" and bool(call.receiver) and len(call.arguments) == 3
            if not is_sdk or (own is not None and name_of(own) == "fetchOpc"):
                continue
            kind = enclosing(call.node, TYPES)
            users = {name_of(kind)} if kind is not None else set()
            pages = [one for one in facts.a.kotlin.about if one is source or one.identifiers & users]
            beside = [
                SourceFile(file)
                for file in facts.a.kotlin.files
                if users and file.name != source.file.name and any(user.encode() in file.content for user in users)
            ]
            if not any(DISABLING.search(name) for one in (*pages, *beside) for name in one.identifiers):
                todo = "Disable the button in the tap itself, before anything suspends; enable it in finally."
                yield miss_at(
                    source.file.name,
                    line_of(call.node),
                    "the button disabled from the tap until the attempt is over",
                    "nothing that disables it",
                    todo,
                )


def swallowed(facts: Facts) -> Iterator[Miss]:
    """`fetchOpc` that makes a value out of an error."""
    for source in facts.a.kotlin.about:
        for node in source.every(FUNCTIONS):
            if name_of(node) != "fetchOpc":
                continue
            for one in walk(node):
                if one.type == "catch_block" and not _throws(one):
                    yield _swallowed(source, one.start_point[0] + 1, "a catch that throws nothing")
            for call in calls_in(node):
                if call.name in SWALLOWING and not _throws(call.node):
                    yield _swallowed(source, line_of(call.node), f"{call.name}(…)")
            for one in walk(node):
                parts = one.children
                if (one.type == "elvis_expression" or any(p.type == "?:" for p in parts)) and parts[-1].type in STRINGS:
                    yield _swallowed(source, line_of(one), f"?: {text_of(parts[-1]):.20}")


def _throws(node: Node) -> bool:
    return any(text_of(one).startswith("throw ") for one in walk(node))


def _swallowed(source: SourceFile, line: int, observed: str) -> Miss:
    todo = "Throw: the SDK makes OpcFetchError of it. Any text that is returned goes to the wallet as OPC data."
    return miss_at(source.file.name, line, "fetchOpc throws when the back end fails", f"fetchOpc has {observed}", todo)


def api_address(facts: Facts) -> Iterator[Miss]:
    """The API's path in what becomes an app."""
    for file, line in _traces(facts, API_PATH):
        todo = "Call your own back end: only it calls the API."
        yield Miss("no trace of the API in the app", "the API's path", todo, file=file, line=line)


def api_key(facts: Facts) -> Iterator[Miss]:
    """The API's key in what becomes an app, or the header for it.

    Many gateways have a header of that name, so without another trace of the API it is only noted.
    """
    values = [value.lower().encode() for _name, value, _line in facts.settings(KEYS)]
    keys = tuple(value for value in values if len(value) >= SHORTEST_KEY)
    sure = any(True for _place in _traces(facts, (*API_PATH, *keys)))
    for file, line in _traces(facts, (API_HEADER, *keys)):
        todo = "Take the key out of the app, and replace it: whoever has the app has the key." + (
            "" if sure else " If this is the header of your own gateway, ignore this note."
        )
        yield miss_at(
            file, line, "no trace of the API in the app", "the API's key, or the header for it", todo, noted=not sure
        )


def _traces(facts: Facts, words: tuple[bytes, ...]) -> Iterator[tuple[str, int]]:
    """Each file of an app that has one of these words (in small letters), and the line; comments do not count."""
    for file in facts.app_files:
        if not file.mentions(*words):
            continue
        # the lines of a comment stay, so that the line of a finding is right
        code = COMMENTS.sub(lambda match: b"\n" * match[0].count(b"\n"), file.content.replace(b"://", b":::")).lower()
        found = min((at for word in words if (at := code.find(word)) >= 0), default=-1)
        if found >= 0:
            yield file.name, code.count(b"\n", 0, found) + 1


def in_repository(facts: Facts) -> Iterator[Miss]:
    """The private library in the local repository: it is there, and its version and checksums are right."""
    root, wanted = facts.repository or Path(), facts.a.wanted_library
    pattern = re.compile(facts.library, re.IGNORECASE)
    paths = (file.path for file in read_project([root]).named("*.aar", "*.jar"))
    found = [path for path in paths if pattern.search(path.parent.parent.name)]
    versions = sorted({path.parent.name for path in found})
    if not found:
        todo = "Ask the operator's implementation contact or the wallet provider for the library."
        yield Miss("the private library", f"nothing like it in {root}", todo, harms=True)
    elif wanted and wanted not in versions:
        yield Miss(
            f"version {wanted}", ", ".join(versions), f"Put {wanted} into the repository.", rule="A-DEP-1", harms=True
        )
    for path in found:
        for ending in ("sha1", "sha256", "sha512", "md5"):
            listed = path.with_name(f"{path.name}.{ending}")
            if listed.is_file():
                said = read_regular(listed, 1024).decode("ascii", "replace").split()
                if said[:1] != [new_hash(ending, read_regular(path, LARGEST_LIBRARY)).hexdigest()]:
                    todo = "Copy the library again."
                    yield miss_at(
                        str(path.relative_to(root)),
                        1,
                        f"the {ending} that {listed.name} says",
                        "another",
                        todo,
                        harms=True,
                    )
        if not path.with_suffix(".pom").is_file():
            todo = "Copy the whole folder of this version."
            yield miss_at(str(path.relative_to(root)), 1, "a .pom beside the library", "none", todo, noted=True)


def sent_pairs(facts: Facts) -> Iterator[Miss]:
    """What was sent for allowlisting, beside what is built and signed."""
    sent = facts.sent or frozenset()
    ids = {identity for identity, _print in sent}
    for module in facts.a.build.apps:
        line = module.file.line("applicationId")
        for variant in module.variants():
            if variant.application_id not in ids:
                todo = f"Send it for {variant.name}, or it gets 15009 (wallet)."
                yield _miss(
                    module, line, "every application id allowlisted", f"{variant.application_id} was not sent", todo
                )
    variants = [(one.name, one.application_id) for module in facts.a.build.apps for one in module.variants()]
    prints = {fingerprint for _identity, fingerprint in sent}
    for row in allowlist_request(variants, facts.certificates):
        pair = row["applicationId"], row["sha256"]
        if pair not in sent and pair[0] in ids and pair[1] in prints:
            todo = f"Send the pair for {row['variant']}, or it gets 15009 (wallet)."
            yield Miss(
                "every pair of application id and fingerprint allowlisted",
                f"{pair[0]} was not sent with {pair[1]}",
                todo,
                harms=True,
            )
    for one in facts.certificates:
        if one.fingerprint not in prints:
            todo = "Send it: workbook preflight allowlist-request."
            yield miss_at(
                one.source,
                one.line,
                "every fingerprint allowlisted",
                f"{one.fingerprint} was not sent",
                todo,
                harms=True,
            )


def debug_certificates(facts: Facts) -> Iterator[Miss]:
    """Default debug certificates: each machine has its own."""
    for one in facts.certificates:
        if one.debug:
            todo = "Each machine has its own: allowlist each, or share one debug keystore."
            yield miss_at(
                one.source,
                one.line,
                "a certificate of your own",
                f"the default debug certificate{one.variant and ' of '}{one.variant}",
                todo,
                noted=True,
            )


def base_urls(facts: Facts) -> Iterator[Miss]:
    """The API's address in the back end's environment."""
    for name, value, line in facts.settings(ADDRESSES):
        parts = urlsplit(value)
        local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        wrong = "holds no https address" if not parts.hostname or (parts.scheme != "https" and not local) else ""
        if wrong or re.search(r"/bcl/v\d", value):
            todo = "Set the scheme and the host alone: the path is the same for everybody."
            yield miss_at(
                facts.environment_file,
                line,
                "an https address without /bcl/v2",
                f"{name} {wrong or 'ends in the path'}",
                todo,
                harms=True,
            )


def keys(facts: Facts) -> Iterator[Miss]:
    """The API's key: it is there, it is no placeholder, and it is of the same environment as the address."""
    wrong = "looks like a {} key beside a {} address"
    found = [*facts.settings(KEYS)]
    places = {value.lower() for _name, value, _line in facts.settings(ADDRESSES)}
    testing = any(TESTING.search(value) for value in places)
    for name, value, line in found:
        if not value or re.search(r"^<.*>$|change.?me|your.?key|todo|xxx|example", value, re.IGNORECASE):
            todo = "Set the key of your credential."
            yield miss_at(facts.environment_file, line, "a key", f"{name} holds a placeholder", todo, harms=True)
        live = re.search(r"live|prod", name + value, re.IGNORECASE) is not None
        if places and (live if testing else not live and TESTING.search(name + value)):
            todo = "Use the key of that environment; another key gets a 401 (openapi)."
            yield miss_at(
                facts.environment_file,
                line,
                "a key of the address's environment",
                f"{name} {wrong.format('live', 'test') if testing else wrong.format('test', 'live')}",
                todo,
                rule="API-4",
                noted=True,
            )


def back_end_limits(facts: Facts) -> Iterator[Miss]:
    """The back end's time limits, below the wallet's 20 seconds."""
    for name, value, line in facts.settings(LIMITS):
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds)?", value, re.IGNORECASE):
            number, unit = float(match[1]), (match[2] or "").lower()
            milli = unit == "ms" or (not unit and (name.upper().endswith("_MS") or number >= 1000))
            seconds = number / (1000 if milli else 1)
            if seconds >= 20:
                todo = "Set it to a few seconds."
                yield miss_at(
                    facts.environment_file, line, "less than the wallet's 20 s", f"{name} is {seconds:g} s", todo
                )


def roles(facts: Facts) -> Iterator[Miss]:
    """What no file can say about the credential."""
    todo = "Ask the operator's contact, or try one GET: 403 if missing (openapi)."
    yield miss_at(
        facts.environment_file,
        1,
        "the role 'Bank Issuing PaymentInstrument Network Token Activation Data'",
        "no file says which roles the credential has",
        todo,
        noted=True,
    )


A, E = Part.PLATFORM_A, Part.ENVIRONMENT
CASES = (
    preflight_case(Group.FORM, "text.readable", "Every build file, version catalog and source can be read.", "GAP-8",
                   lambda facts: unread(facts.unread)),
    preflight_case(Group.FIDELITY, "gradle.library-version", "The private library has the version that goes with the "
                   "SDK.", "A-DEP-1", library_version, Part.LIBRARY, Part.LIBRARY_VERSION, Part.SDK_A_VERSION),
    preflight_case(Group.FIDELITY, "gradle.sdk-version", "All modules use one version of the SDK.", "A-MIG-1",
                   one_sdk_version, Part.SDK_A_VERSION),
    preflight_case(Group.FORM, "gradle.repository", "A local or internal repository can hold the private library.",
                   "A-DEP-2", repositories, A),
    preflight_case(Group.SECRECY, "gradle.publishing", "Nothing publishes the private library.", "A-DEP-3", publishing,
                   A),
    preflight_case(Group.FORM, "gradle.levels", "minSdk and compileSdk are as high as the SDK needs.", "GAP-8", levels,
                   Part.SDK_A_VERSION),
    preflight_case(Group.FORM, "gradle.application-ids", "Each application id is known, with its variants.",
                   "A-ALLOW-2", application_ids, Part.APP_IDS),
    preflight_case(Group.FIDELITY, "kotlin.deprecated", "The app makes no call that 0.4.0 deprecated.", "A-MIG-1",
                   deprecated_calls, A),
    preflight_case(Group.CONCURRENCY, "kotlin.button", "The page keeps a second tap away.", "A-BTN-1", second_tap, A),
    preflight_case(Group.FAULTS, "kotlin.fetch-opc", "fetchOpc swallows no error.", "A-OPC-1", swallowed, A),
    preflight_case(Group.SECRECY, "app.api-address", "The app does not know the API.", "API-13", api_address),
    preflight_case(Group.SECRECY, "app.api-key", "The app has no API key.", "REL-2", api_key),
    preflight_case(Group.FORM, "library.in-repository", "The private library is in the local repository, whole and in "
                   "the right version.", "A-DEP-2", in_repository, Part.REPOSITORY),
    preflight_case(Group.FORM, "signing.sent", "What is built and signed is what was sent for allowlisting.",
                   "A-ALLOW-1", sent_pairs, Part.SENT, owner=Owner.OPERATOR),
    preflight_case(Group.FORM, "signing.debug", "The default debug certificate is known as such.", "A-ALLOW-4",
                   debug_certificates, Part.CERTIFICATES),
    preflight_case(Group.FORM, "environment.base-url", "The API's address is an https address without the path.",
                   "API-1", base_urls, E, Part.ADDRESS),
    preflight_case(Group.FORM, "environment.key", "The API's key is there, and belongs to the address's environment.",
                   "API-4", keys, E, Part.KEY),
    preflight_case(Group.FORM, "environment.role", "The credential has the role.", "API-15", roles, E,
                   owner=Owner.OPERATOR),
    preflight_case(Group.BUDGET, "environment.time-limit", "The back end gives up before the wallet does.", "REL-5",
                   back_end_limits, E, Part.LIMIT),
)  # fmt: skip
