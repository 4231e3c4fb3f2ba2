"""Judges by structure whether a second tap on the add button is kept away (A-BTN-1).

The way of a tap is followed backwards: the SDK's `provision`, the function with it, the functions that call that one.
What is written on the way before `provision` has to be asked: by a condition on the way, or by what decides whether the
button is there or enabled. How a thing is called does not count, except where the platform or the language names it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from workbook.tools.harness.model import Miss
from workbook.tools.preflight.model import Facts, miss_in
from workbook.tools.preflight.project import (
    NAME_KINDS,
    SourceCall,
    SourceFile,
    SourceFunction,
    Sources,
    names_in,
    text_of,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_OFF = re.compile(rb"\bisVisible\s*=\s*false|\bvisibility\s*=\s*(View\.)?(GONE|INVISIBLE)"
                  rb"|\bset(Enabled|Clickable|Visible)\(\s*false"
                  rb"|\.(compareAndSet|getAndSet|tryLock|tryAcquire)\(")  # fmt: skip


def sdk_calls(kotlin: Sources) -> Iterator[SourceCall]:
    """The calls of the SDK's `provision`: they have three arguments; a back end's function of that name has others."""
    for call in kotlin.calls:
        is_sdk = call.name == "provision" and bool(call.receiver) and len(call.arguments) == 3
        if is_sdk and (call.function is None or call.function.name != "fetchOpc"):
            yield call


def second_tap(facts: Facts) -> Iterator[Miss]:
    """A way from a tap to the SDK that nothing closes while an attempt is under way."""
    seen: set[tuple[SourceFile, str]] = set()
    for call in open_ways(facts):
        page = call.source, call.kind.name if call.kind else ""
        if page not in seen and not bridges(call.source) and not facts.a.kotlin.unclear:
            seen.add(page)
            yield miss_in(call, "nothing that disables it")


def open_ways(facts: Facts) -> Iterator[SourceCall]:
    """The calls of the SDK that a second tap reaches; of the first twenty, which are more than an app has."""
    return (call for call in islice(sdk_calls(facts.a.kotlin), 20) if not _is_closed(facts, call))


def bridges(source: SourceFile) -> bool:
    """Whether a file is the native side of a page in another language: then the button is there."""
    imports = rb"(?mi)^import\s+[\w.]*\b(react|flutter|capacitor|cordova|expo)\b"
    return re.search(imports, source.file.content) is not None


def _is_closed(facts: Facts, call: SourceCall) -> bool:
    """Whether something written on the way to this call is asked where a tap begins."""
    way, sources = _way(facts.a.kotlin, call)
    written: set[str] = set()
    asked = {"isEnabled", "isClickable"}  # to write these of a control is enough
    for function, at in way:
        (elsewhere, end), begin = _elsewhere(function, at, facts.a.kotlin), function.node.start_byte
        offs = _OFF.finditer(function.source.file.content[begin:end])
        if not all(_is_in(elsewhere, begin + off.start()) for off in offs):
            return True
        written |= _written(function, at, facts.a.kotlin)
        asked |= _conditions(function.node, at)
    begins_here = any(re.search(r"\b(onClick|setOnClickListener)\b", text_of(function.node)) for function, _at in way)
    if len(way) < 2 and not begins_here:  # a tap comes here by a way that cannot be followed, such as a flow of events
        every = (function for source in sources for named in source.parts.functions.values() for function in named)
        for function in every:
            written |= _written(function, None, facts.a.kotlin)
            asked |= _conditions(function.node, None)
    names = {function.name for function, _at in way}
    for source in sources:
        asked |= _steering(source, names)
    for layout in facts.project.named("*.xml"):  # data binding
        for match in re.finditer(r'\w:(?:enabled|visibility|clickable)="@\{([^}]*)\}"', layout.text):
            asked |= set(re.findall(r"\w+", match[1]))
    for _step in range(2):  # what is asked may be computed from what is written
        asked |= {name for source in sources for name in _computed(source, asked)}
    return not _plain(written).isdisjoint(_plain(asked))


def _plain(names: Iterable[str]) -> set[str]:
    """The names as they are compared: without the underscore of a private twin, and without those of every property."""
    return {name.lstrip("_") for name in names} - {"value", "it", "this", "copy", "true", "false", "null", "View", ""}


def _way(kotlin: Sources, call: SourceCall) -> tuple[list[tuple[SourceFunction, Node]], list[SourceFile]]:
    """The functions from the SDK's call back to the tap, each with the place where the way goes on; and their files."""
    way: list[tuple[SourceFunction, Node]] = []
    page = call.kind.name if call.kind else ""
    sources = {call.source.file.name: call.source}
    waiting = [(call.function, call.node)]
    while waiting and len(way) < 24:
        function, at = waiting.pop(0)
        if function is None or any(function is known for known, _at in way):
            continue
        way.append((function, at))
        for source in kotlin.naming(function.name, page):
            sources[source.file.name] = source
            waiting += [(one.function, one.node) for one in source.parts.calls if one.name == function.name]
            waiting += _references(source, function.name)
    return way, list(sources.values())


