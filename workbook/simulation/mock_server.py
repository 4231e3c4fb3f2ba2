"""The mock server: worlds by API key, their journals, the control API, and the state file, in one object.

What the control API does over HTTP, a `MockServer` does in Python by the same names: journal, wait, verify, reset,
faults, scenario.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.simulation import verification
from workbook.simulation.contract import Problem
from workbook.simulation.http import PROBLEM_HEADERS, Request, Response
from workbook.simulation.journal import ANY, Entry, Journal, Matching
from workbook.simulation.phones import PhoneA
from workbook.simulation.scenario import Scenario, load
from workbook.simulation.sdks import SdkA
from workbook.simulation.server import LOOPBACK_HOSTS, host_name, is_own_host
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.verification import Expectation, Outcome
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World
from workbook.simulation.worlds import Worlds
from workbook.values import did_you_mean

DEFAULT = "default"
FOREIGN = Problem(421, "00_421", "Misdirected request", "assumed")
WAIT = 10.0
"""Seconds that `wait` waits where nothing else is said, as over HTTP."""


class MockServer:
    """A simulated API: a world for each of a scenario's credentials.

    A test uses the object that a server serves; a thread may wait while another asks:

    >>> from workbook.simulation.mock_server import MockServer
    >>> from workbook.simulation.journal import Match
    >>> from workbook.simulation.server import running
    >>> from workbook.simulation.verification import exactly, no_repeated_post
    >>> import httpx
    >>> stand = MockServer()
    >>> stand.faults({"fault": "503 that says 500", "operation": "GET", "nth": 2})
    >>> target = "/bcl/v2/paymentInstruments/PISIMULATED00000000000001/networkTokenActivationData"
    >>> with running(stand) as url, httpx.Client(base_url=url, headers={"x-api-key": stand.keys["back end"]}) as client:
    ...     [client.get(target).status_code for _ in range(3)]
    [200, 503, 200]
    >>> stand.wait(Match("GET", after=1)).fault
    '503 that says 500'
    >>> for outcome in stand.verify(exactly(2, "GET").answered(200), no_repeated_post()):
    ...     print(outcome)
    ok: exactly 2 GET answered 200; seen: 2 GET (#1, #3).
    ok: no POST sent twice with the same body (REL-1); seen: 0 POST, no two alike.
    >>> len(stand.journal().to_har()["log"]["entries"])
    3
    >>> stand.scenario("class-room")
    >>> (stand.world.name, len(stand.journal()))
    ('class-room', 0)

    Each of these calls is about the world that `world` names, such as "w2" (see `worlds`). It may be left out where
    only one world has a key. Where no world has the name, a `ParameterError` is raised.

    Args:
        scenario: a scenario's name or file.
        seed: instead of the scenario's own, and of each that is opened later.
        state: a file that keeps the worlds over a restart; the worlds in it are opened instead of the scenario.
        names: host names that mean this server, besides loopback.
        basis_header: test mode: every answer says in a header what it rests on.

    Attributes:
        keys: credential's name to key.
        worlds: what answers.

    Raises:
        ConfigurationError: the scenario or the state file is invalid.
    """

    def __init__(
        self,
        scenario: str | Path = DEFAULT,
        *,
        seed: int | None = None,
        state: Path | None = None,
        names: Iterable[str] = (),
        basis_header: bool = False,
    ) -> None:
        self._seed = seed
        self._names = tuple(names)
        chosen = load(scenario)
        self.worlds = Worlds(state, basis_header=basis_header)
        restored = {f"kept {number}": key for number, key in enumerate(self.worlds.keys, 1)}
        self.keys: Mapping[str, str] = restored or self.worlds.add_each(chosen, seed=seed)

    def __repr__(self) -> str:
        return f"MockServer({self.worlds!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def world(self) -> World:
        """What the first key opens."""
        return self.worlds.place(next(iter(self.keys.values()))).world

    def respond(self, request: Request) -> Response:
        """The answer to a request, in the world that its key opens; 421 where its Host is not this server's."""
        if is_own_host(request, self._names):
            return self.worlds.respond(request)
        names = ", ".join(sorted(LOOPBACK_HOSTS.union(map(host_name, self._names))))
        detail = f"This server does not go by that name. Ask for {names}."
        return Response(FOREIGN.status, PROBLEM_HEADERS, FOREIGN.body(detail), FOREIGN.basis)

    def close(self) -> None:
        """Release the state file."""
        self.worlds.close()

    @property
    def journals(self) -> Mapping[str, Journal]:
        """The worlds' journals by name; "nobody" has the requests whose key opens no world."""
        return self.worlds.journals

    def journal(self, world: str | None = None) -> Journal:
        """What a world was asked and what it answered; `to_har` and `to_jsonl` export it."""
        return self.worlds.named(world).journal

    def wait(self, matching: Matching = ANY, timeout: float = WAIT, *, world: str | None = None) -> Entry | None:
        """The first exchange that matches, past or to come; None when the time (seconds) was up."""
        return self.journal(world).wait(matching, timeout)

    def verify(self, *expectations: Expectation, world: str | None = None) -> list[Outcome]:
        """The outcome of each expectation of a world's journal, in their order."""
        return verification.verify(self.journal(world), *expectations)

    def reset(self, world: str | None = None) -> None:
        """Make a world what it was at the start, with an empty journal.

        Raises:
            ConfigurationError: the state file cannot be written, and nothing changed.
        """
        opened = self.worlds.named(world)
        if opened is self.worlds.nobody:
            opened.journal.reset()
        else:
            self.worlds.reset(self.worlds.key_of(opened))

    def faults(self, *tables: dict[str, Any], world: str | None = None) -> None:
        """Play these faults from now on, instead of the planned ones; each as a scenario's `[[fault]]` table.

        Raises:
            ConfigurationError: a table is invalid; or as `reset`.
        """
        self.worlds.fault(self.worlds.key_of(self.worlds.named(world)), tables)

    def scenario(self, scenario: str | Path | Scenario, *, world: str | None = None) -> None:
        """Open a scenario in a world, behind the same key and from its beginning, with an empty journal.

        Args:
            scenario: its name, its file, or the scenario itself.
            world: which; see above.

        Raises:
            ConfigurationError: the scenario is invalid; or as `reset`.
        """
        what = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.worlds.open(self.worlds.key_of(self.worlds.named(world)), what, seed=self._seed)


SERIALS = range(1_000_000, 1_000_000_000)
"""The range of a fresh sdkOutput's serial: too many for two to collide, and each still short enough to be shown."""


def fresh_output(payment_instrument_id: str = INSTRUMENT_IDS[0], *, seed: int = 7, world: World | None = None) -> str:
    """An sdkOutput that the simulated SDK makes now: no two are equal, and each is good for one POST.

    A server recognises it by its seed, so it can be made in another process than the server's.

    Args:
        payment_instrument_id: one of the world's.
        seed: the seed of the server that it is for.
        world: has the instruments; None takes the default one.

    Raises:
        ParameterError: no instrument has this id.
    """
    world = replace(world or World(), seed=seed, credentials={SIMULATED_KEY: Credential()})
    if payment_instrument_id not in world.instruments:
        hint = did_you_mean(payment_instrument_id, world.instruments)
        raise ParameterError(f"No payment instrument {payment_instrument_id[:40]!r}. {hint}")
    service = Service(world)
    sdk = SdkA(PhoneA(outputs=secrets.choice(SERIALS)), service.seal, api_error=True)
    sdk.answer(m.CreateProvisioning(DirectApi(service).get(payment_instrument_id).sdk_input))
    _seconds, event = sdk.answer(m.CreateSdkOutput())
    return str(event.sdk_output.text)  # type: ignore[attr-defined]  # the outcome of that very command
