"""What a case is told of an app does not depend on how fast the app is."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from workbook.tools.conform.app.cases import APP_CASES, AppCase
from workbook.tools.conform.app.stage import Reference, Tempo, play_core
from workbook.tools.harness.model import Verdict, gravest

slow = pytest.mark.slow
nightly = pytest.mark.nightly
PACES: dict[str, Callable[[], float]] = {
    "100 ms": lambda: 0.1,
    "300 ms": lambda: 0.3,
    "800 ms": lambda: 0.8,
    "at random": lambda: random.uniform(0, 0.8),
}
"""What passes before each change of the page, in seconds."""


def slowed(kind: type[Reference], pause: Callable[[], float]) -> type[Reference]:
    """The same core behind a page that shows each of its changes later, in their order."""

    class Slowed(kind):  # type: ignore[misc,valid-type]  # any core
        def __init__(self, *arguments: Any) -> None:
            self.state, self.shown, self.latest = "absent", "absent", 0.0
            super().__init__(*arguments)

        @property
        def button(self) -> str:
            return self.shown

        @button.setter
        def button(self, value: str) -> None:
            self.state, loop = value, asyncio.get_running_loop()
            self.latest = max(self.latest + 0.001, loop.time() + pause())  # one after the other
            loop.call_at(self.latest, setattr, self, "shown", value)

        async def add_tapped(self) -> None:
            if self.state == "shown":  # the page may still show a button that is disabled in the core
                await super().add_tapped()

    return Slowed


class Careful(Reference):
    """A correct core."""

    async def opened(self) -> None:
        try:
            await super().opened()
        except ConnectionError:
            self.button = "hidden"

    async def add_tapped(self) -> None:
        self.button = "disabled"
        added = await self.sdk.provision(self.fetch_opc) == "Success"
        self.button = await self.sdk.asked() if added else "shown"


class NeverDisabled(Careful):
    """It takes each tap in."""

    async def add_tapped(self) -> None:
        if await self.sdk.provision(self.fetch_opc) == "Success":
            self.button = await self.sdk.asked()


class Repeats(Careful):
    """It sends its POST again 200 ms after a failure."""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        try:
            return await super().fetch_opc(card, sdk_output)
        except ConnectionError:
            await asyncio.sleep(0.2)
            return await super().fetch_opc(card, sdk_output)


class GivesUp(Careful):
    """After a failure its button stays disabled."""

    async def add_tapped(self) -> None:
        self.button = "disabled"
        if await self.sdk.provision(self.fetch_opc) == "Success":
            self.button = await self.sdk.asked()


class AsksAgain(Careful):
    """It repeats a GET that failed 200 ms later, which is right."""

    async def opened(self) -> None:
        try:
            await Reference.opened(self)
        except ConnectionError:
            await asyncio.sleep(0.2)
            await super().opened()


class ShowsAtOnce(Careful):
    """It shows its button before the SDK was asked."""

    async def opened(self) -> None:
        self.button = "shown"
        await super().opened()


class HidesWhenItGivesUp(Careful):
    """It shows its button while it asks, and hides it when it has given the GET up, after 200 ms."""

    async def opened(self) -> None:
        self.button = "shown"
        asking = asyncio.ensure_future(super().opened())
        await asyncio.sleep(0.2)
        left = self.back_end.played.arrivals[-1].leaving = asyncio.Event()
        left.set()
        asking.cancel()
        self.button = "hidden"


class HidesForAMoment(Careful):
    """Wherever its button has to be hidden, it is hidden for half a second, and then shown."""

    async def opened(self) -> None:
        await super().opened()
        await self.come_back()

    async def add_tapped(self) -> None:
        await super().add_tapped()
        await self.come_back()

    async def come_back(self) -> None:
        if self.button == "hidden":
            await asyncio.sleep(0.5)
            self.button = "shown"


CORES = [Careful, AsksAgain, NeverDisabled, Repeats, GivesUp, ShowsAtOnce]
A_FEW = ["screen.shown-when-possible", "screen.hidden-after-success", "screen.not-shown-while-asking",
         "form.adds-the-card", "concurrency.quick-taps", "concurrency.disabled-at-once", "concurrency.one-get-a-page",
         "recovery.adds-after-failure", "faults.post-500", "faults.get-500", "life.closed-and-opened"]  # fmt: skip


def told(kind: type[Reference], cases: Iterable[AppCase]) -> dict[str, tuple[Verdict, list[str]]]:
    """By case, the verdict and what is missed, in words; the cases wait at the same time."""

    def one(case: AppCase) -> tuple[Verdict, list[str]]:
        misses = list(case.judge(play_core(kind, case, Tempo(patience=3))))
        return gravest(misses, case.rule), [f"{miss.expected}: {miss.observed}. {miss.todo}" for miss in misses]

    cases = list(cases)
    with ThreadPoolExecutor(len(cases)) as pool:
        return dict(zip((case.name for case in cases), pool.map(one, cases), strict=True))


def differing(slow: dict[str, Any], plain: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, slow[name], plain[name]) for name in plain if slow[name] != plain[name]]


@slow
@pytest.mark.parametrize("core", CORES)
def test_a_slow_page_is_told_what_the_quick_one_is_told(core: type[Reference]) -> None:
    cases = [APP_CASES[f"app.{name}"] for name in A_FEW]
    plain = told(core, cases)
    assert differing(told(slowed(core, PACES["300 ms"]), cases), plain) == []
    assert any(misses for _verdict, misses in plain.values()) == (core not in {Careful, AsksAgain})


@slow
@nightly
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("core", CORES)
def test_a_page_of_any_pace_is_told_the_same_in_every_case(core: type[Reference], pace: str) -> None:
    cases = [case for case in APP_CASES.values() if not case.variant and "never-answered" not in case.name]
    assert differing(told(slowed(core, PACES[pace]), cases), told(core, cases)) == []


@pytest.mark.rule("FLOW-3")
def test_a_page_is_judged_as_it_was_before_the_app_gave_its_get_up() -> None:
    """Its limit may be shorter than the patience of the run."""
    case = APP_CASES["app.screen.not-shown-while-asking"]
    seen = play_core(HidesWhenItGivesUp, replace(case, steps=case.steps[:6]), Tempo(patience=3))
    assert seen.looks["fetching"] == ("shown", "")


@slow
@pytest.mark.rule("A-CAN-2", "APP-1", "REL-6")
def test_a_button_that_comes_back_half_a_second_later_fails_each_case_where_it_has_to_be_hidden() -> None:
    hidden = {name: case for name, case in APP_CASES.items()
              if name.startswith(("app.screen.hidden", "app.faults.get")) and not case.variant
              and "never-answered" not in name}  # fmt: skip
    assert {verdict for verdict, _misses in told(Careful, hidden.values()).values()} == {Verdict.PASS}
    found = {name: misses for name, (_verdict, misses) in told(HidesForAMoment, hidden.values()).items()}
    assert [name for name, misses in found.items() if not any("it is shown" in miss for miss in misses)] == []
