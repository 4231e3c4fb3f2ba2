"""`workbook phone` as a process: it serves until it is told to end, and leaves a trace for each client."""

import json
import signal
import subprocess
import sys

import httpx
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("out", ["traces/of today", ""])
def test_a_phone_serves_until_ctrl_c_and_leaves_the_traces_where_it_is_told(tmp_path, out):
    command = [sys.executable, "-m", "workbook", "phone", "--port", "0", "--json", *(["--out", out] if out else [])]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address, key = list(json.loads(process.stdout.readline()).values())[:2]
        said = {"client": "one", "platform": "A", "variant": "from-0.4.0", "protocol": 1}
        with httpx.Client(base_url=address, headers={"x-workbook-key": key}, trust_env=False) as app:
            back_end = app.post("/phone/v1/hello", json=said).json()["backEnd"]
            got = app.get(f"{back_end}/cards/PISIMULATED00000000000001/activation-data").json()["sdkInput"]
            assert "provisioning" in app.post("/phone/v1/create", json={"client": "one", "sdkInput": got}).json()
        process.send_signal(signal.SIGINT)
        _rest, logged = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in logged) == (0, False)
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jsonl")]
    assert left == ([f"{out}/one.jsonl"] if out else [])
    for name in left:
        assert "CreateCalled" in (tmp_path / name).read_text()
