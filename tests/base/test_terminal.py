"""Foreign text steers no terminal, and every print of the package goes through one function."""

import ast
import io
import json
import re
from pathlib import Path

import pytest
from rows import rows

from workbook.base import terminal
from workbook.base.terminal import say, visible
from workbook.errors import ConfigurationError

PACKAGE = Path(terminal.__file__).parents[1]
STREAMS = ("stdout", "stderr")


@rows(
    ("kind", "character"),
    [
        ("C0", "\x1b"),
        ("C0", "\x00"),
        ("C0", "\r"),
        ("DEL", "\x7f"),
        ("C1: CSI in one character", "\x9b"),
        ("writing direction", "\u202e"),
        ("writing direction", "\u2067"),
        ("line end", "\u2028"),
        ("half a character, as in a name that is no UTF-8", "\udcff"),
        ("above the first plane", "\U000e0001"),
    ],
)
def test_a_character_that_steers_is_written_as_its_escape(kind, character):
    shown = visible(f"a{character}b", "\n\t")
    assert shown.isprintable()
    assert shown.isascii()
    assert json.loads(f'"{shown}"') == f"a{character}b"


def test_what_people_write_stays():
    for text in ("", "Käse 日本語 🙂 ✗ “quoted”", "path/to/file: fail"):
        assert visible(text) == text


def test_a_line_end_stays_only_where_it_is_meant():
    assert visible("name\nfail X-1") == r"name\nfail X-1"
    assert visible("one\n\ttwo", "\n\t") == "one\n\ttwo"


def test_say_prints_one_line_end_and_no_escape_sequence():
    for text in ("a\x1b[2J\n\tb", "a\x1b[2J\n\tb\n"):
        stream = io.StringIO()
        say(text, stream)
        assert stream.getvalue() == "a\\u001b[2J\n\tb\n"


@pytest.mark.rule("REL-2")
def test_nothing_is_printed_with_the_key_in_it(monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "canary-0123456789")
    stream = io.StringIO()
    say("a cell raised canary-0123456789, canary%2D0123456789", stream)
    assert stream.getvalue() == "a cell raised [key], [key]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_a_sentence_and_closing_the_stream_is_quiet():
    refused = pytest.raises(ConfigurationError, match="Cannot print: No space left on device")
    with Path("/dev/full").open("w") as stream, refused:  # the stream is closed last
        say("a line", stream)


def prints(tree):
    """Where a tree prints: each call of `print`, and each call that a standard stream has a part in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "print":
            yield node, "print"
        if isinstance(node, ast.Call):
            words = [*node.args, *(keyword.value for keyword in node.keywords)]
            if isinstance(node.func, ast.Attribute) and node.func.attr in {"write", "writelines"}:
                words.append(node.func.value)
            if any(is_stream(word) for word in words):
                yield node, ast.unparse(node.func)


def is_stream(node):
    return (
        isinstance(node, ast.Attribute) and node.attr in STREAMS and ast.unparse(node) in {"sys.stdout", "sys.stderr"}
    )


def is_safe(node):
    """Whether what is written is a literal, a number (its format has a kind such as `f`), or what `visible` made."""
    if isinstance(node, ast.JoinedStr):
        return all(is_safe(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        is_number = node.format_spec is not None and ast.unparse(node.format_spec).rstrip("'\"")[-1:] in {*"dfeg%"}
        return is_number or is_safe(node.value)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "visible")


def unguarded(source):
    """Each print of a source that is neither `say` nor writes only what is safe."""
    if not re.search(r"\bprint\b|\bsys\.std", source):
        return []
    return [
        (node.lineno, name)
        for node, name in prints(ast.parse(source))
        if name != "say" and (name == "print" or not node.args or not is_safe(node.args[0]))
    ]


def test_every_print_goes_through_say():
    sources = [path for path in PACKAGE.rglob("*.py") if path != Path(terminal.__file__)]
    wrong = {path: found for path in sources if (found := unguarded(path.read_text("utf-8")))}
    assert wrong == {}
    assert len(sources) > 100


@rows("text", ["::error file=x::y", "a\n\t ::error::y", "::add-mask::x\n::stop-commands::y"])
def test_no_line_begins_as_a_command_to_a_ci(text):
    stream = io.StringIO()
    say(text, stream)
    assert not re.search(r"^\s*::", stream.getvalue(), re.MULTILINE)
    assert stream.getvalue().replace(": :", "::") == f"{text}\n"
