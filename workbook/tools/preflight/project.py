"""The files of a project, and its sources in Swift and Kotlin, read with their grammars.

Files are found and read within limits, so that a hostile tree ends quickly and clearly: a symbolic link to a folder is
not followed, so no walk is endless; what a build made, and what others wrote (packages, pods, modules), is left out; a
file is read when it is needed, once.

The two grammars name their nodes differently; the sets here have both names. Only a file that mentions a word of the
SDK is parsed, so a large project costs little. A file is walked once, from the top: what is around a function or a call
is known then, where a node would look for its parent through the whole file.

A grammar may take for ever, and then no signal of Python's ends it: an annotation cut off at the end of a file is
enough. So a child process parses each text first, and a text that takes it too long is not read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.base.children import child_environment, python_command
from workbook.base.files import pip_line, read_regular
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.preflight import parsing

if TYPE_CHECKING:  # an extra brings it
    from tree_sitter import Node

# Bytes of a file that is read; no property list, project file, source or environment has more.
LARGEST_FILE = 16 * 1_048_576


# Endings of what a Gradle module builds.
JVM = (".kt", ".java", ".xml", ".properties")
# Endings of what belongs to a JavaScript package.
SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".html", ".env")
# Endings of what ends up in an app, or configures it.
IN_APPS = (*JVM, *SCRIPTS, ".dart", ".swift", ".m", ".mm", ".h", ".cs", ".plist", ".xcconfig", ".strings")
# Endings of files that are read beside those.
READABLE = (*IN_APPS, ".gradle", ".kts", ".toml", ".entitlements", ".pbxproj", ".resolved", ".lock")
# Folders of what a build made, and of what others wrote.
LEFT_OUT = frozenset(
    {"build", "out", "bin", "target", "node_modules", "Pods", "Carthage", "DerivedData", "SourcePackages"}
    | {"vendor", "third_party", "__pycache__"}
)
COMMENT = re.compile(rb"(?<!:)//[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class File:
    """One file.

    Attributes:
        path: where it is.
        name: its path from the folder that the user named, with `/`; reports show it.
    """

    path: Path
    name: str

    @cached_property
    def _read(self) -> tuple[bytes, str]:
        try:
            content = read_regular(self.path, LARGEST_FILE)
        except OSError as error:
            return b"", error.strerror or "it cannot be opened"
        content = _for_grammar(content) if self.name.endswith(".kt") else content
        return (content, "") if len(content) <= LARGEST_FILE else (b"", f"more than {LARGEST_FILE:,} bytes")

    @property
    def content(self) -> bytes:
        """What it holds; nothing where it cannot be read, or is larger than any file that people write.

        Kotlin is written as its grammar can read it, with as many bytes.
        """
        return self._read[0]

    @property
    def no_text(self) -> str:
        """Why this is no text that a person wrote; empty where it may be one, in any encoding."""
        content, why = self._read
        # bytes that no text has in any encoding
        binary = b"\0" in content or ("\ufffd" in self.text and re.search(rb"[\x01-\x08\x0e-\x19\x1c-\x1f]", content))
        return "binary data, and no text" if binary else why

    @cached_property
    def text(self) -> str:
        """The same as text; what is not UTF-8 becomes U+FFFD."""
        return self.content.decode("utf-8-sig", "replace")

    def line(self, wanted: str, behind: str = "") -> int:
        """The first line with this text, behind another text if that is there, from 1; 1 where there is none."""
        start = self.text.find(wanted, max(self.text.find(behind), 0))
        return self.text.count("\n", 0, start) + 1 if start >= 0 else 1

    @cached_property
    def _small(self) -> bytes:
        return self.content.lower()

    def mentions(self, *words: bytes) -> bool:
        """Whether one of these words, in small letters, is in it; much faster than a pattern."""
        return any(word in self._small for word in words)

    def matches(self, pattern: bytes, flags: int = re.IGNORECASE) -> Iterator[tuple[int, re.Match[bytes]]]:
        """Each place where the pattern fits outside of comments, with its line, from 1."""
        hashes = self.name.endswith((".properties", ".env", ".yaml"))
        text = re.sub(rb"(?m)^[^\S\n]*#[^\n]*", b"", self.content) if hashes else self.content
        # the lines of a comment stay, so that the line of a finding is right
        code = COMMENT.sub(lambda match: b"\n" * match[0].count(b"\n"), text)
        line, place = 1, 0
        for match in re.finditer(pattern, code, flags):
            line += code.count(b"\n", place, match.start())
            place = match.start()
            yield line, match

    @property
    def is_test(self) -> bool:
        """Whether it lies in a folder of tests, or its name says that it is one."""
        folder, _slash, name = self.name.rpartition("/")
        return _is_test(folder) or re.search(r"\.(test|spec|stories)\.\w+\Z|_test\.dart\Z", name) is not None

    @property
    def is_of_a(self) -> bool:
        """Whether it lies where .NET has what is platform A's alone."""
        return "/Android/" in self.name


