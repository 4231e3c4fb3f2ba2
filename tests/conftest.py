"""What every test shares: no setting from outside, and the dose of Hypothesis.

`HYPOTHESIS_PROFILE=thorough pytest` draws 10,000 examples for each property.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

CI = bool(os.environ.get("CI"))
KEPT = {"WORKBOOK_GOLDEN"}  # a tester's own switch, not a setting of the package

settings.register_profile(
    "default", deadline=None, derandomize=CI, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in [*os.environ]:
        if name.startswith("WORKBOOK_") and name not in KEPT:
            monkeypatch.delenv(name)
