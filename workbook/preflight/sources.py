"""Reads Swift and Kotlin with their grammars, and answers questions about types, functions and calls.

The two grammars name their nodes differently; the tables here list both names. Only a file that mentions a word of
the SDK is parsed, so a large project costs little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from workbook.base.files import pip_line
from workbook.errors import ConfigurationError
from workbook.preflight.project import File, Project

if TYPE_CHECKING:  # an extra brings it
    from tree_sitter import Node

FUNCTIONS = frozenset({"function_declaration", "init_declaration", "secondary_constructor"})
TYPES = frozenset({"class_declaration", "object_declaration", "protocol_declaration"})
NAMES = frozenset({"simple_identifier", "identifier", "type_identifier"})
STRINGS = frozenset({"line_string_literal", "multi_line_string_literal", "raw_string_literal", "string_literal",
                     "multiline_string_literal"})  # fmt: skip
CALL = "call_expression"
SDK_WORDS = (b"provisioningservice", b"watchavailability", b"cardprovisioning", b"opcprovider", b"issuerprovisioning")
SDK_NAMES = re.compile(
    rb"\b(Extension)?ProvisioningService\b|IssuerProvisioning|\bWatchAvailability\b|\bCardProvisioning\b|\bOpcProvider\b"
)
"""The SDK's names: in small letters for a fast first look, and as a pattern."""
_DECLARED = re.compile(rb"\bfunc?\s+(\w+)")
MOST_NODES = 400_000
"""Nodes of a file; one with more was made by a program, and is not read."""
DEEPEST_REACH = 4
"""How many calls deep `reach` goes."""


@cache
def _parser(suffix: str) -> Callable[[bytes], Node]:
    try:
        import tree_sitter_kotlin
        import tree_sitter_swift
        from tree_sitter import Language, Parser
    except ImportError:
        raise ConfigurationError(f"Sources are read with their grammars: {pip_line('preflight')}") from None
    grammar = tree_sitter_swift if suffix == ".swift" else tree_sitter_kotlin
    parser = Parser(Language(grammar.language()))
    return lambda content: parser.parse(content).root_node


def text_of(node: Node) -> str:
    """What is written there."""
    return (node.text or b"").decode("utf-8", "replace")


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text. It is no recursion, so the depth has no limit."""
    waiting = [node]
    for _number in range(MOST_NODES):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.named_children))


def line_of(node: Node) -> int:
    """The line where it begins, from 1."""
    return node.start_point[0] + 1


def enclosing(node: Node, kinds: frozenset[str]) -> Node | None:
    """The nearest node around it of one of these kinds."""
    current = node.parent
    while current is not None and current.type not in kinds:
        current = current.parent
    return current


def name_of(node: Node) -> str:
    """The name of a function or a type; empty where it has none."""
    named = node.child_by_field_name("name") or next((c for c in node.named_children if c.type in NAMES), None)
    return text_of(named) if named is not None else ""


def labels_of(function: Node) -> list[str]:
    """The label that a call gives each parameter of a Swift function; `_` where it gives none."""
    parameters = (child for child in function.named_children if child.type == "parameter")
    return [text_of(one.child_by_field_name("external_name") or one.named_children[0]) for one in parameters]


def heads_of(kind: Node) -> list[str]:
    """What a Swift type inherits from, or conforms to."""
    return [text_of(child) for child in kind.named_children if child.type == "inheritance_specifier"]


@dataclass(frozen=True)
class SourceCall:
    """One call: `receiver.name(label: ..., ...)`.

    Attributes:
        node: the call.
        name: what is called: the part after the last dot.
        receiver: the part before the last dot; empty where there is none.
    """

    node: Node
    name: str
    receiver: str

    @property
    def arguments(self) -> list[Node]:
        """The arguments in brackets."""
        found = (one for one in _own(self.node) if one.type == "value_arguments")
        return [one for arguments in found for one in arguments.named_children if one.type == "value_argument"]

    @property
    def labels(self) -> list[str]:
        """The name of each argument; empty where it has none."""
        return [_label(argument) for argument in self.arguments]


def _own(call: Node) -> Iterator[Node]:
    """The parts of a call itself, a suffix's parts too."""
    for child in call.named_children:
        yield child
        if child.type == "call_suffix":
            yield from child.named_children


