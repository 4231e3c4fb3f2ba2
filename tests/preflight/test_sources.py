"""Calls and types in Swift and Kotlin, whatever the text is."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.preflight.project import File
from workbook.preflight.sources import SourceFile, calls_in


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=string.printable, max_size=200))
@pytest.mark.parametrize("suffix", [".swift", ".kt"])
def test_whatever_a_source_is_its_calls_are_found_without_an_error(tmp_path_factory, suffix, text):
    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_text(text)
    assert isinstance(list(calls_in(SourceFile(File(file, file.name)).root)), list)
