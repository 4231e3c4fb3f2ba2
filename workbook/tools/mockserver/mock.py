"""`wb.mock`: the simulated API as a server inside a test, and what it was asked.

A `MockServer` has worlds by API key and their journals. What the control API does over HTTP, it does in Python by the
same names: journal, reset, faults, scenario. A journal's `entries()` are plain values to count and compare.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any, Self

from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0, PROFILES
from workbook.simulation.contract import SPEC, Problem
from workbook.simulation.http import BASIS_HEADER, JSON_HEADERS, Request, Response
from workbook.simulation.phones import PhoneA
from workbook.simulation.scenario import Scenario, load, plan
from workbook.simulation.sdks import SdkA
from workbook.simulation.service import DirectApi, Service, all_keys_in
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World
from workbook.tools.mockserver.journal import Entry, Journal, Match
from workbook.tools.mockserver.server import LOOPBACK_HOSTS, host_name, is_own_host

__all__ = ["Entry", "Journal", "Match", "MockServer", "fresh_output"]

# The `[[fault]]` tables of a scenario.
Faults = tuple[dict[str, Any], ...]


@dataclass(slots=True)
class OpenWorld:
    """One key's world, and everything that answers and remembers for it.

    Attributes:
        number: of its public name; 0 for nobody's.
        world: its instruments, credential, seed, profile and latencies.
        faults: the `[[fault]]` tables that it was opened with, which a reset plays again.
        service: answers, and remembers.
        journal: what was asked and answered.
    """

    number: int
    world: World
    faults: Faults
    service: Service
    journal: Journal

    @classmethod
    def fresh(cls, number: int, world: World, faults: Faults, journal: Journal) -> Self:
        """A world at its beginning.

        Raises:
            ConfigurationError: a fault is invalid.
        """
        return cls(number, world, faults, Service(world, plan(faults, world.seed, where=world.name)), journal)

    @property
    def name(self) -> str:
        """Its public name; "nobody" is the world of all requests whose key opens none."""
        return f"w{self.number}" if self.number else "nobody"


# Many simulated worlds behind one address: each API key opens its own, and none sees another.
#
# So one server serves a whole class. A world has its own service, and with it its own memory, seed and faults, and a
# journal.
#
# A request without a key, or with one that opens nothing, is answered as a service without any credential answers it,
# and journaled under the name "nobody". Worlds have short public names, "w1", "w2" and so on in the order in which they
# were opened, so that a person names a world without its key.
#
# Threads take turns: a service counts what it issues, its fault plan counts requests, so no two may count at once.


class Worlds:
    """Answers each request in the world that its key opens.

    Args:
        make_journal: makes the journal of each world.
        basis_header: test mode: every answer carries `BASIS_HEADER`.
    """

    def __init__(self, *, make_journal: Callable[[], Journal] = Journal, basis_header: bool = False) -> None:
        self.basis_header = basis_header
        self._make_journal = make_journal
        self._opened: dict[str, OpenWorld] = {}
        self._lock = RLock()
        journal = make_journal()
        self._nobody = {
            profile: OpenWorld.fresh(0, World(instruments={}, credentials={}, profile=profile), (), journal)
            for profile in PROFILES
        }

    def __repr__(self) -> str:
        return f"Worlds({len(self)} keys)"

    def __len__(self) -> int:
        return len(self._opened)

    def __contains__(self, key: str) -> bool:
        return key in self._opened

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that opens a world, in the order in which they were added."""
        return tuple(self._opened)

    @property
    def journals(self) -> Mapping[str, Journal]:
        """Each world's journal by its public name."""
        with self._lock:
            return {opened.name: opened.journal for opened in (self.nobody, *self._opened.values())}

    @property
    def nobody(self) -> OpenWorld:
        """The world without any credential, for requests whose key opens none.

        It answers in the profile of the first world: a client that is refused sees how this server refuses.
        """
        profiles = (opened.world.profile for opened in self._opened.values())
        return self._nobody[next(profiles, PROFILES[0])]

    # ------------------------------------------------------------ requests

    def respond(self, request: Request) -> Response:
        """The answer of the world that the request's key opens."""
        with self._lock:
            key = self.opener(request)
            opened = self.nobody if key is None else self._opened[key]
            response = self._exchange(opened, request)
        if self.basis_header:
            response = replace(response, headers=(*response.headers, (BASIS_HEADER, response.basis)))
        seconds = opened.world.latencies.get(request.method, 0.0)
        if seconds:  # a server with a real socket carries it out
            wire = replace(response.wire, before_headers=response.wire.before_headers + seconds)
            response = replace(response, wire=wire)
        return response

    def _exchange(self, opened: OpenWorld, request: Request) -> Response:
        """The answer, which the journal keeps."""
        journal, arrived = opened.journal, opened.journal.now()
        try:
            response = opened.service.respond(request)
        except Exception as error:
            journal.record(arrived, request, error, self._opened)
            raise
        journal.record(arrived, request, response, self._opened)
        return response

    def opener(self, request: Request) -> str | None:
        """The key that opens a world to this request, in whichever way the request carries it; None where none does.

        The world's own contract decides whether that way is accepted.
        """
        key = request.header("x-api-key")
        if key in self._opened:
            return key
        return next((candidate for candidate in all_keys_in(request, SPEC) if candidate in self._opened), None)

    # ------------------------------------------------------------ finding a world

    def place(self, key: str) -> OpenWorld:
        """The world that this key opens.

        Raises:
            ConfigurationError: it opens none.
        """
        opened = self._opened.get(key)
        if opened is None:
            raise ConfigurationError(f"No world has this key (it is not repeated here); there are {len(self)}.")
        return opened

    def named(self, name: str | None = None) -> OpenWorld:
        """The world of this public name; None means the only one that has a key.

        Raises:
            ParameterError: no world has this name, or there are several.
        """
        worlds = {opened.name: opened for opened in (self.nobody, *self._opened.values())}
        if name is None and len(self) == 1:
            return next(iter(self._opened.values()))
        if name not in worlds:
            hint = did_you_mean((name or "")[:40], worlds)
            raise ParameterError(f"Say which world is meant (in a query, as ?world=name). {hint}")
        return worlds[name]

    def key_of(self, opened: OpenWorld) -> str:
        """The key that opens this world; it goes into no answer and no log (REL-2).

        Raises:
            ConfigurationError: no key does.
        """
        for key, known in self._opened.items():
            if known is opened:
                return key
        names = [known.name for known in self._opened.values()]
        raise ConfigurationError(f"No world of that name has a key. {did_you_mean(opened.name, names)}")

    # ------------------------------------------------------------ opening and changing worlds

    def add(
        self, what: Scenario | World, key: str | None = None, *, credential: str | None = None, seed: int | None = None
    ) -> str:
        """Give a key a world of its own, and return the key.

        Two worlds with the same seed read each other's sdkOutput, as nothing else distinguishes their seals.

        Args:
            what: a scenario; or a world, whose first credential gets the key.
            key: None makes a fresh one.
            credential: which of the scenario's; None takes the first.
            seed: instead of the scenario's or the world's own.

        Raises:
            ConfigurationError: the key is no header value or is taken already; the scenario has no such credential; its
                faults are invalid. Nothing was added.
        """
        with self._lock:
            key = f"SIMULATED-{secrets.token_urlsafe(18)}" if key is None else key
            if not isinstance(key, str) or re.fullmatch("[!-~]{1,1000}", key) is None:
                allowed = "1 to 1000 printable ASCII characters, no blanks"
                raise ConfigurationError(f"That key cannot stand in a header. A key is {allowed}.")
            if key in self._opened:
                raise ConfigurationError("This key opens a world already (it is not repeated here). Choose another.")
            number = 1 + max((opened.number for opened in self._opened.values()), default=0)
            opened = OpenWorld.fresh(number, *_meaning(what, key, credential, seed), self._make_journal())
            self._opened[key] = opened
            return key

    def add_each(self, scenario: Scenario, *, seed: int | None = None) -> dict[str, str]:
        """Open a world to each credential of the scenario, those with the role first; returns a fresh key by name."""
        names = sorted(scenario.credentials, key=lambda name: not scenario.credentials[name].roles)
        return {name: self.add(scenario, credential=name, seed=seed) for name in names}

    def open(self, key: str, what: Scenario | World, *, credential: str | None = None, seed: int | None = None) -> None:
        """Replace the world that a key opens by another, at its beginning; the arguments are those of `add`.

        Raises:
            ConfigurationError: the key opens none; or as `add`, and nothing changed.
        """
        with self._lock:
            self._begin(key, *_meaning(what, key, credential, seed))

    def reset(self, key: str) -> None:
        """Make a world what it was when it was opened: nothing issued, nothing exchanged, every fault still to come.

        Faults that were planned since are gone; the journal is empty.

        Raises:
            ConfigurationError: the key opens none.
        """
        with self._lock:
            opened = self.place(key)
            self._begin(key, opened.world, opened.faults)

    def fault(self, key: str, faults: Faults) -> None:
        """Play these `[[fault]]` tables in a world from now on, instead of its own; the world keeps its memory.

        Raises:
            ConfigurationError: the key opens none, or a table is invalid; nothing changed.
        """
        with self._lock:
            opened = self.place(key)
            opened.service.plan = plan(faults, opened.world.seed, where=opened.world.name)

    def _begin(self, key: str, world: World, faults: Faults) -> None:
        """Put a world at its beginning in the place of the one that the key opens, with the same name and journal."""
        before = self.place(key)
        self._opened[key] = OpenWorld.fresh(before.number, world, faults, before.journal)
        before.journal.reset()


