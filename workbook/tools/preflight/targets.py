"""What platform B's project builds: its targets, each with its property list, entitlements and build settings.

A project file is read as it is. Where a tool still has to make it, the tool's own description is read as far as it is
literal: XcodeGen's `project.yml`, Expo's `app.json` and `expo-target.config.js`. Without either, each property list
stands for a target. What no file says is unknown, and the case that needs it was not looked at.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from workbook.tools.preflight.literals import COMPUTED, read_javascript, read_old_plist, read_plist, read_yaml
from workbook.tools.preflight.project import File, Project, rows, table

ISSUER, AUTHORIZATION = "issuer-provisioning", "issuer-provisioning.authorization"
# What the property list of an app or an extension has one of.
OF_BUNDLE = frozenset({"NSExtension", "CFBundleIdentifier", "CFBundleExecutable"})
# The usual classes of the two extensions.
CLASSES = {ISSUER: "ExtensionHandler", AUTHORIZATION: "AuthorizationProvider"}
# What app and extension may share, and the entitlement that has it; the entitlement for provisioning.
PROVISIONING = re.compile(r"(^|\.)payment-pass-provisioning\Z")
GROUPS = {"an app group": r"\.application-groups\Z", "a keychain group": r"\Akeychain-access-groups\Z"}


@dataclass(frozen=True)
class BuildTarget:
    """What becomes one app or extension, in one build configuration.

    Attributes:
        name: of the target.
        file: the file that describes it.
        configuration: such as Release; empty where there is no project file.
        product: the ending of the product's type: application, app-extension, and so on; empty where unknown.
        settings: the build settings, those of the project included.
        plist: its property list; None where it is unknown or cannot be read.
        plist_file: the list's file.
        entitlements: its entitlements; None where they are unknown.
        entitlements_file: their file; None where there is none.
    """

    name: str
    file: File
    configuration: str = ""
    product: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    plist: Mapping[str, Any] | None = None
    plist_file: File | None = None
    entitlements: Mapping[str, Any] | None = None
    entitlements_file: File | None = None

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
        found = [(f"{place}{key}", text) for place, entries in places.items() for key, text in entries.items()]
        meant = re.compile(r"issuer.?provisioning", re.IGNORECASE)
        texts = [(place, text) for place, text in found if isinstance(text, str) and not place.startswith("CFBundle")]
        return [(place, text) for place, text in texts if meant.search(text)]

    @property
    def role(self) -> str:
        """`app`, ISSUER, AUTHORIZATION, or empty: by what is in its list, then by its principal class."""
        if self.points:
            return AUTHORIZATION if any("authori" in text.lower() for _place, text in self.points) else ISSUER
        principal = str(self.extension.get("NSExtensionPrincipalClass", "")).rpartition(".")[2]
        for role, name in CLASSES.items():
            if principal == name:
                return role
        is_app = self.product == "application" or (not self.product and self.plist and "NSExtension" not in self.plist)
        return "app" if is_app else ""

    @property
    def is_extension(self) -> bool:
        """Whether it is one of the wallet's two extensions, or looks like a misspelt one."""
        return self.role not in {"", "app"}

    @property
    def deployment(self) -> str:
        """The lowest version of the phone's system; empty where it is unknown."""
        named = re.compile(r"[A-Z]*PHONEOS_DEPLOYMENT_TARGET\Z")
        texts = [str((self.plist or {}).get("MinimumOSVersion", ""))]
        texts += [expand(self.settings, value) for key, value in self.settings.items() if named.match(key)]
        texts.reverse()  # a target's own setting is behind one that holds for all
        return next((text for text in texts if text and "$" not in text), "")

    @property
    def bundle_id(self) -> str:
        """Its bundle id; empty where it is unknown."""
        written = self.settings.get("PRODUCT_BUNDLE_IDENTIFIER") or (self.plist or {}).get("CFBundleIdentifier", "")
        text = expand(self.settings, str(written))
        return "" if "$" in text else text

    @property
    def team(self) -> str:
        """The id of the team that signs it; empty where it is unknown."""
        text = expand(self.settings, self.settings.get("DEVELOPMENT_TEAM", ""))
        return "" if "$" in text else text

    @property
    def may_provision(self) -> bool:
        """Whether it has the provisioning entitlement."""
        return any(PROVISIONING.search(key) and value for key, value in (self.entitlements or {}).items())

    @cached_property
    def shared(self) -> dict[str, set[str]]:
        """The groups that it is in, by their kind; those of a keychain without the team's prefix."""
        groups: dict[str, set[str]] = {kind: set() for kind in GROUPS}
        for key, value in (self.entitlements or {}).items():
            for kind in (kind for kind, pattern in GROUPS.items() if re.search(pattern, key)):
                texts = (expand(self.settings, str(text)) for text in (rows(value) or [value]))
                groups[kind] |= {re.sub(r"\A\$[({]\w*Prefix[)}]", "", text) for text in texts}
        return groups


