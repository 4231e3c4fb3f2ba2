"""What a server hands out when it starts: its address, its keys, and an sdkOutput for each card.

A back end that is tried out against it has no phone, so nothing would make the sdkOutput that its POST needs:
`fresh_output` lets the SDK stand-in make one. What the service reads in it is sealed with the seed, so a command
in another terminal can make one for a running server.
"""

from __future__ import annotations

import json
import secrets
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError, did_you_mean
from workbook.flows import messages as m
from workbook.simulation.device import Device
from workbook.simulation.direct import DirectApi
from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.sdk_a import SdkA
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World

if TYPE_CHECKING:
    from collections.abc import Mapping

SERIALS = range(1_000_000, 1_000_000_000)
"""What a fresh sdkOutput's serial is drawn from: too many for two to meet, and each still short enough to be shown."""


def fresh_output(payment_instrument_id: str = INSTRUMENT_IDS[0], *, seed: int = 7, world: World | None = None) -> str:
    """An sdkOutput that the SDK stand-in makes now: no two are alike, and each is good for one POST.

    Args:
        payment_instrument_id: one of the world's.
        seed: the seed of the server that it is for.
        world: whose instruments they are; None takes the default one.

    Raises:
        ParameterError: no instrument has this id.
    """
    world = replace(world or World(), seed=seed, credentials={SIMULATED_KEY: Credential()})
    if payment_instrument_id not in world.instruments:
        hint = did_you_mean(payment_instrument_id, world.instruments)
        raise ParameterError(f"No payment instrument {payment_instrument_id[:40]!r}. {hint}")
    service = Service(world)
    sdk = SdkA(Device(outputs=secrets.choice(SERIALS)), service.seal, api_error=True)
    sdk.answer(m.CreateProvisioning(DirectApi(service).get(payment_instrument_id).sdk_input))
    _seconds, made = sdk.answer(m.CreateSdkOutput())
    return str(made.sdk_output.text)  # type: ignore[attr-defined]  # the outcome of that very command


def handout(world: World, addresses: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, Any]:
    """Everything that a client needs, as plain values.

    Args:
        world: what the first key opens.
        addresses: what else to tell, such as `base_url`.
        keys: credential's name to key.
    """
    usable = [one for one in world.instruments.values() if one.active]
    more = {"api_keys": dict(keys)} if len(keys) > 1 else {}
    return {
        **addresses,
        "api_key": next(iter(keys.values())),
        **more,
        "payment_instrument_ids": list(world.instruments),
        "sdk_outputs": {one.id: fresh_output(one.id, seed=world.seed, world=world) for one in usable},
    }


def for_a_person(told: Mapping[str, Any], world: World) -> str:
    """The same as text, and both calls to be pasted into a terminal."""
    lines = [f"{name}: {_words(value)}" for name, value in told.items() if name != "sdk_outputs"]
    pasted = _calls(told, world) if told["sdk_outputs"] else []
    return "\n".join([*lines, *pasted, "Simulated data only. Stop with Ctrl-C.\n"])


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {key}" for name, key in value.items())
    return " ".join(value) if isinstance(value, list) else str(value)


def _calls(told: Mapping[str, Any], world: World) -> list[str]:
    instrument, output = next(iter(told["sdk_outputs"].items()))
    url = f"{told['base_url']}{BEFORE_ID}{instrument}{AFTER_ID}"
    command = ["curl", "-H", f"x-api-key: {told['api_key']}", "-H", "content-type: application/json"]
    seed = "" if world.seed == World().seed else f" --seed {world.seed}"
    scenario = f" --scenario {world.name}" if instrument not in World().instruments else ""
    return [
        f"\nThe GET:\n{shlex.join([*command, url])}",
        f"\nThe POST:\n{shlex.join([*command, '--data', json.dumps({'sdkOutput': output}), url])}",
        f"\nAn sdkOutput can be exchanged once. For another: workbook sdk-output{seed}{scenario}",
    ]
