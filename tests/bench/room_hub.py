"""A whole room under load: a real JupyterHub, its proxy, and a server for each learner.

    python tests/bench/room_hub.py [--seats 30]

All learners sign in over HTTPS at the same moment, and each waits for a copy of the lessons that bears the seat's name.
The hub's configuration is fixtures/course/jupyterhub_config.py. It needs npm.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import requests
import trustme

from workbook.base.files import FIXTURES
from workbook.lessons.exercises.progress import PROGRESS, Progress

PORT = 18543
PASSWORD = "the password of a bench"
SLOWEST = 120
"""Seconds from the sign-in of the last until it has its lessons."""


def learner(folder, seat):
    """One browser's worth of requests: sign in, and wait for the lessons; the seconds that it took."""
    web, began = requests.Session(), time.monotonic()
    web.headers["connection"] = "close"  # the proxy ends an idle one, and a request may be on its way
    web.trust_env, web.verify = False, str(folder / "ca.pem")
    base = f"https://127.0.0.1:{PORT}"
    page = web.get(f"{base}/hub/login", timeout=120)
    [xsrf] = re.findall(r'name="_xsrf" value="([^"]+)"', page.text)
    form = {"username": seat, "password": PASSWORD, "_xsrf": xsrf}
    assert web.post(f"{base}/hub/login", data=form, timeout=120).ok
    while not (answer := web.get(f"{base}/user/{seat}/lab", timeout=120)).url.endswith(f"/user/{seat}/lab"):
        assert time.monotonic() - began < 600, f"{answer.status_code} after 600 s"
        time.sleep(1)
    assert web.get(f"{base}/user/{seat}/api/contents/notebooks/00_start_here.ipynb", timeout=120).ok
    assert Progress.read(folder / "homes" / seat / "provisioning-workbook" / PROGRESS).seat == seat
    return time.monotonic() - began


@contextmanager
def running(folder):
    """The hub of the room; its log is in the folder."""
    subprocess.run(
        ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, "configurable-http-proxy"],
        check=True,
    )
    environment = {
        **os.environ,
        "PATH": f"{folder / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}",
        "ROOM_PASSWORD": PASSWORD,
        "ROOM_CERTIFICATE": str(folder / "certificate.pem"),
        "ROOM_KEY": str(folder / "key.pem"),
    }
    with (folder / "hub.log").open("w") as log:
        command = [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            until = time.monotonic() + 120
            while "is now running at" not in (folder / "hub.log").read_text():
                assert process.poll() is None, (folder / "hub.log").read_text()[-2000:]
                assert time.monotonic() < until, "the hub did not start within 120 s"
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            try:
                process.wait(120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def make_room(folder, seats):
    """Write the sample's configuration with so many seats and a port of this bench, and a certificate."""
    folder.mkdir()
    text = (FIXTURES / "course" / "jupyterhub_config.py").read_text()
    assert "range(1, 31)" in text
    text = text.replace("range(1, 31)", f"range(1, {seats + 1})")
    (folder / "jupyterhub_config.py").write_text(f'{text}c.JupyterHub.bind_url = "https://127.0.0.1:{PORT}/"\n')
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
    return [f"seat-{number:02}" for number in range(1, seats + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seats", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="room-") as parent:
        folder = Path(parent) / "room"
        names = make_room(folder, options.seats)
        with running(folder), ThreadPoolExecutor(options.seats) as pool:
            asked = {seat: pool.submit(learner, folder, seat) for seat in names}
        failed = [f"{seat}: {error!r}" for seat, done in asked.items() if (error := done.exception())]
        took = [done.result() for done in asked.values() if not done.exception()]
        print(
            f"{len(took)} of {len(names)} learners have their lessons, the last one after {max(took, default=0):.0f} s"
        )
        if failed:
            print((folder / "hub.log").read_text()[-3000:])
    if max(took, default=0) > SLOWEST:
        failed.append(f"that is more than {SLOWEST} s")
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
