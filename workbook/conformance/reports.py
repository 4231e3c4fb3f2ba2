"""Every report of a run, into one directory: all of them or none.

conform.json    everything; the other three are made from it alone
conform.html    to read, with both sides of every case
conform.xml     JUnit, for a CI system
conform.md      Markdown, for the summary of a CI job
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.page import to_html
from workbook.conformance.recording import record
from workbook.conformance.report import About, Record, moment
from workbook.conformance.report_file import from_json, read_record, to_json
from workbook.conformance.report_junit import to_junit
from workbook.conformance.report_markdown import to_markdown
from workbook.errors import ConfigurationError
from workbook.runner.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["About", "Record", "moment", "read_record", "record", "write_reports"]

JSON_FILE = "conform.json"
FORMS: Mapping[str, Callable[[Record], str]] = {
    "conform.html": to_html,
    "conform.xml": to_junit,
    "conform.md": to_markdown,
}


def write_reports(record: Record, folder: Path) -> list[Path]:
    """Write the four reports into this directory, which is made when it is missing.

    Raises:
        LeakError: a secret stands in one of them; nothing was written.
        ConfigurationError: the directory cannot be written.
    """
    texts = reports(record)
    record.secrets.check(texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise ConfigurationError(f"Cannot write the reports into {str(folder)!r}: {error.strerror}.") from error
    return [folder / name for name in texts]


def reports(record: Record) -> dict[str, str]:
    """Each report's text by its file's name; the JSON is read back, so that nothing else can come into the others."""
    told = to_json(record)
    again = from_json(told)
    return {JSON_FILE: told} | {name: form(again) for name, form in FORMS.items()}
