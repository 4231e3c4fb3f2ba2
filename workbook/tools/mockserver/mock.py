"""`wb.MockServer`: the simulated API as a server inside a test, and what it was asked.

A `MockServer` has worlds by API key and their journals. What the control API does over HTTP, it does in Python by the
same names: journal, reset, faults, scenario. A journal's `entries()` are plain values to count and compare.
"""

import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Self

from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows.variants import PROFILES
from workbook.simulation.contract import SPEC, Problem
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.simulation.scenario import Scenario, load, plan
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service, all_keys_in
from workbook.simulation.world import INSTRUMENT_IDS, World
from workbook.tools.mockserver.journal import Journal
from workbook.tools.mockserver.server import LOOPBACK_HOSTS, host_name, is_own_host

# The `[[fault]]` tables of a scenario.
Faults = tuple[dict[str, Any], ...]

# The public name of the world of all requests whose key opens none.
NOBODY = "nobody"


class OpenWorld:
    """One key's world, and everything that answers and remembers for it.

    It has a service of its own, and with it its own memory, seed and faults. Threads take turns in it: a service counts
    what it issues and a fault plan counts requests, so no two may count at once.

    Attributes:
        name: its public name, such as w1.
        key: what opens it; None for nobody's world.
        world: its instruments, credential, seed, profile and latencies.
        faults: the `[[fault]]` tables that it was opened with, which a reset plays again.
        service: answers, and remembers.
        journal: what was asked and answered.

    Raises:
        ConfigurationError: a fault is invalid.
    """

    def __init__(self, name: str, key: str | None, journal: Journal, world: World, faults: Faults = ()) -> None:
        self.name = name
        self.key = key
        self.journal = journal
        self._lock = RLock()
        self._begin(world, faults)

    def _begin(self, world: World, faults: Faults) -> None:
        with self._lock:
            self.service = Service(world, plan(faults, world.seed, where=world.name))
            self.world = world
            self.faults = faults
            self.journal.reset()

    def checked_key(self) -> str:
        """The key that opens it.

        Raises:
            ConfigurationError: none does.
        """
        if self.key is None:
            raise ConfigurationError("No key opens this world: it answers requests without a valid key. Name another.")
        return self.key

    def open(self, scenario: Scenario, seed: int | None = None) -> None:
        """Put a scenario's world in its place, at its beginning.

        Raises:
            ConfigurationError: no key opens it, or a fault is invalid; nothing changed.
        """
        self._begin(scenario.world(api_key=self.checked_key(), seed=seed), scenario.faults)

    def reset(self) -> None:
        """Make the world what it was when it was opened: nothing issued, nothing exchanged, every fault still to come.

        Faults that were planned since are gone; the journal is empty.
        """
        self._begin(self.world, self.faults)

    def play(self, faults: Faults) -> None:
        """Play these `[[fault]]` tables from now on, instead of its own; the world keeps its memory.

        Raises:
            ConfigurationError: no key opens it, or a table is invalid; nothing changed.
        """
        self.checked_key()
        with self._lock:
            self.service.plan = plan(faults, self.world.seed, where=self.world.name)

    def respond(self, request: Request, keys: Iterable[str]) -> Response:
        """The world's answer, which the journal keeps without any of these keys."""
        with self._lock:
            arrived = self.journal.now()
            try:
                response = self.service.respond(request)
            except Exception as error:
                self.journal.record(arrived, request, error, keys)
                raise
            self.journal.record(arrived, request, response, keys)
        seconds = self.world.latencies.get(request.method, 0.0)
        if not seconds:
            return response
        wire = replace(response.wire, before_headers=response.wire.before_headers + seconds)
        return replace(response, wire=wire)  # a server with a real socket carries it out


