"""What the simulated service knows: instruments in every state, and worlds that say no to what cannot be."""

from typing import get_args

from rows import rows

from workbook.simulation import world
from workbook.simulation.world import Instrument, Status, Type, World


@rows("kind", get_args(Type))
@rows("status", get_args(Status))
def test_only_an_active_card_can_be_used_and_the_others_say_why(status, kind):
    one = Instrument("PI", status=status, type=kind)
    assert one.active is ((status, kind) == ("active", "card"))
    assert bool(one.why_unusable) is not one.active
    if not one.active:
        assert (kind if kind != "card" else status) in one.why_unusable


def test_a_scheme_that_does_not_know_the_app_is_no_reason_for_the_api():
    assert Instrument("PI", supported_wallets=()).active


def test_a_world_shows_no_key():
    assert world.SIMULATED_KEY not in repr(World())
