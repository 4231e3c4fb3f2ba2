"""Generated inputs to every parser of `preflight`, `inspect` and `diagnose`, and real projects against the clock.

    python tests/bench/preflight.py                     100,000 inputs; takes some minutes
    python tests/bench/preflight.py --inputs 5000 --seed 8
    python tests/bench/preflight.py --inputs 0 PATH...  the processor time and the findings of projects

Each input is a good one of its kind, damaged: cut, doubled, spliced with another, bits turned, words of its form put
in. A parser may refuse an input in a sentence (an error of the workbook's own) and nothing else, within SLOWEST seconds
of processor time. Exit code 1: one did something else; the line names seed and number, which make the input again.
"""

# ruff: noqa: E402 - the samples are in tests/support, which only pytest has on its path

from __future__ import annotations

import argparse
import json
import plistlib
import sys
import tempfile
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]

from sample_projects import good_project

from workbook.base.files import FIXTURES
from workbook.checks.diagnosis import diagnose
from workbook.errors import WorkbookError
from workbook.tools.diagnose.inspector import inspect
from workbook.tools.preflight import run as preflight_run
from workbook.tools.preflight.gradle import read_script
from workbook.tools.preflight.literals import read_javascript, read_old_plist, read_plist, read_yaml
from workbook.tools.preflight.project import File, Project, read_project
from workbook.tools.preflight.run import Preflight, finding_lines, preflight, read_environment
from workbook.tools.preflight.signing import read_certificates, read_sent

SLOWEST = 2.0
"""Seconds of processor time for one input."""
WORDS = [b"{", b"}", b"(", b")", b'"', b'"""', b"'", b"=", b";", b"\n", b"/*", b"*/", b"//", b"\\", b"$", b"${",
         b"\x00", b"\xff", b"&a;", b"<!ENTITY", b"<dict>", b"</dict>", b"bplist00", b"-----BEGIN", b"null", b"1e999",
         b"PK\x03\x04", b"PK\x05\x06", b"\xfe\xed\xfe\xed", b"\x30\x82\xff\xff", b"\xff\xff\xff\xff", b"[" * 40,
         b"{" * 60, "\N{LATIN SMALL LETTER E WITH ACUTE}\u2028".encode()]  # fmt: skip


class Parser(NamedTuple):
    """A name, the share of all inputs in hundredths, the good inputs, and what reads one."""

    name: str
    share: int
    good: list[bytes]
    read: Callable[[bytes], object]


def damaged(random: Random, good: list[bytes]) -> bytes:
    """A good input with a few damages."""
    data = bytearray(random.choice(good))
    for _damage in range(random.randint(1, 6)):
        at, size = random.randrange(len(data) + 1), min(len(data), 1 << random.randrange(12))
        match random.randrange(6):
            case 0:
                del data[at : at + size]
            case 1:
                data[at:at] = data[at : at + size] * random.randint(1, 3)
            case 2:
                data[at:at] = random.choice(WORDS)
            case 3 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 4:
                other = random.choice(good)
                data[at : at + size] = other[: random.randrange(len(other) + 1)][-size - 1 :]
            case _:
                data[at:at] = random.randbytes(random.randrange(8))
    return bytes(data[:200_000])


def text(data: bytes) -> str:
    """The same as text."""
    return data.decode("utf-8", "replace")


