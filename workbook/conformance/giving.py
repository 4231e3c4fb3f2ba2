"""Gives the back end the API's address and key, in the way that the configuration says, and waits until it is there."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from workbook.conformance.adapter import found
from workbook.conformance.origin import Origin, listens
from workbook.conformance.plain import called, hopeless, wrong
from workbook.conformance.start import Command, StartError, posted

if TYPE_CHECKING:
    from contextlib import ExitStack

    from workbook.conformance.config import Config
    from workbook.conformance.progress import Progress
    from workbook.conformance.rig import Rig
    from workbook.conformance.side import Side
    from workbook.conformance.target import Target

PAUSE = 1.0
"""Seconds between two looks for the first call."""


class Giving:
    """One back end and how it comes to the values.

    Args:
        config: says how.
        side: where the API's side listens.
        known: the back end has the values already, and nothing is to be done.
        told: is told of what a person has to do.
        stack: ends with the run, and the command with it.

    Attributes:
        target: the back end, with everything that is known of it once it has the values.

    Raises:
        ConfigurationError: the adapter cannot be loaded.
    """

    def __init__(self, config: Config, side: Side, told: Progress, stack: ExitStack, *, known: bool) -> None:
        self._config, self._known, self._told, self._url = config, known, told, side.url
        self._values = config.exports.values(side.url, side.key)
        self._command: Command | None = None
        self.target = self._target(config, stack)

    def _target(self, config: Config, stack: ExitStack) -> Target:
        start, target = config.start, config.target
        if config.adapter and config.folder is not None:
            stack.callback(_restored, {name: os.environ.get(name) for name in self._values})
            os.environ.update(self._values)
            return replace(target, adapter=found(config.adapter, config.folder))
        if start.command is None or self._known:
            return target
        self._command = stack.enter_context(Command(start.command, start.folder, self._values))
        return replace(target, logs=(*target.logs, self._command.output))

    @property
    def ended(self) -> str:
        """How the back end's command ended, in words; empty while it runs, and where there is none."""
        return "" if self._command is None else self._command.ended

    def end(self) -> None:
        """End the back end where a command runs it: what it says as it goes belongs to the run."""
        if self._command is not None:
            self._command.end()

    @property
    def _by_hand(self) -> bool:
        start = self._config.start
        return not (self._known or start.command or start.hook or self.target.adapter)

    async def done(self, rig: Rig) -> None:
        """Wait until the back end has the values and listens.

        Raises:
            StartError: it does not.
            ConfigurationError: its address may not be contacted.
        """
        self._told.exported(self._values if self._by_hand else {}, self._url)
        if self.target.adapter is not None:
            return
        origin, limits = Origin.of(self.target.base_url), self._config.timeouts
        try:
            await origin.addresses()
        except OSError:
            raise StartError(f"The name {origin.host!r} of the back end has no address.") from None
        if self._command is not None:
            if await listens(origin, 1):
                raise StartError(f"Somebody listens at {self.target.base_url} already. End that first, "
                                 "or leave the command out where that is your back end.")  # fmt: skip
            self._command.start()
            await self._command.listening(origin, limits.start)
        elif self._config.start.hook and not self._known:
            await posted(self._config.start.hook, self._values, limits.start, self.target.ca_file)
        elif self._by_hand:
            await self._first_call(rig, limits.first_call)

    async def _first_call(self, rig: Rig, seconds: float) -> None:
        """Ask until something comes of it: a person is setting the values, and may be starting the back end."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            self._told.wait(left)
            seen = await called(rig)
            if seen.arrived or not wrong(seen, rig) or hopeless(seen):
                return
            await asyncio.sleep(min(PAUSE, max(0.0, until - monotonic())))


def _restored(kept: dict[str, str | None]) -> None:
    """The environment as it was."""
    for name, value in kept.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
