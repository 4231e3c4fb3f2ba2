"""A back end of the integrator's own in a sweep: called with each fault, at a bounded rate, and its durations measured.

They are real seconds and differ each time. So they have a file and a table of their own, outside the
promise to the byte.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from workbook.base.files import write_whole
from workbook.base.secrecy import Secrets
from workbook.harness.progress import RunProgress
from workbook.relay.api_side import MockApi
from workbook.relay.case_runner import CaseRunner
from workbook.relay.config import load_config
from workbook.relay.findings import PLAIN_ATTEMPT
from workbook.relay.model import Order
from workbook.relay.process import Launcher, Stopping
from workbook.sweep.matrix import Matrix


def faults_of(matrix: Matrix) -> Iterator[tuple[str, str, str, str]]:
    """Each platform's app with each fault, operation and moment of a matrix, once."""
    found = dict.fromkeys(
        ("platform A" if c["platform"] == "a" else "platform B", c["fault"], c["operation"], c["moment"])
        for c in map(matrix.combination, matrix.numbers())
    )
    yield from found


def measure_back_end(file: Path, matrix: Matrix, out: Path, rate: float) -> None:
    """Call the back end of this configuration, a GET and a POST with each fault, and write `back-end.csv`.

    Args:
        file: the configuration, as `workbook conform` takes it.
        matrix: says which platforms and faults.
        out: the folder.
        rate: calls a second, at most.

    Raises:
        StartError: it does not start.
        ConfigurationError: its configuration has mistakes.
    """
    config, rows = load_config(file), list[dict[str, Any]]()
    config = replace(config, target=replace(config.target, pace=max(config.target.pace, 1 / rate)))
    with ExitStack() as stack:
        stopping = stack.enter_context(Stopping())
        settings = config.api.model_dump() | {"key": config.key}
        api = stack.enter_context(MockApi(config.instruments, **settings))
        clean = Secrets.of_keys({api.key, *config.target.session_secrets()}).scrub
        launcher = Launcher(config, api, RunProgress(), stack, clean, known=False)
        runner, cards = CaseRunner(launcher.target, api, config.api.seed), config.target.cardholders[0].cards[:1]

        async def main() -> None:
            await launcher.ready(runner)
            wanted = [each for each in faults_of(matrix) if each[0] in config.target.surfaces]
            for platform, fault, operation, moment in tqdm(wanted, unit=" faults of the back end"):
                orders = () if fault == "200" else (Order(operation, fault=fault, moment=moment, nth=1),)
                script = replace(PLAIN_ATTEMPT.script, orders=orders)
                seen = await runner.run(replace(PLAIN_ATTEMPT, name="relay.sweep.call", script=script), cards, platform)
                faulted = {"platform": platform, "fault": fault, "operation": operation, "moment": moment}
                for call in seen.calls:
                    answer = call.broke.value or f"{call.status}, {'an' if call.value else 'no'} sdkInput"
                    rows.append({**faulted, "call": call.operation, "answer": answer, "seconds": f"{call.seconds:.4f}"})

        stopping.run(main)
        if stopping.asked:
            raise KeyboardInterrupt
    text = io.StringIO()
    columns = ["platform", "fault", "operation", "moment", "call", "answer", "seconds"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(out / "back-end.csv", text.getvalue())
