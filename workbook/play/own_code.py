"""The integrator's own code in a run: it is checked as by a compiler, called, and stopped when its time is over.

A run's time is virtual: it passes where the SDK, the storage and the network spend it. The real time of the
integrator's code differs between machines, so it counts, rounded, only where it is long. What fails or is slow is
located.
"""

import ctypes
import faulthandler
import gc
import inspect
import linecache
import re
import signal
import sys
import sysconfig
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import takewhile
from math import inf
from pathlib import Path
from time import perf_counter, perf_counter_ns
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import nearest
from workbook.errors import ConfigurationError, ParameterError, WorkbookError
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS, Event

# Seconds from which code counts as slow: far more than Python needs for what an app does there.
NOTICEABLE = 0.3
# Seconds that the app and its extension wait for one call of their back end: more than the back end's own deadline for
# it (8 s), and so little that the GET and the POST of one request fit into the wallet's 20 s (REL-5; assumed).
BACK_END_WAIT = 9.0

# Seconds in which code that has to stop may end. It is stopped again then, and a thread of its own is left behind.
GRACE = 1.0
# Seconds between alarms: one that another thread gets wakes no code that waits on the main one.
AGAIN = 0.1

# The back end of the run that called the integrator's code, so that its POST is in that run's trace and time.
RELAY: ContextVar[Callable[[str, Any], SdkInput] | None] = ContextVar("relay", default=None)
# The slow seconds that were counted already in calls inside the one under way.
COUNTED: ContextVar[list[float]] = ContextVar("counted")
# Seconds of real time that a call may take in a sweep, where real time does not count: a busy machine would make other
# rows. None where it counts. A process that `multiprocessing` started ends if a call takes three times `GRACE` longer,
# because no alarm gets into a call into C that holds the interpreter.
PATIENCE: ContextVar[float | None] = ContextVar("patience", default=None)
# When the time of the call under way is over, on the clock of `perf_counter`.
DEADLINE: ContextVar[float] = ContextVar("deadline", default=inf)


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


class TookTooLong(BaseException):
    """The time of a call is over. No `except Exception` of the integrator's catches it.

    Attributes:
        line: the line that it was on; empty where that is not known.
        left_behind: it did not end, and goes on on a thread of its own.
    """

    line = ""
    left_behind = False


class StoppedError(WorkbookError):
    """The integrator's code had not ended when its time was over.

    Attributes:
        line: the line that it was on; empty where that is not known.
        left_behind: it could not be stopped, and goes on on a thread of its own.
    """

    reported = True  # by its duration

    def __init__(self, seconds: float, stops: Iterable[TookTooLong]) -> None:
        super().__init__(f"it had not ended after {seconds:g} s of real time")
        self.line = next((stop.line for stop in stops if stop.line), "")
        self.left_behind = any(stop.left_behind for stop in stops)


def own_time() -> float:
    """Seconds on a clock that stands still while this thread could run and the system let others run (on Linux)."""
    try:
        withheld = int(Path("/proc/thread-self/schedstat").read_text("ascii").split()[1]) / 1e9  # it has nanoseconds
    except (OSError, IndexError):  # a kernel that counts nothing has an empty file, or none
        withheld = 0.0
    return perf_counter() - withheld


