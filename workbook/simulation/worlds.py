"""Many worlds behind one address: each API key opens its own, and none sees another.

So one server serves a whole class. A world has its own service, and with it its own memory, seed and faults. Whoever
comes without a key, or with one that opens nothing, is answered as a service without any credential answers.

Threads take turns: a service counts what it issues, and its plan what it met, so no two requests may count at once.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError
from workbook.simulation.contracts import SPEC
from workbook.simulation.phone import PROFILES
from workbook.simulation.reading import keys_said
from workbook.simulation.scenario import Scenario, plan
from workbook.simulation.service import Service
from workbook.simulation.world import Credential, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.simulation.http import Request, Response
    from workbook.simulation.service import Memory
    from workbook.simulation.transport import Responder

    Around = Callable[[Service], Responder]

BASIS_HEADER = "x-workbook-basis"
"""In test mode every answer says in it which rules and sources it rests on; the real API has no such header."""

LONGEST_KEY = 1000
"""Characters of an API key."""


@dataclass(frozen=True, slots=True)
class Place:
    """One key's world, and what answers for it.

    Attributes:
        world: what is there.
        own: the `[[fault]]` tables that it was opened with.
        faults: those that are played now.
        service: answers, and remembers.
        responder: the service with everything that was put around it.
    """

    world: World
    own: tuple[dict[str, Any], ...]
    faults: tuple[dict[str, Any], ...]
    service: Service
    responder: Responder

    @property
    def memory(self) -> dict[str, Memory]:
        """What its service remembers, by payment instrument id: the very objects, to be read and to be replaced."""
        return self.service._memory  # noqa: SLF001  # the one place outside that reads it: a restart needs it


class Worlds:
    """Answers each request in the world that its x-api-key opens.

    Args:
        around: put around each world's service, such as `lambda service: Journaled(service, Journal())`; it is called
            again whenever a world is reset.
        basis_header: test mode: every answer carries `BASIS_HEADER`.

    """

    def __init__(self, *, around: Around | None = None, basis_header: bool = False) -> None:
        self.basis_header = basis_header
        self._around: Around = around or (lambda service: service)
        self._places: dict[str, Place] = {}
        self._lock = RLock()
        self._nobody = {name: self._place(World(instruments={}, credentials={}, profile=name), ()) for name in PROFILES}

    def __repr__(self) -> str:
        return f"Worlds({len(self)} keys)"

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that opens a world, in the order in which they were added. For whoever hands them out only."""
        return tuple(self._places)

    @property
    def nobody(self) -> Place:
        """The world without any credential, for whoever comes without a key that opens one.

        It answers in the profile of the first world: who is refused learns how this server refuses.
        """
        profiles = (place.world.profile for place in self._places.values())
        return self._nobody[next(profiles, PROFILES[0])]

    def respond(self, request: Request) -> Response:
        """The answer of the world that the request's key opens."""
        with self._lock:
            key = self.opener(request)
            place = self.nobody if key is None else self._places[key]
            response = place.responder.respond(request)
        if self.basis_header:
            response = replace(response, headers=(*response.headers, (BASIS_HEADER, response.basis)))
        return _late(response, place.world.latencies.get(request.method, 0.0))

    def opener(self, request: Request) -> str | None:
        """The key that opens a world to this request, in whichever way it is said; None where none does.

        Whether that way is taken, the world's own contract decides.
        """
        key = request.header("x-api-key")
        if key in self._places:
            return key
        return next((said for said in keys_said(request, SPEC) if said in self._places), None)

    def place(self, key: str) -> Place:
        """The world that this key opens.

        Raises:
            ConfigurationError: it opens none.
        """
        place = self._places.get(key)
        if place is None:
            raise ConfigurationError(f"No world has this key (it is not repeated here); there are {len(self)}.")
        return place

    def add(
        self, what: Scenario | World, key: str | None = None, *, credential: str | None = None, seed: int | None = None
    ) -> str:
        """Open a world of its own to a key, and return the key.

        Two worlds with the same seed read each other's sdkOutput, as nothing else tells their seals apart.

        Args:
            what: a scenario; or a world, whose first credential gets the key.
            key: None makes a fresh one.
            credential: which of the scenario's; None takes the first.
            seed: instead of the scenario's or the world's own.

        Raises:
            ConfigurationError: the key is no header value or is taken already; the scenario has no such credential; or
                its faults are not in order.
        """
        with self._lock:
            key = f"SIMULATED-{secrets.token_urlsafe(18)}" if key is None else self._free(key)
            self._places[key] = self._place(*_opened(what, key, credential, seed))
            return key

    def add_each(self, scenario: Scenario) -> dict[str, str]:
        """Open a world to each of the scenario's credentials: credential's name to fresh key."""
        return {name: self.add(scenario, credential=name) for name in scenario.credentials}

    def put(
        self,
        key: str,
        world: World,
        faults: tuple[dict[str, Any], ...],
        memory: dict[str, Memory],
        own: tuple[dict[str, Any], ...] | None = None,
    ) -> None:
        """Open a world as it was before a restart, or elsewhere; whatever the key opened is gone."""
        with self._lock:
            place = replace(self._place(world, faults), own=faults if own is None else own)
            place.memory.update(memory)
            self._places[key] = place

    def open(self, key: str, what: Scenario | World, *, credential: str | None = None, seed: int | None = None) -> None:
        """Let a key that opens a world open another one, from its beginning; the arguments are those of `add`.

        Raises:
            ConfigurationError: the key opens none; or as `add`, and nothing changed.
        """
        with self._lock:
            self.place(key)
            self._places[key] = self._place(*_opened(what, key, credential, seed))

    def fault(self, key: str, faults: tuple[dict[str, Any], ...]) -> None:
        """Play these `[[fault]]` tables in a world from now on, instead of its own; it remembers all the same.

        Raises:
            ConfigurationError: the key opens none, or a table is not as `fault_plan` reads it; nothing changed.
        """
        with self._lock:
            place = self.place(key)
            place.service.plan = plan(faults, place.world.seed, where=place.world.name)
            self._places[key] = replace(place, faults=faults)

    def remove(self, key: str) -> None:
        """Close a world for good.

        Raises:
            ConfigurationError: the key opens none.
        """
        with self._lock:
            self.place(key)
            del self._places[key]

    def reset(self, key: str) -> None:
        """Make a world what it was when it was opened: nothing issued, nothing exchanged, every fault still to come.

        Faults that were planned since are gone.

        Raises:
            ConfigurationError: the key opens none.
        """
        with self._lock:
            place = self.place(key)
            self._places[key] = self._place(place.world, place.own)

    def _place(self, world: World, faults: tuple[dict[str, Any], ...]) -> Place:
        service = Service(world, plan(faults, world.seed, where=world.name))
        return Place(world, faults, faults, service, self._around(service))

    def _free(self, key: str) -> str:
        fits = isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
        if not fits or " " in key:
            raise ConfigurationError(
                f"That key cannot stand in a header. A key is 1 to {LONGEST_KEY} printable ASCII characters, no blanks."
            )
        if key in self._places:
            raise ConfigurationError("This key opens a world already (it is not repeated here). Choose another.")
        return key


def _opened(
    what: Scenario | World, key: str, credential: str | None, seed: int | None
) -> tuple[World, tuple[dict[str, Any], ...]]:
    """The world that the key opens, and its faults."""
    if isinstance(what, Scenario):
        return what.world(api_key=key, credential=credential, seed=seed), what.faults
    first = next(iter(what.credentials.values()), Credential())
    return replace(what, credentials=MappingProxyType({key: first}), seed=what.seed if seed is None else seed), ()


def _late(response: Response, seconds: float) -> Response:
    """The answer, that much later; a server with a real socket carries it out."""
    if not seconds:
        return response
    wire = replace(response.wire, before_headers=response.wire.before_headers + seconds)
    return replace(response, wire=wire)
