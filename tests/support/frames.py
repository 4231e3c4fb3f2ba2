"""The package's own frames of a traceback: what a test holds in its locals is no leak."""

import traceback
from pathlib import Path

import workbook

PACKAGE = Path(workbook.__file__).parent


def traceback_of_package(error):
    """The error's traceback with the locals of the package's frames alone, whatever folder the clone is in."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack = traceback.StackSummary.from_list([f for f in told.stack if Path(f.filename).is_relative_to(PACKAGE)])
    return told
