"""The only loop that touches the world, and all that is connected to it: apps, back ends, and what lies between."""

from __future__ import annotations