def _for_grammar(kotlin: bytes) -> bytes:
    """Legal Kotlin that the grammar takes for broken, written so that it reads it; each byte keeps its place.

    It takes the name of a function such as `open` for a modifier, `fun interface` for a function, and needs an end of a
    statement before the brace that ends a block of one line.
    """
    taken = rb"\b(abstract|external|final|infix|inline|internal|open|override|private|protected|public|sealed)\("
    renamed = re.sub(taken, lambda match: match[1][:-1] + match[1][-1:].upper() + b"(", kotlin)
    closed = re.sub(rb"(\$\{[^{}\n]*\})|(?<=[^\s{;,])(?<!->) (?=\})", lambda match: match[1] or b";", renamed)
    return re.sub(rb"\bfun(?= +interface\b)", b"   ", closed)


@cache
def _is_test(folder: str) -> bool:
    patterns = ("test*", "*test", "*tests", "androidtest*", "mock*", "sample*server*", "__*s__", "e2e")
    return any(fnmatchcase(part, pattern) for part in folder.lower().split("/") for pattern in patterns)


@dataclass(frozen=True)
class Project:
    """All files below the paths that the user named.

    Attributes:
        files: in the order of their names.
        unread: a sentence about what lies there and could not be looked into; empty where there is nothing such.
    """

    files: tuple[File, ...]
    unread: str = ""
    _by_path: dict[str, File] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_path.update((str(file.path), file) for file in self.files)

    def named(self, *patterns: str) -> Iterator[File]:
        """The files with one of these names, or one of these endings (`*` in front), in the order of their names."""
        names = tuple(pattern for pattern in patterns if not pattern.startswith("*"))
        endings = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*"))
        for file in self.files:
            if file.name.endswith(endings) or file.name.rpartition("/")[2] in names:
                yield file

    def at(self, path: Path) -> File | None:
        """The file with this path; None where there is none."""
        return self._by_path.get(os.path.normpath(path))


def read_project(paths: Sequence[Path], *, most_entries: int = 400_000, most_bytes: int = 1024 * 1_048_576) -> Project:
    """Find the files below these paths.

    Args:
        paths: folders and files.
        most_entries: files and folders in one tree.
        most_bytes: of all readable files in one tree.

    Raises:
        ParameterError: a path does not exist, or a tree is larger than a project can be.
    """
    files: dict[str, File] = {}
    unread: dict[str, str] = {}
    roots = [os.path.realpath(path) for path in paths]
    for path in paths:
        if not path.exists():
            raise ParameterError(f"No folder {str(path)!r}. Name the folder of a mobile project.")
        for found in [path] if path.is_file() else _walk(path, roots, unread, most_entries, most_bytes):
            place = os.path.normpath(found)
            name = path.name if path.is_file() else os.path.relpath(found, path).replace(os.sep, "/")
            files[place] = File(Path(place), name if len(paths) == 1 or path.is_file() else f"{path.name}/{name}")
    told = [f"{os.path.relpath(place, paths[0])} ({why})" for place, why in sorted(unread.items())]
    more = f", and {len(told) - 3} more" if told[3:] else ""
    says = f"Not looked into: {', '.join(told[:3])}{more}. Name it, too, or let this account read it." if told else ""
    return Project(tuple(sorted(files.values(), key=lambda file: file.name)), says)


