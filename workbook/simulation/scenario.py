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

Every part may be left out. `ScenarioForm` says what each may hold; every mistake is named with its place and what is
allowed, and a file's own text is repeated only in part. A scenario never holds an API key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from workbook.base.files import read_regular
from workbook.base.forms import Flag, Form, Mistakes, Place, Says, Seed, Text, parse_toml, read_form, refusal
from workbook.base.values import did_you_mean, quoted
from workbook.errors import ConfigurationError
from workbook.simulation import world as w
from workbook.simulation.faults import FaultPlan, Planned, plan_from

FOLDER = Path(__file__).with_name("scenarios")


def _each_once(value: object, inner: ValidatorFunctionWrapHandler) -> list[str]:
    """A list of texts without a repetition."""
    if not isinstance(value, list):
        raise refusal(f"it is {quoted(value)}; give a list of texts, each once.")
    texts: list[str] = inner(value)
    if len(set(texts)) < len(texts):
        raise refusal("a text occurs twice; give a list of texts, each once.")
    return texts


Seconds = Annotated[
    float, Field(ge=0, le=3600, allow_inf_nan=False), Says("a number of seconds from 0 to 3600")
]  # more is a slip of the unit


class InstrumentForm(Form):
    """One `[[instrument]]`."""

    id: Text
    brand: Text = ""
    last_four: Annotated[str, Field(pattern="^[0-9]{4}$"), Says('four digits in quotes, such as "0001"')] = ""
    supported_wallets: Annotated[list[w.Wallet], WrapValidator(_each_once)] = Field(default_factory=list)
    status: w.Status = "active"
    type: w.Type = "card"

    def instrument(self) -> w.Instrument:
        """The payment instrument; without `last_four`, the last four digits of its id distinguish it from others."""
        values = self.model_dump(exclude_unset=True)
        if "supported_wallets" in values:
            values["supported_wallets"] = tuple(self.supported_wallets)
        if digits := re.search("[0-9]{4}$", self.id):
            values.setdefault("last_four", digits[0])
        return w.Instrument(**values)


class CredentialForm(Form):
    """One `[[credential]]`."""

    name: Text
    role: Flag = True


class LatenciesForm(Form):
    """Seconds until the first byte of an answer."""

    get: Seconds = 0.0
    post: Seconds = 0.0


