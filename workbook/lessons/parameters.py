"""The parameters of the notebooks, typed and checked.

papermill guesses types (`-p id 0012345` arrives as a number) and only warns about an unknown name. Here each value has
the type of its field, or an error says what is allowed; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from workbook.api.protocol import wrong_url
from workbook.base.values import choice, did_you_mean, flag, is_text, quoted, whole
from workbook.errors import ParameterError
from workbook.flows.variants import VARIANTS_A, VARIANTS_B
from workbook.simulation.world import INSTRUMENT_IDS


class Source(StrEnum):
    """Who answers: the simulation, or a real API at `base_url`."""

    SIMULATED = "simulated"
    API = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The settings of one run of the notebooks.

    Attributes:
        source: who answers; variables of the environment never change it.
        base_url: the API's address, only with `source="api"`; None means the environment's WORKBOOK_BASE_URL.
        payment_instrument_id: the `{id}` of both calls; text, so leading zeros stay.
        variant_a: which variant of platform A, by name.
        variant_b: which variant of platform B, by name.
        seed: determines everything that the simulation makes up, 0 to 2**32 - 1.
        strict: whether the lesson's last cell raises the checks that failed.

    Raises:
        ParameterError: a value is not what its parameter allows.
    """

    source: Source = Source.SIMULATED
    base_url: str | None = None
    payment_instrument_id: str = INSTRUMENT_IDS[0]
    variant_a: str = "from-0.4.0"
    variant_b: str = "later"
    seed: int = 7
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", Source(choice("source", self.source, Source)))
        choice("variant_a", self.variant_a, VARIANTS_A)
        choice("variant_b", self.variant_b, VARIANTS_B)
        whole("seed", self.seed, least=0, most=2**32 - 1)
        flag("strict", self.strict)
        card = self.payment_instrument_id
        if isinstance(card, int | float):
            raise ParameterError(
                f"payment_instrument_id arrived as the number {quoted(card)}, so leading zeros may already be lost. "
                "Send text: quote it in the cell, or use papermill's -r, which never converts."
            )
        if len(_text("payment_instrument_id", card)) > 1000:  # the client refuses a longer one
            raise ParameterError(
                f"payment_instrument_id is {quoted(card)}; allowed: at most 1000 characters, as the API gave it."
            )
        if self.base_url is None:
            return
        if self.source is Source.SIMULATED:
            raise ParameterError(
                "base_url was given while source is 'simulated', where it means nothing. "
                "Give source='api' as well, or leave base_url out."
            )
        if why := wrong_url(_text("base_url", self.base_url).rstrip("/")):
            raise ParameterError(
                f"base_url {why}. Give one such as https://host or http://127.0.0.1:8000; it is saved in the file."
            )

    @classmethod
    def of(cls, **values: Any) -> Parameters:
        """The parameters that a notebook's parameters cell holds.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        keys = ("key", "token", "secret", "password", "passwd", "credential", "authorization")
        for name in [name for name in values if name not in parameter_names()]:
            if any(word in re.sub(r"[^a-z]", "", name.lower()) for word in keys):
                raise ParameterError(
                    f"{name!r} looks like a key. A parameter is saved in the notebook's file, so keys come from the "
                    "environment variable WORKBOOK_API_KEY, never from a cell or a command line."
                )
            raise ParameterError(f"No parameter {quoted(name)}. {did_you_mean(name, parameter_names())}")
        return cls(**values)

    @classmethod
    def from_strings(cls, values: Mapping[str, Any]) -> Parameters:
        """The parameters of a command line's `-p NAME=VALUE`; what is no text, as a file may have it, stays as it is.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        typed: dict[str, Any] = dict(values)
        if re.fullmatch(r"[0-9]{1,10}", str(values.get("seed"))):
            typed["seed"] = int(values["seed"])
        if (word := str(values.get("strict")).lower()) in {"true", "false"}:
            typed["strict"] = word == "true"
        return cls.of(**typed)

    def as_papermill(self) -> dict[str, Any]:
        """Every parameter as the plain value that papermill writes into a cell."""
        return asdict(self) | {"source": self.source.value}


def parameter_names() -> tuple[str, ...]:
    """The names that a parameters cell may declare."""
    return tuple(field.name for field in fields(Parameters))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be text, not {type(value).__name__}.")
    if not is_text(value, longest=len(value)):
        raise ParameterError(f"{name} must be text that is not empty, without control characters or outer spaces.")
    return value
