"""Opaque data arrives as it was sent, byte for byte, in both directions."""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from string import ascii_lowercase, ascii_uppercase, digits
from unicodedata import normalize
from urllib.parse import quote, unquote, unquote_plus

from workbook.api.opaque import decode_strictly
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.judging import (
    ASK,
    HAND_ON,
    SEND_ON,
    WORK,
    all_of,
    outcome,
    refuses,
    refuses_length,
    source_of,
    works,
)
from workbook.tools.conform.back_end.model import (
    ATTEMPT,
    GET,
    POST,
    AppCall,
    CaseScript,
    Judge,
    Maker,
    Need,
    Order,
    Seen,
    both,
)
from workbook.tools.harness.model import Miss, Root

# Bytes. The mock API reads bodies of at most 1 MiB (assumed), with the JSON around a value.
LARGEST_VALUE = 1023 * 1024


def _digits(canary: str, count: int) -> str:
    """`count` digits, made of the canary. Read as a number they lose their leading zeros and their precision."""
    return str(int.from_bytes(canary.encode()))[-count:]


# Only the SDK may read opaque data. One well-meant change destroys each value below: trimming, normalising,
# unescaping, guessing a type, decoding as a form, storing in a column that is too short. A simulator's usual data
# survives all of them, because it is short ASCII without blanks.

# Texts of platform A, by name: a back end changes nothing in them (API-7).
TEXTS: Mapping[str, tuple[str, Maker]] = {
    "unicode": ("letters beyond ASCII", lambda canary: f"{canary} \u00fc u\u0308 \u00df \u6f22\u5b57 \U0001f4b3"),
    "unicode-long": ("240 KiB of letters beyond ASCII", lambda canary: canary + "\u6f22" * (80 * 1024)),
    "symbols": ("the characters + / =", lambda canary: f"{canary}+/+/=="),
    "outer-blanks": ("blanks at both ends", lambda canary: f"  {canary}  "),
    # each alone at an end: whoever trims one of them keeps the others
    "no-break-spaces": ("no-break spaces at both ends", lambda canary: f"\u00a0{canary}\u00a0"),
    "byte-order-marks": ("byte order marks at both ends", lambda canary: f"\ufeff{canary}\ufeff"),
    "zero-width-spaces": ("zero-width spaces at both ends", lambda canary: f"\u200b{canary}\u200b"),
    "quotes": ("quotes and backslashes", lambda canary: f'"{canary}\\"\\\\/'),
    "line-ends": ("line ends and tabs", lambda canary: f"{canary}\r\n\tend\n"),
    "percent": ("percent signs and an ampersand", lambda canary: f"{canary}%2B%25&amp;x=1"),
    "looks-like-json": ("text that looks like JSON", lambda canary: f'{{"canary": "{canary}"}}'),
    "digits": ("digits only, with zeros in front", lambda canary: f"00{_digits(canary, 30)}"),
    "true": ("the word true", lambda _canary: "true"),
    "single": ("one character", lambda _canary: "x"),
    "64-kib": ("64 KiB", lambda canary: canary.ljust(64 * 1024, "k")),
    "1-mib": ("1 MiB", lambda canary: canary.ljust(LARGEST_VALUE, "m")),
}


