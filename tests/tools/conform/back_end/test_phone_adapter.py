"""A back end in Python, called without HTTP, has a phone with the same interface."""

import asyncio
import base64
import os
import sys
import threading
import time
from time import monotonic

import pytest

from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.judging import outcome
from workbook.tools.conform.back_end.model import Broke, Cardholder, PhoneCall
from workbook.tools.conform.back_end.phone import PythonPhone, check_adapter, load_adapter

ANN = Cardholder("ann", ("A",), (("token", "ann"),))
MODULE = """
import os
KEY = os.environ["API_KEY"]
class One:
    def get(self, card, session):
        return KEY
    def post(self, card, session, sdk_output):
        return None
"""
TEXT = base64.b64encode(b"bytes").decode()


class Good:
    def __init__(self):
        self.came = []

    def get(self, card, session):
        self.came.append((card, session, threading.current_thread().name))
        return f"for {card}"

    def post(self, card, session, sdk_output):
        self.came.append((card, session, sdk_output))
        return sdk_output


def call(adapter, operation="GET", sent=None, *, decoded=False, bound=5.0, cancel=None, card="A"):
    async def make():
        async with PythonPhone(adapter, bound, decoded=decoded) as phone:
            return await phone.call(PhoneCall(1, operation, "ann", card, sent, session=ANN.session, cancel=cancel))

    return asyncio.run(make())


def test_a_value_is_a_success_and_the_call_runs_off_the_loop():
    good = Good()
    got = call(good)
    assert (got.succeeded, got.value, got.body) == (True, "for A", b"for A")
    assert good.came == [("A", {"token": "ann"}, "adapter")]
    assert call(good, "POST", TEXT).value == TEXT


def test_bytes_travel_as_bytes():
    good = Good()
    assert call(good, "POST", TEXT, decoded=True).value == TEXT
    assert good.came == [("A", {"token": "ann"}, b"bytes")]
    assert call(good, decoded=True).value is None


@pytest.mark.parametrize("raised", [ValueError("no card"), SystemExit(3), KeyboardInterrupt()])
def test_an_exception_is_a_failure_that_the_app_is_told(raised):
    class Broken(Good):
        def get(self, card, session):
            raise raised

    got = call(Broken())
    assert (got.status, got.reported_success, got.value) == (500, False, None)
    assert got.body == str(raised).encode()
    assert outcome(got).startswith(f"status 500 (it raised {type(raised).__name__}), after ")


@pytest.mark.parametrize("nothing", [None, "", 3, {"sdkInput": "x"}])
def test_a_value_that_is_no_text_is_no_sdk_input(nothing):
    class Odd(Good):
        def get(self, card, session):
            return nothing

    assert not call(Odd()).succeeded


def test_an_async_callable_is_awaited():
    class Async(Good):
        async def get(self, card, session):
            await asyncio.sleep(0)
            return "async"

        async def post(self, card, session, sdk_output):
            raise ValueError(card)

        def later(self, card, session):  # as a decorator may leave it
            return Async.get(self, card, session)

    assert call(type("Decorated", (Async,), {"get": Async.later})()).value == "async"
    assert call(Async()).value == "async"
    assert call(Async(), "POST", TEXT).status == 500


def test_one_that_hangs_holds_up_nothing():
    class Hangs(Good):
        def get(self, card, session):
            time.sleep(60)

    began = monotonic()
    assert call(Hangs(), cancel=0.1).broke is Broke.CANCELLED
    assert call(Hangs(), bound=0.1).broke is Broke.LATE
    assert monotonic() - began < 30


def test_calls_run_side_by_side():
    barrier = threading.Barrier(8, timeout=10)

    class Crowd(Good):
        def get(self, card, session):
            barrier.wait()
            return card

    async def many():
        phone = PythonPhone(Crowd(), 20.0)
        return await asyncio.gather(*(phone.call(PhoneCall(1, "GET", "ann", str(n))) for n in range(8)))

    assert [one.value for one in asyncio.run(many())] == [str(n) for n in range(8)]


def key_of(folder):
    with load_adapter("made_adapter:One", folder) as adapter:
        return adapter.get("A", {})


@pytest.mark.slow
def test_an_adapter_is_found_beside_the_file_and_afresh_each_time(tmp_path, monkeypatch):
    module = tmp_path / "made_adapter.py"
    module.write_text(MODULE)
    for key in ("first", "second"):
        monkeypatch.setenv("API_KEY", key)
        assert key_of(tmp_path) == key
    with (
        pytest.raises(ConfigurationError, match=r"has no 'Oned'\. Did you mean 'One'"),
        load_adapter("made_adapter:Oned", tmp_path),
    ):
        pass
    for raised in ("ValueError", "SystemExit"):
        module.write_text(f"raise {raised}('secret')")
        with pytest.raises(ConfigurationError, match=rf"cannot be imported: {raised}\.$"):
            key_of(tmp_path)


@pytest.mark.parametrize("helper", ["beside.py", "package/inner.py"])
def test_an_edit_within_the_same_second_is_seen_in_helper_modules_too(tmp_path, monkeypatch, helper):
    """Python writes byte code by default, and takes it for current where size and second of the source are the same."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / helper
    path.parent.mkdir(exist_ok=True)
    name = helper.removesuffix(".py").replace("/", ".")
    (tmp_path / "made_adapter.py").write_text(
        MODULE.replace('os.environ["API_KEY"]', f"__import__('{name}', None, None, ['x']).KEY")
    )
    before = list(sys.path), list(sys.path_hooks), set(sys.modules)
    for key in ("first", "other"):
        path.write_text(f"KEY = {key!r}")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        assert key_of(tmp_path) == key
    assert (sys.path, sys.path_hooks) == before[:2]
    assert not {"made_adapter", name} & sys.modules.keys()


def test_a_callable_may_import_while_it_is_called(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 'late'")
    (tmp_path / "made_adapter.py").write_text("""
class One:
    def get(self, card, session):
        import beside
        return beside.VALUE
    def post(self, card, session, sdk_output):
        return None
""")
    assert key_of(tmp_path) == "late"


def test_an_adapter_has_both_callables():
    class Half:
        def get(self, card, session): ...

    with pytest.raises(ConfigurationError, match="'half' has no callable 'post'"):
        check_adapter(Half, "half")

    class Other(Good):
        def get(self, card): ...

    with pytest.raises(ConfigurationError, match=r"'get' of 'other' cannot be called with card, session\. It needs"):
        check_adapter(Other, "other")
    assert isinstance(check_adapter(Good, "good"), Good)
