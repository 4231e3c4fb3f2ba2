"""The phone's side: makes the calls that the issuer's app would make, and keeps the result of each.

A back end is reached over HTTP, at the configured origin and nowhere else, or through a Python adapter.
"""

import asyncio
import base64
import inspect
import json
import os
import ssl
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib import import_module, invalidate_caches
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from time import monotonic
from typing import Any, TypeAlias, cast
from urllib.parse import quote

import httpx
from jsonpointer import JsonPointer, JsonPointerException

from workbook.api.net import Origin, Resolve, tls_error
from workbook.api.protocol import BodyReader, CallProblem
from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ResponseTooLargeError
from workbook.simulation.http import Request, header_values
from workbook.tools.conform.back_end import model
from workbook.tools.conform.back_end.model import GET, RAW, Adapter, BackEndOperation, Broke, Manner, PhoneCall, Target

# What an adapter's callable returned, or what it raised.
_Outcome: TypeAlias = tuple[model.AdapterValue, BaseException | None]

# TLS: which certificates are trusted. A certificate is always verified.


def trusting_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """A context that trusts the certificates of this machine, and those in a file.

    Raises:
        ConfigurationError: the file cannot be read, or holds no certificate.
    """
    if ca_file is None:
        return _context("", 0)
    wanted = "Give a file with certificates in PEM, which begin with -----BEGIN CERTIFICATE-----."
    try:
        return _context(str(ca_file), ca_file.stat().st_mtime_ns)
    except ssl.SSLError:
        raise ConfigurationError(f"ca_file: no certificate is in {str(ca_file)!r:.100}. {wanted}") from None
    except OSError as error:
        raise ConfigurationError(f"ca_file: cannot read {str(ca_file)!r:.100}: {error.strerror}. {wanted}") from None


