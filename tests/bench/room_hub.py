"""A whole room under load: a real JupyterHub, its proxy, a server and a kernel for each learner.

    python tests/bench/room_hub.py [--seats 30] [--lesson 03]

All learners sign in over HTTPS at the same moment; each opens the lesson, runs its cells over the kernel protocol and
solves its exercises. The last may work within SLOWEST seconds, and in the end each learner's progress says that each
exercise is solved. The hub's configuration is fixtures/course/jupyterhub_config.py. It needs npm.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import requests
import trustme
import websocket

from workbook.base.files import FIXTURES
from workbook.lessons.exercises.editions import Edition, fill_in
from workbook.lessons.exercises.model import ExerciseState, lesson
from workbook.lessons.exercises.progress import PROGRESS, Progress

PORT = 18543
PASSWORD = "the password of a bench"
SLOWEST = 120
"""Seconds from the sign-in of the last until it has run a cell."""


class Learner(threading.Thread):
    """One browser's worth of requests: signs in, opens the lesson and runs every cell."""

    def __init__(self, folder, seat, number):
        super().__init__(name=seat)
        self.base, self.seat = f"https://127.0.0.1:{PORT}", seat
        self.copy = folder / "homes" / seat / "provisioning-workbook"
        self.number, self.web = number, requests.Session()
        self.web.headers["connection"] = "close"  # the proxy ends an idle one, and a request may be on its way
        self.web.trust_env, self.web.verify = False, str(folder / "ca.pem")
        self.ready = self.done = 0.0
        self.error = None

    def run(self):
        try:
            self.began = time.monotonic()
            self.sign_in()
            self.open_lesson()
            self.ready = time.monotonic() - self.began
            self.work()
            self.done = time.monotonic() - self.began
        except Exception as error:  # noqa: BLE001  # told at the end
            self.error = error

    def sign_in(self):
        page = self.web.get(f"{self.base}/hub/login", timeout=120)
        form = {
            "username": self.seat,
            "password": PASSWORD,
            "_xsrf": re.search(r'name="_xsrf" value="([^"]+)"', page.text)[1],
        }
        assert self.web.post(f"{self.base}/hub/login", data=form, timeout=120).ok

    def wait_for_server(self):
        until = time.monotonic() + 600
        while time.monotonic() < until:
            answer = self.web.get(f"{self.base}/user/{self.seat}/lab", timeout=120)
            if answer.ok and answer.url.endswith(f"/user/{self.seat}/lab"):
                return
            time.sleep(1)
        raise TimeoutError(f"the server of {self.seat} was not ready in 600 s")

    def ask(self, method, path, body=None):
        [xsrf] = {
            cookie.value for cookie in self.web.cookies if cookie.name == "_xsrf" and cookie.path.startswith("/user/")
        }
        url = f"{self.base}/user/{self.seat}/api/{path}"
        answer = self.web.request(method, url, json=body, headers={"X-XSRFToken": xsrf}, timeout=120)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def open_lesson(self):
        self.wait_for_server()
        [name] = [path.name for path in (self.copy / "notebooks").glob(f"{self.number}_*.ipynb")]
        self.cells = self.ask("GET", f"contents/notebooks/{name}")["content"]
        about = {"name": name, "path": f"notebooks/{name}", "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel = self.ask("POST", "sessions", about)["kernel"]["id"]
        self.connect()
        self.execute("1")

    def connect(self):
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.web.cookies)
        url = f"{self.base}/user/{self.seat}/api/kernels/{self.kernel}/channels".replace("https", "wss", 1)
        self.socket = websocket.create_connection(
            url, cookie=cookies, sslopt={"ca_certs": self.web.verify}, timeout=180
        )

    def execute(self, source):
        """Run a cell in the kernel, and return how it ended."""
        sent = uuid4().hex
        header = {
            "msg_id": sent,
            "msg_type": "execute_request",
            "username": self.seat,
            "session": "room",
            "version": "5.3",
        }
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        while True:
            told = self.socket.recv()
            if isinstance(told, bytes):  # a picture's buffers
                continue
            told = json.loads(told)
            if told["parent_header"].get("msg_id") == sent and told["msg_type"] == "execute_reply":
                return told["content"]["status"]

    def work(self):
        cells = [cell for cell in fill_in(self.cells, Edition.SOLVED)["cells"] if cell["cell_type"] == "code"]
        for cell in cells:
            ended = self.execute(cell["source"])
            assert ended == "ok", f"{cell['id']} ended with {ended}"


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
    parser.add_argument("--lesson", default="03")
    options = parser.parse_args()
    parent = Path(tempfile.mkdtemp(prefix="room-"))
    folder, failed = parent / "room", []
    try:
        names = make_room(folder, options.seats)
        with running(folder):
            print(
                f"{options.seats} learners, {os.cpu_count()} processors, load average before: {os.getloadavg()[0]:.1f}"
            )
            learners = [Learner(folder, name, options.lesson) for name in names]
            for learner in learners:
                learner.start()
            for learner in learners:
                learner.join(1200)
            failed += [f"{each.seat}: {each.error!r}" for each in learners if not each.done]
            well = [each for each in learners if each.done]
        for each in well:
            print(f"{each.seat}: ready {each.ready:.0f} s after the sign-in, all solved after {each.done:.0f} s")
        failed += [f"{each.seat} was ready after {each.ready:.0f} s" for each in well if each.ready > SLOWEST]
        failed += [f"{each.seat} lost {lost}" for each in well if (lost := unsolved(each.copy, options.lesson))]
        if failed:
            print((folder / "hub.log").read_text()[-3000:])
    finally:
        shutil.rmtree(parent)
    print("\n".join(failed) or "nothing was lost")
    return 1 if failed else 0


def unsolved(copy, number):
    """The lesson's exercises that a copy's progress does not call solved."""
    progress = Progress.read(copy / PROGRESS)
    assert progress.seat == copy.parent.name
    return [name for name in lesson(number) if progress.state(name) is not ExerciseState.DONE]


if __name__ == "__main__":
    sys.exit(main())
