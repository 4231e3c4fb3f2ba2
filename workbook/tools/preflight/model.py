"""What preflight has read, and what one of its cases is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from workbook.base.rules import Owner
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.tools.harness.model import Case, Miss
from workbook.tools.preflight.gradle import BUILD_SCRIPTS, Build, Dependency, numbers
from workbook.tools.preflight.platform_b import ProjectB
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
    """

    build: Build = field(default_factory=Build)
    kotlin: Sources = field(default_factory=lambda: Sources((), ()))
    sdk: tuple[Dependency, ...] = ()
    library: tuple[Dependency, ...] = ()
    java: tuple[File, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether anything here is about provisioning."""
        return bool(self.sdk or self.library or self.kotlin.about or self.java)

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
        facts = {None: None, True: A_FROM_0_4_0.facts, False: A_BEFORE_0_4_0.facts}[self.is_later]
        return facts.push_provisioning_library if facts else ""


# A line of the environment: name, value, number of the line.
Setting: TypeAlias = tuple[str, str, int]


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
        library: a pattern of the private library's name.
        environment: the back end's environment, with the line of each name; None if the user named none.
        environment_file: its file.
    """

    project: Project
    a: ProjectA = field(default_factory=ProjectA)
    b: ProjectB = field(default_factory=ProjectB)
    certificates: tuple[SigningCertificate, ...] = ()
    sent: frozenset[tuple[str, str]] | None = None
    repository: Path | None = None
    library: str = ""
    environment: Mapping[str, tuple[str, int]] | None = None
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

    def evidence(self, case: str) -> str:
        """What was read for a case, by the second word of its name: at most three files, and how many more."""
        gradle = (*BUILD_SCRIPTS, "*.versions.toml", "gradle.properties")
        patterns = {
            "gradle": gradle,
            "text": (*gradle, "*.kt", "*.swift"),
            "plist": ("*Info.plist",),
            "entitlement": ("*.entitlements",),
            "build": ("project.pbxproj", "*.xcconfig", "Package.swift", "Package.resolved", "Podfile.lock"),
        }
        files = {"app": self.app_files, "kotlin": self.a.kotlin.files, "swift": self.b.swift.files}
        subject = case.split(".")[1]
        read = [file.name for file in files.get(subject, self.project.named(*patterns.get(subject, ())))]
        named = {
            "environment": [self.environment_file],
            "signing": [certificate.source for certificate in self.certificates],
            "library": [str(self.repository)],
        }
        read = list(dict.fromkeys(named.get(subject, read)))
        more = f" and {len(read) - 3} more" if len(read) > 3 else ""
        return f"Read: {', '.join(read[:3])}{more}." if read else ""

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The values of the environment that count as secret: those of 12 characters and more."""
        return frozenset(value for value, _line in (self.environment or {}).values() if len(value) >= 12)

    @cached_property
    def keys(self) -> list[Setting]:
        """The back end's settings that hold a key of the API."""
        return self._settings("API_KEY", "APIKEY")

    @cached_property
    def addresses(self) -> list[Setting]:
        """Those that hold its address."""
        return self._settings("BASE_URL", "API_URL")

    @cached_property
    def limits(self) -> list[Setting]:
        """Those that hold a time limit."""
        return self._settings("TIMEOUT")

    def _settings(self, *words: str) -> list[Setting]:
        named = (self.environment or {}).items()
        return [(name, value, line) for name, (value, line) in named if any(word in name.upper() for word in words)]

    def _in_app(self, file: File) -> bool:
        """Whether it belongs to what runs on a phone; a back end in the same tree may know address and key."""
        if file.name.endswith((*JVM, ".gradle", ".kts")):
            return not self.a.build.is_of_server(file)
        # a package belongs to a server if its manifest names one of the usual frameworks for it
        for manifests, endings, frameworks in (
            (
                "package.json",
                (*SCRIPTS, "app.json"),
                rb'"(express|fastify|koa|@nestjs/core|@hapi/hapi|hono)"\s*:',
            ),
            ("pubspec.yaml", (".dart",), rb"^\s+(shelf|dart_frog|serverpod)\s*:"),
            ("Package.swift", (".swift",), rb"\bvapor\b|\bhummingbird\b"),
        ):
            if file.name.endswith(endings):
                folders = [file.path.parent, *file.path.parent.parents]
                found = (own for folder in folders if (own := self.project.at(folder / manifests)) is not None)
                manifest = next(found, None)
                if manifest is not None and re.search(frameworks, manifest.content, re.MULTILINE):
                    return False
        return b"import Vapor" not in file.content


PreflightJudge: TypeAlias = Callable[[Facts], Iterator[Miss]]
# Why what a case judges was not read, as a sentence that says what would make it visible; empty where it was.
Unseen: TypeAlias = Callable[[Facts], str]


class Part(Enum):
    """What a case needs: the reason given where it is missing, and a test whether it is there.

    Where the last is True, it is somewhere in every project, so without it the case was not looked at.
    """

    PLATFORM_A = "Nothing here is about provisioning on platform A.", lambda facts: facts.a.is_there
    PLATFORM_B = "Nothing here is about provisioning on platform B.", lambda facts: facts.b.is_there
    EXTENSION = (
        "No target is an issuer-provisioning extension, or looks like a misspelt one.",
        lambda facts: any(target.points or target.role not in {"", "app"} for target in facts.b.targets),
    )
    HANDLER = "No Swift source has a handler of the wallet's extension.", lambda facts: bool(facts.b.handlers)
    DELEGATE = "No Swift source has a delegate of the SDK.", lambda facts: any(facts.b.delegates("provision"))
    CARD_ART = "No Swift source has a delegate with cardArt.", lambda facts: any(facts.b.delegates("cardArt"))
    SDK_A_VERSION = (
        "The version of platform A's SDK is in no build file and no catalog that was read: write it there.",
        lambda facts: bool(facts.a.version),
        True,
    )
    SDK_B_VERSION = (
        "The version of platform B's SDK is in no lock file, manifest and project file: name the package with --sdk.",
        lambda facts: bool(facts.b.version) and facts.b.is_there,
        True,
    )
    LIBRARY = "No build file names the private library: the SDK brings it.", lambda facts: bool(facts.a.library)
    LIBRARY_VERSION = (
        "A build file names the private library, and its version is unknown: something outside the file sets it.",
        lambda facts: any(numbers(entry.version) for entry in facts.a.library),
        True,
    )
    APP_IDS = (
        "No build file that was read says an application id: write it as a text into the app's script.",
        lambda facts: any(module.variants() for module in facts.a.build.apps),
        True,
    )
    CERTIFICATES = "No certificate is named: --signing FILE.", lambda facts: bool(facts.certificates)
    SENT = "What was sent for allowlisting is not named: --sent FILE.", lambda facts: facts.sent is not None
    REPOSITORY = "No local repository is named: --repository DIR.", lambda facts: facts.repository is not None
    ENVIRONMENT = "No environment of a back end is named: --env FILE.", lambda facts: facts.environment is not None

    KEY = "The environment names no key: no name has API_KEY in it.", lambda facts: bool(facts.keys)
    ADDRESS = "The environment has no name with BASE_URL or API_URL.", lambda facts: bool(facts.addresses)
    LIMIT = "The environment names no time limit: no name has TIMEOUT in it.", lambda facts: bool(facts.limits)

    def __init__(self, missing: str, is_in: Callable[[Facts], bool], is_somewhere: object = None) -> None:
        self.missing, self.is_in, self.is_somewhere = missing, is_in, bool(is_somewhere)


# What a case is about.
PreflightGroup: TypeAlias = Literal["form", "fidelity", "secrecy", "faults", "budget", "concurrency"]


@dataclass(frozen=True, slots=True)
class PreflightCase(Case[Facts]):
    """One case, with a name like `preflight.plist.identifier`.

    Attributes:
        parts: what has to be there.
        unseen: why the files may say nothing of it: then no miss is no pass.
    """

    parts: tuple[Part, ...] = ()
    unseen: Unseen = lambda _facts: ""


def miss_at(file: str, line: int, observed: str, **more: Any) -> Miss:
    """A miss at one line of a file; what the row of its case says for all of its misses is left out."""
    return Miss(**{"expected": "", "observed": observed, "todo": "", "file": file, "line": line, **more})


def miss_in(part: SourceType | SourceFunction | SourceCall, observed: str, **more: Any) -> Miss:
    """A miss at the first line of a part of a source."""
    return miss_at(part.source.file.name, line_of(part.node), observed, **more)


def unread(files: Iterable[tuple[File, str]]) -> Iterator[Miss]:
    """A miss for each of these files that cannot be read."""
    for file, why in files:
        todo = "Mend it: nothing in it was judged."
        yield miss_at(file.name, 1, why, expected="a file that can be read", todo=todo, harms=True)


def preflight_case(
    group: PreflightGroup,
    name: str,
    says: str,
    rule: str,
    judge: PreflightJudge,
    *parts: Part,
    owner: Owner = Owner.YOU,
    unseen: Unseen = lambda _facts: "",
    **of_each: Any,
) -> PreflightCase:
    """One row of a table of cases.

    Args:
        group: what the case is about.
        name: without `preflight.`.
        says: what it requires, as a sentence.
        rule: that it tests.
        judge: yields a miss for each place where the rule is broken.
        parts: what has to be there.
        owner: who acts.
        unseen: as the case's own.
        of_each: `expected`, `todo`, `noted` and `harms` of each miss that does not say it itself.
    """

    def misses(facts: Facts) -> Iterator[Miss]:
        for miss in judge(facts):
            yield replace(miss, **{key: getattr(miss, key) or value for key, value in of_each.items()})

    return PreflightCase(f"preflight.{name}", says, rule, group, misses, owner, parts, unseen)
