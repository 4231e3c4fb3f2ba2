"""Schemathesis, which knows nothing of us, against the real server: the document and the answers agree.

It takes half a minute, so it runs at night: test_contract_openapi and test_service guard the same with each change.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
import schemathesis
from schemathesis.config import SchemathesisWarning

from workbook.simulation.contract import CONTRACTS, SPEC
from workbook.simulation.seal import Content, Seal
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.mock import fresh_output
from workbook.tools.mockserver.server import running

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

WITHIN = 120
OUTPUTS = 60
EXAMPLES = 25
# The check positive_data_acceptance is off, and the warning validation_mismatch fails nothing: a random sdkOutput fits
# the schema and is rightly refused with 422, for no schema can say what the SDK makes. Instead most bodies hold a good
# one, and that some are answered with 200 is asserted.
# The stateful phase is off: there are no links, and the API neither makes nor deletes its one resource.
CONFIG = """
[generation]
deterministic = true
database = "none"
max-examples = {examples}
[phases.stateful]
enabled = false
[checks.positive_data_acceptance]
enabled = false
[warnings]
fail-on = {warnings}
[dictionaries.outputs]
values = {outputs}
[dictionaries.ids]
values = {ids}
[parameters]
"body.sdkOutput" = {{ dictionary = "outputs", probability = 0.7 }}
"path.id" = {{ dictionary = "ids", probability = 0.8 }}
[auth.openapi.apiKey]
api_key = "${{SCHEMATHESIS_KEY}}"
"""
SCENARIO = """
profile = "{}"
[[instrument]]
id = "{}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all: Hypothesis computes its tables of characters once, which takes seconds."""
    return tmp_path_factory.mktemp("schemathesis")


def example_id(contract):
    (path,) = contract.document["paths"].values()
    return path["parameters"][0]["examples"]["one"]["value"]


@contextmanager
def serving(folder, contract):
    """`workbook serve` with the instrument that the document's example names; its address and key."""
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO.format(contract.document["info"]["x-profile"], example_id(contract)))
    words = ["serve", "--json", "--quiet", "--seed", "7", "--scenario", str(scenario)]
    with subprocess.Popen(
        [sys.executable, "-m", "workbook", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            told = json.loads(server.stdout.readline())
            yield told["base_url"], told["api_key"]
        finally:
            server.terminate()


def examined(folder, contract, url, key, *words):
    """What Schemathesis says of a contract's document and a server: exit code, words and exchanges."""
    (folder / "document.json").write_text(json.dumps(contract.document))
    (folder / "schemathesis.toml").write_text(config(example_id(contract)))
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run", "document.json",
         "--url", url, "--no-color", "--report", "har", "--report-har-path", "all.har", *words],
        cwd=folder,
        env=os.environ | {"SCHEMATHESIS_KEY": key, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "kept")},
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )  # fmt: skip
    exchanges = json.loads((folder / "all.har").read_text())["log"]["entries"]
    return done.returncode, done.stdout + done.stderr, exchanges


def config(one):
    seal = Seal(7)
    return CONFIG.format(
        examples=EXAMPLES,
        outputs=json.dumps([seal.close(Content.OUTPUT, one, serial, attempt=1) for serial in range(OUTPUTS)]),
        ids=json.dumps([one]),
        warnings=json.dumps(sorted(set(SchemathesisWarning) - {SchemathesisWarning.VALIDATION_MISMATCH})),
    )


def answers(exchanges):
    return {(one["request"]["method"], one["response"]["status"]) for one in exchanges}


@pytest.mark.rule("API-1", "API-2", "API-4", "API-5", "API-6", "API-9")
@pytest.mark.parametrize("profile", CONTRACTS)
def test_nothing_is_found(profile, folder):
    contract = CONTRACTS[profile]
    with serving(folder, contract) as (url, key):
        code, said, exchanges = examined(folder, contract, url, key)
    assert code == 0, said
    assert {("GET", 200), ("GET", 401), ("GET", 422), ("DELETE", 405)} <= answers(exchanges)
    assert {("POST", status) for status in (200, 400, 401, 422)} <= answers(exchanges)


@pytest.mark.rule("API-2", "API-11")
def test_what_the_sdk_makes_is_exchanged_and_the_answer_has_the_documents_shape():
    schema = schemathesis.openapi.from_dict(SPEC.document)
    case = schema[SPEC.path]["POST"].Case(
        path_parameters={"id": INSTRUMENT_IDS[0]},
        headers={"x-api-key": SIMULATED_KEY},
        body={"sdkOutput": fresh_output()},
        media_type="application/json",
    )
    with running() as url:
        assert case.call_and_validate(base_url=url).status_code == 200
