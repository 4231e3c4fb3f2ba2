"""The cases for apps, as data."""

from __future__ import annotations

from workbook.app.cases import APP_CASES
from workbook.conformance.cases import CASES

LEAST = 40


def test_there_are_enough_cases_and_no_name_is_another_tools() -> None:
    assert len(APP_CASES) >= LEAST
    assert not set(APP_CASES) & set(CASES)
    assert all(name == case.name and name.startswith(f"app.{case.group}.") for name, case in APP_CASES.items())


def test_every_sentence_ends() -> None:
    assert [case.says for case in APP_CASES.values() if not case.says.endswith(".")] == []


def test_each_case_looks_at_something() -> None:
    assert [case.name for case in APP_CASES.values() if not case.steps] == []
