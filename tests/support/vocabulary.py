"""Every machine and one sample of every message, for the tests of this directory."""

from dataclasses import fields, replace

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED, SURFACES, VARIANTS_B
from workbook.play.platform_a import CardAddress

VARIANTS = {
    f"{variant.name}{'' if guarded else ', not guarded'}": replace(variant, guarded=guarded)
    for variant in (A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED)
    for guarded in (True, False)
}

IN_APP_B = {
    f"B {variant.name}{'' if tells else ', failure not told'}": replace(variant, tells=tells)
    for variant in VARIANTS_B.values()
    for tells in (True, False)
}

EXTENSIONS = {
    f"extension {variant.name} on the {surface}": variant.extension(surface)
    for variant in VARIANTS_B.values()
    for surface in SURFACES
}

MACHINES = {name: variant.machine for name, variant in (VARIANTS | IN_APP_B).items()} | EXTENSIONS
"""Every machine there is, of both platforms."""

SAMPLES = {
    "payment_instrument_id": "PI1",
    "sdk_input": SdkInput("aW5wdXQ="),
    "sdk_output": SdkOutput("b3V0cHV0"),
    "card_display_name": "A card",
    "card_address": CardAddress(),
    "card_provisioning": None,
    "reason": "Canceled",
    "why": "why",
    "throwable": "IOException",
    "status_code": 15009,
    "method": "GET",
    "status": 200,
    "answer": ActivationData(SdkInput("aW5wdXQ=")),
    "told": "",
    "basis": "API-1",
    "error": "DeadlineError",
    "message": "too late",
    "text": "a note",
    "case": "invalidSDKInput",
    "service": None,
    "instance": 1,
    "instances": 2,
    "is_watch_activated": True,
    "can_add_to_phone": True,
    "can_add_to_watch": False,
    "where": "phone",
    "phone": False,
    "watch": None,
    "hidden_by_scheme": False,
    "call": "status",
    "seconds": 0.1,
    "identifier": "PI1",
    "requires_authentication": True,
    "brand": "example",
    "entries": (),
    "request": None,
    "found": 1,
    "out_of_reach": 0,
    "cards": ("PI1",),
    "problems": "",
    "names": ("service",),
    "succeeded": True,
    "pause": 0.1,
    "fault": "reset",
    "location": "https://elsewhere.invalid/",
    "with_key": True,
    "line": "Cell In[3], line 5: return self.cache",
    "really": 2.0,
    "outcome": "stopped",
    "name": "staus",
    "meant": "status",
    "attempts": 2,
    "took": 0.5,
    "ending": "sdkInput",
}


BASES = (m.Message, m.Event, m.Command, m.Aside, m.StartBudget)


def concrete(base):
    """Every message class below `base`, in the module's order."""
    return [one for one in vars(m).values() if isinstance(one, type) and issubclass(one, base) and one not in BASES]


ASIDES = concrete(m.Aside)
EVENTS = concrete(m.Event)
COMMANDS = concrete(m.Command)


def sample(message):
    return message(**{field.name: SAMPLES[field.name] for field in fields(message)})
