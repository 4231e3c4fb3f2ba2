"""A back end in Python, called without HTTP, has a phone with the same interface."""

import asyncio
import base64
import threading
import time
from time import monotonic

import pytest

from workbook.conformance.adapter import OverPython, checked, found
from workbook.conformance.judging import outcome
from workbook.conformance.phone import Asked, Phone
from workbook.conformance.seen import Broke
from workbook.conformance.target import CALLED, Cardholder, Target
from workbook.errors import ConfigurationError

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
        target = Target("python:x", {"platform A": CALLED}, (ANN,), bound=bound, adapter=adapter)
        async with Phone(target, CALLED, OverPython(adapter, decoded=decoded)) as phone:
            return await phone.call(Asked(1, operation, ANN, card, sent, cancel))

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
    assert outcome(got).startswith(f"status 500 (it raised {type(raised).__name__}), no sdkInput")


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
        over, facts = OverPython(Crowd()), [{} for _ in range(8)]
        await asyncio.gather(*(over.carry(Asked(1, "GET", ANN, str(n), None), told) for n, told in enumerate(facts)))
        return facts

    assert [one["value"] for one in asyncio.run(many())] == [str(n) for n in range(8)]


@pytest.mark.rule("X-STATUS-3")
def test_a_third_callable_may_answer_status():
    class WithStatus(Good):
        def status(self, session):
            return session["token"] == "ann"

    class Wrong(Good):
        status = "not to be called"

    assert call(WithStatus(), "status()").reported_success
    assert call(type("Fails", (Good,), {"status": lambda _self, _session: 1 / 0})(), "status()").status == 500
    holders = {"cardholders": (ANN,), "surfaces": {}}
    assert [Target("python:x", adapter=one(), **holders).answers_status for one in (WithStatus, Good)] == [True, False]
    with pytest.raises(ConfigurationError, match=r"'status' of 'wrong' cannot be called with session\. It needs get"):
        checked(Wrong, "wrong")


def test_a_class_that_cannot_be_made_is_told():
    class Needs(Good):
        def __init__(self, more):
            """It wants what nobody gives it."""

    with pytest.raises(ConfigurationError, match=r"'needs' cannot be made: TypeError\. It is called without arguments"):
        checked(Needs, "needs")


def test_an_adapter_is_found_beside_the_file_and_afresh_each_time(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    module = tmp_path / "made_adapter.py"
    module.write_text(MODULE)
    for key in ("first", "second"):
        monkeypatch.setenv("API_KEY", key)
        assert found("made_adapter:One", tmp_path).get("A", {}) == key
    with pytest.raises(ConfigurationError, match=r"has no 'Oned'\. Did you mean 'One'"):
        found("made_adapter:Oned", tmp_path)
    for raised in ("ValueError", "SystemExit"):
        module.write_text(f"raise {raised}('secret')")
        with pytest.raises(ConfigurationError, match=rf"cannot be imported: {raised}\.$"):
            found("made_adapter:One", tmp_path)


def test_an_adapter_has_both_callables():
    class Half:
        def get(self, card, session): ...

    with pytest.raises(ConfigurationError, match="'half' has no callable 'post'"):
        checked(Half, "half")

    class Other(Good):
        def get(self, card): ...

    with pytest.raises(ConfigurationError, match=r"'get' of 'other' cannot be called with card, session\. It needs"):
        checked(Other, "other")
    assert isinstance(checked(Good, "good"), Good)
