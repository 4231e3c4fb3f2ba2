"""Platform B's project: property lists, entitlements, targets and their build settings, package versions.

A project file is read as it is: text in the old property list form; so are the `.xcconfig` files that it names. Without
one, each `Info.plist` stands for a target. What neither says is unknown, and the case that needs it was not looked at.
"""

import json
import plistlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from workbook.tools.preflight.gradle import numbers
from workbook.tools.preflight.project import (
    File,
    Project,
    SourceFunction,
    Sources,
    SourceType,
    about_provisioning,
    read_sources,
    rows,
    table,
)

ISSUER, AUTHORIZATION = "issuer-provisioning", "issuer-provisioning.authorization"


def read_plist(content: bytes) -> dict[str, Any] | None:
    """A property list in XML or binary form; None for anything else. Entities in XML are refused."""
    try:
        value = plistlib.loads(content)
    except Exception:  # noqa: BLE001
        return None
    return value if isinstance(value, dict) else None


def read_old_plist(text: str) -> Any:
    """A property list in the old text form, as project files have it; None for anything else."""
    pattern = r'//[^\n]*|/\*.*?(?:\*/|\Z)|\s+|"(?:\\.|[^"\\])*+(?:"|\\?\Z)|[{}()=;,]|[^\s{}()=;,"]+'
    as_json = {"{": "{", "}": "}", "(": "[", ")": "]", "=": ":", ";": ",", ",": ","}
    parts: list[str] = []
    for token in re.findall(pattern, text, re.DOTALL):
        if token.isspace() or token[:2] in {"//", "/*"}:
            continue
        if token in {"}", ")"} and parts[-1:] == [","]:  # JSON has no comma behind the last entry
            parts.pop()
        unquoted = re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token
        parts.append(as_json.get(token) or json.dumps(unquoted))
    try:
        return json.loads("".join(parts))
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class BuildTarget:
    """What becomes one app or extension, in one build configuration.

    Attributes:
        name: of the target.
        configuration: such as Release; empty where there is no project file.
        product: the ending of the product's type: application, app-extension, and so on; empty where unknown.
        settings: the build settings, those of the project included.
        plist: its property list; None where it is unknown or cannot be read.
        plist_file: the list's file.
        entitlements: its entitlements; None where they are unknown.
        entitlements_file: their file; None where there is none.
        file: the project file, or the property list where there is none.
    """

    name: str
    configuration: str
    product: str
    settings: Mapping[str, str]
    plist: Mapping[str, Any] | None
    plist_file: File | None
    entitlements: Mapping[str, Any] | None
    entitlements_file: File | None
    file: File

    @property
    def label(self) -> str:
        """Its name, and its configuration."""
        return f"{self.name} ({self.configuration})" if self.configuration else self.name

    @property
    def extension(self) -> Mapping[str, Any]:
        """The NSExtension dictionary; empty where there is none."""
        return table((self.plist or {}).get("NSExtension"))

    @cached_property
    def points(self) -> list[tuple[str, str]]:
        """Each place in its list with what is probably meant as our extension point, misspelt or not, and the text."""
        places = {
            "": self.plist or {},
            "NSExtension.": self.extension,
            "NSExtension.NSExtensionAttributes.": table(self.extension.get("NSExtensionAttributes")),
        }
        texts = [(f"{where}{key}", str(key), text) for where, found in places.items() for key, text in found.items()]
        return [
            (place, text)
            for place, key, text in texts
            if isinstance(text, str)
            and re.search(r"issuer.?provisioning", text, re.IGNORECASE)
            and not key.startswith("CFBundle")
        ]

    @property
    def role(self) -> str:
        """`app`, ISSUER, AUTHORIZATION, or empty: by what is in its list, then by its principal class."""
        texts = [text.lower() for _place, text in self.points]
        if texts:
            return AUTHORIZATION if any("authori" in text for text in texts) else ISSUER
        principal = str(self.extension.get("NSExtensionPrincipalClass", ""))
        for role, name in ((ISSUER, "ExtensionHandler"), (AUTHORIZATION, "AuthorizationProvider")):
            if principal.rpartition(".")[2] == name:
                return role
        if self.product == "application" or (not self.product and self.plist and "NSExtension" not in self.plist):
            return "app"
        return ""

    @property
    def deployment(self) -> str:
        """The lowest version of the phone's system; empty where it is unknown."""
        named = re.compile(r"[A-Z]*PHONEOS_DEPLOYMENT_TARGET\Z")
        found = [expand(self.settings, value) for key, value in self.settings.items() if named.match(key)]
        found.append(str((self.plist or {}).get("MinimumOSVersion", "")))
        return next((value for value in found if "$" not in value), "")

    @property
    def bundle_id(self) -> str:
        """Its bundle id; empty where it is unknown."""
        written = self.settings.get("PRODUCT_BUNDLE_IDENTIFIER") or (self.plist or {}).get("CFBundleIdentifier", "")
        found = expand(self.settings, str(written))
        return "" if "$" in found else found

    @property
    def may_provision(self) -> bool:
        """Whether it has the provisioning entitlement."""
        name = re.compile(r"(^|\.)payment-pass-provisioning\Z")
        return any(name.search(key) and value for key, value in (self.entitlements or {}).items())

    @cached_property
    def shared(self) -> dict[str, set[str]]:
        """The groups that it is in, by their kind; those of a keychain without the team's prefix."""
        kinds = {"an app group": r"\.application-groups\Z", "a keychain group": r"\Akeychain-access-groups\Z"}
        found: dict[str, set[str]] = {kind: set() for kind in kinds}
        for key, value in (self.entitlements or {}).items():
            for kind in (kind for kind, pattern in kinds.items() if re.search(pattern, key)):
                texts = (expand(self.settings, str(group)) for group in rows(value))
                found[kind] |= {re.sub(r"\A\$[({]\w*Prefix[)}]", "", text) for text in texts}
        return found