def _walk(
    top: Path, roots: Iterable[str], unread: dict[str, str], most_entries: int, most_bytes: int
) -> Iterator[Path]:
    """The files below a folder, without what a build made and what others wrote.

    `roots` are the real paths of all that the user named; `unread` gets what cannot be looked into, with the reason.
    """

    def note(error: OSError) -> None:
        unread[error.filename] = error.strerror or "it cannot be opened"

    entries = size = 0
    for folder, folders, names in os.walk(top, onerror=note):  # it follows no link
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.startswith(".")]
        here = {name: Path(folder, name) for name in (*folders, *names)}
        for name in [name for name, path in here.items() if path.is_symlink()]:
            path = here.pop(name)
            away = not any(Path(os.path.realpath(path)).is_relative_to(root) for root in roots)
            if away and (name in folders or name.endswith(READABLE)):
                unread[str(path)] = "a link that leads out of the project"
        files = [here[name] for name in names if name in here]
        entries += len(folders) + len(names)
        with suppress(OSError):  # a file that goes away meanwhile
            size += sum(path.stat().st_size for path in files if path.name.endswith(READABLE))
        if entries > most_entries or size > most_bytes:
            what = "entries" if size <= most_bytes else "bytes of sources"
            raise ParameterError(f"{str(top)!r} has too many {what}. Name the project's own folder in it.")
        yield from files


def table(value: Any) -> dict[str, Any]:
    """The value if it is a table, else an empty table: what a file holds may have any form."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


# Sources: types, functions and calls.

NAME_KINDS = frozenset({"simple_identifier", "identifier", "type_identifier"})


# The suffix and the digest of each text that a child process has parsed in time.
_PARSED: set[tuple[str, bytes]] = set()


def too_long(files: Iterable[File], seconds: float = 5, most: int = 4) -> dict[File, str]:
    """Those of the files that their grammar does not parse in time, each with the reason.

    Args:
        files: sources.
        seconds: for one file; no source that a person writes takes more than one.
        most: files that may take too long; those after them are not tried.

    Raises:
        ConfigurationError: the extra with the grammars is not installed.
    """
    waiting = [file for file in files if _digest(file) not in _PARSED]
    refused: dict[File, str] = {}
    while waiting and len(refused) < most:
        _parse(".kt", b"")  # the extra is there
        texts = (b"%s %d\n%s" % (file.path.suffix.encode(), len(file.content), file.content) for file in waiting)
        child = subprocess.run(  # noqa: S603
            python_command("-S", parsing.__file__, str(seconds)),
            input=b"".join(texts),
            capture_output=True,
            env={
                **child_environment(),
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },  # "" is the current folder
            check=False,
        )
        parsed = min(child.stdout.count(b"\n"), len(waiting))
        _PARSED.update(map(_digest, waiting[:parsed]))
        refused.update((file, f"its grammar did not parse it within {seconds:g} s") for file in waiting[parsed:][:1])
        waiting = waiting[parsed + 1 :]
    return refused | dict.fromkeys(waiting, f"not tried: the grammar parsed none of {most} other files in time")


def _digest(file: File) -> tuple[str, bytes]:
    return file.path.suffix, sha256(file.content).digest()


def _parse(suffix: str, content: bytes) -> Node:
    try:
        return parsing.parse(suffix, content)
    except ImportError:
        raise ConfigurationError(f"Sources are read with their grammars: {pip_line('preflight')}") from None


def text_of(node: Node) -> str:
    """What is written there."""
    return (node.text or b"").decode("utf-8", "replace")


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text: at most 400,000 nodes, more than any person writes."""
    waiting = [node]
    for _number in range(400_000):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.named_children))


def line_of(node: Node) -> int:
    """The line where it begins, from 1."""
    return node.start_point[0] + 1