def parsers(folder: Path) -> list[Parser]:
    """Every parser, with good inputs of its kind."""
    projects = [good_project(folder, platform) for platform in "ab"]
    files = {file.name: file for path in projects for file in read_project([path]).files}
    of = {ending: [file.content for name, file in files.items() if name.endswith(ending)] for ending in
          (".kts", ".toml", "plist", ".entitlements", ".pbxproj")}  # fmt: skip
    binary = [plistlib.dumps(plistlib.loads(one), fmt=plistlib.FMT_BINARY) for one in of["plist"]]
    simulated = {"simulated": "not card data", "kind": "output"}
    more = {"certificates": ["AAAA"], "nonce": "BBBB"}, {"supportedWallets": ["w"], "lastFour": "4242"}
    opaque = [json.dumps(simulated | fields).encode() for fields in more]
    scratch = folder / "input"

    def in_file(read: Callable[[Path], object]) -> Callable[[bytes], object]:
        def reading(data: bytes) -> object:
            scratch.write_bytes(data)
            return read(scratch)

        return reading

    whole = [f"{name}\0".encode() + file.content for name, file in files.items()]

    def judged(data: bytes) -> object:
        name, _mark, content = data.partition(b"\0")
        return judge([file for file in files.values() if file.name.encode() != name], text(name)[:80], content)

    return [
        Parser("build scripts", 18, of[".kts"] * 2 + of[".toml"], lambda data: read_script(text(data))),
        Parser("descriptions", 5, [b"module.exports = { type: 'w', rights: { b: [f(1), ...c] } };", b"a: {b: [c]}"],
               lambda data: (read_javascript(text(data)), read_yaml(text(data)))),
        Parser("project files", 10, of[".pbxproj"], lambda data: read_old_plist(text(data))),
        Parser("property lists", 20, [*of["plist"], *binary, *of[".entitlements"]], read_plist),
        Parser("opaque data", 15, [*opaque, *map(b64encode, opaque)], inspect),
        Parser("symptoms and logs", 3, [b"15009 ApiException", b'{"status": 422, "errorCode": "30_031"}'],
               lambda data: diagnose(text(data))),
        Parser("signing reports", 15, [(FIXTURES / "projects" / "signing_report.txt").read_bytes()],
               in_file(read_certificates)),
        Parser("requests for allowlisting", 5,
               [b'{"request": [{"applicationId": "a.b", "sha256": "%s"}]}' % (b"AB" * 32)], in_file(read_sent)),
        Parser("environments", 5, [b"API_BASE_URL=https://h\nexport API_KEY='k'\nTIMEOUT=5\n"],
               in_file(read_environment)),
        Parser("whole projects, one file damaged", 4, whole, judged),
    ]  # fmt: skip


def judge(files: list[File], name: str, content: bytes) -> object:
    """Judge a project in memory, one file of which has this content."""
    changed = File(Path("/nowhere") / name, name)
    changed.__dict__["_read"] = (content, "")
    for file in files:
        file.__dict__.pop("_small", None)
    preflight_run.read_project = lambda _paths: Project((*files, changed))
    return preflight(Preflight((Path("/nowhere"),)))


def tried(parser: Parser, inputs: int, seed: int) -> Iterator[str]:
    """Read so many inputs, and yield a line for each that came to something else than a result or a sentence."""
    random, came, slowest = Random(f"{seed} {parser.name}"), Counter[str](), 0.0
    for number in range(inputs):
        data, began = damaged(random, parser.good), process_time()
        try:
            parser.read(data)
            came["read"] += 1
        except WorkbookError as error:
            came["refused"] += 1
            if "Traceback" in str(error) or not str(error).rstrip().endswith((".", ":", "]", "'")):
                yield f"{parser.name}: seed {seed}, input {number}: no sentence: {error!s:.100}"
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            yield f"{parser.name}: seed {seed}, input {number}: {type(error).__name__}: {error!s:.100}"
        seconds = process_time() - began
        slowest = max(slowest, seconds)
        if seconds > SLOWEST:
            yield f"{parser.name}: seed {seed}, input {number}: {seconds:.1f} s"
    print(f"{parser.name:34} {inputs:6} inputs: {dict(came)}, the slowest {slowest * 1000:.0f} ms", flush=True)


def main() -> int:
    """Try the parsers, then the projects."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    options.add_argument("--inputs", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    wrong = []
    for path in given.paths:
        began = process_time()
        done = preflight(Preflight((path,)))
        print(f"{path}: {process_time() - began:.2f} s of processor time", *finding_lines(done), sep="\n  ")
    with tempfile.TemporaryDirectory() as folder:
        for parser in parsers(Path(folder)) if given.inputs else ():
            wrong += tried(parser, given.inputs * parser.share // 100, given.seed)
    print(*wrong, f"{len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
