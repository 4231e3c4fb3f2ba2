"""`workbook doctor` and `rules`: this machine, and the rules that everything rests on."""

from __future__ import annotations

import argparse
from typing import Any

from workbook.commands import add, end_like_ctrl_c


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    add(commands, "doctor", doctor, "check this machine: versions, kernel, ports, clock")
    parser = add(commands, "rules", rules, "print the rules of the interface document, or one of them")
    parser.add_argument("id", nargs="?", metavar="ID", help="such as A-CAN-2")


def doctor(_: argparse.Namespace) -> int:
    """Print each result as it comes; return 1 when something is wrong."""
    from workbook.commands.doctor import examine

    end_like_ctrl_c()
    healthy = True
    for health in examine():
        print(health, flush=True)
        healthy = healthy and health.ok
    return 0 if healthy else 1


def rules(options: argparse.Namespace) -> int:
    """Print them, one line each."""
    from workbook.base.rules import rule, rules

    for entry in rules() if options.id is None else [rule(options.id.strip().upper())]:
        print(entry)
    return 0