def _meaning(what: Scenario | World, key: str, credential: str | None, seed: int | None) -> tuple[World, Faults]:
    """The world that the key opens, and its faults."""
    if isinstance(what, Scenario):
        return what.world(api_key=key, credential=credential, seed=seed), what.faults
    first = next(iter(what.credentials.values()), Credential())
    return replace(what, credentials=MappingProxyType({key: first}), seed=what.seed if seed is None else seed), ()


def _refusal(problem: Problem, detail: str) -> Response:
    return Response(problem.status, JSON_HEADERS, problem.body(detail), problem.basis)


class MockServer:
    """A simulated API: a world for each of a scenario's credentials.

    A test may use this object while a server serves it:

    >>> import httpx
    >>> import workbook as wb
    >>> server = wb.mock.MockServer()
    >>> server.faults({"fault": "503 that says 500", "operation": "GET", "nth": 2})
    >>> target = "/bcl/v2/paymentInstruments/PISIMULATED00000000000001/networkTokenActivationData"
    >>> key = {"x-api-key": server.keys["back end"]}
    >>> with server.running() as url, httpx.Client(base_url=url, headers=key) as client:
    ...     [client.get(target).status_code for _ in range(3)]
    [200, 503, 200]
    >>> [(entry.operation, entry.status, entry.fault) for entry in server.journal().entries()]
    [('GET', 200, ''), ('GET', 503, '503 that says 500'), ('GET', 200, '')]
    >>> len(server.journal().to_har()["log"]["entries"])
    3
    >>> server.scenario("class-room")
    >>> (server.world.name, len(server.journal()))
    ('class-room', 0)

    Each of these calls is about the world that `world` names, such as "w2" (see `worlds`). It may be left out where
    only one world has a key. Where no world has the name, a `ParameterError` is raised.

    Args:
        scenario: a scenario's name or file.
        seed: replaces the scenario's own, and that of each scenario opened later.
        journal: a file to which each exchange is appended as a line of JSON, redacted.
        names: host names that mean this server, besides loopback.
        basis_header: test mode: every answer says in a header what it rests on.

    Attributes:
        keys: credential's name to key.
        worlds: what answers.

    Raises:
        ConfigurationError: the scenario is invalid, or the journal's file cannot be written.
    """

    def __init__(
        self,
        scenario: str | Path = "default",
        *,
        seed: int | None = None,
        journal: Path | None = None,
        names: Iterable[str] = (),
        basis_header: bool = False,
    ) -> None:
        self._seed = seed
        self._names = tuple(names)
        chosen = load(scenario)
        self.worlds = Worlds(make_journal=partial(Journal, file=journal), basis_header=basis_header)
        self.keys: Mapping[str, str] = self.worlds.add_each(chosen, seed=seed)

    def __repr__(self) -> str:
        following = "with server.running() as url; .keys, .faults(), .journal()"
        return f"MockServer({self.worlds!r})\nNext: {following}."

    def running(self) -> AbstractContextManager[str]:
        """Serve on a free loopback port, on a thread, for as long as the block lasts; gives the base URL."""
        from workbook.tools.mockserver.server import running  # sockets and TLS, needed only here

        return running(self)

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
        return _refusal(Problem(421, "00_421", "Misdirected request", "assumed"), detail)

    @property
    def journals(self) -> Mapping[str, Journal]:
        """The worlds' journals by name; "nobody" has the requests whose key opens no world."""
        return self.worlds.journals

    def journal(self, world: str | None = None) -> Journal:
        """What a world was asked and what it answered; `to_har` and `to_jsonl` export it."""
        return self.worlds.named(world).journal

    def reset(self, world: str | None = None) -> None:
        """Make a world what it was at the start, with an empty journal."""
        opened = self.worlds.named(world)
        if opened is self.worlds.nobody:
            opened.journal.reset()
        else:
            self.worlds.reset(self.worlds.key_of(opened))

    def faults(self, *tables: dict[str, Any], world: str | None = None) -> None:
        """Play these faults from now on, instead of the planned ones; each as a scenario's `[[fault]]` table.

        Raises:
            ConfigurationError: a table is invalid.
        """
        self.worlds.fault(self.worlds.key_of(self.worlds.named(world)), tables)

    def scenario(self, scenario: str | Path | Scenario, *, world: str | None = None) -> None:
        """Open a scenario in a world, behind the same key and from its beginning, with an empty journal.

        Args:
            scenario: its name, its file, or the scenario itself.
            world: which; see above.

        Raises:
            ConfigurationError: the scenario is invalid.
        """
        what = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.worlds.open(self.worlds.key_of(self.worlds.named(world)), what, seed=self._seed)


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
    serial = secrets.choice(range(1_000_000, 1_000_000_000))  # no two collide, and each is short enough to be shown
    sdk = SdkA(PhoneA(outputs=serial), service.seal, A_FROM_0_4_0.facts)
    sdk.answer(m.CreateProvisioning(DirectApi(service).get(payment_instrument_id).sdk_input))
    _seconds, event = sdk.answer(m.CreateSdkOutput())
    return str(event.sdk_output.text)  # type: ignore[attr-defined]  # the outcome of that very command