def within(seconds: float, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What the integrator's `function` returns; what it may be is that of `run_to_end`.

    An alarm stops it, also where it waits, and again until it ends. A coroutine that does not end is left behind on its
    thread. What has no alarm ends when it ends: code in a browser, on Windows or off the main thread, and a call into C
    that holds the interpreter.

    Raises:
        StoppedError: it had not ended after so many seconds of real time.
    """
    context = copy_context()  # of a call that is stopped halfway nothing stays set
    work = partial(context.run, run_to_end, function, *args, **named)
    until = perf_counter() + seconds
    alarm = hasattr(signal, "setitimer") and sys.platform != "emscripten"
    # the time of the call around it may be over first
    if not alarm or until >= DEADLINE.get() or threading.current_thread() is not threading.main_thread():
        return work()
    context.run(DEADLINE.set, until)
    stops: list[TookTooLong] = []
    try:
        return _alarmed(work, seconds, stops)
    finally:
        if stops:  # whatever it made of them
            raise StoppedError(seconds, stops) from None


def _alarmed(work: Callable[[], Any], seconds: float, stops: list[TookTooLong]) -> Any:
    """What `work` returns; after so many seconds it is stopped, and that is noted in `stops`.

    Code that catches its stop meets a second one after `GRACE`, and then so many that one comes outside of its `try`.
    """
    here, running = sys._getframe().f_code, True  # noqa: SLF001  # the documented way
    over = own_time() + seconds

    def ring(_number: int, frame: FrameType | None) -> None:
        steps = [*takewhile(lambda step: step[0].f_code is not here, walk_stack(frame))] if frame else []
        collecting = {getattr(each, "__code__", None) for each in gc.callbacks}
        if any(step.f_code in collecting for step, _line in steps):
            signal.setitimer(signal.ITIMER_REAL, 0.001, AGAIN)  # what is raised in a callback of gc stops nothing
        elif running and not stops and (left := over - own_time()) > 0:  # on a busy machine
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), AGAIN)
        elif running:
            signal.setitimer(signal.ITIMER_REAL, (perf_counter_ns() % 50 + 1) / 1e6 if stops else GRACE, AGAIN)
            if steps:
                stops.append(stop := TookTooLong())
                if len(stops) == 1:
                    stop.line = _own_line(steps)
                raise stop

    usual = signal.signal(signal.SIGALRM, ring)
    began, (before, again) = perf_counter(), signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        return work()
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
        if before:
            signal.setitimer(signal.ITIMER_REAL, max(before - (perf_counter() - began), 0.001), again)


def run_to_end(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What the integrator's `function` returns; an awaitable is awaited to its end on a thread of its own.

    A notebook's kernel has a running loop already, and which thread that is on depends on its version. A browser's
    Python has no threads: there it is awaited on the browser's own loop.
    """
    value = function(*args, **named)
    if not inspect.isawaitable(value):
        return value
    if sys.platform == "emscripten":
        return _in_a_browser(value)

    import asyncio  # a tenth of a session's import time; most code never waits

    tasks: list[asyncio.Task[Any]] = []

    async def awaited() -> Any:
        tasks.extend(filter(None, [asyncio.current_task()]))
        return await value

    def cancel() -> None:
        with suppress(RuntimeError):  # its loop has just ended
            for task in tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)

    return _on_a_thread(lambda: asyncio.run(awaited()), cancel)


def _in_a_browser(awaitable: Awaitable[Any]) -> Any:
    """What an awaitable comes to where there are no threads; the browser's loop goes on if it can suspend Python."""
    from pyodide.ffi import can_run_sync, run_sync  # type: ignore[import-not-found]  # only a browser has it

    outcome = Future[Any]()

    async def awaited() -> None:
        try:
            outcome.set_result(await awaitable)
        except BaseException as error:  # noqa: BLE001  # the outcome's result raises it
            outcome.set_exception(error)

    if can_run_sync():
        run_sync(awaited())
    elif any(awaited().__await__()):  # the future that it waits for; None where it only lets others have their turn
        raise ConfigurationError("Your code waits, which this browser's Python cannot do inside a call. Do not wait.")
    return outcome.result()


def _fulfil(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001  # the future's result raises it
        future.set_exception(error)


def _on_a_thread(work: Callable[[], Any], cancel: Callable[[], None]) -> Any:
    """What `work` returns, on a thread of its own; one that is cancelled and does not end is left behind."""
    future = Future[Any]()
    thread = threading.Thread(target=_fulfil, args=(future, partial(copy_context().run, work)), daemon=True)
    try:
        thread.start()
        while not wait([future], 0.05).done:  # short, so that the kernel's stop button gets in on every system
            pass
    except BaseException as error:  # the alarm, or the stop button
        late = isinstance(error, TookTooLong)
        timer = signal.setitimer(signal.ITIMER_REAL, 0) if late else (0, 0)  # until this one has ended
        ident = thread.ident or 0
        frame = sys._current_frames().get(ident)  # noqa: SLF001  # the documented way
        line = _own_line(walk_stack(frame)) if frame else ""
        cancel()
        if not wait([future], GRACE / 2).done:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(TookTooLong))
            wait([future], GRACE / 2)
        if isinstance(error, TookTooLong):
            ended = future.exception() if future.done() else None
            error.line, error.left_behind = (ended and own_line(ended)) or line, not future.done()
            signal.setitimer(signal.ITIMER_REAL, *timer)
        raise
    thread.join()
    return future.result()


def own_failures() -> tuple[type[BaseException], ...]:
    """The errors with which the integrator's code may fail, for `except`: a task that it cancelled counts, too."""
    from asyncio import CancelledError  # loaded where code has failed; see `run_to_end`

    return Exception, CancelledError


