"""No report holds a secret: what is planted in a result is taken out, and what is planted later stops the writing."""

import base64
import errno
import json
import os
import re
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ran import CANARY, FOREIGN, INPUT, KEY, MISS, PATH, SECRETS, SESSION, arrived, call, recorded, result, seen, told

from workbook.base.secrecy import SecretKind, Secrets
from workbook.errors import ConfigurationError, LeakError
from workbook.simulation.http import Request
from workbook.tools.conform.back_end.model import Broke
from workbook.tools.harness import output
from workbook.tools.harness.output import write_reports
from workbook.tools.harness.report import from_json, to_json

ENCODED = {
    "plain": lambda text: text,
    "with JSON escapes": lambda text: json.dumps(text)[1:-1],
    "with HTML escapes": escape,
    "percent-encoded": lambda text: quote(text, safe=""),
    "as base64": lambda text: base64.b64encode(text.encode()).decode(),
    "as hexadecimal": lambda text: text.encode().hex(),
    "with Markdown escapes": lambda text: re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text),
    "as Python writes it": lambda text: repr(text)[1:-1],
    "as UTF-8 read as Latin-1": lambda text: text.encode().decode("latin-1"),
}
"""The forms in which a secret is found, written without the code under test."""


def decoded(text):
    """The text and what it becomes when it is decoded, a few times over."""
    found = {text}
    for _ in range(3):
        found |= {unescape(one) for one in found} | {unquote(one) for one in found}
        found |= {re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), one) for one in found}
        found |= {re.sub(r"\\(.)", r"\1", one) for one in found}
    return found


def holds(text, secret):
    inner = base64.b64encode(secret.encode()).decode().rstrip("=")[:-2]
    return any(secret in one or inner in one or secret.encode().hex() in one for one in decoded(text))


@pytest.mark.parametrize(
    ("form", "secret"), [*((form, KEY) for form in ENCODED), *(("plain", one) for one in SECRETS.values())]
)
@pytest.mark.rule("REL-2", "REL-3")
def test_what_a_back_end_puts_anywhere_is_taken_out(form, secret, tmp_path):
    leak = ENCODED[form](secret)
    phone = call(
        headers=(("server", leak), (leak, "x"), ("content-type", leak)), body=told(**{leak: leak, "text": leak})
    )
    api = arrived(
        target=f"/{leak}/{leak}?{leak}={leak}", headers=(("user-agent", leak), (leak, leak)), body=leak.encode()
    )
    stray = replace(api, request=Request(leak, PATH + leak, (), told(detail=leak)))
    misses = (replace(MISS, expected=leak, observed=f"it says {leak}", todo=leak),)
    used = seen(phone, call(2, broke=Broke.LOST), api, stray, arrived(body=FOREIGN.encode(), at=3.0))
    used = replace(used, arrived=(*used.arrived, replace(arrived(), given=FOREIGN)))
    record = recorded(result(misses=misses, why=f"It said {leak}.", seen=used))
    paths = write_reports(record, tmp_path)
    assert [path.name for path in paths] == [
        "conform.json", "conform.sarif", "conform.html", "conform.xml", "conform.md"]  # fmt: skip
    for path in paths:
        for value in SECRETS.values():
            assert not holds(path.read_text("utf-8"), value), path.name


