"""The form of a `back-end.toml`: which tables and keys it may have, and what each may hold.

Tables of what is allowed, and one walk over them that finds every mistake and not only the first. A mistake begins with
its label: the table and the key. What may be a secret is never repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.conformance import form_words as words
from workbook.conformance.case import Group
from workbook.conformance.form_words import Word
from workbook.errors import did_you_mean
from workbook.simulation.form import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

QUOTE = 40
"""Characters of a name that are repeated."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with these keys.

    Attributes:
        keys: what each may hold.
        required: which of them must be there.
        instead: what to say to a text in its place; empty for the usual words.
    """

    keys: Mapping[str, Node]
    required: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Many:
    """A list of such tables."""

    table: Table


@dataclass(frozen=True, slots=True)
class Named:
    """A table whose keys the file chooses.

    Attributes:
        name: what a key must be.
        holds: what each of them holds.
    """

    name: Word
    holds: Node


Node: TypeAlias = Word | Table | Many | Named


@dataclass(slots=True)
class Clean:
    """What of a table is in order.

    Attributes:
        label: how a mistake calls the table; empty for the whole file.
        said: its keys that are in order.
        wrong: its keys that are there and are not.
    """

    label: str
    said: dict[str, Any] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)

    def get(self, key: str, default: Any = None) -> Any:
        """What a key says."""
        return self.said.get(key, default)

    def table(self, key: str) -> Clean:
        """A table in it; an empty one where there is none."""
        found: Clean = self.said.get(key) or Clean(inner(self.label, key))
        return found

    def missing(self, key: str) -> bool:
        """Whether nothing stands there, not even something wrong."""
        return key not in self.said and key not in self.wrong


_SECRET = Table(
    {"env": words.VARIABLE, "prefix": words.PREFIX},
    ("env",),
    'a secret never stands in the file. Write { env = "NAME" }, and set that variable where the workbook runs',
)
_HEADERS = Named(words.HEADER, words.OPEN_HEADER)
_OPERATION = {"method": words.METHOD, "path": words.PATH, "id": words.POINTER, "sdk_input": words.PLACE}
_GET, _POST = Table(_OPERATION), Table({**_OPERATION, "sdk_output": words.PLACE})


def _platform(*encodings: str) -> Table:
    return Table({"get": _GET, "post": _POST, "encoding": words.one_of(*encodings), "headers": _HEADERS})


FORM = Table(
    {
        "base_url": words.URL,
        "adapter": words.ADAPTER,
        "platforms": words.PLATFORMS,
        "ca_file": words.TEXT,
        "failures": words.FAILURES,
        "scenario": words.TEXT,
        "logs": words.TEXTS,
        "get": _GET,
        "post": _POST,
        "status": Table({"method": words.METHOD, "path": words.PATH, "id": words.POINTER}, ("path",)),
        "platform_a": _platform("text"),
        "platform_b": _platform("base64", "bytes"),
        "headers": _HEADERS,
        "cardholder": Many(
            Table({"name": words.TEXT, "cards": words.CARDS, "session": Named(words.HEADER, _SECRET)}, ("name",))
        ),
        "timeouts": Table(
            {"answer": words.BOUND, "recovery": words.RECOVERY}
            | dict.fromkeys(("first_call", "start", "whole"), words.SECONDS)
        ),
        "groups": Table(dict.fromkeys([group.value for group in Group], words.FLAG)),
        "api": Table({"port": words.PORT, "profile": words.PROFILE, "seed": words.SEED, "key": _SECRET}),
        "export": Table({"url": words.VARIABLE, "key": words.VARIABLE}),
        "start": Table({"command": words.COMMAND, "folder": words.TEXT, "hook": words.URL}),
    }
)
"""The whole file."""


def cleaned(document: Mapping[str, Any], mistakes: list[str]) -> Clean:
    """What of a document is in order; what is not is added to the mistakes."""
    return _table("", document, FORM, mistakes)


def inner(label: str, key: str) -> str:
    """How a mistake calls a table inside another."""
    if label.startswith("[["):
        return f"{label} {key}"
    return f"[{label[1:-1]}.{key}]" if label else f"[{key}]"


def at(label: str, key: str) -> str:
    """How a mistake calls a key."""
    return f"{label} {key}".strip()


def shown(key: str) -> str:
    """A key of the file as an error may repeat it: short and printable."""
    return key[:QUOTE] if key and key.isprintable() else repr(key[:QUOTE])


def _table(label: str, said: Mapping[str, Any], form: Table, mistakes: list[str]) -> Clean:
    clean = Clean(label)
    for key, value in said.items():
        if key not in form.keys:
            mistakes.append(f"{at(label, shown(key))}: there is no such key. {_hint(label, key, form)}")
            continue
        _keep(clean, key, value, form.keys[key], mistakes)
    mistakes += [f"{at(label, key)}: it is missing." for key in form.required if clean.missing(key)]
    return clean


def _keep(clean: Clean, key: str, value: Any, node: Node, mistakes: list[str]) -> None:
    """Put a value where it belongs; among the wrong ones where it is one."""
    if why := _unfit(value, node):
        mistakes.append(f"{at(clean.label, key)}: {why}")
        clean.wrong.add(key)
        return
    label = inner(clean.label, key)
    match node:
        case Table():
            clean.said[key] = _table(label, value, node, mistakes)
        case Named():
            clean.said[key] = _named(label, value, node, mistakes)
        case Many():
            places = enumerate(value, 1)
            clean.said[key] = [_table(f"[[{key}]] {place}", one, node.table, mistakes) for place, one in places]
        case Word():
            clean.said[key] = value


def _named(label: str, said: Mapping[str, Any], form: Named, mistakes: list[str]) -> Clean:
    clean = Clean(label)
    for key, value in said.items():
        if not form.name.fits(key):
            mistakes.append(f"{at(label, shown(key))}: it is no {form.name.says}.")
        elif isinstance(value, dict):
            _keep(clean, key, value, _SECRET, mistakes)
        elif why := words.secret_in_header(key, value):
            mistakes.append(f"{at(label, key)}: {why}; {_SECRET.instead}.")
            clean.wrong.add(key)
        else:
            _keep(clean, key, value, form.holds, mistakes)
    return clean


def _unfit(value: Any, node: Node) -> str:
    """Why a value cannot stand here; empty where it can."""
    match node:
        case Word():
            return "" if node.fits(value) else node.refusal(value)
        case Many():
            fits = isinstance(value, list) and all(isinstance(one, dict) for one in value)
            return "" if fits else "give tables, each under a heading in double brackets."
        case Table() | Named() if isinstance(value, dict):
            return ""
        case Table() if node.instead:
            return f"{node.instead}."
        case _:
            return f"it is {quoted(value) if not isinstance(value, str) else 'a text'}; give a table."


def _hint(label: str, key: str, form: Table) -> str:
    elsewhere = [name for name, table in _tables() if key in table.keys and name != label]
    return f"It belongs {' or '.join(elsewhere)}." if elsewhere else did_you_mean(key[:QUOTE], form.keys)


def _tables() -> Iterator[tuple[str, Table]]:
    """Every table of the file, with how one says where it is."""
    yield "to the top of the file", FORM
    for name, node in FORM.keys.items():
        if isinstance(node, Table):
            yield f"in [{name}]", node
        elif isinstance(node, Many):
            yield f"in [[{name}]]", node.table
