"""Variants are data: one field for each difference that the document names, and presets that pair them.

On platform A the document ties the *flow* to version 0.4.0, but one outcome and a library's version only to "the later
variant". So a `VariantA` keeps its flow and its `FactsA` apart, and any pair can be made.

On platform B the document does not show the version at which the later variant begins (GAP-7), so a `VariantB` has no
version number. The public numbers (sdk-b) appear in the `field` profile only, with their tag.

A machine is built once for each variant: two variants that are equal share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache

from workbook.base.values import choice, lookup
from workbook.flows import extension, platform_a, platform_b
from workbook.flows import messages as m
from workbook.flows.machine import Machine, Row
from workbook.flows.messages import Event


@dataclass(frozen=True, slots=True)
class FactsA:
    """What differs between platform A's two SDK variants, the flow aside.

    Attributes:
        name: the document's word, `earlier` or `later`.
        lacks: the outcomes that only the later SDK has (A-CAN-5). The tables have rows for all outcomes; here is the
            one place that says which of them an SDK does not have.
        push_provisioning_library: version of the wallet provider's library (A-DEP-1).
        lacks_failures: likewise the names of a failure of `provision`, which are no events (sdk-a).
    """

    name: str
    lacks: tuple[type[Event], ...]
    push_provisioning_library: str
    lacks_failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class VariantA:
    """One way to integrate platform A: which calls a tap makes, and which facts hold.

    Attributes:
        name: what a parameter or a title calls it.
        rows: the flow's table.
        facts: everything else that differs.
        two_step: a tap makes the calls from before 0.4.0 (A-PROV-1) rather than one (A-PROV-2).
        guarded: the app disables its button during an attempt (A-BTN-1).
        by_hand: a person makes each call of the SDK, one after the other, and no app plays.
    """

    name: str
    rows: tuple[Row, ...] = field(hash=False)
    facts: FactsA
    two_step: bool
    guarded: bool = True
    by_hand: bool = False

    def __repr__(self) -> str:
        guard = "" if self.guarded else ", button not guarded"
        return f"VariantA({self.name!r}, {self.facts.name} facts{guard})"

    @property
    def title(self) -> str:
        """What a picture is called."""
        how = ", called by hand" if self.by_hand else "" if self.guarded else ", button not guarded"
        return f"Platform A, SDK {self.name.replace('-', ' ')}{how}"

    @property
    def machine(self) -> Machine:
        """The table as a machine."""
        return _machine_a(self)


# A machine checks its whole table when it is made, which takes longer than a walk through it; so each is made once.


def _rows_of(rows: Iterable[Row], facts: FactsA | FactsB) -> tuple[Row, ...]:
    """The rows whose event this variant of the SDK has."""
    return tuple(row for row in rows if row.event not in facts.lacks)


@cache
def _machine_a(variant: VariantA) -> Machine:
    """The flow's rows; by hand there is no button to guard, and nothing happens at the same time."""
    rows = _rows_of(variant.rows, variant.facts)
    if variant.by_hand or not variant.guarded:
        rows = platform_a.add_unguarded_taps(rows)
    if not variant.by_hand and not variant.guarded:
        rows = platform_a.overlapping(rows, platform_a.TWO_STEP if variant.two_step else platform_a.PROVIDER)
    rests = {row.to for row in rows} & {*platform_a.FINAL_A}
    return Machine(f"platform A {variant.name}", rows, initial=platform_a.State.IDLE, final=rests)


A_BEFORE_0_4_0 = VariantA(
    "before-0.4.0",
    platform_a.UNTIL_TAP + platform_a.TWO_STEP + platform_a.OUTCOME,
    FactsA("earlier", lacks=(m.ApiError,), push_provisioning_library="18.3.3"),
    two_step=True,
)
A_FROM_0_4_0 = VariantA(
    "from-0.4.0",
    platform_a.UNTIL_TAP + platform_a.mark_deprecated(platform_a.TWO_STEP) + platform_a.PROVIDER + platform_a.OUTCOME,
    FactsA("later", lacks=(), push_provisioning_library="18.8.0"),
    two_step=False,
)
# The new SDK under an app that still makes the old calls: it works, and each call is deprecated.
A_NOT_MIGRATED = replace(A_FROM_0_4_0, name="from-0.4.0, app not migrated", two_step=True)

VARIANTS_A = {variant.name: variant for variant in (A_BEFORE_0_4_0, A_FROM_0_4_0)}


def variant_a(name: str) -> VariantA:
    """The preset with this name.

    Raises:
        ParameterError: there is none; the message names the nearest.
    """
    return lookup("variant", name, VARIANTS_A)


# Only what the document says, or what is publicly known as well.
PROFILES = ("spec", "field")

# For which device the wallet asks the extension. For the watch it is the watch app on the phone, or the wallet app on
# the watch: the document names both, and both call remotePassEntries() (X-ENTRIES-2).
SURFACES = ("phone", "watch")


