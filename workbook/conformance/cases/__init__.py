"""Every case there is, as data. A name is never used for anything else, so none is ever taken out and put back."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.conformance.cases.budget import CASES as BUDGET
from workbook.conformance.cases.concurrency import CASES as CONCURRENCY
from workbook.conformance.cases.faulted import CASES as FAULTED
from workbook.conformance.cases.fidelity import CASES as FIDELITY
from workbook.conformance.cases.form import CASES as FORM
from workbook.conformance.cases.http import CASES as HTTP
from workbook.conformance.cases.isolation import CASES as ISOLATION
from workbook.conformance.cases.secrecy import CASES as SECRECY
from workbook.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbook.conformance.case import Case


def by_name(cases: Iterable[Case]) -> Mapping[str, Case]:
    """The cases by their names.

    Raises:
        DefinitionError: two have the same.
    """
    named: dict[str, Case] = {}
    for case in cases:
        if named.setdefault(case.name, case) is not case:
            raise DefinitionError(f"Two cases are called {case.name!r}.")
    return MappingProxyType(named)


CASES: Mapping[str, Case] = by_name(
    (
        *FORM,
        *HTTP,
        *FIDELITY,
        *SECRECY,
        *ISOLATION,
        *FAULTED,
        *BUDGET,
        *CONCURRENCY,
    )
)
"""In the order in which they are told."""
