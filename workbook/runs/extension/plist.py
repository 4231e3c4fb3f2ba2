"""What the project file of each extension has to say, so that the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3).

`<platform>` and `<kit>` stand for the platform vendor's reverse-domain prefix and the framework's name, which this
workbook leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbook.base.values import lookup

POINT, PRINCIPAL = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"


EXTENSIONS: Mapping[str, Mapping[str, str]] = {
    "extension": {
        POINT: "com.<platform>.<kit>.issuer-provisioning",
        PRINCIPAL: "$(PRODUCT_MODULE_NAME).ExtensionHandler",
    },
    "authorization UI": {
        POINT: "com.<platform>.<kit>.issuer-provisioning.authorization",
        PRINCIPAL: "$(PRODUCT_MODULE_NAME).AuthorizationProvider",
    },
}
"""The entries of NSExtension, for the issuer-provisioning extension and its authorization UI (X-PLIST-1)."""


def plist(name: str) -> dict[str, Any]:
    """The part of the project file that names this extension, as it has to be.

    Raises:
        ParameterError: there is no such extension.
    """
    return {"NSExtension": dict(lookup("extension", name, EXTENSIONS))}


def plist_problems(name: str, document: object) -> list[str]:
    """What is wrong with the project file of this extension; empty when nothing is.

    Args:
        name: one of `EXTENSIONS`.
        document: the parsed file, as `plistlib.load` returns it.

    Raises:
        ParameterError: there is no such extension.
    """
    wanted = lookup("extension", name, EXTENSIONS)
    entry = document.get("NSExtension") if isinstance(document, Mapping) else None
    if isinstance(entry, str):
        return [f"NSExtension is a dictionary; the identifier is in it, under {POINT} (X-PLIST-2)"]
    if not isinstance(entry, Mapping):
        return ["there is no dictionary NSExtension (X-PLIST-2)"]
    problems = []
    # a real project file has the vendor's prefix and the framework's name where ours has placeholders
    pattern = "[^.]+".join(map(re.escape, re.split("<platform>|<kit>", wanted[POINT])))
    if not re.fullmatch(pattern, str(entry.get(POINT))):
        problems.append(f"{POINT} is {entry.get(POINT)!r:.90}, not {wanted[POINT]!r} (X-PLIST-1)")
    if entry.get(PRINCIPAL) != wanted[PRINCIPAL]:
        problems.append(f"{PRINCIPAL} is {entry.get(PRINCIPAL)!r:.90}, not {wanted[PRINCIPAL]!r} (X-PLIST-3)")
    return problems