def names_in(node: Node) -> list[str]:
    """Every name in it, without comments and texts."""
    return [text_of(name) for name in walk(node) if name.type in NAME_KINDS]


def name_of(node: Node) -> str:
    """The name of a function or a type; empty where it has none."""
    own = (child for child in node.named_children if child.type in NAME_KINDS)
    named = node.child_by_field_name("name") or next(own, None)
    return text_of(named) if named is not None else ""


@dataclass(frozen=True, eq=False)
class SourceType:
    """A type, or an extension of one.

    Attributes:
        source: its file.
        node: the type.
        functions: those in it, without those of a type inside it.
    """

    source: SourceFile
    node: Node
    functions: list[SourceFunction] = field(default_factory=list)

    @cached_property
    def name(self) -> str:
        """Its name."""
        return name_of(self.node)

    @property
    def heads(self) -> list[str]:
        """What a Swift type inherits from, or conforms to."""
        return [text_of(child) for child in self.node.named_children if child.type == "inheritance_specifier"]

    @cached_property
    def by_name(self) -> dict[str, SourceFunction]:
        """Its functions by their names."""
        return {function.name: function for function in self.functions}


@dataclass(frozen=True, eq=False)
class SourceFunction:
    """A function, or what initialises a type.

    Attributes:
        source: its file.
        node: the function.
        kind: the type around it; None where there is none.
    """

    source: SourceFile
    node: Node
    kind: SourceType | None

    @cached_property
    def name(self) -> str:
        """Its name; empty for what initialises a type."""
        return name_of(self.node)

    @property
    def labels(self) -> list[str]:
        """The label that a call gives each parameter of a Swift function; `_` where it gives none."""
        parameters = (child for child in self.node.named_children if child.type == "parameter")
        return [text_of(part.child_by_field_name("external_name") or part.named_children[0]) for part in parameters]

    @property
    def calls(self) -> Sequence[SourceCall]:
        """The calls in it."""
        calls = self.source.parts.calls  # in the order of the text
        ends = (self.node.start_byte, self.node.end_byte)
        first, last = (bisect_left(calls, end, key=lambda call: call.node.start_byte) for end in ends)
        return calls[first:last]


@dataclass(frozen=True, eq=False)
class SourceCall:
    """One call: `receiver.name(label: ..., ...)`.

    Attributes:
        source: its file.
        node: the call.
        kind: the type around it; None where there is none.
        function: the function around it; None where there is none.
    """

    source: SourceFile
    node: Node
    kind: SourceType | None
    function: SourceFunction | None

    @cached_property
    def _callee(self) -> tuple[str, str]:
        """The parts before and after the last dot of what is called; of a long chain only the end is looked at."""
        callee = self.node.named_children[0]
        if callee.type == "call_expression" and callee.named_children:  # f(x) { ... }
            callee = callee.named_children[0]
        text = self.source.file.content[max(callee.start_byte, callee.end_byte - 200) : callee.end_byte]
        receiver, _dot, name = text.decode("utf-8", "replace").rpartition(".")
        return receiver.strip(), name.strip("?! \n")

    @property
    def receiver(self) -> str:
        """Whose function is called; empty where nothing is named."""
        return self._callee[0]

    @property
    def name(self) -> str:
        """What is called."""
        return self._callee[1]

    @property
    def arguments(self) -> list[Node]:
        """The arguments in brackets."""
        suffixes = [part for part in self.node.named_children if part.type == "call_suffix"]
        listed = [part for owner in (self.node, *suffixes) for part in owner.named_children]
        inside = [part for part in listed if part.type == "value_arguments"]
        return [part for arguments in inside for part in arguments.named_children if part.type == "value_argument"]

    @property
    def labels(self) -> list[str]:
        """The name of each argument; empty where it has none."""
        found = []
        for argument in self.arguments:
            marks = [at for at, child in enumerate(argument.children) if child.type in {":", "="}][:1]
            found.append(text_of(argument.children[marks[0] - 1]) if marks and marks[0] else "")
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """The types, functions and calls of a file, in the order of the text."""

    types: list[SourceType] = field(default_factory=list)
    functions: dict[str, list[SourceFunction]] = field(default_factory=dict)
    calls: list[SourceCall] = field(default_factory=list)