@dataclass(frozen=True, slots=True)
class FactsB:
    """What differs between platform B's two variants, as the document lists it.

    Attributes:
        lacks: the calls that only the other variant has; the tables have rows for those of both.
        availability: how the app asks whether the card can be added (B-CAN-1, B-CAN-2).
        watch_availability: how it learns of a watch (B-WATCH-1).
        delegate: the in-app delegate's operation (B-DEL-1, B-DEL-2).
        card_art: the extension delegate's operation (X-ART-1).
        extension_point_key: what the variant's description calls the key of the extension point (X-PLIST-2); the file
            needs the later name either way.
        version: where the variant begins, publicly known (sdk-b); shown in the `field` profile only (GAP-7).
    """

    lacks: tuple[type[Event], ...]
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
        choice("profile", profile, PROFILES)
        facts = {fact.name: str(getattr(self, fact.name)) for fact in fields(self) if fact.name != "lacks"}
        facts["version"] = f"{self.version} (sdk-b)" if profile == "field" else "not shown (GAP-7)"
        return {name.replace("_", " "): value for name, value in facts.items()}


@dataclass(frozen=True)
class VariantB:
    """One way to integrate platform B, inside the app and from the wallet.

    Attributes:
        name: `earlier` or `later`.
        facts: what differs.
        later: the calls are those of the later variant.
        tells: the app tells the cardholder about a failure.
        says_available: on completion the app shows 'Available in Wallet' instead of 'Added to Wallet' (B-FIN-2).
    """

    name: str
    facts: FactsB
    later: bool
    tells: bool = True
    says_available: bool = False

    def __repr__(self) -> str:
        return f"VariantB({self.name!r}{self._choice})"

    @property
    def _choice(self) -> str:
        return f"{'' if self.tells else ', failure not told'}{', says Available' if self.says_available else ''}"

    @property
    def title(self) -> str:
        """What a picture of the in-app flow is called."""
        return f"Platform B, {self.name} variant, in the app{self._choice}"

    @property
    def machine(self) -> Machine:
        """The in-app table as a machine."""
        return _machine_b(self)

    def extension_title(self, surface: str = "phone") -> str:
        """What a picture of the extension flow is called."""
        return f"Platform B, {self.name} variant, from the wallet on the {surface}"

    def extension(self, surface: str = "phone") -> Machine:
        """The extension table for a wallet app on this surface.

        Raises:
            ParameterError: there is no such surface.
        """
        return _extension_machine(self, choice("surface", surface, SURFACES))


@cache
def _machine_b(variant: VariantB) -> Machine:
    others = {rule for event in variant.facts.lacks for rule in event.rules}  # those of the other variant's calls
    rows = _rows_of(platform_b.ROWS_B, variant.facts)
    rows = tuple(replace(row, rules=tuple(rule for rule in row.rules if rule not in others)) for row in rows)
    rows = rows if variant.tells else platform_b.silent(rows)
    rows = platform_b.available(rows) if variant.says_available else rows
    return Machine(f"platform B {variant.name}", rows, initial=platform_b.State.IDLE, final=platform_b.FINAL_B)


@cache
def _extension_machine(variant: VariantB, surface: str) -> Machine:
    name = f"platform B {variant.name}, extension on the {surface}"
    rows = _rows_of(extension.ROWS_EXTENSION + extension.choosing(surface), variant.facts)
    return Machine(name, rows, initial=extension.State.CLOSED, final=extension.FINAL_EXTENSION)


B_EARLIER = VariantB(
    "earlier",
    FactsB(
        lacks=(
            m.WatchActivateCalled, m.WatchActivated, m.CanAddCardDetailsCalled, m.DelegateProvisionWithIdCalled,
            m.CardArtForIdAsked,
        ),
        availability="canAddCard()",
        watch_availability="none",
        delegate="provision(sdkOutput)",
        card_art="cardArt(forBrand:)",
        extension_point_key="NSExtension",
        version="1.0.0",
    ),
    later=False,
)  # fmt: skip
B_LATER = VariantB(
    "later",
    FactsB(
        lacks=(m.CanAddCardCalled, m.DelegateProvisionCalled, m.CardArtForBrandAsked),
        availability="canAddCardDetails(isWatchActivated)",
        watch_availability="WatchAvailability, one instance, activate()",
        delegate="provision(sdkOutput, paymentInstrumentId)",
        card_art="cardArt(paymentInstrumentId)",
        extension_point_key="NSExtensionPointIdentifier",
        version="2.0.0, with isWatchPaired until 2.0.2; activate() is static from 2.2.1",
    ),
    later=True,
)
VARIANTS_B = {variant.name: variant for variant in (B_EARLIER, B_LATER)}


def variant_b(name: str) -> VariantB:
    """The preset with this name.

    Raises:
        ParameterError: there is none; the message names the nearest.
    """
    return lookup("platform B variant", name, VARIANTS_B)