def expand(settings: Mapping[str, str], text: str) -> str:
    """A setting with the variables in it replaced, at most eight deep; one that is unknown stays as it is."""
    for _depth in range(8):
        variable = r"\$[({](\w+)(?::default=([^(){}]*)|:\w+)?[)}]"
        known = re.sub(variable, lambda match: settings.get(match[1], match[2] or match[0]), text[:2_000])
        if known == text:
            break
        text = known
    return text


@dataclass(frozen=True)
class Targets:
    """Every target of a project.

    Attributes:
        all: the targets, each in each configuration.
        broken: files that cannot be read, and why.
        generating: where no project file is, and its description was not read: what makes one, and how; else empty.
    """

    all: tuple[BuildTarget, ...] = ()
    broken: tuple[tuple[File, str], ...] = ()
    generating: str = ""

    def of(self, *roles: str) -> list[BuildTarget]:
        """The targets with one of these roles."""
        return [target for target in self.all if target.role in roles]

    @property
    def unread_lists(self) -> str:
        """Why the property list of an extension was not read, as a sentence; empty where each was."""
        if self.of(ISSUER) and self.of(AUTHORIZATION):
            return ""
        unknown = [target.label for target in self.all if target.product.endswith("extension") and target.plist is None]
        lost = f"The property list of {unknown[0]} was not found: set INFOPLIST_FILE to it." if unknown else ""
        return self.generating or lost

    @property
    def has_lost_list(self) -> bool:
        """Whether an extension names a property list that was not read: it may be one of the two."""
        extensions = (target for target in self.all if target.product.endswith("extension"))
        return any(target.plist is None and target.settings.get("INFOPLIST_FILE") for target in extensions)

    @property
    def extensions(self) -> list[BuildTarget]:
        """The two extensions of the wallet."""
        return self.of(ISSUER, AUTHORIZATION)

    @property
    def embedding(self) -> list[BuildTarget]:
        """App and extensions. Of several apps, only those that provision; a single app in any case."""
        apps = self.of("app")
        inside = (app for app in apps if any(is_inside(other, app) for other in self.extensions))
        names = {app.name for app in (*inside, *(app for app in apps if app.may_provision))}
        if not names and len({app.name for app in apps}) == 1:
            return [*apps, *self.extensions]
        return [*(app for app in apps if app.name in names), *self.extensions]

    @property
    def provisioning(self) -> list[BuildTarget]:
        """The same, where the project is about provisioning."""
        is_about = self.extensions or any(target.may_provision for target in self.all)
        return self.embedding if is_about else []


def is_inside(extension: BuildTarget, app: BuildTarget) -> bool:
    """Whether the extension's identifier begins with the app's, as the platform demands."""
    return bool(app.bundle_id) and extension.bundle_id.startswith(f"{app.bundle_id}.")


