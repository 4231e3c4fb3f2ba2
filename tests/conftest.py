"""What every test shares: no setting from outside, and the dose of Hypothesis.

`HYPOTHESIS_PROFILE=thorough pytest` draws 10,000 examples for each property. With --cov a property draws 10: watching
each line trebles the time, and what a line does with many values is for the run without.
"""

import gc
import os
import signal
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

CI = bool(os.environ.get("CI"))
KEPT = {"WORKBOOK_GOLDEN", "WORKBOOK_EVERY_CELL"}  # a tester's own switches, no settings of the package
WATCHED = {"api", "app", "conformance", "proxy", "runner", "simulation", "timing"}
"""Directories whose slow tests reach lines that no quick one does. Others go through every play, mistake or fault
again, or start other processes."""

# A script's background job ignores Ctrl-C, and one of nohup a closed terminal: every program that a test starts and
# ends with such a signal would inherit that.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

settings.register_profile(
    "default", deadline=None, derandomize=CI, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.register_profile("quick", settings.get_profile("default"), max_examples=15)
settings.register_profile("watched", settings.get_profile("default"), max_examples=10)


def pytest_configure(config):
    """With -m "not slow" each property draws fewer examples; the whole line draws Hypothesis' hundred."""
    quick = config.getoption("markexpr") == "not slow"
    dose = "watched" if config.getoption("cov_source", None) else "quick" if quick else "default"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", dose))
    if not hasattr(config, "workerinput"):  # two workers share what Kotlin's compiler made, and leave it to nobody
        cache = TemporaryDirectory(prefix="workbook-tests-")
        config.add_cleanup(cache.cleanup)
        os.environ["XDG_CACHE_HOME"] = cache.name
    most = min(10 * settings().max_examples, 10_000)  # strangers send what the client reads
    settings.register_profile("api", settings(), max_examples=most, suppress_health_check=[*HealthCheck])


def pytest_collection_modifyitems(items):
    """Notebooks and browser tests are slow without saying so. Of slow tests, coverage watches those of `WATCHED`.

    Files with slow tests come first, so that two workers end with many small files and at the same time.
    """
    for item in items:
        elsewhere = item.path.suffix == ".ipynb" or item.get_closest_marker("browser")
        if elsewhere:
            item.add_marker(pytest.mark.slow)
        drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if drawn:
            item.add_marker(pytest.mark.property)
        if item.get_closest_marker("slow") and (drawn or elsewhere or item.path.parent.name not in WATCHED):
            item.add_marker(pytest.mark.unwatched)
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
