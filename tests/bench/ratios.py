"""What things cost, as ratios against something measured in the same run. Nothing here passes or fails.

    python tests/bench/ratios.py [NAME ...]

Each figure is the median of paired rounds (ours, theirs, ours, theirs ...), so that a machine whose speed
drifts still compares like with like.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from servers import BARE, started

from workbook import ActivationDataClient
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.platform_a import PlatformARun
from workbook.simulation.service import ORIGIN, Service
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.server import running

ROOT = Path(__file__).parents[2]
ID = INSTRUMENT_IDS[0]


def seconds(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def paired(ours, theirs, rounds):
    """The median of ours/theirs over rounds, each side timed in turn."""
    ratios, mine, other = [], [], []
    for _ in range(rounds):
        mine.append(seconds(ours))
        other.append(seconds(theirs))
        ratios.append(mine[-1] / other[-1])
    return statistics.median(ratios), statistics.median(mine), statistics.median(other)


def client_call():
    """Our GET against bare httpx's, one real server on loopback. Aim: at most 1.15."""
    import httpx  # the bench may; the package's own importers are tested elsewhere

    with running(Service()) as base_url, httpx.Client(trust_env=False) as bare:
        url = f"{base_url}/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
        headers = {"x-api-key": SIMULATED_KEY, "content-type": "application/json"}
        with ActivationDataClient(base_url=base_url, api_key=SIMULATED_KEY) as ours:
            ratio, mine, other = paired(
                lambda: [ours.get(ID) for _ in range(200)],
                lambda: [bare.get(url, headers=headers).json()["sdkInput"] for _ in range(200)],
                15,
            )
    return f"{ratio:.2f}", f"{mine / 200 * 1e6:.0f} us against {other / 200 * 1e6:.0f} us a call"


def crossing():
    """One call of the app's protocol, `create`, against a bare ASGI app's exchange. Aim: less than 3."""
    import httpx

    phone = (sys.executable, "-m", "workbook", "phone", "--json", "--pace", "0", "--quiet")
    with (
        started(BARE) as (_bare, address, _told),
        subprocess.Popen(phone, stdout=subprocess.PIPE, cwd=ROOT) as process,
        httpx.Client(trust_env=False) as client,
    ):
        values = json.loads(process.stdout.readline())
        base, headers = values["WORKBOOK_PHONE_URL"], {"x-workbook-key": values["WORKBOOK_PHONE_KEY"]}

        def call(name, **fields):
            return client.post(f"{base}/phone/v1/{name}", headers=headers, json={"client": "app", **fields}).json()

        back_end = call("hello", platform="A", variant="from-0.4.0", protocol=1)["backEnd"]
        sdk_input = client.get(f"{back_end}/cards/{ID}/activation-data").json()["sdkInput"]
        url = f"http://{address[0]}:{address[1]}/"
        ratio, mine, other = paired(
            lambda: [call("create", sdkInput=sdk_input) for _ in range(200)],
            lambda: [client.post(url, headers=headers, json={"sdkInput": sdk_input}).json() for _ in range(200)],
            9,
        )
        process.terminate()
    return f"{ratio:.2f}", f"{mine / 200 * 1e6:.0f} us against {other / 200 * 1e6:.0f} us a call"


def import_cost():
    """`import workbook` against `import httpx`, whole processes. Aim: at most 1.3."""
    run = partial(subprocess.run, check=True, cwd=ROOT)
    ratio, mine, other = paired(
        lambda: run([sys.executable, "-c", "import workbook"]),
        lambda: run([sys.executable, "-c", "import httpx"]),
        15,
    )
    return f"{ratio:.2f}", f"{mine * 1e3:.0f} ms against {other * 1e3:.0f} ms"


def direct_flows():
    """Whole platform A flows through the direct port. Aim: at least 5,000 a second."""
    return flows(simulated_back_end())


def transport_flows():
    """Whole platform A flows through the client and the httpx transport. Aim: at least 1,500 a second."""
    with ActivationDataClient(base_url=ORIGIN, api_key=SIMULATED_KEY, transport=SimulatedTransport()) as client:
        return flows(BackEnd(client))


def flows(back_end):
    def some():
        for _ in range(500):
            bench = PlatformARun(back_end=back_end)
            bench.walk()
        assert bench.state == "in the wallet"

    some()
    rates = [500 / seconds(some) for _ in range(9)]
    return f"{statistics.median(rates):,.0f}/s", f"from {min(rates):,.0f} to {max(rates):,.0f}"


def machine_steps():
    """Steps a second against the transitions library on the same table. Aim: at least 5 times."""
    from transitions import Machine as Library  # only here

    machine = A_FROM_0_4_0.machine
    path = max(machine.paths(), key=len)
    events = [example(row.event) for row in path]
    names = [row.event.__name__ for row in path]

    class Model:
        pass

    model = Model()
    table = [{"trigger": r.event.__name__, "source": r.state.name, "dest": r.to.name} for r in machine.rows]
    states = [state.name for state in machine.states]
    Library(model, states=states, transitions=table, initial=machine.initial.name, auto_transitions=False)

    def ours():
        for _ in range(500):
            state = machine.initial
            for event in events:
                state = machine.step(state, event).state

    def theirs():
        for _ in range(500):
            model.state = machine.initial.name
            for name in names:
                model.trigger(name)

    ratio, mine, other = paired(ours, theirs, 9)
    steps = 500 * len(path)
    return f"{1 / ratio:.1f} times", f"{steps / mine:,.0f}/s against {steps / other:,.0f}/s"


def example(event):
    values = dict.fromkeys(event.__slots__, "x")
    return event(**values) if values and event is not m.CreateSuccess else event()


def notebooks():
    """`workbook run` on all notebooks against their empty twins through nbclient, in turn. Aim: at most 1.5."""
    import nbformat  # most of a second, and only here

    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            twin = nbformat.read(path, as_version=4)
            for cell in twin.cells:
                cell.source = "" if cell.cell_type == "code" else cell.source
                if cell.cell_type == "code":
                    cell.outputs = []
            nbformat.write(twin, Path(folder) / path.name)
        program = (
            "import nbformat, nbclient, pathlib, sys\n"
            "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.ipynb')):\n"
            "    nbclient.NotebookClient(nbformat.read(path, as_version=4)).execute()"
        )
        out = Path(folder) / "out"
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        run = partial(subprocess.run, check=True, capture_output=True, env=environment, cwd=ROOT)
        ratio, mine, other = paired(
            lambda: run([sys.executable, "-m", "workbook", "run", "--out", str(out)]),
            lambda: run([sys.executable, "-c", program, folder]),
            3,
        )
    return f"{ratio:.2f}", f"{mine:.1f} s against {other:.1f} s for {len(paths)} notebooks"


BENCHES = (client_call, crossing, import_cost, direct_flows, transport_flows, machine_steps, notebooks)


def main(names):
    for bench in BENCHES:
        if not names or bench.__name__ in names:
            figure, detail = bench()
            print(f"{bench.__name__:<16} {figure:>12}  {detail}\n{'':<30} {bench.__doc__}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
