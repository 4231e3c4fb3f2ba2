"""Platform B's two variants: one field for each difference that the document names.

The version at which the later one begins is not shown (GAP-7), so none stands here: the numbers that are public
(sdk-b) appear in the `field` profile only, with their tag.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.flows import extension, platform_b

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.flows.machine import Machine, Row

PROFILES = ("spec", "field")
"""Whether only what the document says is shown, or what is publicly known as well."""

SURFACES = ("phone", "watch")
"""Where the wallet app runs that calls the extension."""


@dataclass(frozen=True, slots=True)
class FactsB:
    """What differs between platform B's two variants, as the document lists it.

    Attributes:
        availability: how the app asks whether the card can be added (B-CAN-1, B-CAN-2).
        watch_availability: how it learns of a watch (B-WATCH-1).
        delegate: the in-app delegate's operation (B-DEL-1, B-DEL-2).
        card_art: the extension delegate's operation (X-ART-1).
        extension_point_key: what its description calls the key of the extension point (X-PLIST-2); the file needs the
            later name either way.
        version: where it begins, publicly known (sdk-b); shown in the `field` profile only (GAP-7).
    """

    availability: str
    watch_availability: str
    delegate: str
    card_art: str
    extension_point_key: str
    version: str

    def shown(self, profile: str = "spec") -> dict[str, str]:
        """The facts that this profile shows, by their names in words.

        Raises:
            ParameterError: there is no such profile.
        """
        if profile not in PROFILES:
            raise ParameterError(f"No profile {profile!r}. {did_you_mean(str(profile), PROFILES)}")
        told = {field.name: str(getattr(self, field.name)) for field in fields(self)}
        told["version"] = f"{self.version} (sdk-b)" if profile == "field" else "not shown (GAP-7)"
        return {name.replace("_", " "): value for name, value in told.items()}


EARLIER = FactsB(
    availability="canAddCard()",
    watch_availability="none",
    delegate="provision(sdkOutput)",
    card_art="cardArt(forBrand)",
    extension_point_key="NSExtension",
    version="1.0.0",
)
LATER = FactsB(
    availability="canAddCardDetails(isWatchActivated)",
    watch_availability="WatchAvailability, one instance, activate()",
    delegate="provision(sdkOutput, paymentInstrumentId)",
    card_art="cardArt(paymentInstrumentId)",
    extension_point_key="NSExtensionPointIdentifier",
    version="2.0.0",
)


@dataclass(frozen=True)
class VariantB:
    """One way to integrate platform B, inside the app and from the wallet.

    Attributes:
        name: `earlier` or `later`.
        rows: the in-app table.
        art: the extension table's rows for card art.
        facts: what differs, in words.
        later: the calls are those of the later variant.
        tells: the app tells the cardholder of a failure.
    """

    name: str
    rows: tuple[Row, ...]
    art: tuple[Row, ...]
    facts: FactsB
    later: bool
    tells: bool = True

    def __repr__(self) -> str:
        return f"VariantB({self.name!r}{'' if self.tells else ', failure not told'})"

    @property
    def title(self) -> str:
        """What a picture of the in-app flow is called."""
        return f"Platform B, {self.name} variant, in the app{'' if self.tells else ', failure not told'}"

    @cached_property
    def machine(self) -> Machine:
        """The in-app table as a machine; made once."""
        rows = self.rows if self.tells else platform_b.silent(self.rows)
        return platform_b.machine(f"platform B {self.name}", rows)

    def extension_title(self, surface: str = "phone") -> str:
        """What a picture of the extension flow is called."""
        return f"Platform B, {self.name} variant, from the wallet on the {surface}"

    def extension(self, surface: str = "phone") -> Machine:
        """The extension table for a wallet app on this surface.

        Raises:
            ParameterError: there is no such surface.
        """
        if surface not in SURFACES:
            raise ParameterError(f"No surface {surface!r}. {did_you_mean(str(surface), SURFACES)}")
        return self._extensions[surface]

    @cached_property
    def _extensions(self) -> dict[str, Machine]:
        return dict(self._each_surface())

    def _each_surface(self) -> Iterator[tuple[str, Machine]]:
        for surface, rows in zip(SURFACES, (extension.ON_PHONE, extension.ON_WATCH), strict=True):
            name = f"platform B {self.name}, extension on the {surface}"
            yield surface, extension.machine(name, extension.SHARED + rows + self.art)


B_EARLIER = VariantB("earlier", platform_b.EARLIER, extension.ART_EARLIER, EARLIER, later=False)
B_LATER = VariantB("later", platform_b.LATER, extension.ART_LATER, LATER, later=True)
VARIANTS_B = {variant.name: variant for variant in (B_EARLIER, B_LATER)}


def variant_b(name: str) -> VariantB:
    """The preset with this name.

    Raises:
        ParameterError: there is none; the message names the nearest.
    """
    try:
        return VARIANTS_B[name]
    except (KeyError, TypeError):
        raise ParameterError(f"No platform B variant {name!r}. {did_you_mean(str(name), VARIANTS_B)}") from None