def call_watched(
    call: str,
    seen: Callable[[Event], None],
    function: Callable[..., Any],
    *args: Any,
    spend: Callable[[float], object] = lambda _seconds: None,
    seconds: float = BACK_END_WAIT,
    owner: object = None,
) -> Any:
    """What the integrator's `function` returns, within the time that such a call has.

    The line on which it fails is reported, and its real time where that is long: then it counts in the run's time, too.

    Args:
        call: what the SDK or the wallet called, for a reader.
        seen: takes what is to be reported.
        function: the integrator's, plain or a coroutine function.
        *args: what it is given.
        spend: lets so many seconds pass in the run.
        seconds: how long it may take where the wallet has no limit for `call`.
        owner: whose code it is, an object or a class; by default the object whose method `function` is.

    Raises:
        StoppedError: its time was over.
    """
    seconds, patience = max(LIMITS[call].seconds if call in LIMITS else seconds, NOTICEABLE), PATIENCE.get()
    around, inside, began = COUNTED.get([]), list[float](), own_time()
    ours, token = _is_the_workbooks(owner or getattr(function, "__self__", None)), COUNTED.set(inside)

    def count(outcome: str = "", line: str = "") -> None:
        really = own_time() - began - sum(inside)
        # code that was stopped was late, so it counts a moment more than its time; ours is never slow by itself
        if outcome or (not ours and patience is None and really >= NOTICEABLE):
            really = seconds - sum(inside) + 0.001 if outcome else float(f"{really:.1g}")
            seen(m.CodeTookLong(call, seconds if outcome else really, outcome, line))
            spend(really)
            around.extend([*inside, really])

    try:
        if ours:
            returned = run_to_end(function, *args)  # it ends by itself, and needs no thread
        else:
            multiprocessing = sys.modules.get("multiprocessing")
            if patience is not None and multiprocessing and multiprocessing.parent_process():
                # stdin is the null device there; the next call sets the time anew
                faulthandler.dump_traceback_later(patience + 3 * GRACE, exit=True, file=sys.stdin)
            returned = within(seconds if patience is None else patience, function, *args)
    except StoppedError as stopped:
        count("left behind" if stopped.left_behind else "stopped", stopped.line)
        raise
    except own_failures() as error:
        count()
        # An error may pass several of these calls; the innermost one reports it.
        if (line := own_line(error)) and not getattr(error, "reported", False):
            error.reported = True  # type: ignore[attr-defined]  # an exception takes any attribute
            seen(m.CodeFailed(call, exception_words(error), line))
        raise
    finally:
        COUNTED.reset(token)
    count()
    return returned


def _is_the_workbooks(owner: object) -> bool:
    """Whether this is a class of the package, or an object of one."""
    kind = owner if isinstance(owner, type) else type(owner)
    return kind.__module__.startswith("workbook.")


@contextmanager
def relay_through(relay: Callable[[str, SdkOutput], SdkInput]) -> Iterator[None]:
    """Let `Session.exchange`, called inside the block, ask the run's own back end."""
    token = RELAY.set(relay)
    try:
        yield
    finally:
        RELAY.reset(token)


def find_misspelt(kind: type, base: type) -> Iterator[m.NeverCalled]:
    """The methods of `kind` that look like one of `base` in another spelling, so that they are never called."""
    known = {_plain(name): name for name in dir(base) if not name.startswith("_")}
    for name in [name for owner in kind.__mro__ if not issubclass(base, owner) for name in vars(owner)]:
        if name.startswith("_") or name in known.values() or not callable(getattr(kind, name)):
            continue
        near = nearest(_plain(name), known, 0.85)
        if near and known[near] not in vars(kind):
            yield m.NeverCalled(name, known[near])


def _plain(name: str) -> str:
    """A name without what differs between spellings: `passEntries` is `pass_entries`."""
    return name.replace("_", "").lower()


# Where an error came from, and what may be said of it.


def own_line(error: BaseException) -> str:
    """The integrator's line on which an error was raised or passed, such as `Cell In[3], line 5: return self.cache`.

    Empty where no line of theirs took part.
    """
    return _own_line(reversed(list(walk_tb(error.__traceback__))))


def _own_line(steps: Iterable[tuple[FrameType, int]]) -> str:
    """The integrator's line that comes first in these steps, which begin with the innermost."""
    libraries = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    foreign = ("<frozen", *libraries)
    for frame, number in steps:
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
    short = re.sub(quotes, lambda text: text[0] if len(text[0]) <= 26 else ellipsis, source)
    return re.sub(base64, ellipsis, short)


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
    wrong_arguments = (  # names and numbers, and no value
        r"[\w.<>]{1,120}\(\) (missing \d+ required [\w-]+ arguments?: [\w', ]{1,120}"
        r"|takes [\w ]{1,60} but \d+ (was|were) given"
        r"|got (an unexpected keyword|multiple values for) argument '\w{1,60}'"
        r"|takes no arguments)"
    )
    if isinstance(error, TypeError) and re.fullmatch(wrong_arguments, str(error)):
        return f"TypeError: {error}"
    frames = [frame for frame, _line in walk_tb(error.__traceback__)]
    ours = isinstance(error, WorkbookError) and bool(frames) and _is_ours(frames[-1])
    return f"{type(error).__name__}: {error}" if ours else type(error).__name__
