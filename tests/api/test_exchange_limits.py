import math

import anyio
import pytest
from rows import rows

from workbook.api.exchange import Options, SystemClock, Timeouts
from workbook.errors import ConfigurationError


@pytest.mark.rule("REL-5")
def test_a_call_ends_before_the_wallet_gives_up():
    assert Options().deadline < 20


def test_no_step_outlives_the_call():
    assert Timeouts(connect=1, read=2, write=3, pool=4).within(2.5) == {
        "connect": 1,
        "read": 2,
        "write": 2.5,
        "pool": 2.5,
    }


@rows(
    "wrong",
    [
        {"deadline": None},
        {"deadline": 0},
        {"deadline": -1},
        {"deadline": math.inf},
        {"deadline": math.nan},
        {"deadline": "15"},
        {"max_body": 0},
        {"max_body": 1.5},
        {"max_body": 1 << 31},
        {"timeouts": 5},
        {"retries": 3},
    ],
)
def test_options_are_checked(wrong):
    with pytest.raises(ConfigurationError, match="Give") as caught:
        Options(**wrong)
    assert next(iter(wrong)) in str(caught.value)


@pytest.mark.parametrize("name", ["connect", "read", "write", "pool"])
def test_timeouts_are_checked(name):
    with pytest.raises(ConfigurationError, match=f"timeouts.{name} is None"):
        Timeouts(**{name: None})


def test_real_time_passes():
    clock = SystemClock()
    start = clock.now()
    clock.sleep(0.001)
    anyio.run(clock.asleep, 0.001)
    assert clock.now() - start >= 0.002
    assert repr(clock) == "SystemClock()"
