"""What every reader of the configuration shares: the form, the environment, and where mistakes are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.form import Clean, at
from workbook.conformance.form_words import header_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Part:
    """One file's form, to be read.

    Attributes:
        clean: what of it is in order.
        folder: beside which its paths stand.
        environ: where secrets are taken from.
        mistakes: where what is wrong is added.
    """

    clean: Clean
    folder: Path
    environ: Mapping[str, str]
    mistakes: list[str]

    def wrong(self, label: str, what: str) -> None:
        """Add a mistake, once: both platforms may meet the same."""
        if (mistake := f"{label}: {what}") not in self.mistakes:
            self.mistakes.append(mistake)

    def secret(self, said: Clean) -> str | None:
        """A value from the environment; None, and a mistake, where it cannot be had."""
        name = said.get("env")
        if name is None:
            return None
        if not (value := self.environ.get(name)):
            self.wrong(at(said.label, "env"), f"the environment variable {name} is not set. Set it, and run again.")
            return None
        if not header_value(value):
            what = f"what {name} holds is no value of a header: printable ASCII without outer blanks or line ends."
            self.wrong(at(said.label, "env"), what)
            return None
        return f"{said.get('prefix', '')}{value}"

    def headers(self, said: Clean) -> Iterator[tuple[str, str]]:
        """The headers of a table; what the environment should hold and does not is a mistake."""
        for name, value in said.said.items():
            text = self.secret(value) if isinstance(value, Clean) else value
            if text is not None:
                yield name.lower(), text
