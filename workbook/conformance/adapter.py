"""A back end in Python, called without HTTP: its callables, and a carrier that calls them off the loop.

    get(card, session) -> sdkInput
    post(card, session, sdk_output) -> sdkInput
    status(session) -> anything            only where the back end has a part in the extension's status()

`session` is a mapping of the names and values that the configuration gives for the cardholder, empty for none. An
exception is a failure that the app is told; what it says is what the app would read. A callable may be `async`, and is
then awaited; any other runs on a thread of its own, so that one which hangs holds up nothing.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import inspect
import json
import sys
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from workbook.conformance.script import GET, STATUS
from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.http import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from workbook.conformance.phone import Asked

    Value: TypeAlias = str | bytes | None
    Ended: TypeAlias = tuple[Value, BaseException | None]

OPERATIONS = ("get", "post")
WORDS = {"get": ("card", "session"), "post": ("card", "session", "sdk_output"), "status": ("session",)}
"""What each callable is called with."""
NEEDS = "It needs get(card, session) and post(card, session, sdk_output), and may have status(session)."
WELL, FAILED = 200, 500
"""What stands for a status: a value came back, or an exception did."""


class Adapter(Protocol):
    """The callables. Texts are the API's base64 text; bytes where the configuration says so.

    One more, `status(session)`, may be there: it answers the extension's status() from what the back end knows.
    """

    def get(self, card: str, session: Mapping[str, str]) -> Value:
        """The sdkInput of the GET."""
        ...

    def post(self, card: str, session: Mapping[str, str], sdk_output: Any) -> Value:
        """The sdkInput of the POST."""
        ...


def found(name: str, folder: Path) -> Adapter:
    """The adapter of this name, `module:object`; the folder's own modules come first.

    Raises:
        ConfigurationError: there is none, or it has not the callables.
    """
    module, _, inner = name.partition(":")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    sys.modules.pop(module, None)  # it may have read another run's address and key when it was imported
    try:
        loaded: Any = import_module(module)
    except (Exception, SystemExit) as error:  # a module may fail in every way while it is imported
        raise ConfigurationError(f"adapter: {module!r} cannot be imported: {type(error).__name__}.") from error
    if not hasattr(loaded, inner):
        public = [one for one in vars(loaded) if not one.startswith("_")]
        raise ConfigurationError(f"adapter: {module!r} has no {inner!r}. {did_you_mean(inner, public)}")
    return checked(getattr(loaded, inner), name)


def checked(adapter: Any, name: str) -> Adapter:
    """An adapter with its callables; a class is made first.

    Raises:
        ConfigurationError: the class cannot be made, one is missing, or one takes other words.
    """
    try:
        made = adapter() if inspect.isclass(adapter) else adapter
    except (Exception, SystemExit) as error:  # whatever its own code raises
        raise ConfigurationError(f"adapter: {name!r} cannot be made: {type(error).__name__}. It is called without "
                                 "arguments.") from error  # fmt: skip
    for one in OPERATIONS:
        if not callable(getattr(made, one, None)):
            raise ConfigurationError(f"adapter: {name!r} has no callable {one!r}. {NEEDS}")
    for one, words in WORDS.items():
        if (called := getattr(made, one, None)) is not None and not _takes(called, words):
            raise ConfigurationError(f"adapter: {one!r} of {name!r} cannot be called with {', '.join(words)}. {NEEDS}")
    return cast("Adapter", made)


def _takes(called: Any, words: tuple[str, ...]) -> bool:
    """Whether so many words are taken; what tells nothing of itself is tried later."""
    with suppress(ValueError):
        try:
            inspect.signature(called).bind(*words)
        except TypeError:
            return False
    return True


class OverPython:
    """Calls an adapter as the phone's app would call a back end.

    Args:
        adapter: the callables.
        decoded: the app has the bytes themselves, and not the API's base64 text.
    """

    def __init__(self, adapter: Adapter, *, decoded: bool = False) -> None:
        self._adapter, self._decoded = adapter, decoded

    async def close(self) -> None:
        """Nothing is kept open."""

    async def carry(self, asked: Asked, facts: dict[str, Any]) -> None:
        """One call, and what it returned or raised; the request is how a report tells it."""
        content = json.dumps({"sdkOutput": asked.sent}).encode() if asked.sent is not None else b""
        facts["request"] = Request(asked.operation, asked.instrument, asked.cardholder.session, content)
        value, error = await _ended(*self._call(asked))
        if error is not None:
            why = f"it raised {type(error).__name__}"
            facts |= {"status": FAILED, "body": _words_of(error).encode("utf-8", "replace"), "why": why}
            return
        body = value.encode("utf-8", "replace") if isinstance(value, str) else value
        facts |= {"status": WELL, "body": body if isinstance(body, bytes) else b"", "value": self._text(value)}

    def _call(self, asked: Asked) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        session = dict(asked.cardholder.session)
        if asked.operation == STATUS:
            return cast("Any", self._adapter).status, (session,)
        if asked.operation == GET:
            return self._adapter.get, (asked.instrument, session)
        sent = asked.sent or ""
        return self._adapter.post, (asked.instrument, session, base64.b64decode(sent) if self._decoded else sent)

    def _text(self, value: Value) -> str | None:
        with suppress(ValueError, binascii.Error):
            if self._decoded:
                return base64.b64encode(value).decode() if isinstance(value, bytes) else None
            return value if isinstance(value, str) else None
        return None


async def _ended(called: Callable[..., Any], words: tuple[Any, ...]) -> Ended:
    """What a callable returned or raised; only a time limit or Ctrl-C leaves it behind."""
    if inspect.iscoroutinefunction(called):
        try:
            return await called(*words), None
        except Exception as error:  # noqa: BLE001  # whatever the adapter raises is its answer
            return None, error
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ended] = loop.create_future()

    def tell(ended: Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def run() -> None:
        ended = _tried(called, words)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, ended)

    Thread(target=run, name="adapter", daemon=True).start()
    return await future


def _words_of(error: BaseException) -> str:
    """What an exception says, as an app would read it; one that cannot say it has its name alone."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # its own words are its own code
        return type(error).__name__


def _tried(called: Callable[..., Any], words: tuple[Any, ...]) -> Ended:
    try:
        return called(*words), None
    except BaseException as error:  # noqa: BLE001  # also SystemExit: it is the adapter's answer, and not ours
        return None, error
