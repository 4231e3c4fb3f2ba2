"""The cases of platform A: build files, the private library, Kotlin, and what was sent for allowlisting."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbook.base.rules import Owner
from workbook.tools.harness.model import Miss
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
from workbook.tools.preflight.project import (
    NAME_KINDS,
    SourceCall,
    SourceFile,
    SourceFunction,
    Sources,
    line_of,
    names_in,
    text_of,
    walk,
)
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
    return f"A plugin or a script, or a file that was not read, computes the variants or their ids.{facts.framework}"


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


# A function that a tap runs through, and the byte in its file where it goes on to the next one.
Step = tuple[SourceFunction, int]
HIDES = re.compile(r"\bisVisible\s*=\s*false|\bvisibility\s*=\s*(View\.)?(GONE|INVISIBLE)")
LOCKS = frozenset({"compareAndSet", "getAndSet", "tryLock", "tryAcquire"})
SETTERS = frozenset({"setEnabled", "setClickable", "setVisible"})
# What another event runs: `onCheckedChange = {`, `x.setOnClickListener {`, `Checkbox(...) {`, `postDelayed({`.
HANDLES = re.compile(rb"(\bon[A-Z]\w*\s*=|\.setOn\w+(\([^()]*\))?|\b[A-Z]\w*(\([^{}]*\))?|\bpost\w*\([^(){}]*)\s*\Z")


def sdk_calls(kotlin: Sources) -> Iterator[SourceCall]:
    """The calls of the SDK's `provision`: they have three arguments; a back end's function of that name has others."""
    for call in kotlin.calls:
        is_sdk = call.name == "provision" and bool(call.receiver) and len(call.arguments) == 3
        if is_sdk and (call.function is None or call.function.name != "fetchOpc"):
            yield call


def open_calls(facts: Facts) -> Iterator[SourceCall]:
    """The calls of the SDK that a second tap reaches; of the first twenty, which are more than an app has."""
    return (call for call in islice(sdk_calls(facts.a.kotlin), 20) if not _is_closed(facts, call))


def is_bridge(source: SourceFile) -> bool:
    """Whether a file is the native side of a page in another language: then the button is there."""
    imports = rb"(?mi)^import\s+[\w.]*\b(react|flutter|capacitor|cordova|expo)\b"
    return re.search(imports, source.file.content) is not None


def _is_closed(facts: Facts, call: SourceCall) -> bool:
    """Whether something that is written on the way to this call is asked where a tap begins."""
    steps, sources = _follow(facts.a.kotlin, call)
    seen = {function for function, _end in steps}
    written = {name for function, end in steps for name in _write(function, end, facts.a.kotlin, seen)}
    begins_here = any(re.search(r"\b(onClick|setOnClickListener)\b", text_of(step.node)) for step, _end in steps)
    if len(steps) < 2 and not begins_here:  # the tap comes by a way that cannot be followed, such as a flow of events
        functions = (function for source in sources for function in source.functions)
        written |= {name for function in functions for name in _write(function, None, facts.a.kotlin, seen)}
    asked = {"isEnabled", "isClickable"}  # to write these of a control is enough
    for source in sources:
        asked |= _asked(source, {"provision", *(function.name for function, _end in steps)})
    for layout in facts.project.named("*.xml"):  # data binding
        for binding in re.findall(r'\w:(?:enabled|visibility|clickable)="@\{([^{}]*)\}"', layout.text):
            asked |= set(re.findall(r"\w+", binding))
    for _step in range(2):  # what is asked may be computed from what is written
        asked |= {name for source in sources for name in _computed(source, asked)}
    return not _plain(written).isdisjoint(_plain(asked))


def _plain(names: Iterable[str]) -> set[str]:
    """The names as they are compared: without the underscore of a private twin, and without those of every property."""
    return {name.lstrip("_") for name in names} - {"value", "it", "this", "copy", "true", "false", "null", "View", ""}


def _follow(kotlin: Sources, call: SourceCall) -> tuple[list[Step], list[SourceFile]]:
    """The steps from the SDK's call back to the tap, and the files of the page."""
    steps: list[Step] = []
    page = call.kind.name if call.kind else ""
    sources = {call.source.file.name: call.source}
    waiting = [(call.function, call.node)]
    while waiting and len(steps) < 24:
        function, node = waiting.pop(0)
        if function is None or any(function is known for known, _end in steps):
            continue
        steps.append((function, node.start_byte))
        for source in kotlin.naming(function.name, page):
            sources[source.file.name] = source
            waiting += [(caller.function, caller.node) for caller in source.parts.calls if caller.name == function.name]
            waiting += _references(source, function.name)
    return steps, list(sources.values())


def _references(source: SourceFile, name: str) -> Iterator[tuple[SourceFunction | None, Node]]:
    """Where a function is named without being called: `onClick = page::add`."""
    for node in walk(source.root) if f"::{name}".encode() in source.file.content else ():
        if node.type in {"navigation_expression", "callable_reference"} and text_of(node).endswith(f"::{name}"):
            around = [one for one in source.functions if one.node.start_byte <= node.start_byte < one.node.end_byte]
            yield max(around, key=lambda one: one.node.start_byte, default=None), node


