"""What a box of ordinary controls needs besides them: its keys to itself, and a word when its kernel has ended."""

from __future__ import annotations

from pathlib import Path

import anywidget

_HERE = Path(__file__).parent


class Keys(anywidget.AnyWidget):
    """Keeps the keys of the box in which it lies inside that box, and says there when the kernel has ended.

    JupyterLab's command mode takes arrows, Enter and letters for itself; what goes with Ctrl passes.
    """

    _esm = "".join((_HERE / name).read_text("utf-8") for name in ("kernel.js", "keys.js"))

    def __repr__(self) -> str:
        return "Keys()"
