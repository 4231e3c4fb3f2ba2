"""The two calls as values: build a request, read and judge an answer. No I/O, no clock, no HTTP library.

GET reads activation data (API-1), POST exchanges sdkOutput for sdkInput on the very same path (API-2). The
document shows no status codes (GAP-1), so everything but 200 is one error that keeps status and body.
"""

import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from json.encoder import encode_basestring
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from workbook import errors
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.secrecy import Secret
from workbook.base.terminal import visible

# A problem is an error before its request, elapsed time and attempts are known.
#
# The pure parts return problems instead of raising. So the one place that raises is far from any frame that
# holds a body or a header, and a traceback rendered with its local variables has nothing to give away.


@dataclass(frozen=True, slots=True)
class CallProblem:
    """A kind of error, its message, and the fields that only this kind has.

    Attributes:
        kind: the error to raise.
        message: what happened, what is allowed, what to do next.
        extra: keyword arguments of the kind, beyond request, elapsed and attempts.
    """

    kind: type[errors.ActivationDataError]
    message: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def error(self, request: errors.RedactedRequest, elapsed: float, attempts: int) -> errors.ActivationDataError:
        """The error itself; elapsed in seconds."""
        tries = "" if attempts == 1 else f" ({attempts} attempts)"
        message = f"{request.method} {request.url}: {self.message}{tries}"
        return self.kind(message, request=request, elapsed=elapsed, attempts=attempts, **self.extra)


class BodyReader:
    """Collects and decodes a body, and never holds more than the cap and one chunk.

    Problems are returned, not raised; after the first one the reader takes nothing more.

    Args:
        cap: most bytes of the decoded body.
        content_encoding: the header's value; identity (or nothing) and gzip are understood.
        content_length: the header's value, so that a body declared too large is not read.
    """

    __slots__ = ("_cap", "_decode", "_inflater", "_parts", "_raw", "_size", "problem")

    def __init__(self, cap: int, content_encoding: str = "", content_length: str | None = None) -> None:
        self._cap = cap
        self._parts: list[bytes] = []
        self._size = self._raw = 0
        self._inflater: Any = None  # made where there is something to inflate
        self.problem: CallProblem | None = None
        self._decode = self._keep
        encoding = content_encoding.strip().lower()
        if encoding in ("gzip", "x-gzip"):
            self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)  # gzip alone
            self._decode = self._inflate
        elif encoding not in ("", "identity"):
            self.problem = _malformed("its content-encoding is neither identity nor gzip.")
        elif _declared(content_length) > self._cap:
            self.problem = self._too_large()

    def feed(self, chunk: bytes) -> CallProblem | None:
        """Take the next raw chunk; after a problem there is no use in reading on."""
        if self.problem is None:
            self._raw += len(chunk)
            self._decode(chunk)
            # gzip of data that does not compress is a little longer than the data: header, trailer, 5 bytes per block
            if self._size > self._cap or self._raw > self._cap + 4096:
                self.problem = self._too_large()
        return self.problem

    def finish(self) -> bytes | CallProblem:
        """The whole decoded body, or what is wrong with it."""
        if self.problem is None and self._inflater is not None and not self._inflater.eof:
            self.problem = _malformed("its gzip body is cut short.")
        return self.problem or b"".join(self._parts)

    def answer(self, status: int, headers: tuple[tuple[str, str], ...]) -> "Answer":
        """The answer with this body; where something is wrong with it, with the beginning and what is wrong."""
        body = self.finish()
        return (
            Answer(status, headers, body) if isinstance(body, bytes) else Answer(status, headers, self.partial(), body)
        )

    def partial(self) -> bytes:
        """What was decoded so far, at most the cap: for an error's body."""
        return b"".join(self._parts)[: self._cap]

    def _keep(self, chunk: bytes) -> None:
        room = self._cap + 1 - self._size
        self._parts.append(chunk[:room])
        self._size += min(len(chunk), room)

    def _inflate(self, chunk: bytes) -> None:
        # One byte over the cap is enough to know; max_length keeps a bomb from ever being inflated.
        try:
            out = self._inflater.decompress(chunk, self._cap + 1 - self._size)
        except zlib.error:
            self.problem = _malformed("its gzip body cannot be decoded.")
            return
        self._parts.append(out)
        self._size += len(out)
        if self._inflater.unused_data:
            self.problem = _malformed("there is data after its gzip body.")

    def _too_large(self) -> CallProblem:
        message = f"the answer's body is larger than max_body, {self._cap} bytes."
        return CallProblem(errors.ResponseTooLargeError, message)


