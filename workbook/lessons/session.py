"""The session: one explicit choice of where activation data comes from, and all that can be done with it.

With `source="simulated"` everything is simulated. With `source="api"` the GET is real. There is no real POST, because
only the SDK on a device can make an sdkOutput that the API accepts. What happens on the phone stays simulated. Settings
in the environment never switch the source; they supply the address and the key.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData, Settings, build_get, build_post, wrong_url
from workbook.base.secrecy import MASK
from workbook.base.values import choice, did_you_mean, flag, is_text, lookup, quoted, whole
from workbook.errors import ActivationDataError, ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.trace import Trace
from workbook.flows.variants import VARIANTS_A, VARIANTS_B, variant_a, variant_b
from workbook.lessons.faults import FaultRun, fault_run
from workbook.lessons.lesson import LEDGER, Shown
from workbook.lessons.platforms import PlatformA, PlatformB, Setup, Wallet
from workbook.lessons.run import Run
from workbook.lessons.tools import tool
from workbook.play.back_end import ONE_ATTEMPT, BackEnd, Relayed, client, simulated_back_end
from workbook.play.own_code import RELAY
from workbook.simulation.faults import FAULTS, FaultKind, FaultPlan, Planned
from workbook.simulation.faults import fault as fault_named
from workbook.simulation.http import Request
from workbook.simulation.service import ORIGIN, DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Instrument, World
from workbook.views.html import join, tag
from workbook.views.sequence import sequence, status
from workbook.views.table import EDGE, INK, Snapshot, Table, clean, paragraph, preformat, table

if TYPE_CHECKING:
    from workbook.api.client import ActivationDataClient
    from workbook.lessons.exercises.judges_incidents import Incident

# The box of the request, and that of the answer: side by side where there is room.
_ONE_SIDE = f"flex:1 1 24em;border:{EDGE};border-radius:8px;padding:0.5em 0.9em;overflow-wrap:anywhere;color:{INK}"

# The parameters of the notebooks, typed and checked.
#
# papermill guesses types (`-p id 0012345` arrives as a number) and only warns about an unknown name. Here each value
# has the type of its field, or an error says what is allowed; nothing is guessed.


class Source(StrEnum):
    """Who answers: the simulation, or a real API at `base_url`."""

    SIMULATED = "simulated"
    API = "api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The settings of one run of the notebooks.

    Attributes:
        source: who answers; variables of the environment never change it.
        base_url: the API's address, only with `source="api"`; None means the environment's WORKBOOK_BASE_URL.
        payment_instrument_id: the `{id}` of both calls; text, so leading zeros stay.
        variant_a: which variant of platform A, by name.
        variant_b: which variant of platform B, by name.
        seed: determines everything that the simulation makes up, 0 to 2**32 - 1.
        strict: whether the lesson's last cell raises the checks that failed.

    Raises:
        ParameterError: a value is not what its parameter allows.
    """

    source: Source = Source.SIMULATED
    base_url: str | None = None
    payment_instrument_id: str = INSTRUMENT_IDS[0]
    variant_a: str = "from-0.4.0"
    variant_b: str = "later"
    seed: int = 7
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", Source(choice("source", self.source, Source)))
        choice("variant_a", self.variant_a, VARIANTS_A)
        choice("variant_b", self.variant_b, VARIANTS_B)
        whole("seed", self.seed, least=0, most=2**32 - 1)
        flag("strict", self.strict)
        card = self.payment_instrument_id
        if isinstance(card, int | float):
            raise ParameterError(
                f"payment_instrument_id arrived as the number {quoted(card)}, so leading zeros may already be lost. "
                "Send text: quote it in the cell, or use papermill's -r, which never converts."
            )
        if len(_text("payment_instrument_id", card)) > 1000:  # the client refuses a longer one
            raise ParameterError(
                f"payment_instrument_id is {quoted(card)}; allowed: at most 1000 characters, as the API gave it."
            )
        if self.base_url is None:
            return
        if self.source is Source.SIMULATED:
            raise ParameterError(
                "base_url was given while source is 'simulated', where it means nothing. "
                "Give source='api' as well, or leave base_url out."
            )
        if why := wrong_url(_text("base_url", self.base_url).rstrip("/")):
            raise ParameterError(
                f"base_url {why}. Give one such as https://host or http://127.0.0.1:8000; it is saved in the file."
            )

    @classmethod
    def of(cls, **values: Any) -> Parameters:
        """The parameters that a notebook's parameters cell holds.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        keys = ("key", "token", "secret", "password", "passwd", "credential", "authorization")
        for name in [name for name in values if name not in parameter_names()]:
            if any(word in re.sub(r"[^a-z]", "", name.lower()) for word in keys):
                raise ParameterError(
                    f"{name!r} looks like a key. A parameter is saved in the notebook's file, so keys come from the "
                    "environment variable WORKBOOK_API_KEY, never from a cell or a command line."
                )
            raise ParameterError(f"No parameter {quoted(name)}. {did_you_mean(name, parameter_names())}")
        return cls(**values)

    @classmethod
    def from_strings(cls, values: Mapping[str, Any]) -> Parameters:
        """The parameters of a command line's `-p NAME=VALUE`; what is no text, as a file may have it, stays as it is.

        Raises:
            ParameterError: a name is unknown or names a key, or a value is not allowed.
        """
        typed: dict[str, Any] = dict(values)
        if re.fullmatch(r"[0-9]{1,10}", str(values.get("seed"))):
            typed["seed"] = int(values["seed"])
        if (word := str(values.get("strict")).lower()) in {"true", "false"}:
            typed["strict"] = word == "true"
        return cls.of(**typed)

    def as_papermill(self) -> dict[str, Any]:
        """Every parameter as the plain value that papermill writes into a cell."""
        return asdict(self) | {"source": self.source.value}


def parameter_names() -> tuple[str, ...]:
    """The names that a parameters cell may declare."""
    return tuple(field.name for field in fields(Parameters))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be text, not {type(value).__name__}.")
    if not is_text(value, longest=len(value)):
        raise ParameterError(f"{name} must be text that is not empty, without control characters or outer spaces.")
    return value


# What is real with each source, and what is not.
WHAT_IS_REAL = {
    Source.SIMULATED: {
        "GET": "simulated: marked data, bound to the payment instrument",
        "POST": "simulated: takes an sdkOutput that the SDK stand-in made",
        "SDK, wallet": "simulated",
    },
    Source.API: {
        "GET": "real: sent to the API with your key",
        "POST": "not made: only the SDK on a device makes an sdkOutput; session.client.post(ID, OUTPUT) sends one",
        "SDK, wallet": "simulated: they need a store build, a live card and a phone (sdk-b)",
        "after the GET": "a play goes on with the simulator's own data; the real sdkInput is not used",
    },
}


# The answers that arrive whole and are of no use.
ARRIVING = (FaultKind.STATUS, FaultKind.LIMIT, FaultKind.UNUSABLE, FaultKind.ODD)
ANSWERS = {name: each for name, each in FAULTS.items() if each.kind in ARRIVING}


@dataclass(frozen=True, slots=True)
class NotPossible:
    """Why something cannot be done here, and what would make it possible."""

    why: str

    def __repr__(self) -> str:
        return f"Not possible here: {self.why}"


class RealBackEnd(BackEnd):
    """Makes the real GET, records its answer, and goes on with the simulation's own data."""

    def __init__(self, client: ActivationDataClient, simulated: DirectApi) -> None:
        super().__init__(client, stopwatch=monotonic)
        self._simulated = simulated

    def exchange(
        self, payment_instrument_id: str, sdk_output: SdkOutput | None = None, *, takes: float = 0.0
    ) -> Relayed:
        """The real GET, then the simulator's sdkInput. The POST is simulated: no simulated sdkOutput is really sent."""
        events: list[tuple[float, m.Event]] = []
        note = "The GET was real. From here on all is simulated: only the SDK on a device can open a real sdkInput."
        if sdk_output is None:
            real = super().exchange(payment_instrument_id)
            if real.error is not None:
                return real
            events = real.events
        else:
            note = "Not sent to the API: this sdkOutput is simulated. The simulated service answers instead."
            self.clock.sleep(takes)
        noted = self.clock.now(), m.Noted(note)
        return Relayed([*events, noted], self.ask(self._simulated, payment_instrument_id, sdk_output))


