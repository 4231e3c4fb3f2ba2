"""Card art: the picture that the wallet shows of a card before it is added (X-ART-1).

That it must show the card accurately is the document's word. The rest of what makes it right is public knowledge of
the wallet platform (wallet): its size, its corners, and what must not be on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH, HEIGHT = 1536, 969
"""In pixels (wallet)."""
MAX_BYTES = 4 * 1024 * 1024
"""The picture's file is smaller than this (wallet)."""


@dataclass(frozen=True, slots=True)
class CardArt:
    """What there is to say about a picture; the picture itself is not needed here.

    Attributes:
        shows: the brand or the payment instrument id whose card is on it.
        width: in pixels.
        height: in pixels.
        size: of the file, in bytes.
        square_corners: the wallet rounds them itself.
        personal: a name or a number is on it.

    Raises:
        ParameterError: a size is no whole number.
    """

    shows: str
    width: int = WIDTH
    height: int = HEIGHT
    size: int = 180_000
    square_corners: bool = True
    personal: bool = False

    def __post_init__(self) -> None:
        for name in ("width", "height", "size"):
            if type(getattr(self, name)) is not int:
                kind = type(getattr(self, name)).__name__
                raise ParameterError(f"A card art's {name} is a whole number of pixels or bytes, not {kind}.")


def problems_with(art: object, asked: str) -> str:
    """What is wrong with the art that was returned for `asked`; empty when nothing is."""
    if not isinstance(art, CardArt):
        return f"it is {'nil' if art is None else type(art).__name__}, not an image"
    return "; ".join(_problems(art, asked))


def _problems(art: CardArt, asked: str) -> Iterator[str]:
    if art.shows != asked:
        yield "it shows another card"
    if (art.width, art.height) != (WIDTH, HEIGHT):
        yield f"it is {art.width} x {art.height} pixels, not {WIDTH} x {HEIGHT} (wallet)"
    if art.size >= MAX_BYTES:
        yield f"its file has {art.size} bytes; fewer than {MAX_BYTES} are allowed (wallet)"
    if not art.square_corners:
        yield "its corners are rounded (wallet)"
    if art.personal:
        yield "a name or a number is on it (wallet)"
