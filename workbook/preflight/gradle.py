"""Reads Gradle's files: build scripts in Kotlin and Groovy, version catalogs, properties.

Both languages write a build as statements: words, strings and a block in braces. This reads exactly that, and runs
nothing. What a script computes stays unknown, and no case judges it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

from workbook.preflight.project import File, Project

# A string or a comment that is not closed ends with its line, or with the file: no text is read twice.
_TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|[ \t\r]+|\\\n)"
    r'|(?P<string>"""(.*?)(?:"""|\Z)|\'\'\'(.*?)(?:\'\'\'|\Z)|"((?:\\.|[^"\\\n])*+)(?:"|(?=\n)|\\?\Z)'
    r"|'((?:\\.|[^'\\\n])*+)(?:'|(?=\n)|\\?\Z))|(?P<word>[\w`$][\w.`$-]*)|(?P<mark>.|\n)",
    re.DOTALL,
)
PAIR, COMPUTED = 2, "${}"
"""How many words a name and its value have, and what stands for a value that a script computes."""
LARGEST_SCRIPT = 1_048_576
"""Characters of a script; what comes after them is not read."""
PARTS = 3
"""The parts of a coordinate: group, name, version."""
_OPEN, _CLOSE = "([", ")]"
_VARIABLE = re.compile(r"\$\{?([\w.]*)\}?")
_NUMBERS = re.compile(r"\d+(\.\d+)*")
DEEPEST = 40
"""Blocks inside one another; a deeper one is read as empty."""
SCRIPTS = ("*.gradle", "*.gradle.kts")
DECLARING = frozenset({"val", "def", "var", "const", "final", "private", "internal", "String"})
"""Words before the name of a variable that only its script sees."""


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
        if self.words[0] in {"getByName", "create", "named", "register", "maybeCreate"} and self.strings:
            return self.strings[0]
        return self.words[0].rpartition(".")[2].strip("`")

    @property
    def value(self) -> str:
        """What it is set to, as text."""
        return self.strings[0] if self.strings else self.words[1] if len(self.words) > 1 else ""

    def all_below(self) -> Iterator[Statement]:
        """Every statement in its block, however deep."""
        for inner in self.block:
            yield inner
            yield from inner.all_below()

    def below(self, *names: str) -> Iterator[Statement]:
        """Every statement below with one of these names."""
        return (inner for inner in self.all_below() if inner.name in names)


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a script; never raises, whatever the text is."""
    tokens, line = [], 1
    for match in _TOKEN.finditer(text[:LARGEST_SCRIPT]):
        kind = match.lastgroup if match.lastgroup in {"skip", "word", "mark"} else "string"
        inner = next((group for group in match.groups()[2:6] if group is not None), "")
        if kind != "skip":
            tokens.append((kind, inner if kind == "string" else match[0], line))
        line += match[0].count("\n")
    return _block(tokens, [0], 0)


def _block(tokens: list[tuple[str, str, int]], at: list[int], depth: int) -> tuple[Statement, ...]:
    """The statements up to the brace that closes this block; `at` holds the next token's place, for all levels."""
    found: list[Statement] = []
    words: list[str] = []
    strings: list[str] = []
    inner: tuple[Statement, ...] = ()
    line = brackets = 0

    def end() -> None:
        nonlocal inner
        if words:
            found.append(Statement(tuple(words), tuple(strings), line, inner))
        elif inner:
            found.extend(inner)
        words.clear()
        strings.clear()
        inner = ()

    while at[0] < len(tokens):
        kind, text, place = tokens[at[0]]
        at[0] += 1
        line = line if words else place
        if kind == "word":
            words.append(text)
        elif kind == "string":
            strings.append(text)
        elif text == "{":
            if depth < DEEPEST:
                inner += _block(tokens, at, depth + 1)
            else:
                _skip(tokens, at)
        elif text == "}":
            if depth:
                break
        elif text in _OPEN:
            brackets += 1
        elif text in _CLOSE:
            brackets = max(brackets - 1, 0)
        elif text in "\n;" and not brackets:
            following = tokens[at[0]] if at[0] < len(tokens) else ("", "", 0)
            if following[1] not in {"{", "else"} or not words:
                end()
    end()
    return tuple(found)


def _skip(tokens: list[tuple[str, str, int]], at: list[int]) -> None:
    """Move `at` past the brace that closes this block."""
    depth = 1
    while depth and at[0] < len(tokens):
        kind, text, _line = tokens[at[0]]
        depth += (text == "{") - (text == "}") if kind == "mark" else 0
        at[0] += 1


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
    application_id: str


@dataclass(frozen=True)
class Module:
    """One build script.

    Attributes:
        file: the script.
        statements: what is in it.
        names: what names stand for: the script's own first, then the project's properties and variables.
        catalog: the libraries of the version catalog, by the name that a script uses; a bundle has several.
    """

    file: File
    statements: tuple[Statement, ...]
    names: Mapping[str, str]
    catalog: Mapping[str, tuple[tuple[str, str], ...]]

    @property
    def root(self) -> Statement:
        """The whole script as one statement."""
        return Statement(("script",), (), 1, self.statements)

    @property
    def is_mobile(self) -> bool:
        """Whether an app or a library for the phone is built here."""
        return any(inner.name in {"defaultConfig", "compileSdk", "buildTypes"} for inner in self._mobile)

    @property
    def is_app(self) -> bool:
        """Whether an app is built here: it has an application id, or applies the plugin for one."""
        return (self.is_mobile and any(self.root.below("applicationId"))) or self.has_plugin("application")

    @property
    def _mobile(self) -> tuple[Statement, ...]:
        """What configures the build of an app or a library, whatever the platform's block is called."""
        blocks = [one.block for one in self.statements if any(inner.name == "defaultConfig" for inner in one.block)]
        return tuple(inner for block in blocks for inner in block)

    def has_plugin(self, *endings: str) -> bool:
        """Whether a plugin is applied whose id, or whose alias in the catalog, ends in one of these words."""
        applied = [one for one in self.root.below("id", "alias", "apply", "maven-publish") if one.words]
        ids = [text for one in applied for text in (*one.strings, *one.words)]
        return any(re.split(r"[.\s]", text.strip("`"))[-1] in endings for text in ids if "." in text or "-" in text)

    def resolved(self, text: str) -> str:
        """A text with the names in it replaced; empty where one is unknown."""
        unknown = False

        def value(match: re.Match[str]) -> str:
            nonlocal unknown
            name = match[1]
            found = self.names.get(name, self.names.get(name.rpartition(".")[2]))
            unknown = unknown or found is None
            return found or ""

        resolved = _VARIABLE.sub(value, text)
        return "" if unknown else resolved

    def _named(self, word: str) -> str:
        """What a name without quotes stands for, by its part after the last dot; empty where it is unknown."""
        return self.names.get(word.rpartition(".")[2], "")

    def dependencies(self) -> Iterator[Dependency]:
        """Every dependency of the script that names a group and a name."""
        blocks = [one for one in self.root.below("dependencies") if one.block]
        for one in [inner for block in blocks for inner in block.block]:
            if one.words[1:3] == ("group", "name") and len(one.strings) >= PAIR:
                group, name, *rest = map(self.resolved, one.strings)
                version = self._named(one.words[4]) if len(one.words) > PARTS + 1 else ""  # `version: tap`
                version = version or (rest[0] if rest and one.words[3:4] == ("version",) else "")
                yield Dependency(f"{group}:{name}", version, one.words[0], self.file, one.line)
            elif one.strings and one.strings[0].count(":") in {1, 2, 3}:
                group, name, *rest = one.strings[0].split(":")
                version = self.resolved(rest[0].partition("@")[0]) if rest else ""
                if not version and len(one.words) > 1:  # "group:name:" + version
                    version = self._named(one.words[-1])
                yield Dependency(f"{self.resolved(group) or group}:{name}", version, one.words[0], self.file, one.line)
            for word in one.words[1:]:
                for coordinate, version in self.catalog.get(re.sub("[-_]", ".", word), ()):
                    yield Dependency(coordinate, version, one.words[0], self.file, one.line)

    def level(self, *names: str) -> tuple[int, int] | None:
        """A number of the main configuration, such as minSdk, and its line; None where the script does not say it."""
        for one in self.root.below(*names):
            text = one.value
            number = text if text.isdigit() else self._named(text)
            if not number and "libs.versions" in text:
                number = self.names.get(text.removesuffix(".get").rpartition("versions.")[2], "")
            if number.isdigit():
                return int(number), one.line
        return None

    def variants(self) -> list[Variant]:
        """Every build variant with its application id; none where the id is computed."""
        mobile = Statement(("mobile",), (), 1, self._mobile)
        default = next((one for one in mobile.block if one.name == "defaultConfig"), None)
        types = {"debug": "", "release": ""} | self._suffixes(mobile, "buildTypes")
        listed = [one for block in mobile.block if block.name == "productFlavors" for one in block.block if one.block]
        dimensions: dict[str, list[Statement]] = {}
        for flavor in listed:
            dimensions.setdefault(_of(flavor, "dimension"), []).append(flavor)
        found = []
        for flavors in product(*dimensions.values()):  # one of each dimension; one empty choice without any
            chosen = [*flavors, *([default] if default else [])]
            identity = next((one for flavor in chosen if (one := _of(flavor, "applicationId"))), "")
            suffixes = "".join(_of(flavor, "applicationIdSuffix") for flavor in (*chosen[len(flavors) :], *flavors))
            for kind, suffix in types.items():
                words = [flavor.name for flavor in flavors] + [kind]
                name = words[0] + "".join(f"{word[:1].upper()}{word[1:]}" for word in words[1:])
                resolved = self.resolved(identity + suffixes + suffix)
                if identity and resolved:
                    found.append(Variant(name, resolved))
        return found

    def _suffixes(self, mobile: Statement, block: str) -> dict[str, str]:
        entries = [one for part in mobile.block if part.name == block for one in part.block if one.words]
        suffixes: dict[str, str] = {}
        for one in entries:
            if one.block or one.words[0] in {"create", "register", "getByName", "named"}:
                parent = next((inner for inner in one.block if inner.name == "initWith"), None)
                inherited = ""
                if parent is not None:
                    source = parent.strings[0] if parent.strings else parent.value.rpartition(".")[2]
                    inherited = suffixes.get(source, "")
                suffixes[one.name] = _of(one, "applicationIdSuffix") or inherited
        return suffixes


def _of(block: Statement, name: str) -> str:
    """What a name is set to directly in a block: empty where it is not, an unknown name where it is computed."""
    for one in block.block:
        if one.name == name:
            literal = one.strings[0] if len(one.words) == 1 and len(one.strings) == 1 else ""
            return literal or (f"${one.value}" if len(one.words) == PAIR and not one.strings else COMPUTED)
    return ""


@dataclass(frozen=True)
class Build:
    """All build scripts of a project."""

    modules: tuple[Module, ...] = ()
    settings: tuple[Module, ...] = field(default=())
    broken: tuple[tuple[File, str], ...] = ()
    """Files that cannot be read, and why."""

    @property
    def apps(self) -> list[Module]:
        """The modules that build an app."""
        return [module for module in self.modules if module.is_app and module.is_mobile]

    def dependencies(self) -> Iterator[Dependency]:
        """The dependencies of every module."""
        for module in self.modules:
            yield from module.dependencies()

    def repositories(self) -> Iterator[tuple[Module, Statement]]:
        """Every repository that a script names, except those that it publishes to."""
        for module in (*self.settings, *self.modules):
            for block in _outside_publishing(module.statements):
                if block.name == "repositories":
                    yield from ((module, one) for one in block.block)


def _outside_publishing(found: tuple[Statement, ...]) -> Iterator[Statement]:
    for one in found:
        if one.name not in {"publishing", "uploadArchives", "pluginManagement", "buildscript"}:
            yield one
            yield from _outside_publishing(one.block)


def read_build(project: Project) -> Build:
    """Read every build script, version catalog and `gradle.properties`."""
    names: dict[str, str] = {}
    for file in project.named("gradle.properties"):
        pairs = (line.partition("=") for line in file.text.splitlines() if not line.lstrip().startswith("#"))
        names |= {key.strip(): value.strip() for key, mark, value in pairs if mark}
    catalog: dict[str, tuple[tuple[str, str], ...]] = {}
    broken = [(file, file.no_text) for file in project.named("gradle.properties", *SCRIPTS) if file.no_text]
    for file in project.named("*.versions.toml"):
        try:
            libraries, versions = _catalog(file)
        except (ValueError, RecursionError) as error:
            broken.append((file, file.no_text or f"no TOML: {error!s:.200}"))
        else:
            catalog |= libraries
            names |= versions
    read = [(file, statements(file.text)) for file in project.named(*SCRIPTS)]
    for _file, found in read:
        for one in found:
            names |= _assigned(one) if one.words[0] not in DECLARING or "extra" in one.words else {}
    modules = [Module(file, found, names | _own(found), catalog) for file, found in read]
    scripts = [module for module in modules if not module.file.path.name.startswith("settings.")]
    return Build(tuple(scripts), tuple(module for module in modules if module not in scripts), tuple(broken))


def _assigned(one: Statement) -> dict[str, str]:
    """The variables that a statement sets: `val x = "1"`, `String x = '1'`, `ext.x = "1"`, `ext { x = "1" }`."""
    if one.words[0] in {"ext", "buildscript", "extra"}:
        return {name: text for inner in one.block for name, text in (_assigned(inner) or _set(inner)).items()}
    if one.words[0] in DECLARING:
        name, *more = [word for word in one.words if word not in DECLARING | {"by", "extra"}] or [""]
        if len(more) + len(one.strings) == 1:  # one text, or one word; anything else is computed, or a map
            return {name: (*one.strings, *more)[0]}
        return dict(zip(more, one.strings, strict=True)) if len(more) == len(one.strings) else {}
    return _set(one) if one.words[0].startswith(("ext.", "project.ext.")) else {}


def _own(found: tuple[Statement, ...]) -> dict[str, str]:
    """The variables that only this script sees; the whole script's wins over a block's."""
    inner = Statement(("script",), (), 1, found).all_below()
    return {name: text for one in (*inner, *found) for name, text in _assigned(one).items()}


def _set(one: Statement) -> dict[str, str]:
    if one.block or not one.value:
        return {}
    maps = dict(zip(one.words[1:], one.strings, strict=False)) if len(one.strings) > 1 else {}  # versions = [sdk: "1"]
    return maps or {one.name: one.value}


def _catalog(file: File) -> tuple[dict[str, tuple[tuple[str, str], ...]], dict[str, str]]:
    """A version catalog's libraries and bundles, and its versions, by their names in a script.

    Raises:
        ValueError: it is no TOML.
    """
    content: dict[str, Any] = tomllib.loads(file.text)
    table = content.get("versions")
    versions = {key: str(_plain(value)) for key, value in table.items()} if isinstance(table, dict) else {}
    libraries: dict[str, tuple[tuple[str, str], ...]] = {}
    entries = content.get("libraries")
    for alias, listed in entries.items() if isinstance(entries, dict) else ():
        short = dict(zip(("group", "name", "version"), str(listed).split(":"), strict=False))
        entry = listed if isinstance(listed, dict) else short
        coordinate = str(entry.get("module") or f"{entry.get('group', '')}:{entry.get('name', '')}")
        version = entry.get("version", "")
        if isinstance(version, dict) and "ref" in version:
            version = versions.get(str(version["ref"]), "")
        libraries[_accessor(alias)] = ((coordinate, str(_plain(version))),)
    bundles = content.get("bundles")
    for alias, members in bundles.items() if isinstance(bundles, dict) else ():
        listed = [libraries.get(_accessor(str(one)), ()) for one in members] if isinstance(members, list) else []
        libraries[_accessor(f"bundles.{alias}")] = tuple(chain.from_iterable(listed))
    return libraries, {re.sub("[-_]", ".", key): value for key, value in versions.items()}


def _accessor(alias: str) -> str:
    """How a script writes an alias of the catalog."""
    return "libs." + re.sub("[-_]", ".", alias)


def _plain(version: Any) -> Any:
    """A catalog's version; of a table, its `strictly`, `require` or `prefer`."""
    if isinstance(version, dict):
        return version.get("strictly") or version.get("require") or version.get("prefer") or ""
    return version


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparing; none where it is unknown or a range."""
    match = _NUMBERS.match(version)
    return tuple(map(int, match[0].split("."))) if match and "+" not in version and "," not in version else ()
