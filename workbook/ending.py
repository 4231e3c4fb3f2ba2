"""Which signals ask a program to end."""

from __future__ import annotations

import signal


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, SIGTERM (a cancelled build) and SIGHUP (a closed terminal), as far as this machine has them.

    SIGHUP is left out where `nohup` has switched it off: the program must outlive its terminal.
    """
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [number for number in numbers if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]