@dataclass(frozen=True)
class Package:
    """The SDK's package as the project pins it: its name, its version (empty where it has none), its place."""

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
        broken: files that cannot be read, and why.
        objc: the sources about provisioning that no grammar here reads.
        generating: where no project file is: what makes one, and how; else empty.
    """

    targets: tuple[BuildTarget, ...] = ()
    packages: tuple[Package, ...] = ()
    swift: Sources = field(default_factory=lambda: Sources((), ()))
    broken: tuple[tuple[File, str], ...] = ()
    objc: tuple[File, ...] = ()
    generating: str = ""

    def of(self, *roles: str) -> list[BuildTarget]:
        """The targets with one of these roles."""
        return [target for target in self.targets if target.role in roles]

    @property
    def unread_lists(self) -> str:
        """Why the property list of an extension was not read, as a sentence; empty where each was."""
        unknown = [one for one in self.targets if one.product.endswith("extension") and one.plist is None]
        lost = f"The property list of {unknown[0].label} was not found: set INFOPLIST_FILE to it." if unknown else ""
        return self.generating or lost

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
        entitled = any(target.may_provision for target in self.targets)
        return bool(self.of(ISSUER, AUTHORIZATION) or self.swift.about or self.objc or self.generating) or entitled


def read_platform_b(project: Project, package: str = "") -> ProjectB:
    """Read everything; `package` is the name of the SDK's package, empty where the user gives none."""
    broken: list[tuple[File, str]] = []
    targets: list[BuildTarget] = []
    packages = list(_packages(project, package, broken))
    for file in project.named("project.pbxproj"):
        found = read_old_plist(file.text)
        if isinstance(found, dict) and isinstance(found.get("objects"), dict):
            targets += _targets(file, found["objects"], project, broken)
            packages += _references(file, found["objects"], package)
        else:
            broken.append((file, "no property list in the old form"))
    if not targets:
        targets = list(_by_plist(project, broken))
    unique = {(t.name, t.configuration, t.file.name): t for t in targets}
    generating = "" if any(target.configuration for target in targets) else _generating(project)
    objc = about_provisioning(file for file in project.named("*.m", "*.mm") if not file.is_test)
    swift = read_sources(project, "*.swift")
    return ProjectB(tuple(unique.values()), tuple(packages), swift, tuple(broken), tuple(objc), generating)


def _generating(project: Project) -> str:
    """What makes the project file that is not here, if it is about provisioning; empty where nothing does."""
    about = re.compile(
        rb"payment-pass-provisioning|issuer-provisioning|IssuerProvisioning|card-?provisioning", re.IGNORECASE
    )
    for names, tool in (
        (("project.yml", "project.yaml"), "xcodegen generate"),
        (("app.json", "app.config.js", "app.config.ts", "expo-target.config.js"), "npx expo prebuild"),
        (("config.xml",), "cordova prepare"),
        (("Project.swift",), "tuist generate"),
    ):
        for file in project.named(*names):
            if about.search(file.content):
                return (
                    f"{file.name} is recognised, and not read: run `{tool}`, and judge the project file that it makes."
                )
    return ""


