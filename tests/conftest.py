"""What every test shares: no setting from outside, and the dose of Hypothesis.

`HYPOTHESIS_PROFILE=thorough pytest` draws 10,000 examples for each property.
"""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

CI = bool(os.environ.get("CI"))
KEPT = {"WORKBOOK_GOLDEN", "WORKBOOK_EVERY_CELL"}  # a tester's own switches, no settings of the package
SWEEPS = {"checks", "extension", "flows", "plays", "runs", "views", "widgets"}
"""Directories whose slow tests go through every play, mistake or fault again, on lines that the quick ones cover."""

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
    """Notebooks and browser tests are slow without saying so. Coverage, which costs half as much again, skips sweeps.

    Files with slow tests come first, so that two workers end with many small files and at the same time.
    """
    for item in items:
        elsewhere = item.path.suffix == ".ipynb" or item.get_closest_marker("browser")
        if elsewhere:
            item.add_marker(pytest.mark.slow)
        if elsewhere or (item.path.parent.name in SWEEPS and item.get_closest_marker("slow")):
            item.add_marker(pytest.mark.no_cover)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection(session):
    """Thirteen thousand tests are made and none is dropped: until then there is nothing to collect."""
    gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in [*os.environ]:
        if name.startswith("WORKBOOK_") and name not in KEPT:
            monkeypatch.delenv(name)


@pytest.fixture
def golden(request):
    """Compares a text with that file of the folder `golden` beside the test; WORKBOOK_GOLDEN=write writes it."""

    def compare(name, text):
        path = request.path.parent / "golden" / f"{name}.txt"
        if os.environ.get("WORKBOOK_GOLDEN") == "write":
            path.write_text(text + "\n", "utf-8")
        assert text + "\n" == path.read_text("utf-8"), f"{path} differs; WORKBOOK_GOLDEN=write makes it anew"

    return compare