def leaves(value, place=()):
    """The place of every text in a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        if isinstance(one, str):
            yield (*place, name)
        yield from leaves(one, (*place, name))


RECORD = recorded(result(why="because", misses=(MISS,)), only=("a",), stale=("b",), trouble="c")
DOCUMENT = json.loads(to_json(RECORD))
CLOSED = {"name", "group", "verdict", "owner", "level", "root", "program"}
"""What can hold nothing but one of its own words."""
OPEN = [place for place in leaves(DOCUMENT) if place[-1] not in CLOSED]


def planted(place, leak):
    """A record with this text in that place."""
    document = json.loads(json.dumps(DOCUMENT))
    *above, last = place
    inner = document
    for step in above:
        inner = inner[step]
    inner[last] = f"before {leak} after"
    return replace(from_json(json.dumps(document)), secrets=RECORD.secrets)


@pytest.mark.parametrize("place", OPEN, ids=lambda place: ".".join(map(str, place)))
@pytest.mark.rule("REL-2", "REL-3")
def test_a_leak_in_any_field_stops_the_writing(place, tmp_path):
    for name, secret in SECRETS.items():
        if name != "foreign":  # it was in no exchange of this record
            with pytest.raises(LeakError) as error:
                write_reports(planted(place, secret), tmp_path / "out")
            assert not holds(str(error.value), secret)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ENCODED)
def test_the_error_says_what_was_found(form, tmp_path):
    odd = "k<b'c\"d\u00fc\u00df"
    secrets = {SecretKind.KEY: odd, SecretKind.SESSION: SESSION, SecretKind.CANARY: CANARY, SecretKind.OPAQUE: INPUT}
    for kind, secret in secrets.items():
        record = replace(planted(("about", "target"), ENCODED[form](secret)), secrets=Secrets([(kind, secret)]))
        with pytest.raises(LeakError, match=f"No report was written: conform.json would contain {kind}. "):
            write_reports(record, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_every_report_is_looked_at_and_not_the_json_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "FORMS", output.FORMS | {"conform.md": lambda _record: f"key: {KEY}"})
    with pytest.raises(LeakError, match=r"conform\.md would contain the API key\."):
        write_reports(recorded(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_older_reports_stay_when_new_ones_are_not_written(tmp_path):
    write_reports(RECORD, tmp_path)
    before = (tmp_path / "conform.json").read_text()
    with pytest.raises(LeakError):
        write_reports(planted(("about", "command"), KEY), tmp_path)
    assert (tmp_path / "conform.json").read_text() == before


@pytest.mark.parametrize("name", ["conform.json", "conform.sarif", "conform.html", "conform.xml", "conform.md"])
def test_a_disk_that_fills_up_leaves_every_older_report(name, tmp_path, monkeypatch):
    write_reports(RECORD, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    opened = Path.open

    def full(path, mode="r", *args, **kwargs):
        if name in path.name and mode == "x":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        write_reports(recorded(target="another"), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_header_that_is_too_long_is_not_shown_in_part():
    long = "a" * 41
    record = recorded(result(seen=seen(call(headers=((long, "x"), ("server", long * 9))))))
    assert record.cases[0].exchanges[0].answer.headers == (("[41 characters]", None), ("server", "[369 characters]"))


ANY = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cc", "Cs"]), min_size=8, max_size=60)
"""What a header can hold: no control character."""


@given(ANY, st.sampled_from(sorted(ENCODED)), st.text(max_size=5), st.text(max_size=5), st.sampled_from(SecretKind))
def test_any_secret_is_found_in_any_form_wherever_it_stands(secret, form, before, after, kind):
    assume(len(set(secret)) >= 8 and (kind is not SecretKind.OPAQUE or len(secret) >= 16))
    pieces = [secret[at : at + 16] for at in range(len(secret) - 15)] or [secret]
    assume(all(len(set(piece)) >= 4 for piece in pieces))
    known = Secrets([(kind, secret)])
    assert known.found_in(before + ENCODED[form](secret) + after) is not None
    whole = base64.b64encode((before + secret + after).encode("utf-8", "surrogatepass")).decode()
    assert known.found_in(whole) is not None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SecretKind.KEY, "short"),
        (SecretKind.OPAQUE, "not so long"),
        (SecretKind.OPAQUE, "-" * 40),
        (SecretKind.SESSION, "forged"),
    ],
)
def test_what_stands_in_innocent_text_is_not_looked_for(kind, value):
    assert Secrets([(kind, value)]).found_in(f"a {value} b") is None


def test_a_key_that_is_given_as_a_session_too_is_called_a_key():
    known = Secrets([(SecretKind.SESSION, KEY), (SecretKind.KEY, KEY)])
    assert known.found_in(KEY) is SecretKind.KEY


def test_a_directory_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="Cannot write the reports into"):
        write_reports(RECORD, tmp_path / "file" / "out")
