"""What is said of where app and extension keep things, without a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbook.tools.conform.app.storage import APP, EXTENSION, NOTHING_SAVED, CaseFolders

WROTE, READ = "wrote|keychain", "read|keychain"


def mislaid(app: str, extension: str, *, saved: bool = True) -> str:
    """What is said where the two programs have noted this, each note between two blanks."""
    folders = CaseFolders()
    for program, notes in ((APP, app), (EXTENSION, extension)):
        places = Path(folders.variables(program)["HOME"]) / "places"
        places.mkdir()
        for note in notes.split():
            (places / note).touch()
    if saved:
        (folders.shared / "file").write_bytes(b"1234")
        assert folders.cut_files()
        assert (folders.shared / "file").read_bytes() == b"12"
    folders.variables(EXTENSION)  # it starts, and may delete what it finds
    if saved:
        (folders.shared / "file").unlink()
    said = folders.mislaid()
    folders.remove()
    return said


@pytest.mark.rule("X-CACHE-1")
@pytest.mark.parametrize(
    ("app", "extension", "said"),
    [
        (f"{WROTE}|G1|cards|a", f"{READ}|G1|cards|a", ""),
        (f"{WROTE}|G1|cards|a", f"{READ}||cards|", ""),  # the entitlements decide which groups it may read
        (f"{WROTE}|G1|cards|a", f"{READ}|OLD|cards|a {READ}|G1|cards|a", ""),  # it looked in an old place first
        (f"{WROTE}|G1|cards|a", f"{READ}|G2|cards|a", "(group G2; the app wrote G1)"),
        (f"{WROTE}||cards|a", f"{READ}||cards|a", "(group of its own; the app wrote one of its own)"),
        (f"{WROTE}||cards|a", f"{READ}|G1|cards|a", "(group G1; the app wrote one of its own)"),
        (f"{WROTE}|G1|a%20b|a", f"{READ}|G1|b|a", "(service b; the app wrote a b)"),
        (f"{WROTE}|G1|cards|a", f"{READ}|G1|cards|b", "(account b; the app wrote a)"),
        ("wrote|UserDefaults|group.a", "read|UserDefaults|group.b", "(group group.b; the app wrote group.a)"),
        ("wrote|UserDefaults|group.a", f"{READ}|G1|cards|b", ""),  # of two kinds nothing is known
    ],
)
def test_two_places_that_differ_are_named(app: str, extension: str, said: str) -> None:
    told = mislaid(app, extension)
    assert said in told
    assert bool(said) == bool(told)


@pytest.mark.rule("X-CACHE-1")
def test_where_nothing_was_saved_that_is_said() -> None:
    assert mislaid("", "", saved=False) == NOTHING_SAVED
    assert mislaid("", "", saved=True) == ""
