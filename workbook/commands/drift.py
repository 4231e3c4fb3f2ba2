"""`workbook drift`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add

if TYPE_CHECKING:
    import argparse

CODES = """\
exit codes:
  0  the simulator would have done the same
  1  it would have done otherwise; each difference says which setting makes it do the same, where there is one
  2  usage, or a file that is not in order
"""


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "drift", handle, "compare a record of the real API with the simulator", CODES)
    parser.add_argument("record", type=Path, metavar="RECORD", help="what workbook proxy wrote")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the findings as JSON")
    form.add_argument("--toml", action="store_true", help="print the scenario that does as the real API did")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.proxy.drift import drift  # noqa: PLC0415
    from workbook.proxy.drift_report import as_json, as_text  # noqa: PLC0415
    from workbook.proxy.drift_toml import scenario_toml  # noqa: PLC0415
    from workbook.proxy.record_file import read  # noqa: PLC0415
    from workbook.simulation.scenario import load  # noqa: PLC0415

    found = drift(read(options.record), load(options.scenario))
    text = scenario_toml(found) if options.toml else as_json(found) + "\n" if options.json else as_text(found)
    print(text, end="")
    return 1 if found.findings else 0
