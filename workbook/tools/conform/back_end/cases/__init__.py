"""Every case, as data. A name is never used for another case, and a removed case is never added again.

A new case is a row in the module of its group and a relay in `fixtures/back_ends/broken_*.py` that fails it (a test
demands one). What the API has to do for it, beyond its usual answer, is a field of `model.Order`, which
`api_side.ScriptedApi` carries out.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from workbook.errors import DefinitionError
from workbook.tools.conform.back_end.cases import data, failure, privacy
from workbook.tools.conform.back_end.model import BackEndCase


def by_name(cases: Iterable[BackEndCase]) -> Mapping[str, BackEndCase]:
    """The cases by their names.

    Raises:
        DefinitionError: a name recurs.
    """
    named: dict[str, BackEndCase] = {}
    for case in cases:
        if named.setdefault(case.name, case) is not case:
            raise DefinitionError(f"Two cases are called {case.name!r}.")
    return MappingProxyType(named)


# In the order of reports.
CASES: Mapping[str, BackEndCase] = by_name(
    case for part in (data.FORM, data.FIDELITY, privacy.CASES, failure.CASES) for case in part
)
