"""What preflight has read, and what one of its cases is."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from workbook.base.rules import Owner
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.tools.harness.model import Case, Miss
from workbook.tools.preflight.gradle import BUILD_SCRIPTS, Build, Dependency, numbers
from workbook.tools.preflight.project import (
    IN_APPS,
    JVM,
    SCRIPTS,
    File,
    Project,
    SourceCall,
    SourceFunction,
    Sources,
    SourceType,
    line_of,
)
from workbook.tools.preflight.signing import SigningCertificate
from workbook.tools.preflight.targets import BuildTarget, Targets

# From this version on platform A's SDK asks for the OPC data itself.
LATER_A = (0, 4, 0)


@dataclass(frozen=True)
class ProjectA:
    """A project of platform A.

    Attributes:
        build: what the build scripts say.
        kotlin: the sources.
        sdk: every dependency on the SDK.
        library: every dependency on the wallet provider's private library.
        java: the sources about provisioning that no grammar here reads.
        is_marked: whether the user, or what the project calls or depends on, says that it adds cards.
    """

    build: Build = field(default_factory=Build)
    kotlin: Sources = field(default_factory=lambda: Sources((), ()))
    sdk: tuple[Dependency, ...] = ()
    library: tuple[Dependency, ...] = ()
    java: tuple[File, ...] = ()
    is_marked: bool = False

    @property
    def is_there(self) -> bool:
        """Whether anything here is about provisioning."""
        return bool(self.sdk or self.library or self.kotlin.about or self.java or self.is_marked)

    @property
    def version(self) -> tuple[int, ...]:
        """The SDK's version; none where it is unknown."""
        return max((numbers(entry.version) for entry in self.sdk), default=())

    @cached_property
    def is_later(self) -> bool | None:
        """Whether the SDK is 0.4.0 or later: by its version, else by an `OpcProvider`; None if unknown."""
        if self.version:
            return self.version >= LATER_A
        return True if any("OpcProvider" in source.identifiers for source in self.kotlin.about) else None

    @property
    def library_is_known(self) -> bool:
        """Whether a public source names the library's version for this SDK: for 0.4 alone (sdk-a)."""
        return self.version[:2] == LATER_A[:2]

    @property
    def wanted_library(self) -> str:
        """The library's version that goes with the SDK; empty where the SDK's is unknown."""
        if self.is_later is None:
            return ""
        return (A_FROM_0_4_0 if self.is_later else A_BEFORE_0_4_0).facts.push_provisioning_library


@dataclass(frozen=True)
class Package:
    """The SDK's package as a file pins it: its name, its version, its place."""

    name: str
    version: str
    file: File
    line: int


@dataclass(frozen=True)
class ProjectB:
    """A project of platform B.

    Attributes:
        targets: what is built, each in each configuration.
        packages: the SDK's package, wherever a version of it is pinned.
        swift: the sources.
        others: the sources about provisioning that no grammar here reads.
        is_marked: as of platform A.
    """

    targets: Targets = field(default_factory=Targets)
    packages: tuple[Package, ...] = ()
    swift: Sources = field(default_factory=lambda: Sources((), ()))
    others: tuple[File, ...] = ()
    is_marked: bool = False

    @property
    def version(self) -> tuple[int, ...]:
        """The SDK's version, the latest of several; none where it is unknown."""
        return max((numbers(package.version) for package in self.packages), default=())

    @property
    def written_version(self) -> str:
        """The same as text, and the place that pins it."""
        pinning = next(package for package in self.packages if numbers(package.version) == self.version)
        return f"{'.'.join(map(str, self.version))}, as {pinning.file.name}:{pinning.line} pins it,"

    @cached_property
    def handlers(self) -> list[SourceType]:
        """Each type that is a handler of the issuer-provisioning extension."""
        types = [kind for kind in self.swift.types if "status" in kind.by_name]
        return [kind for kind in types if any(re.search("IssuerProvisioning.*Handler", head) for head in kind.heads)]

    def delegates(self, name: str) -> Iterator[tuple[bool, list[SourceFunction]]]:
        """Each delegate of the SDK: whether it is the extension's, and its functions with this name, if it has any.

        The document names no protocol. Where a protocol's name does not tell, the functions do: `provision` takes an
        `sdkOutput`, the extension's delegate has `cardArt` and the app's has `didFinishProvisioning`.
        """
        for source in self.swift.about:
            types: dict[str, list[SourceType]] = {}  # a type and its extensions
            for kind in source.parts.types:
                types.setdefault(kind.name, []).append(kind)
            for kinds in types.values():
                functions = [function for kind in kinds for function in kind.functions]
                heads = [head for kind in kinds for head in kind.heads if re.search(r"Provisioning\w*Delegate", head)]
                roles = ["Extension" in head for head in heads]
                if not heads and any("sdkOutput" in each.labels for each in functions if each.name == "provision"):
                    names = {function.name for function in functions}
                    telling = (("cardArt", True), ("didFinishProvisioning", False))
                    roles = [of_extension for own, of_extension in telling if own in names]
                found = [function for function in functions if function.name == name]
                if len(roles) == 1 and found:
                    yield roles[0], found

    @property
    def is_there(self) -> bool:
        """Whether anything here is about provisioning."""
        is_about = self.targets.provisioning or self.swift.about or self.others or self.targets.generating
        return bool(is_about) or (self.is_marked and bool(self.targets.all))


