"""What every test shares: no setting from outside, and the dose of Hypothesis.

Each property draws 25 examples; `HYPOTHESIS_PROFILE=thorough pytest` draws 10,000.
"""

import gc
import os
import shutil
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

CI = bool(os.environ.get("CI"))
KEPT = {"WORKBOOK_GOLDEN", "WORKBOOK_EVERYTHING", "WORKBOOK_TEMPO"}
"""A tester's own switches; what else begins so would be a setting from outside."""

ROOT = Path(__file__).parents[1]
LONGEST = (
    "tests/tools/conform/app/test_cases",
    "tests/tools/conform/app/test_run",
    "tests/tools/conform/app/test_stage",
    "tests/tools/conform/back_end/test_tempo",
    "tests/browser/test_panels",
    "notebooks/07",
)
"""How the names of the files begin that take longest; the first four mostly wait."""

CELLS = set()
"""The ids of the notebooks' cells that were run."""

# A script's background job ignores Ctrl-C, and one of nohup a closed terminal: every program that a test starts and
# ends with such a signal would inherit that.
ENDING = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL, signal.SIGTERM: signal.SIG_DFL}
for number, usual in ENDING.items():
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
    ENDING[number] = signal.getsignal(number)

settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    derandomize=CI,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("hundred", settings.get_profile("default"), max_examples=100)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.register_profile("quick", settings.get_profile("default"), max_examples=10)


def terse(interactor):
    """xdist's end in a worker tells the other end of each test once, not five times: that is half of xdist's work."""
    send = interactor.sendevent

    def sendevent(name, **what):
        told = what.get("data", {})
        passed_around = name == "testreport" and told["outcome"] == "passed" and told["when"] != "call"
        if not passed_around and name not in {"logstart", "logfinish"}:
            send(name, **what)

    interactor.sendevent = sendevent


def pytest_configure(config):
    """With -m "not slow" each property draws fewer examples."""
    for name in [*os.environ]:
        if name.startswith("WORKBOOK_") and name not in KEPT:
            del os.environ[name]
    quick = config.getoption("markexpr") == "not slow"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick" if quick else "default"))
    if hasattr(config, "workerinput"):
        terse(next(each for each in config.pluginmanager.get_plugins() if hasattr(each, "sendevent")))
    else:  # the workers share what Kotlin's compiler made, and leave it to nobody
        cache = TemporaryDirectory(prefix="workbook-tests-")
        config.add_cleanup(cache.cleanup)
        os.environ["XDG_CACHE_HOME"] = cache.name
    most = min(10 * settings().max_examples, 10_000)  # strangers send what the client reads
    settings.register_profile("api", settings(), max_examples=most, suppress_health_check=[*HealthCheck])


def pytest_collection_modifyitems(config, items):
    """Notebooks and browser tests are slow without saying so, and a test of a file that is made anew is `golden`.

    Tests marked `nightly` are left out, unless WORKBOOK_EVERYTHING is set.

    Files with slow tests come first, so that the workers end with many small files and at the same time. Of these the
    longest begin, and the others are shuffled, always alike: neighbours in a directory wait alike, and while all
    workers wait the processors do nothing.
    """
    for item in items:
        if item.path.suffix == ".ipynb" or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.slow)
        if "generated" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.golden)
    if "WORKBOOK_EVERYTHING" not in os.environ:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("nightly")])
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def turn(item):
        name = str(item.path.relative_to(ROOT))
        return item.path not in slow, not name.startswith(LONGEST), crc32(name.encode()) if item.path in slow else 0

    items.sort(key=turn)


def pytest_runtest_setup(item):
    """A missing program skips a test with its reason, and fails it where CI installs the program."""
    for marker in item.iter_markers("needs"):
        if missing := [program for program in marker.args if shutil.which(program) is None]:
            (pytest.fail if CI else pytest.skip)(f"there is no {missing[0]} on this machine")


def pytest_collection(session):
    """Thousands of tests are made and none is dropped: until then there is nothing to collect."""
    gc.disable()


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


def pytest_sessionstart():
    from workbook.play import own_code

    own_code.NOTICEABLE = 60.0  # on a busy machine no run finds that its code took long, but in the test about that


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Give the signals back that a command took over which the test carried out in this process."""
    for number, handler in ENDING.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def pytest_runtest_logreport(report):
    if report.nodeid.partition("::")[0].endswith(".ipynb"):
        CELLS.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session):
    """A cell needs the cells before it: where one has failed, --last-failed runs all of its notebook."""
    result = yield  # which also writes down what failed
    cache = getattr(session.config, "cache", None)
    if cache and not hasattr(session.config, "workerinput"):
        failed = cache.get("cache/lastfailed", {})
        notebooks = {name.partition("::")[0] for name in failed}
        again = {cell: True for cell in sorted(CELLS) if cell.partition("::")[0] in notebooks}
        cache.set("cache/lastfailed", failed | again)
    return result


@pytest.fixture
def generated():
    """Compares a text with a file that is made of the code; WORKBOOK_GOLDEN=write writes it."""

    def compare(path, text):
        if os.environ.get("WORKBOOK_GOLDEN") == "write":
            path.write_text(text, "utf-8")
        here = path.relative_to(ROOT)
        assert text == path.read_text("utf-8"), f"{here} differs: WORKBOOK_GOLDEN=write pytest -m golden makes it anew"

    return compare


@pytest.fixture
def golden(request, generated):
    """Compares a text with that file of the folder `golden` beside the test."""

    def compare(name, text):
        generated(request.path.parent / "golden" / f"{name}.txt", text + "\n")

    return compare