class Session:
    """Everything that a lesson works with, for one set of parameters.

    Attributes:
        parameters: the parameters that it was opened with.
        payment_instrument_id: the `{id}` of both API calls.
        platform_a: what can be done on platform A: the SDK by hand, one play, the live stage.
        platform_b: the same for platform B in the issuer's app.
        wallet: the same for platform B from the wallet app.

    Raises:
        ConfigurationError: `source="api"` without an address or a key in the environment.
    """

    in_python = "session"

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.payment_instrument_id = parameters.payment_instrument_id
        if self.real:
            _check_environment(parameters)
            _ = self.client  # refuses a malformed key or address now
        self._service = Service(self._world())
        self._api = DirectApi(self._service)
        on_a, on_b = variant_a(parameters.variant_a), variant_b(parameters.variant_b)
        card, seed = self.payment_instrument_id, parameters.seed
        setup = Setup(card, seed, on_a, on_b, sdk_input=self.activation_data, back_end=self._back_end)
        self.platform_a = PlatformA(setup)
        self.platform_b = PlatformB(setup)
        self.wallet = Wallet(setup)

    def __repr__(self) -> str:
        known = self.parameters
        return (
            f"Session(source={known.source.value!r}, payment_instrument_id={self.payment_instrument_id!r}, "
            f"variant_a={known.variant_a!r}, variant_b={known.variant_b!r}, seed={known.seed})\n"
            "Next: session.get(), .post(), .platform_a.play(), .platform_b.play(), .wallet.play(), .break_it(), "
            "each platform's .live()."
        )

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the wrong answers that `ask` takes."""
        return tuple(ANSWERS)

    @property
    def real(self) -> bool:
        """True when a real API answers the GET."""
        return self.parameters.source is Source.API

    @cached_property
    def client(self) -> ActivationDataClient:
        """The API client of this session; it connects when it is first used."""
        if self.real:
            from workbook.api.client import ActivationDataClient  # httpx is loaded when a client is needed

            return ActivationDataClient(base_url=self.parameters.base_url)
        return client(self._service)

    def get(self) -> ActivationData:
        """Make the GET, real or simulated (API-1).

        Raises:
            ActivationDataError: the API gave no activation data.
        """
        return self.client.get(self.payment_instrument_id)

    def post(self) -> ActivationData | NotPossible:
        """Make the POST with an sdkOutput of the SDK stand-in (API-2), or say why it cannot be made.

        Raises:
            ActivationDataError: the API gave no activation data.
        """
        if self.real:
            return NotPossible(f"the POST is {WHAT_IS_REAL[Source.API]['POST']}.")
        return self.client.post(self.payment_instrument_id, self._simulated_output())

    def wire(self, method: str = "GET", answer: str = "as it should be") -> Snapshot:
        """One request and its answer as they are on the wire; always simulated (API-1 to API-6, API-9).

        The key is masked, and opaque data is shown as its mark and its length.

        Args:
            method: `GET` or `POST`.
            answer: `as it should be`, or one of `session.answers`.

        Raises:
            ParameterError: there is no such method or answer.
        """
        choice("method", method, ("GET", "POST"))
        settings, card = Settings(ORIGIN, SIMULATED_KEY), self.payment_instrument_id
        sent = build_get(settings, card) if method == "GET" else build_post(settings, card, self._simulated_output())
        service = Service(self._world()) if answer == "as it should be" else self._answering(answer)
        request = Request(method, sent.url.removeprefix(ORIGIN), sent.headers, sent.body or b"")
        answered = service.respond(request)
        blocks, boxes = [], []
        for first, sides in ((f"{method} {request.target}", request), (status(answered.status), answered)):
            headers = [f"{name}: {MASK if name == 'x-api-key' else value}" for name, value in sides.headers]
            block = "\n".join(headers) + "\n\n" + (_body(sides.body) or "(no body)")
            blocks.append(f"{first}\n{block}")
            boxes.append(tag("div", tag("b", first), preformat(block), style=_ONE_SIDE))
        basis = f"Rules and sources of this answer: {answered.basis}"
        sides_by_side = tag("div", *boxes, style="display:flex;flex-wrap:wrap;gap:0.75em")
        return Snapshot("\n\n".join([*blocks, basis]), join(sides_by_side, paragraph(basis)))

    def activation_data(self) -> SdkInput:
        """A simulated sdkInput, whatever the source: the SDK stand-ins can open no other."""
        return self._api.get(self.payment_instrument_id).sdk_input

    def exchange(self, payment_instrument_id: str, sdk_output: SdkOutput | str | bytes) -> str | bytes:
        """What your back end does for your app: the POST. Always simulated, because the sdkOutput is.

        Called by your code in a play or on a stage, it asks the back end of that run; the run's messages show the POST.

        Args:
            payment_instrument_id: the `{id}` of the call.
            sdk_output: text as on platform A, or bytes as on platform B.

        Returns:
            The answer's sdkInput: text for text, bytes for bytes (API-7, API-8).

        Raises:
            ParameterError: the two arguments came in the other order.
            ActivationDataError: the service gave none.
        """
        if isinstance(payment_instrument_id, bytes):
            raise ParameterError(
                "exchange takes (payment_instrument_id, sdk_output), and they came the other way round. The app's "
                "delegate is given sdkOutput first; the extension's is given paymentInstrumentId first (sdk-b)."
            )
        output = SdkOutput.from_bytes(sdk_output) if isinstance(sdk_output, bytes) else sdk_output
        relay = RELAY.get() or (lambda card, given: self._api.post(card, given).sdk_input)
        sdk_input = relay(payment_instrument_id, output)
        return sdk_input.data if isinstance(sdk_output, bytes) else sdk_input.text

    def ask(self, answer: str = "sdkInput missing") -> Shown:
        """The error that the client makes of this answer to a GET, shown instead of raised.

        Args:
            answer: one of `session.answers`.

        Raises:
            ParameterError: there is no such answer.
        """
        try:
            client(self._answering(answer), retries=ONE_ATTEMPT).get(self.payment_instrument_id)
        except ActivationDataError as error:
            return Shown(error)
        raise AssertionError(answer)  # a test tries every answer: the client accepts none

    def break_it(  # noqa: PLR0917  # one choice each, in the order of the sentence
        self,
        fault: str = "503 that says 500",
        operation: str = "POST",
        moment: str = "after",
        platform: str = "platform A",
        back_end: str = "good",
        nth: int | None = 1,
        **settings: Any,
    ) -> FaultRun:
        """Play one fault of the API: what do the API, the back end, the app and the cardholder make of it?

        Args:
            fault: one of `wb.table("faults")`.
            operation: `GET` or `POST`.
            moment: `before` the API has done anything, or `after` it has done its part.
            platform: `platform A`, `platform B, in the app` or `platform B, from the wallet`.
            back_end: one of `wb.table("back ends")`.
            nth: which of these requests is faulted, from 1; None faults all of them.
            settings: the fault's own settings, such as `seconds=2.0`.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        chosen, card = fault_named(fault).but(**settings), self.payment_instrument_id
        planned = Planned(chosen, operation, card, nth, None, moment)  # type: ignore[arg-type]  # it checks
        return fault_run(planned, platform, back_end, self._world())

    def incident(self, number: int) -> Incident:
        """A known failure, played and not named: find its cause, its owner, and the message to send.

        The same for the same number and seed, and simulated whatever the source.

        Args:
            number: from 1 to 13; `workbook course incidents` has the solutions, for a trainer.

        Returns:
            What phone and log show, with `answer(cause=..., owner=..., message=...)`.

        Raises:
            ParameterError: there is no incident of this number.
        """
        from workbook.lessons.exercises.judges_incidents import incident  # the judge of lesson 09, and the catalogue

        return incident(number, session(seed=self.parameters.seed) if self.real else self)

    def replay(self, line: str) -> Run:
        """Play one combination of a sweep, from the line that `workbook sweep` printed; always simulated.

        Args:
            line: such as `platform=a fault='503 that says 500' operation=POST`; what it leaves out is ordinary.

        Raises:
            ParameterError: it is no such line, or a name or a value is unknown.
        """
        run: Run = tool("replayed")(line)
        return run

    def _answering(self, answer: str) -> Service:
        """A service all whose answers are wrong in this way."""
        return Service(self._world(), FaultPlan([Planned(lookup("answer", answer, ANSWERS))]))

    def _simulated_output(self) -> SdkOutput:
        created: Any = self.platform_a.create("before-0.4.0")
        created.card_provisioning.can_provision()
        output: SdkOutput = created.card_provisioning.create_sdk_output().sdk_output
        return output

    def _world(self) -> World:
        """The simulated API's world: it knows its own cards, and with a real API also this session's card."""
        card, world = self.payment_instrument_id, World(seed=self.parameters.seed)
        return replace(world, instruments={card: Instrument(card), **world.instruments}) if self.real else world

    def _back_end(self) -> BackEnd:
        """The back end of one play. What is simulated begins anew, so that each play is the same on every run."""
        world = self._world()
        return RealBackEnd(self.client, DirectApi(Service(world))) if self.real else simulated_back_end(world)


