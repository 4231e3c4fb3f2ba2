"""The `workbook` command, as a program of its own and as `python -m workbook`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Import the command line, carry out the process's arguments and return the exit code.

    Ctrl-C during the imports ends the process by the signal. As an exception, it would print a traceback, or be lost in
    a callback of the import system.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from workbook.commands import cli

    signal.signal(signal.SIGINT, usual)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
