"""The desk that a lesson works at: one explicit choice of where the data comes from, and all that follows from it.

With `source="simulated"` everything is played. With `source="api"` the GET is real; the POST needs an
sdkOutput that only the SDK on a device can make, so it is real only with one pasted into a file; and
what comes after happens on a phone, so it stays simulated. The desk says so wherever it matters.
Nothing in the environment switches the source; it only supplies the address and the key.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.api import ActivationDataClient
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import Settings, build_get, build_post
from workbook.benches.back_end import BackEnd
from workbook.benches.bench_a import Bench
from workbook.benches.bench_b import BenchB
from workbook.card_provisioning import CardProvisioning
from workbook.errors import ConfigurationError, ParameterError
from workbook.extension.handler import ExtensionHandler, ReferenceHandler
from workbook.extension.host import ExtensionHost
from workbook.flows.variants import A_BEFORE_0_4_0, Variant, variant
from workbook.flows.variants_b import VariantB, variant_b
from workbook.parameters import VARIANTS, Parameters, Source, quoted
from workbook.provisioning_service import ProvisioningService
from workbook.reality import API_LIMITS, NotPossible, RealBackEnd, limits
from workbook.simulation.direct import ORIGIN, DirectApi
from workbook.simulation.phone import Phone
from workbook.simulation.service import Service
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import SIMULATED_KEY, Instrument, World

if TYPE_CHECKING:
    from workbook.api import ActivationData
    from workbook.benches.app_a import App
    from workbook.benches.app_b import AppB
    from workbook.simulation.device import Device

__all__ = ["Desk", "NotPossible", "limits", "open_desk"]

MAX_FILE = 1_048_576
"""The largest sdkOutput file that is read, in bytes."""

METHODS = ("GET", "POST")
"""The two calls of the API."""


class Desk:
    """What a lesson needs, made for one set of parameters.

    Attributes:
        parameters: what the desk was opened with.
        client: speaks to whoever answers; close the desk when done with a real one.
        variant: platform A's variant of these parameters.
        variant_b: platform B's variant of these parameters.

    Raises:
        ConfigurationError: a setting is missing or wrong.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.variant: Variant = variant(parameters.variant)
        self.variant_b: VariantB = variant_b(parameters.variant_b)
        self._service = Service(_world(parameters))
        self._transport = SimulatedTransport(self._service)
        self.client = self._client()
        self._phones = 0

    def __repr__(self) -> str:
        return f"Desk(source={self.parameters.source.value!r}, {self.payment_instrument_id!r}, {self.variant.name!r})"

    @property
    def real(self) -> bool:
        """True when a real API answers the GET."""
        return self.parameters.source is Source.API

    @property
    def payment_instrument_id(self) -> str:
        """The `{id}` of both calls."""
        return self.parameters.payment_instrument_id

    def get(self) -> ActivationData:
        """The GET, real or simulated.

        Raises:
            ActivationDataError: the API gave none.
        """
        return self.client.get(self.payment_instrument_id)

    def activation_data(self) -> SdkInput:
        """A simulated sdkInput, whatever the source: the SDK stand-in can open no other."""
        return DirectApi(self._service).get(self.payment_instrument_id).sdk_input

    def exchange(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> str:
        """What a lesson's OpcProvider asks its back end for: the simulated POST's sdkInput, whatever the source."""
        return DirectApi(self._service).post(payment_instrument_id, sdk_output).sdk_input.text

    def post(self) -> ActivationData | NotPossible:
        """The POST with this desk's sdkOutput, or why it cannot be made.

        Raises:
            ActivationDataError: the API gave none.
        """
        output = self.sdk_output()
        return output if isinstance(output, NotPossible) else self.client.post(self.payment_instrument_id, output)

    def sdk_output(self) -> SdkOutput | NotPossible:
        """An sdkOutput: from the SDK stand-in, or with a real API from `sdk_output_file`.

        Raises:
            ConfigurationError: the file cannot be read.
        """
        if not self.real:
            return self._made_output()
        if self.parameters.sdk_output_file is None:
            return NotPossible(f"the POST is {API_LIMITS['POST']}.")
        return SdkOutput(_read(Path(self.parameters.sdk_output_file)))

    def asked(self, method: str = "GET") -> dict[str, str]:
        """What the client sends for `GET` or `POST`, with the key left out (API-1 to API-6).

        Raises:
            ParameterError: it is another method.
        """
        if method not in METHODS:
            raise ParameterError(f"method is {quoted(method)}; allowed: {', '.join(METHODS)}.")
        settings = Settings(ORIGIN, SIMULATED_KEY)
        built = build_get(settings, self.payment_instrument_id)
        body = "none"
        if method == "POST":
            built = build_post(settings, self.payment_instrument_id, self._made_output())
            body = f'{{"sdkOutput": "..."}}, {len(built.body or b"")} bytes'
        shown = {name: "[key]" if name == "x-api-key" else value for name, value in built.headers}
        return {"request": f"{built.method} {built.url.removeprefix(ORIGIN)}", **shown, "body": body}

    def bench(self, flow: Variant | None = None, *, device: Device | None = None, app: App | None = None) -> Bench:
        """A bench whose back end asks this desk's API; by default with the variant of the parameters.

        Raises:
            ParameterError: `flow` is no Variant.
        """
        if not isinstance(flow, Variant | None):
            raise ParameterError(f"flow is {quoted(flow)}; allowed: a Variant, such as A_NOT_MIGRATED.")
        return Bench(
            flow or self.variant,
            self.payment_instrument_id,
            device=device,
            app=app,
            back_end=self._back_end(),
            seed=self.parameters.seed,
        )

    def create(self, flow: str | None = None, *, device: Device | None = None) -> Any:
        """CardProvisioning.create with simulated activation data; by default for the parameters' variant.

        Raises:
            ParameterError: `flow` is no variant's name, or `device` no Device.
        """
        if flow is not None and flow not in VARIANTS:
            raise ParameterError(f"flow is {quoted(flow)}; allowed: {', '.join(VARIANTS)}.")
        return CardProvisioning.create(
            self.activation_data(),
            _activity,
            variant=variant(flow) if flow else self.variant,
            device=device,
            seed=self.parameters.seed,
        )

    def phone(self, **facts: Any) -> Phone:
        """Another platform B phone whose SDK can open this desk's data; `facts` are the phone's own."""
        self._phones += 1
        return Phone(number=self._phones, seed=self.parameters.seed, **facts)

    def relay(self, payment_instrument_id: str, sdk_output: bytes) -> bytes:
        """What a lesson's delegate asks its back end for on platform B: the simulated POST's sdkInput, as bytes.

        Raises:
            ParameterError: the two came in the other order.
            ActivationDataError: the service gave none.
        """
        if isinstance(payment_instrument_id, bytes):
            raise ParameterError(
                "relay takes (payment_instrument_id, sdk_output), and they came the other way round. The delegate in "
                "the app is given sdkOutput first, the extension's paymentInstrumentId first (sdk-b)."
            )
        output = SdkOutput.from_bytes(sdk_output)
        return DirectApi(self._service).post(payment_instrument_id, output).sdk_input.data

    def service(self, phone: Phone) -> ProvisioningService:
        """A ProvisioningService from simulated activation data, on this phone."""
        return ProvisioningService(self.activation_data().data, variant=self.variant_b, phone=phone)

    def bench_b(self, *, phone: Phone | None = None, app: AppB | None = None) -> BenchB:
        """A platform B bench whose back end asks this desk's API."""
        return BenchB(
            self.variant_b,
            self.payment_instrument_id,
            phone=phone or self.phone(),
            app=app,
            back_end=self._back_end(),
        )

    def host(self, handler: type[ExtensionHandler] = ReferenceHandler, **settings: Any) -> ExtensionHost:
        """A wallet app that calls this handler, whose back end asks this desk's API; `settings` are the host's own."""
        settings.setdefault("phone", self.phone())
        return ExtensionHost(handler, self.variant_b, back_end=self._back_end(), **settings)

    def _made_output(self) -> SdkOutput:
        client = self.create(A_BEFORE_0_4_0.name).card_provisioning
        client.can_provision()
        output: SdkOutput = client.create_sdk_output().sdk_output
        return output

    def _client(self) -> ActivationDataClient:
        if self.real:
            _settings_are_there(self.parameters)
            return ActivationDataClient(base_url=self.parameters.base_url)
        return ActivationDataClient(base_url=ORIGIN, api_key=SIMULATED_KEY, transport=self._transport)

    def _back_end(self) -> BackEnd:
        if self.real:
            return RealBackEnd(self.client, DirectApi(self._service))
        return BackEnd(self.client, basis=lambda: self._transport.basis)


def open_desk(**parameters: Any) -> Desk:
    """The desk for a notebook's parameters cell: `open_desk(source=source, ...)`.

    Raises:
        ParameterError: a parameter is unknown or its value is not allowed.
        ConfigurationError: `source="api"` without an address or a key in the environment.
    """
    return Desk(Parameters.of(**parameters))


def _settings_are_there(parameters: Parameters) -> None:
    """All that is missing is named at once, in the words of a notebook: a client's arguments are not at hand there."""
    address = () if parameters.base_url else ("WORKBOOK_BASE_URL",)
    missing = [name for name in (*address, "WORKBOOK_API_KEY") if not os.environ.get(name)]
    other = " The address may also be given as the parameter base_url." if "WORKBOOK_BASE_URL" in missing else ""
    if missing:
        raise ConfigurationError(
            f"source='api' needs settings that the environment lacks: {', '.join(missing)}. "
            f"Set them, then start JupyterLab or the command again.{other}"
        )


def _world(parameters: Parameters) -> World:
    """The default world, which also knows the instrument of these parameters."""
    world = World(seed=parameters.seed)
    known = Instrument(parameters.payment_instrument_id)
    return replace(world, instruments={known.id: known, **world.instruments})


def _read(path: Path) -> str:
    """The file's text without its closing line break, which editors add and the SDK does not."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read sdk_output_file {quoted(str(path))}: {type(error).__name__}.") from None
    if len(data) > MAX_FILE:
        raise ConfigurationError(
            f"sdk_output_file {quoted(str(path))} is larger than {MAX_FILE} bytes; that is no sdkOutput."
        )
    return text.removesuffix("\n").removesuffix("\r")


def _activity() -> str:
    return "the app's activity"