@lru_cache(maxsize=4)
def _context(ca_file: str, _changed: int) -> ssl.SSLContext:
    """One context for each state of a file, because loading the machine's certificates takes long."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


# The HTTP client of the phone's side. It goes to one origin only: the origin's addresses are looked up once and then
# kept, so a name that changes its address (DNS rebinding) changes nothing. It follows no redirect, uses no proxy of the
# environment, keeps no cookie, and reads an answer up to a limit.

# Codings that the phone unpacks. It asks for gzip alone, and leaves any other coding, or two at once, as it is.
UNPACKED = frozenset({"identity", "gzip", "x-gzip"})
# Bytes of an answer that are read, unpacked. The largest that must arrive has 1 MiB.
LARGEST_READ = 4 * 1_048_576


class OriginClient(AbstractAsyncContextManager["OriginClient"]):
    """An HTTP client for one origin.

    Args:
        origin: which.
        seconds: time limit of each step of an exchange.
        resolve: looks up names; None asks the system.
        ca_file: certificates that are trusted besides the machine's own.

    Raises:
        ConfigurationError: that file holds no certificate.
    """

    def __init__(
        self, origin: Origin, seconds: float, resolve: Resolve | None = None, ca_file: Path | None = None
    ) -> None:
        self._origin, self._resolve = origin, resolve
        self._addresses: list[str] = []
        self._client = httpx.AsyncClient(
            verify=trusting_context(ca_file),  # always verified; the context is made once for all clients
            trust_env=False,
            follow_redirects=False,
            timeout=seconds,
            limits=httpx.Limits(max_connections=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": "workbook-conform", "accept-encoding": "gzip"},
        )

    async def __aexit__(self, *_error: object) -> None:
        await self._client.aclose()

    async def exchange(
        self,
        call: PhoneCall,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> None:
        """Send one request, and record the request and the answer in the call; an error is recorded, not raised.

        Args:
            call: gets the request and the answer.
            method: of the request.
            path: below the origin's prefix, with a query where there is one.
            headers: besides those that every request has.
            body: of the request; sent in chunks where the call's manner says so.

        Raises:
            ConfigurationError: the origin's name has an address that is never contacted.
        """
        try:
            self._addresses = self._addresses or await self._origin.addresses(self._resolve)
        except OSError:  # the name has no address
            self._addresses = []
        request = self._client.build_request(
            method,
            self._origin.url(path, self._origin.host),
            headers=[("host", self._origin.authority), *headers],
            content=_in_chunks(body or b"") if call.manner is Manner.CHUNKED else body,
            extensions={"sni_hostname": self._origin.host},
        )
        raw = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        call.request = Request(request.method, request.url.raw_path.decode("ascii"), tuple(raw), body or b"")
        # The URL names the address and not the host, so httpx looks up nothing; Host and SNI keep the name.
        call.broke = Broke.REFUSED
        for address in self._addresses:
            request.url = httpx.URL(self._origin.url(path, address))
            await self._send(request, call)
            if call.broke is not Broke.REFUSED:
                self._addresses = [address]
                break

    async def _send(self, request: httpx.Request, call: PhoneCall) -> None:
        """Send the request to one address."""
        call.broke, call.why = Broke.NO, ""
        try:
            answer = await self._client.send(request, stream=True)
            try:
                await _read(answer, call)
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:
            tls = tls_error(error)
            # httpx has one error for a connection that ended early and for bytes that are no HTTP: its words differ.
            ended = str(error).startswith(("Server disconnected", "peer closed"))
            if isinstance(error, httpx.RemoteProtocolError) and not ended:
                call.broke = Broke.NO_HTTP
            elif isinstance(tls, ssl.SSLCertVerificationError):
                call.broke, call.why = Broke.UNTRUSTED, _tls_words(tls.verify_message)
            elif tls is not None:
                call.broke, call.why = Broke.NO_TLS, _tls_words(tls.reason or type(tls).__name__)
            elif isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                call.broke = Broke.REFUSED
            else:
                call.broke = Broke.LATE if isinstance(error, httpx.TimeoutException) else Broke.LOST


def _tls_words(message: str) -> str:
    """What is wrong, in the words of the TLS library."""
    return message.lower().replace("_", " ").rstrip(".")


async def _in_chunks(body: bytes) -> AsyncIterator[bytes]:
    """A body whose length is not announced."""
    yield body[: len(body) // 2]
    yield body[len(body) // 2 :]


async def _read(answer: httpx.Response, call: PhoneCall) -> None:
    """Read an answer into a call. Unpacking is bounded: a few kilobytes of gzip can hold gigabytes."""
    headers = tuple(answer.headers.multi_items())
    coding = answer.headers.get("content-encoding", "").strip().lower()
    reader = BodyReader(LARGEST_READ, coding if coding in UNPACKED else "", answer.headers.get("content-length"))
    try:
        async for piece in answer.aiter_raw():
            if reader.feed(piece):
                break
    finally:  # a time limit may end the call here
        beginning = "".join(f"{name}: {value}\n" for name, value in headers).encode("utf-8", "replace")
        call.partial = beginning + reader.partial()
    body = reader.finish()
    if isinstance(body, CallProblem):
        huge = body.kind is ResponseTooLargeError
        call.broke, call.status = (Broke.HUGE, answer.status_code) if huge else (Broke.SPOILT, None)
    else:
        call.status, call.headers, call.body, call.partial = answer.status_code, headers, body, b""


async def listens(origin: Origin, tries: int = 3) -> bool:
    """Whether a connection can be made; several tries leave a program about a second to restart."""
    pause = 0.4  # seconds between two tries
    for attempt in range(tries):
        await asyncio.sleep(pause if attempt else 0)
        with suppress(OSError):
            for address in await origin.addresses():
                with suppress(OSError, TimeoutError):
                    async with asyncio.timeout(pause * 2):
                        _reader, writer = await asyncio.open_connection(address, origin.port)
                    writer.close()
                    return True
    return False


# The phone itself: one for each way in which a back end is reached.


class Phone(AbstractAsyncContextManager["Phone"]):
    """The app of one platform, on as many phones as there are calls at the same time.

    Args:
        bound: seconds within which the back end has to answer. A call is waited for a little longer, so that a late
            answer can be distinguished from no answer.
    """

    def __init__(self, bound: float) -> None:
        self._wait = min(bound * 1.25, bound + 1.0)

    async def __aexit__(self, *_error: object) -> None:
        """Make no more calls."""

    async def call(self, call: PhoneCall) -> PhoneCall:
        """Make a call and record its result in it; an error is recorded, not raised."""
        call.began = monotonic()
        try:
            async with asyncio.timeout(self._wait if call.cancel is None else call.cancel):
                await self.carry(call)
        except TimeoutError:
            call.broke = Broke.LATE if call.cancel is None else Broke.CANCELLED
        call.ended = monotonic()
        return call

    @abstractmethod
    async def carry(self, call: PhoneCall) -> None:
        """Make the call, and record its request and its answer in it as they become known."""


class HttpPhone(Phone):
    """Calls a back end over HTTP, as the configuration says that the app does.

    Args:
        target: the back end.
        surface: what it offers this platform.
    """

    def __init__(self, target: Target, surface: model.Surface) -> None:
        super().__init__(target.bound)
        self._operations = {GET: surface.get, model.POST: surface.post}
        self._surface = surface
        self._client = OriginClient(Origin.of(target.base_url), self._wait, ca_file=target.ca_file)

    async def __aexit__(self, *_error: object) -> None:
        """Close every connection."""
        await self._client.__aexit__()

    async def carry(self, call: PhoneCall) -> None:
        """One exchange, and the sdkInput in its answer."""
        operation = self._operations[call.operation]
        body = _request_body(operation, call, decoded=self._surface.decoded)
        headers = [*self._surface.headers, *call.session]
        if body is not None and not header_values(headers, "content-type"):
            raw = "application/octet-stream" if self._surface.decoded else "text/plain; charset=utf-8"
            headers.append(("content-type", raw if operation.sdk_output == RAW else "application/json"))
        if call.manner is Manner.UPPER_CASE:
            headers = [(name.upper(), value) for name, value in headers]
        elif call.manner is Manner.CLOSING:
            headers.append(("connection", "close"))
        elif call.manner is Manner.UNPACKED:
            headers.append(("accept-encoding", "identity"))
        elif call.manner is Manner.EXPECTING:
            headers.append(("expect", "100-continue"))
        elif call.manner is Manner.WITH_CHARSET:
            json_type = ("content-type", "application/json")
            headers = [(*json_type[:1], "Application/JSON; charset=UTF-8") if h == json_type else h for h in headers]
        path = operation.path.replace("{id}", quote(call.asked_for, safe=""))
        if call.tamper is not None:
            path, body = call.tamper(path, body, call)
        await self._client.exchange(call, operation.method, path, headers, body)
        if not call.broke and (
            operation.sdk_input != RAW or call.status in model.SUCCESS
        ):  # a failure's body is no value
            call.value = _sdk_input(call.body, operation, decoded=self._surface.decoded)


def _request_body(operation: BackEndOperation, call: PhoneCall, *, decoded: bool) -> bytes | None:
    """The sdkOutput as the configuration places it, and the id if it belongs in the body; None for no body."""
    if operation.sdk_output == RAW:
        return base64.b64decode(call.sent or "") if decoded else (call.sent or "").encode()
    values = ((operation.id, call.asked_for), (operation.sdk_output, call.sent))
    placed = {pointer: value for pointer, value in values if pointer is not None and value is not None}
    return json.dumps(request_document(placed), ensure_ascii=False).encode() if placed else None


def request_document(placed: Mapping[str, str]) -> Any:
    """The JSON document that has each value at its pointer; where names count from 0, they are places in a list."""
    document: dict[str, Any] = {}
    for pointer, value in placed.items():
        *above, last = JsonPointer(pointer).parts
        inner = document
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return _with_lists(document)


def _with_lists(document: Any) -> Any:
    if not isinstance(document, dict):
        return document
    inner = {name: _with_lists(value) for name, value in document.items()}
    counted = [str(at) for at in range(len(inner))]
    return [inner[name] for name in counted] if inner.keys() == set(counted) else inner


def _sdk_input(body: bytes, operation: BackEndOperation, *, decoded: bool) -> str | None:
    """The sdkInput of an answer, as the API's text; None where it is not at its configured place."""
    try:
        if operation.sdk_input == RAW:
            return base64.b64encode(body).decode() if decoded else body.decode()
    except ValueError:
        return None
    return text_at(operation.sdk_input, body)


