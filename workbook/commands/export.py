"""`workbook export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "export", handle, "write notebooks as web pages that need neither kernel nor network")
    parser.add_argument("names", nargs="*", metavar="NAME", help="as for run, or a notebook's file; default: all")
    parser.add_argument("--out", type=Path, default=Path("export"), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.runner.export import export  # noqa: PLC0415
    from workbook.runner.selection import notebooks_dir, select  # noqa: PLC0415

    given = [Path(name) for name in options.names if name.endswith(".ipynb") and Path(name).is_file()]
    named = [name for name in options.names if Path(name) not in given]
    chosen = select(named, notebooks_dir(options.notebooks)) if named or not given else ()
    for page in export((*given, *chosen), options.out):
        print(page)
    return 0