class Setting(NamedTuple):
    """A line of the back end's environment."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class Facts:
    """Everything that was read.

    Attributes:
        project: the files.
        a: platform A's part.
        b: platform B's part.
        certificates: those that the user named, each with the machine that it is of.
        signed: platform B's apps and extensions in the archives and profiles that the user named.
        sent: what was sent for allowlisting, as pairs of an application id and a fingerprint; None if unknown.
        library: a pattern of the private library's name.
        environment: the back end's settings; None if the user named no file.
        environment_file: their file.
    """

    project: Project
    a: ProjectA = field(default_factory=ProjectA)
    b: ProjectB = field(default_factory=ProjectB)
    certificates: tuple[SigningCertificate, ...] = ()
    signed: tuple[BuildTarget, ...] = ()
    sent: frozenset[tuple[str, str]] | None = None
    library: str = ""
    environment: tuple[Setting, ...] | None = None
    environment_file: str = ""

    @cached_property
    def app_files(self) -> tuple[File, ...]:
        """The files that end up in an app, or configure it: sources, resources and build files, without tests."""
        found = self.project.named(*(f"*{ending}" for ending in IN_APPS), *BUILD_SCRIPTS, "app.json", ".env")
        return tuple(file for file in found if not file.is_test and self._in_app(file))

    @cached_property
    def unread(self) -> tuple[tuple[File, str], ...]:
        """The build files, catalogs and sources that cannot be read, and why."""
        sources = (*self.a.kotlin.files, *self.b.swift.files)
        no_text = ((file, file.no_text) for file in sources if file.no_text)
        return *self.a.build.broken, *no_text, *self.a.kotlin.refused.items(), *self.b.swift.refused.items()

    @cached_property
    def framework(self) -> str:
        """A sentence about a framework whose language no grammar here reads; empty where the project uses none."""
        for name, mark, made, language in (
            ("pubspec.yaml", b"sdk: flutter", "a Flutter app", "Dart"),
            ("*.csproj", b"<UseMaui>true", "a .NET MAUI app", "C# (and what it says of platform A)"),
        ):
            for file in self.project.named(name):
                if mark in file.content:
                    return f" {file.name} makes {made}, and {language} is only searched as text."
        return ""

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The values of the environment that count as secret: those of 12 characters and more."""
        return frozenset(setting.value for setting in self.environment or () if len(setting.value) >= 12)

    def settings(self, *words: str) -> list[Setting]:
        """The back end's settings that have one of these words in their names."""
        return [setting for setting in self.environment or () if any(word in setting.name.upper() for word in words)]

    @property
    def keys(self) -> list[Setting]:
        """Those that hold a key of the API."""
        return self.settings("API_KEY", "APIKEY")

    @property
    def addresses(self) -> list[Setting]:
        """Those that hold its address."""
        return self.settings("BASE_URL", "API_URL")

    def _in_app(self, file: File) -> bool:
        """Whether it belongs to what runs on a phone; a back end in the same tree may know address and key."""
        if file.name.endswith((*JVM, ".gradle", ".kts")):
            return not self.a.build.is_of_server(file)
        # a package belongs to a server if its manifest names one of the usual frameworks for it
        node = rb'"(express|fastify|koa|@nestjs/core|@hapi/hapi|hono)"\s*:'
        for manifest, endings, frameworks in (
            ("package.json", (*SCRIPTS, "app.json"), node),
            ("pubspec.yaml", (".dart",), rb"^\s+(shelf|dart_frog|serverpod)\s*:"),
            ("Package.swift", (".swift",), rb"\bvapor\b|\bhummingbird\b"),
        ):
            if file.name.endswith(endings):
                manifests = (self.project.at(folder / manifest) for folder in file.path.parents)
                nearest = next(filter(None, manifests), None)
                if nearest is not None and re.search(frameworks, nearest.content, re.MULTILINE):
                    return False
        return b"import Vapor" not in file.content