@dataclass(frozen=True)
class SourceFile:
    """One source file."""

    file: File

    @cached_property
    def root(self) -> Node:
        """Its tree."""
        return _parse(self.file.path.suffix, self.file.content)

    @cached_property
    def parts(self) -> Parts:
        """Its types, its functions by their names, and its calls, each with what is around it."""
        parts = Parts()
        waiting: list[tuple[Node, SourceType | None, SourceFunction | None]] = [(self.root, None, None)]
        for _number in range(400_000):  # as `walk`
            if not waiting:
                break
            node, kind, function = waiting.pop()
            match node.type:
                case "class_declaration" | "object_declaration" | "protocol_declaration":
                    kind = SourceType(self, node)
                    parts.types.append(kind)
                case "function_declaration" | "init_declaration" | "secondary_constructor":
                    function = SourceFunction(self, node, kind)
                    parts.functions.setdefault(function.name, []).append(function)
                    if kind is not None:
                        kind.functions.append(function)
                case "call_expression" if node.named_children:
                    parts.calls.append(SourceCall(self, node, kind, function))
            waiting += ((child, kind, function) for child in reversed(node.named_children))
        return parts

    @property
    def functions(self) -> list[SourceFunction]:
        """Its functions, whatever type they are in."""
        return [function for named in self.parts.functions.values() for function in named]

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name in it, without comments and texts."""
        return frozenset(names_in(self.root))


@dataclass(frozen=True)
class Sources:
    """The sources of one language.

    Attributes:
        about: those that are about provisioning.
        files: all of them, for functions that those call.
    """

    about: tuple[SourceFile, ...]
    files: tuple[File, ...]
    # Those about provisioning whose grammar took too long, and why; nothing in them was judged.
    refused: dict[File, str] = field(default_factory=dict)

    @cached_property
    def unclear(self) -> str:
        """Why a source about provisioning is not known in full, as a sentence; empty where each is."""
        partly = next((source.file.name for source in self.about if source.root.has_error), "")
        partly = next((file.name for file in self.refused), partly)
        says = f"{partly} has a place that the grammar does not understand: fix it, or look there yourself."
        return says if partly else ""

    @property
    def types(self) -> Iterator[SourceType]:
        """Every type in the sources about provisioning."""
        return (kind for source in self.about for kind in source.parts.types)

    @property
    def calls(self) -> Iterator[SourceCall]:
        """Every call in them."""
        return (call for source in self.about for call in source.parts.calls)

    @cached_property
    def _declared(self) -> dict[bytes, set[File]]:
        """The files that declare a function, by its name. This is a fast look; the grammar decides."""
        found: dict[bytes, set[File]] = {}
        for file in self.files:
            for name in set(re.findall(rb"\bfunc?\s+(\w+)", file.content)):
                found.setdefault(name, set()).add(file)
        return found

    @cached_property
    def suspending(self) -> frozenset[str]:
        """The names of Kotlin's functions that suspend: of the project's, those that no other function has."""
        declared = r"\b(suspend\s+)?fun\s+(?:<[^>\n]*>\s*)?(\w+)\s*\("
        both = {pair for file in self.files for pair in re.findall(declared, file.text)}
        others = {name for word, name in both if not word}
        own = {name for word, name in both if word and name not in others}
        return frozenset(own | {"canProvision", "createSdkOutput", "withContext", "delay", "await"})

    def declares(self, name: str) -> bool:
        """Whether the project has a function of its own with this name."""
        return name.encode() in self._declared

    @cached_property
    def _parsed(self) -> dict[str, SourceFile]:
        return {source.file.name: source for source in self.about}

    def sources(self, files: Collection[File]) -> list[SourceFile]:
        """Those of the files that their grammar parses in time, each parsed once."""
        new = (file for file in files if file.name not in self._parsed and file not in self.refused)
        self.refused.update(too_long(new))
        return [self._parsed.setdefault(file.name, SourceFile(file)) for file in files if file not in self.refused]

    def declaring(self, name: str) -> list[SourceFunction]:
        """The functions of that name, if a single file has them all."""
        files = self._declared.get(name.encode(), set())
        found = self.sources(files) if len(files) == 1 else []
        return [function for source in found for function in source.parts.functions.get(name, [])]

    def naming(self, *names: str) -> list[SourceFile]:
        """The sources with one of these names in them, at most forty."""
        words = [name.encode() for name in names if name]
        return self.sources([file for file in self.files if any(word in file.content for word in words)][:40])

    def reach(self, function: SourceFunction) -> Iterator[SourceFunction]:
        """A function, and those that it calls, directly or through others, at most four calls deep.

        A function of the same type is preferred; otherwise a name is followed only if a single function has it, so that
        nothing is blamed on a namesake.
        """
        waiting, seen = deque([(function, 0)]), {function}
        while waiting:
            current, depth = waiting.popleft()
            yield current
            own = current.kind.by_name if current.kind is not None else {}
            calls = current.calls if depth < 4 else ()
            named = (self._declared.get(call.name.encode(), set()) for call in calls)
            alone = dict.fromkeys(file for files in named if len(files) == 1 for file in files)
            self.sources(alone)  # all of them with one child process
            for call in calls:
                found = [own[call.name]] if call.receiver in {"", "self"} and call.name in own else []
                found = found or self.declaring(call.name)
                if len(found) == 1 and found[0] not in seen:
                    seen.add(found[0])
                    waiting.append((found[0], depth + 1))


def about_provisioning(files: Iterable[File]) -> list[File]:
    """Those of the files that name a class of the SDK or of the wallet's extension."""
    words = (b"provisioningservice", b"watchavailability", b"cardprovisioning", b"opcprovider", b"issuerprovisioning")
    names = re.compile(
        rb"\b((Extension)?ProvisioningService|WatchAvailability|CardProvisioning|OpcProvider)\b|IssuerProvisioning"
    )
    return [file for file in files if file.mentions(*words) and names.search(file.content)]


