"""Reads Gradle's files: build scripts in Kotlin and Groovy, version catalogs, properties.

Both languages write a build as statements: words, strings and a block in braces. This reads exactly that, and runs
nothing. What a script computes stays unknown, and no case judges it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import Any, TypeAlias

from workbook.base.forms import load_toml
from workbook.tools.preflight.project import File, Project, rows, table

# Coordinate and version of each library, by the name that a script uses; a bundle has several libraries.
Catalog: TypeAlias = Mapping[str, tuple[tuple[str, str], ...]]
BUILD_SCRIPTS = ("*.gradle", "*.gradle.kts")
# The folder of a plugin that the project makes for its own modules.
MAKES_PLUGINS = re.compile(r"(^|/)(build-?logic|buildSrc|[\w-]*plugins?)/", re.IGNORECASE)
# What only the block of an app or a library for the phone has; each may be the only one there.
OF_MOBILE = frozenset({"defaultConfig", "compileSdk", "compileSdkVersion", "namespace", "productFlavors", "buildTypes"})
# What decides on the application id of a variant.
SETTING_IDS = frozenset({"applicationId", "applicationIdSuffix"})
OF_VARIANT = SETTING_IDS | {"dimension", "initWith"}
# Scripts that frameworks bring, and every project of theirs applies: none makes a flavour.
OF_FRAMEWORKS = re.compile(r"node_modules|require\.resolve|react-native|flutter|cordova|capacitor\.build")
# What makes an element of a container such as `productFlavors`, what finds one, and what delegates a property to one.
MAKING = frozenset({"create", "register", "maybeCreate"})
NAMING = MAKING | {"getByName", "named"}
DELEGATING = frozenset({"creating", "registering", "getting", "existing"})
# What goes through the elements of a container, and what depends on something.
GOING_THROUGH = frozenset({"all", "each", "forEach", "configureEach", "matching", "whenObjectAdded"})
# How code sets the application id of a variant.
SETS_ID = re.compile(r"\.applicationId\.set\Z|mergedFlavor\.applicationId\Z")
# Variants of a signing report that are no app of their own.
IS_TEST = re.compile(r"(AndroidTest|UnitTest|TestFixtures)\Z")
# Words before the name of a variable that only its script sees.
DECLARING = frozenset({"val", "def", "var", "const", "final", "private", "internal", "String"})


@dataclass(frozen=True)
class Statement:
    """One statement, such as `minSdk = 26` or `debug { ... }`.

    Attributes:
        words: names and numbers, in their order.
        strings: the texts in quotes, in their order.
        line: where it begins, from 1.
        block: the statements in its braces.
    """

    words: tuple[str, ...]
    strings: tuple[str, ...]
    line: int
    block: tuple[Statement, ...] = ()

    @property
    def name(self) -> str:
        """What the statement sets or calls: for `getByName("debug")`, `debug`."""
        if self.words[0] in NAMING and self.strings:
            return self.strings[0]
        return self.words[0].rpartition(".")[2].strip("`")

    @property
    def container(self) -> str:
        """What it is in: for `productFlavors.create("prod")`, `productFlavors`."""
        return self.words[0].partition(".")[0]

    @property
    def value(self) -> str:
        """What it is set to, as text."""
        return self.strings[0] if self.strings else self.words[1] if len(self.words) > 1 else ""

    @property
    def is_computed(self) -> bool:
        """Whether this is a block with a computed name: `name -> "$name" { ... }`."""
        return bool(self.block) and any("$" in text for text in self.strings)

    def all_below(self, without: Container[str] = ()) -> Iterator[Statement]:
        """Every statement in its block, however deep, except those with one of these names, and their blocks."""
        waiting = [*reversed(self.block)]
        while waiting:
            if (inner := waiting.pop()).name not in without:
                yield inner
                waiting += reversed(inner.block)

    def below(self, *names: str) -> Iterator[Statement]:
        """Every statement below with one of these names."""
        return (inner for inner in self.all_below() if inner.name in names)


@dataclass(slots=True)
class _OpenBlock:
    """A block that is being read: its statements so far, and the parts of the next one."""

    found: list[Statement] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    inner: tuple[Statement, ...] = ()
    line: int = 0
    brackets: int = 0
    closed: bool = False

    def end(self) -> None:
        """The statement ends. Braces without a word before them are no block of their own."""
        if self.strings and not self.words:  # 'prod' { ... }, "freeImplementation"("group:name:1")
            self.words = [self.strings.pop(0)]
        if self.words:
            self.found.append(_unfold(Statement(tuple(self.words), tuple(self.strings), self.line, self.inner)))
        else:
            self.found += self.inner
        self.words, self.strings, self.inner, self.closed = [], [], (), False


def read_script(text: str) -> Statement:
    """The script as one statement, whose block is all that is in it; never raises, whatever the text is.

    A string or a comment that is not closed ends with its line, or with the file, so no text is read twice. The end of
    a line ends a statement unless a brace or `else` follows. Characters beyond the first 1,048,576 are not read.
    """
    tokens = re.finditer(
        r"(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|[ \t\r]+|\\\n|[\n;][ \t\r]*(?=\{|else\b))"
        r'|(?P<string>"""(.*?)(?:"""|\Z)|\'\'\'(.*?)(?:\'\'\'|\Z)|"((?:\\.|[^"\\\n])*+)(?:"|(?=\n)|\\?\Z)'
        r"|'((?:\\.|[^'\\\n])*+)(?:'|(?=\n)|\\?\Z))|(?P<word>[\w`$][\w.`$-]*)|(?P<mark>.|\n)",
        text[:1_048_576],
        re.DOTALL,
    )
    line, opened = 1, [_OpenBlock()]
    for token in tokens:
        block = opened[-1]
        match token.lastgroup, token[0]:
            case "word", word:
                if block.closed and not block.brackets and word != "else":  # debug { ... } release { ... }
                    block.end()
                block.line = block.line if block.words or block.strings else line
                block.words.append(word)
            case "string", _:
                block.line = block.line if block.words or block.strings else line
                block.strings.append(next(inner for inner in token.groups()[2:6] if inner is not None))
            case "mark", "{":
                opened.append(_OpenBlock())
            case "mark", "}" if len(opened) > 1:
                _close(opened)
            case "mark", "(" | "[":
                block.brackets += 1
            case "mark", ")" | "]":
                block.brackets = max(block.brackets - 1, 0)
            case "mark", "\n" | ";" if not block.brackets:
                block.end()
        line += token[0].count("\n")
    while len(opened) > 1:
        _close(opened)
    opened[0].end()
    return Statement(("script",), (), 1, tuple(opened[0].found))


def _unfold(entry: Statement) -> Statement:
    """A statement as the blocks that it is short for: `NAME.buildTypes { ... }`, `debug.applicationIdSuffix = ".d"`."""
    outer, _dot, rest = entry.words[0].partition(".")
    if rest.partition(".")[0] in OF_MOBILE:
        return Statement((outer,), (), entry.line, (_unfold(replace(entry, words=(rest, *entry.words[1:]))),))
    head, _dot, setting = entry.words[0].rpartition(".")
    if head and setting in OF_VARIANT and not SETS_ID.search(entry.words[0]):
        return Statement((head,), (), entry.line, (replace(entry, words=(setting, *entry.words[1:])),))
    if setting in NAMING and entry.strings and OF_VARIANT & set(entry.words[1:2]):  # getByName("debug").dimension = ...
        inner = replace(entry, words=entry.words[1:], strings=entry.strings[1:])
        return Statement(entry.words[:1], entry.strings[:1], entry.line, (inner,))
    return entry


def _close(opened: list[_OpenBlock]) -> None:
    """The innermost block ends. One that is more than 40 deep is read as empty: no build is written like that."""
    closed = opened.pop()
    closed.end()
    opened[-1].closed = True
    if len(opened) <= 40:
        opened[-1].inner += tuple(closed.found)


@dataclass(frozen=True)
class Dependency:
    """One dependency: `group:name`, its version (empty where it is unknown), the configuration, and its place."""

    coordinate: str
    version: str
    configuration: str
    file: File
    line: int


@dataclass(frozen=True)
class Variant:
    """One build variant, and the application id that it is built with."""

    name: str
    application_id: str  # empty where it is computed


@dataclass(frozen=True)
class Module:
    """One build script.

    Attributes:
        file: the script.
        root: the whole script as one statement.
        names: what names stand for: the script's own first, then the project's properties and variables.
        catalog: the libraries of the version catalog.
        applied: the scripts that it applies by `apply from:`, as far as they are in the project.
        unread: a sentence about each of the others.
    """

    file: File
    root: Statement
    names: Mapping[str, str]
    catalog: Catalog
    applied: tuple[Statement, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_mobile(self) -> bool:
        """Whether an app or a library for the phone is built here."""
        return bool(self._mobile)

    @property
    def is_server(self) -> bool:
        """Whether a program for a server is built here: what is in it may know address and key of the API."""
        kinds = re.compile(
            r"^application$|(^|\.)(war|boot|server|back-?end)$|spring|ktor|micronaut|quarkus|javalin|http4k|vertx"
        )
        plugins = any(kinds.search(text) for text in self._plugins())
        libraries = re.compile(r"ktor-server|spring-boot|micronaut|quarkus|javalin|http4k|vertx")
        return not self.is_mobile and (plugins or any(libraries.search(one.coordinate) for one in self.dependencies()))

    @property
    def uses(self) -> set[str]:
        """The folders of the modules of the same project that it depends on, as far as it names them."""
        entries = [inner for block in self.root.below("dependencies") for inner in block.all_below()]
        named = [text for entry in entries for text in entry.strings if text.startswith(":")]
        named += [word[9:] for entry in entries for word in entry.words if word.startswith("projects.")]
        return {re.sub(r"\W", "", text.lower()) for text in named}

    @property
    def is_app(self) -> bool:
        """Whether an app is built here: it has an application id, or applies the plugin for one."""
        return (self.is_mobile and any(self.root.below("applicationId"))) or self.has_plugin("application")

    @property
    def _mobile(self) -> tuple[Statement, ...]:
        """What configures the build of an app or a library, whatever the platform's block is called."""
        own = (entry.block for root in (self.root, *self.applied) for entry in root.block)
        mobile = (block for block in own if any(OF_MOBILE & {part.name, part.container} for part in block))
        return tuple(chain(*mobile))

    def _plugins(self) -> Iterator[str]:
        """The id of each plugin that is applied; of the catalog's, its alias and its id."""
        inner = (entry for block in self.root.below("plugins") for entry in block.block)
        applied = (*inner, *self.root.below("apply", "maven-publish"))
        for entry in (entry for entry in applied if "false" not in entry.words):
            for text in (*entry.strings, *entry.words):
                yield text.strip("`")
                yield from (coordinate for coordinate, _version in self.catalog.get(_dotted(text), ()))

    def has_plugin(self, *endings: str) -> bool:
        """Whether a plugin is applied whose id, or whose alias in the catalog, ends in one of these words."""
        ids = (text for text in self._plugins() if "." in text or "-" in text)
        return any(re.split(r"[.\s]", text)[-1].lower().endswith(endings) for text in ids)

    def resolve(self, text: str) -> str:
        """A text with the names in it replaced, and those in what they stand for; empty where one is unknown."""
        for _name in range(20):
            match = re.search(r"\$\{?([\w.]*)\}?", text)
            if match is None:
                return text
            known = self._named(match[1])
            if not known:
                break
            text = text[: match.start()] + known + text[match.end() :]
        return ""

    def _named(self, word: str) -> str:
        """What a name without quotes stands for, whole or by its part after the last dot; empty where it is unknown."""
        return self.names.get(word) or self.names.get(word.rpartition(".")[2], "")

    def dependencies(self) -> Iterator[Dependency]:
        """Every dependency of the script that names a group and a name."""
        for entry in (inner for block in self.root.below("dependencies") for inner in block.block):
            for coordinate, version in self._coordinates(entry):
                yield Dependency(coordinate, version, entry.words[0], self.file, entry.line)

    def _coordinates(self, entry: Statement) -> Iterator[tuple[str, str]]:
        """What a statement depends on: `group:name` and the version of each, however the statement writes them."""
        text = entry.strings[0] if entry.strings else self._named(entry.value)  # or `Libs.sdk` for one
        if entry.words[1:3] == ("group", "name") and len(entry.strings) > 1:
            group, name, *rest = map(self.resolve, entry.strings)
            version = self._named(entry.words[4]) if len(entry.words) > 4 else ""  # `version: tap`
            yield f"{group}:{name}", version or (rest[0] if rest and entry.words[3:4] == ("version",) else "")
        elif text.count(":") in {1, 2, 3}:
            group, name, *rest = text.split(":")
            version = self.resolve(rest[0].partition("@")[0]) if rest else ""
            if not version and len(entry.words) > 1:  # "group:name:" + version
                version = self._named(entry.words[-1])
            yield f"{self.resolve(group) or group}:{name}", version
        for word in entry.words[1:]:
            is_alias = word.startswith("libs.")  # of a catalogue that may be outside of the folder
            yield from self.catalog.get(_dotted(word), ((word.replace(".", "-"), ""),) if is_alias else ())

    def level(self, *names: str) -> tuple[int, int] | None:
        """A number of the main configuration, such as minSdk, and its line; None where the script does not say it."""
        for entry in self.root.below(*names):
            text = entry.value
            number = text if text.isdigit() else self._named(text)
            if not number and "libs.versions" in text:
                number = self.names.get(text.removesuffix(".get").rpartition("versions.")[2], "")
            if re.fullmatch("[0-9]{1,9}", number):
                return int(number), entry.line
        return None

    def variants(self) -> list[Variant]:
        """Every build variant with its application id; none where flavours or build types are computed."""
        flavors, kinds = self._elements("productFlavors"), self._elements("buildTypes")
        if flavors is None or kinds is None:
            return []
        default = self._default()
        suffixes = {"debug": "", "release": ""}  # they are there in any case
        for kind, settings in kinds.items():
            copied = next((entry.value.rpartition(".")[2] for entry in settings if entry.name == "initWith"), "")
            suffixes[kind] = _set_to(settings, "applicationIdSuffix") or suffixes.get(copied, "")
        found = []
        for chosen in product(*self._dimensions(flavors)):  # one of each dimension; one empty choice without any
            parts = [flavors[name] for name in chosen]
            identity = next(filter(None, (_set_to(part, "applicationId") for part in (*parts, default))), "")
            inner = "".join(_set_to(part, "applicationIdSuffix") for part in (default, *parts))
            for kind, suffix in suffixes.items():
                first, *others = [*chosen, kind]
                name = first + "".join(f"{word[:1].upper()}{word[1:]}" for word in others)
                found.append(Variant(name, self.resolve(identity + inner + suffix) if identity else ""))
        return found if any(variant.application_id for variant in found) else []

    def _dimensions(self, flavors: Mapping[str, list[Statement]]) -> list[list[str]]:
        """The names of the flavours by their dimension, in the order in which the dimensions are declared."""
        entries = (entry for entry in self._mobile if entry.words[0].startswith("flavorDimensions"))
        declared = [text for entry in entries for text in entry.strings]
        written = {name: _set_to(settings, "dimension") for name, settings in flavors.items()}
        only = next(filter(None, [*declared, *written.values()]), "")  # a flavour that names none is in the only one
        dimensions: dict[str, list[str]] = {name: [] for name in declared}
        for name, dimension in written.items():
            dimensions.setdefault(dimension or only, []).append(name)
        return [names for names in dimensions.values() if names]

    def _elements(self, container: str) -> dict[str, list[Statement]] | None:
        """The statements in the block of each element of a container, by its name; None where some are computed."""
        found: dict[str, list[Statement]] = {}
        waiting: list[Statement] = []
        for entry in self._mobile:
            call = entry.words[0].partition(".")[2]
            if entry.container == container:  # a block, or `productFlavors.create("prod")`
                is_call = call not in {"", "apply", "run"}
                waiting += [replace(entry, words=(call, *entry.words[1:]))] if is_call else entry.block
        while waiting:
            entry = waiting.pop(0)
            if entry.words[0] in {"if", "else"}:
                waiting = [*entry.block, *waiting]
            elif NAMING & set(entry.words) and not entry.strings:
                return None
            elif any(word.rpartition(".")[2] in GOING_THROUGH for word in entry.words):
                if any(inner.words[0] in MAKING or inner.is_computed for inner in entry.all_below()):
                    return None
            elif name := _element(entry):
                found.setdefault(name, []).extend(entry.block)
        return found

    def _default(self) -> list[Statement]:
        return [inner for entry in self._mobile if entry.name == "defaultConfig" for inner in entry.block]

    def unread_settings(self) -> Iterator[str]:
        """A sentence for each line that sets an id, or makes flavours, where `variants` does not look for it."""
        elements = [(self._elements(container) or {}).values() for container in ("productFlavors", "buildTypes")]
        made = (entry for entry in self._mobile if entry.container == "productFlavors")
        read = {*made, *self._default(), *chain(*chain(*elements))}
        for root in (self.root, *self.applied):
            place = f"{self.file.name}:" if root is self.root else f"A script that {self.file.name} applies, line "
            for entry in root.all_below() if self.variants() else ():
                parts = {part for word in entry.words for part in word.split(".")}
                is_id = entry.words[0] in SETTING_IDS or any(map(SETS_ID.search, entry.words))
                if entry not in read and (is_id or ("productFlavors" in parts and (entry.block or NAMING & parts))):
                    yield f"{place}{entry.line} sets an id or makes a flavour by its code: see that it is listed"

    def key_choices(self) -> Iterator[str]:
        """A sentence for the first line by which the environment chooses the signing key."""
        keys = ("signingConfig", "storeFile")
        chosen = re.compile(r"\bif\b|getenv|environmentVariable|(has|find)Property")
        for entry in self.root.all_below():
            is_choice = entry.words[0] == "if" and any(entry.below(*keys))
            if is_choice or (entry.name in keys and chosen.search(" ".join(entry.words[1:]))):
                place = f"{self.file.name}:{entry.line} lets the environment choose the signing key"
                yield f"{place}: a certificate that this request does not have may sign, too. Name each with --signing"
                return

    def filters(self) -> Iterator[str]:
        """A sentence for each filter that may switch variants off."""
        names = {variant.name for variant in self.variants()}
        for entry in self.root.below("variantFilter", "beforeVariants"):
            texts = dict.fromkeys(text for inner in (entry, *entry.all_below()) for text in inner.strings)
            named = ", ".join(text for text in texts if text in names) or "no variant by its whole name"
            place = f"{entry.name} at {self.file.name}:{entry.line}"
            yield f"{place} names {named}: a variant that it switches off needs no entry"


def _element(entry: Statement) -> str:
    """The name of the element that a statement in a container is about; empty where it is about none."""
    if "by" in entry.words and DELEGATING & set(entry.words):  # val prod by creating
        return entry.words[entry.words.index("by") - 1]
    if NAMING & set(entry.words):  # getByName("debug"), and the same behind `val debug =`
        return entry.strings[0]
    is_bare = len(entry.words) == 1 and not entry.strings  # Groovy makes an element by its name alone
    return entry.name if entry.block or is_bare else ""


def _set_to(statements: Iterable[Statement], name: str) -> str:
    """What a name is set to by these statements: empty where it is not, an unknown name where it is computed."""
    for entry in statements:
        if entry.words[0] in {"if", "else"} and any(entry.below(name)):
            return "${}"
        if entry.name == name and entry.value != "null":
            literal = entry.strings[0] if len(entry.words) == 1 and len(entry.strings) == 1 else ""
            if len(entry.strings) == 2 and re.search("getenv|[pP]roperty|[vV]ariable", "".join(entry.words[1:2])):
                literal = entry.strings[1]  # what it is where the environment sets nothing
            return literal or (f"${{{entry.value}}}" if len(entry.words) == 2 and not entry.strings else "${}")
    return ""


@dataclass(frozen=True)
class Build:
    """All build scripts of a project."""

    modules: tuple[Module, ...] = ()
    settings: tuple[Module, ...] = ()
    # The classes of the plugins that the project itself makes, read as scripts: what they set holds in its modules.
    conventions: tuple[Module, ...] = ()
    # Files that cannot be read, and why.
    broken: tuple[tuple[File, str], ...] = ()

    @property
    def apps(self) -> list[Module]:
        """The modules that build an app; a script that another one applies is a part of that one."""
        applied = {id(root) for module in self.modules for root in module.applied}
        apps = (module for module in self.modules if module.is_app and module.is_mobile)
        return [module for module in apps if id(module.root) not in applied]

    @property
    def variants(self) -> list[Variant]:
        """The build variants of every app."""
        return [variant for module in self.apps for variant in module.variants()]

    @property
    def unread(self) -> list[str]:
        """A sentence about each script that may make variants of an app, and whose variants are not known."""
        plugins = (one.file.name for one in self.conventions if any(one.root.below("productFlavors", "buildTypes")))
        makes = [f"{name} makes variants by its code: add those that are missing here by hand" for name in plugins]
        for module in self.apps:
            makes += dict.fromkeys((*module.unread, *module.unread_settings()))
        return makes

    def unknown_ids(self, signed: Iterable[str]) -> list[str]:
        """A sentence about the variants of a signing report that no script makes."""
        known = {variant.name for variant in self.variants}
        others = [name for name in dict.fromkeys(signed) if name and name not in known and not IS_TEST.search(name)]
        says = f"The signing report has {', '.join(others)}, which no script that was read makes: add their ids by hand"
        return [says] if others else []

    def is_of_server(self, file: File) -> bool:
        """Whether a file belongs to a module for a server, or to one that only such a module uses."""
        owners = [module for module in self.modules if file.name.startswith(_folder(module))]
        owner = max(owners, key=lambda module: len(_folder(module)), default=None)
        if owner is None or owner.is_mobile or owner.is_server:
            return owner is not None and owner.is_server
        name = re.sub(r"\W", "", _folder(owner).lower())
        users = [module for module in self.modules if name and name in module.uses]
        return bool(users) and all(module.is_server for module in users)

    def level(self, module: Module, name: str) -> tuple[File, int, int] | None:
        """A number of an app's configuration with its place: of the app's script, else of the project's own plugins."""
        scripts = (other for other in self.modules if MAKES_PLUGINS.search(other.file.name))
        for one in (module, *scripts, *self.conventions):
            if found := one.level(name, f"{name}Version"):
                return one.file, found[1], found[0]
        return None

    def dependencies(self) -> Iterator[Dependency]:
        """The dependencies of every module."""
        for module in self.modules:
            yield from module.dependencies()

    def repositories(self) -> Iterator[tuple[Module, Statement]]:
        """Every repository for what the app needs: none to publish to, and none for the plugins that build it."""
        own = (one for one in (*self.settings, *self.modules) if not MAKES_PLUGINS.search(one.file.name))
        for module in own:
            for block in module.root.all_below({"publishing", "uploadArchives", "pluginManagement", "buildscript"}):
                if block.name == "repositories":
                    yield from ((module, entry) for entry in block.block)


def _folder(module: Module) -> str:
    folder = module.file.name.rpartition("/")[0]
    return f"{folder}/" if folder else ""


def read_build(project: Project) -> Build:
    """Read every build script, version catalog and `gradle.properties`, and the plugins that the project makes."""
    names: dict[str, str] = {}
    for file in project.named("gradle.properties"):
        pairs = (line.partition("=") for line in file.text.splitlines() if not line.lstrip().startswith("#"))
        names |= {key.strip(): value.strip() for key, mark, value in pairs if mark}
    catalog: dict[str, tuple[tuple[str, str], ...]] = {}
    broken = [(file, file.no_text) for file in project.named("gradle.properties", *BUILD_SCRIPTS) if file.no_text]
    for file in project.named("*.versions.toml"):
        try:
            libraries, versions = _catalog(file)
        except (ValueError, RecursionError) as error:
            broken.append((file, file.no_text or f"no TOML: {error!s:.200}"))
        else:
            catalog |= libraries
            names |= versions
    read = [(file, read_script(file.text)) for file in project.named(*BUILD_SCRIPTS)]
    for entry in (entry for _file, root in read for entry in root.block):
        names |= _assigned(entry) if entry.words[0] not in DECLARING or "extra" in entry.words else {}
    modules: list[Module] = []
    settings: list[Module] = []
    own_plugins = [file for file in project.named("*.kt", "*.java", "*.groovy") if MAKES_PLUGINS.search(file.name)]
    conventions = [(file, read_script(file.text)) for file in own_plugins]
    for _file, root in conventions:
        names |= _constants(root)
    scripts = {file.path.name: root for file, root in read}
    for file, root in read:
        applied, unread = _find_applied(file, root, scripts)
        kind = settings if file.path.name.startswith("settings.") else modules
        kind.append(Module(file, root, names | _constants(root), catalog, applied, unread))
    plugins = tuple(Module(file, root, names, catalog) for file, root in conventions)
    return Build(tuple(modules), tuple(settings), plugins, tuple(broken))


def read_lock_files(project: Project) -> Iterator[Dependency]:
    """The dependencies in Gradle's lock files, which also have those that a plugin drags in."""
    for file in project.named("*gradle.lockfile"):
        for match in re.finditer(r"(?m)^([\w.-]+:[\w.-]+):([\w.-]+)=", file.text):
            yield Dependency(match[1], match[2], "", file, file.text.count("\n", 0, match.start()) + 1)


def _find_applied(
    file: File, root: Statement, scripts: Mapping[str, Statement]
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """The scripts that a script applies, and a sentence about each that the project does not have."""
    applied: list[Statement] = []
    unread: list[str] = []
    for entry in root.below("apply"):
        named = [text for text in entry.strings if text.endswith((".gradle", ".kts")) and "from" in entry.words]
        text = "".join(named[-1:])
        script = scripts.get(text.rpartition("/")[2])
        if script is not None and script is not root:
            applied.append(script)
        elif text and not OF_FRAMEWORKS.search(" ".join(entry.strings)):
            place = f"{file.name}:{entry.line} applies {text:.80}"
            unread.append(f"{place}, which was not read: a flavour in it is missing here")
    return tuple(applied), tuple(unread)


def _constants(root: Statement, prefix: str = "") -> dict[str, str]:
    """The variables that a script sets: by their names, of which one at the top wins, and by `Object.name`."""
    found: dict[str, str] = {}
    for entry in root.block:
        found |= _constants(entry, f"{prefix}{entry.value}." if entry.words[0] == "object" else prefix)
    for name, text in (pair for entry in root.block for pair in _assigned(entry).items()):
        found |= {name: text, f"{prefix}{name}": text}
    return found


def _assigned(entry: Statement) -> dict[str, str]:
    """The variables that a statement sets: `val x = "1"`, `String x = '1'`, `ext.x = "1"`, `ext { x = "1" }`."""
    if entry.words[0] in {"ext", "buildscript", "extra"}:
        return {name: text for inner in entry.block for name, text in (_assigned(inner) or _set(inner)).items()}
    if entry.words[0] in DECLARING:
        name, *more = [word for word in entry.words if word not in DECLARING | {"by", "extra"}] or [""]
        if len(more) + len(entry.strings) == 1:  # one text, or one word; anything else is computed, or a map
            return {name: (*entry.strings, *more)[0]}
        return dict(zip(more, entry.strings, strict=True)) if len(more) == len(entry.strings) else {}
    return _set(entry) if entry.words[0].startswith(("ext.", "project.ext.")) else {}


def _set(entry: Statement) -> dict[str, str]:
    if entry.block or not entry.value:
        return {}
    listed = dict(zip(entry.words[1:], entry.strings, strict=False))  # versions = [sdk: "1", library: "2"]
    return {entry.name: entry.value, **listed}


def _catalog(file: File) -> tuple[Catalog, dict[str, str]]:
    """A version catalog's libraries and bundles, and its versions, by their names in a script.

    Raises:
        ValueError: it is no TOML.
    """
    content = load_toml(file.text)
    versions = {_dotted(name): _version(value) for name, value in table(content.get("versions")).items()}
    libraries: dict[str, tuple[tuple[str, str], ...]] = {}
    for alias, listed in table(content.get("libraries")).items():
        short = dict(zip(("group", "name", "version"), str(listed).split(":"), strict=False))
        entry = listed if isinstance(listed, dict) else short
        coordinate = str(entry.get("module") or f"{entry.get('group', '')}:{entry.get('name', '')}")
        version = entry.get("version", "")
        reference = table(version).get("ref")
        known = _version(version) if reference is None else versions.get(_dotted(str(reference)), "")
        libraries[f"libs.{_dotted(alias)}"] = ((coordinate, known),)
    for alias, listed in table(content.get("plugins")).items():
        identity = listed.get("id", "") if isinstance(listed, dict) else str(listed).partition(":")[0]
        libraries[f"libs.plugins.{_dotted(alias)}"] = ((str(identity), ""),)
    for alias, members in table(content.get("bundles")).items():
        listed = [libraries.get(f"libs.{_dotted(str(member))}", ()) for member in rows(members)]
        libraries[f"libs.bundles.{_dotted(alias)}"] = tuple(chain.from_iterable(listed))
    return libraries, versions


def _dotted(alias: str) -> str:
    """A name of the catalog as a script writes it."""
    return re.sub("[-_]", ".", alias)


def _version(value: Any) -> str:
    """A catalog's version; of a table, its `strictly`, `require` or `prefer`."""
    if isinstance(value, dict):
        value = value.get("strictly") or value.get("require") or value.get("prefer") or ""
    return str(value)


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing; none where it is unknown or a range."""
    match = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(map(int, match[0].split("."))) if match and "+" not in version and "," not in version else ()
