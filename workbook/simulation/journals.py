"""A journal for each world, under a short public name, so that nobody says a key to find its journal.

Worlds are named "w1", "w2" and so on in the order in which they are opened, so a name says nothing of a key. Put around
each world's service, as in `Worlds(around=journals.around)`, it is asked again whenever that world is reset, and then
its journal starts again too. Requests whose key opens no world are in the journal "nobody".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.journal import Journal, Journaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.simulation.service import Service

NOBODY = "nobody"


class Journals(Mapping[str, Journal]):
    """Journals by world name.

    Args:
        make: makes a journal; called once for each world.
    """

    def __init__(self, make: Callable[[], Journal] = Journal) -> None:
        self._make = make
        self._keys: dict[str, str] = {}
        self._journals: dict[str, Journal] = {}

    def around(self, service: Service) -> Journaled:
        """The service with its world's journal around it, which starts again where the world is known already."""
        keys = tuple(service.world.credentials)
        name = self.name(keys[0]) if keys else NOBODY
        journal = self._journals.setdefault(name, self._make())
        journal.reset()
        return Journaled(service, journal, keys)

    def __getitem__(self, name: str) -> Journal:
        return self._journals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._journals)

    def __len__(self) -> int:
        return len(self._journals)

    def __repr__(self) -> str:
        return f"Journals({', '.join(self._journals)})"

    def name(self, key: str) -> str:
        """The name of the world that this key opens; a new one where the key is new."""
        return self._keys.setdefault(key, f"w{len(self._keys) + 1}")

    def key(self, name: str) -> str:
        """The key behind a name, for whoever has to reset that world; it goes into no answer and no log (REL-2).

        Raises:
            ConfigurationError: no key has this name.
        """
        found = next((key for key, known in self._keys.items() if known == name), None)
        if found is None:
            raise ConfigurationError(f"No world of that name has a key. {did_you_mean(name[:40], self._keys.values())}")
        return found
