"""Ctrl-C while a run is under way: asks once for its end, and breaks off nothing that is tidied up or written."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, a cancelled build, a closed terminal."""


class Stopping:
    """From `begin` to the end of the block such a signal raises nothing.

    Args:
        last: the process ends after the block, so that no signal after the first means anything any more.

    Attributes:
        asked: whether one has come.
    """

    def __init__(self, *, last: bool = False) -> None:
        self.asked = False
        self._last = last
        self._stop: Callable[[], None] | None = None
        self._kept: dict[int, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        for number, handler in self._kept.items():
            signal.signal(number, signal.SIG_IGN if self.asked and self._last else handler)
        self._kept.clear()

    def begin(self, stop: Callable[[], None]) -> None:
        """From here on the first signal calls this, and every other one nothing; only the main thread gets signals."""
        self._stop = stop
        if threading.current_thread() is threading.main_thread() and not self._kept:
            numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
            self._kept = {number: signal.signal(number, self._came) for number in numbers}

    def _came(self, _number: int, _frame: object) -> None:
        first, self.asked = not self.asked, True
        if first and self._stop is not None:
            self._stop()
