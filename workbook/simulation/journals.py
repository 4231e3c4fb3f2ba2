"""A journal for each world, under a short public name, so that nobody says a key to find its journal.

Worlds are named "w1", "w2" and so on in the order in which they are opened, so a name says nothing of a key; no name is
given twice. Put around each world's service, as in `Worlds(around=journals.around)`, it is asked again whenever that
world is reset, and then its journal starts again too. Requests whose key opens no world are in the journal "nobody".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError, ParameterError, did_you_mean
from workbook.simulation.journal import Journal
from workbook.simulation.journaled import Journaled

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
        self._given = 0

    def around(self, service: Service) -> Journaled:
        """The service with its world's journal around it, which starts again where the world is known already.

        No key of any world is kept in it: one client may send another's by mistake (REL-2).
        """
        keys = tuple(service.world.credentials)
        name = self.name(keys[0]) if keys else NOBODY
        journal = self._journals.setdefault(name, self._make())
        journal.reset()
        return Journaled(service, journal, self._keys)

    def __getitem__(self, name: str) -> Journal:
        return self._journals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._journals))  # another thread may open a world meanwhile

    def __len__(self) -> int:
        return len(self._journals)

    def __repr__(self) -> str:
        return f"Journals({', '.join(self)})"

    def name(self, key: str) -> str:
        """The name of the world that this key opens; a new one where the key is new."""
        if key not in self._keys:
            self._given += 1
            self._keys[key] = f"w{self._given}"
        return self._keys[key]

    def number(self, key: str) -> int:
        """The number of that name."""
        return int(self.name(key).removeprefix("w"))

    def skip(self, number: int) -> None:
        """So many names were given before a restart."""
        self._given = max(self._given, number)

    def call(self, key: str, number: int) -> None:
        """Give a world the name that it had before a restart; another world with this name gets a new one.

        Raises:
            TypeError, ValueError: it is no number of a name.
        """
        if type(number) is not int or number < 1:
            raise ValueError("not a number of a world")
        name = f"w{number}"
        self.skip(number)
        holder = next((one for one, known in self._keys.items() if known == name and one != key), None)
        moved = None if holder is None else self._journals.pop(name, None)
        self._journals.pop(self._keys.get(key, ""), None)
        self._keys[key] = name
        if holder is not None:
            del self._keys[holder]
            self._journals.update({} if moved is None else {self.name(holder): moved})

    def forget(self, key: str) -> None:
        """A world is gone, and its journal with it; its name is not given again."""
        self._journals.pop(self._keys.pop(key, ""), None)

    def key(self, name: str) -> str:
        """The key behind a name, for whoever has to reset that world; it goes into no answer and no log (REL-2).

        Raises:
            ConfigurationError: no key has this name.
        """
        keys = dict(self._keys)
        found = next((key for key, known in keys.items() if known == name), None)
        if found is None:
            raise ConfigurationError(f"No world of that name has a key. {did_you_mean(name[:40], keys.values())}")
        return found


def meant(journals: Mapping[str, Journal], name: str | None = None) -> str:
    """The name of the world that is meant; where one world only has a key, it needs no naming.

    Raises:
        ParameterError: no world has this name, or there are several.
    """
    names = tuple(journals)
    with_a_key = [one for one in names if one != NOBODY]
    if name is None and len(with_a_key) == 1:
        return with_a_key[0]
    if name not in names:
        hint = did_you_mean((name or "")[:40], names) if names else "There is none yet."
        raise ParameterError(f"Say which world is meant (in a query, as ?world=name). {hint}")
    return str(name)
