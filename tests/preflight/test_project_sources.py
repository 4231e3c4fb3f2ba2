"""Calls and types in Swift and Kotlin, whatever the text is."""

import string
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_projects import judged

from workbook.preflight.project import File, SourceFile


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=string.printable, max_size=200))
@pytest.mark.parametrize("suffix", [".swift", ".kt"])
def test_whatever_a_source_is_its_calls_are_found_without_an_error(tmp_path_factory, suffix, text):
    file = tmp_path_factory.getbasetemp() / f"any{suffix}"
    file.write_text(text)
    assert all(isinstance(call.name + call.receiver, str) for call in SourceFile(File(file, file.name)).parts.calls)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Page.kt", "class Page {{ fun fetchOpc() {{ CardProvisioning.create(){} }} }}"),
        ("Handler.swift", "class Handler: IssuerProvisioningExtensionHandler {{ func status() {{ a{} }} }}"),
    ],
)
@pytest.mark.parametrize("link", [".provision(1, 2, 3)", ".getOrNull()", "()", ".a { b }"])
def test_a_chain_that_is_ten_times_as_long_takes_about_ten_times_as_long(tmp_path, name, source, link):
    took = []
    for links in (500, 5_000):
        (tmp_path / name).write_text(source.format(link * links))
        began = process_time()
        judged(tmp_path)
        took.append(process_time() - began)
    assert took[1] < 50 * took[0] + 1