def text_at(pointer: str | None, body: bytes) -> str | None:
    """The text at this JSON pointer of a body; None where there is none."""
    try:
        value = None if pointer is None else JsonPointer(pointer).resolve(json.loads(body))
    except (ValueError, RecursionError, JsonPointerException):
        return None
    return value if isinstance(value, str) else None


# A back end in Python, called without HTTP and off the event loop:
#
#     get(card, session) -> sdkInput
#     post(card, session, sdk_output) -> sdkInput
#
# `session` is a mapping of the names and values that the configuration gives for the cardholder, empty for none. An
# exception is a failure, and its text is what the app would read. A callable may be `async`, and is then awaited; any
# other runs on a thread of its own, so that a callable which hangs blocks nothing.


@contextmanager
def load_adapter(name: str, folder: Path) -> Iterator[Adapter]:
    """The adapter of this name, `module:object`, for as long as the block lasts.

    The modules of the folder are imported anew, from their source, and forgotten at the end: another run may have
    another address and key, which a module often reads while it is imported.

    Raises:
        ConfigurationError: there is no such adapter, or a callable is missing.
    """
    module, _, attribute = name.partition(":")
    before, folder = dict(sys.modules), folder.resolve()
    sys.modules.pop(module, None)
    # The folder stays on sys.path during the run, because a callable may import something while it is called.
    sys.path.insert(0, str(folder))
    # Python takes cached byte code for a source of the same size that was changed in the same second. In a cache of its
    # own there is none.
    cache, sys.pycache_prefix = sys.pycache_prefix, mkdtemp(prefix="workbook-adapter-")
    invalidate_caches()
    try:
        yield _adapter(module, attribute)
    finally:
        rmtree(sys.pycache_prefix, ignore_errors=True)
        sys.pycache_prefix = cache
        with suppress(ValueError):  # the adapter may have changed sys.path itself
            sys.path.remove(str(folder))
        for new in sys.modules.keys() - before.keys() | {module}:
            if str(getattr(sys.modules.get(new), "__file__", None) or "").startswith(f"{folder}{os.sep}"):
                del sys.modules[new]
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
    return check_adapter(getattr(imported, attribute), f"{module}:{attribute}")


