"""Signals: which of them ask a program to end, and how a child process ends with its parent."""

import ctypes
import signal
import sys
from collections.abc import Callable


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, SIGTERM (a cancelled build) and SIGHUP (a closed terminal), as far as this machine has them.

    SIGHUP is left out where `nohup` has switched it off: the program must outlive its terminal.
    """
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [number for number in numbers if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]


def at_first_signal(stop: Callable[[], object]) -> None:
    """Call `stop` at the first signal that asks the program to end, and ignore every later one, to the very end.

    The event loop's own handlers go with the loop, so a second signal would kill the process while it cleans up.
    """

    def first(_number: int, _frame: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        stop()

    numbers = ending_signals()
    for number in numbers:
        signal.signal(number, first)


def end_with_parent() -> Callable[[], None] | None:
    """What a child process calls before it starts (`preexec_fn`), so that it ends with this one, even after SIGKILL.

    Linux sends it SIGTERM when the thread that started it ends. Elsewhere there is no such signal: None.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl  # found here: after a fork in a process with threads, little may be called
    set_parent_death_signal = 1  # PR_SET_PDEATHSIG of linux/prctl.h
    return lambda: prctl(set_parent_death_signal, signal.SIGTERM)
