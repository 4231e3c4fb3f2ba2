"""What is printed. A terminal obeys control characters, and most of what is printed was written by somebody else."""

import json
import os
import sys
from typing import TextIO

from workbook.errors import ConfigurationError


def visible(text: str, kept: str = "") -> str:
    r"""The text with an escape such as `\u001b` for each character that is not printable and not in `kept`.

    These are C0 and C1 controls, controls of the writing direction, line ends, and characters without a glyph. JSON
    reads such an escape as the character itself.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in kept else json.dumps(one)[1:-1] for one in text)


def say(text: object, to: TextIO | None = None) -> None:
    """Print the text, `visible` apart from tabs and line ends, with one line end behind it, and flush it.

    Every print of the package happens here. Afterwards a stream that failed takes everything and writes nothing: at
    exit Python would flush it once more, and fail once more.

    Args:
        text: what to print.
        to: stderr instead of stdout.

    Raises:
        BrokenPipeError: nobody reads any more.
        ConfigurationError: it cannot be written, for example because the disk is full.
    """
    stream = sys.stdout if to is None else to
    try:
        stream.write(visible(str(text).removesuffix("\n"), "\n\t") + "\n")
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        again = "Make room, or print to another place."
        raise ConfigurationError(f"Cannot print: {error.strerror or error}. {again}") from None