def check_adapter(adapter: Any, name: str) -> Adapter:
    """The adapter, once its callables are checked. A class is instantiated first.

    Raises:
        ConfigurationError: the class cannot be instantiated, a callable is missing, or one takes other arguments.
    """
    try:
        instance = adapter() if inspect.isclass(adapter) else adapter
    except (Exception, SystemExit) as error:  # a class may raise anything while it is instantiated
        raise ConfigurationError(f"adapter: {name!r} cannot be made: {type(error).__name__}. It is called without "
                                 "arguments.") from error  # fmt: skip
    needs = "It needs get(card, session) and post(card, session, sdk_output)."
    for attribute, parameters in (("get", ("card", "session")), ("post", ("card", "session", "sdk_output"))):
        if not callable(function := getattr(instance, attribute, None)):
            raise ConfigurationError(f"adapter: {name!r} has no callable {attribute!r}. {needs}")
        try:
            inspect.signature(function).bind(*parameters)
        except ValueError:  # a builtin without a signature: the first call will show
            continue
        except TypeError:
            words = ", ".join(parameters)
            raise ConfigurationError(
                f"adapter: {attribute!r} of {name!r} cannot be called with {words}. {needs}"
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
            # an exception counts as a 500, and a value as a 200
            call.status, call.why, call.body = 500, f"it raised {type(error).__name__}", _text_of(error)
            return
        body = value.encode("utf-8", "replace") if isinstance(value, str) else value
        call.status, call.body = 200, body if isinstance(body, bytes) else b""
        if self._decoded and isinstance(value, bytes):
            call.value = base64.b64encode(value).decode()
        elif not self._decoded and isinstance(value, str):
            call.value = value


def _text_of(error: BaseException) -> bytes:
    """What an app would read of an exception: its text, or its name where it has none."""
    try:
        return str(error).encode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - an exception's text is the adapter's code, which may raise anything
        return type(error).__name__.encode()


async def _outcome(function: Callable[..., Any], *arguments: Any) -> _Outcome:
    """What a callable returned or raised. A time limit ends the wait, and the thread runs on."""
    future = Future[_Outcome]()
    future.set_running_or_notify_cancel()  # whoever waits may go away: the thread keeps a place for its outcome

    def run() -> None:
        try:
            outcome: _Outcome = function(*arguments), None
        except BaseException as error:  # noqa: BLE001 - SystemExit, too, is its answer and does not end us
            outcome = None, error
        future.set_result(outcome)

    Thread(target=run, name="adapter", daemon=True).start()
    value, error = await asyncio.wrap_future(future)
    if not inspect.isawaitable(value):
        return value, error
    try:
        return await value, None
    except Exception as failed:  # noqa: BLE001 - whatever the adapter raises is its answer
        return None, failed