class MockServer(AbstractContextManager["MockServer"]):
    """The simulated API on a free loopback port for as long as a `with` block lasts, with what it was asked.

    Each key opens a world of its own, and none sees another, so one server serves a whole class. Worlds are named "w1",
    "w2" and so on in the order in which they were opened. A request whose key opens none is answered as a service
    without any credential answers it, and journaled under the name "nobody". Where a call leaves `world` out, it means
    the only one that has a key; where no world has the name, it raises a `ParameterError`.

    Args:
        scenario: a scenario's name or file: each of its credentials gets a key. None opens no world yet; see `add`.
        seed: replaces the scenario's own, and that of each scenario opened later.
        journal: a file to which each exchange is appended as a line of JSON, redacted.
        names: host names that mean this server, besides loopback.

    Attributes:
        url: the base URL inside the block, else empty.
        keys: credential's name to key.

    Raises:
        ConfigurationError: the scenario is invalid, or the journal's file cannot be written.

    Example:
        >>> with wb.MockServer() as server, wb.ActivationDataClient(server.url, server.key) as api:
        ...     answer = api.post("PISIMULATED00000000000001", server.sdk_output())
        >>> [(entry.operation, entry.status) for entry in server.journal().entries()]
        [('POST', 200)]
    """

    def __init__(
        self,
        scenario: str | Path | None = "default",
        *,
        seed: int | None = None,
        journal: Path | None = None,
        names: Iterable[str] = (),
    ) -> None:
        self._seed = seed
        self._journal_file = journal
        self._names = tuple(names)
        self._opened: dict[str, OpenWorld] = {}
        self._lock = RLock()
        self._serving = ExitStack()
        self.url = ""
        refusals = Journal(file=journal)
        self._nobody = {
            profile: OpenWorld(NOBODY, None, refusals, World(instruments={}, credentials={}, profile=profile))
            for profile in PROFILES
        }
        self.keys: dict[str, str] = {}
        if scenario is not None:
            chosen = load(scenario)
            for name in sorted(chosen.credentials, key=lambda name: not chosen.credentials[name].roles):
                self.keys[name] = self.add(chosen, credential=name)

    def __repr__(self) -> str:
        following = "with server: .url, .key, .sdk_output(), .faults(), .journal()"
        return f"MockServer(worlds={len(self._opened)})\nNext: {following}."

    def __enter__(self) -> Self:
        from workbook.tools.mockserver.server import running  # sockets and TLS, needed only here

        self.url = self._serving.enter_context(running(self))
        return self

    def __exit__(self, *_error: object) -> None:
        self._serving.close()
        self.url = ""

    @property
    def key(self) -> str:
        """The first key, for a client."""
        return self.named("w1").checked_key()

    def sdk_output(self, payment_instrument_id: str = INSTRUMENT_IDS[0]) -> str:
        """A fresh sdkOutput of the first key's world, good for one POST; see `fresh_output`.

        Raises:
            ParameterError: no instrument has this id, or the API would not answer for it.
        """
        return fresh_output(payment_instrument_id, seed=self.world.seed, world=self.world)

    # ------------------------------------------------------------ requests

    def respond(self, request: Request) -> Response:
        """The answer of the world that the request's key opens; 421 where its Host is not this server's."""
        if not is_own_host(request, self._names):
            names = ", ".join(sorted(LOOPBACK_HOSTS.union(map(host_name, self._names))))
            problem = Problem(421, "00_421", "Misdirected request", "assumed")
            body = problem.body(f"This server does not go by that name. Ask for {names}.")
            return Response(problem.status, JSON_HEADERS, body, problem.basis)
        key = self._opening_key(request)
        opened = self._nobodys_world if key is None else self._opened[key]
        return opened.respond(request, self._opened)

    def _opening_key(self, request: Request) -> str | None:
        """The key that opens a world to this request, in whichever way the request carries it; None where none does.

        The world's own contract decides whether that way is accepted.
        """
        key = request.header("x-api-key")
        if key in self._opened:
            return key
        return next((candidate for candidate in all_keys_in(request, SPEC) if candidate in self._opened), None)

    @property
    def _nobodys_world(self) -> OpenWorld:
        """It answers in the profile of the first world: a client that is refused sees how this server refuses."""
        first = [*self._opened.values()][:1]
        return self._nobody[first[0].world.profile if first else PROFILES[0]]

    # ------------------------------------------------------------ worlds

    def add(self, scenario: str | Path | Scenario, key: str | None = None, *, credential: str | None = None) -> str:
        """Give a key a world of its own, and return the key.

        Two worlds with the same seed read each other's sdkOutput, as nothing else distinguishes their seals.

        Args:
            scenario: what the world holds: its name, its file, or the scenario itself.
            key: None makes a fresh one.
            credential: which of the scenario's; None takes the first.

        Raises:
            ConfigurationError: the key is no header value or is taken already; the scenario is invalid, or has no such
                credential. Nothing was added.
        """
        chosen = load(scenario)
        key = f"SIMULATED-{secrets.token_urlsafe(18)}" if key is None else key
        if not isinstance(key, str) or re.fullmatch("[!-~]{1,1000}", key) is None:
            allowed = "1 to 1000 printable ASCII characters, no blanks"
            raise ConfigurationError(f"That key cannot stand in a header. A key is {allowed}.")
        with self._lock:
            if key in self._opened:
                raise ConfigurationError("This key opens a world already (it is not repeated here). Choose another.")
            journal = Journal(file=self._journal_file)
            world = chosen.world(api_key=key, credential=credential, seed=self._seed)
            self._opened[key] = OpenWorld(f"w{len(self._opened) + 1}", key, journal, world, chosen.faults)
        return key

    @property
    def worlds(self) -> dict[str, OpenWorld]:
        """Every world by its public name, nobody's first."""
        with self._lock:
            return {opened.name: opened for opened in (self._nobodys_world, *self._opened.values())}

    def named(self, name: str | None = None) -> OpenWorld:
        """The world of this public name; None means the only one that has a key.

        Raises:
            ParameterError: no world has this name, or there are several.
        """
        worlds = self.worlds
        name = "w1" if name is None and len(worlds) == 2 else name  # nobody's, and this one
        if name not in worlds:
            hint = did_you_mean((name or "")[:40], worlds)
            raise ParameterError(f"Say which world is meant, as world=NAME. {hint}")
        return worlds[name]

    @property
    def world(self) -> World:
        """What the first key opens."""
        return self.named("w1").world

    @property
    def journals(self) -> Mapping[str, Journal]:
        """The worlds' journals by name; "nobody" has the requests whose key opens no world."""
        return {name: opened.journal for name, opened in self.worlds.items()}

    def journal(self, world: str | None = None) -> Journal:
        """What a world was asked and what it answered; `to_jsonl` exports it."""
        return self.named(world).journal

    def reset(self, world: str | None = None) -> None:
        """Make a world what it was at the start, with an empty journal."""
        self.named(world).reset()

    def faults(self, *tables: dict[str, Any], world: str | None = None) -> None:
        """Play these faults from now on, instead of the planned ones; without arguments none.

        Args:
            tables: each as a scenario's `[[fault]]` table, such as `{"fault": "latency", "seconds": 3.0}`: one of
                `wb.table("faults")` and its settings. `operation`, `nth`, `share`, `payment_instrument_id` and `moment`
                say when it is played; without them always.
            world: which; see above.

        Raises:
            ConfigurationError: a table is invalid.
        """
        self.named(world).play(tables)

    def scenario(self, scenario: str | Path | Scenario, *, world: str | None = None) -> None:
        """Open a scenario in a world, behind the same key and from its beginning, with an empty journal.

        Args:
            scenario: its name, its file, or the scenario itself.
            world: which; see above.

        Raises:
            ConfigurationError: the scenario is invalid.
        """
        self.named(world).open(load(scenario), self._seed)


def fresh_output(payment_instrument_id: str = INSTRUMENT_IDS[0], *, seed: int = 7, world: World | None = None) -> str:
    """An sdkOutput that the simulated SDK makes now: no two are equal, and each is good for one POST.

    A server recognises it by its seed, so it can be made in another process than the server's.

    Args:
        payment_instrument_id: one of the world's.
        seed: the seed of the server that it is for.
        world: has the instruments; None takes the default one.

    Raises:
        ParameterError: no instrument has this id, or the API would not answer for it.
    """
    instruments = (world or World()).instruments
    if payment_instrument_id not in instruments:
        hint = did_you_mean(payment_instrument_id, instruments)
        raise ParameterError(f"No payment instrument {payment_instrument_id[:40]!r}. {hint}")
    if why := instruments[payment_instrument_id].why_unusable:
        raise ParameterError(f"There is no sdkOutput for it: {why}")
    serial = secrets.choice(range(1_000_000, 1_000_000_000))  # no two collide, and each is short enough to be shown
    return Seal(seed).close(Content.OUTPUT, payment_instrument_id, serial, attempt=serial)