def _label(argument: Node) -> str:
    children = argument.children
    marks = [at for at, child in enumerate(children) if child.type in {":", "="}]
    return text_of(children[marks[0] - 1]) if marks and marks[0] else ""


def calls_in(node: Node) -> Iterator[SourceCall]:
    """Every call at or below a node."""
    for one in walk(node):
        if one.type == CALL and one.named_children:
            callee = one.named_children[0]
            while callee.type == CALL and callee.named_children:  # f(x) { ... }
                callee = callee.named_children[0]
            receiver, dot, name = text_of(callee).rpartition(".")
            yield SourceCall(one, name.strip("?! \n"), receiver.strip() if dot else "")


@dataclass(frozen=True)
class SourceFile:
    """One source file."""

    file: File

    @cached_property
    def root(self) -> Node:
        """Its tree."""
        return _parser(self.file.path.suffix)(self.file.content)

    @cached_property
    def calls(self) -> tuple[SourceCall, ...]:
        """Every call in it."""
        return tuple(calls_in(self.root))

    def every(self, kinds: frozenset[str]) -> Iterator[Node]:
        """Every node of one of these kinds."""
        return (node for node in walk(self.root) if node.type in kinds)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every name in it, without comments and texts."""
        return frozenset(text_of(node) for node in self.every(NAMES))


@dataclass(frozen=True)
class Sources:
    """The sources of one language.

    Attributes:
        about: those that are about provisioning.
        files: all of them, for functions that those call.
    """

    about: tuple[SourceFile, ...]
    files: tuple[File, ...]

    @cached_property
    def _declared(self) -> dict[bytes, list[File]]:
        """The files that declare a function, by its name. This is a fast look; the grammar decides."""
        found: dict[bytes, list[File]] = {}
        for file in self.files:
            for name in _DECLARED.findall(file.content):
                found.setdefault(name, []).append(file)
        return found

    def declares(self, name: str) -> bool:
        """Whether the project has a function of its own with this name."""
        return name.encode() in self._declared

    @cached_property
    def _parsed(self) -> dict[str, SourceFile]:
        return {source.file.name: source for source in self.about}

    def _functions(self, name: str) -> list[Node]:
        """The functions with this name; none where several files declare one."""
        files = set(self._declared.get(name.encode(), []))
        if len(files) != 1:
            return []
        (file,) = files
        source = self._parsed.setdefault(file.name, SourceFile(file))
        return [node for node in source.every(FUNCTIONS) if name_of(node) == name]

    def reach(self, node: Node) -> Iterator[Node]:
        """A node, and the functions that it calls, directly or through others.

        A function of the same type is preferred; otherwise a name is followed only if a single function has it, so that
        nothing is blamed on a namesake.
        """
        waiting, seen = [(node, 0)], {node.id}
        while waiting:
            current, depth = waiting.pop(0)
            yield current
            if depth == DEEPEST_REACH:
                continue
            around = enclosing(current, TYPES)
            own = {name_of(one): one for one in walk(around) if one.type in FUNCTIONS} if around else {}
            for call in calls_in(current):
                found = [own[call.name]] if call.receiver in {"", "self"} and call.name in own else []
                found = found or self._functions(call.name)
                if len(found) == 1 and found[0].id not in seen:
                    seen.add(found[0].id)
                    waiting.append((found[0], depth + 1))


def read_sources(project: Project, pattern: str, within: Iterable[str] | None = None) -> Sources:
    """The sources with this pattern, without tests.

    Args:
        project: whose.
        pattern: such as `*.swift`.
        within: the folders of the modules that build an app; None takes every folder.
    """
    folders = None if within is None else tuple(f"{folder}/" if folder else "" for folder in within)
    found = (file for file in project.named(pattern) if not file.is_test)
    files = tuple(file for file in found if folders is None or file.name.startswith(folders))
    return Sources(
        tuple(SourceFile(file) for file in files if file.mentions(*SDK_WORDS) and SDK_NAMES.search(file.content)), files
    )
