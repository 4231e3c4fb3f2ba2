"""The integrator's own code, called to its end: a plain function, or a coroutine function."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def completed(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What `function` returns; an awaitable is awaited to its end on a thread of its own.

    A notebook's kernel has a running loop already, and which thread that is on depends on its version.
    """
    value = function(*args, **named)
    if not inspect.isawaitable(value):
        return value
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, _awaited(value)).result()


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
