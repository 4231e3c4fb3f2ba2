"""Plays a flow from beginning to end, by name, and keeps what came of it: the verbs behind a `Session`."""
