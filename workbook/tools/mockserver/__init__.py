"""`workbook serve`: the simulated API on a socket, with its journal, control API and live page."""
