"""The sample files that come with the workbook: made up, and said to be so where they are shown."""

from __future__ import annotations

from pathlib import Path

from workbook.errors import ParameterError, did_you_mean

FOLDER = Path(__file__).resolve().parent.parent / "fixtures"


def fixture(name: str) -> Path:
    """The path of a sample file, such as `measurements/good_build.csv`.

    Raises:
        ParameterError: there is no such file; or the workbook was installed without its folder of sample files.
    """
    path = FOLDER / str(name)
    if path.is_file() and path.resolve().is_relative_to(FOLDER):
        return path
    known = sorted(str(each.relative_to(FOLDER)) for each in FOLDER.rglob("*.*") if each.is_file())
    if not known:
        raise ParameterError(f"There are no sample files in {FOLDER}. Install the workbook from a clone, with -e.")
    raise ParameterError(f"No sample file {str(name)!r:.60}. {did_you_mean(str(name), known)}")
