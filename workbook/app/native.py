"""The SDK stand-in's source files, written for one variant of the SDK."""

from __future__ import annotations

import re
from pathlib import Path

from workbook.errors import ParameterError
from workbook.files import NATIVE, write_all
from workbook.flows.variants import A_FROM_0_4_0, variant_a

LATER = re.compile(r"^ *// from 0\.4\.0 \{\n.*?^ *// \}\n|^[^\n]*// from 0\.4\.0\n", re.DOTALL | re.MULTILINE)
"""What only the later variant has: a block between two such comments, or a line that ends in one."""
MARKS = re.compile(r"^ *// (?:from 0\.4\.0 \{|\})\n| // from 0\.4\.0$", re.MULTILINE)


def sources(variant: str) -> dict[str, str]:
    """The stand-in's files by name.

    Raises:
        ParameterError: there is no such variant.
    """
    name = variant_a(variant).name
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted((NATIVE / "kotlin/standin").glob("*.kt"))}
    if name == A_FROM_0_4_0.name:
        return {file: MARKS.sub("", text) for file, text in files.items()}
    said = f'VARIANT = "{A_FROM_0_4_0.name}"'
    return {file: LATER.sub("", text).replace(said, f'VARIANT = "{name}"') for file, text in files.items()}


def write(folder: Path, variant: str, *, force: bool = False) -> list[Path]:
    """Write the stand-in's files into this folder; returns their paths.

    Raises:
        ParameterError: there is no such variant, or a file is there already, or the folder cannot be written.
    """
    texts = {folder / name: text for name, text in sources(variant).items()}
    there = [path.name for path in texts if path.exists()]
    if there and not force:
        raise ParameterError(
            f"{', '.join(there)} in {str(folder)!r} would be overwritten. Add --force if that is meant."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_all(texts)
    except OSError as error:
        raise ParameterError(f"Cannot write into {str(folder)!r}: {error.strerror}.") from None
    return list(texts)