# Who adds cards without a class of the SDK: platform, files, and what they name of a wallet's library or of a bridge to
# one. What only pays, or adds tickets, has other names.
_PACKAGE = r'(?:push|card|wallet|issuer|in[-_]?app)[-_.]?provisioning|native-wallet(?=")|rego-googlepay|apple-wallet'
_BRIDGE = rf'"[^"\n]*(?:{_PACKAGE})[^"\n]*"\s*:|^ +\w*(?:{_PACKAGE})\w*:|(?:name|Include)="[^"\n]*(?:{_PACKAGE})'
MARKS = (
    ("B", ("*.swift", "*.m", "*.mm", "*.cs"), r"\bPK(?:AddPaymentPass|AddSecureElementPass|IssuerProvisioning)"),
    ("A", ("*.kt", "*.java", "*.cs"), r"\bTapAndPay(?:Client)?\b"),
    ("AB", ("package.json", "pubspec.yaml", "config.xml", "*.csproj"), _BRIDGE),
)


def is_marked(project: Project, platform: str) -> bool:
    """Whether a file says that cards are added on this platform, A or B, as in `MARKS`."""
    marks = ((project.named(*names), mark.encode()) for platforms, names, mark in MARKS if platform in platforms)
    files = ((file, mark) for named, mark in marks for file in named if not file.is_test)
    return any(any(file.matches(mark, re.MULTILINE | re.IGNORECASE)) for file, mark in files)


def read_sources(project: Project, pattern: str, in_app: Callable[[File], bool] = lambda _file: True) -> Sources:
    """The sources with this pattern, such as `*.swift`, which are no tests, and of which `in_app` says yes."""
    files = tuple(file for file in project.named(pattern) if not file.is_test and in_app(file))
    about = about_provisioning(files)
    refused = too_long(about)
    return Sources(tuple(SourceFile(file) for file in about if file not in refused), files, refused)
