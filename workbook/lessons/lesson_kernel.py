"""The kernel in which JupyterLab runs a lesson."""

import os
import sys

if "WORKBOOK_SEAT" in os.environ:  # in a room the debugger's 8 MB would be in each of many kernels
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # Python's own way to say that there is none

from ipykernel.ipkernel import IPythonKernel


class LessonKernel(IPythonKernel):
    """Python, without its version: JupyterLab writes what a kernel says of its language into each notebook it opens.

    A lesson stores the same words, whatever Python rendered it; so opening one does not mark it as changed.
    """

    language_info = {"name": "python"}  # noqa: RUF012  # ipykernel's own form
