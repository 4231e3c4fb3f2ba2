"""Good projects, each test's own."""

import pytest
from sample_projects import good_project

from workbook.tools.preflight import project


@pytest.fixture(autouse=True)
def no_child(monkeypatch):
    """No process tries a source first: that takes longer than all else, and test_project_sources tests it."""
    monkeypatch.setattr(project, "too_long", lambda _files: {})


@pytest.fixture
def platform_a(tmp_path):
    return good_project(tmp_path, "a")


@pytest.fixture
def platform_b(tmp_path):
    return good_project(tmp_path, "b")


@pytest.fixture
def environment(tmp_path):
    file = tmp_path / "back-end.env"
    file.write_text("API_BASE_URL=https://test.operator.example\nAPI_KEY=k3-92ab-771c-0e\nAPI_TIMEOUT=5\n")
    return file