def read_targets(project: Project) -> Targets:
    """Read every target of a project."""
    reader = _Reader(project)
    targets: list[BuildTarget] = []
    for file in project.named("project.pbxproj"):
        content = table(read_old_plist(file.text))
        if isinstance(content.get("objects"), dict):
            targets += reader.read_project_file(file, content["objects"])
        else:
            reader.broken[file, "no property list in the old form"] = None
    if not targets:
        targets = [*reader.read_xcodegen()] or [*reader.read_expo()]
        listed = {target.plist_file for target in targets}
        targets += [target for target in reader.read_property_lists() if target.plist_file not in listed]
    # a plugin of Expo may make an extension that no file describes
    is_described = any(target.configuration or (target.product and target.role != "app") for target in targets)
    targets = targets or [*reader.read_cordova()]
    unique = {(target.name, target.configuration, target.file.name): target for target in targets}
    result = Targets(tuple(unique.values()), tuple(reader.broken))
    return result if is_described else replace(result, generating=_name_generator(project, bool(result.provisioning)))


def _name_generator(project: Project, is_about: bool) -> str:  # noqa: FBT001
    """What makes the project file that is not here, if one of the two is about provisioning; else empty."""
    about = re.compile(rb"payment-pass-provisioning|issuer-?provisioning|card-?provisioning", re.IGNORECASE)
    for names, tool in (
        (("app.json", "app.config.js", "app.config.ts", "expo-target.config.js"), "npx expo prebuild"),
        (("config.xml",), "cordova prepare"),
        (("Project.swift",), "tuist generate"),
    ):
        for file in project.named(*names):
            if is_about or about.search(file.content):
                return f"{file.name} does not say all: run `{tool}`, and judge the project file that it makes."
    return ""


_ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]+)="([^"]*)"')


