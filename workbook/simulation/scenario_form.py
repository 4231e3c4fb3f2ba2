"""The form of a scenario file: which tables and keys it may have, and what each may hold.

Every mistake is named with its place and what is allowed. A file's own text is repeated only in part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from workbook.base import forms
from workbook.base.forms import Flag, Form, Mistakes, Place, Says, Seed, Text, refused
from workbook.base.values import did_you_mean, quoted
from workbook.errors import ConfigurationError
from workbook.simulation.faults import Planned, planned
from workbook.simulation.world import INSTRUMENT_IDS, Profile, Status, Type, Wallet

EXAMPLE = f"For an example see {Path(__file__).parent / 'scenarios/default.toml'}."
_RULE = frozenset(field.name for field in fields(Planned)) - {"fault"}
_SECRET = re.compile("key|token|secret|password|passwd|authorization")
_REMOVE_KEY = (
    "its name looks like that of an API key or another secret, and a scenario is a file that is passed around. "
    "Remove it: keys are made when a server starts, or come from the environment."
)


def _listed(value: object) -> object:
    if not isinstance(value, list):
        raise refused(f"it is {quoted(value)}; give a list of texts, each once.")
    return value


def _distinct(values: list[str]) -> list[str]:
    if len(set(values)) < len(values):
        raise refused("a text occurs twice; give a list of texts, each once.")
    return values


Seconds = Annotated[
    float, Field(ge=0, le=3600, allow_inf_nan=False), Says("a number of seconds from 0 to 3600")
]  # more is a slip of the unit


class InstrumentForm(Form):
    """One `[[instrument]]`."""

    id: Text
    brand: Text = ""
    last_four: Annotated[str, Field(pattern="^[0-9]{4}$"), Says('four digits in quotes, such as "0001"')] = ""
    supported_wallets: Annotated[list[Wallet], BeforeValidator(_listed), AfterValidator(_distinct)] = Field(
        default_factory=list
    )
    status: Status = "active"
    type: Type = "card"


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
    profile: Profile = "spec"
    seed: Seed = 7
    latencies: LatenciesForm = LatenciesForm()
    instrument: list[InstrumentForm] = Field(default_factory=list)
    credential: list[CredentialForm] = Field(default_factory=list)
    fault: list[dict[str, Any]] = Field(default_factory=list)


def checked(text: bytes, file: str) -> dict[str, Any]:
    """The document of a scenario file; `file` is how an error calls it.

    Raises:
        BadConfigurationError: it is too large, not TOML in UTF-8, or has mistakes; the error names all.
    """
    document, mistakes = forms.parse_toml(text, file, EXAMPLE), Mistakes()
    for place, key in _keys(document):
        if _SECRET.search(re.sub("[^a-z]", "", key.lower())):
            mistakes.add((*place, key), _REMOVE_KEY)
    form = forms.read_form(ScenarioForm, document, mistakes)
    if document.get("credential") == []:
        mistakes.add(("credential",), "it is empty. Give one [[credential]], or leave it out for one with the role.")
    _check_distinct("instrument", [card.id for card in form.instrument], mistakes)
    _check_distinct("credential", [credential.name for credential in form.credential], mistakes)
    known = tuple(card.id for card in form.instrument) if "instrument" in document else INSTRUMENT_IDS
    for at, table in enumerate(form.fault):
        if mistakes.within("fault", at):
            continue
        if sentences := _fault_mistakes(table):
            mistakes.add(("fault", at), " ".join(sentences))
            continue
        card = planned(table).payment_instrument_id
        if card is not None and card not in known and not mistakes.within("instrument"):
            hint = did_you_mean(card, known) if known else "It has none."
            what = f"it is {quoted(card)}, but this scenario has no such instrument. {hint}"
            mistakes.add(("fault", at, "payment_instrument_id"), what)
    mistakes.raise_for(file)
    return document


def _fault_mistakes(table: dict[str, Any]) -> list[str]:
    """What is wrong with a `[[fault]]`: its fault and settings, each key of its rule, or else their combination."""
    rule = {key: value for key, value in table.items() if key in _RULE}
    parts = [{key: value for key, value in table.items() if key not in rule}]
    parts += [{"fault": "reset", key: value} for key, value in rule.items()]
    sentences = [sentence for part in parts if (sentence := _refusal(part))]
    return sentences or list(filter(None, [_refusal(table)]))


def _refusal(table: dict[str, Any]) -> str:
    """Why this is no rule; empty where it is one."""
    try:
        planned(table)
    except ConfigurationError as error:
        return str(error)
    return ""


def _keys(document: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Every key of the file's tables, with the place of its table."""
    yield from (((), key) for key in document)
    for name, value in document.items():
        tables = enumerate(value) if isinstance(value, list) else ()
        places = [((name,), value), *(((name, at), table) for at, table in tables)]
        yield from ((place, key) for place, table in places if isinstance(table, dict) for key in table)


def _check_distinct(heading: str, names: list[str], mistakes: Mistakes) -> None:
    """Each table of this heading has a name of its own."""
    key = "id" if heading == "instrument" else "name"
    first = {name: names.index(name) for name in names}
    for at, name in enumerate(names):
        if first[name] != at and not mistakes.within(heading):
            what = f"it is {quoted(name)}, which [[{heading}]] {first[name] + 1} has already. Give each its own."
            mistakes.add((heading, at, key), what)
