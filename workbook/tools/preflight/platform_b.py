"""Platform B's project: its targets, the versions of the SDK's package, and its sources."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from workbook.tools.preflight.gradle import numbers
from workbook.tools.preflight.project import (
    File,
    Project,
    SourceFunction,
    Sources,
    SourceType,
    about_provisioning,
    read_sources,
)
from workbook.tools.preflight.targets import Targets, read_targets

# Where a package manager or a project pins a package: the file, and its place for the location and the version.
PINS = {
    "Package.resolved": r'"(?:location|repositoryURL)"\s*:\s*"([^"]+)"[^{}]*\{[^{}]*"version"\s*:\s*"(\d[^"]*)"',
    # `from: "2.0.0"`, and `.upToNextMajor(from: "2.0.0")`
    "Package.swift": r'\.package\([^()]*?url:\s*"([^"]*)"[^()]*?(?:\.\w+\([^()]*?)?"(\d[\w.-]*)"',
    "project.pbxproj": (
        r'repositoryURL = "?([^";\n]+)"?;\s*requirement = \{[^{}]*?\b(?:minimumV|v)ersion = "?(\d[\w.-]*)'
    ),
    "Podfile.lock": r"^  - \"?([\w-]+)(?:/[\w-]+)? \((\d[\w.-]*)\)",
    "Podfile": r"^[^#\n]*\bpod\s+['\"]([\w-]+)(?:/[\w-]+)?['\"]\s*,\s*['\"][~>=\s]*(\d[\w.-]*)['\"]",
    "Cartfile.resolved": r'"([^"]+)"\s+"v?(\d[\w.-]*)"',
    # of XcodeGen
    "project.yml": (
        r"^\s+(?:url|github):\s*[\"']?([^\s\"']+)[\"']?\s*\n\s+\w*(?:[vV]ersion|from):\s*[\"']?(\d[\w.-]*)"
    ),
}


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
    """

    targets: Targets = field(default_factory=Targets)
    packages: tuple[Package, ...] = ()
    swift: Sources = field(default_factory=lambda: Sources((), ()))
    others: tuple[File, ...] = ()

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
        entitled = any(target.may_provision for target in self.targets.all)
        return bool(self.targets.extensions or self.swift.about or self.others or self.targets.generating) or entitled


def read_platform_b(project: Project, package: str = "") -> ProjectB:
    """Read everything; `package` is the name of the SDK's package, empty where the user gives none."""
    named = project.named("*.m", "*.mm", "*.cs")
    others = about_provisioning(file for file in named if not file.is_test and not file.is_of_a)
    packages = tuple(_read_packages(project, package))
    return ProjectB(read_targets(project), packages, read_sources(project, "*.swift"), tuple(others))


def _read_packages(project: Project, package: str) -> Iterator[Package]:
    """The SDK's package wherever a version of it is pinned: the one that the user names, or one with its usual name."""
    for manifest, pattern in PINS.items():
        for file in project.named(manifest):
            for match in re.finditer(pattern, file.text, re.MULTILINE):
                location = match[1].rstrip("/").removesuffix(".git")
                name = re.split(r"[\\/]+", location)[-1]
                usual = re.search(r"card.?provisioning", location, re.IGNORECASE)
                if package.lower() in {name.lower(), location.lower()} if package else usual:
                    yield Package(name, match[2], file, file.text.count("\n", 0, match.start()) + 1)