def expand(settings: Mapping[str, str], text: str) -> str:
    """A setting with the variables in it replaced, at most eight deep; one that is unknown stays as it is."""
    for _depth in range(8):
        known = re.sub(r"\$[({](\w+)(?::\w+)?[)}]", lambda match: settings.get(match[1], match[0]), text[:2_000])
        if known == text:
            break
        text = known
    return text


def read_xcconfig(project: Project, name: str, depth: int = 0) -> dict[str, str] | None:
    """The settings of the `.xcconfig` with this path or name, included files first; None where it is not there."""
    found = sorted(project.named(name.rpartition("/")[2]), key=lambda file: not file.name.endswith(name))
    if not found or depth > 8:
        return None
    settings: dict[str, str] = {}
    for line in found[0].text.splitlines():
        code = re.sub(r"(?<!:)//.*", "", line).strip()
        if match := re.match(r'#include\??\s*"([^"]+)"', code):
            settings |= read_xcconfig(project, match[1].removeprefix("./"), depth + 1) or {}
        elif match := re.match(r"(\w+)(?:\[(?![^]]*simulator)[^]]*\])*\s*=\s*(.*?);?\Z", code):
            settings[match[1]] = match[2].replace("$(inherited)", settings.get(match[1], ""))
    return settings


def _targets(
    file: File, objects: Mapping[str, Any], project: Project, broken: list[tuple[File, str]]
) -> Iterator[BuildTarget]:
    """The targets of a project file, each in each build configuration."""

    def at(reference: Any) -> Mapping[str, Any]:
        return table(objects.get(str(reference)))

    def configurations(owner: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str], bool]]:
        """Each configuration: its name, its settings, and whether a file that is not here has more of them."""
        for entry in map(at, rows(at(owner.get("buildConfigurationList")).get("buildConfigurations"))):
            own = {key: text for key, text in table(entry.get("buildSettings")).items() if isinstance(text, str)}
            relative = entry.get("baseConfigurationReferenceRelativePath")  # in a folder that the project mirrors
            base = str(relative or at(entry.get("baseConfigurationReference")).get("path", ""))
            shared = read_xcconfig(project, base) if base else {}
            yield str(entry.get("name", "")), (shared or {}) | own, shared is None

    projects = [entry for entry in objects.values() if isinstance(entry, dict) and entry.get("isa") == "PBXProject"]
    of_project = {name: settings for entry in projects for name, settings, _elsewhere in configurations(entry)}
    for entry in objects.values():
        if not isinstance(entry, dict) or entry.get("isa") != "PBXNativeTarget":
            continue
        name, product = str(entry.get("name", "")), str(entry.get("productType", "")).rpartition(".")[2]
        missed = broken if product in {"application", "app-extension"} else []
        for configuration, own, elsewhere in configurations(entry):
            settings = of_project.get(configuration, {}) | own
            known = settings | {"TARGET_NAME": name, "PRODUCT_NAME": name, "SRCROOT": "", "PROJECT_DIR": ""}
            plist_file, rights_file = (
                _file(known, key, file, project, missed) for key in ("INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS")
            )
            rights = _read(rights_file, broken)
            none = not settings.get("CODE_SIGN_ENTITLEMENTS") and not elsewhere
            plist, rights = _read(plist_file, broken), {} if none else rights
            yield BuildTarget(name, configuration, product, settings, plist, plist_file, rights, rights_file, file)


def _file(
    settings: Mapping[str, str], key: str, of: File, project: Project, broken: list[tuple[File, str]]
) -> File | None:
    """The file that a setting of a project file names; None where it names none, or one that is not there."""
    text = expand(settings, settings.get(key, "")).lstrip("/")
    if not text or "$" in text:
        return None
    found = project.at(of.path.parent.parent / text)
    why = f"{key} of {settings['TARGET_NAME']} names {text}, which is not there"
    if found is None and ".." not in text and (of, why) not in broken:
        broken.append((of, why))
    return found


def _read(file: File | None, broken: list[tuple[File, str]]) -> Mapping[str, Any] | None:
    if file is None:
        return None
    found = read_plist(file.content)
    if found is None and (file, "no property list") not in broken:
        broken.append((file, "no property list"))
    return found


