"""Platform A's SDK stand-in: a command in, the document's outcome out.

It decides nothing about order; that is the tables' business. It opens what it is given, looks at the
device's facts, and answers with the event that the tables branch on. The explanation in `why` is the
simulator's: the real SDK says less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkOutput
from workbook.flows import messages as m
from workbook.simulation.device import NOT_ALLOWLISTED, Device
from workbook.simulation.seal import Content, Damaged, Genuine, Seal
from workbook.simulation.stand_in import StandIn

if TYPE_CHECKING:
    from workbook.flows.messages import Event

    Reply = tuple[float, Event]


class SdkA(StandIn):
    """One cardProvisioning instance on one device.

    Attributes:
        seen: called with what passes between the SDK and the wallet, which no table steps.
        attempt: the number of its latest sdkOutput, counted for the whole device; OPC data belongs to the attempt
            it was asked for.
    """

    def __init__(self, device: Device, seal: Seal, *, api_error: bool) -> None:
        self.device = device
        self._seal = seal
        self._api_error = api_error
        self._payment_instrument_id = ""
        self._activation = 0
        self._used: set[str] = set()
        self._overlapped: set[int] = set()
        answers = {
            m.CreateProvisioning: self._create,
            m.AskCanProvision: self._can_provision,
            m.CreateSdkOutput: self._create_sdk_output,
            m.ProvisionWithProvider: self._ask_for_opc,
            m.Provision: self._provision,
            m.ReturnOpc: self._provision,
            m.ReturnNoOpc: self._no_opc,
        }
        super().__init__(answers)

    def _create(self, command: Any) -> Reply:
        return self.device.latencies.create, self._created(_text(command.sdk_input))

    def _created(self, sdk_input: object) -> Event:
        match self._seal.open(sdk_input):
            case Damaged(why, advice):
                return m.InvalidSdkInput(f"{why}. {advice}".strip(" ."))
            case Genuine() as data if data.content != Content.ACTIVATION:
                return m.InvalidSdkInput(f"it is data of kind '{data.content}'; create takes the GET's sdkInput")
            case Genuine() as data:
                self._payment_instrument_id = data.payment_instrument_id
                self._activation = data.serial
                return self._supported(data)

    def _supported(self, data: Genuine) -> Event:
        listed = self.device.wallet in data.claims.get("supportedWallets", ())
        if not (self.device.wallet_pay_supported and listed):
            return m.WalletPayNotSupported()
        return m.CreateSuccess(self)

    def _can_provision(self, _command: Any) -> Reply:
        found = self.device.can_provision or self._found()
        if isinstance(found, m.ApiError) and not self._api_error:
            found = m.UnknownFailure()  # the earlier variant has no better word for it (assumed)
        return self.device.latencies.can_provision, found

    def _found(self) -> Event:
        device = self.device
        if not device.allowlisted:
            return m.ApiError(NOT_ALLOWLISTED)
        if self._payment_instrument_id not in device.cards or not device.scheme_configured:
            return m.CanBeProvisioned()
        if device.verification_pending:
            self.seen(m.VerificationPending())
            return m.CanBeProvisioned()
        return m.AlreadyExistsInWallet()

    def _create_sdk_output(self, _command: Any) -> Reply:
        made = m.SdkOutputCreated(self._payment_instrument_id, self._next_output())
        return self.device.latencies.create_sdk_output, made

    def _ask_for_opc(self, _command: Any) -> Reply:
        asked = m.FetchOpcCalled(self._payment_instrument_id, self._next_output())
        return self.device.latencies.create_sdk_output, asked

    def _next_output(self) -> SdkOutput:
        self.device.outputs += 1
        self.attempt = self.device.outputs
        more = {"attempt": self.attempt, "activation": self._activation}
        return SdkOutput(self._seal.close(Content.OUTPUT, self._payment_instrument_id, self.device.outputs, **more))

    def _provision(self, command: Any) -> Reply:
        opc = _text(command.sdk_input)
        refused = self._refused(opc)
        if refused is None:
            self.seen(m.WalletAsked())
        failure = refused or self._forced()
        self._used.add(opc)
        if failure is None:
            self._added()
        return self.device.latencies.wallet, failure or m.ProvisionSuccess()

    def _added(self) -> None:
        """The card is in the wallet; adding it once more completes a pending identity check (sdk-a)."""
        device = self.device
        device.verification_pending = device.verification_pending and self._payment_instrument_id not in device.cards
        device.cards.add(self._payment_instrument_id)

    def _forced(self) -> Event | None:
        reason = self.device.provision_failure
        return m.ProvisionFailure(reason, "chosen for this phone") if reason else None

    def _refused(self, opc: str) -> Event | None:
        why = self._wrong_with(opc)
        return m.ProvisionFailure("InvalidSdkInput", why) if why else None

    def _wrong_with(self, opc: str) -> str | None:
        match self._seal.open(opc):
            case Damaged(why, advice):
                return f"{why}. {advice}".strip(" .")
            case Genuine() as data if data.content != Content.OPC:
                return f"it is data of kind '{data.content}'; provision takes the POST's sdkInput"
            case Genuine() as data if data.payment_instrument_id != self._payment_instrument_id:
                return "it belongs to another payment instrument"
            case Genuine() as data if overlap := self._overlap(data.claims["attempt"]):
                return overlap
            case Genuine():
                return "it was used already" if opc in self._used else None

    def _overlap(self, attempt: int) -> str | None:
        """Why an attempt fails beside another: the document calls that likely, and says neither which nor when."""
        if attempt != self.attempt:
            self._overlapped.add(self.attempt)
            return f"data of attempt {attempt}, but attempt {self.attempt} has begun (assumed)"
        return f"attempt {attempt} began while another was under way (assumed)" if attempt in self._overlapped else None

    def _no_opc(self, command: Any) -> Reply:
        return 0.0, m.ProvisionFailure("OpcFetchError", command.reason)


def _text(value: Any) -> str:
    """Platform A takes the text as it is, whether it comes wrapped or bare (API-7)."""
    return str(getattr(value, "text", value))
