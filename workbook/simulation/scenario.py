"""A scenario: a small TOML file that says what a world holds.

    title = "What a person reads"
    profile = "spec"            # or "field"
    seed = 7

    [[instrument]]              # any number of payment instruments
    id = "PISIMULATED00000000000001"
    status = "suspended"

    [[credential]]              # each gets a key, and with it a world of its own
    name = "back end"
    role = true

    [latencies]                 # seconds until the first byte of an answer
    get = 0.2

    [[fault]]                   # see `faults.FAULTS` and `faults.Planned`
    fault = "latency"
    operation = "GET"
    nth = 1
    seconds = 3.0

Every part may be left out. `scenario_form` says what each may hold. A scenario never holds an API key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbook.base.files import read_regular
from workbook.base.values import did_you_mean, quoted
from workbook.errors import ConfigurationError
from workbook.simulation.faults import FaultPlan, planned
from workbook.simulation.world import SIMULATED_KEY, Credential, Instrument, World

FOLDER = Path(__file__).with_name("scenarios")
LARGEST = 1_048_576
"""Bytes of a scenario file that are read; people write these files by hand."""
BACK_END = "back end"
"""The credential of a scenario that names none."""


@dataclass(frozen=True)
class Scenario:
    """What a scenario file says.

    Attributes:
        name: of the file, without its ending.
        title: what a person reads.
        profile: `spec` or `field`.
        seed: of everything that its worlds make up.
        instruments: its payment instruments, in the file's order.
        credentials: its API credentials by name, in the file's order; at least one.
        latencies: seconds until the first byte of an answer, by method.
        faults: its `[[fault]]` tables, as they are in the file; `Planned.of` reads them.
    """

    name: str
    title: str = ""
    profile: str = "spec"
    seed: int = 7
    instruments: tuple[Instrument, ...] = field(default_factory=lambda: tuple(World().instruments.values()))
    credentials: Mapping[str, Credential] = field(default_factory=lambda: MappingProxyType({BACK_END: Credential()}))
    latencies: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    faults: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, name: str, document: Mapping[str, Any]) -> Scenario:
        """The scenario that a valid document describes; what it leaves out keeps its default."""
        parts = {key: document[key] for key in ("title", "profile", "seed") if key in document}
        if "instrument" in document:
            parts["instruments"] = tuple(map(_instrument, document["instrument"]))
        if "credential" in document:
            roles = {table["name"]: table.get("role", True) for table in document["credential"]}
            parts["credentials"] = MappingProxyType(
                {name: Credential() if role else Credential(frozenset()) for name, role in roles.items()}
            )
        latencies = {method.upper(): float(seconds) for method, seconds in document.get("latencies", {}).items()}
        faults = tuple(document.get("fault", ()))
        return cls(name, latencies=MappingProxyType(latencies), faults=faults, **parts)

    def world(self, *, api_key: str = SIMULATED_KEY, credential: str | None = None, seed: int | None = None) -> World:
        """The world that one credential of this scenario sees.

        Args:
            api_key: the credential's key.
            credential: its name; None takes the first.
            seed: instead of the scenario's own.

        Raises:
            ConfigurationError: the scenario has no such credential.
        """
        name = next(iter(self.credentials)) if credential is None else credential
        if name not in self.credentials:
            hint = did_you_mean(str(name), self.credentials)
            raise ConfigurationError(f"{self.name}: no credential {quoted(name)}. {hint}")
        return World(
            instruments=MappingProxyType({instrument.id: instrument for instrument in self.instruments}),
            credentials=MappingProxyType({api_key: self.credentials[name]}),
            seed=self.seed if seed is None else seed,
            name=self.name,
            profile=self.profile,
            latencies=self.latencies,
        )

    def plan(self) -> FaultPlan | None:
        """A fresh plan of this scenario's faults; None where it has none.

        Raises:
            ConfigurationError: a `[[fault]]` is invalid.
        """
        return plan(self.faults, self.seed, where=self.name)


def scenarios() -> tuple[str, ...]:
    """The names of the scenarios that come with the package, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(path_or_name: str | Path) -> Scenario:
    """The scenario of this name, or in this file.

    Args:
        path_or_name: one of `scenarios()`, or the path of a TOML file. The name of a scenario means that
            scenario, even where a file has the same name.

    Raises:
        ConfigurationError: there is none, or it is invalid; names every mistake.
    """
    names = scenarios()
    if isinstance(path_or_name, str) and path_or_name in names:
        # Ours are valid (a test says so): serving one of them need not wait for pydantic's import.
        return Scenario.of(path_or_name, tomllib.loads((FOLDER / f"{path_or_name}.toml").read_text("utf-8")))
    if not isinstance(path_or_name, str | Path) or not str(path_or_name):
        raise ConfigurationError(f"A scenario is a name or the path of a file, not {quoted(path_or_name)}.")
    path, shown = Path(path_or_name), f"{str(path_or_name)!r:.200}"
    try:
        text = b"" if path.is_dir() else read_regular(path, LARGEST)
    except FileNotFoundError:
        hint = did_you_mean(str(path), names)
        raise ConfigurationError(
            f"No scenario {shown}, and no file of that name. {hint} Or give a file's path."
        ) from None
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigurationError(f"Cannot read the scenario {shown}: {reason}.") from None
    if path.is_dir():
        raise ConfigurationError(f"{shown}: it is a directory. Give a TOML file inside it.")
    return parse(text, name=path.stem, file=path.name)


def parse(text: bytes, *, name: str, file: str = "") -> Scenario:
    """The scenario that the bytes of a file describe; `file` is how an error calls them.

    Raises:
        ConfigurationError: they are not one; names every mistake.
    """
    from workbook.simulation.scenario_form import checked  # pydantic is slow to import

    return Scenario.of(name, checked(text, file or name))


def plan(faults: tuple[dict[str, Any], ...], seed: int, *, where: str) -> FaultPlan | None:
    """A fresh plan of these `[[fault]]` tables; None where there are none.

    Args:
        faults: the tables.
        seed: of what the plan draws.
        where: how an error calls the file that they are in.

    Raises:
        ConfigurationError: one is invalid.
    """
    rules = []
    for number, table in enumerate(faults, 1):
        try:
            rules.append(planned(table))
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: [[fault]] {number}: {error}") from None
    return FaultPlan(rules, seed) if rules else None


def _instrument(table: Mapping[str, Any]) -> Instrument:
    """A payment instrument; without `last_four`, the last four digits of its id tell it from others."""
    values = dict(table)
    if "supported_wallets" in table:
        values["supported_wallets"] = tuple(table["supported_wallets"])
    last_four = table["id"][-4:]
    if len(last_four) == 4 and last_four.isascii() and last_four.isdigit():  # as the name says
        values.setdefault("last_four", last_four)
    return Instrument(**values)
