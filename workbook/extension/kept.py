"""What a handler leaves behind in itself or in its class for a later call, which is another handler (X-HANDLER-1)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from workbook.extension.handler import ExtensionHandler, ReferenceHandler

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Contents = dict[str, list[object]]

OURS = (object, ExtensionHandler, ReferenceHandler)
"""Classes that keep nothing."""


class Belongings:
    """Looks at a handler and its classes before a call, and says afterwards what is new there."""

    def __init__(self, kind: type[ExtensionHandler]) -> None:
        self._kind = kind
        self._handler: ExtensionHandler | None = None
        self._in_self: Contents = {}
        self._in_class = _of_classes(kind)

    def of(self, handler: ExtensionHandler) -> ExtensionHandler:
        """The same handler; what it has already is its own, and is there in every new one."""
        self._in_self = _contents(vars(handler))
        self._handler = handler
        return handler

    def left(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Where something was left, and its names."""
        if self._handler and (names := _changed(self._in_self, _contents(vars(self._handler)))):
            yield "the handler", names
        if names := _changed(self._in_class, _of_classes(self._kind)):
            yield "its class", names


def _of_classes(kind: type) -> Contents:
    own = [one for one in kind.__mro__ if one not in OURS]
    return {name: values for one in reversed(own) for name, values in _contents(vars(one)).items()}


def _contents(attributes: Mapping[str, object]) -> Contents:
    """Each attribute, and what is in it where that can change without another one in its place."""
    return {name: [value, *_inside(value)] for name, value in attributes.items() if not name.startswith("__")}


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        return chain(list(value), list(value.values()))
    return iter(list(value) if isinstance(value, list | set) else ())


def _changed(before: Contents, after: Contents) -> tuple[str, ...]:
    return tuple(sorted(name for name, values in after.items() if not _same(values, before.get(name, []))))


def _same(some: list[object], others: list[object]) -> bool:
    """The very same objects: to ask them whether they are equal would be to run the handler's code."""
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
