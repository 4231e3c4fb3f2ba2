"""Stories to draw, told by hand so that a drawing changes only when a view changes."""

import base64
import json
import re
from hashlib import sha256

import pytest

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace

INSTRUMENT = "PISIMULATED00000000000001"
ELSEWHERE = re.compile(r'(?s)<style>.*?</style>|base64,[^"]+|(?<=style=")[^"]{40,}|(?<="svg": ").*?(?=",?\n)')
"""Styles, and pictures inside a page or inside data."""


class Story:
    """A trace, told one message after the other."""

    def __init__(self, title):
        self.trace = Trace(title)

    def tell(self, at, kind, *messages, **more):
        rules = more.pop("rules", None)
        for message in messages:
            told = message.rules if rules is None else rules
            self.trace.append(Record(at, kind, message, "before", more.get("after", "after"), told, **_given(more)))
        return self

    def event(self, at, *messages, **more):
        return self.tell(at, Kind.EVENT, *messages, **more)

    def command(self, at, *messages, **more):
        return self.tell(at, Kind.COMMAND, *messages, **more)

    def exchange(self, at, *messages, **more):
        return self.tell(at, Kind.EXCHANGE, *messages, **more)


def _given(more):
    return {name: value for name, value in more.items() if name != "after"}


def simulated(kind, serial, owner=INSTRUMENT):
    claims = {"simulated": "not card data", "kind": kind, "serial": serial, "paymentInstrumentId": owner}
    text = base64.b64encode(json.dumps(claims, separators=(",", ":")).encode()).decode()
    return (SdkOutput if kind == "output" else SdkInput)(text)


def from_0_4_0():
    """Everything goes well."""
    activation, output, opc = simulated("activation", 1), simulated("output", 1), simulated("opc", 1)
    story = Story("platform A from 0.4.0")
    story.event(0.0, m.Opened(INSTRUMENT), rules=("FLOW-1", "FLOW-2", "FLOW-4", "API-10"))
    story.command(0.0, m.GetActivationData(INSTRUMENT))
    story.exchange(0.0, m.ApiRequested("GET", INSTRUMENT))
    story.exchange(0.25, m.ApiAnswered(200, ActivationData(activation), basis="API-1 API-9; content: assumed"))
    story.event(0.25, m.ActivationDataReceived(activation), m.CreateCalled(activation))
    story.command(0.25, m.HandToApp(), m.CreateProvisioning(activation))
    story.event(0.27, m.CreateSuccess(), m.CanProvisionCalled())
    story.event(0.42, m.CanBeProvisioned())
    story.command(0.42, m.ShowButton())
    story.event(0.9, m.AddTapped(), attempt=1)
    story.command(0.9, m.DisableButton(), attempt=1)
    story.event(0.9, m.ProvisionWithProviderCalled("Example card", "empty"), attempt=1)
    story.event(1.02, m.FetchOpcCalled(INSTRUMENT, output), attempt=1)
    story.command(1.02, m.FetchOpc(INSTRUMENT, output), attempt=1)
    story.exchange(1.02, m.ApiRequested("POST", INSTRUMENT, output), attempt=1)
    story.exchange(
        1.32, m.ApiAnswered(200, ActivationData(opc), basis="API-2 API-9 API-11; content: assumed"), attempt=1
    )
    story.event(1.32, m.OpcReceived(opc), attempt=1)
    story.command(1.32, m.ReturnOpc(opc), attempt=1)
    story.event(3.72, m.ProvisionSuccess(), attempt=1)
    story.command(3.72, m.HideButton(), attempt=1)
    return story.trace


