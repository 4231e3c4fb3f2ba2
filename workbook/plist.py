"""What the project file of each extension has to say, so that the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3).

`<platform>` and `<kit>` stand for the platform vendor's reverse-domain prefix and the framework's name, which this
workbook leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Extension:
    """One of the two extensions.

    Attributes:
        point: the value of the key NSExtensionPointIdentifier.
        principal_class: the value of the key NSExtensionPrincipalClass.
    """

    point: str
    principal_class: str


EXTENSIONS: Mapping[str, Extension] = {
    "extension": Extension(
        "com.<platform>.<kit>.issuer-provisioning", "$(PRODUCT_MODULE_NAME).ExtensionHandler"
    ),
    "authorization UI": Extension(
        "com.<platform>.<kit>.issuer-provisioning.authorization", "$(PRODUCT_MODULE_NAME).AuthorizationProvider"
    ),
}  # fmt: skip
"""The issuer-provisioning extension and its authorization UI (X-PLIST-1)."""

POINT, PRINCIPAL = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"


def plist(name: str) -> dict[str, Any]:
    """The part of the project file that names this extension, as it has to be.

    Raises:
        ParameterError: there is no such extension.
    """
    one = _extension(name)
    return {"NSExtension": {POINT: one.point, PRINCIPAL: one.principal_class}}


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
    for key, value, rule in ((POINT, wanted.point, "X-PLIST-1"), (PRINCIPAL, wanted.principal_class, "X-PLIST-3")):
        if found.get(key) != value:
            yield f"{key} is {found.get(key)!r:.90}, not {value!r} ({rule})"


def _extension(name: str) -> Extension:
    if name not in EXTENSIONS:
        raise ParameterError(f"No extension {name!r:.40}. {did_you_mean(str(name), EXTENSIONS)}")
    return EXTENSIONS[name]
