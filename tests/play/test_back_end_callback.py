"""The integrator's own code, called to its end: plain or a coroutine function, with or without a running loop."""

import asyncio
import threading
from contextvars import ContextVar

import pytest
from rows import rows

from workbook.play.own_code import run_to_end

SETTING = ContextVar("setting", default="outside")


def plain(one, *, two=2):
    return one, two


async def later(one, *, two=2):
    await asyncio.sleep(0)
    return one, two


class Promise:
    """Awaitable, and no coroutine."""

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return "kept"


@pytest.mark.parametrize("function", [plain, later])
def test_it_is_called_with_what_is_given_and_gives_back_what_it_returns(function):
    assert run_to_end(function, 1) == (1, 2)
    assert run_to_end(function, 1, two=3) == (1, 3)


def test_anything_that_can_be_awaited_is_awaited():
    assert run_to_end(Promise) == "kept"
    assert run_to_end(lambda: later(1)) == (1, 2)


def test_a_coroutine_sees_the_context_that_it_was_called_in():
    async def reads():
        await asyncio.sleep(0)
        return SETTING.get()

    token = SETTING.set("inside")
    try:
        assert run_to_end(reads) == "inside"
    finally:
        SETTING.reset(token)


def test_a_plain_function_runs_on_the_caller_s_own_thread():
    assert run_to_end(threading.get_ident) == threading.get_ident()


def raises(error):
    def function():
        raise error

    async def coroutine():
        await asyncio.sleep(0)
        raise error

    return function, coroutine


@rows("error", [ValueError("no"), asyncio.CancelledError(), SystemExit(3), KeyboardInterrupt()])
@rows("form", [0, 1])
def test_what_it_raises_is_raised_here(form, error):
    with pytest.raises(type(error)):
        run_to_end(raises(error)[form])


@pytest.mark.parametrize("value", [None, b"bytes", (), [1], (n for n in ()), iter(())])
def test_what_is_not_awaitable_is_given_back_as_it_is(value):
    assert run_to_end(lambda: value) is value


def test_no_thread_is_left_behind():
    before = threading.active_count()
    for _ in range(3):
        run_to_end(later, 1)
    assert threading.active_count() == before
