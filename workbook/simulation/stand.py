"""Everything that one server answers with: worlds by key, their journals, the control API, and what is kept on disk."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from workbook.simulation.control import Actions, Control
from workbook.simulation.journals import NOBODY, Journals
from workbook.simulation.own_host import OwnHost
from workbook.simulation.scenario import Scenario, load, parse
from workbook.simulation.state import Kept
from workbook.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from workbook.simulation.http import Request, Response
    from workbook.simulation.world import World

DEFAULT = "default"


class Stand:
    """One stand-in: a world for each of a scenario's credentials.

    Args:
        scenario: a scenario's name or file.
        seed: instead of the scenario's own.
        state: a file that keeps the worlds over a restart; what it has already goes before the scenario.
        names: what else than loopback the server goes by.
        basis_header: test mode: every answer says in a header what it rests on.

    Attributes:
        keys: credential's name to key.
        control: the control API, with a token of its own.
        token: the control API's.

    Raises:
        ConfigurationError: the scenario or the state file is not in order.
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
        self.journals = Journals()
        chosen = load(scenario)
        worlds = Worlds(around=self.journals.around, basis_header=basis_header)
        self.worlds: Worlds | Kept = worlds if state is None else Kept(worlds, state)
        self.keys = self._kept() or self._added(chosen, seed)
        self.token = secrets.token_urlsafe(24)
        self.control = Control(self.token, self.journals, Actions(self._reset, self._fault, self._open))
        self._front = OwnHost(self.worlds, names)

    def __repr__(self) -> str:
        return f"Stand({self.worlds!r})"

    @property
    def world(self) -> World:
        """What the first key opens."""
        return self.worlds.place(next(iter(self.keys.values()))).world

    def respond(self, request: Request) -> Response:
        """The answer to a request, in the world that its key opens."""
        return self._front.respond(request)

    def close(self) -> None:
        """Let the state file go."""
        if isinstance(self.worlds, Kept):
            self.worlds.close()

    def _kept(self) -> Mapping[str, str]:
        return {f"kept {number}": key for number, key in enumerate(self.worlds.keys, 1)}

    def _added(self, scenario: Scenario, seed: int | None) -> Mapping[str, str]:
        """A key for each credential; one that holds the role comes first."""
        names = sorted(scenario.credentials, key=lambda name: not scenario.credentials[name].roles)
        return {name: self.worlds.add(scenario, credential=name, seed=seed) for name in names}

    def _reset(self, name: str) -> None:
        if name != NOBODY:
            self.worlds.reset(self.journals.key(name))

    def _fault(self, name: str, tables: list[dict[str, Any]]) -> None:
        self.worlds.fault(self.journals.key(name), tuple(tables))

    def _open(self, name: str, scenario: str | bytes) -> None:
        what = load(scenario) if isinstance(scenario, str) else parse(scenario, name="yours", file="the request")
        self.worlds.open(self.journals.key(name), what)
