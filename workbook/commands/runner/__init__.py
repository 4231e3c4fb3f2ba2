"""Runs notebooks with parameters and a report, renders their outputs in place, and exports them as web pages."""
