"""What a wallet app is set up with: each setting checked, so that a wrong one is told in words before anything runs."""

from __future__ import annotations

from collections.abc import Mapping

from workbook.errors import ParameterError
from workbook.extension.handler import AuthorizationProvider, ExtensionHandler
from workbook.extension.plist import EXTENSIONS, plist
from workbook.flows.variants_b import VariantB
from workbook.parameters import quoted
from workbook.simulation.phone import Phone


def handler_class(handler: object) -> type[ExtensionHandler]:
    """The class of a handler.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(handler, type) or not issubclass(handler, ExtensionHandler):
        raise ParameterError(
            f"A host takes a handler class, for it makes a new one for each call; not {_told(handler)}. "
            "Write one: class MyHandler(ReferenceHandler), and pass MyHandler itself."
        )
    return handler


def provider_class(provider: object) -> type[AuthorizationProvider] | None:
    """The class of an authorization UI, or None where there is no such extension.

    Raises:
        ParameterError: it is none.
    """
    if provider is None or (isinstance(provider, type) and issubclass(provider, AuthorizationProvider)):
        return provider
    raise ParameterError(f"authorization is a class below AuthorizationProvider, or None; not {quoted(provider)}.")


def variant_b(variant: object) -> VariantB:
    """One of platform B's variants.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(variant, VariantB):
        raise ParameterError(f"A host takes B_EARLIER or B_LATER, not {quoted(variant)}.")
    return variant


def phone_b(phone: object) -> Phone:
    """This phone, or a new one.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(phone, Phone | None):
        raise ParameterError(f"phone is a Phone(...), not {quoted(phone)}.")
    return phone or Phone()


def card_ids(cards: object) -> tuple[str, ...]:
    """The ids of the cardholder's payment instruments.

    Raises:
        ParameterError: it is none.
    """
    if not isinstance(cards, list | tuple) or not all(isinstance(card, str) for card in cards):
        raise ParameterError(f"cards is a list of payment instrument ids, not {quoted(cards)}.")
    return tuple(cards)


def project_files(given: object) -> dict[str, object]:
    """The project file of each extension: as it has to be, or as it was given.

    Raises:
        ParameterError: there is no such extension, or this is no mapping.
    """
    if not isinstance(given, Mapping | None):
        raise ParameterError(f"plists holds a project file for each name of an extension; it is not {quoted(given)}.")
    as_they_have_to_be: dict[str, object] = {name: plist(name) for name in (*EXTENSIONS, *(given or {}))}
    return as_they_have_to_be | dict(given or {})


def _told(value: object) -> str:
    """A value in words: a class by its name, which says more than that it is one."""
    return f"the class {value.__name__}, which is none" if isinstance(value, type) else quoted(value)
