"""A back end in Python, called without HTTP: loads its callables, and calls them off the event loop.

    get(card, session) -> sdkInput
    post(card, session, sdk_output) -> sdkInput

`session` is a mapping of the names and values that the configuration gives for the cardholder, empty for none. An
exception is a failure, and its text is what the app would read. A callable may be `async`, and is then awaited; any
other runs on a thread of its own, so that a callable which hangs blocks nothing.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from pathlib import Path
from threading import Thread
from types import CodeType
from typing import Any, TypeAlias, cast

from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError
from workbook.relay.model import GET, Adapter, AdapterValue, PhoneCall
from workbook.relay.phone import Phone
from workbook.simulation.http import Request

_Outcome: TypeAlias = tuple[AdapterValue, BaseException | None]
"""What a callable returned, or what it raised."""

PARAMETERS = {"get": ("card", "session"), "post": ("card", "session", "sdk_output")}
"""The callables, and what each is called with."""
NEEDS = "It needs get(card, session) and post(card, session, sdk_output)."
RETURNED, RAISED = 200, 500
"""What counts as the status of a call: a value was returned, or an exception was raised."""


class _SourceLoader(SourceFileLoader):
    """Compiles a module from its source each time.

    Python uses cached byte code where the source has the same size and was changed in the same second. A file
    that a person or a test has just edited may have both.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


@contextmanager
def loaded(name: str, folder: Path) -> Iterator[Adapter]:
    """The adapter of this name, `module:object`, for as long as the block lasts.

    Modules of the folder are found first, compiled from their source, and forgotten at the end, as is the folder in
    `sys.path`: another run may have another address and key, which a module often reads while it is imported.

    Raises:
        ConfigurationError: there is no such adapter, or a callable is missing.
    """
    folder = folder.resolve()

    def is_ours(path: str) -> bool:
        return Path(path).resolve().is_relative_to(folder) and "site-packages" not in Path(path).parts

    def finder(path: str) -> FileFinder:
        if not is_ours(path):
            raise ImportError(path)  # the next hook of sys.path_hooks is asked
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_SourceLoader, SOURCE_SUFFIXES))

    def forget_finders() -> None:
        for path in filter(is_ours, list(sys.path_importer_cache)):
            del sys.path_importer_cache[path]

    # The folder stays on sys.path during the run, because a callable may import something while it is called.
    module, _, attribute = name.partition(":")
    before = dict(sys.modules)
    sys.modules.pop(module, None)
    sys.path.insert(0, str(folder))
    sys.path_hooks.insert(0, finder)
    forget_finders()
    try:
        yield _adapter(module, attribute)
    finally:
        with suppress(ValueError):  # the adapter may have changed sys.path itself
            sys.path.remove(str(folder))
        sys.path_hooks.remove(finder)
        forget_finders()
        # Only packages that are new are forgotten: the folder may hold the workbook itself.
        packages = {known.partition(".")[0] for known in before.keys() - {module}}
        for known, imported in list(sys.modules.items()):
            files = [getattr(imported, "__file__", None), *getattr(imported, "__path__", ())]
            if known.partition(".")[0] not in packages and any(file and is_ours(file) for file in files):
                del sys.modules[known]
        if module in before:
            sys.modules[module] = before[module]


def _adapter(module: str, attribute: str) -> Adapter:
    """Import the module, and return its object of this name once it is checked."""
    try:
        imported = import_module(module)
    except (Exception, SystemExit) as error:  # a module may raise anything while it is imported
        raise ConfigurationError(f"adapter: {module!r} cannot be imported: {type(error).__name__}.") from error
    if not hasattr(imported, attribute):
        public = [name for name in vars(imported) if not name.startswith("_")]
        raise ConfigurationError(f"adapter: {module!r} has no {attribute!r}. {did_you_mean(attribute, public)}")
    return checked_adapter(getattr(imported, attribute), f"{module}:{attribute}")


def checked_adapter(adapter: Any, name: str) -> Adapter:
    """The adapter, once its callables are checked. A class is instantiated first.

    Raises:
        ConfigurationError: the class cannot be instantiated, a callable is missing, or one takes other arguments.
    """
    try:
        instance = adapter() if inspect.isclass(adapter) else adapter
    except (Exception, SystemExit) as error:  # a class may raise anything while it is instantiated
        raise ConfigurationError(f"adapter: {name!r} cannot be made: {type(error).__name__}. It is called without "
                                 "arguments.") from error  # fmt: skip
    for attribute, parameters in PARAMETERS.items():
        if not callable(function := getattr(instance, attribute, None)):
            raise ConfigurationError(f"adapter: {name!r} has no callable {attribute!r}. {NEEDS}")
        try:
            inspect.signature(function).bind(*parameters)
        except ValueError:  # a builtin without a signature: the first call will show
            continue
        except TypeError:
            words = ", ".join(parameters)
            raise ConfigurationError(
                f"adapter: {attribute!r} of {name!r} cannot be called with {words}. {NEEDS}"
            ) from None
    return cast("Adapter", instance)


class PythonPhone(Phone):
    """Calls an adapter as the app would call a back end.

    Args:
        adapter: the callables.
        bound: seconds within which the back end has to answer.
        decoded: the app has the bytes themselves instead of the API's base64 text.
    """

    def __init__(self, adapter: Adapter, bound: float, *, decoded: bool = False) -> None:
        super().__init__(bound)
        self._adapter, self._decoded = adapter, decoded

    async def carry(self, call: PhoneCall) -> None:
        """Make one call, and keep what it returned or raised. The request is never sent: it is for reports."""
        content = b"" if call.sent is None else json.dumps({"sdkOutput": call.sent}).encode()
        call.request = Request(call.operation, call.asked_for, call.session, content)
        session, sent = dict(call.session), call.sent or ""
        if call.operation == GET:
            value, error = await _outcome(self._adapter.get, call.asked_for, session)
        else:
            sdk_output = base64.b64decode(sent) if self._decoded else sent
            value, error = await _outcome(self._adapter.post, call.asked_for, session, sdk_output)
        if error is not None:
            call.status, call.why, call.body = RAISED, f"it raised {type(error).__name__}", _text_of(error)
            return
        body = value.encode("utf-8", "replace") if isinstance(value, str) else value
        call.status, call.body = RETURNED, body if isinstance(body, bytes) else b""
        if self._decoded:
            call.value = base64.b64encode(value).decode() if isinstance(value, bytes) else None
        else:
            call.value = value if isinstance(value, str) else None


def _text_of(error: BaseException) -> bytes:
    """What an app would read of an exception: its text, or its name where it has none."""
    try:
        return str(error).encode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - an exception's text is the adapter's code, which may raise anything
        return type(error).__name__.encode()


async def _outcome(function: Callable[..., Any], *arguments: Any) -> _Outcome:
    """What a callable returned or raised. A time limit ends the wait, and the thread runs on."""
    if inspect.iscoroutinefunction(function):
        try:
            return await function(*arguments), None
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is its answer
            return None, error
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Outcome] = loop.create_future()

    def resolve(outcome: _Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome: _Outcome = function(*arguments), None
        except BaseException as error:  # noqa: BLE001 - SystemExit, too, is its answer and does not end us
            outcome = None, error
        with suppress(RuntimeError):  # the loop is closed: nothing waits for the outcome any more
            loop.call_soon_threadsafe(resolve, outcome)

    Thread(target=run, name="adapter", daemon=True).start()
    return await future
