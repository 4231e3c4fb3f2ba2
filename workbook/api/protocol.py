"""The two calls as values: build a request, judge an answer. No I/O, no clock, no HTTP library.

GET reads activation data (API-1), POST exchanges sdkOutput for sdkInput on the very same path (API-2). The
document shows no status codes (GAP-1), so everything but 200 is one error that keeps status and body.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbook.api.address import API_PATH, check_base_url, encode_id
from workbook.api.body import Problem, parse_object
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import ApiStatusError, ConfigurationError, OpaqueDataError, RedactedRequest, SdkInputError
from workbook.secrecy import Secret

OK = 200
_REDIRECTS = range(300, 400)
_LONGEST_QUOTE = 200  # characters of the peer's words in a message
_PROBLEM_FIELDS = ("errorCode", "title", "detail")  # problem details (openapi): tolerated, never relied upon
_BEFORE_ID, _AFTER_ID = API_PATH.split("{id}")
_WRITE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # json.dumps would make one for each call
_COMMON_HEADERS = (
    ("content-type", "application/json"),  # API-4: on the GET too
    ("accept", "application/json"),
    ("accept-encoding", "identity"),
    ("user-agent", "provisioning-workbook"),
)


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
        self.before, self.after = self.base_url + _BEFORE_ID, _AFTER_ID
        self.headers = (("x-api-key", self.secret.reveal()), *_COMMON_HEADERS)

    def __repr__(self) -> str:
        return f"Settings({getattr(self, 'base_url', '...')!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Request:
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

    def redacted(self) -> RedactedRequest:
        """The request without its headers and its body, for an error."""
        return RedactedRequest(self.method, self.url, len(self.body or b""))

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
    problem: Problem | None = None

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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        return f"ActivationData({self.sdk_input!r}, {len(self.extra)} unknown fields)"


def build_get(settings: Settings, payment_instrument_id: str) -> Request:
    """The request that reads activation data: no body, no query (API-1, API-3, API-4, API-5).

    Raises:
        ConfigurationError: the id cannot be used; nothing was sent.
    """
    url = settings.before + encode_id(payment_instrument_id) + settings.after
    return Request("GET", url, settings.headers)


def build_post(settings: Settings, payment_instrument_id: str, sdk_output: SdkOutput | str) -> Request:
    """The request that exchanges sdkOutput: the same path, a JSON object with that one field (API-2, API-6).

    Raises:
        ConfigurationError: the id or the type of sdk_output cannot be used; nothing was sent.
        OpaqueDataError: the sdkOutput is empty or no text; nothing was sent.
    """
    text = as_sdk_output(sdk_output).text
    url = settings.before + encode_id(payment_instrument_id) + settings.after
    body = _WRITE({"sdkOutput": text}).encode("utf-8")
    return Request("POST", url, settings.headers, body)


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
        raise ConfigurationError(message.rstrip())
    return SdkOutput(value)


def judge(answer: Answer, secret: Secret) -> ActivationData | Problem:
    """The activation data in an answer, or the problem with it, without the key (REL-2)."""
    if answer.status != OK:
        return _status_problem(answer, secret)
    fields = answer.problem or parse_object(answer.body)
    return fields if isinstance(fields, Problem) else _activation_data(fields)


def find_header(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The value of a header in any case; several values are joined by commas; None if there is none."""
    values = [value for key, value in headers if key.lower() == name]
    return ", ".join(values) if values else None


def _activation_data(fields: dict[str, Any]) -> ActivationData | Problem:
    if "sdkInput" not in fields:
        return _no_sdk_input("is missing")
    value = fields.pop("sdkInput")
    if value is None:
        return _no_sdk_input("is null")
    if value == "":
        return _no_sdk_input("is empty")
    try:
        return ActivationData(SdkInput.from_json(value), fields)
    except OpaqueDataError:
        return _no_sdk_input("holds half a surrogate pair" if isinstance(value, str) else "is not a string")


def _no_sdk_input(what: str) -> Problem:
    message = f"the answer is 200, yet its sdkInput {what} (API-9). Treat it as a failure; do not call the SDK."
    return Problem(SdkInputError, message)


def _status_problem(answer: Answer, secret: Secret) -> Problem:
    words = _peer_words(answer.body, secret)
    message = f"the API answered {answer.status}{words}."
    if answer.status in _REDIRECTS:
        message += " Redirects are never followed: the API key would travel along (REL-2). Correct base_url."
    extra = {"status": answer.status, "body": secret.scrub_bytes(answer.body)}
    return Problem(ApiStatusError, message, extra)


def _peer_words(body: bytes, secret: Secret) -> str:
    """The peer's explanation if its body is problem details: printable, short, without the key."""
    fields = parse_object(body)
    if isinstance(fields, Problem):
        return ""
    found = [fields[name] for name in _PROBLEM_FIELDS if isinstance(fields.get(name), str)]
    # Scrubbed before it is cut, or half a key could be left at the end.
    words = secret.scrub(" / ".join(word for word in found if word))
    plain = "".join(character if character.isprintable() else "?" for character in words)
    return f" ({plain[:_LONGEST_QUOTE]})" if plain else ""
