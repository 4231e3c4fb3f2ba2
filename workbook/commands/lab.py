"""`workbook lab`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add, end_like_ctrl_c

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "lab", handle, "open the notebooks in JupyterLab, on this machine only")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=None, help="default: the first free one from 8888")
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.lab import Lab  # noqa: PLC0415  # each handler imports its own

    end_like_ctrl_c()
    lab = Lab.on(options.notebooks, port=options.port, browser=not options.no_browser)
    return lab.run(tell=lambda line: print(line, flush=True))
