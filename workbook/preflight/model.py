"""What preflight has read, and what one of its cases is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.harness.model import Case, CaseScript, Group, Miss, Owner
from workbook.preflight.gradle import Build, Dependency, Module, numbers
from workbook.preflight.platform_b import ProjectB
from workbook.preflight.project import File, Project
from workbook.preflight.signing import SigningCertificate
from workbook.preflight.sources import FUNCTIONS, TYPES, SourceFile, Sources, heads_of, labels_of, name_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

LATER_A = (0, 4, 0)
"""From this version on platform A's SDK asks for the OPC data itself."""
OLDER_LIBRARY, NEWER_LIBRARY = "18.3.3", "18.8.0"
SDK_NAME = r"card-?provisioning"
LIBRARY_NAME = r"tap-?and-?pay|push-?provisioning-?(library|client)"
"""How the SDK and the private library are recognised where the user names neither."""

DELEGATE = re.compile(r"Provisioning\w*Delegate")
"""What the protocols of the SDK's delegates are usually called."""
KEYS, ADDRESSES, LIMITS = ("API_KEY", "APIKEY"), ("BASE_URL", "API_URL"), ("TIMEOUT",)
"""Words in the names of the back end's settings."""


@dataclass(frozen=True)
class ProjectA:
    """A project of platform A.

    Attributes:
        build: what the build scripts say.
        kotlin: the sources.
        sdk: every dependency on the SDK.
        library: every dependency on the wallet provider's private library.
    """

    build: Build = field(default_factory=Build)
    kotlin: Sources = field(default_factory=lambda: Sources((), ()))
    sdk: tuple[Dependency, ...] = ()
    library: tuple[Dependency, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether anything here is about provisioning."""
        return bool(self.sdk or self.library or self.kotlin.about)

    @property
    def version(self) -> tuple[int, ...]:
        """The SDK's version; none where it is unknown."""
        return max((numbers(one.version) for one in self.sdk), default=())

    @cached_property
    def is_later(self) -> bool | None:
        """Whether the SDK is 0.4.0 or later: by its version, else by an `OpcProvider`; None if unknown."""
        if self.version:
            return self.version >= LATER_A
        return True if any("OpcProvider" in source.identifiers for source in self.kotlin.about) else None

    @property
    def wanted_library(self) -> str:
        """The library's version that goes with the SDK; empty where the SDK's is unknown."""
        return "" if self.is_later is None else NEWER_LIBRARY if self.is_later else OLDER_LIBRARY


@dataclass(frozen=True)
class Facts:
    """Everything that was read.

    Attributes:
        project: the files.
        a: platform A's part.
        b: platform B's part.
        certificates: those that the user named, each with the machine that it is of.
        sent: what was sent for allowlisting, as pairs of an application id and a fingerprint; None if unknown.
        repository: the local repository that holds the private library; None if the user named none.
        environment: the back end's environment, with the line of each name; None if the user named none.
        environment_file: its file.
    """

    project: Project
    a: ProjectA = field(default_factory=ProjectA)
    b: ProjectB = field(default_factory=ProjectB)
    certificates: tuple[SigningCertificate, ...] = ()
    sent: frozenset[tuple[str, str]] | None = None
    repository: Path | None = None
    library: str = LIBRARY_NAME
    environment: Mapping[str, tuple[str, int]] | None = None
    environment_file: str = ""

    @cached_property
    def app_files(self) -> tuple[File, ...]:
        """The files that end up in an app, or configure it: sources, resources and build files, without tests."""
        wanted = ("*.swift", "*.kt", "*.java", "*.plist", "*.xml", "*.gradle", "*.gradle.kts", "*.properties",
                  "*.xcconfig", "*.m", "*.strings")  # fmt: skip
        return tuple(file for file in self.project.named(*wanted) if not file.is_test and self._in_app(file))

    @cached_property
    def unread(self) -> tuple[tuple[File, str], ...]:
        """The build files, catalogs and sources that cannot be read, and why."""
        sources = (*self.a.kotlin.files, *self.b.swift.files)
        return *self.a.build.broken, *((file, file.no_text) for file in sources if file.no_text)

    def settings(self, words: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
        """The back end's settings with one of these words in the name: name, value, line."""
        for name, (value, line) in (self.environment or {}).items():
            if any(word in name.upper() for word in words):
                yield name, value, line

    def _in_app(self, file: File) -> bool:
        """Whether it belongs to a module for the phone; a back end in the same tree may know address and key."""
        owners = [module for module in self.a.build.modules if file.name.startswith(_folder(module))]
        owner = max(owners, key=lambda module: len(_folder(module)), default=None)
        if owner is not None and not owner.is_mobile and (owner.has_plugin(*SERVERS) or _folder(owner)):
            return file.path.suffix in {".swift", ".plist", ".xcconfig"}
        return b"import Vapor" not in file.content


SERVERS = ("application", "boot", "ktor", "war")
"""Endings of plugins that build a program for a server, in a module that builds no app."""
PreflightJudge: TypeAlias = Callable[[Facts], Iterator[Miss]]


def _folder(module: Module) -> str:
    folder = module.file.name.rpartition("/")[0]
    return f"{folder}/" if folder else ""


class Part(Enum):
    """What a case needs: the reason given where it is missing, and a test whether it is there."""

    PLATFORM_A = "Nothing here is about provisioning on platform A.", lambda facts: facts.a.is_there
    PLATFORM_B = "Nothing here is about provisioning on platform B.", lambda facts: facts.b.is_there
    EXTENSION = (
        "No target is an issuer-provisioning extension, or looks like a misspelt one.",
        lambda facts: any(target.points or target.role not in {"", "app"} for target in facts.b.targets),
    )
    HANDLER = (
        "No Swift source has a handler of the issuer-provisioning extension.",
        lambda facts: any(handlers(facts.b)),
    )
    DELEGATE = (
        "No Swift source has a delegate of the SDK: a type with provision, and with cardArt or didFinishProvisioning.",
        lambda facts: any(delegates_with(facts.b, "provision")),
    )
    CARD_ART = (
        "No Swift source has a delegate of the extension with cardArt.",
        lambda facts: any(delegates_with(facts.b, "cardArt")),
    )
    SDK_A_VERSION = "The version of platform A's SDK is not in the build files.", lambda facts: bool(facts.a.version)
    SDK_B_VERSION = (
        "The version of platform B's SDK is in no Package.resolved, no Package.swift and no project file.",
        lambda facts: bool(facts.b.version) and facts.b.is_there,
    )
    LIBRARY = (
        "No build file names the private library itself: the SDK brings it.",
        lambda facts: bool(facts.a.library),
    )
    LIBRARY_VERSION = (
        "A build file names the private library, and its version is unknown: something outside the file sets it.",
        lambda facts: any(numbers(one.version) for one in facts.a.library),
    )
    APP_IDS = (
        "No build file names an application id.",
        lambda facts: facts.a.is_there and any(module.variants() for module in facts.a.build.apps),
    )
    CERTIFICATES = "No certificate is named: --signing FILE.", lambda facts: bool(facts.certificates)
    SENT = "What was sent for allowlisting is not named: --sent FILE.", lambda facts: facts.sent is not None
    REPOSITORY = "No local repository is named: --repository DIR.", lambda facts: facts.repository is not None
    ENVIRONMENT = "No environment of a back end is named: --env FILE.", lambda facts: facts.environment is not None

    KEY = "The environment names no key: no name has API_KEY in it.", lambda facts: any(facts.settings(KEYS))
    ADDRESS = (
        "The environment names no address: no name has BASE_URL or API_URL in it.",
        lambda facts: any(facts.settings(ADDRESSES)),
    )
    LIMIT = "The environment names no time limit: no name has TIMEOUT in it.", lambda facts: any(facts.settings(LIMITS))

    def __init__(self, missing: str, is_in: Callable[[Facts], bool]) -> None:
        self.missing, self.is_in = missing, is_in


def handlers(b: ProjectB) -> Iterator[tuple[File, Node]]:
    """Each type that is a handler of the issuer-provisioning extension, with its file."""
    for source in b.swift.about:
        for node in source.every(TYPES):
            own = {name_of(one) for one in walk(node) if one.type in FUNCTIONS}
            is_handler = any("IssuerProvisioning" in head and "Handler" in head for head in heads_of(node))
            if is_handler and "status" in own:
                yield source.file, node


def delegates_with(b: ProjectB, name: str) -> Iterator[tuple[SourceFile, bool, list[Node]]]:
    """Each type that is a delegate of the SDK: its file, whether it is the extension's, its functions with this name.

    The document names no protocol. Where a protocol's name does not tell, the functions do: `provision` takes an
    `sdkOutput`, the extension's delegate has `cardArt` and the app's has `didFinishProvisioning`.
    """
    for source in b.swift.about:
        kinds: dict[str, list[Node]] = {}  # a type and its extensions
        for kind in source.every(TYPES):
            kinds.setdefault(name_of(kind), []).append(kind)
        for parts in kinds.values():
            functions = [one for kind in parts for one in walk(kind) if one.type in FUNCTIONS]
            heads = [head for kind in parts for head in heads_of(kind) if DELEGATE.search(head)]
            roles = ["Extension" in head for head in heads]
            if not heads and any(name_of(one) == "provision" and "sdkOutput" in labels_of(one) for one in functions):
                names = {name_of(one) for one in functions}
                roles = [role for own, role in (("cardArt", True), ("didFinishProvisioning", False)) if own in names]
            found = [one for one in functions if name_of(one) == name]
            if len(roles) == 1 and found:
                yield source, roles[0], found


NO_CALLS = CaseScript(())


@dataclass(frozen=True, slots=True)
class PreflightCase(Case):
    """One case, with a name like `preflight.plist.identifier`.

    Attributes:
        needs_part: what has to be there.
        misses: yields each way in which what was read breaks the rule.
    """

    needs_part: tuple[Part, ...] = ()
    misses: PreflightJudge = field(default=lambda _facts: iter(()), repr=False)


def miss_at(file: str, line: int, expected: str, observed: str, todo: str, **more: Any) -> Miss:
    """A miss at one line of a file; `more` are other fields of a miss."""
    return Miss(expected, observed, todo, file=file, line=line, **more)


def preflight_case(
    group: Group, name: str, says: str, rule: str, judge: PreflightJudge, *parts: Part, owner: Owner = Owner.YOU
) -> PreflightCase:
    """One row of a table of cases; `name` is without `preflight.`."""
    return PreflightCase(f"preflight.{name}", says, rule, group, NO_CALLS, lambda _seen: iter(()), owner=owner,
                         needs_part=parts, misses=judge)  # fmt: skip
