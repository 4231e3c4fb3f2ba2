"""Who the configuration says there is: cardholders with their cards and sessions, or a scenario's instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.target import Cardholder
from workbook.errors import ConfigurationError
from workbook.simulation.scenario import load, scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.config_part import Part
    from workbook.conformance.form import Clean

SOMEBODY = "the cardholder"
"""Who has a scenario's instruments where the file names nobody."""


def cardholders(part: Part) -> tuple[Cardholder, ...]:
    """Everybody with cards, in the file's order."""
    tables: list[Clean] = part.clean.get("cardholder", [])
    cards = _of_scenario(part, tables)
    if not tables and "cardholder" not in part.clean.wrong and part.clean.missing("scenario"):
        part.wrong("[[cardholder]]", "there is none. Name one with cards, or give a scenario.")
    if not tables and cards:
        return (Cardholder(SOMEBODY, cards),)
    _distinct(part, tables)
    return tuple(_cardholder(part, table, cards) for table in tables)


def _cardholder(part: Part, table: Clean, cards: tuple[str, ...]) -> Cardholder:
    if table.missing("cards") and part.clean.missing("scenario"):
        part.wrong(f"{table.label} cards", "it is missing. Give the ids of this cardholder's cards.")
    session = tuple(part.headers(table.table("session")))
    return Cardholder(table.get("name", ""), tuple(table.get("cards", cards)), session)


def _of_scenario(part: Part, tables: list[Clean]) -> tuple[str, ...]:
    """The ids that a scenario has and the API answers for."""
    if (name := part.clean.get("scenario")) is None:
        return ()
    if len(tables) > 1 or any(not table.missing("cards") for table in tables):
        part.wrong("scenario", "its cards belong to one cardholder. Where you name cards, leave it out.")
        return ()
    try:
        found = load(name if name in scenarios() else part.folder / name)
    except ConfigurationError as error:
        part.wrong("scenario", str(error))
        return ()
    if not (cards := tuple(one.id for one in found.instruments if one.active)):
        part.wrong("scenario", "it has no card that the API answers for.")
    return cards


def _distinct(part: Part, tables: list[Clean]) -> None:
    """Each name and each card is one cardholder's."""
    seen: dict[tuple[str, str], str] = {}
    for table in tables:
        for key, value in _claims(table):
            if (first := seen.setdefault((key, value), table.label)) != table.label:
                part.wrong(f"{table.label} {key}", f"{value!r:.60} is {first}'s already. Give each its own.")


def _claims(table: Clean) -> Iterator[tuple[str, str]]:
    if "name" in table.said:
        yield "name", table.get("name")
    for card in table.get("cards", ()):
        yield "cards", card
