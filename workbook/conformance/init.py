"""Writes a commented `back-end.toml` from answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.conformance.init_questions import listed
from workbook.errors import ConfigurationError
from workbook.runner.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TEXT = """\
# Your back end, for `workbook conform`. Check it with: workbook conform --check-config
# Secrets never stand in here: {{ env = "NAME" }} takes a value from the environment.

# Where it listens. Only this origin is contacted, and no redirect is followed.
base_url = {base_url}
# Instead of HTTP, a Python object in a module beside this file: leave out base_url, [get], [post] and [start].
# adapter = "my_back_end:adapter"

# Where it speaks TLS, its certificate is verified. A CA of your own is trusted where its certificate stands in a file.
# ca_file = "ca.pem"

# Which platforms your apps run on: "A", "B" or both.
platforms = {platforms}

# How a failure is told: "status", by one that is no success, or "body", where every answer may be a 200 and your app
# reads a field such as "error" or "ok" in it.
failures = "status"

# Log files that it writes; they are scanned for the key and for opaque data. Paths are relative to this file.
# logs = ["back-end.log"]

# The call that hands out the GET's sdkInput. {{id}} stands for the payment instrument's id; where the id stands in the
# body instead, say: id = "/cardId"
[get]
method = {get_method}
path = {get_path}
sdk_input = {get_sdk_input}  # where in the answer: a JSON pointer, or "raw" for the whole body

# The call that takes the sdkOutput, and answers with the POST's sdkInput.
[post]
method = {post_method}
path = {post_path}
sdk_output = {sdk_output}  # where in the request: a JSON pointer, or "raw"
sdk_input = {post_sdk_input}

# Where the extension asks for its status, if your back end has a part in it. Any answer with a status of 2xx will do;
# its body is not read. It comes from what your back end knows, without a call of the API.
# [status]
# path = "/cards/status"
{platform}
# What is different on platform A, if its app has paths of its own.
# [platform_a.get]
# path = "/a/cards/{{id}}/activation-data"

# Headers of every call. A value that is no secret may stand here.
# [headers]
# x-app-version = "1.0"
# x-app-token = {{ env = "APP_TOKEN" }}

# A cardholder with cards that your back end knows. Six cards or more let every case run, and those that need none of
# another's cards run side by side, so more cards make a faster run.
# Instead of naming cards: scenario = "default" at the top of the file takes those of one of the workbook's scenarios.
[[cardholder]]
name = "first"
cards = {cards}
{session}
# A second one, with cards of their own, shows whether one can reach the other's.
# [[cardholder]]
# name = "second"
# cards = ["PIEXAMPLE0000000000000007"]
# session = {{ authorization = {{ env = "OTHER_SESSION", prefix = "Bearer " }} }}

# Seconds.
[timeouts]
answer = 20.0      # the wallet waits so long
recovery = 0.05    # after a fault, until it works again; more where a circuit breaker opens on purpose, which makes
                   # the run longer: cases with faults then run one after the other
first_call = 120.0 # until you have given the values to your back end
start = 30.0       # until a command listens
whole = 900.0      # for all cases

# Groups of cases: false leaves one out.
[groups]
{groups}

# The API's side, which listens on this machine.
[api]
port = 0           # 0 takes any free one
profile = "spec"   # or "field", with what is publicly known besides
seed = 7
# key = {{ env = "CONFORM_KEY" }}  # a fresh one where this is left out

# The names under which your back end gets the API's address and key.
[export]
url = {url_name}
key = {key_name}

# How it gets them. With neither of these, they are printed, and you have time to set them.
{start}
"""
PLATFORM = """
# What is different on platform B. A table [platform_b.get] or [platform_b.post] has keys of its own.
[platform_b]
encoding = {encoding}  # or "bytes": the bytes themselves as the whole body, which needs "raw" everywhere
"""
SESSION = """\
# How the cardholder's session is presented.
session = {{ {header} = {{ env = {variable}{prefix} }} }}
"""
COMMAND = """\
[start]
command = {command}
# folder = "."
# hook = "http://127.0.0.1:8080/test/upstream"  # instead of a command: the values are posted there as JSON\
"""
NO_COMMAND = """\
# [start]
# command = "python relay.py"
# hook = "http://127.0.0.1:8080/test/upstream"  # the values are posted there as JSON\
"""


def text(answers: Mapping[str, str]) -> str:
    """The file that these answers make."""
    said = {name: json.dumps(answer, ensure_ascii=False) for name, answer in answers.items()}
    said["platforms"] = json.dumps(["A", "B"] if answers["platforms"] == "both" else [answers["platforms"]])
    said["cards"] = _lines(listed(answers["cards"]))
    said["groups"] = "\n".join(f"{group} = true" for group in Group)
    said["platform"] = PLATFORM.format(**said) if answers["platforms"] != "A" else ""
    said["session"] = _session(answers, said)
    said["start"] = COMMAND.format(**said) if answers["command"] else NO_COMMAND
    return TEXT.format(**said)


def write(path: Path, told: str, *, over: bool = False) -> None:
    """Write the file.

    Args:
        path: of the file.
        told: its text.
        over: an old one is written over.

    Raises:
        ConfigurationError: there is one already, or it cannot be written.
    """
    free(path, over=over)
    try:
        write_whole(path, told)
    except OSError as error:
        raise ConfigurationError(f"Cannot write {str(path)!r}: {error.strerror}.") from None


def free(path: Path, *, over: bool = False) -> None:
    """Let a file pass that may be written.

    Raises:
        ConfigurationError: there is one already, and nothing was said of that.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigurationError(f"{str(path)!r} is no file in a folder that is there.")
    if path.exists() and not over:
        raise ConfigurationError(f"{str(path)!r} is there already. Say --force to write over it, or name another file.")


def _lines(cards: list[str]) -> str:
    return "".join(["[\n", *(f"  {json.dumps(card, ensure_ascii=False)},\n" for card in cards), "]"])


def _session(answers: Mapping[str, str], said: Mapping[str, str]) -> str:
    if answers["header"] == "none":
        return ""
    prefix = "" if answers["prefix"] == "none" else f", prefix = {json.dumps(answers['prefix'] + ' ')}"
    header = json.dumps(answers["header"])
    return SESSION.format(header=header, variable=said["variable"], prefix=prefix)
