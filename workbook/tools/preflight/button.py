"""Whether a second tap on the add button is kept away (A-BTN-1).

A tap is followed backwards: the SDK's `provision`, the function with it, the functions that call that one. What these
write before `provision` has to be asked: by a condition that leads there, or by what shows or enables the button.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from workbook.tools.preflight.model import Facts
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

# A function that a tap runs through, and the byte in its file where it goes on to the next one.
Step = tuple[SourceFunction, int]
HIDES = re.compile(r"\bisVisible\s*=\s*false|\bvisibility\s*=\s*(View\.)?(GONE|INVISIBLE)")
LOCKS = frozenset({"compareAndSet", "getAndSet", "tryLock", "tryAcquire"})
SETTERS = frozenset({"setEnabled", "setClickable", "setVisible"})
# What another event runs: `onCheckedChange = {`, `x.setOnClickListener {`, `Checkbox(...) {`, `postDelayed({`.
HANDLES = re.compile(rb"(\bon[A-Z]\w*\s*=|\.setOn\w+(\([^()]*\))?|\b[A-Z]\w*(\([^{}]*\))?|\bpost\w*\([^(){}]*)\s*\Z")


def sdk_calls(kotlin: Sources) -> Iterator[SourceCall]:
    """The calls of the SDK's `provision`: they have three arguments; a back end's function of that name has others."""
    for call in kotlin.calls:
        is_sdk = call.name == "provision" and bool(call.receiver) and len(call.arguments) == 3
        if is_sdk and (call.function is None or call.function.name != "fetchOpc"):
            yield call


def open_calls(facts: Facts) -> Iterator[SourceCall]:
    """The calls of the SDK that a second tap reaches; of the first twenty, which are more than an app has."""
    return (call for call in islice(sdk_calls(facts.a.kotlin), 20) if not _is_closed(facts, call))


def is_bridge(source: SourceFile) -> bool:
    """Whether a file is the native side of a page in another language: then the button is there."""
    imports = rb"(?mi)^import\s+[\w.]*\b(react|flutter|capacitor|cordova|expo)\b"
    return re.search(imports, source.file.content) is not None


def _is_closed(facts: Facts, call: SourceCall) -> bool:
    """Whether something that is written on the way to this call is asked where a tap begins."""
    steps, sources = _follow(facts.a.kotlin, call)
    seen = {function for function, _end in steps}
    written = {name for function, end in steps for name in _write(function, end, facts.a.kotlin, seen)}
    begins_here = any(re.search(r"\b(onClick|setOnClickListener)\b", text_of(step.node)) for step, _end in steps)
    if len(steps) < 2 and not begins_here:  # the tap comes by a way that cannot be followed, such as a flow of events
        functions = (function for source in sources for function in source.functions)
        written |= {name for function in functions for name in _write(function, None, facts.a.kotlin, seen)}
    asked = {"isEnabled", "isClickable"}  # to write these of a control is enough
    for source in sources:
        asked |= _asked(source, {"provision", *(function.name for function, _end in steps)})
    for layout in facts.project.named("*.xml"):  # data binding
        for binding in re.findall(r'\w:(?:enabled|visibility|clickable)="@\{([^}]*)\}"', layout.text):
            asked |= set(re.findall(r"\w+", binding))
    for _step in range(2):  # what is asked may be computed from what is written
        asked |= {name for source in sources for name in _computed(source, asked)}
    return not _plain(written).isdisjoint(_plain(asked))


def _plain(names: Iterable[str]) -> set[str]:
    """The names as they are compared: without the underscore of a private twin, and without those of every property."""
    return {name.lstrip("_") for name in names} - {"value", "it", "this", "copy", "true", "false", "null", "View", ""}


def _follow(kotlin: Sources, call: SourceCall) -> tuple[list[Step], list[SourceFile]]:
    """The steps from the SDK's call back to the tap, and the files of the page."""
    steps: list[Step] = []
    page = call.kind.name if call.kind else ""
    sources = {call.source.file.name: call.source}
    waiting = [(call.function, call.node)]
    while waiting and len(steps) < 24:
        function, node = waiting.pop(0)
        if function is None or any(function is known for known, _end in steps):
            continue
        steps.append((function, node.start_byte))
        for source in kotlin.naming(function.name, page):
            sources[source.file.name] = source
            waiting += [(caller.function, caller.node) for caller in source.parts.calls if caller.name == function.name]
            waiting += _references(source, function.name)
    return steps, list(sources.values())


def _references(source: SourceFile, name: str) -> Iterator[tuple[SourceFunction | None, Node]]:
    """Where a function is named without being called: `onClick = page::add`."""
    for node in walk(source.root) if f"::{name}".encode() in source.file.content else ():
        if node.type in {"navigation_expression", "callable_reference"} and text_of(node).endswith(f"::{name}"):
            around = [one for one in source.functions if one.node.start_byte <= node.start_byte < one.node.end_byte]
            yield max(around, key=lambda one: one.node.start_byte, default=None), node


