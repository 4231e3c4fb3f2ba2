"""What a `back-end.toml` says: the back end, the API's side, how both find each other, and how long is waited."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbook.conformance import config_sides as sides
from workbook.conformance.case import Group
from workbook.conformance.config_cardholder import cardholders
from workbook.conformance.config_part import Part
from workbook.conformance.config_read import BadConfigurationError, document
from workbook.conformance.config_surface import status, surfaces
from workbook.conformance.form import cleaned
from workbook.conformance.target import BOUND, BY_STATUS, CALLS_PYTHON, RECOVERY, Target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

USUAL = "back-end.toml"


@dataclass(frozen=True, slots=True)
class Exports:
    """The names under which the back end gets the API's address and key."""

    url: str = "API_URL"
    key: str = "API_KEY"

    def values(self, url: str, key: str) -> dict[str, str]:
        """The exported values by their names."""
        return {self.url: url, self.key: key}


@dataclass(frozen=True, slots=True)
class Start:
    """How the back end comes to the values.

    Attributes:
        command: a shell command that runs it, with the values in its environment; None for none.
        folder: where the command runs.
        hook: a URL to which the values are posted as JSON; None for none. With neither, a person sets them.
    """

    command: str | None = None
    folder: Path | None = None
    hook: str | None = None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long is waited, in seconds.

    Attributes:
        first_call: for the first request at the API, where a person sets the values.
        start: until the back end listens, where a command runs it.
        whole: for all cases together.
    """

    first_call: float = 120.0
    start: float = 30.0
    whole: float = 900.0


@dataclass(frozen=True, slots=True)
class Api:
    """The API's side.

    Attributes:
        port: where it listens; 0 takes any free one.
        profile: of the stand-in service.
        seed: of all that is made up.
        key: that the back end is given; None makes a fresh one.
    """

    port: int = 0
    profile: str = "spec"
    seed: int = 7
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Config:
    """All of it. With a `Target` of your own, the rest has defaults: `Config(target)`.

    Attributes:
        target: the back end.
        api: the API's side.
        exports: the names of what the back end is told.
        start: how it is told.
        timeouts: how long is waited.
        file: the configuration's file as it was named; empty where there is none.
        adapter: the name of a Python adapter that is yet to be loaded; empty for none.
        folder: where the adapter's module is looked for.
    """

    target: Target
    api: Api = Api()
    exports: Exports = Exports()
    start: Start = Start()
    timeouts: Timeouts = Timeouts()
    file: str = ""
    adapter: str = ""
    folder: Path | None = None

    @property
    def cards(self) -> tuple[str, ...]:
        """Every cardholder's."""
        return tuple(card for one in self.target.cardholders for card in one.cards)


def load(path: Path, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration in this file.

    Args:
        path: of the file.
        environ: where secrets are taken from.

    Raises:
        BadConfigurationError: it is not in order; holds every mistake, each with its label.
    """
    return parse(document(path), path, environ)


def parse(said: Mapping[str, object], path: Path, environ: Mapping[str, str]) -> Config:
    """The configuration that a document is; `path` is where it was read from.

    Raises:
        BadConfigurationError: it is none.
    """
    mistakes: list[str] = []
    part = Part(cleaned(said, mistakes), path.parent, environ, mistakes)
    sides.one_way(part)
    target, api = _target(part), {**part.clean.table("api").said, "key": sides.key(part)}
    exports, start, timeouts = sides.exports(part), sides.start(part), sides.timeouts(part)
    if mistakes:
        raise BadConfigurationError(path.name, mistakes)
    adapter, folder = part.clean.get("adapter", ""), path.parent.absolute()
    parts = Api(**api), Exports(**exports), Start(*start), Timeouts(**timeouts)
    return Config(target, *parts, str(path), adapter, folder)


def _target(part: Part) -> Target:
    url = part.clean.get("base_url", "").rstrip("/") or f"{CALLS_PYTHON}{part.clean.get('adapter')}"
    times = part.clean.table("timeouts")
    bound, recovery = float(times.get("answer", BOUND)), float(times.get("recovery", RECOVERY))
    without = frozenset(Group(name) for name, on in part.clean.table("groups").said.items() if not on)
    return Target(url, surfaces(part), cardholders(part), status(part), bound, sides.logs(part), without,
                  ca_file=sides.ca_file(part), recovery=recovery,
                  failures=part.clean.get("failures", BY_STATUS))  # fmt: skip
