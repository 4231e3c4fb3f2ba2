"""Runs the notebooks: with parameters and a report, or in place to store their outputs."""

from __future__ import annotations

from workbook.parameters import Parameters, Source

__all__ = ["Parameters", "Source"]
