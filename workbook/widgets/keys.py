"""Keys for a box of ordinary controls: JupyterLab's command mode takes arrows, Enter and letters away from them."""

from __future__ import annotations

import anywidget


class Keys(anywidget.AnyWidget):
    """Nothing to see: it keeps the keys of the box in which it lies inside that box; what goes with Ctrl passes."""

    _esm = """
    const keep = (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    };
    export default {
      render({ el }) {
        el.style.display = "none";
        let [box, timer] = [null, 0];
        const attach = () => {
          box = el.closest(".widget-box");
          if (box) box.addEventListener("keydown", keep);
          else timer = requestAnimationFrame(attach);
        };
        attach();
        return () => {
          cancelAnimationFrame(timer);
          box?.removeEventListener("keydown", keep);
        };
      },
    };
    """

    def __repr__(self) -> str:
        return "Keys()"
