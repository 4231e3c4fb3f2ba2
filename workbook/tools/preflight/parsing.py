"""Swift and Kotlin, parsed by their grammars; as a program, the child process that tries a text first.

It imports nothing of the workbook, so that the child starts quickly.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # an extra brings it
    from tree_sitter import Node, Parser


# Bytes of memory that the child may have: more than any source needs that a person writes.
MOST_MEMORY = 2**31


@cache
def _parser(suffix: str) -> Parser:
    import tree_sitter_kotlin
    import tree_sitter_swift
    from tree_sitter import Language, Parser

    grammar = tree_sitter_swift if suffix == ".swift" else tree_sitter_kotlin
    return Parser(Language(grammar.language()))


def parse(suffix: str, content: bytes) -> Node:
    """The tree of a source with this suffix.

    Raises:
        ImportError: the extra is not installed.
    """
    return _parser(suffix).parse(content).root_node


def parse_each(seconds: float) -> None:
    """In the child: parse each text of stdin, and say so on stdout; a parse that takes too long ends the process.

    Before a text stands a line with its suffix and its length in bytes.
    """
    with suppress(ImportError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    while head := sys.stdin.buffer.readline():
        suffix, size = head.decode().split()
        _parser(suffix)  # the grammar's own time
        faulthandler.dump_traceback_later(seconds, exit=True)  # a thread of its own, which no grammar can hold up
        parse(suffix, sys.stdin.buffer.read(int(size)))
        os.write(1, b"\n")


if __name__ == "__main__":
    parse_each(float(sys.argv[1]))