def _base64(octets: int, *, head: bytes = b"", tail: bytes = b"") -> Maker:
    """Canonical base64 of so many bytes, in which every character of the alphabet occurs."""
    alphabet = base64.b64decode(f"{ascii_uppercase}{ascii_lowercase}{digits}+/")

    def value(canary: str) -> str:
        data = head + (canary.encode() + alphabet * (octets // len(alphabet) + 1))[:octets] + tail
        return base64.b64encode(data).decode()

    return value


# Bytes of platform B, by name: canonical base64, encoded once, in one line (API-8).
BINARIES: Mapping[str, tuple[str, Maker]] = {
    "alphabet": ("every character of the alphabet, + and / too", _base64(96)),
    "one-pad": ("one = at the end", _base64(98)),
    "two-pads": ("two = at the end", _base64(97)),
    "digits": ("digits only, in base64 too", lambda canary: f"00{_digits(canary, 30)}"),
    "long": ("longer than one line of 76 characters", _base64(3 * 1024)),
    "not-text": ("bytes that are no text", _base64(96, tail=b"\x00\xff\xfe\xc3\x28\x80")),
    "outer-blanks": ("a blank and a line end first and last", _base64(96, head=b" \n", tail=b"\n ")),
    "1-mib": ("1 MiB of bytes", _base64(LARGEST_VALUE * 3 // 4)),
}


def difference(wanted: str, came: str | None, other: str = "another value") -> str:
    """How two values differ, in words that hold neither; `other` says what came where no change explains it."""
    if came is None:
        return "no value where it belongs"
    # what a back end may have done, and how the value then looks: whoever knows the change finds the line to mend
    outer = " \t\r\n\u00a0\ufeff\u200b"
    octets, urlsafe = wanted.encode(), str.maketrans("+/", "-_")
    inside = decode_strictly(wanted) or octets
    changed = {
        "its byte order mark in front is gone": wanted.removeprefix("\ufeff"),
        "its byte order marks are gone": wanted.strip("\ufeff"),
        "its outer blanks are gone": wanted.strip(),
        "its blanks in front are gone": wanted.lstrip(),
        "its blanks at the end are gone": wanted.rstrip(),
        "each CR LF became LF": wanted.replace("\r\n", "\n"),
        "each LF became CR LF": re.sub("\r?\n", "\r\n", wanted),
        "its line ends are gone": re.sub("[\r\n]", "", wanted),
        "its outer blanks are gone, also those beyond ASCII": wanted.strip(outer),
        "each + became a blank": wanted.replace("+", " "),
        "it was decoded as a form: + became a blank, and %2B a +": unquote_plus(wanted),
        "its percent signs were decoded": unquote(wanted),
        "it was percent-encoded": quote(wanted, safe=""),
        "it was normalised to NFC": normalize("NFC", wanted),
        "it was normalised to NFKC": normalize("NFKC", wanted),
        "its entities of HTML were decoded": html.unescape(wanted),
        "it was escaped for HTML": html.escape(wanted),
        "its zeros in front are gone": wanted.lstrip("0"),
        "its backslashes are gone": wanted.replace("\\", ""),
        "it was written in capitals": wanted.upper(),
        "it was written in small letters": wanted.lower(),
        "it is in the url-safe alphabet": wanted.translate(urlsafe),
        "its padding is gone": wanted.rstrip("="),
        "it is in the url-safe alphabet, and its padding is gone": wanted.translate(urlsafe).rstrip("="),
        "it was encoded a second time": base64.b64encode(octets).decode(),
        "it was decoded from base64": inside.decode("utf-8", "replace"),
        "it is written in hexadecimal": octets.hex(),
        "what its base64 holds is written in hexadecimal": inside.hex(),
        "its UTF-8 was read as ISO 8859-1": octets.decode("latin-1"),
        "its UTF-8 was read as Windows-1252": octets.decode("cp1252", "replace"),
        "it was put into quotes": json.dumps(wanted),
        "its letters beyond ASCII were replaced": wanted.encode("ascii", "replace").decode(),
    }
    # of a value that was cut, both counts say where, because a column counts characters and a buffer bytes
    cut = ""
    if came and wanted.startswith(came):
        cut = f"it was cut at {len(came):,} of {len(wanted):,} characters ({len(came.encode()):,} bytes)"
    same = next((at for at, pair in enumerate(zip(came, wanted, strict=False)) if pair[0] != pair[1]), 0)
    other += f", of {len(came):,} characters instead of {len(wanted):,}"
    if lost := came.count("\ufffd") - wanted.count("\ufffd"):
        other = f"{lost:,} characters U+FFFD stand in it: UTF-8 was decoded piece by piece, or as another charset"
    elif same:
        other += f"; the first {same:,} are the same"
    wrapped = re.sub("[\r\n]", "", came) == wanted != came
    return next(
        (words for words, text in changed.items() if text == came != wanted),
        "it was wrapped into lines" if wrapped else cut or other,
    )


def _is_cut(call: model.PhoneCall) -> bool:
    """Whether an answer is the beginning of a JSON object, and ends before the object does."""
    try:
        json.loads(call.body)
    except UnicodeDecodeError:
        return call.body.startswith(b"{")
    except json.JSONDecodeError as error:
        return call.body.startswith(b"{") and (error.pos >= len(error.doc) or error.msg.startswith("Unterminated"))
    return False


def given_back(operation: str) -> Judge:
    """The phone gets what the API gave, and not something else of the same length."""

    def judge(seen: Seen) -> Iterator[Miss]:
        given = [arrived.given for arrived in seen.came(operation) if arrived.given]
        for call in seen.asked(operation):
            if not given:
                yield Miss("an sdkInput from the API", "none came", ASK, root=Root.FOLLOWS)
            elif call.value is None and _is_cut(call):
                todo = "Write the whole JSON to the app: its content-length counts bytes in UTF-8, and not characters."
                yield Miss("the sdkInput as the API gave it", "cut-off JSON in a complete answer", todo)
            elif call.body in [value.encode() for value in given] and call.value not in given:
                todo = (
                    'Decode the API\'s base64 text once, and send the bytes: the configuration says encoding = "bytes".'
                )
                yield Miss("the bytes of the sdkInput", "their base64 text, which was not decoded", todo)
            elif call.value not in given:
                how = f": {difference(given[-1], call.value, source_of(call.value, seen))}"
                how = how if call.reported_success else ""
                observed = f"{outcome(call)}{how}"
                yield Miss("the sdkInput as the API gave it", observed, HAND_ON if call.succeeded else WORK)

    return judge


def handed_on(seen: Seen) -> Iterator[Miss]:
    """The API gets the sdkOutput that the phone sent."""
    sent = {call.sent for call in seen.asked(POST)}
    yield from judging.each_request(POST)(seen)
    for arrived in seen.came(POST):
        if (came := arrived.sdk_output) not in sent:
            yield Miss("the sdkOutput as the phone sent it", difference(next(iter(sent)) or "", came), SEND_ON)


def or_refused(judge: Judge) -> Judge:
    """Asks what `judge` asks, unless a call was plainly refused: a refusal is only noted."""

    def either(seen: Seen) -> Iterator[Miss]:
        refused = [call for call in seen.calls if refuses_length(call, seen) or (refuses(call) and not call.broke)]
        if not refused:
            yield from judge(seen)
        for call in refused:
            todo = "Check whether a server, a gateway or a framework limits bodies more than it has to."
            length = max((len(value) for _id, value in seen.opaque()), default=0)
            observed = "a refusal for its length" if refuses_length(call, seen) else outcome(call)
            yield Miss(f"a value of {length:,} characters handed on", observed, todo, "GAP-3")

    return either


def not_the_first_again(seen: Seen) -> Iterator[Miss]:
    """After the POST the phone gets the POST's sdkInput, and never the GET's (API-11)."""
    first = {arrived.given for arrived in seen.came(GET)}
    for call in seen.asked(POST):
        if call.value is not None and call.value in first:
            todo = "Answer with the sdkInput of the POST's own answer."
            yield Miss("the sdkInput that the POST returned", "the one that the GET had returned", todo)


_case = partial(model.relay_case, model.RelayGroup.FIDELITY)


def _values(
    kind: str, subject: tuple[str, str], rule: str, values: Mapping[str, tuple[str, Maker]], need: Need
) -> Iterator[model.RelayCase]:
    """For each value one case of the GET and one of the POST."""
    for name, (words, maker) in values.items():
        get, post = given_back(GET), all_of(handed_on, given_back(POST))
        if name in {"1-mib", "unicode-long"}:  # no limit is shown (GAP-3), so to refuse a long value is no failure
            get, post = or_refused(get), or_refused(post)
        order, both_calls = Order(POST, value=maker), both(output=maker)
        yield _case(f"get.{kind}-{name}", f"{subject[0]}: {words}.", rule, get,
                    CaseScript((AppCall(GET),), (Order(GET, value=maker),)), need)  # fmt: skip
        yield _case(f"post.{kind}-{name}", f"{subject[1]}, both ways: {words}.", rule, post,
                    CaseScript(both_calls, (order,)), need)  # fmt: skip


# The calls that a case of one operation needs.
CALLS_FOR: Mapping[str, tuple[AppCall, ...]] = {GET: (AppCall(GET),), POST: both()}
CASES = (
    _case("get.sdk-input-byte-exact", "The phone gets the very sdkInput that the GET returned.", "API-10",
          given_back(GET), ATTEMPT),
    _case("post.sdk-output-byte-exact", "The API gets the very sdkOutput that the phone sent.", "API-2",
          handed_on, ATTEMPT),
    _case("post.sdk-input-byte-exact", "The phone gets the very sdkInput that the POST returned.", "API-11",
          given_back(POST), ATTEMPT),
    _case("post.second-sdk-input", "After the POST the phone gets the second sdkInput, not the first.", "API-11",
          all_of(works(POST), not_the_first_again), ATTEMPT),
    # an empty one is none: the POST of an SDK that failed must not look like a success
    _case("post.empty-sdk-output", "An empty sdkOutput gets no sdkInput.", "REL-6",
          all_of(works(GET), lambda seen: judging.no_success(replace(seen, calls=seen.asked(POST)))),
          CaseScript(both(output=lambda _canary: ""))),
    *(_case(f"{operation.lower()}.compressed",
            f"The answer of the {operation} is compressed for a back end that accepts it, and arrives all the same.",
            rule, all_of(works(operation), given_back(operation)),
            CaseScript(CALLS_FOR[operation], (Order(operation, packed=True),)))
      for operation, rule in ((GET, "API-10"), (POST, "API-11"))),
    *(_case(f"{operation.lower()}.chunked-answer",
            f"The answer of the {operation} travels in chunks, without a length, and arrives all the same.",
            rule, all_of(works(operation), given_back(operation)),
            CaseScript(CALLS_FOR[operation], (Order(operation, chunked=True),)))
      for operation, rule in ((GET, "API-10"), (POST, "API-11"))),
    *_values("text", ("The GET's sdkInput arrives untouched", "The POST's data arrives untouched"), "API-7",
             TEXTS, Need.PLATFORM_A),
    *_values("bytes", ("Platform B's bytes arrive as they are (base64 in the answer: sdk-b)",
                       "Platform B's bytes arrive as they are"), "API-8", BINARIES, Need.PLATFORM_B),
    # The document shows one field. An API that gains another is the same API, and a strict reader fails that day.
    *(_case(f"{operation.lower()}.unknown-fields", f"Unknown fields beside the {operation}'s sdkInput do no harm.",
            "API-9", all_of(works(operation), given_back(operation)),
            CaseScript(CALLS_FOR[operation], (Order(operation, more={
                "expiresAt": "2030-01-01T00:00:00Z", "nested": {"list": [1, None, True]},
            }),)))
      for operation in (GET, POST)),
)  # fmt: skip
