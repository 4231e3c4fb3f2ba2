"""The address of a request: the base is checked once, and the encoded id can never change the path."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from urllib.parse import SplitResult, quote, urlsplit

from workbook.errors import ConfigurationError

_Tests: TypeAlias = tuple[tuple[Callable[[], object], str], ...]

API_PATH = "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"  # API-1, API-2, API-14

_VERSION_PREFIX = "/bcl/v2"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*\Z")
_LONGEST_ID = 1000  # characters; ours: well below what servers accept as a path once encoded
_URL = re.compile(r"[!-~]+\Z")
_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\Z")
_NETLOC = re.compile(r"(\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]|[^\[\]:]+)(:[0-9]{1,5})?\Z")
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)*\Z")
_DOTS = (".", "..")


def encode_id(payment_instrument_id: str) -> str:
    """Percent-encode a payment instrument id as one path segment (API-3).

    Raises:
        ConfigurationError: the id is no string, blank, too long, a dot segment, or not writable in a URL.
    """
    if isinstance(payment_instrument_id, str) and _PLAIN_ID.match(payment_instrument_id):
        why = _too_long(payment_instrument_id)
        encoded = payment_instrument_id
    else:
        why = _unusable(payment_instrument_id)
        encoded = "" if why else quote(payment_instrument_id, safe="")
    if why:
        message = f"The payment instrument id {why}. Allowed: the id as the API gave it, a string."
        raise ConfigurationError(message)
    return encoded


def check_base_url(base_url: object) -> str:
    """The base address without its last slash: https, or http to this machine only (REL-2).

    Raises:
        ConfigurationError: says which part is not allowed.
    """
    if not isinstance(base_url, str):
        message = f"base_url must be a string, not {type(base_url).__name__}."
        raise ConfigurationError(message)
    bare = base_url.rstrip("/") if base_url.strip("/") else base_url
    why = _wrong_url(bare)
    if why:
        # An address may hold a password or a key in these parts: then it is not repeated.
        shown = "" if re.search(r"[@?#]", base_url) else f" {base_url[:200]!r}"
        message = f"base_url{shown} {why}. Allowed: https://host[:port][/prefix], or http:// on loopback."
        raise ConfigurationError(message)
    return bare


def _too_long(text: str) -> str:
    return f"is longer than {_LONGEST_ID} characters" if len(text) > _LONGEST_ID else ""


def _unusable(value: object) -> str:
    """Why this value cannot be an id; empty when it can."""
    if not isinstance(value, str):
        return f"is {type(value).__name__}, not a string"
    tests: _Tests = (
        (lambda: not value.strip(), f"{value[:20]!r} is blank"),
        (lambda: len(value) > _LONGEST_ID, _too_long(value)),
        (lambda: value in _DOTS, f"{value[:2]!r} is a dot segment and would change the path"),
        (lambda: _has(value, "Cs"), "holds half a surrogate pair"),
        (lambda: _has(value, "Cc"), "holds a control character"),
    )
    return next((why for test, why in tests if test()), "")


def _has(text: str, category: str) -> bool:
    return any(unicodedata.category(character) == category for character in text)


def _wrong_url(url: str) -> str:
    """Why this address cannot be used; empty when it can."""
    if not _URL.match(url) or "\\" in url:
        return "is empty, or holds a blank, a backslash or a character outside ASCII"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "has no valid host and port"
    tests: _Tests = (
        (lambda: parts.scheme not in ("https", "http"), "has neither the scheme https nor http"),
        (lambda: "@" in parts.netloc, "holds a user name or a password"),
        (lambda: "?" in url, "holds a query"),
        (lambda: "#" in url, "holds a fragment"),
        (lambda: not _is_host(parts.hostname or ""), "has no valid host"),
        (lambda: port == 0 or not _NETLOC.match(parts.netloc), "has no valid host and port"),
        (lambda: not _PATH.match(parts.path) or _has_dots(parts.path), "has a prefix that is no plain path"),
        (
            lambda: parts.path.endswith(_VERSION_PREFIX),
            f"ends in {_VERSION_PREFIX}, which is added anyway (API-1)",
        ),
        (lambda: not _is_private(parts), "would send the API key over plain http to another machine"),
    )
    return next((why for test, why in tests if test()), "")


def _has_dots(path: str) -> bool:
    return any(segment.lower().replace("%2e", ".") in _DOTS for segment in path.split("/"))


def _is_host(host: str) -> bool:
    return _address(host) is not None or _HOST.match(host) is not None


def _is_private(parts: SplitResult) -> bool:
    """Whether the key stays secret on its way: TLS, or never off this machine."""
    host = parts.hostname or ""
    address = _address(host)
    return parts.scheme == "https" or host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host) if "%" not in host else None
    except ValueError:
        return None