# Why a case cannot be judged, as a sentence that says what would change that; empty where it can.
Reason: TypeAlias = Callable[[Facts], str]
# What a case is about.
PreflightGroup: TypeAlias = Literal["form", "fidelity", "secrecy", "faults", "budget", "concurrency"]


def unless(is_so: Callable[[Facts], object], why: str) -> Reason:
    """The reason why a case cannot be judged unless this is so."""
    return lambda facts: "" if is_so(facts) else why


PLATFORM_A = unless(lambda facts: facts.a.is_there, "Nothing here is about provisioning on platform A.")
PLATFORM_B = unless(lambda facts: facts.b.is_there, "Nothing here is about provisioning on platform B.")
EXTENSION = unless(
    lambda facts: facts.b.targets.unread_lists or any(target.is_extension for target in facts.b.targets.all),
    "No target is an issuer-provisioning extension, or looks like a misspelt one.",
)


@dataclass(frozen=True, slots=True)
class PreflightCase(Case[Facts]):
    """One case, with a name like `preflight.plist.identifier`.

    Attributes:
        needs: the reasons why the case may not apply: the project has nothing of the kind.
        unread: the reasons why no miss is no pass: what the case judges may be somewhere that was not read.
    """

    needs: tuple[Reason, ...] = ()
    unread: tuple[Reason, ...] = ()


def case(
    name: str, group: PreflightGroup, rule: str, *needs: Reason, owner: Owner = Owner.YOU, unread: Iterable[Reason] = ()
) -> Callable[[Callable[[Facts], Iterator[Miss]]], PreflightCase]:
    """Makes a case of a function that yields its misses; the first line of its docstring is what the case requires."""

    def make(judge: Callable[[Facts], Iterator[Miss]]) -> PreflightCase:
        says = (judge.__doc__ or "").partition("\n")[0]
        return PreflightCase(f"preflight.{name}", says, rule, group, judge, owner, needs, tuple(unread))

    return make


def miss_at(file: str, line: int, expected: str, observed: str, todo: str, **more: Any) -> Miss:
    """A miss at one line of a file."""
    return Miss(expected, observed, todo, file=file, line=line, **more)


def miss_in(
    part: SourceType | SourceFunction | SourceCall, expected: str, observed: str, todo: str, **more: Any
) -> Miss:
    """A miss at the first line of a part of a source."""
    return miss_at(part.source.file.name, line_of(part.node), expected, observed, todo, **more)


def misses_unread(files: Iterable[tuple[File, str]]) -> Iterator[Miss]:
    """A miss for each of these files that cannot be read."""
    for file, why in files:
        yield miss_at(file.name, 1, "a file that can be read", why, "Fix it: nothing in it was judged.", harms=True)


def why_unread(facts: Facts, language: str, read: Sources, others: tuple[File, ...], name: str) -> str:
    """Why the sources of a language may say nothing of this name; empty where they were read and have it.

    Args:
        facts: with the project.
        language: of the sources.
        read: the sources.
        others: those about provisioning in another language, which no grammar here reads.
        name: that a case needs; empty where it needs none.
    """
    if others:
        other = {".java": "Java", ".cs": "C#"}.get(others[0].path.suffix, "Objective-C")
        return f"{others[0].name} is about provisioning, and {other} is not read: look there yourself."
    if read.unclear:
        return read.unclear
    if not read.about:
        where = f"name the folder that has it.{facts.framework}"
        return f"No {language} source that was read names a class of the SDK: {where}"
    is_there = not name or any(name in source.identifiers for source in read.about)
    return "" if is_there else f"No {language} source about provisioning has {name}: name the folder that has it."
