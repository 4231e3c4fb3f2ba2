"""Incidents for a class: each seat gets its own, and neighbours never the same failure."""

from random import Random

from workbook.base.values import whole
from workbook.notebook.exercises.lesson_11 import acting
from workbook.notebook.incidents import CAUSES, row_of_incident
from workbook.views.table import Table, table


def deal(seed: str, seats: int) -> list[int]:
    """The numbers of the incidents, one for each seat; the same for the same seed.

    One deck of causes after the other is dealt, so a cause comes again only when every other one was dealt.

    Raises:
        ParameterError: there are more seats than incidents.
    """
    decks = 7
    whole("seats", seats, least=1, most=decks * len(CAUSES))
    dice = Random(seed)  # noqa: S311  # a game
    size = len(CAUSES)
    dealt = [deck * size + 1 + place for deck in dice.sample(range(decks), decks) for place in range(size)]
    return dealt[:seats]


def handed_out(seed: str, seats: int) -> Table:
    """What each seat plays: for the learners."""
    rows = [(seat, f"session.incident({number})") for seat, number in enumerate(deal(seed, seats), 1)]
    return table(f"Incidents for {seed}", ("seat", "play"), rows)


def solved(seed: str, seats: int) -> Table:
    """The solutions: for the trainer alone."""
    found = [(seat, number, row_of_incident(number)) for seat, number in enumerate(deal(seed, seats), 1)]
    rows = [(seat, number, CAUSES[one.number], acting(one), one.number) for seat, number, one in found]
    head = ("seat", "incident", "cause", "owner", "row in symptoms.md")
    return table(f"Solutions for {seed}: not for the projector", head, rows)
