"""What a terminal shows and sends: what is printed, and the signals.

A terminal obeys control characters, and most of what is printed was written by somebody else.
"""

import ctypes
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import TextIO

from workbook.base.secrecy import KEY_VARIABLE, Secrets
from workbook.errors import ConfigurationError


def visible(text: str, kept: str = "") -> str:
    r"""The text with an escape such as `\u001b` for each character that is not printable and not in `kept`.

    These are C0 and C1 controls, controls of the writing direction, line ends, and characters without a glyph. JSON
    reads such an escape as the character itself.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in kept else json.dumps(character)[1:-1] for character in text
    )


def say(text: object, to: TextIO | None = None) -> None:
    """Print the text without the API key, `visible` apart from tabs and line ends, with one line end; flush it.

    Every print of the package happens here. A failed stream is redirected to the null device, or Python's flush at
    exit would raise again.

    Args:
        text: what to print.
        to: stderr instead of stdout.

    Raises:
        BrokenPipeError: nobody reads any more.
        ConfigurationError: it cannot be written, for example because the disk is full.
    """
    stream = sys.stdout if to is None else to
    try:
        kept = Secrets.of_any_key(os.environ.get(KEY_VARIABLE, "")).scrub(str(text).removesuffix("\n"))
        # a CI obeys a line that begins with two colons, and a name of a file may hold one
        stream.write(re.sub(r"^([ \t]*):(?=:)", r"\1: ", visible(kept, "\n\t"), flags=re.MULTILINE) + "\n")
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        again = "Make room, or print to another place."
        raise ConfigurationError(f"Cannot print: {error.strerror or error}. {again}") from None


# Signals: which of them ask a program to end, and how a child process ends with its parent.


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
