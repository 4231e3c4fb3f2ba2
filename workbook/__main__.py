"""The `workbook` command, as a program of its own and as `python -m workbook`."""

import os
import signal
import sys


def main() -> int:
    """Import the command line, carry out the process's arguments and return the exit code.

    Ctrl-C during the imports ends the process by the signal. As an exception, it would print a traceback, or be lost in
    a callback of the import system. A standard stream that was closed before the program began fails when it is used:
    otherwise the next file that is opened would take its number, and with it what a child process prints.
    """
    for name, way, mode in (
        ("stdin", os.O_RDONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),  # what cannot be told is lost; the exit code is left
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode))
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from workbook.tools.commands import cli

    signal.signal(signal.SIGINT, usual)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