def _references(source: SourceFile, name: str) -> Iterator[tuple[SourceFunction | None, Node]]:
    """Where a function is named without being called: `onClick = page::add`."""
    if f"::{name}".encode() in source.file.content:
        every = [function for named in source.parts.functions.values() for function in named]
        for node in walk(source.root):
            if node.type in {"navigation_expression", "callable_reference"} and text_of(node).endswith(f"::{name}"):
                around = [one for one in every if one.node.start_byte <= node.start_byte < one.node.end_byte]
                yield max(around, key=lambda one: one.node.start_byte, default=None), node


def _written(function: SourceFunction, at: Node | None, kotlin: Sources) -> set[str]:
    """What a function writes before this place, itself or in functions that it calls; `at` None means anywhere.

    What it writes after a call that suspends comes too late: a second tap is faster.
    """
    found, called = _writes(function, at, kotlin)
    seen = {function}
    for _step in range(2):  # calls deep
        functions = [one for one in dict.fromkeys(called) if one not in seen]
        seen.update(functions)
        called = []
        for one in functions:
            names, more = _writes(one, None, kotlin)
            found |= names
            called += more
    return found


def _writes(function: SourceFunction, at: Node | None, kotlin: Sources) -> tuple[set[str], list[SourceFunction]]:
    """What a function itself writes before this place, and the functions that it calls there."""
    found: set[str] = set()
    called: list[SourceFunction] = []
    elsewhere, end = _elsewhere(function, at, kotlin) if at is not None else ([], function.node.end_byte)
    for node in walk(function.node):
        if node.start_byte >= end:
            break
        if node.type == "assignment" and not _is_in(elsewhere, node.start_byte):
            target, value = node.named_children[0], node.named_children[-1]
            is_copy = value.type == "call_expression" and text_of(value.named_children[0]).endswith("copy")
            found |= set() if is_copy else set(names_in(target))
            if value.end_byte <= end:
                found |= set(_capitals(value))
    for call in function.calls:
        if call.node.start_byte >= end:
            break
        if _is_in(elsewhere, call.node.start_byte):
            continue
        if call.name == "copy":
            found |= {*call.labels, *(name for argument in call.arguments for name in _capitals(argument))}
        elif call.node.end_byte <= end and call.name != "launch":
            found |= {name for argument in call.arguments for name in _capitals(argument)}
            own = function.kind.by_name.get(call.name) if function.kind and call.receiver in {"", "this"} else None
            called += [own] if own else kotlin.declaring(call.name)[:4]
    return found, called


def _elsewhere(function: SourceFunction, at: Node, kotlin: Sources) -> tuple[list[tuple[int, int]], int]:
    """What stands before this place and no tap that comes here runs through, and where the way first suspends.

    These are what handles another event, what a job beside it does after it has waited, and the other branches of a
    condition around the place.
    """
    content = function.source.file.content
    # `onCheckedChange = {`, `x.setOnClickListener {`, `Checkbox(...) {`
    handles = re.compile(
        rb"(\bon[A-Z]\w*\s*=|\.setOn\w+(\([^()]*\))?|\b[A-Z]\w*(\([^{}]*\))?|\bpost\w*\([^(){}]*)\s*\Z"
    )
    others: list[tuple[int, int]] = []
    lambdas: list[tuple[int, int]] = []
    for node in walk(function.node):
        if node.start_byte >= at.start_byte:
            break
        if node.type == "lambda_literal" and node.end_byte <= at.start_byte:
            _add(lambdas, node)
            if handles.search(content[max(node.start_byte - 120, function.node.start_byte) : node.start_byte]):
                _add(others, node)
        elif node.type in {"when_expression", "if_expression"} and node.end_byte > at.start_byte:
            first = int(node.type == "if_expression" or node.named_children[0].type == "when_subject")
            for part in (part for part in node.named_children[first:] if part.end_byte <= at.start_byte):
                _add(others, part)
    for call in (call for call in function.calls if call.name in kotlin.suspending):
        begin, end = call.node.start_byte, call.node.end_byte
        if beside := [last for first, last in lambdas if first <= begin < last]:
            others = sorted([*others, (begin, beside[0])])
        elif end <= at.start_byte and not _is_in(others, begin):
            return others, begin
    return others, at.start_byte


