"""A scenario: a small TOML file that says what a world holds, and how its phones are.

    title = "What a person reads"
    profile = "spec"            # or "field"
    seed = 7

    [[instrument]]              # as many as you like
    id = "PISIMULATED00000000000001"
    status = "suspended"

    [[credential]]              # each gets a key, and with it a world of its own
    name = "back end"
    role = true

    [latencies]                 # seconds until the first byte of an answer
    get = 0.2

    [device]                    # platform A's phone, see `device.Device`
    allowlisted = false

    [phone]                     # platform B's phone, see `phone.Phone`
    watch = true

    [[fault]]                   # see `faults.FAULTS` and `fault_plan.Planned`
    fault = "latency"
    operation = "GET"
    nth = 1
    seconds = 3.0

Everything may be left out. What is allowed where stands in `form`. An API key never stands in a scenario.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.device import Device, Latencies
from workbook.simulation.fault_plan import FaultPlan, Planned
from workbook.simulation.form import quoted, refused
from workbook.simulation.phone import Phone, Waits, Watch
from workbook.simulation.scenario_file import document, read
from workbook.simulation.world import SIMULATED_KEY, Credential, Instrument, World

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).with_name("scenarios")
LONGEST_NUMBER = 63
"""Bits of a whole number in a `[[fault]]`, as TOML has them; Python would read longer ones and could not write them."""
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
        device: the facts of platform A's phone that it changes.
        phone: the facts of platform B's phone that it changes.
        faults: its `[[fault]]` tables, as they stand in the file; `fault_plan` reads them.
    """

    name: str
    title: str = ""
    profile: str = "spec"
    seed: int = 7
    instruments: tuple[Instrument, ...] = field(default_factory=lambda: tuple(World().instruments.values()))
    credentials: Mapping[str, Credential] = field(default_factory=lambda: MappingProxyType({BACK_END: Credential()}))
    latencies: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    device: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    phone: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    faults: tuple[dict[str, Any], ...] = ()

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
            raise refused(self.name, f"no credential {quoted(name)}. {did_you_mean(str(name), self.credentials)}")
        return World(
            instruments=MappingProxyType({each.id: each for each in self.instruments}),
            credentials=MappingProxyType({api_key: self.credentials[name]}),
            seed=self.seed if seed is None else seed,
            name=self.name,
            profile=self.profile,
            latencies=self.latencies,
        )

    def device_for(self, payment_instrument_id: str | None = None) -> Device:
        """Platform A's phone as this scenario has it, to add this instrument to.

        An instrument that is not configured at the scheme takes the phone's own configuration away (A-CAN-6).
        """
        facts = self._facts(self.device)
        if not self._configured(payment_instrument_id):
            facts["scheme_configured"] = False
        return Device(**facts, latencies=Latencies(**self._waits()))

    def phone_for(self, payment_instrument_id: str | None = None) -> Phone:
        """Platform B's phone as this scenario has it, to add this instrument to (field notes, 30)."""
        facts = self._facts(self.phone)
        facts["watch"] = Watch() if facts.get("watch") else None
        if not self._configured(payment_instrument_id):
            facts["associated"] = False
        return Phone(**facts, waits=Waits(**self._waits()), seed=self.seed, profile=self.profile)

    def plan(self) -> FaultPlan | None:
        """A fresh plan of this scenario's faults; None where it has none.

        Raises:
            ConfigurationError: a `[[fault]]` is not as `fault_plan` reads it.
        """
        return plan(self.faults, self.seed, where=self.name)

    def _facts(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The facts with lists turned into what the stand-ins keep; a fresh copy for each phone."""
        kinds = {"cards": set, "entitled": tuple}
        return {name: kinds[name](value) if name in kinds else value for name, value in facts.items()}

    def _configured(self, payment_instrument_id: str | None) -> bool:
        return all(each.scheme_configured for each in self.instruments if each.id == payment_instrument_id)

    def _waits(self) -> dict[str, float]:
        return {method.lower(): seconds for method, seconds in self.latencies.items()}


def scenarios() -> tuple[str, ...]:
    """The names of the scenarios that come with the package, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(path_or_name: str | Path) -> Scenario:
    """The scenario of this name, or in this file.

    Args:
        path_or_name: one of `scenarios()`, or the path of a TOML file. A text that is a name means that one, even
            where there is a file of that name.

    Raises:
        ConfigurationError: there is none, or it is not a scenario; says where and what is allowed.
    """
    if isinstance(path_or_name, str) and path_or_name in scenarios():
        path = FOLDER / f"{path_or_name}.toml"
    elif isinstance(path_or_name, str | Path) and str(path_or_name):
        path = Path(path_or_name)
    else:
        raise ConfigurationError(f"A scenario is a name or the path of a file, not {quoted(path_or_name)}.")
    return parse(read(path, scenarios()), name=path.stem, file=path.name)


def parse(text: bytes, *, name: str, file: str = "") -> Scenario:
    """The scenario that the bytes of a file are.

    Raises:
        ConfigurationError: they are not one.
    """
    where = file or name
    said = document(text, where)
    plan(tuple(said.get("fault", ())), seed=0, where=where)  # what is misspelt is told now, not at the first request
    return Scenario(name=name, **_parts(where, said))


def plan(faults: tuple[dict[str, Any], ...], seed: int, *, where: str) -> FaultPlan | None:
    """A fresh plan of these `[[fault]]` tables; None where there are none.

    Args:
        faults: the tables.
        seed: of what the plan draws.
        where: how an error calls the file that they stand in.

    Raises:
        ConfigurationError: one is not as `fault_plan` reads it.
    """
    planned = [_planned(f"{where}: [[fault]] {number}", table) for number, table in enumerate(faults, 1)]
    return FaultPlan(planned, seed) if planned else None


def _planned(where: str, table: dict[str, Any]) -> Planned:
    for name, value in table.items():
        if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:
            raise refused(
                where, f"{name!r:.40} is a whole number of more than {LONGEST_NUMBER} bits. Give a smaller one."
            )
    try:
        return Planned.of(**table)
    except ConfigurationError as error:
        raise refused(where, str(error)) from None
    except (TypeError, ValueError, RecursionError):  # a key such as "cls"
        raise refused(where, "it cannot be read. Look at the form in `workbook.simulation.fault_plan`.") from None


def _parts(file: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What of a checked document becomes what of a scenario; what it leaves out stays at its default."""
    parts = {name: document[name] for name in ("title", "profile", "seed", "device", "phone") if name in document}
    if "instrument" in document:
        parts["instruments"] = tuple(_instrument(table) for table in document["instrument"])
    if "credential" in document:
        parts["credentials"] = _credentials(file, document["credential"])
    waits = document.get("latencies", {})
    latencies = MappingProxyType({method.upper(): float(seconds) for method, seconds in waits.items()})
    return parts | {"latencies": latencies, "faults": tuple(document.get("fault", ()))}


def _instrument(table: Mapping[str, Any]) -> Instrument:
    wallets = {"supported_wallets": tuple(table["supported_wallets"])} if "supported_wallets" in table else {}
    last_four = {} if "last_four" in table else {"last_four": _digits(table["id"])}
    return Instrument(**{**table, **wallets, **last_four})


def _digits(payment_instrument_id: str) -> str:
    """The last four of an id where they are digits, so that a class tells its cards apart; else the usual ones."""
    tail = payment_instrument_id[-4:]
    return tail if tail.isascii() and tail.isdigit() and len(tail) == len("0001") else Instrument("").last_four


def _credentials(file: str, tables: list[dict[str, Any]]) -> Mapping[str, Credential]:
    if not tables:
        raise refused(file, "'credential' is empty. Give one [[credential]], or leave it out for one with the role.")
    return MappingProxyType(
        {table["name"]: Credential() if table.get("role", True) else Credential(frozenset()) for table in tables}
    )