def parse_object(body: bytes) -> dict[str, Any] | CallProblem:
    """Parse strict JSON: UTF-8, one object, no key twice, no NaN or Infinity, no bottomless nesting."""
    try:
        value = _PARSE(body.decode("utf-8"))
    except UnicodeDecodeError:
        return _malformed("its body is not UTF-8.")
    except RecursionError:
        return _malformed("its JSON is nested too deep.")
    except _RefusedError as refused:
        return _malformed(refused.why)
    except ValueError:  # JSONDecodeError, and an integer beyond the interpreter's digit limit
        return _malformed("its body is not JSON." if body else "its body is empty.")
    return value if isinstance(value, dict) else _malformed("its JSON is not an object.")


class _RefusedError(ValueError):
    """JSON that the standard library would let pass."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("its JSON has a key twice in one object.")
    return value


def _refuse(_name: str) -> Any:
    raise _RefusedError("its JSON holds NaN or Infinity.")


_PARSE = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse).decode  # json.loads makes one per call


def _malformed(what: str) -> CallProblem:
    allowed = "Expected: a JSON object that carries sdkInput (API-9). Ask the API's operator, or look for a proxy."
    return CallProblem(errors.MalformedResponseError, f"the answer cannot be read: {what} {allowed}")


def _declared(length: str | None) -> int:
    """The declared length; 0 when there is none that can be understood."""
    if length is None or not (length.isascii() and length.isdigit()):
        return 0
    most = 18  # digits; more are beyond every cap
    return int(length) if len(length) <= most else 10**most


# The address of a request: the base is checked once, and the encoded id can never change the path.

_Tests: TypeAlias = tuple[tuple[Callable[[], object], str], ...]

API_PATH = "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"  # API-1, API-2, API-14
# characters (assumed; ids that were seen have 25): opaque data in the id's place is longer, and gets into no address
LONGEST_ID = 200


def encode_id(payment_instrument_id: str) -> str:
    """Percent-encode a payment instrument id as one path segment (API-3).

    Raises:
        ConfigurationError: the id is no string, blank, too long, a dot segment, or not writable in a URL.
    """
    plain = rf"[A-Za-z0-9_~-][A-Za-z0-9._~-]{{0,{LONGEST_ID - 1}}}\Z"
    if isinstance(payment_instrument_id, str) and re.match(plain, payment_instrument_id):
        return payment_instrument_id  # nothing to encode, as in every id that was seen
    if why := _unusable(payment_instrument_id):
        raise errors.ConfigurationError(
            f"The payment instrument id {why}. Allowed: the id as the API gave it, a string."
        )
    return quote(payment_instrument_id, safe="")


def check_base_url(base_url: object) -> str:
    """The base address without its last slash: https, or http to this machine only (REL-2).

    Raises:
        ConfigurationError: says which part is not allowed.
    """
    if not isinstance(base_url, str):
        message = f"base_url must be a string, not {type(base_url).__name__}."
        raise errors.ConfigurationError(message)
    bare = base_url.rstrip("/") if base_url.strip("/") else base_url
    parts = urlsplit(bare) if not (why := wrong_url(bare)) else None
    if parts is not None:
        address = literal(parts.hostname or "")
        # the key stays secret on its way: TLS, or never off this machine
        private = parts.scheme == "https" or parts.hostname == "localhost" or (address and address.is_loopback)
        if parts.path.endswith("/bcl/v2"):
            why = "ends in /bcl/v2, which is added anyway (API-1)"
        elif not private:
            why = "would send the API key over plain http to another machine"
    if why:
        # Beside these characters there may be a password or a key: then the address is not shown.
        named = "" if re.search(r"[@?#]", base_url) else f" {base_url[:200]!r}"
        message = f"base_url{named} {why}. Allowed: https://host[:port][/prefix], or http:// on loopback."
        raise errors.ConfigurationError(message)
    return bare


def _unusable(value: object) -> str:
    """Why this value cannot be an id; empty when it can."""
    if not isinstance(value, str):
        return f"is {type(value).__name__}, not a string"
    tests: _Tests = (
        (lambda: not value.strip(), f"{value[:20]!r} is blank"),
        (
            lambda: len(value) > LONGEST_ID,
            f"is longer than {LONGEST_ID} characters, as an sdkOutput is, which comes second",
        ),
        (lambda: value in (".", ".."), f"{value[:2]!r} is a dot segment and would change the path"),
        (lambda: _has(value, "Cs"), "holds half a surrogate pair"),
        (lambda: _has(value, "Cc"), "holds a control character"),
    )
    return next((why for test, why in tests if test()), "")


def _has(text: str, category: str) -> bool:
    return any(unicodedata.category(character) == category for character in text)


def wrong_url(url: str) -> str:
    """Why this is no server address without a final slash, as the end of a sentence; empty if it is one."""
    if not re.match(r"[!-~]+\Z", url) or "\\" in url:
        return "is empty, or holds a blank, a backslash or a character outside ASCII"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "has no valid host and port"
    host, address = parts.hostname or "", literal(parts.hostname or "")
    dots = any(segment.lower().replace("%2e", ".") in (".", "..") for segment in parts.path.split("/"))
    label = "[A-Za-z0-9_][A-Za-z0-9_-]{0,62}"
    name = rf"(?=.{{1,253}}\Z){label}(\.{label})*\Z"
    netloc = r"(\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]|[^\[\]:]+)(:[0-9]{1,5})?\Z"
    prefix = r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)*\Z"
    tests: _Tests = (
        (lambda: parts.scheme not in ("https", "http"), "has neither the scheme https nor http"),
        (lambda: "@" in parts.netloc, "holds a user name or a password"),
        (lambda: "?" in url, "holds a query"),
        (lambda: "#" in url, "holds a fragment"),
        (lambda: address is None and not re.match(name, host), "has no valid host"),
        (lambda: port == 0 or not re.match(netloc, parts.netloc), "has no valid host and port"),
        (lambda: not re.match(prefix, parts.path) or dots, "has a prefix that is no plain path"),
    )
    return next((why for test, why in tests if test()), "")


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """This text as an IP address, without a zone; None where it is a name."""
    try:
        return ip_address(host) if "%" not in host else None
    except ValueError:
        return None


class Settings:
    """The API's address and the key, checked and encoded once.

    Args:
        base_url: see `check_base_url`.
        api_key: the key, or a `Secret` that already holds it.

    Raises:
        ConfigurationError: either is not allowed.
    """

    __slots__ = ("after", "base_url", "before", "headers", "secret")

    def __init__(self, base_url: str, api_key: str | Secret) -> None:
        self.secret = api_key if isinstance(api_key, Secret) else Secret(api_key)
        del api_key  # a traceback shows a frame's variables
        self.secret.check()
        self.base_url = check_base_url(base_url)
        before, self.after = API_PATH.split("{id}")
        self.before = self.base_url + before
        self.headers = (
            ("x-api-key", self.secret.reveal()),
            ("content-type", "application/json"),  # API-4: on the GET too
            ("accept", "application/json"),
            ("accept-encoding", "identity"),
            ("user-agent", "provisioning-workbook"),
        )

    def __repr__(self) -> str:
        return f"Settings({getattr(self, 'base_url', '...')!r})"


@dataclass(frozen=True, slots=True, repr=False)
class ApiRequest:
    """One complete request; it holds the key, so its repr shows neither headers nor body.

    Attributes:
        method: GET or POST.
        url: the whole address.
        headers: names in lower case; host and content-length are the transport's business.
        body: the bytes, or None for no body at all (API-5).
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None

    def redacted(self) -> errors.RedactedRequest:
        """The request without its headers and its body, for an error."""
        return errors.RedactedRequest(self.method, self.url, len(self.body or b""))

    def __repr__(self) -> str:
        return f"Request({self.method} {self.url}, {len(self.body or b'')} bytes)"


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """One answer, read to its end.

    Attributes:
        status: the HTTP status.
        headers: name and value as they came.
        body: decoded; only the beginning when there is a problem.
        problem: what kept the body from being read whole, or None.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    problem: CallProblem | None = None

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its case; several are joined by commas."""
        return find_header(self.headers, name)

    def __repr__(self) -> str:
        return f"Answer({self.status}, {len(self.body)} bytes)"