def _by_plist(project: Project, broken: list[tuple[File, str]]) -> Iterator[BuildTarget]:
    """Without a project file: each property list of a bundle is a target, with what is beside it.

    That is its entitlements, and in a .NET project the settings of the `.csproj`.
    """
    named = {
        "ApplicationId": "PRODUCT_BUNDLE_IDENTIFIER",
        "SupportedOSPlatformVersion": "PHONEOS_DEPLOYMENT_TARGET",
    }
    for file in project.named("*Info.plist"):
        plist = None if file.is_test else _read(file, broken)
        if plist is None or not {"NSExtension", "CFBundleIdentifier", "CFBundleExecutable"} & plist.keys():
            continue
        folder = file.path.parent
        beside = [other for other in project.named("*.entitlements", "Entitlements.plist", "*.csproj")
                  if other.path.parent == folder]  # fmt: skip
        rights = [other for other in beside if not other.name.endswith(".csproj")]
        settings: dict[str, str] = {}
        for other in (other for other in beside if other.name.endswith(".csproj")):
            for tag, text in re.findall(r"<(\w+)[^>]*>\s*([^<>]+?)\s*</\1>", other.text):
                settings.setdefault(named.get(tag, tag), text)
        if chosen := project.at(folder / settings.get("CodesignEntitlements", "").replace("\\", "/")):
            rights = [chosen]
        entitled = rights[0] if len(rights) == 1 else None
        yield BuildTarget(folder.name, "", "", settings, plist, file, _read(entitled, broken), entitled, file)


def _packages(project: Project, package: str, broken: list[tuple[File, str]]) -> Iterator[Package]:
    """The SDK's package in every lock file and every manifest of the three usual package managers."""
    entries = (
        ("Podfile.lock", r"^  - \"?([\w-]+)(?:/[\w-]+)? \((\d[\w.-]*)\)"),
        ("Podfile", r"^[^#\n]*\bpod\s+['\"]([\w-]+)(?:/[\w-]+)?['\"]\s*,\s*['\"][~>=\s]*(\d[\w.-]*)['\"]"),
        ("Cartfile.resolved", r'"([^"]+)"\s+"v?(\d[\w.-]*)"'),
        # `from: "2.0.0"`, and `.upToNextMajor(from: "2.0.0")`
        ("Package.swift", r'\.package\([^()]*?url:\s*"([^"]*)"[^()]*?(?:\.\w+\([^()]*?)?"(\d[\w.-]*)"'),
    )
    for manifest, written in entries:
        for file in project.named(manifest):
            for match in re.finditer(written, file.text, re.MULTILINE):
                yield from _if_sdk(package, match[1], match[2], file, match.start())
    for file in project.named("Package.resolved"):
        try:
            content = table(json.loads(file.text))
        except (ValueError, RecursionError):
            broken.append((file, "no JSON"))
            continue
        for pin in map(table, rows((table(content.get("object")) or content).get("pins"))):
            name = str(pin.get("identity") or pin.get("package") or "")
            location = str(pin.get("location") or pin.get("repositoryURL") or name)
            version = str(table(pin.get("state")).get("version") or "")
            found = [*_if_sdk(package, location, version, file, 0), *_if_sdk(package, name, version, file, 0)]
            yield from (replace(one, name=name, line=file.line(f'"{name}"')) for one in found[:1])


def _references(file: File, objects: Mapping[str, Any], package: str) -> Iterator[Package]:
    """The SDK's package where a project file itself names it, with the lowest version that it takes."""
    for entry in map(table, objects.values()):
        if entry.get("isa") == "XCRemoteSwiftPackageReference":
            url, wanted = str(entry.get("repositoryURL", "")), table(entry.get("requirement"))
            version = str(wanted.get("version") or wanted.get("minimumVersion") or "")
            yield from _if_sdk(package, url, version, file, max(file.text.find(url), 0))


def _if_sdk(package: str, location: str, version: str, file: File, place: int) -> Iterator[Package]:
    """The package at a location if it is the one that the user named, or is named as the SDK's usually is."""
    bare = location.rstrip("/").removesuffix(".git")
    name = bare.rpartition("/")[2]
    usual = re.search(r"card.?provisioning", location, re.IGNORECASE)
    if package.lower() in {name.lower(), bare.lower()} if package else usual:
        yield Package(name, version, file, file.text.count("\n", 0, place) + 1)
