"""What is secret in the headers of a back end's configuration, and in the values of a run."""

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from itertools import filterfalse


class FromEnvironment(str):
    """A header's value that an environment variable holds: a secret, whatever it looks like."""

    __slots__ = ()


def suspect_header(name: str, value: str) -> str:
    """Why a header with this value may be a secret; empty where it looks harmless."""
    if re.search("auth|cookie|token|secret|passw|session|credential|signature|key", name, re.IGNORECASE):
        return "its name says that it holds a secret"
    mixed = r"(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{16,}"  # letters and digits
    return "it looks like a secret" if re.search(rf"(?i:bearer|basic|token)\s|{mixed}", value) else ""


def secret_values(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The values that are secrets: those from the environment, and those that look like one.

    Every other value is public: anybody can read it in the configuration. If a report had to hide a public value, such
    as `platform` or `127.0.0.1`, no report could be written.
    """
    return (value for name, value in headers if isinstance(value, FromEnvironment) or suspect_header(name, value))


def is_weak(value: str) -> bool:
    """Whether a value is a plain word or an address: any report contains such text without giving a secret away."""
    word, address, media_type = "[A-Za-z]{0,15}", r"[0-9]{1,3}(\.[0-9]{1,3})+(:[0-9]+)?", "[a-z]+/[a-z0-9.+*-]+(;.*)?"
    return re.match(rf"({word}|{address}|{media_type})\Z", value, re.IGNORECASE) is not None


def session_secrets(values: Iterable[str]) -> Iterator[str]:
    """The secrets in values of headers: each value, and the parts of it that may travel without the rest."""
    for value in filterfalse(is_weak, values):
        parts = re.split(r"[\s;,]+", value)
        every = {value, *parts, *(part.partition("=")[2] for part in parts)}
        yield from (part for part in every if not is_weak(part))


def canaries_in(value: str) -> set[str]:
    """The canaries in an opaque value, also where it is base64."""
    try:
        inner = b64decode(value, validate=True).decode("latin-1")
    except ValueError:
        inner = ""
    return set(re.findall("canary-[0-9a-f]{18}", f"{value}\n{inner}"))
