"""Every machine and one sample of every message, for the tests of this directory."""

from dataclasses import fields, replace

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.app import CardAddress
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED

VARIANTS = {
    f"{variant.name}{'' if guarded else ', not guarded'}": replace(variant, guarded=guarded)
    for variant in (A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED)
    for guarded in (True, False)
}

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
    "told": "",
    "basis": "API-1",
    "error": "DeadlineError",
    "message": "too late",
    "text": "a note",
}


def concrete(base):
    """Every message class below `base`, in the module's order."""
    return [
        one
        for one in vars(m).values()
        if isinstance(one, type) and issubclass(one, base) and one not in (m.Message, m.Event, m.Command)
    ]


EVENTS = concrete(m.Event)
COMMANDS = concrete(m.Command)


def sample(message):
    return message(**{field.name: SAMPLES[field.name] for field in fields(message)})