@dataclass(frozen=True, slots=True, repr=False)
class ActivationData:
    """The result of both calls (API-9).

    Attributes:
        sdk_input: the value to hand to the SDK.
        extra: fields the document does not know, as parsed; never printed.
    """

    sdk_input: SdkInput
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def __repr__(self) -> str:
        return f"ActivationData({self.sdk_input!r}, {len(self.extra)} unknown fields)"


def build_get(settings: Settings, payment_instrument_id: str) -> ApiRequest:
    """The request that reads activation data: no body, no query (API-1, API-3, API-4, API-5).

    Raises:
        ConfigurationError: the id cannot be used; nothing was sent.
    """
    url = settings.before + encode_id(payment_instrument_id) + settings.after
    return ApiRequest("GET", url, settings.headers)


def build_post(settings: Settings, payment_instrument_id: str, sdk_output: SdkOutput) -> ApiRequest:
    """The request that exchanges sdkOutput: the same path, a JSON object with that one field (API-2, API-6).

    Raises:
        ConfigurationError: the id cannot be used; nothing was sent.
    """
    url = settings.before + encode_id(payment_instrument_id) + settings.after
    body = f'{{"sdkOutput":{encode_basestring(sdk_output.text)}}}'.encode()
    return ApiRequest("POST", url, settings.headers, body)