def _add(spans: list[tuple[int, int]], node: Node) -> None:
    """Add the place of a node to places in the order of the text, unless it is within the last one."""
    if not spans or node.start_byte >= spans[-1][1]:
        spans.append((node.start_byte, node.end_byte))


def _is_in(spans: list[tuple[int, int]], place: int) -> bool:
    at = bisect_left(spans, (place + 1, 0)) - 1
    return at >= 0 and place < spans[at][1]


def _capitals(node: Node) -> Iterator[str]:
    return (name for name in names_in(node) if name[:1].isupper())


def _conditions(node: Node, at: Node | None) -> set[str]:
    """The names in each condition on the way: around the place, or before it with an end of the function."""
    until = node.end_byte if at is None else at.start_byte
    found: set[str] = set()
    ends = _places(node, r"\b(return|throw)\b")
    for part in walk(node):
        if part.start_byte >= until:
            break
        around = part.end_byte > until
        if part.type == "if_expression" and (around or _is_within(part, ends)):
            found |= set(names_in(part.named_children[0]))
        elif part.type == "when_expression" and around:
            found |= _asked_by_when(part)
    return found


def _places(node: Node, pattern: str) -> list[int]:
    """Where in the file the pattern fits, within this node: one look for all the nodes in it."""
    return [node.start_byte + match.start() for match in re.finditer(pattern.encode(), node.text or b"")]


def _is_within(node: Node, places: list[int]) -> bool:
    return bisect_left(places, node.start_byte) < bisect_left(places, node.end_byte)


def _asked_by_when(node: Node) -> set[str]:
    """The names in its subject, and in the conditions of its entries."""
    found = {name for part in node.named_children if part.type == "when_subject" for name in names_in(part)}
    for entry in (part for part in node.named_children if part.type == "when_entry"):
        found |= {name for part in entry.named_children[:-1] for name in names_in(part)}
    return found


def _steering(source: SourceFile, taps: set[str]) -> set[str]:
    """The names in what decides whether a control is there and enabled, in a file of the page."""
    taken = _places(source.root, "|".join(["onClick", "setOnClickListener", *map(re.escape, filter(None, taps))]))
    tapped = set(re.findall(r"\b(\w+)\??\.setOnClickListener", source.file.text))
    steers = ("enabled", "clickable", "visible", "visibility")  # as the platform ends such names
    found: set[str] = set()
    for node in walk(source.root):
        if node.type in {"value_argument", "assignment"} and len(node.named_children) > 1:
            first = node.named_children[0]
            shows_only = node.type == "assignment" and _shows_another(text_of(node), tapped)
            named = first.type in {*NAME_KINDS, "navigation_expression"} and text_of(first).lower().endswith(steers)
            if named and not shows_only:
                found |= set(names_in(node.named_children[-1]))
        elif node.type == "if_expression" and _is_within(node, taken):
            found |= set(names_in(node.named_children[0]))
        elif node.type == "when_expression" and _is_within(node, taken):
            found |= _asked_by_when(node)
    for call in source.parts.calls:
        if call.name in {"setEnabled", "setClickable", "setVisible"}:
            found |= {name for argument in call.arguments for name in names_in(argument)}
    return found


def _shows_another(assignment: str, tapped: set[str]) -> bool:
    """Whether this shows a control while something is so, and the control is none of those that are tapped."""
    shown = re.fullmatch(r"(?:[\w.?]*\.)?(\w+)\??\.(?:isVisible|visible)\s*=\s*[\w.?]+", assignment)
    return shown is not None and bool(tapped) and shown[1] not in tapped


def _computed(source: SourceFile, asked: set[str]) -> Iterator[str]:
    """The names from which a file computes a property that is asked."""
    for node in walk(source.root):
        if node.type == "property_declaration" and node.named_children:
            declared = next((part for part in node.named_children if part.type == "variable_declaration"), None)
            if declared is not None and set(names_in(declared)[:1]) & asked:
                for part in node.named_children:
                    if part is not declared and part.start_byte > declared.start_byte:
                        yield from names_in(part)
