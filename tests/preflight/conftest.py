"""Good projects, as the samples have them, with the sources that come with the workbook."""

import shutil

import pytest

from workbook.files import FIXTURES, NATIVE


@pytest.fixture
def platform_a(tmp_path):
    folder = tmp_path / "a"
    shutil.copytree(FIXTURES / "projects" / "platform_a", folder)
    for file in (NATIVE / "kotlin").glob("*.kt"):
        (folder / "app" / "src" / "main" / "kotlin").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / "app" / "src" / "main" / "kotlin")
    return folder


@pytest.fixture
def platform_b(tmp_path):
    folder = tmp_path / "b"
    shutil.copytree(FIXTURES / "projects" / "platform_b", folder)
    for file in (NATIVE / "swift").glob("*.swift"):
        shutil.copy(file, folder / "App")
    return folder


@pytest.fixture
def environment(tmp_path):
    file = tmp_path / "back-end.env"
    file.write_text("API_BASE_URL=https://test.operator.example\nAPI_KEY=k3-92ab-771c-0e\nAPI_TIMEOUT=5\n")
    return file
