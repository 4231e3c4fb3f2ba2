"""What the project file of each extension has to say, so that the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3).

`<platform>` and `<kit>` stand for the platform vendor's reverse-domain prefix and the framework's name, which this
workbook leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator


POINT, PRINCIPAL = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"


@dataclass(frozen=True, slots=True)
class Extension:
    """One of the two extensions.

    Attributes:
        point: the value of the key NSExtensionPointIdentifier.
        principal_class: the value of the key NSExtensionPrincipalClass.
    """

    point: str
    principal_class: str

    def keys(self) -> dict[str, str]:
        """What stands in the dictionary NSExtension."""
        return {POINT: self.point, PRINCIPAL: self.principal_class}


EXTENSIONS: Mapping[str, Extension] = {
    "extension": Extension(
        "com.<platform>.<kit>.issuer-provisioning", "$(PRODUCT_MODULE_NAME).ExtensionHandler"
    ),
    "authorization UI": Extension(
        "com.<platform>.<kit>.issuer-provisioning.authorization", "$(PRODUCT_MODULE_NAME).AuthorizationProvider"
    ),
}  # fmt: skip
"""The issuer-provisioning extension and its authorization UI (X-PLIST-1)."""


def plist(name: str) -> dict[str, Any]:
    """The part of the project file that names this extension, as it has to be.

    Raises:
        ParameterError: there is no such extension.
    """
    one = _extension(name)
    return {"NSExtension": one.keys()}


def plist_problems(name: str, document: object) -> list[str]:
    """What is wrong with the project file of this extension; nothing, when it is as it has to be.

    Args:
        name: one of `EXTENSIONS`.
        document: the parsed file, such as `plistlib.load` gives it.

    Raises:
        ParameterError: there is no such extension.
    """
    return list(_problems(_extension(name), document))


def _problems(wanted: Extension, document: object) -> Iterator[str]:
    found = document.get("NSExtension") if isinstance(document, Mapping) else None
    if isinstance(found, str):
        yield f"NSExtension is a dictionary; the identifier stands in it under {POINT} (X-PLIST-2)"
        return
    if not isinstance(found, Mapping):
        yield "there is no dictionary NSExtension (X-PLIST-2)"
        return
    if not re.fullmatch(_pattern(wanted.point), str(found.get(POINT))):
        yield f"{POINT} is {found.get(POINT)!r:.90}, not {wanted.point!r} (X-PLIST-1)"
    if found.get(PRINCIPAL) != wanted.principal_class:
        yield f"{PRINCIPAL} is {found.get(PRINCIPAL)!r:.90}, not {wanted.principal_class!r} (X-PLIST-3)"


def _pattern(point: str) -> str:
    """The identifier with whatever stands for the two names: a real project file holds the real ones."""
    return "[^.]+".join(map(re.escape, re.split("<platform>|<kit>", point)))


def _extension(name: str) -> Extension:
    if name not in EXTENSIONS:
        raise ParameterError(f"No extension {name!r:.40}. {did_you_mean(str(name), EXTENSIONS)}")
    return EXTENSIONS[name]