def _run_before(function: SourceFunction, end: int, suspending: frozenset[str]) -> Iterator[Node]:
    """What a tap runs through in a function before it goes on at `end`, in the order of the text.

    What follows a call that suspends comes too late: a second tap is faster. Left out are what handles another event,
    and the other branches of a condition.
    """
    waiting = [(function.node, 0)]  # each with the end of the outermost lambda around it that is over before `end`
    resumed = 0
    while waiting:
        node, closed = waiting.pop()
        if not resumed <= node.start_byte < end:
            continue
        children = node.named_children
        if node.type == "lambda_literal" and node.end_byte <= end:
            if HANDLES.search(function.source.file.content[max(node.start_byte - 120, 0) : node.start_byte]):
                continue
            closed = closed or node.end_byte
        elif node.type in {"when_expression", "if_expression"} and node.end_byte > end:
            subject = [] if children[0].type == "when_entry" else children[:1]
            children = [*subject, *(child for child in children[len(subject) :] if child.end_byte > end)]
        elif node.end_byte <= end and _suspends(function.source, node, suspending):
            if not closed:
                return
            resumed = closed  # a job beside this one waits
            continue
        yield node
        waiting += ((child, closed) for child in reversed(children))


def _suspends(source: SourceFile, node: Node, suspending: frozenset[str]) -> bool:
    is_call = node.type == "call_expression" and bool(node.named_children)
    return is_call and SourceCall(source, node, None, None).name in suspending


def _write(
    function: SourceFunction, end: int | None, kotlin: Sources, seen: set[SourceFunction], depth: int = 2
) -> Iterator[str]:
    """The names that a function writes before this byte (None: anywhere), itself or in others that it calls."""
    ends = function.node.end_byte if end is None else end
    for node in _run_before(function, ends, frozenset() if end is None else kotlin.suspending):
        if node.type == "assignment":
            value = node.named_children[-1]
            is_copy = value.type == "call_expression" and text_of(value.named_children[0]).endswith("copy")
            yield from () if is_copy else names_in(node.named_children[0])
            yield from _capitals(value) if value.end_byte <= ends else ()
            yield from ["isEnabled"] if HIDES.search(text_of(node)) else ()
        elif node.type == "call_expression" and node.named_children and node.end_byte <= ends:
            call = SourceCall(function.source, node, function.kind, function)
            yield from _write_by_call(call, kotlin, seen, depth)


def _write_by_call(call: SourceCall, kotlin: Sources, seen: set[SourceFunction], depth: int) -> Iterator[str]:
    """The names that a call writes: those that it copies with, its states, and those of the function that it calls."""
    if call.name == "copy":
        yield from call.labels
    if call.name in LOCKS or (call.name in SETTERS and "false" in map(text_of, call.arguments)):
        yield "isEnabled"
    if call.name == "launch":
        return
    for argument in call.arguments:
        yield from _capitals(argument)
    own = call.kind.by_name.get(call.name) if call.kind and call.receiver in {"", "this"} else None
    called = [own] if own else kotlin.declaring(call.name)[:4]
    for function in called if depth else ():
        if function not in seen:
            seen.add(function)
            yield from _write(function, None, kotlin, seen, depth - 1)


def _capitals(node: Node) -> Iterator[str]:
    return (name for name in names_in(node) if name[:1].isupper())


def _asked(source: SourceFile, taps: set[str]) -> set[str]:
    """The names in what decides whether a tap leads on, or whether a control is there and enabled."""
    taken = "|".join(["return", "throw", "onClick", "setOnClickListener", *map(re.escape, filter(None, taps))])
    places = [match.start() for match in re.finditer(rf"\b({taken})\b".encode(), source.file.content)]
    tapped = set(re.findall(r"\b(\w+)\??\.setOnClickListener", source.file.text))
    steers = ("enabled", "clickable", "visible", "visibility")  # as the platform ends such names
    found: set[str] = set()
    for node in walk(source.root):
        leads_on = bisect_left(places, node.start_byte) < bisect_left(places, node.end_byte)
        if node.type == "if_expression" and leads_on:
            found |= set(names_in(node.named_children[0]))
        elif node.type == "when_expression" and leads_on:
            found |= _asked_by_when(node)
        elif node.type in {"value_argument", "assignment"} and len(node.named_children) > 1:
            first = node.named_children[0]
            named = first.type in {*NAME_KINDS, "navigation_expression"} and text_of(first).lower().endswith(steers)
            if named and not (node.type == "assignment" and _shows_another(text_of(node), tapped)):
                found |= set(names_in(node.named_children[-1]))
    for call in source.parts.calls:
        found |= {name for argument in call.arguments for name in names_in(argument) if call.name in SETTERS}
    return found


def _asked_by_when(node: Node) -> set[str]:
    """The names in its subject, and in the conditions of its entries."""
    asked = [part for part in node.named_children if part.type == "when_subject"]
    for entry in (part for part in node.named_children if part.type == "when_entry"):
        asked += entry.named_children[:-1]
    return {name for part in asked for name in names_in(part)}


def _shows_another(assignment: str, tapped: set[str]) -> bool:
    """Whether this shows a control while something is so, and the control is none of those that are tapped."""
    shown = re.fullmatch(r"(?:[\w.?]*\.)?(\w+)\??\.(?:isVisible|visible)\s*=\s*[\w.?]+", assignment)
    return shown is not None and bool(tapped) and shown[1] not in tapped


def _computed(source: SourceFile, asked: set[str]) -> Iterator[str]:
    """The names from which a file computes a property that is asked."""
    for node in walk(source.root):
        if node.type == "property_declaration":
            declared = next((part for part in node.named_children if part.type == "variable_declaration"), None)
            if declared is not None and set(names_in(declared)[:1]) & asked:
                parts = (part for part in node.named_children if part.start_byte > declared.start_byte)
                yield from (name for part in parts for name in names_in(part))
