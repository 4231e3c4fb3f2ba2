"""What the project file of each extension has to say, so that the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3).

`<platform>` and `<kit>` stand for the platform vendor's reverse-domain prefix and the framework's name, which this
workbook leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbook.values import lookup

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
        """The entries of the dictionary NSExtension."""
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
    return {"NSExtension": lookup("extension", name, EXTENSIONS).keys()}


def plist_problems(name: str, document: object) -> list[str]:
    """What is wrong with the project file of this extension; empty when nothing is.

    Args:
        name: one of `EXTENSIONS`.
        document: the parsed file, such as `plistlib.load` returns it.

    Raises:
        ParameterError: there is no such extension.
    """
    wanted = lookup("extension", name, EXTENSIONS)
    entry = document.get("NSExtension") if isinstance(document, Mapping) else None
    if isinstance(entry, str):
        return [f"NSExtension is a dictionary; the identifier stands in it under {POINT} (X-PLIST-2)"]
    if not isinstance(entry, Mapping):
        return ["there is no dictionary NSExtension (X-PLIST-2)"]
    problems = []
    # a real project file has the vendor's prefix and the framework's name where ours has placeholders
    pattern = "[^.]+".join(map(re.escape, re.split("<platform>|<kit>", wanted.point)))
    if not re.fullmatch(pattern, str(entry.get(POINT))):
        problems.append(f"{POINT} is {entry.get(POINT)!r:.90}, not {wanted.point!r} (X-PLIST-1)")
    if entry.get(PRINCIPAL) != wanted.principal_class:
        problems.append(f"{PRINCIPAL} is {entry.get(PRINCIPAL)!r:.90}, not {wanted.principal_class!r} (X-PLIST-3)")
    return problems
