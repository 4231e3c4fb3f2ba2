"""Makes the bundle for this system, installs it where there is no network, and opens lesson 00 there.

    python tests/bench/bundle.py

It needs the internet once, and root for `unshare --net`. What it prints last is how long each step took; the exit code
is 1 where the lesson did not open, 77 where no room without a network can be made here.
"""

import argparse
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def inside(folder):
    """What is done without a network: install, open, look, end."""
    # a new network has one device, loopback, which is off: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH22x", b"lo", 0x41))
    try:
        urllib.request.urlopen("https://example.com", timeout=3)
        sys.exit("there is a network")
    except OSError:
        pass
    began = time.monotonic()
    said = folder / "said.txt"
    with said.open("w") as file:
        process = subprocess.Popen(["sh", "start.sh", "--no-browser"], cwd=folder, stdout=file, stderr=file)
    try:
        while not (found := re.search(r"(http://[^/]+)(/lab\S*)\?token=(\S+)", said.read_text())):
            if process.poll() is not None or time.monotonic() - began > 300:
                sys.exit(f"it did not start: {said.read_text()}")
            time.sleep(0.2)
        print(f"installed and started in {time.monotonic() - began:.0f} s", flush=True)
        base, page, token = found.groups()
        assert page.endswith("/notebooks/00_start_here.ipynb"), page
        headers = {"Authorization": f"token {token}"}
        first = "/api/contents/notebooks/00_start_here.ipynb"
        for path, holds in (
            (page, b"jupyter-config-data"),
            (first, b"wb.session"),
        ):
            with urllib.request.urlopen(urllib.request.Request(base + path, headers=headers), timeout=30) as answer:
                assert holds in answer.read(), path
        python = str(folder / "env" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "check"], check=True, env={"PATH": os.defpath})
        run = [python, "-m", "workbook", "run", "00", "--out", str(folder / "report")]
        began = time.monotonic()
        subprocess.run(run, cwd=folder, check=True, env={"PATH": os.defpath, "HOME": str(folder)})
        print(f"every cell of lesson 00 ran in {time.monotonic() - began:.0f} s", flush=True)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.inside)
        return
    alone = ["unshare", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        print("no room without a network can be made here: unshare --net needs root")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        bundle = Path(scratch) / "bundle.zip"
        began = time.monotonic()
        workbook = [sys.executable, "-m", "workbook", "course"]
        subprocess.run([*workbook, "bundle", "--platform", "linux", "--out", str(bundle)], check=True)
        print(f"made in {time.monotonic() - began:.0f} s, {bundle.stat().st_size / 1e6:.0f} MB", flush=True)
        subprocess.run([*workbook, "check", "--bundle", str(bundle)], check=True)
        shutil.unpack_archive(bundle, scratch)
        me = [sys.executable, __file__, "--inside", str(Path(scratch) / "workbook-linux")]
        sys.exit(subprocess.run([*alone, *me], check=False).returncode)


if __name__ == "__main__":
    main()