def _body(body: bytes) -> str:
    """A body as a reader may see it: JSON in lines, opaque data as its mark and length, anything else cut short."""
    text = body.decode("utf-8", "replace")
    if len(text) < 60:  # too short for opaque data
        return clean(text)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return clean(text, 200)
    for name, kind in (("sdkInput", SdkInput), ("sdkOutput", SdkOutput)):
        if isinstance(document.get(name), str) and len(document[name]) > len("sdkOutput"):
            document[name] = repr(kind(document[name])).partition("(")[2].removesuffix(")")
    return json.dumps(document, ensure_ascii=False, indent=2) if len(document) > 1 else json.dumps(document)


def session(settings: dict[str, Any] | None = None, /, **parameters: Any) -> Session:
    """Open a session: the one object that a lesson works with.

    Args:
        settings: a lesson gives `globals()`, which holds the settings of its first cell. If they are refused, the
            lesson's name `session` is gone, so that no earlier one is used by mistake.
        parameters: `source` (`simulated` or `api`), `base_url`, `payment_instrument_id`, `variant_a`, `variant_b`,
            `seed` and `strict`; each has a default, and everything is simulated by default.

    Raises:
        ParameterError: a parameter is unknown or its value is not allowed.
        ConfigurationError: `source="api"` without an address or a key in the environment.

    Example:
        >>> wb.session().platform_a.play().state
        'in the wallet'
    """
    if settings is not None:
        if not isinstance(settings, dict):
            raise ParameterError(f"session takes globals(), or settings by name, not {quoted(settings)}.")
        settings.pop("session", None)
        parameters = {name: settings[name] for name in parameter_names() if name in settings} | parameters
    opened = Session(Parameters.of(**parameters))
    if settings is not None:
        LEDGER.begin(strict=opened.parameters.strict)
    if shell := getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)():
        teach(shell)
    return opened


