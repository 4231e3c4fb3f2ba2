"""`workbook openapi`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "openapi", handle, "print the OpenAPI document of the simulated API, as JSON")
    parser.add_argument("--profile", default="spec", metavar="NAME", help="spec or field; default: %(default)s")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.simulation.contracts import contract  # noqa: PLC0415
    from workbook.simulation.openapi import document  # noqa: PLC0415

    print(json.dumps(document(contract(options.profile)), indent=2))
    return 0