def as_sdk_output(value: object) -> SdkOutput:
    """The value as SdkOutput; an SdkInput is refused, because mixing the two up is the most usual mistake.

    Raises:
        ConfigurationError: the value is neither SdkOutput nor str.
        OpaqueDataError: the string is empty or no text.
    """
    if isinstance(value, SdkOutput):
        return value
    if not isinstance(value, str):
        hint = "Use SdkOutput.from_bytes for platform B's bytes." if isinstance(value, bytes) else ""
        message = f"post takes an SdkOutput or its text, not {type(value).__name__}. {hint}"
        raise errors.ConfigurationError(message.rstrip())
    return SdkOutput(value)


def judge_answer(answer: Answer, secret: Secret) -> ActivationData | CallProblem:
    """The activation data in an answer, or the problem with it, without the key (REL-2)."""
    if answer.status != 200:
        message = f"the API answered {answer.status}{_peer_words(answer.body, secret)}."
        if answer.status in range(300, 400):
            message += " Redirects are never followed: the API key would travel along (REL-2). Correct base_url."
        return CallProblem(
            errors.ApiStatusError, message, {"status": answer.status, "body": secret.scrub_bytes(answer.body)}
        )
    return read_success(answer)


def read_success(answer: Answer) -> ActivationData | CallProblem:
    """The activation data in an answer with status 200, or the problem with it."""
    fields = answer.problem or parse_object(answer.body)
    if isinstance(fields, CallProblem):
        return fields
    if "sdkInput" not in fields:
        return _no_sdk_input("is missing")
    value = fields.pop("sdkInput")
    if value is None or value == "":
        return _no_sdk_input("is null" if value is None else "is empty")
    try:
        return ActivationData(SdkInput(value), fields)
    except errors.OpaqueDataError:
        return _no_sdk_input("holds half a surrogate pair" if isinstance(value, str) else "is not a string")


def as_curl(method: str, path: str, *, sends: bool) -> str:
    """A request as a curl command to copy.

    The address, the key and an sdkOutput are variables of the environment, so that no copy holds a secret. A back end
    runs it: the API key belongs in no app (API-13).

    Args:
        method: GET or POST.
        path: percent-encoded, from the slash after the host on.
        sends: whether it has an sdkOutput as its body.
    """
    lines = [f'curl -X {method} "$BASE_URL{path}"', '-H "x-api-key: $WORKBOOK_API_KEY"']
    lines += [f'-H "{name}: application/json"' for name in ("content-type", "accept")]
    if sends:
        lines.append('--data "{\\"sdkOutput\\": \\"$SDK_OUTPUT\\"}"')
    return " \\\n  ".join(lines)


def find_header(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The value of a header in any case; several values are joined by commas; None if there is none."""
    values = [value for key, value in headers if key.lower() == name]
    return ", ".join(values) if values else None


def _no_sdk_input(what: str) -> CallProblem:
    message = f"the answer is 200, yet its sdkInput {what} (API-9). Treat it as a failure; do not call the SDK."
    return CallProblem(errors.SdkInputError, message)


def _peer_words(body: bytes, secret: Secret) -> str:
    """The peer's explanation if its body is problem details: printable, short, without the key and opaque data."""
    fields = parse_object(body)
    if isinstance(fields, CallProblem):
        return ""
    problem = ("errorCode", "title", "detail")  # problem details (openapi): tolerated, never relied upon
    texts = [fields[name] for name in problem if isinstance(fields.get(name), str)]
    # Scrubbed before it is cut, or half a key could be left at the end. A peer may repeat an sdkOutput, or the key in a
    # spelling that nobody listed: what is too long for a word is left out.
    no_word = (
        r"(?=[^\s\d]*\d)\S{16,}|\S{40,}"  # with a digit in it, or long
        r"|(?<![^\s:-])(?:[^\s:-]{1,3}[\s:-]+){8,}[^\s:-]{1,3}(?![^\s:-])"  # many short ones, such as a key in groups
    )
    words = re.sub(no_word, "\N{HORIZONTAL ELLIPSIS}", secret.scrub(" / ".join(word for word in texts if word)))
    return f" ({visible(words)[:200]})" if words else ""
