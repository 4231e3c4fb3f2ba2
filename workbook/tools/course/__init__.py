"""A workshop: its agenda, its bundle, its progress, its board, its hub, and its site without an installation."""
