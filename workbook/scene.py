"""A scene: what came of one run, with all that is to be seen of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.checks import check

if TYPE_CHECKING:
    from workbook.checks import Finding
    from workbook.trace import Trace


class Staged:
    """What every scene has: it shows how it ended, what happened, and what is to be said about it."""

    __slots__ = ()

    trace: Trace

    @property
    def summary(self) -> dict[str, str]:
        """The end of it, in a few lines."""
        raise NotImplementedError

    @property
    def findings(self) -> list[Finding]:
        """What the checks make of it."""
        return check(self.trace)

    @property
    def took(self) -> str:
        """How long it took, in words."""
        return f"{self.trace[-1].at:.2f} s of virtual time"

    def __repr__(self) -> str:
        from workbook.views.scene import show  # noqa: PLC0415  # views read scenes, not the reverse

        return show(self).text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from workbook.views.scene import show  # noqa: PLC0415  # views read scenes, not the reverse

        return show(self)._repr_mimebundle_()
