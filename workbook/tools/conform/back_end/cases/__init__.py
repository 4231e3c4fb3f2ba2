"""Every case, as data. A name is never used for another case, and a removed case is never added again.

A new case is a row in the module of its group and a relay in `fixtures/back_ends/broken_*.py` that fails it (a test
demands one). What the API has to do for it, beyond its usual answer, is a field of `model.Order`, which
`api_side.ScriptedApi` carries out.
"""

from collections.abc import Mapping

from workbook.tools.conform.back_end.cases import data, failure, privacy
from workbook.tools.conform.back_end.model import BackEndCase

# In the order of reports.
CASES: Mapping[str, BackEndCase] = {
    case.name: case for part in (data.FORM, data.FIDELITY, privacy.CASES, failure.CASES) for case in part
}
