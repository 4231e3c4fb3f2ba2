"""`workbook doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.commands.command import add, end_like_ctrl_c

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    add(commands, "doctor", handle, "look at this machine: versions, kernel, ports, clock")


def handle(_: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.doctor import examine  # noqa: PLC0415

    end_like_ctrl_c()
    findings = [_printed(finding) for finding in examine()]
    return 0 if all(finding.ok for finding in findings) else 1


def _printed(thing: Any) -> Any:
    print(thing, flush=True)
    return thing
