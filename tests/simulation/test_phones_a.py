"""The phone: what it can be told, and what it refuses to be told."""

import pytest

from workbook.errors import ParameterError
from workbook.simulation.phones import PROVISION_FAILURES, LatenciesA, PhoneA


def test_the_failures_differ_and_each_may_be_played():
    assert len(PROVISION_FAILURES) == len(set(PROVISION_FAILURES))
    assert [PhoneA(provision_failure=name).provision_failure for name in PROVISION_FAILURES] == [*PROVISION_FAILURES]


def test_a_misspelt_failure_is_explained():
    with pytest.raises(ParameterError, match=r"provision_failure is 'Cancelled'\. Did you mean 'Canceled'\?"):
        PhoneA(provision_failure="Cancelled")


def test_two_phones_share_nothing():
    PhoneA().cards.add("PI1")
    assert PhoneA().cards == set()


def test_every_part_takes_some_time():
    assert all(getattr(LatenciesA(), name) > 0 for name in LatenciesA.__slots__)
