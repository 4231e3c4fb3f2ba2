"""The integrator's own code in a run: it is checked as by a compiler, and called; its failures are located.

A run's time is virtual: it passes where the SDK, the storage and the network spend it. The real
time of the integrator's code is not counted, because it differs between machines; where it is long, the trace says so.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter
from traceback import walk_tb
from types import FrameType
from typing import Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import ParameterError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.messages import Event

NOTICEABLE = 0.3
"""Seconds of real time from which a trace says how long code took: far more than Python needs on a busy machine."""

RELAY: ContextVar[Callable[[str, Any], SdkInput] | None] = ContextVar("relay", default=None)
"""The back end of the run that called the integrator's code, so that its POST is in that run's trace and time."""


def check_callable(function: object, owner: str, name: str, arguments: tuple[str, ...]) -> None:
    """Make sure that the SDK can call this method of the integrator's, as a compiler would.

    Raises:
        ParameterError: it is no function of these arguments, given by position; the message begins with `owner`.
    """
    needed = f"{owner} needs a method {name}({', '.join(arguments)})"
    if not callable(function):
        raise ParameterError(f"{needed}.")
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise ParameterError(f"{needed}, given by position. Yours cannot be called like this: {error}.") from None
    except ValueError:  # a function in C may not have a signature; then the call itself will fail
        return


def completed(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What the integrator's `function` returns; an awaitable is awaited to its end on a thread of its own.

    A notebook's kernel has a running loop already, and which thread that is on depends on its version.
    """
    value = function(*args, **named)
    if not inspect.isawaitable(value):
        return value

    from asyncio import CancelledError  # a tenth of a session's import time; most code never waits
    from concurrent.futures import CancelledError as TaskCancelled

    from anyio.from_thread import start_blocking_portal

    async def awaited(value: Awaitable[Any]) -> Any:
        return await value

    try:
        with start_blocking_portal() as portal:  # a cell that is stopped stops this, too
            return portal.call(awaited, value)
    except TaskCancelled:
        raise CancelledError from None


def own_failures() -> tuple[type[BaseException], ...]:
    """The errors with which the integrator's code may fail, for `except`: a task that it cancelled counts, too."""
    from asyncio import CancelledError  # loaded where code has failed; see `completed`

    return Exception, CancelledError


@contextmanager
def watched(call: str, seen: Callable[[Event], None], *, timed: bool = True) -> Iterator[None]:
    """Report the line on which the integrator's code fails in this block, and its real time where that is long.

    Args:
        call: what the SDK or the wallet called, for a reader.
        seen: takes what is to be reported.
        timed: False inside a call that is timed already.
    """
    began = perf_counter()
    try:
        yield
    except own_failures() as error:
        # An error may pass several of these blocks; the innermost one reports it.
        if (line := own_line(error)) and not getattr(error, "reported", False):
            error.reported = True  # type: ignore[attr-defined]  # an exception takes any attribute
            seen(m.CodeFailed(call, exception_words(error), line))
        raise
    finally:
        if timed and (took := perf_counter() - began) >= NOTICEABLE:
            seen(m.CodeTookLong(call, float(f"{took:.1g}")))


@contextmanager
def relayed(relay: Callable[[str, SdkOutput], SdkInput]) -> Iterator[None]:
    """Let `Session.exchange`, called inside the block, ask the run's own back end."""
    token = RELAY.set(relay)
    try:
        yield
    finally:
        RELAY.reset(token)


def misspelt(kind: type, base: type) -> Iterator[m.NeverCalled]:
    """The methods of `kind` that look like one of `base` in another spelling, so that they are never called."""
    known = {_plain(name): name for name in dir(base) if not name.startswith("_")}
    for name in [name for owner in kind.__mro__ if not issubclass(base, owner) for name in vars(owner)]:
        if name.startswith("_") or name in known.values() or not callable(getattr(kind, name)):
            continue
        for near in get_close_matches(_plain(name), known, n=1, cutoff=0.85):
            if known[near] not in vars(kind):
                yield m.NeverCalled(name, known[near])


def _plain(name: str) -> str:
    """A name without what differs between spellings: `passEntries` is `pass_entries`."""
    return name.replace("_", "").lower()


# Where an error came from, and what may be said of it.

WRONG_ARGUMENTS = re.compile(
    r"[\w.<>]{1,120}\(\) (missing \d+ required [\w-]+ arguments?: [\w', ]{1,120}"
    r"|takes [\w ]{1,60} but \d+ (was|were) given|got (an unexpected keyword|multiple values for) argument '\w{1,60}'"
    r"|takes no arguments)"
)
"""What Python says about a call with the wrong arguments: names and numbers, and no value."""


def own_line(error: BaseException) -> str:
    """The integrator's line on which an error was raised or passed, such as `Cell In[3], line 5: return self.cache`.

    Empty where no line of theirs took part.
    """
    libraries = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    foreign = ("<frozen", *libraries)
    for frame, number in reversed(list(walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        if not _is_ours(frame) and not file.startswith(foreign):
            source = _without_data(linecache.getline(file, number).strip())
            cut = source if len(source) <= 80 else f"{source[:80]}\N{HORIZONTAL ELLIPSIS}"
            return f"{_place(file)}, line {number}{cut and f': {cut}'}"
    return ""


def _without_data(source: str) -> str:
    """A source line without what may be opaque data: a long text, and what looks like base64."""
    ellipsis = "\N{HORIZONTAL ELLIPSIS}"
    # Every quoted text is matched, however short: else the code between two short ones would count as a long one. The
    # second pattern is for quotes that do not pair, as after an apostrophe in a comment.
    quotes, base64 = r"""(["'])(?:\\.|(?!\1)[^\\])*\1""", r"(?=[A-Za-z+/=_-]*\d)[\w+/=-]{25,}"
    shown = re.sub(quotes, lambda text: text[0] if len(text[0]) <= 26 else ellipsis, source)
    return re.sub(base64, ellipsis, shown)


def _place(file: str) -> str:
    """The cell of a notebook by its number, or a file by its name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    cell = shell.compile.format_code_name(file) if shell is not None else None
    return " ".join(cell) if cell else Path(file).name


def _is_ours(frame: FrameType) -> bool:
    """Whether code of this package, or of its sample files, runs in it."""
    return str(frame.f_globals.get("__name__")).partition(".")[0].startswith("workbook")


def exception_words(error: BaseException) -> str:
    """An exception in words that can hold no opaque data: its type, and what is known to be harmless.

    The message of one of our errors is harmless only if this package raised it: a handler can put anything into one.
    """
    name = getattr(error, "name", None)
    if (
        isinstance(error, AttributeError | NameError)
        and isinstance(name, str)
        and name.isidentifier()
        and len(name) <= 40  # characters; opaque data is longer
    ):
        return f"{type(error).__name__}: {name}"
    if isinstance(error, TypeError) and WRONG_ARGUMENTS.fullmatch(str(error)):
        return f"TypeError: {error}"
    frames = [frame for frame, _line in walk_tb(error.__traceback__)]
    ours = isinstance(error, WorkbookError) and bool(frames) and _is_ours(frames[-1])
    return f"{type(error).__name__}: {error}" if ours else type(error).__name__
