"""Sweeps: every combination of a matrix is played, and its rows are kept and summarised."""
