"""The row of a case as one line of text: what it says, what it needs, and each step with what its functions make."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from hashlib import sha256
from inspect import signature

from seen_values import CARD, OTHER, OUTPUT, call

SAMPLES = {1: ("canary",), 3: ("/cards/PI1/provision", b'"body"', call("POST", sent=OUTPUT, card=CARD, other=OTHER))}
"""What a function of a step is given: one that makes a value, and one that changes a request."""


def row(case):
    """A case in one line; its judge is proven by what it says of samples."""
    return f"{case.name}: {in_words(case, 'name')}"


def in_words(thing, *known):
    """Anything in a row, without what is as ever, is known already, or is a judge."""
    if is_dataclass(thing):
        unusual = [one for one in fields(thing) if not usual(one, getattr(thing, one.name))]
        told = [one.name for one in unusual if one.name not in {*known, "judge", "unseen"}]
        return f"{type(thing).__name__}({', '.join(f'{name}={in_words(getattr(thing, name))}' for name in told)})"
    if isinstance(thing, Enum):
        return thing.name
    if callable(thing):
        return f"[{made_by(thing)}]"
    if isinstance(thing, Mapping):
        return f"{{{', '.join(f'{name}: {in_words(value)}' for name, value in thing.items())}}}"
    if isinstance(thing, tuple | list):
        return f"({', '.join(map(in_words, thing))})"
    return f"{{{', '.join(sorted(map(in_words, thing)))}}}" if isinstance(thing, frozenset) else repr(thing)


def usual(one, value):
    """Whether a field has its default."""
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return value is default or (not callable(value) and value == default)


def made_by(function):
    """What a function makes of a sample; of a long text its length and a digest."""
    made = function(*SAMPLES[len(signature(function).parameters)])
    text = made if isinstance(made, str) else re.sub(r" at 0x\w+", "", repr(made))
    return repr(text) if len(text) < 200 else f"{len(text)}, {sha256(text.encode()).hexdigest()[:12]}"
