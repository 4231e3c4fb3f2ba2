"""`workbook sdk-output`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.commands.command import add, checked_seed

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "sdk-output", handle, "print a fresh sdkOutput, good for one POST to `workbook serve`")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the payment instrument; default: the first one")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="the one that the server was started with")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="the one that it was started with")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.simulation.handout import fresh_output  # noqa: PLC0415
    from workbook.simulation.scenario import load  # noqa: PLC0415

    world = load(options.scenario).world(seed=checked_seed(options.seed))
    wanted = next(iter(world.instruments)) if options.id is None else options.id
    print(fresh_output(wanted, seed=world.seed, world=world))
    return 0
