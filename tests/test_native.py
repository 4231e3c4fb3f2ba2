"""The native code of the lessons: every file parses, has no forced unwrapping, and knows nothing of the API's key.

No compiler is at hand here. A grammar finds what is not Swift or Kotlin; types are not checked.
"""

import re
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_kotlin
import tree_sitter_swift

from workbook.base.files import NATIVE
from workbook.flows import messages as m
from workbook.runs.in_app import LABELS

GRAMMARS = {".swift": tree_sitter_swift, ".kt": tree_sitter_kotlin}
FILES = sorted(path for path in NATIVE.rglob("*") if path.suffix in GRAMMARS)
ids = [path.name for path in FILES]


def nodes(path: Path, text: bytes | None = None):
    """Every node of a file's syntax tree."""
    grammar = GRAMMARS[path.suffix]
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    waiting = [parser.parse(path.read_bytes() if text is None else text).root_node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def mistakes(found):
    """The lines on which something is no such language, from 1."""
    return sorted({node.start_point[0] + 1 for node in found if node.type == "ERROR" or node.is_missing})


def forced(found):
    """What ends an app where a value is missing or a call throws: `x!`, `try!`, `as!` and `x!!`."""
    for node in found:
        inside = node.parent.type if node.parent else ""
        unwrapped = inside in ("postfix_expression", "unary_expression") and node.type in ("bang", "!!")
        if unwrapped or node.text in (b"try!", b"as!"):
            yield node.start_point


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_it_parses(path):
    assert mistakes(nodes(path)) == []


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_a_missing_brace_would_be_seen(path):
    whole = path.read_bytes()
    assert mistakes(nodes(path, whole[: whole.rindex(b"}")])) != []


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_nothing_is_unwrapped_by_force(path):
    assert [*forced(nodes(path))] == []


@pytest.mark.parametrize(
    ("suffix", "code"),
    [
        (".swift", b"let bytes = Data(base64Encoded: text)!"),
        (".swift", b"let data = try! read()"),
        (".swift", b"let card = value as! Card"),
        (".kt", b"val text = body.string()!!"),
    ],
)
def test_forced_unwrapping_would_be_seen(suffix, code):
    assert [*forced(nodes(Path(f"x{suffix}"), code))]


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".swift"], ids=lambda path: path.name)
def test_swift_keeps_to_calls_that_the_lowest_system_has(path):
    """The SDK works from 13.4 on (sdk-b); these async calls of URLSession and Task came with 15 and 16."""
    calls = [node.text.decode() for node in nodes(path) if node.type == "call_expression"]
    newer = re.compile(r"\.(data|upload|download|bytes)\(\s*(for|from):|Task\.sleep\(for:")
    assert [call for call in calls if newer.search(call)] == []


@pytest.mark.rule("API-13")
@pytest.mark.parametrize("path", FILES, ids=ids)
def test_it_neither_holds_the_key_nor_calls_the_api(path):
    text = path.read_text("utf-8").lower()
    assert [word for word in ("x-api-key", "networktokenactivationdata", "/bcl/") if word in text] == []


@pytest.mark.rule("B-FIN-2", "APP-4")
def test_each_label_of_the_native_pages_is_said_where_it_holds():
    """A label after `added ?`, in a `catch` or for a hidden button is that of the run's own table of labels."""
    added, available, failed = (LABELS[command] for command in (m.ShowAdded, m.ShowAvailable, m.TellFailure))
    said = []
    for path in sorted((NATIVE / "swift").glob("*.swift")):
        text = path.read_text("utf-8")
        for condition, yes, no in re.findall(r'(\w+) \? "([^"]*)" : "([^"]*)"', text):
            assert (condition, yes.lower(), no.lower()) == ("added", added.lower(), failed.lower()), path.name
            said.append("outcome")
        for caught in re.findall(r"catch \{(.*?)\n        \}", text, re.DOTALL):
            labels = {label.lower() for label in re.findall(r'"([^"\n]*)"', caught)}
            assert not labels & {added.lower(), available.lower()}, path.name
            said += ["failure"] if failed.lower() in labels else []
        for hidden in re.findall(r'== \.hidden, app\.isInWallet\(cardId\) \{ message = "([^"]*)"', text):
            assert hidden == available
            said.append("hidden")
    assert {"outcome", "failure", "hidden"} <= set(said)
    assert all("pass != nil" in path.read_text("utf-8") for path in NATIVE.glob("swift/AddCardModel.swift"))