class ScenarioForm(Form):
    """A scenario file. `faults.Planned` knows what a `[[fault]]` may say."""

    title: Text = ""
    profile: w.Profile = "spec"
    seed: Seed = 7
    latencies: LatenciesForm = LatenciesForm()
    instrument: list[InstrumentForm] = Field(default_factory=list)
    credential: list[CredentialForm] = Field(default_factory=list)
    fault: list[dict[str, Any]] = Field(default_factory=list)


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
    instruments: tuple[w.Instrument, ...] = field(default_factory=lambda: tuple(w.World().instruments.values()))
    credentials: Mapping[str, w.Credential] = field(
        default_factory=lambda: MappingProxyType({"back end": w.Credential()})
    )
    latencies: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    faults: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, name: str, form: ScenarioForm) -> Scenario:
        """The scenario that a valid file describes; what it leaves out keeps its default."""
        parts: dict[str, Any] = form.model_dump(include={"title", "profile", "seed"}, exclude_unset=True)
        if "instrument" in form.model_fields_set:
            parts["instruments"] = tuple(table.instrument() for table in form.instrument)
        if form.credential:
            roles = {
                table.name: w.Credential() if table.role else w.Credential(frozenset()) for table in form.credential
            }
            parts["credentials"] = MappingProxyType(roles)
        latencies = {method.upper(): value for method, value in form.latencies.model_dump(exclude_unset=True).items()}
        return cls(name, latencies=MappingProxyType(latencies), faults=tuple(form.fault), **parts)

    def world(
        self, *, api_key: str = w.SIMULATED_KEY, credential: str | None = None, seed: int | None = None
    ) -> w.World:
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
        return w.World(
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


def load(path_or_name: str | Path | Scenario) -> Scenario:
    """The scenario of this name, or in this file; one that is loaded already as it is.

    Args:
        path_or_name: one of `scenarios()`, or the path of a TOML file. The name of a scenario means that
            scenario, even where a file has the same name.

    Raises:
        ConfigurationError: there is none, or it is invalid; names every mistake.
    """
    if isinstance(path_or_name, Scenario):
        return path_or_name
    names = scenarios()
    if not isinstance(path_or_name, str | Path) or not str(path_or_name):
        raise ConfigurationError(f"A scenario is a name or the path of a file, not {quoted(path_or_name)}.")
    path, named = Path(path_or_name), f"{str(path_or_name)!r:.200}"
    if path_or_name in names:
        path = FOLDER / f"{path_or_name}.toml"
    try:
        text = b"" if path.is_dir() else read_regular(path, 1_048_576)  # bytes; people write these files by hand
    except FileNotFoundError:
        hint = did_you_mean(str(path), names)
        raise ConfigurationError(
            f"No scenario {named}, and no file of that name. {hint} Or give a file's path."
        ) from None
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigurationError(f"Cannot read the scenario {named}: {reason}.") from None
    if path.is_dir():
        raise ConfigurationError(f"{named}: it is a directory. Give a TOML file inside it.")
    return parse(text, name=path.stem, file=path.name)


def parse(text: bytes, *, name: str, file: str = "") -> Scenario:
    """The scenario that the bytes of a file describe; `file` is how an error calls them.

    Raises:
        BadConfigurationError: they are too many, not TOML in UTF-8, or have mistakes; the error names all.
    """
    file = file or name
    document, mistakes = parse_toml(text, file, f"For an example see {FOLDER / 'default.toml'}."), Mistakes()
    for place in _keys(document):
        if re.search("key|token|secret|password|passwd|authorization", re.sub("[^a-z]", "", str(place[-1]).lower())):
            what = (
                "its name looks like that of an API key or another secret, and a scenario is a file that is passed "
                "around. Remove it: keys are made when a server starts, or come from the environment."
            )
            mistakes.add(place, what)
    form = read_form(ScenarioForm, document, mistakes)
    if document.get("credential") == []:
        mistakes.add(("credential",), "it is empty. Give one [[credential]], or leave it out for one with the role.")
    _check_distinct("instrument", "id", [card.id for card in form.instrument], mistakes)
    _check_distinct("credential", "name", [credential.name for credential in form.credential], mistakes)
    known = tuple(card.id for card in form.instrument) if "instrument" in document else w.INSTRUMENT_IDS
    for at, table in enumerate(form.fault):
        if mistakes.within("fault", at):
            continue
        if sentences := _fault_mistakes(table):
            mistakes.add(("fault", at), " ".join(sentences))
            continue
        card = plan_from(table).payment_instrument_id
        if card is not None and card not in known and not mistakes.within("instrument"):
            hint = did_you_mean(card, known) if known else "It has none."
            what = f"it is {quoted(card)}, but this scenario has no such instrument. {hint}"
            mistakes.add(("fault", at, "payment_instrument_id"), what)
    mistakes.raise_for(file)
    return Scenario.of(name, form)


def _keys(document: dict[str, Any]) -> Iterator[Place]:
    """The place of every key of the file's tables."""
    for name, value in document.items():
        yield (name,)
        tables = {(name,): value} | (
            {(name, at): table for at, table in enumerate(value)} if isinstance(value, list) else {}
        )
        yield from ((*place, key) for place, table in tables.items() if isinstance(table, dict) for key in table)


def _check_distinct(heading: str, key: str, names: list[str], mistakes: Mistakes) -> None:
    """Each table of this heading has a name of its own."""
    for at, name in enumerate(names):
        if (first := names.index(name)) != at and not mistakes.within(heading):
            what = f"it is {quoted(name)}, which [[{heading}]] {first + 1} has already. Give each its own."
            mistakes.add((heading, at, key), what)


def _fault_mistakes(table: dict[str, Any]) -> list[str]:
    """What is wrong with a `[[fault]]`: its fault and settings, each key of its rule, or else their combination."""
    of_rule = {field.name for field in fields(Planned)} - {"fault"}
    parts = [{key: value for key, value in table.items() if key not in of_rule}]
    parts += [{"fault": "reset", key: value} for key, value in table.items() if key in of_rule]
    sentences = list(filter(None, map(_refusal, parts)))
    return sentences or list(filter(None, [_refusal(table)]))


def _refusal(table: dict[str, Any]) -> str:
    """Why this is no rule; empty where it is one."""
    try:
        plan_from(table)
    except ConfigurationError as error:
        return str(error)
    return ""


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
            rules.append(plan_from(table))
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: [[fault]] {number}: {error}") from None
    return FaultPlan(rules, seed) if rules else None
