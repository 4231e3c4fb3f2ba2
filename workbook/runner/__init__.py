"""Runs the notebooks: with parameters and a report, in place to store their outputs, or not at all for web pages."""
