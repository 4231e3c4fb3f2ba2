"""The names that lessons use of the tools. Tools stand on the lessons, so each is loaded when it is used."""

from importlib import import_module
from typing import Any

HOMES = {
    "APP_CASES": "conform.app.cases",
    "LivePhone": "conform.app.panel",
    "Reference": "conform.app.stage",
    "Relay": "conform.notebook",
    "allowlist_request": "preflight.signing",
    "case_table": "conform.notebook",
    "conform": "conform.notebook",
    "first_miss": "conform.app.stage",
    "normalise": "preflight.signing",
    "play_core": "conform.app.stage",
    "project": "preflight.run",
    "read_certificates": "preflight.signing",
    "replayed": "sweep.run",
    "texts_of": "preflight.run",
}


def tool(name: str) -> Any:
    """The function, class or table of this name in `workbook.tools`."""
    return getattr(import_module(f"workbook.tools.{HOMES[name]}"), name)


def case_table(*patterns: str) -> Any:
    """The cases of `conform` that these names, groups or globs select; all without any."""
    return tool("case_table")(*patterns)
