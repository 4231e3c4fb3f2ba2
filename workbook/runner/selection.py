"""Which notebooks a command means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbook.errors import ConfigurationError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_NOTEBOOK: Final = "00_start_here.ipynb"


def notebooks_dir(given: Path | None = None, *, places: Iterable[Path] | None = None) -> Path:
    """The directory with the notebooks: the given one, `./notebooks`, or the checkout beside the package.

    A directory that nobody named counts only when it holds `00_start_here.ipynb`: a stranger's
    `./notebooks` is never run by accident.

    Raises:
        ConfigurationError: there is none; the message says where it was looked for.
    """
    if given is not None:
        if not any(given.glob("*.ipynb")):
            raise ConfigurationError(f"No notebooks (*.ipynb) in {str(given)!r}.")
        return given.resolve()
    looked = tuple(places) if places is not None else _usual_places()
    for place in looked:
        if (place / FIRST_NOTEBOOK).is_file():
            return place.resolve()
    raise ConfigurationError(
        f"No {FIRST_NOTEBOOK} in {' or '.join(str(place) for place in looked)}. "
        "Go to the checkout's directory, or name one with --notebooks DIR."
    )


def _usual_places() -> tuple[Path, Path]:
    return Path.cwd() / "notebooks", Path(__file__).resolve().parents[2] / "notebooks"


def select(names: Sequence[str], directory: Path) -> tuple[Path, ...]:
    """The notebooks of these names, in the directory's order; all when none is named.

    A name may leave out the suffix, the number or the words: `01`, `activation_data`, `01_activation_data`.

    Raises:
        ParameterError: a name fits no notebook, or several.
    """
    notebooks = sorted(path for path in directory.glob("*.ipynb") if not path.name.startswith("."))
    if not names:
        return tuple(notebooks)
    wanted = {_match(name, notebooks) for name in names}
    return tuple(path for path in notebooks if path in wanted)


def _match(name: str, notebooks: Sequence[Path]) -> Path:
    plain = Path(name).name.removesuffix(".ipynb")
    found = [path for path in notebooks if plain in _short_names(path)]
    if len(found) == 1:
        return found[0]
    stems = ", ".join(path.stem for path in notebooks)
    if found:
        raise ParameterError(f"{name!r} fits {len(found)} notebooks. Notebooks: {stems}.")
    hint = _hint(plain, {short for path in notebooks for short in _short_names(path)})
    raise ParameterError(f"No notebook {name[:60]!r}. {hint}Notebooks: {stems}.")


def _hint(name: str, known: set[str]) -> str:
    """The nearest name; a number only where zeros are missing or too many: 99 is near 09 for no reader."""
    if name.isdecimal():
        same = [short for short in sorted(known) if short.isdecimal() and int(short) == int(name[:9])]
        return f"Did you mean {same[0]!r}? " if same else ""
    hint = did_you_mean(name, {short for short in known if not short.isdecimal()})
    return f"{hint} " if hint.startswith("Did") else ""


def _short_names(path: Path) -> set[str]:
    number, _, words = path.stem.partition("_")
    return {path.stem, number, words} - {""} if number.isdigit() else {path.stem}
