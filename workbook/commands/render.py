"""`workbook render`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from workbook.commands.command import add, add_notebooks, end_like_ctrl_c

if TYPE_CHECKING:
    import argparse


CODES: Final = "exit codes: 0 done, or nothing differs; 1 with --check, a notebook differs; 3 a notebook failed"


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "render", handle, "execute notebooks in place and store their outputs", CODES)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; name the notebooks that differ")
    add_notebooks(parser)


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.runner.render import exit_code, render  # noqa: PLC0415
    from workbook.runner.selection import notebooks_dir, select  # noqa: PLC0415

    end_like_ctrl_c()
    chosen = select(options.names, notebooks_dir(options.notebooks))
    write = not options.check
    rendered = render(chosen, write=write, limit=options.time_limit, done=lambda each: print(each, flush=True))
    return exit_code(rendered, write=write)
