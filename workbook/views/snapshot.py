"""Any value as it looks at this moment: a text and a piece of HTML that need no kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.views.markup import joined, tag, trusted
from workbook.views.table import paragraph, preformatted
from workbook.views.view import View


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot(View):
    """A value's two forms, taken once."""

    plain: str
    markup: str

    def text(self) -> str:
        """The text form."""
        return self.plain

    def html(self) -> str:
        """The HTML form."""
        return self.markup


def snapshot(value: object) -> Snapshot:
    """How a notebook would show `value`: by its own HTML if it has some, else by its text."""
    if value is None:
        return Snapshot("Nothing was returned.", paragraph("Nothing was returned."))
    if isinstance(value, str):
        return Snapshot(value, preformatted(value))
    bundle = _bundle(value)
    text = str(bundle.get("text/plain") or repr(value))
    html = bundle.get("text/html")
    return Snapshot(text, str(html) if html else preformatted(text))


def failure(error: BaseException) -> Snapshot:
    """An error, told by its class and its message."""
    name = type(error).__name__
    return Snapshot(f"✗ {name}: {error}", paragraph("✗ ", tag("b", name), f": {error}"))


def above(first: Snapshot, second: Snapshot) -> Snapshot:
    """Two snapshots, one above the other."""
    markup = joined(trusted(first.markup), trusted(second.markup))
    return Snapshot(f"{first.plain}\n{second.plain}", markup)


def _bundle(value: Any) -> dict[str, Any]:
    """The forms that `value` offers; a bundle may come with metadata, which is not for show."""
    if callable(make := getattr(value, "_repr_mimebundle_", None)):
        made = make()
        return dict(made[0] if isinstance(made, tuple) else made or {})
    make = getattr(value, "_repr_html_", None)
    return {"text/html": make()} if callable(make) else {}