class _Reader:
    """Reads targets, and keeps the files that it could not read."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.broken: dict[tuple[File, str], None] = {}

    def complete(self, target: BuildTarget, folder: Path, *, is_whole: bool = True) -> BuildTarget:
        """The target with its property list and its entitlements, from the files that its settings name.

        Args:
            target: with name, product and settings, and with what its description says of the two.
            folder: of the paths in its settings.
            is_whole: all settings were read, so a target without a setting for entitlements has none.
        """
        plist_file = self._find(target, "INFOPLIST_FILE", folder, target.plist)
        rights_file = self._find(target, "CODE_SIGN_ENTITLEMENTS", folder, target.entitlements)
        plist = self.read_list(plist_file) if target.plist is None else target.plist
        rights = target.entitlements
        if rights is None:
            has_none = is_whole and not target.settings.get("CODE_SIGN_ENTITLEMENTS")
            rights = {} if has_none else self.read_list(rights_file)
        return replace(target, plist=plist, plist_file=plist_file, entitlements=rights, entitlements_file=rights_file)

    def _find(self, target: BuildTarget, key: str, folder: Path, content: object) -> File | None:
        """The file that a setting names; None where it names none, or one that is not there."""
        standard = dict.fromkeys(("TARGET_NAME", "TARGETNAME", "PRODUCT_NAME"), target.name)
        standard |= {"SRCROOT": "", "PROJECT_DIR": ""}
        text = expand({**target.settings, **standard}, target.settings.get(key, "")).lstrip("/")
        if not text or "$" in text:
            return None
        file = self.project.at(folder / text)
        is_ours = target.product in {"application", "app-extension"} and ".." not in text
        if file is None and content is None and is_ours:
            self.broken[target.file, f"{key} of {target.name} names {text}, which is not there"] = None
        return file

    def read_list(self, file: File | None) -> Mapping[str, Any] | None:
        """A property list; None where there is no file, or it is no list."""
        content = None if file is None else read_plist(file.content)
        if file is not None and content is None:
            self.broken[file, "no property list"] = None
        return content

    # A project file.

    def read_project_file(self, file: File, objects: Mapping[str, Any]) -> Iterator[BuildTarget]:
        """The targets of a project file, each in each build configuration."""
        entries = [entry for entry in objects.values() if isinstance(entry, dict)]
        projects = [entry for entry in entries if entry.get("isa") == "PBXProject"]
        shared = {name: own for entry in projects for name, own, _is_whole in self._configurations(objects, entry)}
        for entry in entries:
            if entry.get("isa") == "PBXNativeTarget":
                name, product = str(entry.get("name", "")), str(entry.get("productType", "")).rpartition(".")[2]
                for configuration, own, is_whole in self._configurations(objects, entry):
                    settings = shared.get(configuration, {}) | own
                    target = BuildTarget(name, file, configuration, product, settings)
                    yield self.complete(target, file.path.parent.parent, is_whole=is_whole)

    def _configurations(
        self, objects: Mapping[str, Any], owner: Mapping[str, Any]
    ) -> Iterator[tuple[str, dict[str, str], bool]]:
        """Each configuration: its name, its settings, and whether all files with more of them were read."""

        def at(reference: Any) -> Mapping[str, Any]:
            return table(objects.get(str(reference)))

        for entry in map(at, rows(at(owner.get("buildConfigurationList")).get("buildConfigurations"))):
            name = str(entry.get("name", ""))
            written = {key: text for key, text in table(entry.get("buildSettings")).items() if isinstance(text, str)}
            own = {_setting_name(key, name): text for key, text in written.items()}
            relative = entry.get("baseConfigurationReferenceRelativePath")  # in a folder that the project mirrors
            base = str(relative or at(entry.get("baseConfigurationReference")).get("path", ""))
            shared = self._read_xcconfig(base, name)
            yield name, (shared or {}) | own, shared is not None

    def _read_xcconfig(self, name: str, configuration: str, depth: int = 0) -> dict[str, str] | None:
        """The settings of the `.xcconfig` with this path or name, included ones first; None where it is not there."""
        named = [*self.project.named(name.rpartition("/")[2])]
        files = [file for file in named if file.name.endswith(name)] or named
        if not name:
            return {}
        if len(files) != 1 or depth > 8:  # of several it is not known which
            return None
        settings: dict[str, str] = {}
        for line in files[0].text.splitlines():
            code = re.sub(r"(?<!:)//.*", "", line).strip()
            if match := re.match(r'#include\??\s*"([^"]+)"', code):
                settings |= self._read_xcconfig(match[1].removeprefix("./"), configuration, depth + 1) or {}
            elif match := re.match(r"([\w*.,=\[\]]+)\s*=\s*(.*)", code):
                name = _setting_name(match[1], configuration)
                settings[name] = match[2].removesuffix(";").replace("$(inherited)", settings.get(name, ""))
                settings.setdefault(match[1].partition("[")[0], "")  # it is empty in another configuration
        return settings

    # Descriptions that a tool makes a project file of.

    def read_xcodegen(self) -> Iterator[BuildTarget]:
        """The targets of each `project.yml`, each in each build configuration."""
        for file in self.project.named("project.yml", "project.yaml"):
            content = self._read_included(file)
            for name, described in table(content.get("targets")).items():
                for configuration in table(content.get("configs")) or ("Debug", "Release"):
                    yield self._xcodegen_target(file, content, str(name), table(described), str(configuration))

    def _read_included(self, file: File, depth: int = 0) -> dict[str, Any]:
        """The description in a file, on top of those that it includes."""
        content = table(read_yaml(file.text))
        whole: dict[str, Any] = {}
        included = content.get("include", [])
        for entry in included if isinstance(included, list) else [included]:
            path = str(entry.get("path")) if isinstance(entry, dict) else str(entry)
            other = self.project.at(file.path.parent / path)
            if other is None or depth > 8:
                self.broken[file, f"include names {path}, which is not there"] = None
            else:
                whole = _merge(whole, self._read_included(other, depth + 1))
        return _merge(whole, content)

    def _xcodegen_target(
        self, file: File, content: Mapping[str, Any], name: str, described: Mapping[str, Any], configuration: str
    ) -> BuildTarget:
        """A target of XcodeGen. What a group of settings says of it is unknown."""
        templates = table(content.get("targetTemplates"))
        for template in reversed(rows(described.get("templates"))):
            described = _merge(table(templates.get(str(template))), described)
        options, platform = table(content.get("options")), str(described.get("platform"))
        is_whole = True
        settings = make_settings(f"{options.get('bundleIdPrefix', COMPUTED)}.{name}", "") | {"target_name": name}
        for owner, levelled in ((content, options), (described, described)):
            levels = levelled.get("deploymentTarget")
            level = levels.get(platform) if isinstance(levels, dict) else levels
            written = table(owner.get("settings"))
            of_one = table(table(written.get("configs")).get(configuration))
            by_part = {"base", "configs", "groups"} & written.keys()
            for_all = table(written.get("base")) if by_part else written
            shared = self._read_xcconfig(str(table(owner.get("configFiles")).get(configuration, "")), configuration)
            is_whole = is_whole and "groups" not in written and shared is not None
            settings |= {"PHONEOS_DEPLOYMENT_TARGET": str(level)} if level else {}
            settings |= (shared or {}) | {str(key): str(text) for key, text in {**for_all, **of_one}.items()}
        info, rights = table(described.get("info")), table(described.get("entitlements"))
        for key, entry in (("INFOPLIST_FILE", info), ("CODE_SIGN_ENTITLEMENTS", rights)):
            settings.setdefault(key, str(entry.get("path", "")))
        product = str(described.get("type", "")).rpartition(".")[2]
        is_made = "properties" in info or ("path" in info and self.project.at(file.path.parent / info["path"]) is None)
        plist = table(info.get("properties")) if is_made else None
        target = BuildTarget(name, file, configuration, product, settings, plist)
        target = replace(target, entitlements=_read_rights(rights.get("properties")))
        return self.complete(target, file.path.parent, is_whole=is_whole)

    def read_expo(self) -> Iterator[BuildTarget]:
        """The app of `app.json` or `app.config.js`, and the target of each `expo-target.config.js`."""
        app_id, team = COMPUTED, ""
        for file in self.project.named("app.json", "app.config.js", "app.config.ts"):
            content = table(read_javascript(file.text))
            expo = table(content.get("expo", content))
            # the section of a platform is known by what only platform B has
            section = next((table(part) for part in expo.values() if "bundleIdentifier" in table(part)), None)
            if section is not None:
                app_id = str(section["bundleIdentifier"])
                team = next((str(text) for key, text in section.items() if key.endswith("TeamId")), "")
                plugins = (table(entry[1]) for entry in rows(expo.get("plugins")) if len(rows(entry)) == 2)
                levels = (table(part).get("deploymentTarget") for plugin in plugins for part in plugin.values())
                level, name = next(filter(None, levels), ""), str(expo.get("slug", "App"))
                rights = _read_rights(section.get("entitlements", {}))
                settings = make_settings(app_id, team, level)
                plist = table(section.get("infoPlist"))
                yield BuildTarget(name, file, "", "application", settings, plist, None, rights, file)
        for file in self.project.named("expo-target.config.js", "expo-target.config.json"):
            described = table(read_javascript(file.text)) or {"...": COMPUTED}
            bundle_id = str(described.get("bundleIdentifier", COMPUTED))
            bundle_id = f"{app_id}{bundle_id}" if bundle_id.startswith(".") else bundle_id
            rights = _read_rights(described.get("entitlements", COMPUTED if "..." in described else {}))
            settings = make_settings(bundle_id, team, described.get("deploymentTarget", ""))
            plist_file = self.project.at(file.path.parent / "Info.plist")
            name, own_list = str(described.get("name", file.path.parent.name)), self.read_list(plist_file)
            yield BuildTarget(name, file, "", "app-extension", settings, own_list, plist_file, rights, file)

    def read_cordova(self) -> Iterator[BuildTarget]:
        """The app of each `config.xml`, in each configuration whose entitlements it has, or a plugin."""
        for file in self.project.named("config.xml"):
            widget = dict(_ATTRIBUTE.findall("".join(re.findall(r"<widget\b[^<>]*>", file.text)[:1])))
            own = next((text for key, text in widget.items() if key.endswith("CFBundleIdentifier")), "")
            rights: dict[str, dict[str, Any]] = {}
            texts = "\n".join(other.text for other in (file, *self.project.named("plugin.xml")))
            for tag, content in re.findall(r"<(?:config-file|edit-config)\b([^<>]*[^/<>])>([^<]*<[^<>]*>)", texts):
                given = dict(_ATTRIBUTE.findall(tag))
                if kind := re.search(r"(?:Entitlements|\*)(?:-((?!Info)\w+))?\.plist", given.get("target", "")):
                    rights.setdefault(kind[1] or "", {})[given.get("parent", "")] = "<false" not in content
            name = "".join(re.findall(r"<name\b[^<>]*>([^<]+)", file.text)[:1]) or file.path.parent.name
            settings = make_settings(own or widget.get("id", ""), "")
            is_known = any(PROVISIONING.search(key) for listed in rights.values() for key in listed)
            for configuration in rights or {"": {}}:
                found = rights[configuration] if is_known else None
                yield BuildTarget(name, file, configuration, "application", settings, {}, None, found, file)

    # Property lists alone, and .NET.

    def read_property_lists(self) -> Iterator[BuildTarget]:
        """A target for each property list of a bundle, with what is beside it: entitlements, and .NET's `.csproj`."""
        for file in self.project.named("*Info.plist"):
            plist = None if file.is_test else self.read_list(file)
            if plist is None:
                continue
            folder = file.path.parent
            entitlements = self.project.named("*.entitlements", "Entitlements.plist")
            beside = [other for other in entitlements if other.path.parent == folder]
            name, settings = folder.name, {}
            # a project for several platforms is up to two folders above the list
            for other in self.project.named("*.csproj"):
                if other.path.parent in {folder, *folder.parents[:2]}:
                    name, settings = other.path.stem, _read_csproj(other)
                    named = settings.get("CodesignEntitlements", "").replace("\\", "/")
                    beside = [*filter(None, [self.project.at(other.path.parent / named)])] or beside
            if settings.get("PRODUCT_BUNDLE_IDENTIFIER") or OF_BUNDLE & plist.keys():
                rights_file = beside[0] if len(beside) == 1 else None
                rights = self.read_list(rights_file)
                yield BuildTarget(name, file, "", "", settings, plist, file, rights, rights_file)


