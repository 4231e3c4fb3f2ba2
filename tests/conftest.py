"""What every test shares: no setting from outside, and the dose of Hypothesis.

`HYPOTHESIS_PROFILE=thorough pytest` draws 10,000 examples for each property.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

CI = bool(os.environ.get("CI"))
KEPT = {"WORKBOOK_GOLDEN", "WORKBOOK_EVERY_CELL"}  # a tester's own switches, no settings of the package

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A script's background job ignores Ctrl-C, and every program that a test starts and interrupts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default", deadline=None, derandomize=CI, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.register_profile("quick", settings.get_profile("default"), max_examples=15)


def pytest_configure(config):
    """With -m "not slow" each property draws fewer examples; the whole line draws Hypothesis' hundred."""
    quick = config.getoption("markexpr") == "not slow"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick" if quick else "default"))


def pytest_collection_modifyitems(items):
    """Notebooks and browser tests are slow without saying so."""
    for item in items:
        if item.path.suffix == ".ipynb" or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in [*os.environ]:
        if name.startswith("WORKBOOK_") and name not in KEPT:
            monkeypatch.delenv(name)
