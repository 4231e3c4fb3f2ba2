"""The sample projects of both platforms, with the sources that come with the workbook."""

import shutil

from workbook.base.files import FIXTURES, NATIVE

SOURCES = {"a": ("kotlin/*.kt", "app/src/main/kotlin"), "b": ("swift/*.swift", "App")}


def good_project(folder, platform):
    """The sample project of platform `a` or `b`, below this folder."""
    folder = folder / platform
    shutil.copytree(FIXTURES / "projects" / f"platform_{platform}", folder)
    pattern, place = SOURCES[platform]
    (folder / place).mkdir(parents=True, exist_ok=True)
    for file in NATIVE.glob(pattern):
        if not file.name.endswith("Sdk.swift"):  # the SDK brings these names
            shutil.copy(file, folder / place)
    return folder
