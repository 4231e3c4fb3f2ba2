"""The sample files are found by name, a misspelt name is explained, and nothing outside them is handed out."""

import pytest

from workbook import fixtures
from workbook.errors import ParameterError
from workbook.fixtures import fixture


def test_a_sample_file_is_found():
    assert fixture("measurements/good_build.csv").read_text().startswith("call,duration_ms,device,build,cold")


@pytest.mark.parametrize(
    "name", ["measurements/good_biuld.csv", "../README.md", "/etc/hostname", "", 7, "measurements"]
)
def test_another_name_is_explained(name):
    with pytest.raises(ParameterError, match="No sample file"):
        fixture(name)


def test_a_misspelt_name_has_a_suggestion():
    with pytest.raises(ParameterError, match=r"Did you mean 'measurements/good_build.csv'\?"):
        fixture("measurements/good_biuld.csv")


def test_a_workbook_without_its_sample_files_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setattr(fixtures, "FOLDER", tmp_path)
    with pytest.raises(ParameterError, match="Install the workbook from a clone"):
        fixture("measurements/good_build.csv")