def _setting_name(written: str, configuration: str) -> str:
    """A build setting's name without its conditions; empty where it holds for another configuration, or no phone."""
    for kind, wanted in re.findall(r"\[(\w+)=([^][]*)\]", written):
        is_other = kind == "config" and not fnmatchcase(configuration, wanted)
        if is_other or (kind == "sdk" and re.search("simulator|mac", wanted)):
            return ""
    return written.partition("[")[0]


def _read_csproj(file: File) -> dict[str, str]:
    """The properties of a .NET project, by the names of build settings; without those of another platform."""
    names = {
        "ApplicationId": "PRODUCT_BUNDLE_IDENTIFIER",
        "SupportedOSPlatformVersion": "PHONEOS_DEPLOYMENT_TARGET",
        "CodesignTeam": "DEVELOPMENT_TEAM",
    }
    settings: dict[str, str] = {}
    found = re.findall(r"<(\w+)\b([^<>]*)>([^<>]+)</\1>", file.text)
    for tag, condition, text in sorted(found, key=lambda one: "Condition" in one[1]):  # what holds without one first
        if not re.search("'(android|windows|tizen|mac\\w*)'", condition):
            settings.setdefault(names.get(tag, tag), text.strip())
    return settings


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A description on top of another one, table by table."""
    merged = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], dict) and isinstance(above[name], dict):
            merged[name] = _merge(below[name], above[name])
    return merged


def make_settings(bundle_id: str, team: str, level: object = "") -> dict[str, str]:
    """Build settings with these values."""
    named = {"PRODUCT_BUNDLE_IDENTIFIER": bundle_id, "DEVELOPMENT_TEAM": team}
    return {**named, "PHONEOS_DEPLOYMENT_TARGET": str(level)}


def _read_rights(rights: Any) -> Mapping[str, Any] | None:
    """Entitlements in a description; None where the one for provisioning is computed, or may be."""
    listed = {str(key): value for key, value in table(rights).items()}
    is_named = any(PROVISIONING.search(key) for key in listed)
    computed = any(PROVISIONING.search(key) and value == COMPUTED for key, value in listed.items())
    return listed if isinstance(rights, dict) and not computed and (is_named or "..." not in listed) else None
