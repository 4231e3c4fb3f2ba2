"""The base of everything live: a notebook gets two outputs, a snapshot that is stored and a view that is not.

A view lives as long as its kernel. A notebook that was saved and is opened again still has the view's address, and
JupyterLab would rather say that it cannot show it than show anything else of the same output. So the snapshot is an
output of its own. Its style sheet hides it while a living view stands below it, and says in place of a dead one how
to wake it up. Where a notebook is not trusted the style sheet is removed, and so is the view: its words stand there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from workbook.views.markup import joined, tag, trusted

if TYPE_CHECKING:
    from workbook.views.snapshot import Snapshot

WAKE = "Run the cells down to this one to make it live."
_OUTPUT, _DEAD = ".jp-OutputArea-child", ".jp-OutputArea-output.jupyter-widgets:not(:has(*))"
STYLE = (
    f"{_OUTPUT}:has(.wb-snapshot):has(+{_OUTPUT} :is(.wb-player,.jupyter-widgets *)){{display:none}}"
    f"{_OUTPUT}:has(.wb-snapshot)+{_OUTPUT} {_DEAD}{{visibility:hidden;font-size:0}}"
    f"{_OUTPUT}:has(.wb-snapshot)+{_OUTPUT} {_DEAD}::after"
    f'{{content:"{WAKE}";visibility:visible;font-size:var(--jp-ui-font-size1,13px)}}'
)


class Live(ABC):
    """Something to operate, with a snapshot for a reader who has no kernel."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """What is stored: the same on every run."""

    @abstractmethod
    def widget(self) -> Any:
        """What is operated, an ipywidget; always the same one."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The snapshot's two forms."""
        stored = self.snapshot()
        html = tag("div", tag("style", trusted(STYLE)), trusted(stored.html()), class_="wb-snapshot")
        return {"text/plain": stored.text(), "text/html": str(joined(html))}

    def _ipython_display_(self) -> None:
        from IPython.display import display  # noqa: PLC0415  # only a notebook displays

        display(self._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]
        view: dict[str, Any] = self.widget()._repr_mimebundle_()
        bundle = view[0] if isinstance(view, tuple) else view
        display(bundle | {"text/plain": WAKE}, raw=True)  # type: ignore[no-untyped-call]
