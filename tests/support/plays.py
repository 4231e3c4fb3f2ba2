"""Every machine there is, and a play of each flow, variant, phone and surface, from the first act to the last."""

from dataclasses import replace
from functools import cache

from workbook.flows.variants import A_NOT_MIGRATED, SURFACES, VARIANTS_A, VARIANTS_B
from workbook.lessons.script import FLOWS, Script, play

FIRST = "PISIMULATED00000000000001"
ACTS = {
    "platform A": (("tap", 0.6, ""), ("tap", 9.0, "")),
    "platform B": (("tap", 0.8, ""), ("open", 40.0, FIRST)),
    "from the wallet": (("choose app", 1.0, ""), ("choose card", 30.0, FIRST), ("confirm", 31.0, "")),
}


def machines():
    """Every table that a flow can be played with."""
    for variant in (*VARIANTS_A.values(), A_NOT_MIGRATED):
        yield variant.machine
        yield replace(variant, guarded=False).machine
    for variant in VARIANTS_B.values():
        yield variant.machine
        yield replace(variant, tells=False).machine
        yield from (variant.extension(surface) for surface in SURFACES)


def scripts():
    """Every script, by a name."""
    for flow, one in FLOWS.items():
        surfaces = SURFACES if flow == "from the wallet" else SURFACES[:1]
        for variant in one.variants:
            for phone in one.phones:
                for surface in surfaces:
                    yield (
                        f"{flow}, {variant}, {phone}, {surface}",
                        _acted(Script(flow, variant, phone, surface=surface)),
                    )


def _acted(script):
    for act in ACTS[script.flow]:
        script = script.then(*act)
    return script


@cache
def played(name):
    """The play of this name."""
    return play(SCRIPTS[name])


MACHINES = list(machines())
SCRIPTS = dict(scripts())
USUAL = [name for name in SCRIPTS if name.split(", ")[2] in ("ready", "app was opened")]
"""One play of each flow, variant and surface."""
