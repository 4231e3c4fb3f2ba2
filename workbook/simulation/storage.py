"""The secure storage that the main app and its extension share: what the app saved, the extension reads (X-CACHE-1)."""

from __future__ import annotations

from workbook.errors import OpaqueDataError


class SecureStorage:
    """One sdkInput for each payment instrument, as bytes; nothing of it is ever printed."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"SecureStorage({len(self._values)} sdkInputs)"

    def save(self, payment_instrument_id: str, sdk_input: bytes) -> None:
        """Keep the sdkInput of this instrument; an older one is replaced.

        Raises:
            OpaqueDataError: it is not bytes.
        """
        if not isinstance(sdk_input, bytes):
            message = f"The storage keeps sdkInput's bytes (API-8), not {type(sdk_input).__name__}."
            raise OpaqueDataError(message, layer="not-text")
        self._values[payment_instrument_id] = sdk_input

    def values(self) -> dict[str, bytes]:
        """Every saved sdkInput by its instrument, in the order in which they were saved first."""
        return dict(self._values)

    def forget(self) -> None:
        """Empty the storage, as on a phone where the app was never opened."""
        self._values.clear()
