"""`workbook rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.commands.command import add

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "rules", handle, "print the rules of the interface document, or one of them")
    parser.add_argument("id", nargs="?", metavar="ID", help="such as A-CAN-2")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.rules import rule, rules  # noqa: PLC0415

    for each in rules() if options.id is None else [rule(options.id.strip().upper())]:
        print(each)
    return 0
