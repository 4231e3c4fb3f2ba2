"""The parameters of the notebooks, as a typed model.

papermill guesses types (`-p id 0012345` arrives as a number) and only warns about an unknown name.
Here a value is what the model says or an error that says what is allowed; nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIANTS: Final = ("before-0.4.0", "from-0.4.0")
VARIANTS_B: Final = ("earlier", "later")
SEED_LIMIT: Final = 2**32
SIMULATED_INSTRUMENT: Final = "PISIMULATED00000000000001"
LONGEST_ID: Final = 1000
"""Characters of a payment instrument id; the client takes no longer one."""

_KEY_WORDS: Final = ("key", "token", "secret", "password", "passwd", "credential", "authorization")
_LONGEST_QUOTE: Final = 60  # characters
_LONGEST_NUMBER: Final = 128  # bits


class Source(StrEnum):
    """Who answers: the simulation, or a real API at `base_url`."""

    SIMULATED = "simulated"
    API = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a run of the notebooks may be told.

    Attributes:
        source: who answers. Settings in the environment alone never switch it.
        base_url: the API's address, only with `source="api"`; None means the environment's WORKBOOK_BASE_URL.
        payment_instrument_id: the `{id}` of both calls; text, so leading zeros stay.
        variant: which flow of platform A, one of `VARIANTS`.
        variant_b: which variant of platform B, one of `VARIANTS_B`.
        seed: of everything that the simulation makes up, 0 to 2**32 - 1.
        sdk_output_file: path of a file with a real sdkOutput, only with `source="api"`.

    Raises:
        ParameterError: a value is not what its parameter allows.
    """

    source: Source = Source.SIMULATED
    base_url: str | None = None
    payment_instrument_id: str = SIMULATED_INSTRUMENT
    variant: str = "from-0.4.0"
    variant_b: str = "later"
    seed: int = 7
    sdk_output_file: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", _choice("source", self.source, Source))
        _identifier(self.payment_instrument_id)
        _choice("variant", self.variant, VARIANTS)
        _choice("variant_b", self.variant_b, VARIANTS_B)
        _seed(self.seed)
        _address(self.base_url)
        _file(self.sdk_output_file)
        self._belong_together()

    def _belong_together(self) -> None:
        for name in ("base_url", "sdk_output_file"):
            if self.source is Source.SIMULATED and getattr(self, name) is not None:
                raise ParameterError(
                    f"{name} was given while source is 'simulated', where it means nothing. "
                    f"Give source='api' as well, or leave {name} out."
                )

    @classmethod
    def of(cls, **values: Any) -> Parameters:
        """The parameters that a notebook's parameters cell holds.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        for name in values:
            _known(name)
        return cls(**values)

    @classmethod
    def from_strings(cls, values: Mapping[str, str]) -> Parameters:
        """The parameters of a command line's `-p NAME=VALUE`.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        typed: dict[str, Any] = dict(values)
        if "seed" in typed:
            typed["seed"] = _whole_number(typed["seed"])
        return cls.of(**typed)

    def as_papermill(self) -> dict[str, Any]:
        """Every parameter as the plain value that papermill writes into a cell."""
        return asdict(self) | {"source": self.source.value}


def parameter_names() -> tuple[str, ...]:
    """The names that a parameters cell may declare."""
    return tuple(field.name for field in fields(Parameters))


def quoted(value: object) -> str:
    """A value as an error may repeat it: short, and nothing of an object but its type."""
    if isinstance(value, str) and len(value) > _LONGEST_QUOTE:
        return f"{value[:_LONGEST_QUOTE]!r}... ({len(value)} characters)"
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a whole number of {value.bit_length()} bits"  # Python refuses to write the longest ones
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return f"a value of type {type(value).__name__}"


def _known(name: str) -> None:
    if name in parameter_names():
        return
    if any(word in re.sub(r"[^a-z]", "", name.lower()) for word in _KEY_WORDS):
        raise ParameterError(
            f"{name!r} looks like a key. A parameter is saved in the notebook's file, so keys come from the "
            "environment variable WORKBOOK_API_KEY, never from a cell or a command line."
        )
    raise ParameterError(f"No parameter {quoted(name)}. {did_you_mean(name, parameter_names())}")


def _choice(name: str, value: object, allowed: Any) -> Any:
    texts = [str(item) for item in allowed]
    if not isinstance(value, str) or value not in texts:
        raise ParameterError(f"{name} is {quoted(value)}; allowed: {', '.join(texts)}.")
    return Source(value) if allowed is Source else value


def _identifier(value: object) -> None:
    if isinstance(value, int | float):
        raise ParameterError(
            f"payment_instrument_id arrived as the number {quoted(value)}, so leading zeros may already be lost. "
            "Send text: quote it in the cell, or use papermill's -r, which never converts."
        )
    if len(_text("payment_instrument_id", value)) > LONGEST_ID:
        raise ParameterError(
            f"payment_instrument_id is {quoted(value)}; allowed: at most {LONGEST_ID} characters, as the API gave it."
        )


def _address(value: object) -> None:
    if value is None:
        return
    text = _text("base_url", value)
    try:
        url = urlsplit(text)
        odd = bool(url.query or url.fragment or not url.hostname or url.port == 0)
    except ValueError:
        raise ParameterError("base_url is not an address; like https://host or http://127.0.0.1:8000.") from None
    if url.username is not None or url.password is not None:
        raise ParameterError("base_url holds a user or a password; it would be saved in the file. Remove it.")
    if odd or url.scheme not in {"http", "https"}:
        raise ParameterError(
            "base_url must be http:// or https://, a host and perhaps a path, without a query or a fragment."
        )


def _file(value: object) -> None:
    if value is not None:
        _text("sdk_output_file", value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be text, not {type(value).__name__}.")
    if not value.strip() or value != value.strip() or not value.isprintable():
        raise ParameterError(f"{name} must be text that is not empty, without control characters or outer spaces.")
    return value


def _seed(value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < SEED_LIMIT:
        raise ParameterError(f"seed must be a whole number from 0 to {SEED_LIMIT - 1}, not {quoted(value)}.")


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise ParameterError(f"seed must be a whole number from 0 to {SEED_LIMIT - 1}, not {quoted(text)}.")
    return int(text)
