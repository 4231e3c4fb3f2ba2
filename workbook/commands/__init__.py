"""The subcommands, one module each: `add_to` says how it is called, `handle` carries it out, for an exit code."""

from workbook.commands import conform, doctor, drift, export, lab, openapi, proxy, render, rules, run, sdk_output, serve

COMMANDS = (lab, serve, sdk_output, openapi, proxy, drift, conform, run, render, export, doctor, rules)
"""In the order in which the help lists them."""