def _run_before(function: SourceFunction, end: int, suspending: frozenset[str]) -> Iterator[Node]:
    """What a tap runs through in a function before it goes on at `end`, in the order of the text.

    What follows a call that suspends comes too late: a second tap is faster. Left out are what handles another event,
    and the other branches of a condition.
    """
    waiting = [(function.node, 0)]  # each with the end of the outermost lambda around it that is over before `end`
    resumed = 0
    while waiting:
        node, closed = waiting.pop()
        if not resumed <= node.start_byte < end:
            continue
        children = node.named_children
        if node.type == "lambda_literal" and node.end_byte <= end:
            if HANDLES.search(function.source.file.content[max(node.start_byte - 120, 0) : node.start_byte]):
                continue
            closed = closed or node.end_byte
        elif node.type in {"when_expression", "if_expression"} and node.end_byte > end:
            subject = [] if children[0].type == "when_entry" else children[:1]
            children = [*subject, *(child for child in children[len(subject) :] if child.end_byte > end)]
        elif node.end_byte <= end and _suspends(function.source, node, suspending):
            if not closed:
                return
            resumed = closed  # a job beside this one waits
            continue
        yield node
        waiting += ((child, closed) for child in reversed(children))


def _suspends(source: SourceFile, node: Node, suspending: frozenset[str]) -> bool:
    is_call = node.type == "call_expression" and bool(node.named_children)
    return is_call and SourceCall(source, node, None, None).name in suspending


def _write(
    function: SourceFunction, end: int | None, kotlin: Sources, seen: set[SourceFunction], depth: int = 2
) -> Iterator[str]:
    """The names that a function writes before this byte (None: anywhere), itself or in others that it calls."""
    ends = function.node.end_byte if end is None else end
    for node in _run_before(function, ends, frozenset() if end is None else kotlin.suspending):
        if node.type == "assignment":
            value = node.named_children[-1]
            is_copy = value.type == "call_expression" and text_of(value.named_children[0]).endswith("copy")
            yield from () if is_copy else names_in(node.named_children[0])
            yield from _capitals(value) if value.end_byte <= ends else ()
            yield from ["isEnabled"] if HIDES.search(text_of(node)) else ()
        elif node.type == "call_expression" and node.named_children and node.end_byte <= ends:
            call = SourceCall(function.source, node, function.kind, function)
            yield from _write_by_call(call, kotlin, seen, depth)


def _write_by_call(call: SourceCall, kotlin: Sources, seen: set[SourceFunction], depth: int) -> Iterator[str]:
    """The names that a call writes: those that it copies with, its states, and those of the function that it calls."""
    if call.name == "copy":
        yield from call.labels
    if call.name in LOCKS or (call.name in SETTERS and "false" in map(text_of, call.arguments)):
        yield "isEnabled"
    if call.name == "launch":
        return
    for argument in call.arguments:
        yield from _capitals(argument)
    own = call.kind.by_name.get(call.name) if call.kind and call.receiver in {"", "this"} else None
    called = [own] if own else kotlin.declaring(call.name)[:4]
    for function in called if depth else ():
        if function not in seen:
            seen.add(function)
            yield from _write(function, None, kotlin, seen, depth - 1)


def _capitals(node: Node) -> Iterator[str]:
    return (name for name in names_in(node) if name[:1].isupper())


def _asked(source: SourceFile, taps: set[str]) -> set[str]:
    """The names in what decides whether a tap leads on, or whether a control is there and enabled."""
    taken = "|".join(["return", "throw", "onClick", "setOnClickListener", *map(re.escape, filter(None, taps))])
    places = [match.start() for match in re.finditer(rf"\b({taken})\b".encode(), source.file.content)]
    tapped = set(re.findall(r"\b(\w+)\??\.setOnClickListener", source.file.text))
    steers = ("enabled", "clickable", "visible", "visibility")  # as the platform ends such names
    found: set[str] = set()
    for node in walk(source.root):
        leads_on = bisect_left(places, node.start_byte) < bisect_left(places, node.end_byte)
        if node.type == "if_expression" and leads_on:
            found |= set(names_in(node.named_children[0]))
        elif node.type == "when_expression" and leads_on:
            found |= _asked_by_when(node)
        elif node.type in {"value_argument", "assignment"} and len(node.named_children) > 1:
            first = node.named_children[0]
            named = first.type in {*NAME_KINDS, "navigation_expression"} and text_of(first).lower().endswith(steers)
            if named and not (node.type == "assignment" and _shows_another(text_of(node), tapped)):
                found |= set(names_in(node.named_children[-1]))
    for call in source.parts.calls:
        found |= {name for argument in call.arguments for name in names_in(argument) if call.name in SETTERS}
    return found


def _asked_by_when(node: Node) -> set[str]:
    """The names in its subject, and in the conditions of its entries."""
    asked = [part for part in node.named_children if part.type == "when_subject"]
    for entry in (part for part in node.named_children if part.type == "when_entry"):
        asked += entry.named_children[:-1]
    return {name for part in asked for name in names_in(part)}


def _shows_another(assignment: str, tapped: set[str]) -> bool:
    """Whether this shows a control while something is so, and the control is none of those that are tapped."""
    shown = re.fullmatch(r"(?:[\w.?]*\.)?(\w+)\??\.(?:isVisible|visible)\s*=\s*[\w.?]+", assignment)
    return shown is not None and bool(tapped) and shown[1] not in tapped


def _computed(source: SourceFile, asked: set[str]) -> Iterator[str]:
    """The names from which a file computes a property that is asked."""
    for node in walk(source.root):
        if node.type == "property_declaration":
            declared = next((part for part in node.named_children if part.type == "variable_declaration"), None)
            if declared is not None and set(names_in(declared)[:1]) & asked:
                parts = (part for part in node.named_children if part.start_byte > declared.start_byte)
                yield from (name for part in parts for name in names_in(part))
