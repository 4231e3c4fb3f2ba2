"""Drives the integrator's own back end from both sides: the phone in front of it, the API behind it."""
