"""The base of everything that a notebook displays: one model, a text form and an HTML form.

The text form is the repr, so a console, a failing test and a stored notebook show the same. The HTML
form carries its styles inline and no script, so that it survives JupyterLab's sanitiser in a notebook
that nobody has run yet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class View(ABC):
    """Something to look at. Both forms are functions of the model alone: the same bytes on every run."""

    __slots__ = ()

    @abstractmethod
    def text(self) -> str:
        """The text form, without a closing newline."""

    @abstractmethod
    def html(self) -> str:
        """The HTML form: one element, styles inline, nothing loaded from anywhere."""

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": self.text(), "text/html": self.html()}