def teach(shell: Any) -> None:
    """Let a notebook's shell show a trace as its sequence diagram, and unanswered questions as a form."""
    # Neither can do this itself, because pictures read traces and forms read exercises, and not the reverse.
    shown = shell.display_formatter
    shown.mimebundle_formatter.for_type(Trace, lambda trace, **_: sequence(trace)._repr_mimebundle_())
    if "WORKBOOK_UNATTENDED" not in os.environ:  # nobody would fill in the form
        shown.ipython_display_formatter.for_type_by_name("workbook.lessons.exercises.asking", "Feedback", show_form)


def show_form(feedback: Any) -> None:
    """Show the questions of an exercise below its cell, until the cell has answers.

    Raises:
        NotImplementedError: there is nothing to answer here; IPython then shows the feedback itself.
    """
    from workbook.lessons.widgets.chooser import Form

    if not feedback.open_questions:
        raise NotImplementedError
    Form(feedback)._ipython_display_()


def sources() -> Table:
    """What is real with each source, and what is simulated."""
    rows = [(str(source), what, limit) for source, limits in WHAT_IS_REAL.items() for what, limit in limits.items()]
    return table("What is real with each source", ("source", "what", "real or simulated"), rows)


def _check_environment(parameters: Parameters) -> None:
    """Name every missing setting at once, in the words of a notebook."""
    needed = ("WORKBOOK_API_KEY",) if parameters.base_url else ("WORKBOOK_BASE_URL", "WORKBOOK_API_KEY")
    missing = [name for name in needed if not os.environ.get(name)]
    other = " The address may also be given as the parameter base_url." if "WORKBOOK_BASE_URL" in missing else ""
    if missing:
        raise ConfigurationError(
            f"source='api' needs settings that the environment lacks: {', '.join(missing)}. "
            f"Set them, then start JupyterLab, or `workbook run` with -p source=api.{other}"
        )