def two_step():
    """A tap with the deprecated calls; the wallet has a column."""
    output, opc = simulated("output", 1), simulated("opc", 1)
    story = Story("platform A from 0.4.0, app not migrated")
    story.event(0.0, m.AddTapped(), attempt=1)
    story.event(0.0, m.CreateSdkOutputCalled(), attempt=1, deprecated=True)
    story.event(0.12, m.SdkOutputCreated(INSTRUMENT, output), attempt=1)
    story.command(0.12, m.PostSdkOutput(INSTRUMENT, output), attempt=1)
    story.exchange(0.12, m.ApiRequested("POST", INSTRUMENT, output), attempt=1)
    story.exchange(0.42, m.ApiAnswered(200, ActivationData(opc)), attempt=1)
    story.event(0.42, m.OpcReceived(opc), attempt=1)
    story.event(0.42, m.ProvisionCalled(opc, "Example card", "empty"), attempt=1, deprecated=True)
    story.command(0.42, m.Provision(opc, "Example card", "empty"), attempt=1)
    story.exchange(0.42, m.WalletAsked(), attempt=1)
    story.event(2.82, m.ProvisionSuccess(), attempt=1)
    return story.trace


def trouble():
    """All that can go wrong, with data that is not the simulator's and an id that is hostile."""
    hostile = "<script>alert('x')</script>\u202e\x00]]>"
    first, second = SdkInput("R2VudWluZQ=="), SdkInput("T3RoZXI=")
    story = Story("trouble & strife")
    story.event(0.0, m.Opened(hostile))
    story.exchange(0.0, m.ApiRequested("GET", hostile))
    story.exchange(0.1, m.ApiAnswered(422, told="30_031: no", basis="API-3; code: openapi; pairing: assumed"))
    story.exchange(
        0.2,
        m.ApiAnswered(200, ActivationData(first)),
        m.ApiAnswered(200, ActivationData(second)),
        m.ApiAnswered(200, ActivationData(first)),
    )
    story.exchange(0.3, m.ApiAnswered(299, ActivationData("bare")), m.ApiAnswered(500, ActivationData(["odd"])))
    story.exchange(0.4, m.ApiFailed("DeadlineError", "The deadline of 10 s passed; the request may have arrived."))
    story.event(0.5, m.AddTapped(), attempt=1)
    story.tell(0.6, Kind.REFUSED, m.AddTapped(), attempt=1)
    story.tell(0.6, Kind.REFUSED, m.HandToApp(), attempt=1)
    story.event(0.7, m.AddTapped(), attempt=2)
    story.event(0.7, m.OpcReceived(simulated("opc", 2, owner="PIOTHER")), attempt=2)
    cut_short = SdkInput(simulated("opc", 1).text[:41])
    story.event(0.8, m.OpcReceived(cut_short), m.ApiError(15009), m.CanProvisionError("x" * 300), attempt=2)
    story.event(0.9, m.ProvisionFailure("Canceled", ""), m.Noted("an event to itself"), attempt=2)
    story.tell(1.0, Kind.NOTE, m.Noted("The real world ends here. " * 6), attempt=2)
    story.command(1.1, m.HideButton(), m.ReportToContact())
    return story.trace


STORIES = {"from_0_4_0": from_0_4_0, "two_step": two_step, "trouble": trouble}


@pytest.fixture(params=sorted(STORIES))
def story(request):
    """A name and a trace."""
    return request.param, STORIES[request.param]()


@pytest.fixture
def stories():
    """Every story by its name, to be told afresh."""
    return STORIES


@pytest.fixture
def pictures(golden):
    """Compares pictures or pages with a file: the shapes of each that no earlier one has, and the digest of it all.

    Styles, and pictures inside a page or inside data, are left to their digests.
    """

    def compare(name, drawn):
        known, lines = set(), []
        for title, text in drawn:
            short = ELSEWHERE.sub(lambda data: f"[{digest(data[0])}]", text)
            new = [shape for shape in re.sub(r">\s*<", ">\n<", short).splitlines() if shape not in known]
            known |= {*new}
            lines += [f"== {title}: {digest(text)}", *new]
        golden(name, "\n".join(lines))

    return compare


def digest(text):
    return sha256(text.encode()).hexdigest()[:12]
